// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include <tessera/codelets/csb/csb_magnitudes.hpp>
#include <tessera/codelets/csb/multiply_csb_arguments.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {
namespace {

using csb_codelets::MultiplyCsbArguments;

template <class T>
void clear(const MatrixView<T>& y) {
  for (Index i = 0; i < y.cols; ++i) std::fill_n(&y(0, i), y.rows, T(0));
}

template <class V, class T>
void multiply_task(const TaskContext&, TaskBuffers buffers, const MultiplyCsbArguments& arguments) {
  const CsbPieceShape& shape = arguments.shape;
  const auto piece = csb_view<V>(buffers.array<const char>(0).data(), shape.block_count, shape.entry_count,
                                 shape.on_diagonal);
  const int first = arguments.has_index ? 2 : 1;
  const auto x_columns = buffers.matrix<const T>(first);
  const auto y_rows = buffers.matrix<T>(first + 1);
  const auto x_rows = shape.on_diagonal ? x_columns : buffers.matrix<const T>(first + 2);
  const auto y_columns = shape.on_diagonal ? y_rows : buffers.matrix<T>(first + 3);
  if (arguments.overwrite_rows) clear(y_rows);
  if (arguments.overwrite_columns && !shape.on_diagonal) clear(y_columns);
  kernels::multiply_csb<V, T>(piece, arguments.columns, x_columns.data, x_columns.ld, x_rows.data, x_rows.ld,
                              y_rows.data, y_rows.ld, y_columns.data, y_columns.ld);
}

template <class V, class T>
Codelet multiply_codelet = make_codelet<MultiplyCsbArguments, multiply_task<V, T>>(
    csb_codelets::multiply_csb_name<V, T>(), type_letter<T>);

struct MagnitudesArguments {
  CsbPieceShape shape;
  bool overwrite_rows, overwrite_columns;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class V>
void magnitudes_task(const TaskContext&, TaskBuffers buffers, const MagnitudesArguments& arguments) {
  const CsbPieceShape& shape = arguments.shape;
  double *rows = nullptr, *columns = nullptr;
  int next = 1;
  const auto take = [&](bool overwrite) {
    const auto sums = buffers.matrix<double>(next++);
    if (overwrite) clear(sums);
    return sums.data;
  };
  if (shape.adds_to_rows()) rows = take(arguments.overwrite_rows);
  if (shape.adds_to_columns()) columns = take(arguments.overwrite_columns);
  kernels::add_csb_magnitudes(csb_view<V>(buffers.array<const char>(0).data(), shape.block_count,
                                          shape.entry_count, shape.on_diagonal),
                              rows, shape.on_diagonal ? rows : columns);
}

template <class V>
Codelet magnitudes_codelet = make_codelet<MagnitudesArguments, magnitudes_task<V>>("csb_magnitudes",
                                                                                   type_letter<V>);

Access access_to(bool overwrite, const Data& y) {
  return overwrite ? write(y) : read_write(y);
}

}  // namespace

template <class V, class T>
void insert_multiply_csb(Sequence& sequence, int priority, const CsbPieceShape& shape, int columns,
                         bool overwrite_rows, bool overwrite_columns, const Data& piece, const Data& index,
                         const Data& x_columns, const Data& x_rows, const Data& y_rows, const Data& y_columns,
                         int gpu) {
  if (!index.valid() && sequence.runtime().any_gpus())
    throw InvalidArgument("index", "none", "that of the piece, where GPUs take part");
  // Where every rank has GPUs no CPU multiplies, and the piece itself stays where it is.
  const bool has_piece = sequence.runtime().gpus() == 0;
  if (has_piece && shape.more_entries > 0)
    throw InvalidArgument("shape", fmt::format("{} more entries in the index", shape.more_entries),
                          "none where CPUs multiply");
  if (has_piece && shape.sides != CsbSides::both)
    throw InvalidArgument("shape", "one side", "both where CPUs multiply");
  const MultiplyCsbArguments arguments{shape,     columns,      overwrite_rows, overwrite_columns,
                                       has_piece, index.valid()};
  std::array<Access, 6> accesses;
  std::size_t count = 0;
  if (has_piece) accesses[count++] = read(piece);
  if (index.valid()) accesses[count++] = read(index);
  if (shape.adds_to_rows()) {
    accesses[count++] = read(x_columns);
    accesses[count++] = access_to(overwrite_rows, y_rows);
  }
  if (shape.adds_to_columns()) {
    accesses[count++] = read(x_rows);
    accesses[count++] = access_to(overwrite_columns, y_columns);
  }
  const double flops = (shape.sides == CsbSides::both ? 4.0 : 2.0) * columns *
                       static_cast<double>(shape.entry_count + shape.more_entries);
  sequence.insert(multiply_codelet<V, T>, arguments, {.priority = priority, .flops = flops, .gpu = gpu},
                  std::span<const Access>(accesses.data(), count));
}

template <class V>
void insert_csb_magnitudes(Sequence& sequence, int priority, const CsbPieceShape& shape, bool overwrite_rows,
                           bool overwrite_columns, const Data& piece, const Data& rows, const Data& columns) {
  std::vector<Access> accesses{read(piece)};
  if (shape.adds_to_rows()) accesses.push_back(access_to(overwrite_rows, rows));
  if (shape.adds_to_columns()) accesses.push_back(access_to(overwrite_columns, columns));
  sequence.insert(magnitudes_codelet<V>, MagnitudesArguments{shape, overwrite_rows, overwrite_columns},
                  {.priority = priority, .flops = 2.0 * static_cast<double>(shape.entry_count)},
                  std::span<const Access>(accesses));
}

#define TESSERA_INSTANTIATE(V, T)                                                                          \
  template void insert_multiply_csb<V, T>(Sequence&, int, const CsbPieceShape&, int, bool, bool,           \
                                          const Data&, const Data&, const Data&, const Data&, const Data&, \
                                          const Data&, int);
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)
template void insert_csb_magnitudes<double>(Sequence&, int, const CsbPieceShape&, bool, bool, const Data&,
                                            const Data&, const Data&);
template void insert_csb_magnitudes<float>(Sequence&, int, const CsbPieceShape&, bool, bool, const Data&,
                                           const Data&, const Data&);

}  // namespace tessera
