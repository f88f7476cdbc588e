// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "common_options.hpp"
#include "peer_solution.hpp"

namespace tessera::program {

/// The program was built with cuSOLVERMg.
bool has_cusolvermg();

/// A x = lambda x by cusolverMgSyevd on several GPUs of this process, for comparison. As with cuSOLVER the
/// matrix is in the GPUs' memory before the clock starts, the vectors are left there when it stops, and the
/// routine has run on a small matrix before. The library knows no ranges: it computes all pairs, and those
/// of the range are kept.
/// @param a  n x n, lower triangle; its memory becomes the vectors'
/// @param gpus  CUDA's numbers of the GPUs; at least one
/// @param fetch  bring the vectors to the host, if there are any
/// @throws RuntimeError with the library's status or info if it fails, if the GPUs' memory does not suffice,
/// or if the build has no cuSOLVERMg
template <class T>
PeerSolution<T> solve_with_cusolvermg(std::vector<T> a, Index n, const std::vector<int>& gpus,
                                      const RangeOption& range, bool vectors, bool fetch);

}  // namespace tessera::program
