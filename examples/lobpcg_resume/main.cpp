// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A job that may end at any time: LOBPCG that writes a checkpoint, and goes on from it when it is started again.
// Here every start has 40 iterations, and the program starts the job until it is done. The matrix is the
// second difference on a line, whose eigenvalues are 4 sin^2(pi k / (2 (n + 1))).
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

namespace {

constexpr Index n = 400;

tessera::CoordinateRows second_difference() {
  std::vector<Index> rows, columns;
  std::vector<double> values;
  for (Index i = 0; i < n; ++i)
    for (const Index j : {i, i - 1}) {
      if (j < 0) continue;
      rows.push_back(i), columns.push_back(j), values.push_back(j == i ? 2 : -1);
    }
  return tessera::CoordinateRows::from_coordinates(n, rows, columns, values);
}

/// What a job script starts again and again.
tessera::LobpcgResult<double> job(tessera::Runtime& runtime, const std::string& file) {
  const auto a = tessera::CsbMatrix<double, double>::build(runtime, second_difference());
  tessera::LobpcgOptions options{.count = 3, .iterations = 40};
  options.checkpoint = {.path = file, .seconds = 300};  // and where the iterations are used up
  if (std::filesystem::exists(file)) options.resume = file;
  return tessera::lobpcg(runtime, {.a = &a}, options);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "lobpcg_resume.h5";
  std::filesystem::remove(file);
  tessera::Runtime runtime;
  for (int start = 1; start <= 20; ++start) {
    const auto r = job(runtime, file);
    std::printf("start %d: iterations %ld to %ld, %ld of 3 pairs: %s\n", start,
                static_cast<long>(r.iterations_before), static_cast<long>(r.iterations),
                static_cast<long>(r.converged), r.status().message().c_str());
    if (r.status().code == tessera::StatusCode::iterations_exhausted) continue;
    std::filesystem::remove(file);
    double error = 0;
    for (Index k = 0; k < static_cast<Index>(r.values.size()); ++k) {
      const double s = std::sin(std::numbers::pi * static_cast<double>(k + 1) / (2.0 * (n + 1)));
      error = std::max(error, std::abs(r.values[static_cast<std::size_t>(k)] - 4 * s * s));
    }
    std::printf("largest error of the values: %.1e\n", error);
    return r && start > 1 && error < 1e-9 ? 0 : 1;
  }
  return 1;
}
