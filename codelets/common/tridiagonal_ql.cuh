// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/types.hpp>

/// The implicit QL method for small symmetric tridiagonal matrices, by lanes of a warp.
namespace tessera::detail::device {

/// 1 / sqrt(x) to about one unit in the last place, for normal x, without a branch.
__device__ inline double reciprocal_root(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double error = fma(-x * y, y, 1.0);
  return fma(y * error, fma(0.375, error, 0.5), y);
}
__device__ inline float reciprocal_root(float x) {
  const float y = rsqrtf(x);
  return fmaf(0.5f * y, fmaf(-x * y, y, 1.0f), y);
}

inline constexpr int max_tries = 60;  ///< sweeps for an eigenvalue

/// A QL sweep over the rows [low, high]: the rotation of rows i and i + 1 is number first + high - 1 - i of
/// its matrix, low <= i < high.
struct Sweep {
  std::int16_t low, high;
  std::int32_t first;
};

/// A plane rotation: (x, y) -> (c x - s y, s x + c y) for columns i and i + 1.
template <class R>
struct alignas(2 * sizeof(R)) Rotation {
  R c, s;
};

/// How far the QL method is with a matrix. It stops when the space for rotations is full, and goes on in the
/// next round.
struct Progress {
  std::int32_t row;     ///< eigenvalues below are found
  std::int32_t tries;   ///< sweeps for this one
  std::int32_t sweeps;  ///< stored in this round
  std::int32_t ended;   ///< the round in which the matrix was finished, from 1; 0: not yet
};

/// Rotations and sweeps of a matrix in a round: on the average 0.85 n^2 and 1.7 n are needed in all.
__host__ __device__ constexpr Index rotation_space(Index n) {
  return n * n + n * n / 4 + 4 * n;
}
__host__ __device__ constexpr Index sweep_space(Index n) {
  return 3 * n + 8;
}

template <class R>
inline constexpr R rounding_unit = sizeof(R) == 8 ? R(0x1p-53) : R(0x1p-24);
/// A rotation is not made from squares below this; off-diagonal elements of that size beside a matrix of size
/// one are dropped.
template <class R>
inline constexpr R smallest_sum = sizeof(R) == 8 ? R(1e-290) : R(1e-32);

/// T of a lane, in shared memory: its elements i lie at i `lanes`.
template <class R>
struct Tridiagonal {
  R *d, *e;
  int lanes, n;
  __device__ bool negligible(R beside, R above, R below) const {
    return fabs(beside) <= rounding_unit<R> * (fabs(above) + fabs(below)) ||
           fabs(beside) < rounding_unit<R> * rounding_unit<R>;
  }
  __device__ bool negligible(int i) const {
    return negligible(e[i * lanes], d[i * lanes], d[(i + 1) * lanes]);
  }
};

/// What becomes of the rotations of a sweep: of columns i and i + 1, i = high - 1, high - 2, ... Nothing:
template <class R>
struct NoRotations {
  static constexpr bool stored = false;
  __device__ void begin(int) {}
  __device__ void add(R, R) {}
  __device__ void end() {}
};
/// They are stored, one after the other.
template <class R>
struct StoredRotations {
  static constexpr bool stored = true;
  Rotation<R>* to;
  __device__ void begin(int) {}
  __device__ void add(R c, R s) { *to++ = {c, s}; }
  __device__ void end() {}
};
/// They are applied to `parts` rows of Q that this lane has in shared memory: element c of row p is
/// x[(c parts + p) stride].
template <class R, int stride, int parts>
struct AppliedRotations {
  static constexpr bool stored = false;
  R* x;
  unsigned members;  // lanes that make the same rotations: none may read T when another one has gone on
  R* at;             // of column i + 1, whose elements are in `high`
  R high[parts];
  __device__ void begin(int column) {
    __syncwarp(members);
    at = x + column * (parts * stride);
#pragma unroll
    for (int p = 0; p < parts; ++p) high[p] = at[p * stride];
  }
  __device__ void add(R c, R s) {
    __syncwarp(members);
    R* const below = at - parts * stride;
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      const R low = below[p * stride];
      at[p * stride] = s * low + c * high[p];
      high[p] = c * low - s * high[p];
    }
    at = below;
  }
  __device__ void end() {
#pragma unroll
    for (int p = 0; p < parts; ++p) at[p * stride] = high[p];
    __syncwarp(members);
  }
};

/// One implicit QL sweep with Wilkinson's shift over the rows [low, high]. Returns the row from which the
/// rotations begin: low, or a larger one where the sweep has met a zero. *split becomes the first row above low
/// whose off-diagonal element is negligible, if there is one before high.
/// Source: EISPACK imtql2.
template <class R, class Rotations>
__device__ int ql_sweep(const Tridiagonal<R>& t, int low, int high, Rotations& rotations, int* split) {
  const int lanes = t.lanes;
  R* d = t.d + high * lanes;  // of row i + 1
  R* e = t.e + high * lanes;
  const R d_low = t.d[low * lanes], e_low = t.e[low * lanes];
  R g = (t.d[(low + 1) * lanes] - d_low) / (2 * e_low);
  const R root = sqrt(g * g + 1);
  R above = *d, s = 1, c = 1, p = 0, final_below = 0;  // above: d of row i + 1 before the rotation
  g = above - d_low + e_low / (g + copysign(root, g));
  R next_d = d[-lanes], next_e = e[-lanes];
  int first_split = high;
  rotations.begin(high);
  for (int i = high - 1; i >= low; --i) {
    const R d_i = next_d, e_i = next_e;
    const int ahead = i > low ? 2 * lanes : lanes;
    next_d = d[-ahead];
    next_e = e[-ahead];
    const R f = s * e_i, b = c * e_i;
    const R square = fma(f, f, g * g);
    if (square < smallest_sum<R>) {
      *d = above - p;
      *e = 0;
      t.e[high * lanes] = 0;
      rotations.end();
      return i + 1;
    }
    const R inverse = reciprocal_root(square);
    s = f * inverse;
    c = g * inverse;
    const R r = square * inverse, twice = 2 * b;
    g = above - p;
    above = d_i;
    const R x = fma(d_i - g, s, c * twice);
    p = s * x;
    const R final_d = g + p;
    g = fma(c, x, -b);
    *d = final_d;
    *e = r;
    first_split = i + 1 < high && t.negligible(r, final_d, final_below) ? i + 1 : first_split;
    final_below = final_d;
    d -= lanes;
    e -= lanes;
    rotations.add(c, s);
  }
  rotations.end();
  *d = above - p;
  *e = g;
  t.e[high * lanes] = 0;
  *split = first_split;
  return low;
}

/// All eigenvalues from progress->row on, until the space for rotations is full. Returns whether all are
/// found. All lanes of a warp call it, those without a matrix with open == false, and begin each sweep
/// together.
/// @param sweeps of stored rotations
template <class R, class Rotations>
__device__ bool find_values(const Tridiagonal<R>& t, bool open, Progress& progress, Rotations rotations,
                            Sweep* sweeps) {
  constexpr bool store = Rotations::stored;
  const int n = t.n, last = n - 1;
  const int space = static_cast<int>(rotation_space(n)), sweep_limit = static_cast<int>(sweep_space(n));
  int low = progress.row, tries = progress.tries, high = 0, used = 0, count = 0;
  while (true) {
    while (open && low < last && high <= low) {
      for (high = low; high < last && !t.negligible(high);) ++high;
      if (high > low) break;
      ++low;
      tries = 0;
    }
    open = open && low < last && tries < max_tries &&
           (!store || (used + high - low <= space && count < sweep_limit));
    if (!__any_sync(~0u, open)) break;
    if (open) {
      int split = high;
      const int begin = ql_sweep(t, low, high, rotations, &split);
      if (store && begin < high) {
        sweeps[count++] = {static_cast<std::int16_t>(begin), static_cast<std::int16_t>(high), used};
        used += high - begin;
      }
      ++tries;
      high = begin > low ? 0 : split;  // 0: look for it
      if (begin == low && t.negligible(low)) {
        ++low;
        tries = 0;
      }
    }
    __syncwarp();
  }
  progress = {low, tries, count, 0};
  return low >= last;
}

}  // namespace tessera::detail::device
