// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/one_stage/panel_tasks.hpp>

namespace tessera::detail {

namespace {

template <class T>
RealOf<T> square(T x) noexcept {
  return real_part(x) * real_part(x) + imag_part(x) * imag_part(x);
}
template <class T>
RealOf<T> largest_part(T x) noexcept {
  return std::max(std::abs(real_part(x)), std::abs(imag_part(x)));
}

/// scale^2 squares = sum |x_i|^2 without over- or underflow (LAPACK lassq).
template <class R>
struct ScaledSquares {
  R scale = 0, squares = 0;
  template <class T>
  static ScaledSquares of(Index n, const T* x) noexcept {
    R sum = 0;
    for (Index i = 0; i < n; ++i) sum += square(x[i]);
    constexpr R least = std::numeric_limits<R>::min() / (precision<R> * precision<R>);
    if ((sum >= least && sum <= 1 / least) || std::isnan(sum)) return {1, sum};
    R largest = 0;
    for (Index i = 0; i < n; ++i) largest = std::max(largest, largest_part(x[i]));
    if (largest == 0) return {};
    if (std::isinf(largest)) return {1, largest};
    sum = 0;
    for (Index i = 0; i < n; ++i) sum += square(T(x[i] / largest));
    return {largest, sum};
  }
  void add(const ScaledSquares& other) noexcept {
    if (other.scale == 0) return;
    const R ratio = scale < other.scale ? scale / other.scale : other.scale / scale;
    squares = scale < other.scale ? other.squares + squares * ratio * ratio
                                  : squares + other.squares * ratio * ratio;
    scale = std::max(scale, other.scale);
  }
  R norm() const noexcept { return scale * std::sqrt(squares); }
};

template <class T>
struct Reflector {
  T tau = 0, factor = 0;  ///< v = factor x below its leading 1
  RealOf<T> beta = 0;
  Reflector(T alpha, RealOf<T> norm) noexcept : beta(real_part(alpha)) {
    using R = RealOf<T>;
    if (norm == 0 && imag_part(alpha) == 0) return;
    const R length = std::hypot(std::hypot(real_part(alpha), imag_part(alpha)), norm);
    if (length < std::numeric_limits<R>::min() / precision<R>) {
      beta = 0;  // negligible: the reciprocal below would overflow
      return;
    }
    beta = -std::copysign(length, real_part(alpha));
    tau = (T(beta) - alpha) / beta;
    factor = T(1) / (alpha - T(beta));
  }
};

/// Completes x_c, whose data are those of column q of A: sets the header, and zeros above row `next`.
template <class T>
void publish_column(T* piece, const ColumnStep& step, Index chunk, Index q, Index next) noexcept {
  using R = RealOf<T>;
  T* const x = piece + ColumnPiece::header(step.k);
  const Index begin = step.chunks.padded_begin(chunk), rows = step.chunks.rows(chunk);
  const auto here = [&](Index i) { return i >= begin && i < begin + rows; };
  piece[ColumnPiece::diagonal] = here(q) ? x[q - begin] : T(0);
  piece[ColumnPiece::alpha] = here(next) ? x[next - begin] : T(0);
  const Index below = std::clamp<Index>(next + 1 - begin, 0, rows);
  std::fill_n(x, std::clamp<Index>(next - begin, 0, rows), T(0));
  const auto norm = ScaledSquares<R>::of(rows - below, x + below);
  piece[ColumnPiece::norm_scale] = norm.scale;
  piece[ColumnPiece::norm_squares] = norm.squares;
}

}  // namespace

template <class T>
void run(const HostContext&, const TridiagonalizeStart<T>& task) {
  const ColumnStep& step = task.step;
  T* const piece = task.x.view().data();
  const auto panel = *task.p;
  const Index offset = step.chunks.padded_begin(task.chunk) - step.chunks.padded_begin(0);
  for (Index j = 0; j < step.k; ++j) {
    std::fill_n(&panel(0, j), panel.rows, T(0));
    for (int g = 0; g < task.extracted.size(); ++g)
      blas::axpy(panel.rows, T(1), &task.extracted[g](offset, j), 1, &panel(0, j), 1);
  }
  std::copy_n(panel.data, panel.rows, piece + ColumnPiece::header(step.k));
  publish_column(piece, step, task.chunk, step.q, step.next);
}

namespace {

/// Forms the reflector and v (trailing height) from the pieces of x.
template <class T>
Reflector<T> form_vector(const ReadAll<Array<T>>& pieces, const ColumnStep& step, T* v) noexcept {
  ScaledSquares<RealOf<T>> squares;
  T alpha(0);
  const Index base = step.chunks.padded_begin(0), header = ColumnPiece::header(step.k);
  for (int c = 0; c < step.chunks.chunks; ++c) {
    const T* x = pieces[c].data();
    squares.add({real_part(x[ColumnPiece::norm_scale]), real_part(x[ColumnPiece::norm_squares])});
    alpha += x[ColumnPiece::alpha];
  }
  const Reflector<T> reflector(alpha, squares.norm());
  for (int c = 0; c < step.chunks.chunks; ++c) {
    const T* x = pieces[c].data() + header;
    T* const part = v + step.chunks.padded_begin(c) - base;
    for (Index i = 0; i < step.chunks.rows(c); ++i) part[i] = x[i] * reflector.factor;
  }
  v[step.next - base] = T(1);
  return reflector;
}

/// y := y + A0 v over the trailing tiles of one group. Every other column takes them in the opposite order,
/// so that the tiles in the caches are used again.
template <class T>
void multiply_group(const WorkTiles& tiles, Index group, const T* a, Index next, Index base, bool backwards,
                    const T* v, T* y) noexcept {
  const Index w = tiles.layout().w, first_row = next / w, inside = next % w;
  const Index begin = tiles.first_slot(group, first_row), end = static_cast<Index>(tiles.group(group).size());
  for (Index step = 0; step < end - begin; ++step) {
    const Index slot = backwards ? end - 1 - step : begin + step;
    const auto [i, j] = tiles.group(group)[static_cast<std::size_t>(slot)];
    const Index row = i == first_row ? inside / kernels::row_granularity * kernels::row_granularity : 0;
    const Index col = j == first_row ? inside / 4 * 4 : 0;
    const Index at_i = i * w - base + row, at_j = j * w - base + col;
    kernels::two_sided_tile_product(w - row, w - col, a + slot * w * w + row + col * w, w, v + at_i, v + at_j,
                                    y + at_i, y + at_j);
  }
}

}  // namespace

template <class T>
void run(const HostContext&, const TridiagonalizeProduct<T>& task) {
  const ColumnStep& step = task.step;
  const ProductWork& work = task.work;
  const Index base = step.chunks.padded_begin(0), k = step.k,
              height = step.chunks.end * Index(step.chunks.w) - base;
  T* const piece = task.y.view().data();
  T* const v = task.workspace.view().data();
  const Reflector<T> reflector = form_vector(task.x, step, v);
  T* const y = piece + ProductPiece::header(k);
  const Index live = step.next / step.chunks.w * step.chunks.w - base;
  std::fill_n(y + live, height - live, T(0));
  for (int g = 0; g < work.count; ++g)
    multiply_group(*work.tiles, work.first_group + g * work.stride, task.groups[g].data, step.next, base,
                   step.p % 2 != 0, v, y);
  piece[ProductPiece::tau] = reflector.tau;
  piece[ProductPiece::beta] = reflector.beta;
  piece[ProductPiece::factor] = reflector.factor;
  T v_y(0);
  for (Index i = live; i < height; ++i) v_y += conjugate(v[i]) * y[i];
  piece[ProductPiece::v_y] = v_y;
  T* const sums = piece + ProductPiece::sums;
  std::fill_n(sums, 2 * k, T(0));
  for (int inner = 0; inner < work.inner; ++inner) {
    const auto vw = task.v[inner];
    const Index chunk = work.first_inner + inner * work.inner_stride;
    const T* part = v + step.chunks.padded_begin(chunk) - base;
    T* const row = piece + ProductPiece::row(k);  // free until the rows are copied
    for (int operand = 0; operand < 2; ++operand) {
      kernels::adjoint_times_vector(vw.rows, step.p, vw.data + operand * k * vw.ld, vw.ld, part, row);
      for (Index l = 0; l < step.p; ++l) sums[operand * k + l] += row[l];
    }
  }
  std::copy_n(task.x[0].data() + ColumnPiece::row, 2 * k, piece + ProductPiece::row(k));
}

namespace {

/// The sums of round 1.
template <class T>
struct ColumnSums {
  T tau, factor, correction;  ///< correction: 1/2 |tau|^2 v^H A v
  RealOf<T> beta;
  T v_v[widest_panel], w_v[widest_panel];  ///< W^H v and V^H v: factors of V and of W in y
};

template <class T>
void add_up(const ReadAll<Array<T>>& parts, Index k, Index p, ColumnSums<T>& sums) noexcept {
  std::fill_n(sums.v_v, p, T(0));
  std::fill_n(sums.w_v, p, T(0));
  T v_y(0);
  for (int part = 0; part < parts.size(); ++part) {
    const T* piece = parts[part].data();
    v_y += piece[ProductPiece::v_y];
    for (Index l = 0; l < p; ++l) {
      sums.w_v[l] += piece[ProductPiece::sums + l];
      sums.v_v[l] += piece[ProductPiece::sums + k + l];
    }
  }
  const T* piece = parts[0].data();
  sums.tau = piece[ProductPiece::tau];
  sums.factor = piece[ProductPiece::factor];
  sums.beta = real_part(piece[ProductPiece::beta]);
  RealOf<T> v_a_v = real_part(v_y);
  for (Index l = 0; l < p; ++l) v_a_v -= 2 * real_part(conjugate(sums.w_v[l]) * sums.v_v[l]);
  sums.correction = v_a_v * square(sums.tau) / 2;
}

/// w(next), from the rows of V and W that the pieces carry.
template <class T>
T next_element(const ReadAll<Array<T>>& parts, const ColumnStep& step, const ColumnSums<T>& sums,
               const T* row) noexcept {
  const Index k = step.k, at = ProductPiece::header(k) + step.next - step.chunks.padded_begin(0);
  T y(0);
  for (int part = 0; part < parts.size(); ++part) y += parts[part][static_cast<std::size_t>(at)];
  for (Index l = 0; l < step.p; ++l) y -= row[l] * sums.v_v[l] + row[k + l] * sums.w_v[l];
  return sums.tau * y - sums.correction;
}

}  // namespace

template <class T>
void run(const HostContext&, const TridiagonalizeColumn<T>& task) {
  const ColumnStep& step = task.step;
  const ReadAll<Array<T>>& parts = task.parts;
  const Index k = step.k, p = step.p, begin = step.chunks.padded_begin(task.chunk),
              base = step.chunks.padded_begin(0);
  T* const piece = task.x.view().data();
  T* const x = piece + ColumnPiece::header(k);
  const auto vw = *task.v;
  const auto panel = *task.p;
  ColumnSums<T> sums;
  add_up(parts, k, p, sums);
  if (task.chunk == 0) {
    const ScalarPiece<T> scalars(task.scalars.view().data(), k);
    scalars.d[p] = real_part(piece[ColumnPiece::diagonal]);
    scalars.e[p] = sums.beta;
    scalars.tau[p] = sums.tau;
  }
  // Rows above `zeros` are zero in v and w; the kernels start at a multiple of their granularity.
  const Index rows = vw.rows, zeros = std::clamp<Index>(step.next - begin, 0, rows);
  const Index from = zeros / kernels::row_granularity * kernels::row_granularity;
  T *const v = &vw(0, p), *const w = &vw(0, k + p), *const copy = &vw(0, 2 * k + p);
  for (Index i = 0; i < rows; ++i) v[i] = x[i] * sums.factor;
  if (step.next >= begin && step.next < begin + rows) v[step.next - begin] = T(1);
  std::copy_n(v, rows, copy);
  std::fill_n(w, rows, T(0));
  for (int part = 0; part < parts.size(); ++part) {
    const T* y = parts[part].data() + ProductPiece::header(k) + begin - base;
    for (Index i = from; i < rows; ++i) w[i] += y[i];
  }

  T factors_v[widest_panel], factors_w[widest_panel];  // of V and of W in the next column
  const T* const row = parts[0].data() + ProductPiece::row(k);
  T* next_x = nullptr;
  if (!step.last()) {
    next_x = x + from;
    std::copy_n(&panel(0, p + 1), rows, x);
    for (Index l = 0; l < p; ++l) {
      factors_v[l] = conjugate(row[k + l]);
      factors_w[l] = conjugate(row[l]);
    }
  }
  kernels::subtract_combinations(rows - from, p, vw.data + from, vw.ld, sums.v_v, w + from, factors_v,
                                 next_x);
  kernels::subtract_combinations(rows - from, p, &vw(from, k), vw.ld, sums.w_v, w + from, factors_w, next_x);
  std::fill_n(w, zeros, T(0));
  for (Index i = zeros; i < rows; ++i) w[i] = sums.tau * w[i] - sums.correction * v[i];
  if (step.last()) return;

  const T w_next = conjugate(next_element(parts, step, sums, row));
  for (Index i = zeros; i < rows; ++i) x[i] -= v[i] * w_next + w[i];
  publish_column(piece, step, task.chunk, step.next, step.after);
  // The column after the next one needs these rows. If it is in the panel, they are in the first chunk.
  if (task.chunk == 0 && p + 2 < k)
    for (Index l = 0; l <= p; ++l) {
      piece[ColumnPiece::row + l] = vw(step.after - begin, l);
      piece[ColumnPiece::row + k + l] = vw(step.after - begin, k + l);
    }
}
template <class T>
void insert_panel_start(Sequence& sequence, int priority, const ColumnStep& step, Index chunk,
                        const PanelPieces& pieces) {
  const auto c = static_cast<std::size_t>(chunk);
  std::vector<const Data*> extracted;
  for (const Data& columns : pieces.extracted)
    if (columns.valid()) extracted.push_back(&columns);
  sequence.insert(
      TridiagonalizeStart<T>{
          .x = pieces.x[c], .p = pieces.p[c], .extracted = extracted, .step = step, .chunk = chunk},
      {.priority = priority});
}

template <class T>
void insert_column_product(Sequence& sequence, int priority, const ColumnStep& step, const ProductWork& work,
                           std::span<const Data* const> groups, const PanelPieces& pieces, const Data& y,
                           const Data& workspace) {
  const auto x = pointers_to(pieces.x);
  std::vector<const Data*> v;
  for (Index inner = 0; inner < work.inner; ++inner)
    v.push_back(&pieces.v[static_cast<std::size_t>(work.first_inner + inner * work.inner_stride)]);
  sequence.insert(
      TridiagonalizeProduct<T>{
          .y = y, .workspace = workspace, .x = x, .groups = groups, .v = v, .step = step, .work = work},
      {.priority = priority, .execute_on = work.rank});
}

template <class T>
void insert_column_update(Sequence& sequence, int priority, const ColumnStep& step, Index chunk,
                          std::span<const Data* const> parts, const PanelPieces& pieces) {
  const auto c = static_cast<std::size_t>(chunk);
  const auto with_a_column = [&](const Data& piece) {
    return step.p == 0 ? overwrite(piece) : add_to(piece);
  };
  TridiagonalizeColumn<T> task{.x = pieces.x[c],
                               .v = with_a_column(pieces.v[c]),
                               .p = pieces.p[c],
                               .parts = parts,
                               .step = step,
                               .chunk = chunk};
  if (chunk == 0) task.scalars = with_a_column(pieces.scalars);
  sequence.insert(task, {.priority = priority});
}

#define TESSERA_DEFINE(T)                                                                               \
  TESSERA_DEFINE_TASK(TridiagonalizeStart<T>)                                                           \
  TESSERA_DEFINE_TASK(TridiagonalizeProduct<T>)                                                         \
  TESSERA_DEFINE_TASK(TridiagonalizeColumn<T>)                                                          \
  template void insert_panel_start<T>(Sequence&, int, const ColumnStep&, Index, const PanelPieces&);    \
  template void insert_column_product<T>(Sequence&, int, const ColumnStep&, const ProductWork&,         \
                                         std::span<const Data* const>, const PanelPieces&, const Data&, \
                                         const Data&);                                                  \
  template void insert_column_update<T>(Sequence&, int, const ColumnStep&, Index,                       \
                                        std::span<const Data* const>, const PanelPieces&);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
