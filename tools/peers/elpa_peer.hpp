// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "eigen_peer.hpp"

/// Solves the same problem with ELPA, for comparison, on all ranks of the run.
namespace tessera::program {

/// Whether the program was built with ELPA.
bool has_elpa();
/// Whether that ELPA has single precision, which is an option of its build.
bool elpa_has_single_precision();
/// `2022.11.001`; empty without ELPA.
std::string elpa_version();

/// With one stage and with two, the latter with the kernel that ELPA was built to prefer: the faster counts.
/// For a range by number all vectors from the lowest to the last one are computed, which is what ELPA can; for
/// a range by value, all. The generalized problem is solved by elpa_generalized_eigenvectors. Collective over
/// the run's ranks.
/// @param threads  of BLAS on each rank, and of ELPA if it is built with OpenMP
/// @throws Error on all ranks if no solver has had success
template <class T>
EigenPeerSolution<T> solve_with_elpa(Runtime& runtime, const EigenPeerProblem<T>& problem, int threads);

}  // namespace tessera::program
