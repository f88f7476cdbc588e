// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// soak [--seconds S] [--solves N]: runs many small solves of all families in one process and checks
// each. Memory, open files and threads must not grow. Prints a line from time to time and the
// verdict at the end; the exit status is 0 only if everything is correct.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/block_operations.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/lobpcg.hpp>
#include <tessera/matgen.hpp>
#include <tessera/multiply.hpp>
#include <tessera/operators.hpp>

namespace {

using namespace tessera;
std::mt19937_64 random_bits(7);

double uniform() {
  return std::uniform_real_distribution<double>(-1, 1)(random_bits);
}
Index below(Index n) {
  return static_cast<Index>(random_bits() % static_cast<std::uint64_t>(n));
}

void require(bool good, const std::string& what) {
  if (good) return;
  fmt::print("wrong: {}\n", what);
  std::exit(1);
}

/// Checks that the sum of all eigenvalues is the trace.
template <class T>
void dense_solve(Runtime& runtime, Index n) {
  std::vector<T> a(static_cast<std::size_t>(n * n)), z(a.size());
  double trace = 0;
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < n; ++i) {
      T& element = a[static_cast<std::size_t>(i + j * n)];
      element = T(static_cast<RealOf<T>>(uniform()));
      if (i == j) trace += real_part(element);
    }
  EigensolveOptions options;
  options.vectors = below(2) == 0;
  options.solver = below(2) == 0 ? Solver::two_stage : below(2) == 0 ? Solver::one_stage : Solver::automatic;
  const auto result = eigensolve(runtime, {.a = {a.data(), n, n}, .vectors_to = {z.data(), n}}, options);
  double sum = 0;
  for (const RealOf<T> value : result.values) sum += value;
  const double eps = std::numeric_limits<RealOf<T>>::epsilon();
  require(result && std::abs(sum - trace) < 30 * eps * static_cast<double>(n * n),
          fmt::format("dense n = {}: {} instead of {} ({})", n, sum, trace, result.status().message()));
}

/// Checks that trace(A A) is the sum of the squares of a symmetric A.
void product(Runtime& runtime) {
  const Index pattern[] = {2 + below(4), 1 + below(6)};
  const auto sizes = repeated_block_sizes(pattern, 30 + below(30));
  const auto a = random_block_sparse<double>(
      runtime, make_block_layout(runtime, sizes, sizes, Symmetry::symmetric), 0.4, random_bits());
  auto c = random_block_sparse<double>(runtime, make_block_layout(runtime, sizes, sizes), 0, 1);
  require(bool(multiply({.a = a, .b = a, .c = c})), "a product has failed");
  const double squares = std::pow(frobenius_norm(a), 2), found = trace(c);
  require(std::abs(found - squares) < 1e-11 * squares, fmt::format("product: {} and {}", found, squares));
}

/// Checks the least eigenvalue of the one-dimensional Laplacian.
void lowest_pair(Runtime& runtime) {
  const Index n = 40 + below(60);
  const UserOperator<double> laplacian(
      runtime, n, [](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        for (Index i = 0; i < rows; ++i)
          for (Index c = 0; c < columns; ++c)
            y[i * ldy + c] = 2 * x[i * ldx + c] - (i > 0 ? x[(i - 1) * ldx + c] : 0) -
                             (i + 1 < rows ? x[(i + 1) * ldx + c] : 0);
      });
  const auto result = lobpcg(runtime, {.a = &laplacian}, {.count = 1, .tolerance = 1e-7});
  const double exact = 2 - 2 * std::cos(M_PI / static_cast<double>(n + 1));
  require(result.status().code == StatusCode::success && std::abs(result.values[0] - exact) < 1e-9,
          fmt::format("lobpcg n = {}: {}", n, result.status().message()));
}

void solve(Runtime& runtime, long number) {
  const Index n = 1 + below(48);
  switch (number % 7) {
    case 0:
      return dense_solve<float>(runtime, n);
    case 1:
      return dense_solve<std::complex<float>>(runtime, n);
    case 2:
      return dense_solve<std::complex<double>>(runtime, n);
    case 3:
      return product(runtime);
    case 4:
      return number % 21 == 4 ? lowest_pair(runtime) : dense_solve<double>(runtime, n);
    default:
      return dense_solve<double>(runtime, n);
  }
}

struct Usage {
  double mebibytes = 0;
  long files = 0, threads = 0;
};

Usage usage() {
  Usage now;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) now.mebibytes = std::atof(line.c_str() + 6) / 1024;
    if (line.starts_with("Threads:")) now.threads = std::atol(line.c_str() + 8);
  }
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++now.files;
  return now;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 20;
  long solves = -1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--solves") == 0) solves = std::atol(argv[i + 1]);
  }
  Runtime runtime({.gpus = 0, .bind = false});
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  // After a tenth of the run, caches for reuse are full, so later growth is a leak.
  Usage first, now;
  bool settled = false;
  long done = 0;
  double told = 0;
  for (; solves >= 0 ? done < solves : elapsed() < seconds; ++done) {
    solve(runtime, done);
    const double share = solves > 0 ? double(done) / double(solves) : elapsed() / seconds;
    if (!settled && share > 0.1) {
      settled = true;
      first = usage();
    }
    if (elapsed() < told) continue;
    told = elapsed() + std::max(5.0, seconds / 20);
    now = usage();
    fmt::print("{:7.0f} s {:8} solves {:8.1f} MiB {:4} files {:4} threads\n", elapsed(), done, now.mebibytes,
               now.files, now.threads);
    std::fflush(stdout);
  }
  now = usage();
  const double growth = now.mebibytes - first.mebibytes;
  const bool flat = growth < 8 && now.files == first.files && now.threads == first.threads;
  fmt::print("{} solves in {:.0f} s: memory {:.1f} to {:.1f} MiB, files {} to {}, threads {} to {}: {}\n",
             done, elapsed(), first.mebibytes, now.mebibytes, first.files, now.files, first.threads,
             now.threads, flat ? "flat" : "NOT FLAT");
  return flat ? 0 : 1;
}
