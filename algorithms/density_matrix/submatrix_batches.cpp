// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/algorithms/density_matrix/inverse_root_levels.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/submatrix_batches.hpp>
#include <tessera/runtime/require_memory.hpp>

namespace tessera::detail {

std::vector<SubmatrixBatch> batches_of(const Runtime& runtime, const std::vector<Submatrix>& submatrices,
                                       std::size_t element_bytes) {
  std::vector<std::size_t> turn(submatrices.size());
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  std::stable_sort(turn.begin(), turn.end(), [&](std::size_t a, std::size_t b) {
    const Submatrix &x = submatrices[a], &y = submatrices[b];
    return x.owner != y.owner ? x.owner < y.owner : x.order > y.order;
  });
  // Few orders, so that memory fits again; on GPUs columns that begin at multiples of 16 bytes.
  const bool gpus = runtime.any_gpus();
  const auto padded = [&](Index order) {
    const Index step = !gpus ? 1 : order > 512 ? 64 : 16;
    return ceil_div(std::max<Index>(order, 1), step) * step;
  };
  const double bytes = gpus ? 192e6 : 16e6;
  const auto workers = static_cast<std::size_t>(std::max<Index>(runtime.common_workers(), 1));
  const std::size_t fair =
      gpus ? 1024
           : std::max<std::size_t>(turn.size() / (4 * workers * static_cast<std::size_t>(runtime.size())), 1);
  std::vector<SubmatrixBatch> batches;
  for (const std::size_t s : turn) {
    const Submatrix& submatrix = submatrices[s];
    const double order = static_cast<double>(padded(submatrix.order));
    const auto most = std::min(fair, static_cast<std::size_t>(std::max(
                                         1.0, bytes / (order * order * static_cast<double>(element_bytes)))));
    if (batches.empty() || batches.back().owner != submatrix.owner || batches.back().index.size() >= most)
      batches.push_back({submatrix.owner, padded(submatrix.order), 0, {}});
    SubmatrixBatch& batch = batches.back();
    batch.width = std::max(batch.width, submatrix.own_order);
    batch.index.push_back(s);
  }
  return batches;
}

template <class T, class F>
SubmatrixBatches<T, F>::SubmatrixBatches(Runtime& runtime, const SubmatrixSource& source,
                                         const std::vector<Submatrix>& submatrices,
                                         const BlockDimension& dimension, std::size_t every)
    : runtime_(runtime),
      source_(source),
      batches_(batches_of(runtime, submatrices, sizeof(F))),
      every_(every),
      sequence_(std::make_unique<Sequence>(runtime)) {
  double bytes_of_iterates = 0;
  for (const SubmatrixBatch& batch : batches_)
    if (batch.owner == runtime.rank())
      bytes_of_iterates +=
          2 * std::pow(static_cast<double>(batch.n), 2) * static_cast<double>(batch.count()) * sizeof(F);
  const double on_gpus =
      static_cast<double>(runtime.gpus()) * static_cast<double>(runtime.info().gpu_memory_bytes);
  require_memory(runtime, "submatrices", std::max(0.0, bytes_of_iterates - on_gpus));
  std::size_t split = 0, sums = 0, krylov = 0, columns = 0;
  for (const SubmatrixBatch& batch : batches_) {
    std::vector<SubmatrixMember> members;
    std::vector<SubmatrixPlace> places;
    std::vector<Index> own;
    for (const std::size_t s : batch.index) {
      const Submatrix& submatrix = submatrices[s];
      const auto first = static_cast<Index>(places.size());
      Index row = 0;
      for (const Index block : submatrix.blocks) {
        const Index size = dimension.size(block);
        places.push_back({static_cast<std::int32_t>(block), static_cast<std::int32_t>(row),
                          static_cast<std::int32_t>(size), static_cast<std::int32_t>(members.size())});
        row += size;
      }
      std::sort(places.begin() + first, places.end(),
                [](const SubmatrixPlace& x, const SubmatrixPlace& y) { return x.block < y.block; });
      members.push_back({first, static_cast<Index>(places.size()), submatrix.order});
      own.push_back(submatrix.own_order);
    }
    const Index count = batch.count();
    const auto bytes = [&](std::size_t each) {
      return Data::bytes(runtime_, static_cast<std::size_t>(count) * each, batch.owner);
    };
    pieces_.push_back({make_task_list(runtime, members, batch.owner),
                       make_task_list(runtime, places, batch.owner),
                       make_task_list(runtime, own, batch.owner), piece(batch), piece(batch),
                       bytes(sizeof(HermitianSums)), Data()});
    if (runtime.gpus() > 0) {
      const int gpu =
          runtime.gpu_of_part(static_cast<Index>(pieces_.size()) - 1, static_cast<Index>(batches_.size()));
      pieces_.back().x.set_gpu(gpu);
      pieces_.back().z.set_gpu(gpu);
    }
    split = std::max(split, split_work(batch.n, count, false));
    sums = std::max(sums, sums_work(count));
    krylov = std::max(krylov, submatrix_lanczos_work<F>(batch.n, count));
    columns = std::max(columns, columns_work<F, T>(batch.n, batch.width, count));
    flop_ += flop_factor<F> * std::pow(static_cast<double>(batch.n), 3) * static_cast<double>(count);
  }
  if (!runtime.any_gpus()) return;
  if (std::is_same_v<F, float>) split_work_ = Data::scratch(runtime, split);
  sums_work_ = Data::scratch(runtime, sums);
  lanczos_work_ = Data::scratch(runtime, krylov);
  columns_work_ = Data::scratch(runtime, columns);
}

namespace {

const Data* if_valid(const Data& data) noexcept {
  return data.valid() ? &data : nullptr;
}

}  // namespace

template <class T, class F>
void SubmatrixBatches<T, F>::finish() {
  const Status status = sequence_->wait();
  sequence_ = std::make_unique<Sequence>(runtime_);
  if (!status.ok()) throw IterationEnded{status};
}

template <class T, class F>
Data SubmatrixBatches<T, F>::piece(const SubmatrixBatch& batch) const {
  return Data::matrix(runtime_, batch.n, batch.n * batch.count(), sizeof(F), batch.owner);
}

template <class T, class F>
const typename SubmatrixBatches<T, F>::Space& SubmatrixBatches<T, F>::space_for(std::size_t k) {
  const SubmatrixBatch& batch = batches_[k];
  const int gpu = pieces_[k].x.gpu();
  Space& space = spaces_[runtime_.size() > 1 ? batch.owner : gpu];
  if (runtime_.any_gpus() && space.n == batch.n && space.count == batch.count()) return space;
  space = {batch.n,
           batch.count(),
           piece(batch),
           piece(batch),
           piece(batch),
           piece(batch),
           Data::matrix(runtime_, batch.n, batch.n * batch.count(), sizeof(T), batch.owner)};
  for (Data* const data : {&space.y, &space.u, &space.v, &space.w, &space.s}) data->set_gpu(gpu);
  return space;
}

/// The largest submatrices are in the first batches of each rank.
template <class T, class F>
bool SubmatrixBatches<T, F>::is_sample(std::size_t k) const noexcept {
  return k % every_ == 0 || k == 0 || batches_[k].owner != batches_[k - 1].owner;
}

template <class T, class F>
void SubmatrixBatches<T, F>::gather(std::size_t k, const Data& values, double padding, const Data& x) {
  sequence_->insert(GatherSubmatrices<T, F>{.begins = source_.begins,
                                            .blocks = source_.blocks,
                                            .values = values,
                                            .members = pieces_[k].members,
                                            .places = pieces_[k].places,
                                            .x = x,
                                            .padding = padding,
                                            .count = batches_[k].count()});
}

template <class T, class F>
void SubmatrixBatches<T, F>::multiply(std::size_t k, const Data& a, const Data& b, const Data& c,
                                      bool whole) {
  sequence_->insert(HermitianProduct<F>{.a = a,
                                        .b = b,
                                        .c = overwrite(c),
                                        .work = if_valid(split_work_),
                                        .n = batches_[k].n,
                                        .k = batches_[k].n,
                                        .count = batches_[k].count(),
                                        .whole = whole});
}

template <class T, class F>
void SubmatrixBatches<T, F>::copy(std::size_t k, double c0, double c2, const Data& y, const Data& x) {
  sequence_->insert(ShiftedCopy<F, F>{.x = x,
                                      .y = y,
                                      .sums = pieces_[k].sums,
                                      .work = if_valid(sums_work_),
                                      .c0 = c0,
                                      .c2 = c2,
                                      .count = batches_[k].count()});
}

template <class T, class F>
void SubmatrixBatches<T, F>::polynomial(std::size_t k, double c0, double c1, double c2, const Data* y,
                                        const Data& x) {
  sequence_->insert(PolynomialStep<F>{.x = x,
                                      .y = y,
                                      .sums = pieces_[k].sums,
                                      .own = pieces_[k].own,
                                      .work = if_valid(sums_work_),
                                      .c0 = c0,
                                      .c1 = c1,
                                      .c2 = c2,
                                      .count = batches_[k].count()});
}

template <class T, class F>
void SubmatrixBatches<T, F>::lanczos(std::size_t k, const Data& x, Index steps) {
  Data& tridiagonal = pieces_[k].tridiagonal;
  const Index count = batches_[k].count();
  tridiagonal =
      Data::bytes(runtime_, static_cast<std::size_t>(2 * steps * count) * sizeof(double), batches_[k].owner);
  sequence_->insert(SubmatrixLanczos<F>{.x = x,
                                        .tridiagonal = tridiagonal,
                                        .work = if_valid(lanczos_work_),
                                        .n = batches_[k].n,
                                        .count = count,
                                        .steps = steps});
}

/// The outermost of all submatrices, each end with the residual of its own.
template <class T, class F>
RitzEnds SubmatrixBatches<T, F>::ritz_ends_of_all(Index steps) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // -lowest Ritz value, -lowest bound, highest Ritz value, highest bound
  double ends[4] = {-infinity, -infinity, -infinity, -infinity};
  bool finite = true;
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    if (!is_sample(k) || !pieces_[k].tridiagonal.local()) continue;
    const HostAccess access(pieces_[k].tridiagonal, HostAccess::Mode::read);
    const double* coefficients = access.array<double>().data();
    for (Index m = 0; m < batches_[k].count() && finite; ++m, coefficients += 2 * steps) {
      finite = std::all_of(coefficients, coefficients + 2 * steps, [](double c) { return std::isfinite(c); });
      if (!finite) break;
      KrylovMatrix krylov;
      for (Index step = 0; step < steps; ++step) {
        krylov.diagonal.push_back(coefficients[step]);
        krylov.beside.push_back(coefficients[steps + step]);
        // The vectors span an invariant subspace.
        if (krylov.beside.back() <= 10 * static_cast<double>(precision<F>) *
                                        (std::abs(krylov.diagonal.front()) + krylov.beside.front()))
          break;
      }
      const RitzEnds found = ritz_ends(krylov);
      ends[0] = std::max(ends[0], -found.lowest.value);
      ends[1] = std::max(ends[1], -found.lowest.value + found.lowest.residual);
      ends[2] = std::max(ends[2], found.highest.value);
      ends[3] = std::max(ends[3], found.highest.value + found.highest.residual);
    }
  }
  if (!finite) ends[0] = infinity;
  runtime_.all_reduce_max(ends, 4);
  if (!std::all_of(ends, ends + 4, [](double end) { return std::isfinite(end); }))
    throw IterationEnded{{StatusCode::not_finite, "submatrix", 0, "numbers too large for the iterations"}};
  return {{-ends[0], ends[1] - ends[0]}, {ends[2], ends[3] - ends[2]}};
}

template <class T, class F>
SpectralInterval SubmatrixBatches<T, F>::overlap_spectrum() {
  if (!source_.overlap.valid()) return {1, 1};
  SpectralInterval found{0, 0};
  // With more steps the bounds of small eigenvalues are nearer to them.
  for (const Index steps : {8, 24, 80}) {
    for (std::size_t k = 0; k < batches_.size(); ++k) {
      if (!is_sample(k)) continue;
      const Data& y = space_for(k).y;
      gather(k, source_.overlap, 1, y);
      lanczos(k, y, steps);
    }
    const RitzEnds ends = ritz_ends_of_all(steps);
    finish();
    const double lowest = ends.lowest.value,
                 rounding = 10 * static_cast<double>(precision<F>) * ends.highest.value;
    if (!(lowest > rounding))
      throw IterationEnded{
          {StatusCode::not_positive_definite, "submatrix", 0,
           fmt::format(
               "the overlap, scaled to the identity within blocks, has an eigenvalue of at most {:.2e}",
               lowest)}};
    // A bound that says nothing: the polynomials are good enough a little outside of their interval.
    found = {std::max(lowest - ends.lowest.residual, lowest / 4), ends.highest.value + ends.highest.residual};
    if (ends.lowest.residual < lowest / 2) break;
  }
  return found;
}

/// Z, by levels; the space's y is S'.
template <class T, class F>
void SubmatrixBatches<T, F>::inverse_root(std::size_t k, const std::vector<RootLevel>& levels,
                                          const Space& space) {
  const auto& [n, count, y, u, v, w, s] = space;
  const Data& z = pieces_[k].z;
  if (levels.empty()) return copy(k, 1, 0, y, z);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto& [q, degree] = levels[level];
    const Data& factor = level == 0 ? z : v;  // q(Y)
    if (degree == 1) {
      copy(k, q[0], q[1], y, factor);
    } else {
      multiply(k, y, y, w);
      copy(k, 0, 1, w, u);
    }
    if (degree == 3) {
      // q0 + q1 Y + Y^2 (q2 + q3 Y), with Y from q2 + q3 Y
      copy(k, q[2], q[3], y, factor);
      multiply(k, u, factor, w);
      polynomial(k, q[0] - q[1] * q[2] / q[3], q[1] / q[3], 1, &w, factor);
    } else if (degree == 6) {
      // q0 + q1 Y + q2 Y^2 + Y^3 (q3 + q4 Y + q5 Y^2 + q6 Y^3), at the first level alone: v is free
      multiply(k, u, y, w);
      copy(k, 0, 1, w, v);
      copy(k, q[3], q[4], y, factor);
      polynomial(k, 0, 1, q[5], &u, factor);
      polynomial(k, 0, 1, q[6], &v, factor);
      multiply(k, v, factor, w);
      copy(k, q[0], q[1], y, factor);
      polynomial(k, 0, 1, q[2], &u, factor);
      polynomial(k, 0, 1, 1, &w, factor);
    }
    if (level > 0) {
      multiply(k, z, factor, w);
      copy(k, 0, 1, w, z);
    }
    if (level + 1 == levels.size()) break;
    multiply(k, factor, factor, w);
    copy(k, 0, 1, w, u);
    multiply(k, u, y, w);
    copy(k, 0, 1, w, y);
  }
}

template <class T, class F>
SpectralInterval SubmatrixBatches<T, F>::orthonormalise(const SpectralInterval& overlap) {
  constexpr Index steps = 16;
  const bool has_overlap = source_.overlap.valid();
  // McWeeny's step makes good what Z lacks where it is of half the precision.
  const double tolerance = (std::is_same_v<F, T> ? 4 : 16) * static_cast<double>(precision<F>);
  const auto levels = inverse_root_levels(overlap, tolerance);
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    const Data& x = pieces_[k].x;
    if (!has_overlap) {
      gather(k, source_.hamiltonian, 0, x);
    } else {
      const Space& space = space_for(k);
      gather(k, source_.overlap, 1, space.y);
      inverse_root(k, levels, space);
      gather(k, source_.hamiltonian, 0, space.u);
      multiply(k, pieces_[k].z, space.u, space.v, true);
      multiply(k, space.v, pieces_[k].z, space.w);
      copy(k, 0, 1, space.w, x);
    }
    if (is_sample(k)) lanczos(k, x, steps);
  }
  const RitzEnds ends = ritz_ends_of_all(steps);
  finish();
  return widened({ends.lowest.value - ends.lowest.residual, ends.highest.value + ends.highest.residual});
}

template <class T, class F>
void SubmatrixBatches<T, F>::shift(double c0, double c1) {
  for (std::size_t k = 0; k < batches_.size(); ++k) polynomial(k, c0, c1, 0, nullptr, pieces_[k].x);
}

template <class T, class F>
void SubmatrixBatches<T, F>::step(const StepPolynomial& c) {
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    const Data& y = space_for(k).y;
    multiply(k, pieces_[k].x, pieces_[k].x, y);
    polynomial(k, c[0], c[1], c[2], &y, pieces_[k].x);
  }
}

template <class T, class F>
HermitianSums SubmatrixBatches<T, F>::sums() {
  double all[3] = {};
  for (const Pieces& pieces : pieces_) {
    if (!pieces.sums.local()) continue;
    const HostAccess access(pieces.sums, HostAccess::Mode::read);
    for (const HermitianSums& one : access.array<HermitianSums>()) {
      all[0] += one.trace;
      all[1] += one.square;
      all[2] += one.dot;
    }
  }
  runtime_.all_reduce_sum(all, 3);
  return {all[0], all[1], all[2]};
}

template <class T, class F>
std::vector<Data> SubmatrixBatches<T, F>::columns() {
  const bool has_overlap = source_.overlap.valid();
  std::vector<Data> columns;
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    const auto& [owner, n, width, index] = batches_[k];
    const Index count = batches_[k].count();
    const Data& s = space_for(k).s;
    if (has_overlap)
      sequence_->insert(GatherSubmatrices<T, T>{.begins = source_.begins,
                                                .blocks = source_.blocks,
                                                .values = source_.overlap,
                                                .members = pieces_[k].members,
                                                .places = pieces_[k].places,
                                                .x = s,
                                                .padding = 1,
                                                .count = count});
    columns.push_back(Data::matrix(runtime_, n, width * count, sizeof(T), owner));
    columns.back().set_gpu(pieces_[k].x.gpu());
    sequence_->insert(DensityColumns<F, T>{.s = has_overlap ? &s : nullptr,
                                           .x = pieces_[k].x,
                                           .z = has_overlap ? &pieces_[k].z : nullptr,
                                           .p = columns.back(),
                                           .work = if_valid(columns_work_),
                                           .n = n,
                                           .width = width,
                                           .count = count});
    if (columns.back().local()) columns.back().fetch_to_host();
  }
  return columns;
}

#define TESSERA_INSTANTIATE(F, T) template class SubmatrixBatches<T, F>;
TESSERA_FOR_ITERATES(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
