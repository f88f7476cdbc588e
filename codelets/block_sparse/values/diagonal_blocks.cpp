// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/block_sparse/values/diagonal_blocks.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace {

/// False where the block is not positive definite.
template <class T>
bool factor_cholesky(bool inverted, Index n, T* a) {
  if (blas::potrf(Uplo::lower, n, a, n) != 0) return false;
  for (Index i = 0; i < n; ++i)
    if (const auto pivot = real_part(a[i + i * n]); !(pivot > 0) || !std::isfinite(pivot)) return false;
  if (n > 1) blas::laset(Uplo::upper, n - 1, n - 1, T(0), T(0), a + n, n);
  return !inverted || blas::trtri(Uplo::lower, Diag::non_unit, n, a, n) == 0;
}

/// False where the block is singular.
template <class T>
bool invert(Index n, T* a, char* work) {
  T* const elements = reinterpret_cast<T*>(work);
  int* const pivots = reinterpret_cast<int*>(elements + n);
  if (blas::getrf(n, n, a, n, pivots) != 0) return false;
  for (Index i = 0; i < n; ++i)
    if (const T pivot = a[i + i * n]; pivot == T(0) || !std::isfinite(std::abs(pivot))) return false;
  return blas::getri(n, a, n, pivots, elements, n) == 0;
}

/// The upper triangle of an inverse := the mirror image of the lower one.
template <class T>
void mirror_lower(Symmetry symmetry, Index n, T* a) {
  for (Index j = 0; j < n; ++j) {
    if (symmetry == Symmetry::hermitian) a[j + j * n] = real_part(a[j + j * n]);
    if (symmetry == Symmetry::antisymmetric) a[j + j * n] = T(0);
    for (Index i = j + 1; i < n; ++i) a[j + i * n] = mirrored(symmetry, a[i + j * n]);
  }
}

}  // namespace

template <class T>
void run(const HostContext& on, const FactorBlocks<T>& task) {
  T* const values = task.values.view().data();
  const bool inverse = task.factor == DiagonalFactor::inverse;
  for (const PanelBlock& block : *task.blocks) {
    const Index n = block.rows;
    T* const a = values + block.offset;
    if (n == 0) continue;
    const bool good = inverse ? invert(n, a, task.work.view().data())
                              : factor_cholesky(task.factor == DiagonalFactor::inverse_cholesky, n, a);
    if (!good)
      return on.fail(inverse ? StatusCode::block_singular : StatusCode::block_not_positive_definite,
                     block.block_row + 1);
    if (inverse && task.symmetry != Symmetry::none) mirror_lower(task.symmetry, n, a);
  }
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(FactorBlocks<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
