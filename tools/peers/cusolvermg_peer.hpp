// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "common_options.hpp"
#include "peer_solution.hpp"

namespace tessera::program {

/// Whether the program was built with cuSOLVERMg.
bool has_cusolvermg();

/// Solves A x = lambda x with cusolverMgSyevd on several GPUs of this process, for comparison. As
/// for cuSOLVER, the matrix is in the GPUs' memory before the timing starts, the vectors are still
/// there when it ends, and a warm-up call on a small matrix precedes it. The library cannot compute
/// a range: it computes all pairs, and only those in the range are kept. It is called with blocks of 1024 and of
/// 256 columns, and the faster call counts.
/// @param a  n x n, lower triangle
/// @param gpus  CUDA device numbers; at least one
/// @param fetch  whether to copy the vectors, if there are any, to the host
/// @throws RuntimeError with the library's status or info if it fails, if the GPUs' memory is too
/// small, or if the build has no cuSOLVERMg
template <class T>
PeerSolution<T> solve_with_cusolvermg(const std::vector<T>& a, Index n, const std::vector<int>& gpus,
                                      const RangeOption& range, bool vectors, bool fetch);

}  // namespace tessera::program
