// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "eigen_peer.hpp"

/// Solves the same problem with ScaLAPACK, for comparison, on all ranks of the run, in blocks of 64 or,
/// where there are too few vectors for them, fewer.
namespace tessera::program {

/// Whether the program was built with ScaLAPACK.
bool has_scalapack();
/// `2.2.1`, as pkg-config knows it (the library's own number is seldom kept up to date); empty if it does not,
/// and without ScaLAPACK.
std::string scalapack_version();

/// For vectors p?syevd (divide and conquer; all pairs, also for a range) and p?syevr (MRRR), for values alone
/// p?syevr and p?syev: the faster counts. For the generalized problem also p?potrf and p?syngst before, and
/// p?trsm after. For complex matrices he in place of sy. Collective over the run's ranks.
/// @param threads  of BLAS on each rank
/// @throws Error on all ranks if no routine has had success
template <class T>
EigenPeerSolution<T> solve_with_scalapack(Runtime& runtime, const EigenPeerProblem<T>& problem, int threads);

}  // namespace tessera::program
