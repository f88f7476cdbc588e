// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>
#include <limits>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/sparse/fom_tiles.hpp>
#include <tessera/codelets/sparse/kernels/fom_coefficients.hpp>
#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>
#include <tessera/error.hpp>
#include <tessera/types.hpp>

namespace tessera::detail {

namespace kernels {
namespace {

constexpr int max_columns = 32;

/// In double.
inline double wide(double x) noexcept {
  return x;
}
template <class R>
std::complex<double> wide(std::complex<R> x) noexcept {
  return std::complex<double>(x);
}
/// Re(conj(x) y): the other part of the sums that become alpha and beta is rounding.
template <class T>
double real_product(T x, T y) noexcept {
  const auto real = static_cast<double>(real_part(x)) * static_cast<double>(real_part(y));
  if constexpr (is_complex<T>)
    return real + static_cast<double>(imag_part(x)) * static_cast<double>(imag_part(y));
  else
    return real;
}

/// Calls function(first, width) for columns first, ..., first + width - 1, widths known to the compiler.
template <class Function>
void for_columns(int columns, const Function& function) noexcept {
  int c = 0;
  for (; c + 8 <= columns; c += 8) function(c, std::integral_constant<int, 8>());
  for (; c + 4 <= columns; c += 4) function(c, std::integral_constant<int, 4>());
  for (; c < columns; ++c) function(c, std::integral_constant<int, 1>());
}

/// Rows of one tile, row-major vectors.
template <class T>
struct Rows {
  T* data;
  std::int64_t ld;
  T* row(std::int64_t i) const noexcept { return data + i * ld; }
};

template <class T>
void dots(std::int64_t rows, int columns, Rows<const T> x, Rows<const T> y, double* sums) noexcept {
  for_columns(columns, [&](int first, auto width) {
    double sum[width.value] = {};
    for (std::int64_t i = 0; i < rows; ++i) {
      const T *const p = x.row(i) + first, *const q = y.row(i) + first;
      for (int c = 0; c < width.value; ++c) sum[c] += real_product(p[c], q[c]);
    }
    std::copy_n(sum, width.value, sums + first);
  });
}

/// y := factor x, or 0 where the factor is 0.
template <class T>
void scale(std::int64_t rows, int columns, const double* factor, Rows<const T> x, Rows<T> y) noexcept {
  for_columns(columns, [&](int first, auto width) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const T* const p = x.row(i) + first;
      T* const q = y.row(i) + first;
      for (int c = 0; c < width.value; ++c)
        q[c] = factor[first + c] == 0 ? T(0) : T(wide(p[c]) * factor[first + c]);
    }
  });
}

/// u := u - alpha v - beta before; squares: of the columns' norms. `before` may be null: beta = 0.
template <class T>
void orthogonalize(std::int64_t rows, int columns, const double* alpha, Rows<const T> v, const double* beta,
                   const T* before, Rows<T> u, double* squares) noexcept {
  for_columns(columns, [&](int first, auto width) {
    double sum[width.value] = {};
    for (std::int64_t i = 0; i < rows; ++i) {
      const T* const p = v.row(i) + first;
      const T* const b = before ? before + i * v.ld + first : nullptr;
      T* const q = u.row(i) + first;
      for (int c = 0; c < width.value; ++c) {
        auto value = wide(q[c]) - alpha[first + c] * wide(p[c]);
        if (b) value -= beta[first + c] * wide(b[c]);
        q[c] = T(value);
        sum[c] += real_product(q[c], q[c]);
      }
    }
    std::copy_n(sum, width.value, squares + first);
  });
}

/// w := sum over j of y_j v_j.
template <class T>
void combine(std::int64_t rows, int columns, int steps, const double (*y)[max_columns], const T* basis,
             Rows<T> w) noexcept {
  for_columns(columns, [&](int first, auto width) {
    for (std::int64_t i = 0; i < rows; ++i) {
      decltype(wide(T())) sum[width.value] = {};
      for (int j = 0; j < steps; ++j) {
        const T* const v = basis + (j * rows + i) * columns + first;
        for (int c = 0; c < width.value; ++c) sum[c] += y[j][first + c] * wide(v[c]);
      }
      for (int c = 0; c < width.value; ++c) w.row(i)[first + c] = T(sum[c]);
    }
  });
}

/// The address of row 0 of an array whose first row has number `row`.
template <class T>
const T* before_rows(const T* data, std::int64_t row, std::int64_t ld) noexcept {
  return reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(data) -
                                    static_cast<std::uintptr_t>(row * ld) * sizeof(T));
}

/// One tile: rows first, ..., first + rows - 1 of the segment; `piece` has its cells alone. `w_rows`: the
/// segment's.
template <class V, class T>
void fom_tile(const CsbPieceView<V>& piece, std::int64_t first, std::int64_t rows, int columns, int steps,
              FomShift shift, Rows<const T> r, T* w_rows, std::int64_t ldw, T* basis) noexcept {
  constexpr double epsilon = precision<T>;
  const Rows<T> w{w_rows + first * ldw, ldw};
  const auto v = [&](int j) { return basis + j * rows * columns; };
  double alpha[fom_max_steps][max_columns], beta[fom_max_steps + 1][max_columns], factor[max_columns],
      largest[max_columns] = {};
  int dimension[max_columns] = {};
  bool ended[max_columns];
  dots<T>(rows, columns, r, r, beta[0]);
  for (int c = 0; c < columns; ++c) {
    beta[0][c] = std::sqrt(beta[0][c]);
    ended[c] = beta[0][c] == 0;
    factor[c] = ended[c] ? 0 : 1 / beta[0][c];
  }
  scale<T>(rows, columns, factor, r, {v(0), columns});
  int done = 0;
  for (; done < steps && !std::all_of(ended, ended + columns, [](bool e) { return e; }); ++done) {
    const int j = done;
    for (std::int64_t i = 0; i < rows; ++i) std::fill_n(w.row(i), columns, T(0));
    const T* const x = before_rows(v(j), first, columns);
    multiply_csb<V, T>(piece, columns, x, columns, x, columns, w_rows, ldw, w_rows, ldw);
    dots<T>(rows, columns, {v(j), columns}, {w.data, ldw}, alpha[j]);
    orthogonalize<T>(rows, columns, alpha[j], {v(j), columns}, beta[j], j > 0 ? v(j - 1) : nullptr, w,
                     beta[j + 1]);
    for (int c = 0; c < columns; ++c) {
      beta[j + 1][c] = std::sqrt(beta[j + 1][c]);
      largest[c] = std::max(largest[c], std::abs(alpha[j][c]));
      if (!ended[c]) dimension[c] = j + 1;
      ended[c] = ended[c] || fom_invariant(beta[j + 1][c], largest[c], epsilon);
      largest[c] = std::max(largest[c], beta[j + 1][c]);
      factor[c] = ended[c] ? 0 : 1 / beta[j + 1][c];
    }
    if (j + 1 < steps) scale<T>(rows, columns, factor, {w.data, ldw}, {v(j + 1), columns});
  }
  double y[fom_max_steps][max_columns] = {};
  for (int c = 0; c < columns; ++c)
    if (dimension[c] > 0)
      fom_solution(dimension[c], &alpha[0][c], &beta[1][c], max_columns, shift, beta[0][c], epsilon,
                   &y[0][c]);
  combine<T>(rows, columns, done, y, basis, w);
}

}  // namespace

template <class V, class T>
void fom_tiles(const CsbPieceView<V>& piece, std::int64_t tiles, const std::uint32_t* begins, int columns,
               int steps, FomShift shift, const T* r, std::int64_t ldr, T* w, std::int64_t ldw,
               T* basis) noexcept {
  CsbPieceView<V> part = piece;
  std::int64_t cell = 0;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::int64_t first = cell;
    while (cell < piece.cell_count && piece.cells[cell].first_row < begins[t + 1]) ++cell;
    part.cells = piece.cells + first;
    part.cell_count = cell - first;
    fom_tile<V, T>(part, begins[t], std::int64_t(begins[t + 1]) - begins[t], columns, steps, shift,
                   {r + begins[t] * ldr, ldr}, w, ldw, basis);
  }
}

}  // namespace kernels

template <class V, class T>
void run(const HostContext&, const FomTiles<V, T>& task) {
  CsbPieceView<V> piece{0, 0, true, nullptr, nullptr, nullptr, nullptr};
  if (task.stored())
    piece = csb_view<V>(task.piece.view().data(), task.shape.cell_count, task.shape.entry_count, true);
  const auto r = *task.r;
  const auto w = *task.w;
  kernels::fom_tiles<V, T>(piece, task.tiles, task.begins.view().data(), task.columns, task.steps, task.shift,
                           r.data, r.ld, w.data, w.ld, reinterpret_cast<T*>(task.scratch.view().data()));
  blas::set_zero(w.block(task.columns, 0, w.rows - task.columns, w.cols));
}

template <class V, class T>
void insert_fom_tiles(Sequence& sequence, FomTiles<V, T> task, const TaskOptions& options) {
  if (task.stored() && !task.index && sequence.runtime().any_gpus())
    throw InvalidArgument("index", "none", "that of the piece, where GPUs take part");
  if (!task.stored() || sequence.runtime().gpus() > 0) task.piece = {};
  if (!task.stored()) task.index = {};
  sequence.insert(task, options);
}

#define TESSERA_DEFINE(V, T)                                                                              \
  template void kernels::fom_tiles<V, T>(const CsbPieceView<V>&, std::int64_t, const std::uint32_t*, int, \
                                         int, FomShift, const T*, std::int64_t, T*, std::int64_t,         \
                                         T*) noexcept;                                                    \
  TESSERA_DEFINE_TASK(FomTiles<V, T>)                                                                     \
  template void insert_fom_tiles<V, T>(Sequence&, FomTiles<V, T>, const TaskOptions&);
TESSERA_FOR_STORED(TESSERA_DEFINE)

}  // namespace tessera::detail
