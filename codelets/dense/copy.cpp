// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/dense/copy_arguments.hpp>
#include <tessera/codelets/reading.hpp>

namespace tessera {
namespace {

using namespace copy_codelets;

template <class T>
void max_abs_task(const TaskContext& task, TaskBuffers buffers, const MaxAbsArguments& a) {
  const auto tile = buffers.matrix<const T>(0);
  RealOf<T> largest = 0;
  for (Index j = 0; j < tile.cols; ++j) {
    const Index diagonal =
        std::clamp<Index>(a.col0 + j - a.row0, 0, tile.rows);  // first row at or below the diagonal
    const Index end_upper = std::clamp<Index>(a.col0 + j - a.row0 + 1, 0, tile.rows);
    const Index begin = a.uplo == Uplo::upper ? 0 : diagonal,
                end = a.uplo == Uplo::upper ? end_upper : tile.rows;
    RealOf<T> column = 0;
    bool finite = true;
    for (Index i = begin; i < end; ++i) {
      const RealOf<T> re = std::abs(real_part(tile(i, j))), im = std::abs(imag_part(tile(i, j)));
      finite &= std::isfinite(re) && std::isfinite(im);
      column = std::max({column, re, im});
    }
    if (!finite) {
      // The column of the entry as the caller names it, in the triangle that counts.
      task.fail(StatusCode::not_finite, a.col0 + j + 1);
      break;
    }
    largest = std::max(largest, column);
  }
  buffers.array<RealOf<T>>(1)[0] = largest;
}
template <class T>
Codelet max_abs_codelet = make_codelet<MaxAbsArguments, max_abs_task<T>>("max_abs", type_letter<T>);

template <class R>
void choose_scale_task(const TaskContext&, TaskBuffers buffers, const ScaleArguments& a) {
  const int count = buffers.count() - 1;
  R largest = 0;
  for (int k = 0; k < count; ++k) largest = std::max(largest, buffers.array<const R>(k)[0]);
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  // Rounded towards zero, so that a largest entry of 1 stays.
  if (a.power_of_four) exponent = exponent / 2 * 2;
  // Twice the exponent range of a subnormal would overflow: the factor stays finite and nonzero.
  exponent = std::clamp(exponent, std::numeric_limits<R>::min_exponent + 1,
                        std::numeric_limits<R>::max_exponent - 1);
  buffers.array<R>(count)[0] = std::ldexp(R(1), -exponent);
}
template <class R>
Codelet choose_scale_codelet = make_codelet<ScaleArguments, choose_scale_task<R>>("choose_scale",
                                                                                  type_letter<R>);

void copy_bytes_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const auto source = buffers.array<const char>(0);
  std::copy(source.begin(), source.end(), buffers.array<char>(1).begin());
}
Codelet copy_bytes_codelet = make_codelet<NoArguments, copy_bytes_task>("copy_bytes");

template <class T>
void copy_tile_task(const TaskContext&, TaskBuffers buffers, const CopyArguments& a) {
  const auto source = a.source.of(buffers.matrix<const T>(0));
  const RealOf<T> scale = buffers.array<const RealOf<T>>(1)[0];
  const auto destination = a.destination.of(buffers.matrix<T>(2));
  for (Index j = 0; j < destination.cols; ++j) {
    if (a.op == Op::none)
      for (Index i = 0; i < destination.rows; ++i) destination(i, j) = scale * source(i, j);
    else
      for (Index i = 0; i < destination.rows; ++i) destination(i, j) = scale * conjugate(source(j, i));
    const Index diagonal = a.col0 + j - a.row0;
    if (diagonal >= 0 && diagonal < destination.rows)
      destination(diagonal, j) = real_part(destination(diagonal, j));
  }
}
template <class T>
Codelet copy_tile_codelet = make_codelet<CopyArguments, copy_tile_task<T>>("copy_tile", type_letter<T>);

template <class R>
void export_values_task(const TaskContext&, TaskBuffers buffers, const ExportArguments& a) {
  const auto values = buffers.array<const R>(0);
  const R scale = buffers.array<const R>(1)[0];
  const auto out = buffers.array<R>(2);
  for (Index k = 0; k < a.count; ++k)
    out[static_cast<std::size_t>(k)] = values[static_cast<std::size_t>(a.first + k)] / scale;
}
template <class R>
Codelet export_values_codelet = make_codelet<ExportArguments, export_values_task<R>>("export_values",
                                                                                     type_letter<R>);

template <class R>
void divide_scales_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  buffers.array<R>(2)[0] = buffers.array<const R>(0)[0] / buffers.array<const R>(1)[0];
}
template <class R>
Codelet divide_scales_codelet = make_codelet<NoArguments, divide_scales_task<R>>("divide_scales",
                                                                                 type_letter<R>);

template <class T>
void scale_by_root_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const RealOf<T> root = std::sqrt(buffers.array<const RealOf<T>>(0)[0]);
  if (root == 1) return;
  const auto x = buffers.matrix<T>(1);
  for (Index j = 0; j < x.cols; ++j)
    for (Index i = 0; i < x.rows; ++i) x(i, j) *= root;
}
template <class T>
Codelet scale_by_root_codelet = make_codelet<NoArguments, scale_by_root_task<T>>("scale_by_root",
                                                                                 type_letter<T>);

}  // namespace

template <class R>
void insert_divide_scales(Sequence& sequence, int priority, const Data& a, const Data& b,
                          const Data& quotient) {
  sequence.insert(divide_scales_codelet<R>, NoArguments{}, {.priority = priority},
                  {read(a), read(b), write(quotient)});
}

template <class T>
void insert_scale_by_root(Sequence& sequence, int priority, const Data& scale, const Data& x) {
  sequence.insert(scale_by_root_codelet<T>, NoArguments{}, {.priority = priority},
                  {read(scale), read_write(x)});
}

template <class T>
void insert_max_abs(Sequence& sequence, int priority, const Data& tile, Uplo uplo, Index row0, Index col0,
                    const Data& out) {
  sequence.insert(max_abs_codelet<T>, MaxAbsArguments{uplo, row0, col0}, {.priority = priority},
                  {read(tile), write(out)});
}

template <class R>
void insert_choose_scale(Sequence& sequence, int priority, std::span<const Data* const> values,
                         const Data& scale, bool power_of_four) {
  auto accesses = reading(values);
  accesses.push_back(write(scale));
  sequence.insert(choose_scale_codelet<R>, ScaleArguments{power_of_four}, {.priority = priority}, accesses);
}

void insert_copy_bytes(Sequence& sequence, int priority, const Data& source, const Data& destination,
                       int execute_on) {
  sequence.insert(copy_bytes_codelet, NoArguments{}, {.priority = priority, .execute_on = execute_on},
                  {read(source), write(destination)});
}

template <class T>
void insert_copy_tile(Sequence& sequence, int priority, const Data& source, TilePart source_part, Op op,
                      const Data& scale, const Data& destination, TilePart destination_part, bool fresh,
                      Index row0, Index col0, int gpu) {
  sequence.insert(copy_tile_codelet<T>, CopyArguments{source_part, destination_part, op, row0, col0},
                  {.priority = priority, .gpu = gpu},
                  {read(source), read(scale), fresh ? write(destination) : read_write(destination)});
}

template <class R>
void insert_export_values(Sequence& sequence, int priority, const Data& values, const Data& scale,
                          Index first, Index count, const Data& out) {
  sequence.insert(export_values_codelet<R>, ExportArguments{first, count}, {.priority = priority},
                  {read(values), read(scale), write(out)});
}

#define TESSERA_INSTANTIATE(T)                                                                           \
  template void insert_max_abs<T>(Sequence&, int, const Data&, Uplo, Index, Index, const Data&);         \
  template void insert_copy_tile<T>(Sequence&, int, const Data&, TilePart, Op, const Data&, const Data&, \
                                    TilePart, bool, Index, Index, int);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#define TESSERA_INSTANTIATE_SCALE(T) \
  template void insert_scale_by_root<T>(Sequence&, int, const Data&, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE_SCALE)
#define TESSERA_INSTANTIATE_REAL(R)                                                                      \
  template void insert_divide_scales<R>(Sequence&, int, const Data&, const Data&, const Data&);          \
  template void insert_choose_scale<R>(Sequence&, int, std::span<const Data* const>, const Data&, bool); \
  template void insert_export_values<R>(Sequence&, int, const Data&, const Data&, Index, Index, const Data&);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE_REAL)

}  // namespace tessera
