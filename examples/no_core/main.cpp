// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The ground state of 4He with all nucleons active, in the shells of a harmonic oscillator: the more quanta Nmax above
// the least a space has, the lower is the energy with the Minnesota potential. Arguments: another nucleus, the largest
// Nmax, and hbar omega in MeV.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tessera/matgen.hpp>
#include <tessera/shell_model.hpp>
#include <tessera/tessera.hpp>

int main(int count, char** arguments) {
  const std::string nucleus = count > 1 ? arguments[1] : "4He";
  const int largest = count > 2 ? std::atoi(arguments[2]) : 4;
  tessera::SparseGeneratorOptions options;
  options.interaction = "minnesota";
  options.oscillator = count > 3 ? std::atof(arguments[3]) : 20;  // MeV
  options.lawson = 10;  // states of which the centre of mass moves, too, are far above

  tessera::Runtime runtime;
  std::printf("%4s%12s%12s%8s%8s\n", "Nmax", "rows", "MeV", "J", "T");
  double former = 0;
  bool falls = true;
  for (int nmax = 0; nmax <= largest; nmax += 2) {
    const std::string space = "shell:nocore:" + nucleus + ":" + std::to_string(nmax);
    const double rows = tessera::shell_model_order(space, options);  // counted; nothing is made
    std::printf("%4d%12.0f", nmax, rows);
    if (rows < 10) {
      std::printf("\n");
      continue;
    }
    const auto h = tessera::make_sparse_generator(space, options);
    const auto a = tessera::CsbMatrix<double, double>::build(runtime, *h.a);
    const auto r = tessera::lobpcg(runtime, {.a = &a}, {.count = 2});
    if (!r) {
      std::fprintf(stderr, "%s\n", r.status().message().c_str());
      return 1;
    }
    const auto state = tessera::shell_model_states(runtime, h, r.vectors, 1).states.front();
    std::printf("%12.5f%8.3f%8.3f\n", r.values[0], state.j, state.t);
    falls = falls && (former == 0 || r.values[0] < former);
    former = r.values[0];
  }
  return falls ? 0 : 1;
}
