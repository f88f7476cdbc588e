// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/band/kernels/band_storage.hpp>
#include <tessera/codelets/band/kernels/chase.hpp>

#include "band_problem.hpp"

namespace tessera {
using namespace detail;
namespace {

using kernels::ChaseKernel;
constexpr ChaseKernel all_kernels[] = {ChaseKernel::chosen, ChaseKernel::by_steps_in_shared_memory,
                                       ChaseKernel::by_sweeps};
using kernels::DeviceReflectors;
using test::DeviceArray;

template <class T>
class GpuChase : public ::testing::Test {
 protected:
  void SetUp() override { TESSERA_NEED_GPU(); }
};
TYPED_TEST_SUITE(GpuChase, test::Scalars);

template <class T>
struct Tridiagonal {
  using R = RealOf<T>;
  std::vector<R> d, e;
  std::vector<DeviceReflectors> shapes;
  std::vector<std::vector<T>> kept;
  std::vector<R> values() const {
    std::vector<R> w = d, f = e;
    f.resize(w.size());
    EXPECT_EQ(0, blas::sterf<R>(Index(w.size()), w.data(), f.data()));
    return w;
  }
};

template <class T>
testing::BandProblem<T> one_segment(Index n, Index b) {
  return testing::BandProblem<T>(n, b, ceil_div(n, 2 * b));
}

template <class T>
Tridiagonal<T> extract(testing::BandProblem<T>& p) {
  Tridiagonal<T> t;
  for (Index j = 0; j < p.n; ++j) {
    t.d.push_back(real_part(p.at(j, j)));
    if (j + 1 < p.n) t.e.push_back(real_part(p.at(j + 1, j)));
    EXPECT_FALSE(imag_part(p.at(j, j)) != 0) << j;
    if (j + 1 < p.n) {
      EXPECT_FALSE(imag_part(p.at(j + 1, j)) != 0) << j;
    }
  }
  return t;
}

template <class T>
Tridiagonal<T> chase_on_cpu(testing::BandProblem<T> p) {
  std::vector<RealOf<T>> workspace(kernels::chase_workspace<T>(p.b));
  T* segment = p.segments[0].data();
  const kernels::BandView<T> view{p.n, p.b, 0, p.width, &segment};
  kernels::chase_tile<T>(view, 0, p.n - 1, -p.n, p.n + 2 * p.b * p.n, {}, workspace.data());
  return extract(p);
}

/// Chases in ranges of `range` sweeps; group 0 keeps no reflectors.
template <class T>
Tridiagonal<T> chase_on_gpu(testing::BandProblem<T> p, Index range, Index group,
                            ChaseKernel kernel = ChaseKernel::chosen) {
  DeviceArray<T> segment(p.segments[0]);
  Tridiagonal<T> kept;
  for (Index first = 0; first + 1 < p.n; first += range) {
    const DeviceReflectors shape{p.n, p.b, first, std::min(range, p.n - 1 - first),
                                 std::max<Index>(group, 1)};
    DeviceArray<char> workspace(kernels::chase_sweeps_workspace<T>(p.n, p.b, shape.sweeps));
    const T nan(std::numeric_limits<RealOf<T>>::quiet_NaN());
    DeviceArray<T> to(std::vector<T>(group > 0 ? std::size_t(shape.size()) : 0, nan));
    kernels::launch_chase_sweeps<T>(nullptr, shape, segment.data(), group > 0 ? to.data() : nullptr,
                                    workspace.data(), kernel);
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    if (group == 0) continue;
    kept.shapes.push_back(shape);
    kept.kept.push_back(to.get());
  }
  p.segments[0] = segment.get();
  Tridiagonal<T> t = extract(p);
  t.shapes = std::move(kept.shapes);
  t.kept = std::move(kept.kept);
  return t;
}

/// x := H x or H^H x for each reflector in turn, which gives Q x or Q^H x.
template <class T>
void apply_q(const Tridiagonal<T>& t, bool adjoint, std::vector<T>& x) {
  const Index n = Index(x.size());
  Index total = 0;
  for (const auto& shape : t.shapes) total += shape.sweeps;
  for (Index step = 0; step < total; ++step) {
    const Index sweep = adjoint ? step : total - 1 - step;
    std::size_t piece = 0;
    while (t.shapes[piece].first_sweep + t.shapes[piece].sweeps <= sweep) ++piece;
    const DeviceReflectors& shape = t.shapes[piece];
    const Index j = sweep - shape.first_sweep, hops = kernels::hop_count(n, shape.bandwidth, sweep);
    for (Index k = 0; k < hops; ++k) {
      const Index hop = adjoint ? k : hops - 1 - k, row = sweep + 1 + hop * shape.bandwidth;
      const Index block = shape.first_block(j / shape.group) + hop;
      const T* const v = t.kept[piece].data() + shape.vector_offset(block, j % shape.group);
      T tau = t.kept[piece][std::size_t(shape.tau_offset(block, j % shape.group))];
      if (adjoint) tau = conjugate(tau);
      T dot = 0;
      for (Index i = 0; i < std::min(shape.bandwidth, n - row); ++i) dot += conjugate(v[i]) * x[row + i];
      for (Index i = 0; i < std::min(shape.bandwidth, n - row); ++i) x[row + i] -= tau * dot * v[i];
    }
  }
}

/// || B x - Q T Q^H x || for a random x of length sqrt(n), relative to ||B|| sqrt(n).
template <class T>
double residual(testing::BandProblem<T>& p, const Tridiagonal<T>& t) {
  std::mt19937 generator(5);
  std::vector<T> x(p.n), y(p.n), z(p.n, T(0));
  for (T& element : x) element = testing::random_scalar<T>(generator);
  double norm = 0;
  for (Index j = 0; j < p.n; ++j)
    for (Index i = j; i < std::min(p.n, j + p.b + 1); ++i) {
      z[i] += p.at(i, j) * x[j];
      if (i > j) z[j] += conjugate(p.at(i, j)) * x[i];
      norm += std::norm(p.at(i, j));
    }
  apply_q(t, true, x);
  for (Index j = 0; j < p.n; ++j) {
    y[j] = t.d[j] * x[j];
    if (j > 0) y[j] += t.e[j - 1] * x[j - 1];
    if (j + 1 < p.n) y[j] += t.e[j] * x[j + 1];
  }
  apply_q(t, false, y);
  double error = 0;
  for (Index i = 0; i < p.n; ++i) error += std::norm(y[i] - z[i]);
  return std::sqrt(error / std::max(norm, 1e-300));
}

struct Shape {
  Index n, b;
};
std::vector<Shape> shapes() {
  // The last one has more steps than fit on a GPU in shared memory, so that all kernels have a part of it.
  std::vector<Shape> all = {{1, 1}, {1, 8}, {2, 3}, {3, 5}, {33, 64}, {2300, 2}};
  for (Index n : {2, 3, 5, 33, 64, 65, 129, 200, 517, 1000})
    for (Index b : {1, 2, 3, 8, 31, 32, 33, 64, 100, 128})
      if (b < n) all.push_back({n, b});
  return all;
}

/// Eigenvalues must equal those of the CPU chase, and the reflectors must give a small residual.
template <class T>
void check_chase(const Shape& s) {
  using R = RealOf<T>;
  SCOPED_TRACE(::testing::Message() << "n " << s.n << " b " << s.b);
  auto p = one_segment<T>(s.n, s.b);
  const auto expected = chase_on_cpu(p).values();
  const R norm = std::max(std::abs(expected.front()), std::abs(expected.back()));
  // With half of it in shared memory: see SharedMemoryHoldsWhatRegistersHold.
  for (const ChaseKernel kernel : {ChaseKernel::chosen, ChaseKernel::by_sweeps}) {
    const auto t = chase_on_gpu(p, s.n, std::min<Index>(s.b, 32), kernel);
    const auto values = t.values();
    for (Index i = 0; i < s.n; ++i)
      ASSERT_NEAR(expected[i], values[i], 10 * std::sqrt(R(s.n)) * precision<T> * norm) << i;
    EXPECT_LT(residual(p, t), 10 * std::sqrt(double(s.n)) * precision<T>);
    // Entries that belong to no reflector must be written too, so no NaN remains.
    for (std::size_t i = 0; i < t.shapes.size(); ++i)
      for (const T& x : t.kept[i]) ASSERT_EQ(x, x);
  }
}

/// The result must be bitwise equal in `repeats` more runs, in ranges of sweeps, and in ranges
/// without reflectors.
template <class T>
void check_ranges(const Shape& s, int repeats, Index range, Index range_without,
                  ChaseKernel kernel = ChaseKernel::chosen) {
  SCOPED_TRACE(::testing::Message() << "n " << s.n << " b " << s.b << " kernel " << static_cast<int>(kernel));
  auto p = one_segment<T>(s.n, s.b);
  const auto t = chase_on_gpu(p, s.n, 8, kernel);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto again = chase_on_gpu(p, s.n, 8, kernel);
    EXPECT_EQ(t.d, again.d);
    EXPECT_EQ(t.e, again.e);
    EXPECT_EQ(t.kept, again.kept);
  }
  const auto ranges = chase_on_gpu(p, range, 7, kernel), without = chase_on_gpu(p, range_without, 0, kernel);
  EXPECT_EQ(t.d, ranges.d);
  EXPECT_EQ(t.e, ranges.e);
  EXPECT_EQ(t.d, without.d);
  EXPECT_EQ(t.e, without.e);
  EXPECT_LT(residual(p, ranges), 10 * std::sqrt(double(s.n)) * precision<T>);
}

/// Matrices with norms far from 1, whose squares overflow or underflow.
template <class T>
void check_scales(const Shape& s) {
  using R = RealOf<T>;
  auto p = one_segment<T>(s.n, s.b);
  const auto expected = chase_on_gpu(p, s.n, 4).values();
  for (R scale :
       {std::sqrt(std::numeric_limits<R>::max()) * R(1e-3), std::numeric_limits<R>::min() * R(1e6)}) {
    auto q = p;
    for (Index j = 0; j < s.n; ++j)
      for (Index i = j; i < std::min(s.n, j + s.b + 1); ++i) q.at(i, j) *= scale;
    auto scaled = chase_on_gpu(q, s.n, 4);
    for (R& x : scaled.d) x /= scale;
    for (R& x : scaled.e) x /= scale;
    const auto values = scaled.values();
    for (Index j = 0; j < s.n; ++j)
      EXPECT_NEAR(expected[j], values[j], 200 * precision<T> * std::abs(expected[0])) << scale;
  }
}

/// The band and the tridiagonal matrix must be gathered as on the CPU, including the first column
/// that is not finite.
template <class T>
void check_gather(const Shape& s, bool bad) {
  using R = RealOf<T>;
  const Index ld = 2 * s.b + 3, width = 2 * s.b;
  const auto size = static_cast<std::size_t>(kernels::BandLayout<T>::size(s.b, s.n));
  std::mt19937 generator(3);
  std::vector<T> from(ld * s.n), expected(size), rubbish(size, T(7));
  for (T& x : from) x = testing::random_scalar<T>(generator);
  if (bad)
    for (Index j : {s.n - 1, s.n / 2}) from[j * ld] = T(std::numeric_limits<R>::infinity());
  DeviceArray<T> source(from), segment(rubbish);
  DeviceArray<long long> found(std::vector<long long>{0});
  kernels::launch_begin_gather<T>(nullptr, segment.data());
  Index first_bad = -1;
  for (Index at = 0; at < s.n; at += width) {
    const Index count = std::min(width, s.n - at);
    kernels::launch_gather_piece<T>(nullptr, s.n, s.b, at, count, source.data() + at * ld, ld, segment.data(),
                                    at);
    const Index column =
        kernels::band_to_segment<T>(s.n, s.b, at, count, from.data() + at * ld, ld, expected.data(), at);
    if (first_bad < 0) first_bad = column;
  }
  kernels::launch_end_gather<T>(nullptr, segment.data(), found.data());
  ASSERT_EQ(first_bad + 1, found.get()[0]);
  if (bad) return;
  ASSERT_EQ(expected, segment.get());
  std::vector<R> d(s.n), e(s.n);
  kernels::segment_to_tridiagonal<T>(s.n, s.b, 0, s.n, expected.data(), d.data(), e.data());
  DeviceArray<R> device_d(d.size()), device_e(e.size());
  kernels::launch_segment_to_tridiagonal<T>(nullptr, s.n, s.b, 0, s.n, segment.data(), device_d.data(),
                                            device_e.data());
  EXPECT_EQ(d, device_d.get());
  EXPECT_EQ(e, device_e.get());
}

TYPED_TEST(GpuChase, EigenvaluesAndReflectors) {
  for (const Shape& s : shapes()) {
    check_chase<TypeParam>(s);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(GpuChase, RunsAndRangesDoNotChangeTheResult) {
  for (const Shape& s : {Shape{700, 8}, Shape{900, 64}, Shape{611, 33}, Shape{500, 128}, Shape{2300, 2}})
    for (const ChaseKernel kernel : all_kernels) check_ranges<TypeParam>(s, 3, 208, 96, kernel);
}

/// Where a step keeps its part of the band does not change a bit. Wide
/// blocks of complex<double> are chased by sweeps instead.
TYPED_TEST(GpuChase, SharedMemoryHoldsWhatRegistersHold) {
  for (const Shape& s : {Shape{900, 64}, Shape{611, 33}, Shape{500, 32}, Shape{300, 7}}) {
    if (std::is_same_v<TypeParam, std::complex<double>> && s.b > 32) continue;
    auto p = one_segment<TypeParam>(s.n, s.b);
    const auto registers = chase_on_gpu(p, s.n, 32),
               shared = chase_on_gpu(p, s.n, 32, ChaseKernel::by_steps_in_shared_memory);
    EXPECT_EQ(registers.d, shared.d);
    EXPECT_EQ(registers.e, shared.e);
    EXPECT_EQ(registers.kept, shared.kept);
  }
}

TYPED_TEST(GpuChase, SpecialMatrices) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 170;
  for (const Index b : {6, 40, 100}) {
    auto zero = one_segment<T>(n, b), diagonal = zero, tridiagonal = zero, nan = zero;
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < std::min(n, j + b + 1); ++i) {
        zero.at(i, j) = T(0);
        diagonal.at(i, j) = i == j ? T(R(j)) : T(0);
        tridiagonal.at(i, j) = i == j ? T(R(j)) : i == j + 1 ? T(R(0.5)) : T(0);
        nan.at(i, j) = T(std::numeric_limits<R>::quiet_NaN());
      }
    auto t = chase_on_gpu(zero, n, 4);
    EXPECT_EQ(std::vector<R>(n, R(0)), t.d);
    EXPECT_EQ(std::vector<R>(n - 1, R(0)), t.e);
    EXPECT_EQ(0, residual(zero, t));
    for (auto* p : {&diagonal, &tridiagonal}) {
      t = chase_on_gpu(*p, n, 4);
      for (Index j = 0; j < n; ++j) EXPECT_EQ(R(j), t.d[j]);
      EXPECT_EQ(std::vector<R>(n - 1, R(p == &diagonal ? 0 : 0.5)), t.e);
    }
    chase_on_gpu(nan, n, 4);  // must not hang
    check_scales<T>({n, b});
  }
}

TYPED_TEST(GpuChase, GatherAndExtract) {
  for (const Shape& s : {Shape{1, 1}, Shape{5, 8}, Shape{100, 7}, Shape{131, 16}})
    for (const bool bad : {false, true}) {
      check_gather<TypeParam>(s, bad);
      if (this->HasFatalFailure()) return;
    }
}

// compute-sanitizer's racecheck is hundreds of times slower than the kernels alone. Two sweeps are
// the minimum for which two thread blocks chase concurrently. The other cases use one bandwidth for
// each block size of the kernel, with several hops per sweep. The last matrix has more sweeps than
// a GPU has multiprocessors, each of which holds one block of that size, so blocks take another
// sweep after their first one.
TYPED_TEST(GpuChase, SmallEnoughForRacecheck) {
  using T = TypeParam;
  int processors = 0;
  ASSERT_EQ(cudaSuccess, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  for (const Shape& s : {Shape{3, 2}, Shape{33, 8}, Shape{40, 33}, Shape{processors + 5, 100}}) {
    check_chase<T>(s);
    if (this->HasFatalFailure()) return;
  }
  for (const ChaseKernel kernel : all_kernels) check_ranges<T>({33, 8}, 1, 13, 11, kernel);
  check_scales<T>({33, 8});
  for (const bool bad : {false, true}) {
    check_gather<T>({33, 8}, bad);
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tessera
