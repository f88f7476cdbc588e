// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/block_reflector.hpp>
#include <tessera/codelets/dense/block_reflector_arguments.hpp>
#include <tessera/codelets/reading.hpp>
#include <tessera/codelets/tile_part.hpp>

namespace tessera {
namespace {

using namespace block_reflector_codelets;

template <class T>
void gather_reflectors_task(const TaskContext&, TaskBuffers buffers, const ReflectorArguments& a) {
  const auto v = buffers.matrix<T>(a.pieces);
  Index row = 0;
  for (int piece = 0; piece < a.pieces; ++piece) {
    const auto tile = buffers.matrix<const T>(piece);
    const Index skipped = piece == 0 ? a.first_row : 0;
    blas::lacpy(Uplo::general, tile.rows - skipped, v.cols, &tile(skipped, a.first_col), tile.ld, &v(row, 0),
                v.ld);
    row += tile.rows - skipped;
  }
  for (Index j = 0; j < v.cols; ++j) std::fill_n(&v(0, j), std::min((j / a.b + 1) * a.b, v.rows), T(0));
}
template <class T>
Codelet gather_reflectors_codelet =
    make_codelet<ReflectorArguments, gather_reflectors_task<T>>("gather_reflectors", type_letter<T>);

template <class T>
void merge_t_task(const TaskContext&, TaskBuffers buffers, const ReflectorArguments& a) {
  const auto t = buffers.matrix<T>(buffers.count() - 1);
  const Index k = a.k, b = a.b;
  // T's place first holds V^H V (upper triangle); each block column is replaced from left to right.
  for (int piece = 0; piece < a.pieces; ++piece) {
    const auto v = buffers.matrix<const T>(piece);
    blas::herk<T>(Uplo::upper, Op::adjoint, k, v.rows, 1, v.data, v.ld, piece == 0 ? 0 : 1, t.data, t.ld);
  }
  for (Index j = 0; j < k; j += b) {
    const auto t_panel = buffers.matrix<const T>(a.pieces + static_cast<int>(j / b));
    T* column = &t(0, j);
    blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, j, b, T(-1), t_panel.data, t_panel.ld,
               column, t.ld);
    blas::trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, j, b, T(1), t.data, t.ld, column, t.ld);
    blas::lacpy(Uplo::general, b, b, t_panel.data, t_panel.ld, &t(j, j), t.ld);
  }
  if (k > 1) blas::laset(Uplo::lower, k - 1, k - 1, T(0), T(0), &t(1, 0), t.ld);
}
template <class T>
Codelet merge_t_codelet = make_codelet<ReflectorArguments, merge_t_task<T>>("merge_t", type_letter<T>);

template <class T>
void apply_block_reflector_task(const TaskContext&, TaskBuffers buffers, const ReflectorArguments& a) {
  const auto t = buffers.matrix<const T>(a.pieces);
  const auto c =
      buffers.matrix<T>(a.pieces + 1).block(a.first_row, 0, a.rows, buffers.matrix<T>(a.pieces + 1).cols);
  const Index k = a.k;
  T* w = buffers.array<T>(a.pieces + 2).data();
  Index row = 0;
  for (int piece = 0; piece < a.pieces; ++piece) {
    const auto v = buffers.matrix<const T>(piece);
    blas::gemm(Op::adjoint, Op::none, k, c.cols, v.rows, T(1), v.data, v.ld, &c(row, 0), c.ld,
               T(piece == 0 ? 0 : 1), w, k);
    row += v.rows;
  }
  blas::trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, k, c.cols, T(1), t.data, t.ld, w, k);
  row = 0;
  for (int piece = 0; piece < a.pieces; ++piece) {
    const auto v = buffers.matrix<const T>(piece);
    blas::gemm(Op::none, Op::none, v.rows, c.cols, k, T(-1), v.data, v.ld, w, k, T(1), &c(row, 0), c.ld);
    row += v.rows;
  }
}
template <class T>
Codelet apply_block_reflector_codelet =
    make_codelet<ReflectorArguments, apply_block_reflector_task<T>>("apply_block_reflector", type_letter<T>);

template <class T>
void solve_adjoint_row_task(const TaskContext&, TaskBuffers buffers, const SolveArguments& a) {
  const int last = buffers.count() - 2;  // index of L_kk
  const auto x = buffers.matrix<T>(last + 1);
  T* x_k = &x(last * a.tile, 0);
  const auto diagonal = buffers.matrix<const T>(last);
  blas::trsm(Side::left, Uplo::lower, Op::adjoint, Diag::non_unit, a.rows, x.cols, T(1), diagonal.data,
             diagonal.ld, x_k, x.ld);
  for (int i = 0; i < last; ++i) {
    const auto l = buffers.matrix<const T>(i);
    blas::gemm(Op::adjoint, Op::none, l.cols, x.cols, l.rows, T(-1), l.data, l.ld, x_k, x.ld, T(1),
               &x(i * a.tile, 0), x.ld);
  }
}
template <class T>
Codelet solve_adjoint_row_codelet =
    make_codelet<SolveArguments, solve_adjoint_row_task<T>>("solve_adjoint_row", type_letter<T>);

}  // namespace

template <class T>
void insert_gather_reflectors(Sequence& sequence, int priority, std::span<const Data* const> tiles,
                              const Data& v, Index b, Index first_row, Index first_col, int gpu) {
  auto accesses = reading(tiles);
  accesses.push_back(write(v));
  sequence.insert(gather_reflectors_codelet<T>,
                  ReflectorArguments{std::int32_t(first_row), 0, 0, std::int32_t(b),
                                     std::int32_t(tiles.size()), std::int32_t(first_col)},
                  {.priority = priority, .gpu = gpu}, accesses);
}

template <class T>
void insert_merge_t(Sequence& sequence, int priority, std::span<const Data* const> v,
                    std::span<const Data* const> t_panels, const Data& t, Index rows, Index k, Index b) {
  auto accesses = reading(v);
  for (const Data* panel : t_panels) accesses.push_back(read(*panel));
  accesses.push_back(write(t));
  const double flops = (double(rows) * k * k + double(k) * k * k / 3) * flop_factor<T>;
  sequence.insert(
      merge_t_codelet<T>,
      ReflectorArguments{0, std::int32_t(rows), std::int32_t(k), std::int32_t(b), std::int32_t(v.size())},
      {.priority = priority, .flops = flops}, accesses);
}

template <class T>
void insert_apply_block_reflector(Sequence& sequence, int priority, std::span<const Data* const> v,
                                  const Data& t, const Data& c, Index first_row, Index rows, Index k,
                                  Index cols, const Data& workspace) {
  auto accesses = reading(v);
  accesses.push_back(read(t));
  accesses.push_back(read_write(c));
  accesses.push_back(scratch(workspace));
  sequence.insert(apply_block_reflector_codelet<T>,
                  ReflectorArguments{std::int32_t(first_row), std::int32_t(rows), std::int32_t(k), 0,
                                     std::int32_t(v.size())},
                  {.priority = priority, .flops = 4.0 * double(rows) * k * cols * flop_factor<T>}, accesses);
}

template <class T>
std::size_t block_reflector_workspace_bytes(Index k, Index cols) noexcept {
  return 2 * sizeof(T) * static_cast<std::size_t>(k) * static_cast<std::size_t>(cols);
}

template <class T>
void insert_solve_adjoint_row(Sequence& sequence, int priority, std::span<const Data* const> l_row,
                              const Data& x, Index tile, Index rows_k, Index cols) {
  auto accesses = reading(l_row);
  accesses.push_back(read_write(x));
  const double above = double(l_row.size() - 1) * tile;
  sequence.insert(
      solve_adjoint_row_codelet<T>, SolveArguments{tile, rows_k},
      {.priority = priority, .flops = (2 * above + rows_k) * double(rows_k) * cols * flop_factor<T>},
      accesses);
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template void insert_gather_reflectors<T>(Sequence&, int, std::span<const Data* const>, const Data&,     \
                                            Index, Index, Index, int);                                     \
  template std::size_t block_reflector_workspace_bytes<T>(Index, Index) noexcept;                          \
  template void insert_merge_t<T>(Sequence&, int, std::span<const Data* const>,                            \
                                  std::span<const Data* const>, const Data&, Index, Index, Index);         \
  template void insert_apply_block_reflector<T>(Sequence&, int, std::span<const Data* const>, const Data&, \
                                                const Data&, Index, Index, Index, Index, const Data&);     \
  template void insert_solve_adjoint_row<T>(Sequence&, int, std::span<const Data* const>, const Data&,     \
                                            Index, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
