// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/one_stage/one_stage_checks.hpp>

namespace tessera::test {
namespace {

TEST(OneStageMpi, QTQHIsAOnAnyGrid) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  // Few columns are reduced outside the part that LAPACK does. Each such column costs several
  // messages, which are slow if ranks share a core.
  const OneStageOptions options{
      .work_tile = 8, .panel = 3, .rest = 24, .tasks_per_worker = 2, .least_bytes = 1};
  const ProcessGrid squarest = ProcessGrid::squarest(runtime.size()), row{1, runtime.size()};
  check_one_stage<double>(runtime, Kind::random, 1, 15, options, squarest);
  check_one_stage<double>(runtime, Kind::random, 41, 15, options, squarest);
  check_one_stage<std::complex<double>>(runtime, Kind::random, 37, 10, options, row);
}

}  // namespace
}  // namespace tessera::test
