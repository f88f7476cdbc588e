// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/vectors/gram.hpp>

/// Codelet combine: linear combinations of blocks of row-major vectors, of one segment of rows, in one pass:
///   [O_0 O_1] := [I_0 I_1 I_2 I_3] C,
/// row by row, so that outputs may lie in the inputs' memory: [X P] := [X W P] C is one task. A copy of
/// columns, their scaling, a projection W := (W - Z S) inv(R) are combinations, too.
///
/// Arguments: input_count <= 4, output_count <= 2 ranges of 1 to 32 columns. Outputs do not overlap; an
/// output may
///            overlap inputs in any way (a row is read before it is written).
///            clear: bit k is set where buffer k is only written: its columns outside the output become zero
///            (it holds one output then). Other buffers' other columns keep what they hold.
/// Buffers:   V_0, ..., V_{k-1}, k <= 6 (each width x rows elements of T, column-major for StarPU: row-major
/// vectors
///            with ld = width; read, read-write or write: with inputs, inputs and outputs, or outputs alone.
///            An output without inputs that keeps its other columns is read-write), then C (read; bytes: an
///            array of double, column-major, i x o, ld = i, with the sums of the input and the output
///            columns; every rank has it).
/// Flops:     2 i o a row, in double, rounded to T at the end.
/// Footprint: i and o decide beside the size of the vectors: predicted by the flops and the bytes.
namespace tessera {

struct CombineArguments {
  std::int32_t input_count = 0, output_count = 0;
  ColumnRange input[4], output[2];
  std::uint32_t clear = 0;
  double flops = 0;  ///< for the prediction

  double seconds(WorkerKind kind, double bytes) const {
    return memory_seconds(kind, bytes) + flops / (kind == WorkerKind::gpu ? 1e13 : 1e10);
  }
};

namespace kernels {

/// c: i x o without gaps.
template <class T>
void combine(std::int64_t rows, std::span<const VectorBlock<const T>> inputs,
             std::span<const VectorBlock<T>> outputs, const double* c) noexcept;

/// The columns of `whole` outside [first, first + columns) := 0.
template <class T>
void clear_other_columns(std::int64_t rows, const VectorBlock<T>& whole, std::int32_t first,
                         std::int32_t columns) noexcept;

}  // namespace kernels

/// Ranges without columns are left out. @param whole outputs that are no inputs are overwritten, the rest of
/// their columns with zero (so they need not hold anything before); else they keep their other columns
/// @param gpu see TaskOptions
template <class T>
void insert_combine(Sequence& sequence, int priority, Index rows, std::span<const VectorColumns> inputs,
                    std::span<const VectorColumns> outputs, bool whole, const Data& c, int gpu = -1);

}  // namespace tessera
