// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/cholesky.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/gemm.hpp>

namespace tessera {
namespace {

template <class T>
void insert_cholesky(Sequence& sequence, const TiledMatrix<T>& a) {
  const Index nt = a.row_tiles();
  for (Index k = 0; k < nt; ++k) {
    const Index nk = a.tile_rows(k);
    const auto priority = [&](Index i, Index j) {
      return static_cast<int>(3 * (nt - k) - (i - k) - (j - k));
    };
    insert_potrf<T>(sequence, priority(k, k), a.tile(k, k), nk, k * a.layout().tile_rows);
    for (Index i = k + 1; i < nt; ++i)
      insert_trsm<T>(sequence, priority(i, k), Side::right, Op::adjoint, a.tile(k, k), a.tile(i, k),
                     a.tile_rows(i), nk);
    for (Index j = k + 1; j < nt; ++j) {
      const Index nj = a.tile_rows(j);
      insert_herk_subtract<T>(sequence, priority(j, j), a.tile(j, k), a.tile(j, j), nj, nk);
      for (Index i = j + 1; i < nt; ++i)
        insert_gemm<T>(sequence, priority(i, j), Op::none, Op::adjoint, T(-1), a.tile(i, k),
                       {0, 0, a.tile_rows(i), nk}, a.tile(j, k), {0, 0, nj, nk}, T(1), a.tile(i, j),
                       {0, 0, a.tile_rows(i), nj});
    }
    for (Index i = k; i < nt; ++i) a.tile(i, k).flush_remote_copies();
  }
}

template <class T>
void insert_to_standard(Sequence& sequence, const TiledMatrix<T>& a, const TiledMatrix<T>& l) {
  const Index nt = a.row_tiles();
  for (Index k = 0; k < nt; ++k) {
    const Index nk = a.tile_rows(k);
    const auto priority = [&](Index i, Index j) {
      return static_cast<int>(3 * (nt - k) - (i - k) - (j - k));
    };
    insert_hegst<T>(sequence, priority(k, k), a.tile(k, k), l.tile(k, k), nk);
    for (Index i = k + 1; i < nt; ++i) {
      insert_trsm<T>(sequence, priority(i, k), Side::right, Op::adjoint, l.tile(k, k), a.tile(i, k),
                     a.tile_rows(i), nk);
      insert_hemm_right<T>(sequence, priority(i, k), T(-0.5), a.tile(k, k), l.tile(i, k), a.tile(i, k),
                           a.tile_rows(i), nk);
    }
    for (Index j = k + 1; j < nt; ++j) {
      const Index nj = a.tile_rows(j);
      insert_her2k_subtract<T>(sequence, priority(j, j), l.tile(j, k), a.tile(j, k), a.tile(j, j), nj, nk);
      for (Index i = j + 1; i < nt; ++i)
        insert_gemm_pair_subtract<T>(sequence, priority(i, j), l.tile(i, k), a.tile(j, k), a.tile(i, k),
                                     l.tile(j, k), a.tile(i, j), a.tile_rows(i), nj, nk);
    }
    for (Index i = k + 1; i < nt; ++i)
      insert_hemm_right<T>(sequence, priority(i, k), T(-0.5), a.tile(k, k), l.tile(i, k), a.tile(i, k),
                           a.tile_rows(i), nk);
    // The column below the diagonal is multiplied by the inverse of the trailing factor: a forward
    // substitution by tiles.
    for (Index j = k + 1; j < nt; ++j) {
      const Index nj = a.tile_rows(j);
      insert_trsm<T>(sequence, priority(j, k), Side::left, Op::none, l.tile(j, j), a.tile(j, k), nj, nk);
      for (Index i = j + 1; i < nt; ++i)
        insert_gemm<T>(sequence, priority(i, k), Op::none, Op::none, T(-1), l.tile(i, j),
                       {0, 0, a.tile_rows(i), nj}, a.tile(j, k), {0, 0, nj, nk}, T(1), a.tile(i, k),
                       {0, 0, a.tile_rows(i), nk});
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

}  // namespace tessera
