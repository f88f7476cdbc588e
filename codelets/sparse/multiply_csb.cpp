// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <tessera/codelets/sparse/multiply_csb.hpp>
#include <tessera/error.hpp>

namespace tessera {
namespace {

template <class T>
void clear(const MatrixView<T>& y) {
  for (Index i = 0; i < y.cols; ++i) std::fill_n(&y(0, i), y.rows, T(0));
}

}  // namespace

template <class V, class T>
void run(const HostContext&, const MultiplyCsb<V, T>& task) {
  const CsbPieceShape& shape = task.shape;
  const auto piece =
      csb_view<V>(task.piece.view().data(), shape.block_count, shape.entry_count, shape.on_diagonal);
  const auto x_columns = *task.x_columns, x_rows = shape.on_diagonal ? x_columns : *task.x_rows;
  const auto y_rows = *task.y_rows, y_columns = shape.on_diagonal ? y_rows : *task.y_columns;
  if (task.y_rows.first()) clear(y_rows);
  if (task.y_columns.first()) clear(y_columns);
  kernels::multiply_csb<V, T>(piece, task.columns, x_columns.data, x_columns.ld, x_rows.data, x_rows.ld,
                              y_rows.data, y_rows.ld, y_columns.data, y_columns.ld);
}

template <class V, class T>
void insert_multiply_csb(Sequence& sequence, MultiplyCsb<V, T> task, const TaskOptions& options) {
  const CsbPieceShape& shape = task.shape;
  if (!task.index && sequence.runtime().any_gpus())
    throw InvalidArgument("index", "none", "that of the piece, where GPUs take part");
  // Where every rank has GPUs no CPU multiplies, and the piece itself stays where it is.
  const bool on_cpus = sequence.runtime().gpus() == 0;
  if (on_cpus && shape.more_entries > 0)
    throw InvalidArgument("shape", fmt::format("{} more entries in the index", shape.more_entries),
                          "none where CPUs multiply");
  if (on_cpus && shape.sides != CsbSides::both)
    throw InvalidArgument("shape", "one side", "both where CPUs multiply");
  if (!on_cpus) task.piece = {};
  if (!shape.adds_to_rows()) {
    task.x_columns = {};
    task.y_rows = {};
  }
  if (!shape.adds_to_columns()) {
    task.x_rows = {};
    task.y_columns = {};
  }
  sequence.insert(task, options);
}

#define TESSERA_DEFINE(V, T)             \
  TESSERA_DEFINE_TASK(MultiplyCsb<V, T>) \
  template void insert_multiply_csb<V, T>(Sequence&, MultiplyCsb<V, T>, const TaskOptions&);
TESSERA_DEFINE(double, double)
TESSERA_DEFINE(float, double)
TESSERA_DEFINE(float, float)

}  // namespace tessera
