// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <span>

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// Tasks that copy a caller's matrix into the solver's own tiles, and results back. They count no flops. R is
/// the real type of T.
namespace tessera::detail {

/// out := largest absolute value among the entries (row0 + i, col0 + j) of the lower, upper or whole matrix
/// in a tile. Real and imaginary parts count separately, which avoids overflow.
/// | operand | mode  | shape           | what             |
/// |---------|-------|-----------------|------------------|
/// | tile    | read  | tile            |                  |
/// | out     | write | array of one R  | the largest      |
/// Errors: not_finite with index = column, from 1.
template <class T>
struct MaxAbs {
  static constexpr const char* name = "max_abs";
  Read<Matrix<T>> tile;
  Write<Array<RealOf<T>>> out;
  Uplo uplo = Uplo::general;
  Index row0 = 0, col0 = 0;
};

/// Looks whether the diagonal of a tile of a triangular factor is positive.
/// | operand | mode | shape |
/// |---------|------|-------|
/// | l       | read | n x n |
/// Errors: not_positive_definite with index = first_row + number of the first entry that is not, from 1.
template <class T>
struct CheckDiagonal {
  static constexpr const char* name = "check_diagonal";
  Read<Matrix<T>> l;
  Index first_row = 0;
};

/// scale := the power of two that brings the largest of the values to [1/2, 1); 1 if all are zero or there is
/// none. A power of four brings the largest near 1.
/// | operand | mode  | shape                 |
/// |---------|-------|-----------------------|
/// | values  | read  | arrays of one R each  |
/// | scale   | write | array of one R        |
template <class R>
struct ChooseScale {
  static constexpr const char* name = "choose_scale";
  ReadAll<Array<R>> values{};
  Write<Array<R>> scale;
  bool power_of_four = false;
};

/// destination := source. If it is inserted for one rank (TaskOptions::execute_on), a destination of owner
/// every_rank changes on that rank only.
/// | operand     | mode  | shape             |
/// |-------------|-------|-------------------|
/// | source      | read  | bytes             |
/// | destination | write | as many bytes     |
struct CopyBytes {
  static constexpr const char* name = "copy_bytes";
  Read<Array<char>> source;
  Write<Array<char>> destination;
};

/// A part of the destination := scale op(part of the source), op none or adjoint; on the matrix diagonal
/// (row0 + i = col0 + j) imaginary parts become zero.
/// | operand     | mode         | shape          | what                                           |
/// |-------------|--------------|----------------|------------------------------------------------|
/// | source      | read         | tile           |                                                |
/// | scale       | read         | array of one R |                                                |
/// | destination | write or add | tile           | the other parts stay unless it is overwritten  |
template <class T>
struct CopyTile {
  static constexpr const char* name = "copy_tile";
  Read<Matrix<T>> source;
  Read<Array<RealOf<T>>> scale;
  WriteOrAdd<Matrix<T>> destination;
  TilePart from, to;  ///< of the source, of the destination
  Op op = Op::none;
  Index row0 = 0, col0 = 0;  ///< where the destination's part begins in the matrix
  std::uint32_t footprint() const noexcept { return footprint_of(to.rows, to.cols, int(op)); }
};

/// Where the rows or columns of a process lie in a block-cyclic matrix: blocks of `block` entries, `stride`
/// from one to the next.
struct CyclicIndices {
  Index begin = 0;  ///< of the first block, before what it lacks
  Index lead = 0;   ///< entries that the first block lacks
  Index block = std::numeric_limits<Index>::max();
  Index stride = 0;
  TESSERA_HOST_DEVICE constexpr Index operator()(Index local) const noexcept {
    const Index at = lead + local;
    return begin + at / block * stride + at % block;
  }
};

/// A part of the destination := some rows and columns of the source: (i, j) := source(rows(i), cols(j)).
/// | operand     | mode         | shape  | what                                           |
/// |-------------|--------------|--------|------------------------------------------------|
/// | source      | read         | matrix |                                                |
/// | destination | write or add | matrix | the other parts stay unless it is overwritten  |
template <class T>
struct CopyCyclic {
  static constexpr const char* name = "copy_cyclic";
  Read<Matrix<T>> source;
  WriteOrAdd<Matrix<T>> destination;
  CyclicIndices rows{}, cols{};
  TilePart to;  ///< of the destination
  std::uint32_t footprint() const noexcept { return footprint_of(to.rows, to.cols); }
};

/// out[k] := values[first + k] / scale for k < count.
/// | operand | mode  | shape                           |
/// |---------|-------|---------------------------------|
/// | values  | read  | array of R                      |
/// | scale   | read  | array of one R                  |
/// | out     | write | array of R                      |
template <class R>
struct ExportValues {
  static constexpr const char* name = "export_values";
  Read<Array<R>> values, scale;
  Write<Array<R>> out;
  Index first = 0, count = 0;
};

/// quotient := a / b.
/// | operand  | mode  | shape          |
/// |----------|-------|----------------|
/// | a, b     | read  | array of one R |
/// | quotient | write | array of one R |
template <class R>
struct DivideScales {
  static constexpr const char* name = "divide_scales";
  Read<Array<R>> a, b;
  Write<Array<R>> quotient;
};

/// X := sqrt(scale) X.
/// | operand | mode       | shape          | what            |
/// |---------|------------|----------------|-----------------|
/// | scale   | read       | array of one R | a power of four |
/// | x       | read-write | matrix         |                 |
template <class T>
struct ScaleByRoot {
  static constexpr const char* name = "scale_by_root";
  Read<Array<RealOf<T>>> scale;
  ReadWrite<Matrix<T>> x;
};

/// x_j := x_j / |x_j| for the columns of X; a column of zeros stays.
/// | operand | mode       | shape          | what            |
/// |---------|------------|----------------|-----------------|
/// | x       | read-write | matrix         |                 |
template <class T>
struct NormaliseColumns {
  static constexpr const char* name = "normalise_columns";
  ReadWrite<Matrix<T>> x;
};

}  // namespace tessera::detail

/// The kernels of these tasks on a GPU. All pointers are device memory, and the functions enqueue on the
/// stream. Sizes of zero are allowed; a kernel that has a result writes it even then.
namespace tessera::detail::device {

/// *out := the number of MaxAbs. If such an entry is not finite, *out is NaN, and *bad_column becomes the
/// lowest column of the tile with one, from 1; otherwise *bad_column stays. `bad_column` may be host memory
/// that the device sees. Reads the tile once; the result does not depend on the order.
template <class T>
void launch_max_abs(CUstream_st* stream, MatrixView<const T> tile, Uplo uplo, Index row0, Index col0,
                    RealOf<T>* out, long long* bad_column);

/// *bad := the number of the first entry of the diagonal that is not positive, from 1; if there is none, *bad
/// stays. `bad` may be host memory that the device sees.
template <class T>
void launch_check_diagonal(CUstream_st* stream, MatrixView<const T> l, long long* bad);

/// *scale := the number of ChooseScale. `values` is a host array of device pointers.
template <class R>
void launch_choose_scale(CUstream_st* stream, std::span<const R* const> values, R* scale, bool power_of_four);

/// destination := *scale op(source), op none or adjoint; real where row0 + i = col0 + j. Reads and writes
/// each entry once. The adjoint goes through shared memory in squares, so that all accesses run along
/// columns.
template <class T>
void launch_copy(CUstream_st* stream, MatrixView<const T> source, Op op, const RealOf<T>* scale,
                 MatrixView<T> destination, Index row0, Index col0);

/// destination(i, j) := source(rows(i), cols(j)).
template <class T>
void launch_copy_cyclic(CUstream_st* stream, MatrixView<const T> source, const CyclicIndices& rows,
                        const CyclicIndices& cols, MatrixView<T> destination);

/// out[k] := values[k] / *scale.
template <class R>
void launch_divide_by(CUstream_st* stream, const R* values, const R* scale, Index count, R* out);

/// X := sqrt(*scale) X.
template <class T>
void launch_scale_by_root(CUstream_st* stream, const RealOf<T>* scale, MatrixView<T> x);

/// x_j := x_j / |x_j|; squares in the precision of X, summed in double.
template <class T>
void launch_normalise_columns(CUstream_st* stream, MatrixView<T> x);

}  // namespace tessera::detail::device
