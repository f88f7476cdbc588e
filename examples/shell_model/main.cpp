// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The lowest states of a nucleus in the shell model, with their angular momenta, isospins and occupations: two protons
// and two neutrons in the sd shell with the pairing force, whose lowest level is known in closed form. With the paths
// of an .int (or .snt) and its .sps file: of 24Mg with that interaction.
#include <cmath>
#include <cstdio>

#include <tessera/matgen.hpp>
#include <tessera/shell_model.hpp>
#include <tessera/tessera.hpp>

using tessera::Index;

int main(int count, char** arguments) {
  const bool of_file = count > 1;
  tessera::SparseGeneratorOptions interaction;
  interaction.interaction = of_file ? arguments[1] : "pairing";
  if (count > 2) interaction.orbits = arguments[2];
  const auto nucleus = tessera::make_sparse_generator(of_file ? "shell:24Mg" : "shell:20Ne", interaction);

  tessera::Runtime runtime;
  const auto h = tessera::CsbMatrix<double, double>::build(runtime, *nucleus.a);
  tessera::FomPreconditioner<double, double> tiles(runtime, h);
  const Index wanted = 4;
  const auto r = tessera::lobpcg(runtime, {.a = &h, .preconditioner = &tiles}, {.count = wanted});
  if (!r) {
    std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }
  const auto found = tessera::shell_model_states(runtime, nucleus, r.vectors, wanted);
  std::printf("%10s%7s%7s%8s", "MeV", "J", "T", "parity");
  for (const auto& orbit : found.orbits) std::printf("%9s", orbit.c_str());
  std::printf("  (protons)\n");
  for (Index k = 0; k < wanted; ++k) {
    const auto& state = found.states[k];
    std::printf("%10.4f%7.3f%7.3f%8d", r.values[k], state.j, state.t, state.parity);
    for (const double number : state.protons) std::printf("%9.4f", number);
    std::printf("\n");
  }
  // All nucleons in pairs: -13, J = T = 0.
  const bool right =
      of_file || (std::abs(r.values[0] + 13) < 1e-9 && found.states[0].j < 1e-6 && found.states[0].t < 1e-6);
  return right ? 0 : 1;
}
