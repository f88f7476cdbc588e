// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/matgen/kind_arguments.hpp>
#include <tessera/matgen.hpp>

/// What make_sparse_generator chooses from: one function per kind.
namespace tessera::detail {

// Finite differences and graphs (grid_matrices.cpp). On a grid the first direction runs fastest.
/// 2 d on the diagonal and -1 for neighbours in d directions, zero beyond the boundary.
SparseGenerator laplacian_generator(const KindArguments& arguments, int directions);
/// Degree on the diagonal and -1 for neighbours: singular, the null vector is constant.
SparseGenerator graph_ring_generator(const KindArguments& arguments);
SparseGenerator graph_grid_generator(const KindArguments& arguments);

// In magnetic fields (magnetic_lattices.cpp): complex Hermitian.
/// 2 on the diagonal and -exp(+-i PHI / n) for neighbours on a ring, which the flux PHI goes through.
SparseGenerator magnetic_ring_generator(const KindArguments& arguments);
/// 4 on the diagonal and -1 times a phase for neighbours on a square lattice, periodic in both directions, whose
/// plaquettes the flux 2 pi P / Q goes through. Source: D. R. Hofstadter, Phys. Rev. B 14, 2239 (1976).
SparseGenerator hofstadter_generator(const KindArguments& arguments);

// Small test problems of eigensolvers (model_matrices.cpp).
/// The square of the second difference. Source: T. Sakurai, H. Tadano, Y. Inadomi, U. Nagashima, Appl. Numer.
/// Anal. Comput. Math. 1, 516 (2004).
SparseGenerator sakurai_generator(const KindArguments& arguments);
/// Stiffness and mass of a vibrating chain with the frequencies 1, 2, 3, ... Source: J. Mikota, Z. Angew.
/// Math. Mech. 81, S201 (2001).
SparseGenerator mikota_generator(const KindArguments& arguments);
/// Longitudinal vibrations of a steel rod, fixed at one end: linear finite elements.
SparseGenerator elastic_rod_generator(const KindArguments& arguments);
/// Diagonal: groups of eigenvalues 1e-8 apart around 1, 2, 3, ...
SparseGenerator clusters_generator(const KindArguments& arguments);
/// Diagonal: from 1 upwards by a constant ratio over many powers of ten; in single precision the small
/// eigenvalues drown in the rounding errors of the large ones.
SparseGenerator hard_diagonal_generator(const KindArguments& arguments);

// Lattice models (spin_chain.cpp, hubbard_chain.cpp, pairing_model.cpp).
/// H = sum over neighbours of S_i . S_j, spins 1/2, as many up as down.
SparseGenerator heisenberg_chain_generator(const KindArguments& arguments);
SparseGenerator heisenberg_ladder_generator(const KindArguments& arguments);
/// H = -sum (c+_i c_j + c+_j c_i) over neighbours and spins + U sum n_up n_down, half of the sites filled
/// with up and half with down electrons; tiles by the up electrons.
SparseGenerator hubbard_chain_generator(const KindArguments& arguments);
/// H = sum 2 a n_a - G sum P+_a P_b over levels a = 1, 2, ..., n_a and P of pairs. Source: R. W. Richardson,
/// Phys. Lett. 3, 277 (1963).
SparseGenerator pairing_model_generator(const KindArguments& arguments);

// Nuclei (shell_nucleus.cpp) and files (matrix_market_generator.cpp).
SparseGenerator shell_model_generator(const KindArguments& arguments, const SparseGeneratorOptions& options);
SparseGenerator matrix_market_generator(const KindArguments& arguments);

}  // namespace tessera::detail
