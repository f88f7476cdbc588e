// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/runtime/task.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// Tasks of the accuracy checks: products with a Hermitian matrix in lower tiles, and sums of absolute
/// values. Sums are always double. One task writes each piece of sums, and the host adds them up. No flops
/// are counted, because a check is not part of a solve.
namespace tessera::detail {

/// Y := [Y +] the part of A X from the lower tile A = A(i, j): rows i (from row0) with X's rows j (from
/// col0) and, off the diagonal, rows j with rows i.
/// | operand | mode         | shape | what                                                     |
/// |---------|--------------|-------|----------------------------------------------------------|
/// | a       | read         | tile  |                                                          |
/// | x       | read         | slab  |                                                          |
/// | y       | write or add | slab  | the first task of a sequence sets all other rows to zero |
template <class T>
struct HermitianTimesSlab {
  static constexpr const char* name = "hermitian_times_slab";
  Read<Matrix<T>> a, x;
  WriteOrAdd<Matrix<T>> y;
  Index row0 = 0, col0 = 0;
};

/// sums[c] := sum_i |R(i, c) - values[first + c] Y(i, c)| for the columns of a slab; without y: of |R|.
/// | operand | mode  | shape                    | what                     |
/// |---------|-------|--------------------------|--------------------------|
/// | r       | read  | slab                     |                          |
/// | y       | read  | the same; may be absent  |                          |
/// | values  | read  | array of R               | absent where y is absent |
/// | sums    | write | array of double          | one for each column      |
template <class T>
struct AbsoluteColumnSums {
  static constexpr const char* name = "column_sums";
  Read<Matrix<T>> r;
  Read<Matrix<T>> y{};
  Read<Array<RealOf<T>>> values{};
  Write<Array<double>> sums;
  Index first = 0;
};

/// sums[d] := sum_c |(X^H Y - delta)(d, c)| over the columns c of Y, one sum for each column d of X; delta is
/// the identity if X and Y have the `same` column numbers, else zero.
/// | operand | mode    | shape           | what                                                           |
/// |---------|---------|-----------------|----------------------------------------------------------------|
/// | x, y    | read    | slabs           | may be the same piece                                          |
/// | sums    | write   | array of double |                                                                |
/// | work    | scratch | array of T      | columns of X x the columns of Y that are taken at a time       |
template <class T>
struct AbsoluteInnerSums {
  static constexpr const char* name = "inner_sums";
  Read<Matrix<T>> x, y;
  Write<Array<double>> sums;
  Scratch<Array<T>> work;
  bool same = false;

  /// For the body: the number of columns of Y whose products with all columns of X fit into the work space.
  Index columns_at_once() const noexcept {
    return std::max<Index>(static_cast<Index>(work.view().size()) / std::max<Index>(x.view().cols, 1), 1);
  }
};

/// The part of a lower tile (m x n) in the column sums of absolute values of a Hermitian matrix: sums[0, n)
/// for the tile's columns and, off the diagonal, sums[n, n + m) for its rows.
/// | operand | mode  | shape           |
/// |---------|-------|-----------------|
/// | a       | read  | tile            |
/// | sums    | write | array of double |
template <class T>
struct AbsoluteTileSums {
  static constexpr const char* name = "tile_sums";
  Read<Matrix<T>> a;
  Write<Array<double>> sums;
  bool diagonal = false;
};

/// sums[d] := sum_c |P(d, c) - delta(d, first + c)|, delta the identity if `identity`, else zero; P holds the
/// columns of a matrix from number `first` on. If first > 0, the sums are added to those of the columns
/// before.
template <class T>
void row_sums(const HostContext& on, MatrixView<const T> p, bool identity, Index first,
              double* sums) noexcept;
template <class T>
void row_sums(const CudaContext& on, MatrixView<const T> p, bool identity, Index first,
              double* sums) noexcept;

}  // namespace tessera::detail

/// The kernels of these tasks on a GPU. All pointers are device memory, and the functions enqueue on the
/// stream. The order of the sums depends on the sizes only.
namespace tessera::detail::device {

/// sums[c] := sum_i |R(i, c) - values[c] Y(i, c)|, or of |R| if y is null. Reads R once.
template <class T>
void launch_column_sums(CUstream_st* stream, MatrixView<const T> r, const MatrixView<const T>* y,
                        const RealOf<T>* values, double* sums);

/// The sums of AbsoluteTileSums: column sums, followed by the row sums; on the diagonal the row sums of the
/// strict lower triangle are added to the column sums. Reads A twice.
template <class T>
void launch_tile_sums(CUstream_st* stream, MatrixView<const T> a, bool diagonal, double* sums);

}  // namespace tessera::detail::device
