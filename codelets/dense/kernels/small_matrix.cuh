// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/dense/kernels/tensor_blocks.cuh>

/// Elimination and products of small matrices in the registers of one thread block, by blocks of 8 x 8 on the
/// FP64 tensor cores (tensor_blocks.cuh).
namespace tessera::detail::panel_cuda {

using device::fast_reciprocal;

/// A class of matrices with b <= size. Its entries are spread over the threads of one thread block in tiles
/// of 16 x 8: a warp holds 16 rows and every `warp_cols`-th block of columns. The last warp holds nothing: in
/// the elimination it works on the diagonal.
template <class W, int size>
struct SmallMatrix {
  static constexpr int warp_rows = size / 16;
  static constexpr int warp_cols = warp_rows < 4 ? 8 / warp_rows : 2;
  static constexpr int tiles = size / 8 / warp_cols;  ///< of a warp
  static constexpr int workers = 32 * warp_rows * warp_cols;
  static constexpr int threads = workers + 32;
  /// Columns of the left operand of a product that lie in shared memory at a time.
  static constexpr int depth =
      65536 / (size * int(sizeof(W))) < size ? 65536 / (size * int(sizeof(W))) : size;
  using Scalar = W;
  using Entries = W[2][2 * tiles];
  using Columns = Strip<W>;

  /// What the warp on the diagonal finds out about a block: L D U, unit triangles.
  struct alignas(16) Factor {
    W factors[64];        ///< L strictly below the diagonal, D U on and above
    W lower_inverse[64];  ///< L^-1
    W upper_inverse[64];  ///< the transpose of U^-1
  };
  /// The row and the column of blocks with which a step of the elimination begins; but the block on the
  /// diagonal is the identity.
  struct alignas(16) Cross {
    W col[8 * size];
    W row[8 * size];  ///< its transpose
  };
  /// Shared memory. What one step of the elimination writes, the next reads: hence two of each.
  struct Shared {
    Factor factor[2];
    Cross cross[2];
    W diagonal[2][64];  ///< the next block on the diagonal, before the step's update
    W left[size * depth], right[size * depth];
    W pivot[size], inverse_pivot[size];
    double sign[size];  ///< signs, or other real factors of rows
    double sums[threads / 32];
  };
  static_assert(sizeof(Shared) >= threads * sizeof(W));  // sum_partials

  /// The thread's rows and columns. The compiler does not know that they are always the same: otherwise it
  /// would keep all indices in registers from one use to the next.
  struct Place {
    int row0 = SmallMatrix::row(0), col0 = SmallMatrix::col(0);
    __device__ Place() { asm volatile("" : "+r"(row0), "+r"(col0)); }
    __device__ int row(int r) const { return row0 + 8 * r; }
    __device__ int col(int c) const { return col0 + 8 * warp_cols * (c / 2) + c % 2; }
  };
  __device__ static bool worker() { return threadIdx.x < workers; }
  __device__ static int row_group() { return threadIdx.x / 32 / warp_cols; }
  __device__ static int col_group() { return threadIdx.x / 32 % warp_cols; }
  __device__ static int col_block(int tile) { return col_group() + warp_cols * tile; }
  __device__ static int row(int r) { return 16 * row_group() + 8 * r + lane_row(); }
  __device__ static int col(int c) { return 8 * col_block(c / 2) + lane_col() + c % 2; }

  template <class F>
  __device__ static void for_each(F&& f) {
    if (!worker()) return;
    const Place at;
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int c = 0; c < 2 * tiles; ++c) f(r, c, at.row(r), at.col(c));
  }

  /// Elimination without row exchanges, M = L D U with unit triangles, in place: afterwards M holds L^-1
  /// strictly below the diagonal and U^-1 strictly above. Step k takes d = pivot(k, M_kk). keep_row(k, j, x,
  /// d) gets (D U)_kj, j >= k, and keep_col(i, k, x) L_ik, i > k, each once, in any thread. If `inverses` is
  /// false, M is Hermitian, it is destroyed, and keep_col does not get all of L.
  ///
  /// A step eliminates 8 rows and columns, block k. With the row and the column of blocks (R, C) and L D U of
  /// the block on the diagonal, M_ij -= (C_i U^-1) D^-1 (L^-1 R_j) for all i > k or j > k, where R_k = C_k =
  /// I; this forms the inverses along with the factors. Meanwhile the last warp updates and eliminates the
  /// next block on the diagonal, so that each step synchronises once.
  template <bool inverses, class Pivot, class KeepRow, class KeepCol>
  __device__ static void eliminate(Entries& m, int b, Shared& shared, Pivot&& pivot, KeepRow&& keep_row,
                                   KeepCol&& keep_col) {
    const int count = (b + 7) / 8;
    if (worker()) publish_diagonal(m, 0, shared);
    __syncthreads();
#pragma unroll 1
    for (int k = -1; k < count; ++k) {
      if (worker()) {
        if (k >= 0) update<inverses>(m, b, k, shared, keep_row, keep_col);
        publish_cross<inverses>(m, k + 1, shared);
        publish_diagonal(m, k + 2, shared);
      } else if (k + 1 < count) {
        eliminate_diagonal<inverses>(k + 1, shared, pivot);
      }
      __syncthreads();
    }
  }

  /// product := A B. left(r, c, i, j), right(r, c, i, j) give the thread's own entries of A and of B or, if
  /// `adjoint`, of B^H. `upper_left`, `upper_right`: the operand is upper triangular (its other entries are
  /// zero all the same).
  template <bool upper_left, bool upper_right, bool adjoint = false, class Left, class Right>
  __device__ static void multiply(Entries& product, int b, Shared& shared, Left&& left, Right&& right) {
    TensorTile<W> sum[tiles];
#pragma unroll 1
    for (int first = 0; first < size && first < b; first += depth) {
      __syncthreads();
      if (worker()) publish_operands<adjoint>(first, shared, left, right);
      __syncthreads();
      if (worker()) multiply_slab<upper_left, upper_right>(sum, first / 8, (b + 7) / 8, shared);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int c = 0; c < 2 * tiles; ++c) product[r][c] = sum[c / 2].get(c % 2 + 2 * r);
  }

  /// The sum over the threads, in all of them.
  __device__ static double sum(double x, Shared& shared) {
    x = device::warp_sum(x);
    if (threadIdx.x % 32 == 0) shared.sums[threadIdx.x / 32] = x;
    __syncthreads();
    double total = 0;
    for (int w = 0; w < threads / 32; ++w) total += shared.sums[w];
    __syncthreads();
    return total;
  }

 private:
  /// `index` lies in the part of a product that starts at `first`.
  __device__ static bool in_slab(int index, int first) {
    return depth == size || index / depth == first / depth;
  }

  /// Columns [first, first + depth) of the left operand and these rows of the right (transposed).
  template <bool adjoint, class Left, class Right>
  __device__ static void publish_operands(int first, Shared& shared, Left&& left, Right&& right) {
    const Place at;
    const int row = at.row0 % 8, from_row = at.row0 - row - first, from_col = at.col0 - at.col0 % 8 - first;
    W* const to_left = shared.left + from_col * size;
    W* const to_right = shared.right + (adjoint ? from_col : from_row) * size;
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int c = 0; c < 2 * tiles; c += 2) {
        const int i = at.row(r), j = at.col(c);
        const W x[2] = {left(r, c, i, j), left(r, c + 1, i, j + 1)};
        const W y[2] = {right(r, c, i, j), right(r, c + 1, i, j + 1)};
        if (in_slab(j, first)) {
          Columns::put_pair(to_left + 4 * c * warp_cols * size, i, x[0], x[1]);
          if (adjoint)
            Columns::put_pair(to_right + 4 * c * warp_cols * size, i, device::conj(y[0]), device::conj(y[1]));
        }
        if (!adjoint && in_slab(i, first)) {
          Columns::put(to_right + 8 * r * size, j, row, y[0]);
          Columns::put(to_right + 8 * r * size, j + 1, row, y[1]);
        }
      }
  }
  /// Columns [8 first, 8 first + depth) of the left operand times these rows of the right.
  template <bool upper_left, bool upper_right>
  __device__ static void multiply_slab(TensorTile<W> (&sum)[tiles], int first, int count,
                                       const Shared& shared) {
    const Place at;
    const int i = at.row0 - lane_row(), j = at.col0 - lane_col() + lane_row(),
              begin = upper_left ? max(first, i / 8) : first, end = min(count, first + depth / 8);
    constexpr int unrolled = device::is_complex_scalar<W> ? 1 : 2;
#pragma unroll(unrolled)
    for (int k = begin; k < end; ++k) {
      const W *left = shared.left + (k - first) * (8 * size),
              *right = shared.right + (k - first) * (8 * size);
      W a[4];
      Columns::get_rows(left, i, i + 8, a);
#pragma unroll
      for (int t = 0; t < tiles; ++t) {
        if (upper_right && j / 8 + warp_cols * t < k) continue;
        W b[2];
        Columns::get_pair(right, j + 8 * warp_cols * t, b);
        sum[t].add(a, b);
      }
    }
  }

  /// The triangles of a block on the diagonal as right operands of the tensor cores.
  template <bool inverses>
  struct Triangles {
    W right_of_col[2];  ///< U^-1
    W right_of_row[2];  ///< the transpose of L^-1: rows are transposed, too
    W upper[2];         ///< U, if M is Hermitian

    __device__ explicit Triangles(const Factor& factor) {
      Columns::get_pair(factor.lower_inverse, lane_row(), right_of_row);
      if constexpr (inverses) {
        Columns::get_pair(factor.upper_inverse, lane_row(), right_of_col);
      } else {
        Columns::get_pair(factor.factors, lane_row(), upper);
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          right_of_col[e] = device::conj(right_of_row[e]);
          upper[e] = unit_lower(device::conj(upper[e]), e);
        }
      }
    }
    /// C_i U^-1 for two blocks i, one below the other.
    __device__ TensorTile<W> left(const Cross& cross, int i0, int i1) const {
      W a[4];
      Columns::get_rows(cross.col, 8 * i0, 8 * i1, a);
      return times_inverse<!inverses>(a, right_of_col, upper);
    }
    /// The transpose of L^-1 R_j for two blocks j, one below the other.
    __device__ TensorTile<W> right(const Cross& cross, int j0, int j1) const {
      TensorTile<W> y;
      if constexpr (inverses) {
        W a[4];
        Columns::get_rows(cross.row, 8 * j0, 8 * j1, a);
        y.add(a, right_of_row);
      } else {
        y = left(cross, j0, j1);
#pragma unroll
        for (int e = 0; e < 4; ++e) y.set(e, device::conj(y.get(e)));
      }
      return y;
    }
  };
  /// x in place of the lane's entry e of a block, of which only a unit triangle counts.
  __device__ static W unit_lower(W x, int e) {
    return lane_row() > lane_col() + e ? x : W(lane_row() == lane_col() + e ? 1 : 0);
  }
  __device__ static W unit_upper(W x, int e) {
    return lane_row() < lane_col() + e ? x : W(lane_row() == lane_col() + e ? 1 : 0);
  }
  /// -Y D^-1 as a left operand, D of block k.
  __device__ static void divide_by_pivots(const TensorTile<W>& y, int k, const Shared& shared, W (&a)[4]) {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      a[e / 2 + e % 2 * 2] = -(y.get(e) * shared.inverse_pivot[8 * k + lane_col() + e % 2]);
  }

  /// Step k of the elimination for the warp's tiles.
  template <bool inverses, class KeepRow, class KeepCol>
  __device__ static void update(Entries& m, int b, int k, const Shared& shared, KeepRow&& keep_row,
                                KeepCol&& keep_col) {
    const int i0 = 2 * row_group(), count = (b + 7) / 8;
    if (i0 >= count || (!inverses && i0 + 1 < k)) return;
    const Cross& cross = shared.cross[k & 1];
    const Triangles<inverses> triangles(shared.factor[k & 1]);
    const TensorTile<W> column = triangles.left(cross, i0, i0 + 1);
    W left[4], left_of_column[4];
    divide_by_pivots(column, k, shared, left);
    // To the left of column k, rows above k stay, and row k becomes L^-1 R_j.
#pragma unroll
    for (int e = 0; e < 4; ++e)
      left_of_column[e] = i0 + e % 2 > k ? left[e] : W(i0 + e % 2 == k && lane_row() == lane_col() + e / 2);
    if (col_group() == k % warp_cols) {
      keep_column<inverses>(column, left, b, k, shared, keep_row, keep_col);
      if (row_group() == k / 2) keep_diagonal(b, k, shared, keep_row, keep_col);
      if (inverses) put_column(m, column, k);
    }
#pragma unroll
    for (int t = 0; t < tiles; t += 2) {
      const int j0 = col_block(t), j1 = t + 1 < tiles ? col_block(t + 1) : j0;
      if (j0 >= count || (inverses ? j1 < k && i0 + 1 < k : j1 <= k || j0 > i0 + 1)) continue;
      const TensorTile<W> rows = triangles.right(cross, j0, j1);
      if (inverses && row_group() == k / 2) keep_rows(rows, j0, j1, b, k, shared, keep_row);
#pragma unroll
      for (int s = 0; s < (tiles == 1 ? 1 : 2); ++s) {
        const W right[2] = {rows.get(2 * s), rows.get(2 * s + 1)};
        if (!inverses || col_block(t + s) > k)
          add_to_tile(m, t + s, left, right);
        else
          add_to_tile(m, t + s, left_of_column, right);
      }
    }
  }
  __device__ static void add_to_tile(Entries& m, int t, const W (&left)[4], const W (&right)[2]) {
    TensorTile<W> tile;
#pragma unroll
    for (int e = 0; e < 4; ++e) tile.set(e, m[e / 2][2 * t + e % 2]);
    tile.add(left, right);
#pragma unroll
    for (int e = 0; e < 4; ++e) m[e / 2][2 * t + e % 2] = tile.get(e);
  }
  /// Puts the column of U^-1 into column k of blocks.
  __device__ static void put_column(Entries& m, const TensorTile<W>& column, int k) {
#pragma unroll
    for (int t = 0; t < tiles; ++t)
      if (col_block(t) == k) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (row(e / 2) < 8 * k + lane_col() + e % 2) m[e / 2][2 * t + e % 2] = column.get(e);
      }
  }

  /// Passes on the factors in block k of columns, below its block on the diagonal.
  template <bool inverses, class KeepRow, class KeepCol>
  __device__ static void keep_column(const TensorTile<W>& column, const W (&left)[4], int b, int k,
                                     const Shared& shared, KeepRow&& keep_row, KeepCol&& keep_col) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = row(e / 2), j = 8 * k + lane_col() + e % 2;
      if (i >= b || i < 8 * k + 8) continue;
      if (inverses)
        keep_col(i, j, -left[e / 2 + e % 2 * 2]);
      else
        keep_row(j, i, device::conj(column.get(e)), shared.pivot[j]);
    }
  }
  /// The factors in blocks j of row k. rows: the transpose.
  template <class KeepRow>
  __device__ static void keep_rows(const TensorTile<W>& rows, int j0, int j1, int b, int k,
                                   const Shared& shared, KeepRow&& keep_row) {
#pragma unroll
    for (int e = 0; e < (tiles == 1 ? 2 : 4); ++e) {
      const int i = 8 * k + lane_col() + e % 2, j = 8 * (e < 2 ? j0 : j1) + lane_row();
      if (j < b && j >= 8 * k + 8) keep_row(i, j, rows.get(e), shared.pivot[i]);
    }
  }
  template <class KeepRow, class KeepCol>
  __device__ static void keep_diagonal(int b, int k, const Shared& shared, KeepRow&& keep_row,
                                       KeepCol&& keep_col) {
    W x[2];
    Columns::get_pair(shared.factor[k & 1].factors, lane_row(), x);
    const int i = 8 * k + lane_row();
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int j = 8 * k + lane_col() + e;
      if (i >= b || j >= b) continue;
      if (i <= j)
        keep_row(i, j, x[e], shared.pivot[i]);
      else
        keep_col(i, j, x[e]);
    }
  }

  /// Row and column k of blocks, for step k, which starts with zeros in their place. Of a Hermitian matrix it
  /// needs the column alone.
  template <bool inverses>
  __device__ static void publish_cross(Entries& m, int k, Shared& shared) {
    Cross& cross = shared.cross[k & 1];
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int i = 2 * row_group() + r, j = col_block(t);
        W &x0 = m[r][2 * t], &x1 = m[r][2 * t + 1];
        if (i == k && j == k) x0 = W(lane_row() == lane_col()), x1 = W(lane_row() == lane_col() + 1);
        if (j == k) Columns::put_pair(cross.col, row(r), x0, x1);
        if (inverses && i == k) {
          Columns::put(cross.row, col(2 * t), lane_row(), x0);
          Columns::put(cross.row, col(2 * t + 1), lane_row(), x1);
        }
        if (inverses && (i == k || j == k)) x0 = x1 = W(0);
      }
  }
  /// Block k on the diagonal, for step k - 1.
  __device__ static void publish_diagonal(const Entries& m, int k, Shared& shared) {
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        if (2 * row_group() + r == k && col_block(t) == k)
          Columns::put_pair(shared.diagonal[k & 1], lane_row(), m[r][2 * t], m[r][2 * t + 1]);
  }

  /// Applies step k - 1 to block k on the diagonal and eliminates it, by one warp.
  template <bool inverses, class Pivot>
  __device__ static void eliminate_diagonal(int k, Shared& shared, Pivot&& pivot) {
    W x[2];
    Columns::get_pair(shared.diagonal[k & 1], lane_row(), x);
    if (k > 0) {
      // The tensor cores' lower 8 rows do the same as the upper.
      const Cross& cross = shared.cross[(k - 1) & 1];
      const Triangles<inverses> triangles(shared.factor[(k - 1) & 1]);
      const TensorTile<W> column = triangles.left(cross, k, k), row = triangles.right(cross, k, k);
      W left[4];
      divide_by_pivots(column, k - 1, shared, left);
      TensorTile<W> tile;
#pragma unroll
      for (int e = 0; e < 4; ++e) tile.set(e, x[e % 2]);
      tile.add(left, {row.get(0), row.get(1)});
      x[0] = tile.get(0), x[1] = tile.get(1);
    }
    W factors[2] = {};
    eliminate_block<inverses>(x, factors, 8 * k, shared, pivot);
    Factor& factor = shared.factor[k & 1];
    Columns::put_pair(factor.factors, lane_row(), factors[0], factors[1]);
    Columns::put_pair(factor.lower_inverse, lane_row(), unit_lower(x[0], 0), unit_lower(x[1], 1));
    if constexpr (inverses) {
#pragma unroll
      for (int e = 0; e < 2; ++e)
        Columns::put(factor.upper_inverse, lane_col() + e, lane_row(), unit_upper(x[e], e));
    }
  }

  /// The elimination of an 8 x 8 block, its first row `first` of the matrix, in one warp: x := L^-1 and U^-1,
  /// factors := L and D U. All lanes find the next pivot and its inverse before the block is updated. Of a
  /// Hermitian matrix (not `inverses`) a step takes row k from column k: rounding must not make L^H other
  /// than U where a small pivot would enlarge the difference.
  template <bool inverses, class Pivot>
  __device__ static void eliminate_block(W (&x)[2], W (&factors)[2], int first, Shared& shared,
                                         Pivot&& pivot) {
    using device::from_lane, device::conj;
    const int i = lane_row(), quad = threadIdx.x % 4;
    W d = pivot(first, from_lane(x[0], 0)), inverse = fast_reciprocal(d);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const W below = from_lane(x[k % 2], 4 * i + k / 2);
      W entry[2];
#pragma unroll
      for (int e = 0; e < 2; ++e)
        entry[e] = inverses ? from_lane(x[e], 4 * k + quad)
                            : conj(from_lane(x[k % 2], 4 * (lane_col() + e) + k / 2));
      W next_d = d, next_inverse = inverse;
      if (k + 1 < 8) {
        const int l = k + 1;
        const W left = from_lane(x[k % 2], 4 * l + k / 2);
        const W corner = inverses ? from_lane(x[l % 2], 4 * k + l / 2) : conj(left);
        next_d = pivot(first + l, from_lane(x[l % 2], 4 * l + l / 2) - left * inverse * corner);
        next_inverse = fast_reciprocal(next_d);
      }
      if (threadIdx.x % 32 == 0) shared.pivot[first + k] = d, shared.inverse_pivot[first + k] = inverse;
      const W multiplier = i == k ? inverse : below * inverse;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int j = lane_col() + e;
        if (i == k && j >= k) factors[e] = j == k ? d : entry[e];
        if (i > k && j == k) factors[e] = multiplier;
        if (i > k || j > k) {
          const W old = i == k || j == k ? W(0) : x[e];
          x[e] = old - multiplier * (j == k ? W(1) : entry[e]);
        }
      }
      d = next_d, inverse = next_inverse;
    }
  }
};

}  // namespace tessera::detail::panel_cuda
