// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/panel_block.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets on all values of a panel alike, wherever they stand; panels of two matrices have the same blocks.
/// All run at the speed of memory, whose cost predicts their time: no flops are counted. On CPUs and GPUs
/// (but functions of complex elements, on CPUs alone), with the same bits but for functions.
namespace tessera {

/// Codelet scale_panel: values := factor values.
/// Buffers: values (read-write; array of T).
template <class T>
void insert_scale_panel(Sequence& sequence, int priority, T factor, const Data& values);

/// Codelet add_panel: y := alpha x + beta y, with conj(x) if `conjugated`. With beta = 0, y is not looked at.
/// Buffers: x (read; array of T), y (read-write; array of T).
template <class T>
void insert_add_panel(Sequence& sequence, int priority, T alpha, bool conjugated, const Data& x, T beta,
                      const Data& y);

/// Codelet multiply_panel: y_i := x_i y_i.
/// Buffers: x (read; array of T), y (read-write; array of T).
template <class T>
void insert_multiply_panel(Sequence& sequence, int priority, const Data& x, const Data& y);

/// Functions of single elements. tanh_derivative: 1 - tanh^2. truncate: to [-1, 1], NaN stays.
enum class ElementFunction {
  inverse,
  tanh,
  tanh_derivative,
  artanh,
  sin,
  cos,
  asin,
  square_root,
  absolute,
  truncate
};

/// Codelet function_of_panel: values_i := f(first values_i + second). artanh, asin and truncate: real T only.
/// Buffers: values (read-write; array of T).
template <class T>
void insert_function_of_panel(Sequence& sequence, int priority, ElementFunction f, T first, T second,
                              const Data& values);

}  // namespace tessera
