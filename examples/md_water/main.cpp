// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Molecular dynamics of a box of water molecules, in a tight-binding model whose Hamiltonian depends on the
// charges of the atoms: each step's self-consistent field begins with a density matrix extrapolated from former
// steps. The total energy must stay what it is.
//
//   md_water [molecules] [steps]     64 molecules, 20 steps
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "water_dynamics.hpp"

int main(int count, char** arguments) {
  const long molecules = count > 1 ? std::atol(arguments[1]) : 64,
             steps = count > 2 ? std::atol(arguments[2]) : 20;
  if (molecules < 1 || steps < 1) {
    std::fprintf(stderr, "md_water [molecules] [steps]\n");
    return 2;
  }
  tessera::Runtime runtime;
  water::Box box(runtime, molecules);
  constexpr double time_step = 10, femtoseconds = 0.02418884;  // 0.24 fs; of an atomic unit of time
  water::Dynamics dynamics(runtime, box,
                           {.method = tessera::ScfMethod::pulay,
                            .tolerance = 1e-6,
                            .energy_tolerance = 1e-9,
                            .density = {.filter_eps = 1e-8}},
                           time_step, 300);
  std::printf("%ld molecules, %d functions each; energies in hartree, of a molecule\n", molecules,
              static_cast<int>(water::functions));
  std::printf("%10s %14s %12s %14s %10s %4s\n", "time/fs", "potential", "kinetic", "total", "drift", "SCF");
  double begin = 0, largest = 0;
  const auto each = static_cast<double>(molecules);
  for (long step = 0; step <= steps; ++step) {
    const auto now = dynamics.step();
    if (!now) {
      std::fprintf(stderr, "%s\n", dynamics.status().message().c_str());
      return 1;
    }
    if (step == 0) begin = now->total();
    const double drift = (now->total() - begin) / each;
    largest = std::fmax(largest, std::fabs(drift));
    std::printf("%10.3f %14.8f %12.8f %14.8f %10.1e %4ld\n",
                static_cast<double>(step) * time_step * femtoseconds, now->potential / each,
                now->kinetic / each, now->total() / each, drift, static_cast<long>(now->scf_steps));
  }
  // Of the step's length; a wrong force costs a thousand times as much.
  constexpr double allowed = 2e-5;
  std::printf("largest drift %.1e, allowed %.1e\n", largest, allowed);
  return largest <= allowed ? 0 : 1;
}
