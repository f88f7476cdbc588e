// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string>

#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

namespace {

constexpr std::array<SparseGeneratorKind, 18> kinds{{
    {"shell", "NUCLEUS[:2M[:+|-]], sd|pf|file:Z:N[:2M[:+|-]] or nocore:NUCLEUS|Z:N:NMAX[:2M[:+|-]]",
     "nuclear shell model in the m-scheme: 48Cr, valence particles of a shell, or all nucleons of 6Li with "
     "up to NMAX quanta of a harmonic oscillator above the least"},
    {"heisenberg", "SITES[:open|periodic]", "Heisenberg chain of spins 1/2, Sz = 0"},
    {"heisenberg-ladder", "RUNGS[:open|periodic]", "Heisenberg ladder of two legs, Sz = 0"},
    {"hubbard", "SITES[:U[:open|periodic]]", "Hubbard chain at half filling (U = 4)"},
    {"pairing", "LEVELS[:PAIRS[:G]]", "Richardson's pairing model, levels 1, 2, ... (half filled, G = 0.5)"},
    {"laplacian1d", "N", "second differences: 2 and -1 (closed form)"},
    {"laplacian2d", "NX[:NY]", "five-point Laplacian on a grid (closed form)"},
    {"laplacian3d", "NX[:NY[:NZ]]", "seven-point Laplacian on a grid (closed form)"},
    {"graph-ring", "N", "graph Laplacian of a ring, singular (closed form)"},
    {"graph-grid", "NX[:NY]", "graph Laplacian of a grid, singular (closed form)"},
    {"magnetic-ring", "N[:PHI]", "complex: a ring with the flux PHI (pi/2) through it (closed form)"},
    {"hofstadter", "NX[:NY[:P[:Q]]]",
     "complex: a square lattice, flux P/Q (1/NX) a plaquette, Q divides NX (Harper's equation)"},
    {"sakurai", "N", "Sakurai's pentadiagonal matrix (closed form)"},
    {"mikota", "N", "Mikota's pair A x = lambda B x with eigenvalues 1, 4, 9, ..."},
    {"elastic-rod", "N", "finite elements of a vibrating rod, A x = lambda B x (closed form)"},
    {"clusters", "N[:WIDTH]", "diagonal, clusters of WIDTH (4) eigenvalues that are 1e-8 apart"},
    {"hard-diagonal", "N[:DECADES]", "diagonal, from 1 up over DECADES (8) powers of ten"},
    {"matrix-market", "PATH", "a symmetric or complex Hermitian matrix from a Matrix Market file"},
}};

std::optional<std::vector<double>> known(const std::function<std::vector<double>(Index)>& values,
                                         Index count) {
  if (count < 0) throw InvalidArgument("count", std::to_string(count), "0 or more");
  if (!values) return std::nullopt;
  std::vector<double> found = values(count);
  if (static_cast<Index>(found.size()) < count) return std::nullopt;
  return found;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

std::span<const SparseGeneratorKind> sparse_generator_kinds() noexcept {
  return kinds;
}

std::optional<std::vector<double>> SparseGenerator::lowest_eigenvalues(Index count) const {
  return known(spectrum.lowest, count);
}

std::optional<std::vector<double>> SparseGenerator::largest_eigenvalues(Index count) const {
  return known(spectrum.largest, count);
}

SparseGenerator make_sparse_generator(std::string_view kind, const SparseGeneratorOptions& options) {
  const KindArguments arguments(kind);
  const std::string_view name = arguments.name();
  if (name == "shell") return shell_model_generator(arguments, options);
  if (name == "heisenberg") return heisenberg_chain_generator(arguments);
  if (name == "heisenberg-ladder") return heisenberg_ladder_generator(arguments);
  if (name == "hubbard") return hubbard_chain_generator(arguments);
  if (name == "pairing") return pairing_model_generator(arguments);
  if (name == "laplacian1d") return laplacian_generator(arguments, 1);
  if (name == "laplacian2d") return laplacian_generator(arguments, 2);
  if (name == "laplacian3d") return laplacian_generator(arguments, 3);
  if (name == "graph-ring") return graph_ring_generator(arguments);
  if (name == "graph-grid") return graph_grid_generator(arguments);
  if (name == "magnetic-ring") return magnetic_ring_generator(arguments);
  if (name == "hofstadter") return hofstadter_generator(arguments);
  if (name == "sakurai") return sakurai_generator(arguments);
  if (name == "mikota") return mikota_generator(arguments);
  if (name == "elastic-rod") return elastic_rod_generator(arguments);
  if (name == "clusters") return clusters_generator(arguments);
  if (name == "hard-diagonal") return hard_diagonal_generator(arguments);
  if (name == "matrix-market") return matrix_market_generator(arguments);
  std::string names;
  for (const SparseGeneratorKind& k : kinds) names += (names.empty() ? "" : ", ") + std::string(k.name);
  throw InvalidArgument("kind", kind, "one of " + names);
}

}  // namespace tessera
