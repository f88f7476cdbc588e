// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_device.cuh>

// A warp works on four roots (or poles) at once, and its lanes share the loop over the poles: each load
// serves four roots, and four lanes do the scalar steps of an iteration for the four roots.

namespace tessera::detail::kernels {
namespace {

using namespace device;
using divide_and_conquer::MergeBatch;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int group = 4;        ///< roots of a warp
constexpr int warps = 4;        ///< of a block
constexpr int max_steps = 500;  ///< of an iteration; bisection ends long before

/// sum z^2/x, sum |z^2/x|, sum z^2/x^2 and sum z^2/x^3, x = d - lambda.
struct Sums {
  double value, size, slope, bend;
};

/// The sums at four points base + offset; lane r < 4 gets those of point r.
__device__ Sums sum_poles(const double* __restrict__ d, const double* __restrict__ z, int poles, double base,
                          double offset) {
  double b[group], o[group];
  Sums s[group];
  for (int r = 0; r < group; ++r) {
    b[r] = __shfl_sync(~0u, base, r);
    o[r] = __shfl_sync(~0u, offset, r);
    s[r] = {0, 0, 0, 0};
  }
  const int lane = threadIdx.x % 32;
  for (int i = lane; i < poles; i += 32) {
    const double di = d[i], zi = z[i];
    for (int r = 0; r < group; ++r) {
      const double inverse = fast_reciprocal((di - b[r]) - o[r]);
      const double t = zi * inverse, t2 = t * t, v = zi * t;
      s[r].value += v;
      s[r].size += fabs(v);
      s[r].slope += t2;
      s[r].bend += t2 * inverse;
    }
  }
  Sums mine{};
  for (int r = 0; r < group; ++r) {
    const Sums sum{warp_sum(s[r].value), warp_sum(s[r].size), warp_sum(s[r].slope), warp_sum(s[r].bend)};
    if (lane == r) mine = sum;
  }
  return mine;
}

/// The bracket of an offset, as in secular.simd.cpp.
struct Bracket {
  double low, high;
  __device__ bool contains(double x) const { return x > low && x < high; }
  __device__ double split() const {
    if (low == 0) return high * 0x1p-12;
    if (high == 0) return low * 0x1p-12;
    const bool same_sign = (low > 0) == (high > 0);
    if (same_sign && (low > 4 * high || high > 4 * low)) {
      const double root = sqrt(fabs(low)) * sqrt(fabs(high));
      return low > 0 ? root : -root;
    }
    return low + 0.5 * (high - low);
  }
  __device__ bool closed() const {
    return !contains(split()) || high - low <= epsilon * fmin(fabs(low), fabs(high));
  }
};

__device__ double two_pole_root(double c, double s, double far, double gap) {
  const double a = c * gap + s + far, b = s * gap;
  const double discriminant = sqrt(fabs(a * a - 4 * b * c));
  return a > 0 ? 2 * b / (a + discriminant) : (a - discriminant) / (2 * c);
}

/// One root: the state of its iteration, in one lane.
struct Root {
  bool last;  ///< the root above all poles
  double inverse_coupling;
  double gap, z2_left, z2_right;  ///< of the poles on both sides
  double base, offset;
  Bracket bracket;
  bool done;

  /// The nearest pole and the first guess, from the sums at the middle of the interval.
  __device__ void start(const Sums& sums, double right_pole) {
    if (last || done) return;
    const double middle = 0.5 * gap, f = inverse_coupling + sums.value;
    const bool left = f > 0;
    if (!left) base = right_pole;
    bracket = left ? Bracket{0, middle} : Bracket{-middle, 0};
    const double near2 = left ? z2_left : z2_right;
    const double far_slope = fmax(sums.slope - near2 / (middle * middle), 0.0);
    const double c = (left ? f : -f) + near2 / middle - middle * far_slope;
    const double distance = two_pole_root(c, near2, far_slope * middle * middle, gap);
    offset = left ? distance : -distance;
    if (!bracket.contains(offset)) offset = bracket.split();
  }

  __device__ void step(const Sums& sums) {
    if (done) return;
    const double f = inverse_coupling + sums.value;
    const double error = epsilon * (8 * sums.size + inverse_coupling + fabs(offset) * sums.slope);
    done = !(fabs(f) > error);
    if (done) return;
    (f < 0 ? bracket.low : bracket.high) = offset;
    done = bracket.closed();
    if (done) return;
    const double next = last ? offset * (offset * sums.slope / (f + offset * sums.slope))
                             : offset + interpolate(f, sums.slope, sums.bend);
    if (!bracket.contains(next)) {
      offset = bracket.split();
      return;
    }
    done = fabs(next - offset) <= (last ? 1e-9 : 1e-6) * fabs(next);
    offset = next;
  }

  /// Gragg's interpolation.
  __device__ double interpolate(double f, double slope, double bend) const {
    const bool left = bracket.high > 0;
    const double x1 = (left ? 0.0 : -gap) - offset, x2 = (left ? gap : 0.0) - offset;
    double p = fmax(x1 * (x2 * bend - slope) / (x2 - x1), z2_left / (x1 * x1));
    const double q = fmax(slope - p, z2_right / (x2 * x2));
    p = slope - q;
    const double c = f - x1 * p - x2 * q, a = (x1 + x2) * f - x1 * x2 * slope, b = x1 * x2 * f;
    const double discriminant = sqrt(fabs(a * a - 4 * b * c));
    const double step = a <= 0 ? (a - discriminant) / (2 * c) : 2 * b / (a + discriminant);
    return f * step < 0 ? step : -f / slope;
  }
};

__global__ void __launch_bounds__(32 * warps) roots_kernel(const MergeBatch batch) {
  const Merge merge = Merge::of(batch, blockIdx.y);
  const Record& record = merge.record;
  const int poles = record.poles(), lane = threadIdx.x % 32;
  const int first = (static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / 32) * group;
  if (first >= poles) return;
  const double* __restrict__ d = record.pole();
  const double* __restrict__ z = record.z();
  // Lanes without an own root work on a copy of the first one.
  const bool own = lane < group && first + lane < poles;
  const int k = own ? first + lane : first;
  Root root{};
  root.last = k + 1 == poles;
  root.done = !own;
  root.inverse_coupling = 1.0 / record.header->coupling;
  root.base = d[k];
  const double right_pole = root.last ? d[k] : d[k + 1];
  root.gap = right_pole - d[k];
  root.z2_left = z[k] * z[k];
  root.z2_right = root.last ? 0.0 : z[k + 1] * z[k + 1];
  root.offset = 0.5 * root.gap;
  if (first + group >= poles) {
    double norm2 = 0;
    for (int i = lane; i < poles; i += 32) norm2 += z[i] * z[i];
    norm2 = warp_sum(norm2);
    if (root.last) {
      // f is negative at the pole and not negative at coupling |z|^2; a slightly larger bound covers
      // rounding.
      root.bracket = {0, record.header->coupling * norm2 * (1 + 64 * epsilon)};
      root.offset = 0.5 * root.bracket.high;
    }
  }
  root.start(sum_poles(d, z, poles, root.base, root.offset), right_pole);
  for (int step = 0; step < max_steps && __any_sync(~0u, !root.done); ++step)
    root.step(sum_poles(d, z, poles, root.base, root.offset));
  if (own) {
    record.base()[k] = root.base;
    record.offset()[k] = root.offset;
  }
}

__global__ void __launch_bounds__(32 * warps) weights_kernel(const MergeBatch batch) {
  const Merge merge = Merge::of(batch, blockIdx.y);
  const Record& record = merge.record;
  const int poles = record.poles(), lane = threadIdx.x % 32;
  const int first = (static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / 32) * group;
  if (first >= poles) return;
  const double* __restrict__ d = record.pole();
  const double* __restrict__ base = record.base();
  const double* __restrict__ offset = record.offset();
  double di[group], product[group];
  for (int r = 0; r < group; ++r) {
    di[r] = d[min(first + r, poles - 1)];
    product[r] = 1;
  }
  // Four factors share a division without under- or overflow: each difference lies between about 1e-32 and 4,
  // and at most two of them are below 1e-16.
  for (int start = lane; start < poles; start += 128) {
    double above[group], below[group];
    for (int r = 0; r < group; ++r) above[r] = below[r] = 1;
    for (int j = start; j < min(start + 128, poles); j += 32) {
      const double dj = d[j], bj = base[j], oj = offset[j];
      for (int r = 0; r < group; ++r) {
        above[r] *= (bj - di[r]) + oj;
        below[r] *= j == first + r ? 1.0 : dj - di[r];
      }
    }
    for (int r = 0; r < group; ++r) product[r] *= above[r] / below[r];
  }
  for (int r = 0; r < group; ++r) {
    const double squared = warp_product(product[r]);
    if (lane == 0 && first + r < poles)
      record.weight()[record.pole_slot()[first + r]] = copysign(sqrt(fabs(squared)), record.z()[first + r]);
  }
}

__global__ void __launch_bounds__(32 * warps) rows_kernel(const MergeBatch batch) {
  const Merge merge = Merge::of(batch, blockIdx.y);
  const Record& record = merge.record;
  const int poles = record.poles(), lane = threadIdx.x % 32;
  const int k = (static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / 32) * group;
  if (k >= poles) return;
  const double* __restrict__ d = record.value();
  const double* __restrict__ w = record.weight();
  const double* __restrict__ first_row = record.first_row();
  const double* __restrict__ last_row = record.last_row();
  double base[group], offset[group], norm2[group], first[group], last[group];
  for (int r = 0; r < group; ++r) {
    base[r] = record.base()[min(k + r, poles - 1)];
    offset[r] = record.offset()[min(k + r, poles - 1)];
    norm2[r] = first[r] = last[r] = 0;
  }
  for (int p = lane; p < poles; p += 32) {
    const double dp = d[p], wp = w[p], fp = first_row[p], lp = last_row[p];
    for (int r = 0; r < group; ++r) {
      const double v = wp * fast_reciprocal((dp - base[r]) - offset[r]);
      norm2[r] += v * v;
      first[r] += fp * v;
      last[r] += lp * v;
    }
  }
  for (int r = 0; r < group; ++r) {
    const double scale = 1.0 / sqrt(warp_sum(norm2[r])), f = warp_sum(first[r]), l = warp_sum(last[r]);
    if (lane == 0 && k + r < poles) {
      record.root_first()[k + r] = f * scale;
      record.root_last()[k + r] = l * scale;
    }
  }
}

/// A thread block computes four columns: first the norms, then each entry again, which it writes.
template <class R>
__global__ void __launch_bounds__(256)
    vectors_kernel(Record record, int poles, Index first, int count, R* __restrict__ s, Index lds) {
  __shared__ double sums[group][8];
  const double* __restrict__ d = record.value();
  const double* __restrict__ w = record.weight();
  const int column = static_cast<int>(blockIdx.x) * group;
  double base[group], offset[group], factor[group], norm2[group];
  for (int r = 0; r < group; ++r) {
    const Index k = first + min(column + r, count - 1);
    base[r] = record.base()[k];
    offset[r] = record.offset()[k];
    // The distance to the nearest pole scales entries below about 1, so that the norm does not overflow.
    factor[r] = fabs(offset[r]);
    norm2[r] = 0;
  }
  for (int p = threadIdx.x; p < poles; p += 256) {
    const double dp = d[p], wp = w[p];
    for (int r = 0; r < group; ++r) {
      const double v = wp * factor[r] * fast_reciprocal((dp - base[r]) - offset[r]);
      norm2[r] += v * v;
    }
  }
  for (int r = 0; r < group; ++r) {
    const double sum = warp_sum(norm2[r]);
    if (threadIdx.x % 32 == 0) sums[r][threadIdx.x / 32] = sum;
  }
  __syncthreads();
  for (int r = 0; r < group; ++r) {
    double sum = 0;
    for (int i = 0; i < 8; ++i) sum += sums[r][i];
    factor[r] /= sqrt(sum);
  }
  for (int p = threadIdx.x; p < poles; p += 256) {
    const double dp = d[p], wp = w[p];
    for (int r = 0; r < group; ++r)
      if (column + r < count)
        s[(column + r) * lds + p] =
            static_cast<R>(wp * factor[r] * fast_reciprocal((dp - base[r]) - offset[r]));
  }
}

dim3 grid_of(const MergeBatch& batch) {
  return dim3(blocks_for(batch.largest_order(), group * warps), static_cast<unsigned>(batch.merges()));
}

}  // namespace

void launch_secular_roots(cudaStream_t stream, const MergeBatch& batch) {
  roots_kernel<<<grid_of(batch), 32 * warps, 0, stream>>>(batch);
}
void launch_secular_weights(cudaStream_t stream, const MergeBatch& batch) {
  weights_kernel<<<grid_of(batch), 32 * warps, 0, stream>>>(batch);
}
void launch_secular_rows(cudaStream_t stream, const MergeBatch& batch) {
  rows_kernel<<<grid_of(batch), 32 * warps, 0, stream>>>(batch);
}

template <class R>
void launch_secular_vectors(cudaStream_t stream, Index m, const void* record, Index poles, Index first,
                            Index count, R* s, Index lds) {
  if (poles <= 0 || count <= 0) return;
  vectors_kernel<<<blocks_for(count, group), 256, 0, stream>>>(
      Record(const_cast<char*>(static_cast<const char*>(record)), m), static_cast<int>(poles), first,
      static_cast<int>(count), s, lds);
}
template void launch_secular_vectors(cudaStream_t, Index, const void*, Index, Index, Index, float*, Index);
template void launch_secular_vectors(cudaStream_t, Index, const void*, Index, Index, Index, double*, Index);

}  // namespace tessera::detail::kernels
