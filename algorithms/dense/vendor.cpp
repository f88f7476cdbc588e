// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <fmt/format.h>

#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/vendor.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/one_stage/lapack_driver.hpp>

namespace tessera::detail {

namespace {

template <class T>
void check(const Runtime& runtime, const TiledMatrix<T>& a, const TiledMatrix<T>* b, Index lo, Index hi,
           const Data& values, const ColumnSlabs<T>* z) {
  const Index n = a.rows();
  if (lo < 0 || hi < lo || hi > n)
    throw InvalidArgument("range", fmt::format("[{}, {})", lo, hi), fmt::format("within [0, {})", n));
  if (z && z->cols() != hi - lo)
    throw InvalidArgument("z", fmt::format("{} columns", z->cols()), fmt::format("{} columns", hi - lo));
  if (z) require_rows("z", *z, n);
  if (b && b->rows() != n)
    throw InvalidArgument("b", fmt::format("{} rows", b->rows()), fmt::format("{} rows, as a", n));
  require_made("values", values);
  const Index largest = vendor_limit(runtime, b != nullptr);
  if (n > largest)
    throw InvalidArgument("n", fmt::format("{}", n), fmt::format("at most {} for this driver", largest));
}

template <class T>
void insert(Sequence& sequence, const TiledMatrix<T>& a, const TiledMatrix<T>* b, Index lo, Index hi,
            const Data& values, const ColumnSlabs<T>* z) {
  Runtime& runtime = sequence.runtime();
  const Index n = a.rows();
  const bool vectors = z && z->count() > 0;
  const Data on_root = Data::bytes(runtime, sizeof(RealOf<T>) * static_cast<std::size_t>(n), 0);
  const Data workspace =
      Data::scratch(runtime, lapack_eigensolve_workspace_bytes<T>(runtime, n, b != nullptr, vectors, lo, hi));
  // Below this order more threads gain nothing, and would disturb the other tasks.
  const int threads = n < 1000 ? 1 : runtime.workers();
  insert_lapack_eigensolve<T>(sequence, 0, a, b, lo, threads, on_root, vectors ? z : nullptr, workspace);
  for (int rank = 0; rank < runtime.size(); ++rank)
    sequence.insert(CopyBytes{.source = on_root, .destination = values}, {.execute_on = rank});
  a.flush_remote_copies();
  if (b) b->flush_remote_copies();
}

template <class T>
void solve(Sequence& sequence, const TiledMatrix<T>& a, const TiledMatrix<T>* b, Index lo, Index hi,
           const Data& values, const ColumnSlabs<T>* z) {
  const std::uint64_t arguments = argument_hash(hash_of(a), b ? hash_of(*b) : 0, lo, hi, z ? hash_of(*z) : 0);
  collectively(
      sequence.runtime(), "vendor_eigensolve", arguments,
      [&] { check(sequence.runtime(), a, b, lo, hi, values, z); },
      [&] { insert(sequence, a, b, lo, hi, values, z); });
}

}  // namespace

Index vendor_limit(const Runtime& runtime, bool generalized) {
  const bool gpu = runtime.gpus() > 0 && !generalized;
  return gpu ? std::numeric_limits<std::int32_t>::max() : vendor_largest_order;
}

template <class T>
void vendor_eigensolve(Sequence& sequence, const TiledMatrix<T>& a, Index lo, Index hi, const Data& values,
                       const ColumnSlabs<T>* z) {
  solve<T>(sequence, a, nullptr, lo, hi, values, z);
}
template <class T>
void vendor_eigensolve(Sequence& sequence, const TiledMatrix<T>& a, const TiledMatrix<T>& b, Index lo,
                       Index hi, const Data& values, const ColumnSlabs<T>* z) {
  solve<T>(sequence, a, &b, lo, hi, values, z);
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template void vendor_eigensolve<T>(Sequence&, const TiledMatrix<T>&, Index, Index, const Data&,           \
                                     const ColumnSlabs<T>*);                                                \
  template void vendor_eigensolve<T>(Sequence&, const TiledMatrix<T>&, const TiledMatrix<T>&, Index, Index, \
                                     const Data&, const ColumnSlabs<T>*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
