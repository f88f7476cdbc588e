// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/tridiagonal_ql.cuh>
#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_device.cuh>

namespace tessera::detail::kernels {
namespace {

using namespace device;
using divide_and_conquer::Forest;
using divide_and_conquer::ForestScratch;
using divide_and_conquer::MergeBatch;
using divide_and_conquer::MergeHeader;

constexpr int largest_piece = static_cast<int>(divide_and_conquer::largest_piece), piece_warps = 4;
constexpr int piece_stride = largest_piece + 1;

// ---- pieces -------------------------------------------------------------------------------------------

/// Solves the pieces, one a warp: spectra, and the diagonal blocks of `q` if it is not null (see TreeMatrix).
__global__ void __launch_bounds__(32 * piece_warps)
    pieces_kernel(LeafForest leaves, Index pieces, double* spectra, TreeMatrix q) {
  __shared__ double shared_d[piece_warps][largest_piece], shared_e[piece_warps][largest_piece + 1];
  __shared__ double shared_z[piece_warps][largest_piece * piece_stride];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Index piece = Index(blockIdx.x) * piece_warps + warp;
  const Forest& forest = leaves.forest;
  const Index tree = piece / pieces, j = piece % pieces;
  if (tree >= forest.trees()) return;
  const Index rows = forest.tree_rows(tree), begin = rows * j / pieces, end = rows * (j + 1) / pieces;
  const int n = static_cast<int>(end - begin);
  if (n == 0) return;
  double *d = shared_d[warp], *e = shared_e[warp], *z = shared_z[warp];
  const double* td = leaves.d + tree * forest.stride + begin;
  const double* te = leaves.e + tree * forest.stride + begin;
  bool finite = true;
  if (lane < n) {
    d[lane] = td[lane];
    // scale_and_cut has cut the leaves; here the cuts inside a leaf subtract their |e|. Numbers far below the
    // rounding error of T become zero, so that no square underflows.
    if (lane == 0 && begin > 0) d[0] -= fabs(te[-1]);
    if (lane == n - 1 && end < rows) d[lane] -= fabs(te[lane]);
    const double off_diagonal = lane < n - 1 ? te[lane] : 0.0;
    e[lane] = fabs(off_diagonal) < 0x1p-200 ? 0.0 : off_diagonal;
    finite = isfinite(d[lane]) && isfinite(off_diagonal);
  }
  for (int i = 0; i < n; ++i) z[i * piece_stride + lane] = i == lane ? 1.0 : 0.0;
  __syncwarp();
  Progress progress{0, 0, 0, 0};
  const bool good = __all_sync(~0u, finite) &&
                    find_values(Tridiagonal<double>{d, e, 1, n}, true, progress,
                                AppliedRotations<double, piece_stride, 1>{z + lane, ~0u}, nullptr);
  if (!good && lane == 0 && leaves.failure)
    leaves.failure[tree * leaves.failure_stride] = tree * forest.stride + 1;
  __syncwarp();
  // Ascending order: lane i finds the place of value i.
  const double mine = lane < n ? d[lane] : 0.0;
  int place = 0;
  for (int i = 0; i < n; ++i) place += d[i] < mine || (d[i] == mine && i < lane);
  if (!good) place = lane;
  Spectrum spectrum(spectra + 3 * (tree * forest.leaf + begin), n);
  if (lane < n) {
    spectrum.value[place] = mine;
    spectrum.first_row[place] = z[lane * piece_stride];
    spectrum.last_row[place] = z[lane * piece_stride + n - 1];
  }
  if (q.data == nullptr) return;
  for (int i = 0; i < n; ++i) {
    const int column = __shfl_sync(~0u, place, i);
    if (lane < n) q.at(tree, begin + lane, begin + column) = z[i * piece_stride + lane];
  }
}

// ---- scaling ------------------------------------------------------------------------------------------

template <class R>
__global__ void __launch_bounds__(1024)
    scale_kernel(Index n, const R* d, const R* e, Index leaf, double* scaled_d, double* scaled_e,
                 double* exponent, long long* failure) {
  __shared__ double maxima[32];
  __shared__ unsigned long long first_bad;
  if (threadIdx.x == 0) first_bad = static_cast<unsigned long long>(n);
  __syncthreads();
  double largest = 0;
  for (Index i = threadIdx.x; i < n; i += blockDim.x) {
    const double diagonal = fabs(static_cast<double>(d[i]));
    const double off_diagonal = i + 1 < n ? fabs(static_cast<double>(e[i])) : 0.0;
    if (!isfinite(diagonal) || !isfinite(off_diagonal))
      atomicMin(&first_bad, static_cast<unsigned long long>(i));
    largest = fmax(largest, fmax(diagonal, off_diagonal));
  }
  largest = warp_max(largest);
  if (threadIdx.x % 32 == 0) maxima[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int i = 0; i < 32; ++i) largest = fmax(largest, maxima[i]);
  const bool bad = first_bad < static_cast<unsigned long long>(n);
  int power = 0;
  if (!bad && largest > 0) frexp(largest, &power);
  const auto scaled = [&](Index i) { return bad ? 0.0 : ldexp(static_cast<double>(e[i]), -power); };
  for (Index i = threadIdx.x; i < n; i += blockDim.x) {
    double diagonal = bad ? 0.0 : ldexp(static_cast<double>(d[i]), -power);
    if (i > 0 && i % leaf == 0) diagonal -= fabs(scaled(i - 1));
    if (i + 1 < n && (i + 1) % leaf == 0) diagonal -= fabs(scaled(i));
    scaled_d[i] = diagonal;
    if (i + 1 < n) scaled_e[i] = scaled(i);
  }
  if (threadIdx.x == 0) {
    *exponent = power;
    if (bad && failure) *failure = static_cast<long long>(first_bad) + 1;
  }
}

template <class R>
__global__ void unscale_kernel(Index n, const double* values, const double* exponent, R* w) {
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) w[i] = static_cast<R>(ldexp(values[i], static_cast<int>(*exponent)));
}

// ---- results ------------------------------------------------------------------------------------------

template <class R>
struct LeafOutputs {
  double* spectrum[max_leaves];
  R* q[max_leaves];
  Index ldq[max_leaves];
};

/// Rounds the eigenvectors to R and copies the spectra to their destinations.
template <class R>
__global__ void __launch_bounds__(256) store_leaves_kernel(Forest forest, TreeMatrix q, const double* spectra,
                                                           const __grid_constant__ LeafOutputs<R> outputs) {
  const Index tree = blockIdx.z, rows = forest.tree_rows(tree);
  const Index i = Index(blockIdx.x) * 256 + threadIdx.x;
  if (i >= rows) return;
  for (Index j = blockIdx.y; j < rows; j += gridDim.y)
    outputs.q[tree][j * outputs.ldq[tree] + i] = static_cast<R>(q.at(tree, i, j));
  if (blockIdx.y == 0)
    for (int part = 0; part < 3; ++part)
      outputs.spectrum[tree][part * rows + i] = spectra[3 * tree * forest.leaf + part * rows + i];
}

/// Runs all levels and calls after(batch) after the merges of each. Returns the spectra of the leaves, which
/// are in `result` if that is not null.
template <class After>
double* solve_forest(cudaStream_t stream, const LeafForest& leaves, bool rows, double* result,
                     const ForestScratch& scratch, TreeMatrix q, After&& after) {
  const Forest& forest = leaves.forest;
  Index pieces = divide_and_conquer::forest_pieces(forest);
  const Index trees = forest.trees();
  int side = 0;
  double* spectra = pieces == 1 && result ? result : scratch.spectra[side];
  pieces_kernel<<<blocks_for(trees * pieces, piece_warps), 32 * piece_warps, 0, stream>>>(leaves, pieces,
                                                                                          spectra, q);
  for (; pieces > 1; pieces /= 2) {
    side = 1 - side;
    double* merged = pieces == 2 && result ? result : scratch.spectra[side];
    const MergeBatch batch{.forest = forest,
                           .pieces = pieces,
                           .e = leaves.e,
                           .left = spectra,
                           .right = spectra,
                           .merged = merged,
                           .records = scratch.records,
                           .scratch = scratch.merge,
                           .epsilon = leaves.epsilon,
                           .failure = leaves.failure,
                           .failure_stride = leaves.failure_stride};
    launch_merge(stream, batch, q.data != nullptr, rows || pieces > 2);
    after(batch);
    spectra = merged;
  }
  return spectra;
}

}  // namespace

template <class R>
void launch_scale_and_cut(cudaStream_t stream, Index n, const R* d, const R* e, Index leaf, double* scaled_d,
                          double* scaled_e, double* exponent, long long* failure) {
  scale_kernel<<<1, 1024, 0, stream>>>(n, d, e, leaf, scaled_d, scaled_e, exponent, failure);
}

template <class R>
void launch_unscale(cudaStream_t stream, Index n, const double* values, const double* exponent, R* w) {
  unscale_kernel<<<blocks_for(n, 256), 256, 0, stream>>>(n, values, exponent, w);
}

void launch_leaf_values(cudaStream_t stream, const LeafForest& leaves, bool rows, double* spectra,
                        void* scratch) {
  const Forest& forest = leaves.forest;
  solve_forest(stream, leaves, rows, spectra, ForestScratch(scratch, forest), TreeMatrix{nullptr, 0, 0},
               [](const MergeBatch&) {});
}

LeafResults launch_leaf_vectors(cudaStream_t stream, const LeafForest& leaves, void* scratch) {
  const Forest& forest = leaves.forest;
  const Index trees = forest.trees(), order = std::min(forest.leaf, forest.rows);
  const ForestScratch work(scratch, forest);
  const TreeMatrix vectors{work.matrices, order, order * order};
  const TreeMatrix turned{vectors.data + trees * vectors.tree_stride, order, order * order};
  const TreeMatrix secular{turned.data + trees * vectors.tree_stride, order, order * order};
  const double* const spectra = solve_forest(
      stream, leaves, true, nullptr, work, vectors,
      [&](const MergeBatch& batch) { launch_tree_update(stream, batch, vectors, turned, secular); });
  return {spectra, vectors.data};
}

template <class R>
void launch_leaf_vectors(cudaStream_t stream, const LeafForest& leaves, double* const* spectra, R* const* q,
                         const Index* ldq, void* scratch) {
  const Forest& forest = leaves.forest;
  const Index trees = forest.trees(), order = std::min(forest.leaf, forest.rows);
  const auto [result, vectors] = launch_leaf_vectors(stream, leaves, scratch);
  LeafOutputs<R> outputs;
  for (Index t = 0; t < trees && t < max_leaves; ++t) {
    outputs.spectrum[t] = spectra[t];
    outputs.q[t] = q[t];
    outputs.ldq[t] = ldq[t];
  }
  const dim3 grid(blocks_for(order, 256), blocks_for(order, 1, 256), static_cast<unsigned>(trees));
  const TreeMatrix all{const_cast<double*>(vectors), order, order * order};
  store_leaves_kernel<<<grid, 256, 0, stream>>>(forest, all, result, outputs);
}

#define TESSERA_INSTANTIATE(R)                                                                         \
  template void launch_scale_and_cut(cudaStream_t, Index, const R*, const R*, Index, double*, double*, \
                                     double*, long long*);                                             \
  template void launch_unscale(cudaStream_t, Index, const double*, const double*, R*);                 \
  template void launch_leaf_vectors(cudaStream_t, const LeafForest&, double* const*, R* const*,        \
                                    const Index*, void*);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
