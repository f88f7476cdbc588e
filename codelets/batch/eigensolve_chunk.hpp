// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/batch/kernels/batch_eigen.hpp>
#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

/// Eigenvalues and eigenvectors of `count` Hermitian matrices of order n, each by itself.
///                               [4/3 n^3 count flops, with vectors 9 n^3 count, complex x 4, as LAPACK's own counts]
/// | operand | mode    | shape                       | what                                                     |
/// |---------|---------|-----------------------------|----------------------------------------------------------|
/// | a       | read    | n x (n count), or m x count | matrices side by side, or each as one column (ld: lda)   |
/// | values  | write   | array of reals: n count     | ascending for each matrix                                |
/// | info    | write   | array of int: count         | as EigenBatch::info: no failure of the task              |
/// | z       | write   | as a; or none               | eigenvectors                                             |
/// | work    | scratch | array                       | eigensolve_chunk_work                                    |
/// Sources: kernels/batch_eigen.hpp; on CPUs LAPACK heevd.
template <class T>
struct EigensolveChunk {
  static constexpr const char* name = "eigensolve_chunk";
  Read<Matrix<T>> a;
  Write<Array<RealOf<T>>> values;
  Write<Array<int>> info;
  Write<Matrix<T>> z{};
  GpuScratch<Array<char>> work{};
  Index n = 0, count = 0, lda = 0, ldz = 0;
  Uplo uplo = Uplo::lower;

  double flops() const noexcept {
    return (z ? 9.0 : 4.0 / 3.0) * double(n) * double(n) * double(n) * double(count) * flop_factor<T>;
  }
  std::uint32_t footprint() const noexcept { return footprint_of(n, count, static_cast<bool>(z)); }
};

/// Bytes of the work space on a GPU; 0 without GPUs.
template <class T>
std::size_t eigensolve_chunk_work(const Runtime& runtime, Index n, Index count, bool vectors);

/// The matrices of a running task.
template <class T>
kernels::EigenBatch<T> batch_of(const EigensolveChunk<T>& task) noexcept {
  const Index n = task.n, count = task.count;
  kernels::EigenBatch<T> batch{.n = n, .count = count, .uplo = task.uplo};
  const auto place = [&](const auto& view, Index given, Index& ld, Index& stride) {
    const bool beside = view.cols != count;
    ld = beside ? view.ld : given;
    stride = beside ? view.ld * n : view.ld;
    return view.data;
  };
  batch.a = place(*task.a, task.lda, batch.lda, batch.stride_a);
  if (task.z) batch.z = place(*task.z, task.ldz, batch.ldz, batch.stride_z);
  batch.w = task.values.view().data();
  batch.stride_w = n;
  batch.info = task.info.view().data();
  return batch;
}

}  // namespace tessera::detail
