// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The body of the secular kernels for one instruction set level (see dispatch.hpp). The loops over the poles
// take the time: one division for each pole hides all other operations.

#include <cmath>
#include <limits>

#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

using divide_and_conquer::MergeRecord;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// sum z^2/x, sum z^2/x^2 and sum z^2/x^3 over some poles, x = d - lambda.
struct Sums {
  double value = 0, slope = 0, bend = 0;
};

inline Sums sum_poles(const MergeRecord& r, Index begin, Index end, double base, double offset) noexcept {
  const double* __restrict d = r.pole;
  const double* __restrict z = r.z;
  double value = 0, slope = 0, bend = 0;
#pragma omp simd reduction(+ : value, slope, bend)
  for (Index i = begin; i < end; ++i) {
    const double inverse = 1.0 / ((d[i] - base) - offset);
    const double t = z[i] * inverse, t2 = t * t;
    value += z[i] * t;
    slope += t2;
    bend += t2 * inverse;
  }
  return {value, slope, bend};
}

/// The bracket of an offset: f < 0 at low, f > 0 at high; one of the ends is a pole at first.
struct Bracket {
  double low, high;
  bool contains(double x) const noexcept { return x > low && x < high; }
  /// A point that halves the bracket, on a logarithmic scale where the ends differ in magnitude: an offset
  /// can be smaller than the gap by thirty decimal orders.
  double split() const noexcept {
    if (low == 0) return high * 0x1p-12;
    if (high == 0) return low * 0x1p-12;
    const bool same_sign = (low > 0) == (high > 0);
    if (same_sign && (low > 4 * high || high > 4 * low)) {
      const double root = std::sqrt(std::fabs(low)) * std::sqrt(std::fabs(high));
      return low > 0 ? root : -root;
    }
    return low + 0.5 * (high - low);
  }
  bool closed() const noexcept {
    const double middle = split();
    return !contains(middle) || high - low <= epsilon * std::fmin(std::fabs(low), std::fabs(high));
  }
};

/// The root between 0 and `gap` (a pole at each end, weights s and far) of c - s/x + far/(gap - x) = 0; gap >
/// 0.
inline double two_pole_root(double c, double s, double far, double gap) noexcept {
  const double a = c * gap + s + far, b = s * gap;
  const double discriminant = std::sqrt(std::fabs(a * a - 4 * b * c));
  return a > 0 ? 2 * b / (a + discriminant) : (a - discriminant) / (2 * c);
}

/// Rounding error of f, as in dlaed4.
inline double value_error(const Sums& psi, const Sums& phi, double inverse_coupling, double offset) noexcept {
  return epsilon *
         (8 * (phi.value - psi.value) + inverse_coupling + std::fabs(offset) * (psi.slope + phi.slope));
}

/// The root between poles k and k + 1.
inline Index interior_root(const MergeRecord& r, Index k, double* base_out, double* offset_out) noexcept {
  const Index poles = r.header->poles;
  const double inverse_coupling = 1.0 / r.header->coupling;
  const double gap = r.pole[k + 1] - r.pole[k], z2_left = r.z[k] * r.z[k], z2_right = r.z[k + 1] * r.z[k + 1];
  const double middle = 0.5 * gap;
  Sums psi = sum_poles(r, 0, k + 1, r.pole[k], middle), phi = sum_poles(r, k + 1, poles, r.pole[k], middle);
  double f = inverse_coupling + psi.value + phi.value;
  const bool left = f > 0;
  const double base = left ? r.pole[k] : r.pole[k + 1];
  Bracket bracket = left ? Bracket{0, middle} : Bracket{-middle, 0};
  double offset;
  {
    // Fixed weight: the near pole's term is exact, the far pole's weight and the constant match f and f' at
    // the middle.
    const double near2 = left ? z2_left : z2_right;
    const double far_slope = std::fmax(psi.slope + phi.slope - near2 / (middle * middle), 0.0);
    const double c = (left ? f : -f) + near2 / middle - middle * far_slope;
    const double distance = two_pole_root(c, near2, far_slope * middle * middle, gap);
    offset = left ? distance : -distance;
    if (!bracket.contains(offset)) offset = bracket.split();
  }
  Index evaluations = 1;
  *base_out = base;
  for (;; ++evaluations) {
    psi = sum_poles(r, 0, k + 1, base, offset);
    phi = sum_poles(r, k + 1, poles, base, offset);
    f = inverse_coupling + psi.value + phi.value;
    if (!(std::fabs(f) > value_error(psi, phi, inverse_coupling, offset))) break;
    (f < 0 ? bracket.low : bracket.high) = offset;
    if (bracket.closed()) break;
    // Gragg's interpolation: weights p and q of the two poles over the squared distances, which have exact
    // lower bounds.
    const double x1 = (r.pole[k] - base) - offset, x2 = (r.pole[k + 1] - base) - offset;
    const double slope = psi.slope + phi.slope, bend = psi.bend + phi.bend;
    double p = std::fmax(x1 * (x2 * bend - slope) / (x2 - x1), z2_left / (x1 * x1));
    const double q = std::fmax(slope - p, z2_right / (x2 * x2));
    p = slope - q;
    const double c = f - x1 * p - x2 * q, a = (x1 + x2) * f - x1 * x2 * slope, b = x1 * x2 * f;
    const double discriminant = std::sqrt(std::fabs(a * a - 4 * b * c));
    double step = a <= 0 ? (a - discriminant) / (2 * c) : 2 * b / (a + discriminant);
    if (!(f * step < 0)) step = -f / slope;
    const double next = offset + step;
    if (!bracket.contains(next)) {
      offset = bracket.split();
      continue;
    }
    offset = next;
    // Cubic convergence: the error of `next` is of the order of (step/offset)^3.
    if (std::fabs(step) <= 1e-6 * std::fabs(next)) break;
  }
  *offset_out = offset;
  return evaluations + 1;
}

/// The root above the last pole.
inline Index last_root(const MergeRecord& r, double* base_out, double* offset_out) noexcept {
  const Index poles = r.header->poles;
  const double inverse_coupling = 1.0 / r.header->coupling;
  const double base = r.pole[poles - 1];
  double norm2 = 0;
  for (Index i = 0; i < poles; ++i) norm2 += r.z[i] * r.z[i];
  // f is negative at the pole and not negative at coupling |z|^2; a slightly larger bound covers rounding.
  Bracket bracket{0, r.header->coupling * norm2 * (1 + 64 * epsilon)};
  double offset = 0.5 * bracket.high;
  Index evaluations = 0;
  *base_out = base;
  for (;; ++evaluations) {
    const Sums psi = sum_poles(r, 0, poles, base, offset);
    const double f = inverse_coupling + psi.value;
    if (!(std::fabs(f) > value_error(psi, Sums{}, inverse_coupling, offset))) break;
    (f < 0 ? bracket.low : bracket.high) = offset;
    if (bracket.closed()) break;
    // c + s/x with the pole at the base, matching f and f'.
    const double next = offset * (offset * psi.slope / (f + offset * psi.slope));
    const double step = next - offset;
    if (!bracket.contains(next)) {
      offset = bracket.split();
      continue;
    }
    offset = next;
    if (std::fabs(step) <= 1e-9 * offset) break;
  }
  *offset_out = offset;
  return evaluations + 1;
}

Index roots(const MergeRecord& r, Index begin, Index end, double* base, double* offset) noexcept {
  Index evaluations = 0;
  for (Index k = begin; k < end; ++k) {
    evaluations += k + 1 < r.header->poles ? interior_root(r, k, base + (k - begin), offset + (k - begin))
                                           : last_root(r, base + (k - begin), offset + (k - begin));
  }
  return evaluations;
}

/// prod (lambda_j - d_i) / (d_j - d_i) over begin <= j < end, a range without i. Four factors share a
/// division without under- or overflow: each difference lies between about 1e-32 and 4, and at most two of
/// them are below 1e-16.
inline double ratio_product(const MergeRecord& r, Index begin, Index end, double di) noexcept {
  const Index quarter = (end - begin) / 4;
  const double* __restrict d = r.pole + begin;
  const double* __restrict base = r.base + begin;
  const double* __restrict offset = r.offset + begin;
  const Index h = quarter, g = 2 * quarter, l = 3 * quarter;
  double product = 1;
#pragma omp simd reduction(* : product)
  for (Index j = 0; j < quarter; ++j) {
    const double above = ((base[j] - di) + offset[j]) * ((base[j + h] - di) + offset[j + h]) *
                         (((base[j + g] - di) + offset[j + g]) * ((base[j + l] - di) + offset[j + l]));
    const double below = (d[j] - di) * (d[j + h] - di) * ((d[j + g] - di) * (d[j + l] - di));
    product *= above / below;
  }
  for (Index j = 4 * quarter; j < end - begin; ++j) product *= ((base[j] - di) + offset[j]) / (d[j] - di);
  return product;
}

void weights(const MergeRecord& r, Index begin, Index end, double* out) noexcept {
  const Index poles = r.header->poles;
  for (Index i = begin; i < end; ++i) {
    const double di = r.pole[i];
    const double squared =
        ratio_product(r, 0, i, di) * ratio_product(r, i + 1, poles, di) * ((r.base[i] - di) + r.offset[i]);
    out[i - begin] = std::copysign(std::sqrt(std::fabs(squared)), r.z[i]);
  }
}

void rows(const MergeRecord& r, Index begin, Index end, double* first, double* last) noexcept {
  const Index poles = r.header->poles;
  const double* __restrict d = r.value;
  const double* __restrict w = r.weight;
  const double* __restrict first_row = r.first_row;
  const double* __restrict last_row = r.last_row;
  for (Index k = begin; k < end; ++k) {
    const double base = r.base[k], offset = r.offset[k];
    double norm2 = 0, f = 0, l = 0;
#pragma omp simd reduction(+ : norm2, f, l)
    for (Index p = 0; p < poles; ++p) {
      const double v = w[p] / ((d[p] - base) - offset);
      norm2 += v * v;
      f += first_row[p] * v;
      l += last_row[p] * v;
    }
    const double scale = 1.0 / std::sqrt(norm2);
    first[k - begin] = f * scale;
    last[k - begin] = l * scale;
  }
}

template <class R>
void vectors(const MergeRecord& r, Index begin, Index end, R* s, Index lds) noexcept {
  const Index poles = r.header->poles;
  const double* __restrict d = r.value;
  const double* __restrict w = r.weight;
  for (Index k = begin; k < end; ++k) {
    const double base = r.base[k], offset = r.offset[k];
    // The distance to the nearest pole scales entries below about 1, so that they fit into a float before
    // they are normalised.
    const double distance = std::fabs(offset);
    R* __restrict column = s + (k - begin) * lds;
    double norm2 = 0;
#pragma omp simd reduction(+ : norm2)
    for (Index p = 0; p < poles; ++p) {
      const double v = w[p] * distance / ((d[p] - base) - offset);
      norm2 += v * v;
      column[p] = static_cast<R>(v);
    }
    const R scale = static_cast<R>(1.0 / std::sqrt(norm2));
#pragma omp simd
    for (Index p = 0; p < poles; ++p) column[p] *= scale;
  }
}

}  // namespace

extern const SecularKernels secular_kernels;
const SecularKernels secular_kernels{roots, weights, rows, vectors<float>, vectors<double>};

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
