// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A self-consistent field with a Hamiltonian of one's own: Hubbard's model in mean field on a ring, half of it
// filled. Hopping -1 between neighbours, repulsion U where an electron of each spin is on a site:
//
//   E = sum_s trace(P_s H0) + U sum_i n_i up n_i down,   n_i s = (P_s)_ii,
//   H_s = H0 + U diag(n of the other spin)
//
// The ground state is an antiferromagnet, whose energy is known: a staggered field D from D's own equation
//   1 / U = (1 / sites) sum_k 1 / (2 sqrt(e_k^2 + D^2)),   e_k = -2 cos k,
//   E = sites (U / 4 + D^2 / U) - sum_k sqrt(e_k^2 + D^2).
#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;
using Matrix = tessera::BlockSparseMatrix<double>;

namespace {

constexpr Index sites = 64;
constexpr double repulsion = 4;

/// Two sites a block; +-field on even and odd sites.
Matrix ring(tessera::Runtime& runtime, double field) {
  const std::vector<Index> sizes(sites / 2, 2);
  tessera::BlockSparseBuilder<double> builder(
      runtime, tessera::make_block_layout(runtime, sizes, sizes, tessera::Symmetry::symmetric));
  const double within[] = {field, -1, -1, -field}, to_the_next[] = {0, 0, -1, 0}, around[] = {0, -1, 0, 0};
  for (Index c = 0; c < sites / 2; ++c) {
    builder.put(c, c, {within, 2, 2, 2});
    if (c + 1 < sites / 2) builder.put(c + 1, c, {to_the_next, 2, 2, 2});
  }
  builder.put(sites / 2 - 1, 0, {around, 2, 2, 2});
  return builder.finalize();
}

double exact_energy() {
  const auto sum = [](double d, double power) {
    double s = 0;
    for (Index k = 0; k < sites; ++k) {
      const double e = -2 * std::cos(2 * std::numbers::pi * static_cast<double>(k) / sites);
      s += std::pow(e * e + d * d, power);
    }
    return s;
  };
  double low = 1e-6, high = repulsion;
  for (int bisection = 0; bisection < 100; ++bisection) {
    const double d = 0.5 * (low + high);
    (sum(d, -0.5) / (2 * sites) > 1 / repulsion ? low : high) = d;
  }
  return sites * (repulsion / 4 + low * low / repulsion) - sum(low, 0.5);
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  const Matrix core = ring(runtime, 0), up = ring(runtime, -1), down = ring(runtime, 1);

  // The energy and its derivatives at the density matrices of both spins.
  const auto functional = [&](std::span<const Matrix> p) {
    tessera::ScfFields<double> fields;
    const std::vector<double> n[] = {tessera::get_diagonal(p[0]), tessera::get_diagonal(p[1])};
    for (Index i = 0; i < sites; ++i) fields.energy += repulsion * n[0][i] * n[1][i];
    tessera::Sequence sequence(runtime);
    for (int s = 0; s < 2; ++s) {
      fields.energy += tessera::dot(p[s], core);
      std::vector<double> diagonal(sites);
      for (Index i = 0; i < sites; ++i) diagonal[i] = repulsion * n[1 - s][i];
      fields.hamiltonians.push_back(tessera::copy(sequence, core));
      tessera::set_diagonal(sequence, std::span<const double>(diagonal), fields.hamiltonians.back());
    }
    return fields;
  };

  const double exact = exact_energy();
  bool right = true;
  for (const auto method : {tessera::ScfMethod::simple, tessera::ScfMethod::linear, tessera::ScfMethod::pulay,
                            tessera::ScfMethod::direct}) {
    // The first Hamiltonians tell the spins apart.
    const auto r =
        tessera::scf(runtime,
                     {.functional = functional,
                      .channels = {{.electrons = sites / 2, .occupation = 1, .hamiltonian = &up},
                                   {.electrons = sites / 2, .occupation = 1, .hamiltonian = &down}}},
                     {.method = method, .density = {.filter_eps = 1e-8}});
    if (!r) {
      std::fprintf(stderr, "%s\n", r.status().message().c_str());
      return 1;
    }
    std::printf("%-6s: %3ld steps, %3ld energies; E = %.8f, exact %.8f; commutator %.1e\n", to_string(method),
                static_cast<long>(r.steps.size()), static_cast<long>(r.evaluations), r.energy, exact,
                r.error);
    right = right && std::abs(r.energy - exact) < 1e-6 * sites;
  }
  return right ? 0 : 1;
}
