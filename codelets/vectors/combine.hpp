// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/vectors/gram.hpp>

struct CUstream_st;  // cudaStream_t points to one

namespace tessera::detail {

/// Linear combinations of blocks of row-major vectors, of one segment of rows, in one pass:
///   [O_0 O_1] := [I_0 I_1 I_2 I_3] C,                                           [2 i o a row]
/// of complex vectors their real columns (columns.hpp), twice as many, where the real C has four numbers for each
/// complex one,
/// row by row, so that outputs may lie in the inputs' memory: [X P] := [X W P] C is one task. A copy of
/// columns, their scaling, a projection W := (W - Z S) inv(R) are combinations, too.
/// | operand | mode         | shape                        | what                                        |
/// |---------|--------------|------------------------------|---------------------------------------------|
/// | inputs  | read         | blocks, 1 to 32 columns      | i real columns in total                     |
/// | outputs | write or add | the same                     | o real columns; others: zero if written     |
/// | c       | read         | doubles: i x o, column-major | every rank has it                           |
/// Outputs do not overlap; they may overlap inputs in any way (a row is read before it is written), but the
/// block of one that is overwritten is no input, and has no other output. In double, rounded to T at the end.
/// Predicted by flops and bytes.
template <class T>
struct Combine {
  static constexpr const char* name = "combine";
  static constexpr bool gpu_instead_of_cpu = true;
  std::array<ReadColumns<T>, 4> inputs{};
  std::array<OutputColumns<T>, 2> outputs{};
  Read<Array<double>> c;
  Index rows = 0;

  double flops() const noexcept {
    return 2. * flop_factor<T> * columns_of(inputs) * columns_of(outputs) * static_cast<double>(rows);
  }
  double seconds(WorkerKind kind, double bytes) const noexcept {
    return memory_seconds(kind, bytes) + flops() / (kind == WorkerKind::gpu ? 1e13 : 1e10);
  }
};

namespace kernels {

/// c: i x o without gaps.
template <class T>
void combine(std::int64_t rows, std::span<const VectorBlock<const T>> inputs,
             std::span<const VectorBlock<T>> outputs, const double* c) noexcept;

}  // namespace kernels

/// All pointers are device memory; everything is enqueued on the stream.
namespace device {

/// An output, and the columns around it that become zero: from -before (of its first) to `whole` (columns of
/// the block of vectors from its first on), both 0 where the others are kept.
template <class T>
struct CombineOutput {
  VectorBlock<T> block;
  std::int32_t before = 0, whole = 0;
};

/// [O_0 ...] := [I_0 ...] C; outputs may lie in inputs: a row is read by the warp that writes it, before.
template <class T>
void launch_combine(CUstream_st* stream, std::int64_t rows, std::span<const VectorBlock<const T>> inputs,
                    std::span<const CombineOutput<T>> outputs, const double* c);

}  // namespace device

}  // namespace tessera::detail
