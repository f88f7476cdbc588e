// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/format.h>

#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>
#include <tessera/codelets/sparse/multiply_csb.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

namespace kernels {

template <class V, class T>
void multiply_csb(const CsbPieceView<V>& piece, int columns, const T* x_columns, std::int64_t ldx_columns,
                  const T* x_rows, std::int64_t ldx_rows, T* y_rows, std::int64_t ldy_rows, T* y_columns,
                  std::int64_t ldy_columns) noexcept {
  TESSERA_DISPATCH(cpu_level(), multiply_csb<V, T>(piece, columns, x_columns, ldx_columns, x_rows, ldx_rows,
                                                   y_rows, ldy_rows, y_columns, ldy_columns));
}

template <class V>
void add_csb_magnitudes(const CsbPieceView<V>& piece, double* rows, double* columns) noexcept {
  for (std::int64_t b = 0; b < piece.cell_count; ++b) {
    const CsbCell& cell = piece.cells[b];
    for (std::int64_t e = cell.first_entry; e < cell.first_entry + cell.entries; ++e) {
      const std::int64_t row = std::int64_t(cell.first_row) + piece.rows[e],
                         column = std::int64_t(cell.first_column) + piece.columns[e];
      const V value = piece.values[e];
      // Also parts that are float may have a magnitude that is not.
      const double magnitude = is_complex<V> ? std::hypot(static_cast<double>(real_part(value)),
                                                          static_cast<double>(imag_part(value)))
                                             : std::abs(static_cast<double>(real_part(value)));
      if (rows) rows[row] += magnitude;
      if (columns && (!piece.on_diagonal || row != column)) columns[column] += magnitude;
    }
  }
}

#define TESSERA_INSTANTIATE(V, T)                                                                 \
  template void multiply_csb<V, T>(const CsbPieceView<V>&, int, const T*, std::int64_t, const T*, \
                                   std::int64_t, T*, std::int64_t, T*, std::int64_t) noexcept;
TESSERA_FOR_STORED(TESSERA_INSTANTIATE)
#define TESSERA_INSTANTIATE_MAGNITUDES(V) \
  template void add_csb_magnitudes<V>(const CsbPieceView<V>&, double*, double*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE_MAGNITUDES)

}  // namespace kernels

namespace {

/// The sums of an operand, set to zero where the task writes it; null for an absent operand.
double* sums_of(const WriteOrAdd<Matrix<double>>& operand) {
  const auto sums = *operand;
  if (operand.first()) blas::set_zero(sums);
  return sums.data;
}

}  // namespace

template <class V, class T>
void run(const HostContext&, const MultiplyCsb<V, T>& task) {
  const CsbPieceShape& shape = task.shape;
  const auto piece =
      csb_view<V>(task.piece.view().data(), shape.cell_count, shape.entry_count, shape.on_diagonal);
  const auto x_columns = *task.x_columns, x_rows = shape.on_diagonal ? x_columns : *task.x_rows;
  const auto y_rows = *task.y_rows, y_columns = shape.on_diagonal ? y_rows : *task.y_columns;
  if (task.y_rows.first()) blas::set_zero(y_rows);
  if (task.y_columns.first()) blas::set_zero(y_columns);
  kernels::multiply_csb<V, T>(piece, task.columns, x_columns.data, x_columns.ld, x_rows.data, x_rows.ld,
                              y_rows.data, y_rows.ld, y_columns.data, y_columns.ld);
}

template <class V, class T>
void insert_multiply_csb(Sequence& sequence, MultiplyCsb<V, T> task, const TaskOptions& options) {
  const CsbPieceShape& shape = task.shape;
  if (!task.index && sequence.runtime().any_gpus())
    throw InvalidArgument("index", "none", "that of the piece, where GPUs take part");
  // Where every rank has GPUs no CPU multiplies, and the task does not need the piece itself.
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

template <class V>
void run(const HostContext&, const CsbMagnitudes<V>& task) {
  const CsbPieceShape& shape = task.shape;
  double *const rows = sums_of(task.rows), *const columns = sums_of(task.columns);
  kernels::add_csb_magnitudes(
      csb_view<V>(task.piece.view().data(), shape.cell_count, shape.entry_count, shape.on_diagonal), rows,
      shape.on_diagonal ? rows : columns);
}

#define TESSERA_DEFINE(V, T)             \
  TESSERA_DEFINE_TASK(MultiplyCsb<V, T>) \
  template void insert_multiply_csb<V, T>(Sequence&, MultiplyCsb<V, T>, const TaskOptions&);
TESSERA_FOR_STORED(TESSERA_DEFINE)
#define TESSERA_DEFINE_MAGNITUDES(V) TESSERA_DEFINE_TASK(CsbMagnitudes<V>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE_MAGNITUDES)

}  // namespace tessera::detail
