// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_device.cuh>

namespace tessera::detail::kernels {
namespace {

using namespace device;
using divide_and_conquer::merge_scratch_doubles;
using divide_and_conquer::MergeBatch;

constexpr int largest_block = 1024;

/// Rows in which a column can be nonzero (index of MergeHeader's groups), and a mark.
enum Kind : int { left_rows = 0, both_rows = 1, right_rows = 2, kind_mask = 3, deflated_mark = 4 };

/// Work arrays of one merge, m entries each, by ascending d ("place"), except the lists of places.
struct Work {
  double *d, *z, *first, *last;
  int *column, *kind;
  int* large;     ///< places whose z is not negligible, ascending
  int* poles;     ///< places of the poles, ascending
  int* deflated;  ///< places of the deflated columns, by ascending d at the end
  int* slot;      ///< by place

  __device__ Work(double* scratch, Index m)
      : d(scratch),
        z(d + m),
        first(z + m),
        last(first + m),
        column(reinterpret_cast<int*>(last + m)),
        kind(column + m),
        large(kind + m),
        poles(large + m),
        deflated(poles + m),
        slot(deflated + m) {}
};

/// The number of entries of the ascending x[0, n) that are < value, or <= value.
template <bool or_equal>
__device__ int count_below(const double* x, int n, double value) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (or_equal ? x[middle] <= value : x[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Puts the columns of both children in ascending places. Returns max(|d|, |z|), or a negative number if a
/// number is not finite (the places are then the columns).
__device__ double join_children(const Merge& merge, double sign, const Work& w, double* shared) {
  const int m1 = static_cast<int>(merge.node.left), m = static_cast<int>(merge.node.order());
  const double half = sqrt(0.5);
  double largest = 0;
  bool bad = false;
  for (int i = threadIdx.x; i < m; i += blockDim.x) {
    const double d = i < m1 ? merge.left.value[i] : merge.right.value[i - m1];
    const double z = half * (i < m1 ? merge.left.last_row[i] : merge.right.first_row[i - m1]);
    bad |= !isfinite(d) || !isfinite(z);
    largest = fmax(largest, fmax(fabs(d), fabs(z)));
  }
  bad = __syncthreads_or(bad);
  largest = warp_max(largest);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int i = 0; i < static_cast<int>(blockDim.x) / 32; ++i) largest = fmax(largest, shared[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < m; i += blockDim.x) {
    const bool first = i < m1;
    const double d = first ? merge.left.value[i] : merge.right.value[i - m1];
    int place = i;
    if (!bad)
      place = first ? i + count_below<false>(merge.right.value, m - m1, d)
                    : i - m1 + count_below<true>(merge.left.value, m1, d);
    w.d[place] = d;
    w.z[place] = half * (first ? merge.left.last_row[i] : sign * merge.right.first_row[i - m1]);
    // A child without rows leaves both boundary rows to the other one.
    w.first[place] = first ? merge.left.first_row[i] : m1 == 0 ? merge.right.first_row[i] : 0.0;
    w.last[place] = !first ? merge.right.last_row[i - m1] : m1 == m ? merge.left.last_row[i] : 0.0;
    w.column[place] = i;
    w.kind[place] = first ? left_rows : right_rows;
  }
  __syncthreads();
  return bad ? -1.0 : largest;
}

/// Whether the rotation of two neighbours leaves a negligible off-diagonal element: |gap c s| <= tolerance.
__device__ bool deflates(double gap, double z_low, double z_high, double tolerance) {
  return !(fabs(gap * z_low * z_high) > tolerance * (z_low * z_low + z_high * z_high));
}

/// One column in the pass over the columns.
struct Column {
  double d, z, first, last;
  int place, kind;
  __device__ Column from_lane(int lane) const {
    return {__shfl_sync(~0u, d, lane),    __shfl_sync(~0u, z, lane),     __shfl_sync(~0u, first, lane),
            __shfl_sync(~0u, last, lane), __shfl_sync(~0u, place, lane), __shfl_sync(~0u, kind, lane)};
  }
  __device__ void store(const Work& w, int mark) const {
    w.d[place] = d;
    w.z[place] = z;
    w.first[place] = first;
    w.last[place] = last;
    w.kind[place] = kind | mark;
  }
};

/// Turns `low` and `high` so that z of `low` vanishes; writes the rotation (with places for slots).
__device__ void rotate(Column& low, Column& high, const Record& record, int rotation) {
  const double length = sqrt(low.z * low.z + high.z * high.z);
  const double c = high.z / length, s = -low.z / length;
  if (threadIdx.x == 0) {
    record.rotation_x()[rotation] = low.place;
    record.rotation_y()[rotation] = high.place;
    record.cosine()[rotation] = c;
    record.sine()[rotation] = s;
  }
  if (low.kind != high.kind) low.kind = high.kind = both_rows;
  high.z = length;
  low.z = 0;
  const double d = low.d * c * c + high.d * s * s, first = c * low.first + s * high.first,
               last = c * low.last + s * high.last;
  high.d = low.d * s * s + high.d * c * c;
  high.first = c * high.first - s * low.first;
  high.last = c * high.last - s * low.last;
  low.d = d;
  low.first = first;
  low.last = last;
}

/// The pass of find_poles in deflate.cpp over the `count` columns of w.large, by one warp, 32 columns at a
/// time. It only visits columns after a pair that deflates as it is, or after a column that was turned.
/// Returns the number of rotations.
__device__ int turn_close_columns(int count, double tolerance, const Work& w, const Record& record) {
  const int lane = threadIdx.x;
  int rotations = 0;
  Column previous{0, 0, 0, 0, 0, 0}, low{};  // the last of the 32 columns before; the column that is turned
  bool turned = false;                       // low differs from its copy in memory
  for (int base = 0; base < count; base += 32) {
    Column mine{0, 0, 0, 0, 0, 0};
    if (base + lane < count) {
      const int place = w.large[base + lane];
      mine = {w.d[place], w.z[place], w.first[place], w.last[place], place, w.kind[place]};
    }
    const int inside = min(32, count - base);
    double low_d = __shfl_up_sync(~0u, mine.d, 1), low_z = __shfl_up_sync(~0u, mine.z, 1);
    if (lane == 0) low_d = previous.d, low_z = previous.z;
    const bool close = lane < inside && base + lane > 0 && deflates(mine.d - low_d, low_z, mine.z, tolerance);
    const unsigned pairs = __ballot_sync(~0u, close);
    for (int t = 0; t < inside; ++t) {
      if (!turned) {
        const unsigned rest = pairs & (~0u << t);
        if (rest == 0) break;
        t = __ffs(rest) - 1;
        low = t == 0 ? previous : mine.from_lane(t - 1);
      }
      Column high = mine.from_lane(t);
      if (deflates(high.d - low.d, low.z, high.z, tolerance)) {
        rotate(low, high, record, rotations++);
        if (lane == 0) low.store(w, deflated_mark);
        low = high;
        turned = true;
      } else {
        if (turned && lane == 0) low.store(w, 0);
        turned = false;
      }
    }
    previous = mine.from_lane(31);
  }
  if (turned && lane == 0) low.store(w, 0);
  return rotations;
}

/// Sorts places by (d, column): bitonic, for any count, with comparisons that all go one way.
__device__ void sort_places(int* list, int count, const Work& w) {
  const auto before = [&](int a, int b) {
    return w.d[a] < w.d[b] || (w.d[a] == w.d[b] && w.column[a] < w.column[b]);
  };
  bool unsorted = false;
  for (int i = threadIdx.x; i + 1 < count; i += blockDim.x) unsorted |= before(list[i + 1], list[i]);
  if (!__syncthreads_or(unsorted)) return;
  for (int size = 2; size / 2 < count; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      for (int k = threadIdx.x; k < (count + size - 1) / size * (size / 2); k += blockDim.x) {
        const int block = k / distance, within = k % distance, i = block * 2 * distance + within;
        // The first step of a bitonic merge compares with the mirror image, so that both halves may ascend.
        const int j = distance == size / 2 ? block * 2 * distance + 2 * distance - 1 - within : i + distance;
        if (j < count && before(list[j], list[i])) {
          const int swapped = list[i];
          list[i] = list[j];
          list[j] = swapped;
        }
      }
      __syncthreads();
    }
}

/// Three counts below 2^20 in one number, by kind.
__device__ BlockScan::Count one_of(int kind) {
  return BlockScan::Count(1) << (20 * kind);
}
__device__ int part_of(BlockScan::Count counts, int kind) {
  return static_cast<int>((counts >> (20 * kind)) & 0xFFFFF);
}

/// Lists poles and deflated columns, in ascending places; returns the numbers of poles by kind. w.slot
/// becomes the rank of a pole within its kind.
__device__ BlockScan::Count list_columns(int m, bool any_poles, const Work& w, BlockScan::Count* shared) {
  BlockScan scan(shared);
  for (int base = 0; base < m; base += blockDim.x) {
    const int place = base + threadIdx.x;
    const bool inside = place < m, pole = inside && any_poles && !(w.kind[place] & deflated_mark);
    const int kind = inside ? w.kind[place] & kind_mask : 0;
    const BlockScan::Count before = scan.next(pole ? one_of(kind) : 0);
    const int poles = part_of(before, 0) + part_of(before, 1) + part_of(before, 2);
    if (pole) {
      w.poles[poles] = place;
      w.slot[place] = part_of(before, kind);
    } else if (inside) {
      w.deflated[place - poles] = place;
    }
  }
  __syncthreads();
  return scan.total;
}

/// Counts w.deflated[0, count) by kind, after w.slot became the rank within the kind.
__device__ BlockScan::Count rank_deflated(int count, const Work& w, BlockScan::Count* shared) {
  BlockScan scan(shared);
  for (int base = 0; base < count; base += blockDim.x) {
    const int i = base + threadIdx.x, place = i < count ? w.deflated[i] : 0;
    const int kind = w.kind[place] & kind_mask;
    const BlockScan::Count before = scan.next(i < count ? one_of(kind) : 0);
    if (i < count) w.slot[place] = part_of(before, kind);
  }
  __syncthreads();
  return scan.total;
}

/// Writes all parts of the record that depend on the slots.
__device__ void fill_record(int m, int poles, int rotations, BlockScan::Count pole_counts,
                            BlockScan::Count deflated_counts, const Work& w, const Record& record) {
  const auto first_slot = [](BlockScan::Count counts, int kind) {
    return (kind > 0 ? part_of(counts, 0) : 0) + (kind > 1 ? part_of(counts, 1) : 0);
  };
  for (int i = threadIdx.x; i < m; i += blockDim.x) {
    const bool pole = i < poles;
    const int place = pole ? w.poles[i] : w.deflated[i - poles], kind = w.kind[place] & kind_mask;
    const int slot =
        w.slot[place] + (pole ? first_slot(pole_counts, kind) : poles + first_slot(deflated_counts, kind));
    w.slot[place] = slot;
    if (pole) {
      record.pole()[i] = w.d[place];
      record.z()[i] = w.z[place];
      record.pole_slot()[i] = slot;
    } else {
      record.deflated()[i - poles] = slot;
    }
    record.slot_column()[slot] = w.column[place];
    record.value()[slot] = w.d[place];
    record.first_row()[slot] = w.first[place];
    record.last_row()[slot] = w.last[place];
  }
  __syncthreads();
  for (int r = threadIdx.x; r < rotations; r += blockDim.x) {
    record.rotation_x()[r] = w.slot[record.rotation_x()[r]];
    record.rotation_y()[r] = w.slot[record.rotation_y()[r]];
  }
}

__global__ void __launch_bounds__(largest_block) deflate_kernel(const MergeBatch batch) {
  __shared__ BlockScan::Count counts[33];
  __shared__ double maxima[32];
  __shared__ int shared_rotations;
  const Merge merge = Merge::of(batch, blockIdx.x);
  const Record& record = merge.record;
  const int m = static_cast<int>(merge.node.order());
  const Work w(batch.scratch + (merge_scratch_doubles(1) * batch.row(merge.node)), m);
  double off_diagonal = 0;
  if (merge.node.left > 0 && merge.node.right > 0)
    off_diagonal = batch.e[merge.node.tree * batch.forest.stride + merge.node.begin + merge.node.left - 1];

  const double largest = join_children(merge, off_diagonal < 0 ? -1.0 : 1.0, w, maxima);
  const double coupling = 2 * fabs(off_diagonal);
  const bool broken = largest < 0 || !isfinite(coupling);
  const double rho = broken ? 0.0 : coupling, tolerance = 8 * batch.epsilon * largest;

  BlockScan scan(counts);
  for (int base = 0; base < m; base += blockDim.x) {
    const int place = base + threadIdx.x;
    const bool large = place < m && !broken && rho * fabs(w.z[place]) > tolerance;
    const int before = static_cast<int>(scan.next(large));
    if (large)
      w.large[before] = place;
    else if (place < m)
      w.kind[place] |= deflated_mark;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    const int rotations = turn_close_columns(static_cast<int>(scan.total), tolerance, w, record);
    if (threadIdx.x == 0) shared_rotations = rotations;
  }
  __syncthreads();
  const int rotations = shared_rotations;
  const BlockScan::Count pole_counts = list_columns(m, !broken, w, counts);
  const int poles = part_of(pole_counts, 0) + part_of(pole_counts, 1) + part_of(pole_counts, 2);
  // NaN has no order: after a failure the result is only a permutation, without meaning.
  if (!broken) sort_places(w.deflated, m - poles, w);
  const BlockScan::Count deflated_counts = rank_deflated(m - poles, w, counts);
  fill_record(m, poles, rotations, pole_counts, deflated_counts, w, record);
  if (threadIdx.x == 0) {
    divide_and_conquer::MergeHeader& header = *record.header;
    header.left = merge.node.left;
    header.right = merge.node.right;
    header.poles = poles;
    for (int kind = 0; kind < 3; ++kind) {
      header.pole_group[kind] = part_of(pole_counts, kind);
      header.deflated_group[kind] = part_of(deflated_counts, kind);
    }
    header.rotations = rotations;
    header.status = broken;
    header.coupling = coupling;
    if (broken && batch.failure)
      batch.failure[merge.node.tree * batch.failure_stride] = merge.node.tree * batch.forest.stride + 1;
  }
}

/// Root r comes after the deflated values below it, a deflated value after the roots that are not above it.
__global__ void __launch_bounds__(256) order_kernel(const MergeBatch batch, bool rows) {
  const Merge merge = Merge::of(batch, blockIdx.y);
  const Record& record = merge.record;
  const int m = static_cast<int>(merge.node.order()), poles = record.poles();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= m) return;
  const double* value = record.value();
  const Index* deflated = record.deflated();
  const double *base = record.base(), *offset = record.offset();
  const bool root = i < poles;
  const int source = root ? i : static_cast<int>(deflated[i - poles]);
  const double x = root ? base[i] + offset[i] : value[source];
  int low = 0, high = root ? m - poles : poles;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (root ? value[deflated[middle]] < x : base[middle] + offset[middle] <= x)
      low = middle + 1;
    else
      high = middle;
  }
  const int column = low + (root ? i : i - poles);
  record.output()[column] = source;
  merge.merged.value[column] = x;
  if (rows) {
    merge.merged.first_row[column] = root ? record.root_first()[source] : record.first_row()[source];
    merge.merged.last_row[column] = root ? record.root_last()[source] : record.last_row()[source];
  }
}

}  // namespace

void launch_deflate(cudaStream_t stream, const MergeBatch& batch) {
  const Index wanted = (batch.largest_order() + 31) / 32 * 32;
  const int threads = static_cast<int>(wanted < 32 ? 32 : wanted > largest_block ? largest_block : wanted);
  deflate_kernel<<<static_cast<unsigned>(batch.merges()), threads, 0, stream>>>(batch);
}

void launch_order_spectrum(cudaStream_t stream, const MergeBatch& batch, bool rows) {
  const dim3 grid(blocks_for(batch.largest_order(), 256), static_cast<unsigned>(batch.merges()));
  order_kernel<<<grid, 256, 0, stream>>>(batch, rows);
}

void launch_merge(cudaStream_t stream, const MergeBatch& batch, bool weights, bool rows) {
  launch_deflate(stream, batch);
  launch_secular_roots(stream, batch);
  if (weights || rows) launch_secular_weights(stream, batch);
  if (rows) launch_secular_rows(stream, batch);
  launch_order_spectrum(stream, batch, rows);
}

}  // namespace tessera::detail::kernels
