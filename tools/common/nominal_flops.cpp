// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "nominal_flops.hpp"

#include <algorithm>

namespace tessera::program {

double nominal_flops(std::string_view stage, Index order, Index count, Index band, double factor) {
  const double n = static_cast<double>(order), k = static_cast<double>(count), b = static_cast<double>(band);
  if (stage == "cholesky") return factor * n * n * n / 3;
  if (stage == "to_standard") return factor * n * n * n;
  if (stage == "reduce_to_band" || stage == "tridiagonalize") return factor * 4 * n * n * n / 3;
  if (stage == "band_to_tridiagonal") return factor * 6 * n * n * b;
  if (stage == "back_tridiagonal" || stage == "back_band" || stage == "back_one_stage")
    return factor * 2 * n * n * k;
  if (stage == "eigensolve_batch") return factor * (4 * n * n * n / 3 + 2 * n * n * k);
  if (stage == "to_general") return factor * n * n * k;
  if (stage == "gemm") return factor * 2 * n * n * n;
  return 0;
}

double nominal_bytes(std::string_view stage, Index order, Index count, Index band,
                     std::size_t element_bytes) {
  const double n = static_cast<double>(order), k = static_cast<double>(count), b = static_cast<double>(band);
  const auto elements = [&]() -> double {
    if (stage == "cholesky") return n * n;
    if (stage == "to_standard") return 2 * n * n;
    if (stage == "reduce_to_band") return n * n * n / (6 * b);
    if (stage == "band_to_tridiagonal") return n * b + n * n / 2;
    if (stage == "back_tridiagonal" || stage == "back_band" || stage == "to_general")
      return n * n / 2 + 2 * n * k;
    if (stage == "gemm") return 3 * n * n;
    return 0;
  };
  return elements() * static_cast<double>(element_bytes);
}

void set_nominal_bytes(RunRecord& run, Index n, Index count, Index band, std::size_t element_bytes) {
  for (StageRecord& stage : run.stages)
    stage.bytes = nominal_bytes(stage.name, n, count, band, element_bytes);
}

void set_nominal_flops(RunRecord& run, Index n, Index count, Index band, double factor) {
  run.flops = 0;
  for (StageRecord& stage : run.stages) {
    const double nominal = nominal_flops(stage.name, n, count, band, factor);
    if (nominal > 0) stage.flops = stage.flops > 0 ? std::min(nominal, stage.flops) : nominal;
    run.flops += stage.flops;
  }
}

}  // namespace tessera::program
