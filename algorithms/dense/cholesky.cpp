// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/cholesky.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/codelets/dense/blas3.hpp>

namespace tessera::detail {

namespace {

/// Of a task of step k of nt on tile (i, j): early steps first, and in a step what is near its first tile.
int priority_of(Index nt, Index k, Index i, Index j) {
  return static_cast<int>(3 * (nt - k) - (i - k) - (j - k));
}

/// A(i, k) := A(i, k) L(k, k)^-H.
template <class T>
void insert_right_substitution(Sequence& sequence, const TiledMatrix<T>& a, Index i, const TiledMatrix<T>& l,
                               Index k, int priority) {
  sequence.insert(Trsm<T>{.l = l.tile(k, k),
                          .b = a.tile(i, k),
                          .side = Side::right,
                          .op = Op::adjoint,
                          .m = a.tile_rows(i),
                          .n = a.tile_rows(k)},
                  {.priority = priority});
}

template <class T>
void insert_cholesky(Sequence& sequence, const TiledMatrix<T>& a) {
  const Index nt = a.row_tiles();
  for (Index k = 0; k < nt; ++k) {
    const Index nk = a.tile_rows(k);
    const auto priority = [&](Index i, Index j) { return priority_of(nt, k, i, j); };
    const Data work = potrf_work<T>(sequence.runtime(), nk);
    sequence.insert(Potrf<T>{.a = a.tile(k, k), .work = work, .n = nk, .first_row = k * a.layout().tile_rows},
                    {.priority = priority(k, k)});
    for (Index i = k + 1; i < nt; ++i) insert_right_substitution(sequence, a, i, a, k, priority(i, k));
    for (Index j = k + 1; j < nt; ++j) {
      const Index nj = a.tile_rows(j);
      sequence.insert(HerkSubtract<T>{.a = a.tile(j, k), .c = a.tile(j, j), .n = nj, .k = nk},
                      {.priority = priority(j, j)});
      for (Index i = j + 1; i < nt; ++i)
        sequence.insert(Gemm<T>{.a = a.tile(i, k),
                                .b = a.tile(j, k),
                                .c = add_to(a.tile(i, j)),
                                .op_b = Op::adjoint,
                                .alpha = -1,
                                .part_a = {0, 0, a.tile_rows(i), nk},
                                .part_b = {0, 0, nj, nk},
                                .part_c = {0, 0, a.tile_rows(i), nj}},
                        {.priority = priority(i, j)});
    }
    for (Index i = k; i < nt; ++i) a.tile(i, k).flush_remote_copies();
  }
}

template <class T>
void insert_to_standard(Sequence& sequence, const TiledMatrix<T>& a, const TiledMatrix<T>& l) {
  const Index nt = a.row_tiles();
  for (Index k = 0; k < nt; ++k) {
    const Index nk = a.tile_rows(k);
    const auto priority = [&](Index i, Index j) { return priority_of(nt, k, i, j); };
    // A(i, k) := A(i, k) - L(i, k) A(k, k) / 2: before the trailing tiles are updated, and after.
    const auto subtract_half_product = [&](Index i) {
      sequence.insert(HemmRight<T>{.a = a.tile(k, k),
                                   .b = l.tile(i, k),
                                   .c = a.tile(i, k),
                                   .alpha = T(-0.5),
                                   .m = a.tile_rows(i),
                                   .n = nk},
                      {.priority = priority(i, k)});
    };
    sequence.insert(Hegst<T>{.a = a.tile(k, k), .l = l.tile(k, k), .n = nk}, {.priority = priority(k, k)});
    for (Index i = k + 1; i < nt; ++i) {
      insert_right_substitution(sequence, a, i, l, k, priority(i, k));
      subtract_half_product(i);
    }
    for (Index j = k + 1; j < nt; ++j) {
      const Index nj = a.tile_rows(j);
      sequence.insert(
          Her2kSubtract<T>{.a = l.tile(j, k), .b = a.tile(j, k), .c = a.tile(j, j), .n = nj, .k = nk},
          {.priority = priority(j, j)});
      for (Index i = j + 1; i < nt; ++i)
        sequence.insert(GemmPairSubtract<T>{.a1 = l.tile(i, k),
                                            .b1 = a.tile(j, k),
                                            .a2 = a.tile(i, k),
                                            .b2 = l.tile(j, k),
                                            .c = a.tile(i, j),
                                            .m = a.tile_rows(i),
                                            .n = nj,
                                            .k = nk},
                        {.priority = priority(i, j)});
    }
    for (Index i = k + 1; i < nt; ++i) subtract_half_product(i);
    // The column below the diagonal is multiplied by the inverse of the trailing factor: a forward
    // substitution by tiles.
    for (Index j = k + 1; j < nt; ++j) {
      const Index nj = a.tile_rows(j);
      sequence.insert(Trsm<T>{.l = l.tile(j, j), .b = a.tile(j, k), .side = Side::left, .m = nj, .n = nk},
                      {.priority = priority(j, k)});
      for (Index i = j + 1; i < nt; ++i)
        sequence.insert(Gemm<T>{.a = l.tile(i, j),
                                .b = a.tile(j, k),
                                .c = add_to(a.tile(i, k)),
                                .alpha = -1,
                                .part_a = {0, 0, a.tile_rows(i), nj},
                                .part_b = {0, 0, nj, nk},
                                .part_c = {0, 0, a.tile_rows(i), nk}},
                        {.priority = priority(i, k)});
    }
    for (Index i = k; i < nt; ++i) a.tile(i, k).flush_remote_copies();
  }
  l.flush_remote_copies();
}

}  // namespace

template <class T>
void cholesky(Sequence& sequence, const TiledMatrix<T>& a) {
  collectively(
      sequence.runtime(), "cholesky", hash_of(a), [&] { require_lower_tiles("a", a.layout()); },
      [&] { insert_cholesky(sequence, a); });
}

template <class T>
void to_standard(Sequence& sequence, const TiledMatrix<T>& a, const TiledMatrix<T>& l) {
  const auto check = [&] {
    require_lower_tiles("a", a.layout());
    require_lower_tiles("l", l.layout());
    if (l.rows() != a.rows() || l.layout().tile_rows != a.layout().tile_rows)
      throw InvalidArgument("l", std::to_string(l.rows()) + " rows", "the layout of a");
  };
  collectively(sequence.runtime(), "to_standard", argument_hash(hash_of(a), hash_of(l)), check,
               [&] { insert_to_standard(sequence, a, l); });
}

#define TESSERA_INSTANTIATE(T)                                 \
  template void cholesky<T>(Sequence&, const TiledMatrix<T>&); \
  template void to_standard<T>(Sequence&, const TiledMatrix<T>&, const TiledMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
