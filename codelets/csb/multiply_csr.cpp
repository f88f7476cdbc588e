// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <type_traits>

#include <tessera/codelets/block_sparse/memory_cost.hpp>
#include <tessera/codelets/csb/multiply_csr.hpp>
#include <tessera/codelets/dispatch.hpp>

namespace tessera {
namespace {

struct MultiplyCsrArguments {
  CsrPieceShape shape;
  int columns;
  bool overwrite;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

template <class V, class T>
void multiply_task(const TaskContext&, TaskBuffers buffers, const MultiplyCsrArguments& arguments) {
  const CsrPieceSizes sizes = csr_piece_sizes(arguments.shape.rows, arguments.shape.entry_count, sizeof(V));
  const char* const piece = buffers.array<const char>(0).data();
  const kernels::CsrPieceView<V> view{arguments.shape.rows, reinterpret_cast<const std::uint32_t*>(piece),
                                      reinterpret_cast<const V*>(piece + sizes.values_offset),
                                      reinterpret_cast<const std::uint32_t*>(piece + sizes.columns_offset)};
  const auto x = buffers.matrix<const T>(1);
  const auto y = buffers.matrix<T>(2);
  if (arguments.overwrite)
    for (Index i = 0; i < y.cols; ++i) std::fill_n(&y(0, i), y.rows, T(0));
  kernels::multiply_csr<V, T>(view, arguments.columns, x.data, x.ld, y.data, y.ld);
}

template <class V, class T>
Codelet multiply_codelet = make_codelet<MultiplyCsrArguments, multiply_task<V, T>>(
    std::is_same_v<V, T> ? "multiply_csr" : "multiply_csr_mixed", type_letter<T>);

}  // namespace

template <class V, class T>
void kernels::multiply_csr(const CsrPieceView<V>& piece, int columns, const T* x, std::int64_t ldx, T* y,
                           std::int64_t ldy) noexcept {
#if defined(__x86_64__)
  switch (cpu_level()) {
    case 4:
      return level4::multiply_csr<V, T>(piece, columns, x, ldx, y, ldy);
    case 3:
      return level3::multiply_csr<V, T>(piece, columns, x, ldx, y, ldy);
    default:
      break;
  }
#endif
  level2::multiply_csr<V, T>(piece, columns, x, ldx, y, ldy);
}

template <class V, class T>
void insert_multiply_csr(Sequence& sequence, int priority, const CsrPieceShape& shape, int columns,
                         bool overwrite, const Data& piece, const Data& x, const Data& y) {
  sequence.insert(multiply_codelet<V, T>, MultiplyCsrArguments{shape, columns, overwrite},
                  {.priority = priority, .flops = 2.0 * columns * static_cast<double>(shape.entry_count)},
                  {read(piece), read(x), overwrite ? write(y) : read_write(y)});
}

#define TESSERA_INSTANTIATE(V, T)                                                                       \
  template void kernels::multiply_csr<V, T>(const CsrPieceView<V>&, int, const T*, std::int64_t, T*,    \
                                            std::int64_t) noexcept;                                     \
  template void insert_multiply_csr<V, T>(Sequence&, int, const CsrPieceShape&, int, bool, const Data&, \
                                          const Data&, const Data&);
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)

}  // namespace tessera
