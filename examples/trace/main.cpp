// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// StarPU's trace of a solve: which worker ran which task when.
//
//   trace DIRECTORY
//   tessera trace DIRECTORY --svg gantt.svg --chrome tasks.json
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: trace DIRECTORY\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  const Index n = 800;
  std::vector<double> a(n * n);  // second differences: 2 - 2 cos(k pi / (n + 1))
  for (Index i = 0; i < n; ++i) {
    a[i + i * n] = 2;
    if (i + 1 < n) a[i + 1 + i * n] = -1;
  }
  double error = 0;
  {
    tessera::RuntimeOptions options;
    options.trace_directory = directory.string();
    tessera::Runtime runtime(options);
    auto solve = tessera::submit_eigensolve(runtime, {.a = {a.data(), n, n}},
                                            {.solver = tessera::Solver::two_stage, .vectors = false});
    if (!solve.wait()) {
      std::fprintf(stderr, "%s\n", solve.status().message().c_str());
      return 1;
    }
    // Without a trace: how long each stage took, and how busy the workers were.
    for (const tessera::StageStatistics& stage : solve.statistics().stages)
      std::printf("%-20s %5ld tasks, %.4f s\n", stage.name.c_str(), static_cast<long>(stage.tasks),
                  stage.seconds);
    const std::vector<double>& values = solve.result().values;
    for (Index k = 0; k < n; ++k)
      error = std::max(error, std::abs(values[k] - 2 + 2 * std::cos((k + 1) * std::numbers::pi / (n + 1))));
  }  // the trace is written when the Runtime ends

  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().filename().string().starts_with("prof_file_")) bytes += entry.file_size();
  std::printf("trace: %s; look at it with: tessera trace %s\n", bytes > 0 ? "written" : "missing",
              directory.c_str());
  if (bytes == 0) std::printf("(StarPU writes one if it was configured with --with-fxt)\n");
  return error < 1e-11 && bytes > 0 ? 0 : 1;
}
