// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <type_traits>

#include <tessera/codelets/block_sparse/memory_cost.hpp>
#include <tessera/codelets/csb/multiply_csb.hpp>

/// What the tasks of multiply_csb.hpp carry beside their buffers: shared by the CPU and the CUDA
/// implementations.
namespace tessera::csb_codelets {

struct MultiplyCsbArguments {
  CsbPieceShape shape;
  int columns;
  bool overwrite_rows, overwrite_columns;
  bool has_piece, has_index;  ///< the first buffers
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

/// The codelets are NAME_s and NAME_d by the vectors' type; this is NAME.
template <class V, class T>
std::string multiply_csb_name() {
  return std::is_same_v<V, T> ? "multiply_csb" : "multiply_csb_mixed";
}

}  // namespace tessera::csb_codelets
