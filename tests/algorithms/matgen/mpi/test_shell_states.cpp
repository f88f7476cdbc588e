// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/mpi_test.hpp>

#include "../shell_states_checks.hpp"

namespace tessera::test {
namespace {

using ShellStatesMpi = MpiTest;

TEST_F(ShellStatesMpi, OfRandomVectors) {
  check_states<double>(runtime(), sd_shell_orbits(), {2, 3, 1, 0});
  check_states<float>(runtime(), {{0, 1, 3}, {0, 1, 1}}, {3, 2, -1, 0});
}

}  // namespace
}  // namespace tessera::test
