// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "lanczos.hpp"

namespace tessera::program {

/// What a Lanczos method on a GPU has chosen.
struct CusparseChoice {
  std::string algorithm;  ///< of cusparseSpMV: the fastest on this matrix
};

/// The vectors of a Lanczos method on the first GPU: both triangles of A by rows, products by cuSPARSE (ALG1 or ALG2,
/// preprocessed, whichever is faster), the rest by cuBLAS. The host waits once a restart.
/// @throws RuntimeError without a GPU, without CUDA, without memory, or where a library fails
template <class T>
std::unique_ptr<LanczosSpace<T>> make_cusparse_lanczos(const FullRows<T>& a, Index vectors,
                                                       CusparseChoice& choice);

}  // namespace tessera::program
