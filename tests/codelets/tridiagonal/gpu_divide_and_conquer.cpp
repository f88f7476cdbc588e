// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The CUDA kernels of the divide and conquer, each against its twin on the CPU.
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <tessera/codelets/tridiagonal/deflate.hpp>
#include <tessera/codelets/tridiagonal/leaf.hpp>
#include <tessera/codelets/tridiagonal/leaf_cuda.hpp>
#include <tessera/codelets/tridiagonal/merge_cuda.hpp>
#include <tessera/codelets/tridiagonal/merge_vectors.hpp>
#include <tessera/codelets/tridiagonal/merge_vectors_cuda.hpp>
#include <tessera/codelets/tridiagonal/secular.hpp>

#include "matrices.hpp"

namespace tessera::test {
namespace {

using tridiagonal::Child;
using tridiagonal::Forest;
using tridiagonal::MergeBatch;
using tridiagonal::MergeRecord;
using tridiagonal::NodeSpectrum;
using tridiagonal::PanelOutline;

bool no_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
}

/// An array on the device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(Index count) : count_(count) {
    EXPECT_EQ(cudaMalloc(&data_, static_cast<std::size_t>(std::max<Index>(count, 1)) * sizeof(T)),
              cudaSuccess);
    // NaN in what nobody writes.
    cudaMemset(data_, 0xFF, static_cast<std::size_t>(count) * sizeof(T));
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(static_cast<Index>(host.size())) {
    cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  ~DeviceArray() { cudaFree(data_); }
  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> result(static_cast<std::size_t>(count_));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
    cudaMemcpy(result.data(), data_, result.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return result;
  }

 private:
  T* data_ = nullptr;
  Index count_;
};

/// Two children on the CPU, their merge on the GPU, and what the CPU makes of it.
struct MergeCase {
  Index m1, m2, m;
  double off_diagonal = 0, epsilon;
  std::vector<double> left, right;
  std::vector<char> expected, actual;
  std::vector<double> merged;

  template <class R>
  MergeCase(const TridiagonalKind& kind, Index left_order, Index right_order, R)
      : m1(left_order),
        m2(right_order),
        m(m1 + m2),
        left(3 * m1),
        right(3 * m2),
        expected(MergeRecord::bytes(m)),
        actual(expected.size()) {
    const auto t = make_tridiagonal<R>(kind, m);
    std::vector<double> d(m), e(m);
    int exponent = 0;
    kernels::scale_and_cut(m, t.d.data(), t.e.data(), m, d.data(), e.data(), &exponent);
    off_diagonal = e[m1 - 1];
    d[m1 - 1] -= std::abs(off_diagonal);
    d[m1] -= std::abs(off_diagonal);
    std::vector<char> scratch(kernels::subtree_scratch_bytes(m));
    epsilon = std::numeric_limits<R>::epsilon();
    kernels::subtree_values(m1, d.data(), e.data(), epsilon, true, NodeSpectrum(left.data(), m1),
                            scratch.data());
    kernels::subtree_values(m2, d.data() + m1, e.data() + m1, epsilon, true, NodeSpectrum(right.data(), m2),
                            scratch.data());
    std::vector<double> reals(kernels::deflate_real_scratch(m));
    std::vector<Index> integers(kernels::deflate_index_scratch(m));
    MergeRecord record(expected.data(), m);
    kernels::deflate(NodeSpectrum(left.data(), m1), m1, NodeSpectrum(right.data(), m2), m2, off_diagonal,
                     epsilon, record, reals.data(), integers.data());
    run_on_gpu(e);
  }

  void run_on_gpu(const std::vector<double>& e) {
    const DeviceArray<double> de(e), dl(left), dr(right), dm(3 * m),
        scratch(tridiagonal::merge_scratch_doubles(m));
    const DeviceArray<char> record(static_cast<Index>(actual.size()));
    const MergeBatch batch{.forest = {m, m, m},
                           .pieces = 2,
                           .cut = m1,
                           .e = de.data(),
                           .left = dl.data(),
                           .right = dr.data() - 3 * m1,
                           .merged = dm.data(),
                           .records = record.data(),
                           .scratch = scratch.data(),
                           .epsilon = epsilon};
    kernels::launch_merge(nullptr, batch, true, true);
    actual = record.host();
    merged = dm.host();
  }
  MergeRecord cpu() { return MergeRecord(expected.data(), m); }
  MergeRecord gpu() { return MergeRecord(actual.data(), m); }
};

void expect_close(const double* a, const double* b, Index count, double tolerance, const char* what) {
  for (Index i = 0; i < count; ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i]))) << what << " " << i << " of " << count;
}
void expect_equal(const Index* a, const Index* b, Index count, const char* what) {
  for (Index i = 0; i < count; ++i) ASSERT_EQ(a[i], b[i]) << what << " " << i << " of " << count;
}

/// What any orthogonal turning of columns keeps: the trace, and the lengths of z and of the boundary rows;
/// and that slots are a permutation and poles ascend.
void check_invariants(MergeCase& c) {
  const MergeRecord gpu = c.gpu();
  double trace = 0, z2 = 0, first2 = 0, last2 = 0, turned_trace = 0, turned_z2 = 0, turned_first2 = 0,
         turned_last2 = 0;
  for (Index i = 0; i < c.m; ++i) {
    const bool left = i < c.m1;
    const double* child = left ? c.left.data() : c.right.data();
    const Index order = left ? c.m1 : c.m2, j = left ? i : i - c.m1;
    trace += child[j];
    z2 += 0.5 * std::pow(child[left ? 2 * order + j : order + j], 2);
    (left ? first2 : last2) += std::pow(child[left ? order + j : 2 * order + j], 2);
  }
  std::vector<bool> seen(c.m, false);
  for (Index s = 0; s < c.m; ++s) {
    turned_trace += gpu.value[s];
    turned_first2 += gpu.first_row[s] * gpu.first_row[s];
    turned_last2 += gpu.last_row[s] * gpu.last_row[s];
    ASSERT_FALSE(seen[gpu.slot_column[s]]);
    seen[gpu.slot_column[s]] = true;
  }
  for (Index i = 0; i < gpu.poles(); ++i) {
    turned_z2 += gpu.z[i] * gpu.z[i];
    ASSERT_EQ(gpu.value[gpu.pole_slot[i]], gpu.pole[i]);
    if (i > 0) {
      ASSERT_LT(gpu.pole[i - 1], gpu.pole[i]);
    }
  }
  ASSERT_NEAR(turned_trace, trace, 1e-13 * double(c.m));
  const double dropped = 32 * c.epsilon / gpu.header->coupling;  // of a z, at most
  ASSERT_LE(turned_z2, z2 + 1e-12 * double(c.m));
  ASSERT_GE(turned_z2, z2 - double(c.m) * (dropped * dropped + 1e-12));
  ASSERT_NEAR(turned_first2, first2, 1e-13 * double(c.m));
  ASSERT_NEAR(turned_last2, last2, 1e-13 * double(c.m));
  for (Index r = 0; r < gpu.header->rotations; ++r)
    ASSERT_NEAR(std::hypot(gpu.cosine[r], gpu.sine[r]), 1.0, 1e-15);
}

void check_deflation(MergeCase& c) {
  const MergeRecord cpu = c.cpu(), gpu = c.gpu();
  ASSERT_EQ(gpu.header->left, c.m1);
  ASSERT_EQ(gpu.header->right, c.m2);
  ASSERT_EQ(gpu.header->status, 0);
  ASSERT_EQ(gpu.header->coupling, cpu.header->coupling);
  check_invariants(c);
  // Where many d are equal, rounding decides how a chain of rotations runs; else the records are the same.
  bool same_rotations = gpu.poles() == cpu.poles() && gpu.header->rotations == cpu.header->rotations;
  for (Index r = 0; same_rotations && r < cpu.header->rotations; ++r)
    same_rotations = std::abs(gpu.cosine[r] - cpu.cosine[r]) < 1e-9;
  if (!same_rotations) {
    ASSERT_GT(cpu.header->rotations, 0);
    ASSERT_LE(std::abs(gpu.poles() - cpu.poles()), 1 + cpu.header->rotations / 50);
    return;
  }
  expect_equal(gpu.header->pole_group, cpu.header->pole_group, 3, "pole group");
  expect_equal(gpu.header->deflated_group, cpu.header->deflated_group, 3, "deflated group");
  const Index poles = cpu.poles(), rotations = cpu.header->rotations;
  const double few = 64 * 0x1p-52 * std::sqrt(double(c.m));
  expect_close(gpu.pole, cpu.pole, poles, few, "pole");
  expect_close(gpu.z, cpu.z, poles, few, "z");
  expect_equal(gpu.pole_slot, cpu.pole_slot, poles, "slot of pole");
  expect_close(gpu.cosine, cpu.cosine, rotations, 1e-9, "cosine");
  expect_close(gpu.sine, cpu.sine, rotations, 1e-9, "sine");
  // Deflated columns of equal value may change places where rotations differ by rounding: compare by column.
  std::vector<Index> slot_of(c.m, -1), same(c.m);
  for (Index s = 0; s < c.m; ++s) slot_of[gpu.slot_column[s]] = s;
  for (Index s = 0; s < c.m; ++s) {
    same[s] = slot_of[cpu.slot_column[s]];
    ASSERT_GE(same[s], 0);
    ASSERT_NEAR(gpu.value[same[s]], cpu.value[s], few) << "value " << s;
    ASSERT_NEAR(gpu.first_row[same[s]], cpu.first_row[s], 1e-9) << "first row " << s;
    ASSERT_NEAR(gpu.last_row[same[s]], cpu.last_row[s], 1e-9) << "last row " << s;
  }
  for (Index r = 0; r < rotations; ++r) {
    ASSERT_EQ(gpu.rotation_x[r], same[cpu.rotation_x[r]]);
    ASSERT_EQ(gpu.rotation_y[r], same[cpu.rotation_y[r]]);
  }
  for (Index i = 1; i < c.m - poles; ++i)
    ASSERT_LE(gpu.value[gpu.deflated[i - 1]], gpu.value[gpu.deflated[i]]);
}

/// |f| at each root in long double against the rounding error that the iteration allows.
void check_roots(MergeCase& c) {
  const MergeRecord r = c.gpu();
  const Index poles = r.poles(), step = std::max<Index>(1, poles / 200);
  for (Index k = 0; k < poles; k += k + 1 + step < poles ? step : 1) {
    const long double base = r.base[k], offset = r.offset[k];
    const Index right = std::min(k + 1, poles - 1);
    ASSERT_TRUE(r.base[k] == r.pole[k] ? offset > 0 : r.base[k] == r.pole[right] && offset < 0);
    if (right > k) {
      ASSERT_GT(r.base[k] - r.pole[k] + r.offset[k], 0);
      ASSERT_LT(r.base[k] - r.pole[right] + r.offset[k], 0);
    }
    long double f = 1.0L / r.header->coupling, size = f, slope = 0;
    for (Index i = 0; i < poles; ++i) {
      const long double x = (r.pole[i] - base) - offset, t = r.z[i] / x;
      f += r.z[i] * t;
      size += 8 * std::abs(r.z[i] * t);
      slope += t * t;
    }
    ASSERT_LE(std::abs(f), 4 * 0x1p-52L * (size + std::abs(offset) * slope))
        << "root " << k << " of " << poles;
  }
}

void check_weights_rows_and_order(MergeCase& c) {
  const MergeRecord gpu = c.gpu();
  const Index poles = gpu.poles();
  std::vector<double> weights(poles), first(poles), last(poles), values(3 * c.m);
  kernels::secular_weights(gpu, 0, poles, weights.data());
  for (Index i = 0; i < poles; ++i)
    ASSERT_NEAR(gpu.weight[gpu.pole_slot[i]], weights[i],
                8 * 0x1p-52 * double(poles + 8) * std::abs(weights[i]));
  kernels::secular_rows(gpu, 0, poles, first.data(), last.data());
  expect_close(gpu.root_first, first.data(), poles, 1e-13 * std::sqrt(double(c.m)), "first row of root");
  expect_close(gpu.root_last, last.data(), poles, 1e-13 * std::sqrt(double(c.m)), "last row of root");
  std::vector<char> copy = c.actual;
  MergeRecord again(copy.data(), c.m);
  kernels::order_spectrum(again, true, NodeSpectrum(values.data(), c.m));
  expect_equal(gpu.output, again.output, c.m, "output");
  for (Index i = 0; i < 3 * c.m; ++i) ASSERT_EQ(c.merged[i], values[i]) << i;
}

template <class R>
class GpuMerge : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GpuMerge, Reals);

TYPED_TEST(GpuMerge, RecordsAreThoseOfTheCpu) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  for (const auto& kind : tridiagonal_kinds<TypeParam>())
    for (const auto& [m1, m2] :
         {std::pair<Index, Index>{1, 1}, {2, 1}, {17, 33}, {100, 99}, {512, 513}, {1500, 1333}}) {
      SCOPED_TRACE(kind.name + ", " + std::to_string(m1) + " + " + std::to_string(m2));
      MergeCase c(kind, m1, m2, TypeParam(0));
      check_deflation(c);
      check_roots(c);
      check_weights_rows_and_order(c);
      if (this->HasFatalFailure()) return;
    }
}

template <class R>
std::vector<R> random_numbers(Index count, unsigned seed) {
  std::vector<R> x(static_cast<std::size_t>(count));
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (R& v : x) v = static_cast<R>(uniform(generator));
  return x;
}

/// pack_rows, secular_vectors, the product and spread_columns of output columns [begin, end), both ways.
template <class R>
void check_update(MergeCase& c, Child child, Index rows, Index begin, Index end, cublasHandle_t cublas) {
  const Index columns = child == Child::left ? c.m1 : c.m2, width = std::max<Index>(1, columns / 3),
              ldt = rows + 3;
  const MergeRecord record = c.gpu();
  const auto input = random_numbers<R>(ldt * columns, 7);
  std::vector<const R*> tiles, device_tiles;
  const DeviceArray<R> device_input(input);
  for (Index j = 0; j < columns; j += width) {
    tiles.push_back(input.data() + j * ldt);
    device_tiles.push_back(device_input.data() + j * ldt);
  }
  const DeviceArray<char> device_record(c.actual);
  const DeviceArray<PanelOutline> outline(1);
  kernels::launch_outline(nullptr, c.m, device_record.data(), begin, end, outline.data());
  const PanelOutline o = outline.host()[0];
  const auto [first, count] = record.roots_of(begin, end);
  ASSERT_EQ(o.roots.count, count);
  if (count > 0) {
    ASSERT_EQ(o.roots.first, first);
  }
  ASSERT_EQ(o.header.packed_columns(child), record.header->packed_columns(child));

  const Index ldp = rows + 1, lds = record.poles() + 2, ldo = rows + 2;
  std::vector<R> packed(ldp * c.m), s(lds * std::max<Index>(count, 1), R(0)), out(ldo * (end - begin), R(0));
  kernels::pack_rows(record, child, rows, tiles.data(), width, ldt, packed.data(), ldp);
  kernels::secular_vectors(record, first, first + count, s.data(), lds);
  kernels::update_rows(record, child, rows, packed.data(), ldp, begin, end, s.data(), lds, out.data(), ldo);

  const DeviceArray<R> dp(ldp * c.m), ds(lds * std::max<Index>(count, 1)), dout(ldo * (end - begin));
  kernels::launch_pack_rows<R>(nullptr, c.m, device_record.data(), child, rows, device_tiles.data(),
                               static_cast<Index>(device_tiles.size()), width, ldt, dp.data(), ldp);
  kernels::launch_secular_vectors<R>(nullptr, c.m, device_record.data(), o.header.poles, o.roots.first, count,
                                     ds.data(), lds);
  const auto gp = dp.host();
  const auto gs = ds.host();
  const double eps = std::numeric_limits<R>::epsilon(),
               rotated = 4 * eps * (2 + double(record.header->rotations));
  for (Index j = 0; j < record.header->packed_columns(child); ++j)
    for (Index i = 0; i < rows; ++i)
      ASSERT_NEAR(gp[j * ldp + i], packed[j * ldp + i], rotated) << "packed " << i << "," << j;
  for (Index j = 0; j < count; ++j)
    for (Index i = 0; i < record.poles(); ++i)
      ASSERT_NEAR(gs[j * lds + i], s[j * lds + i], 16 * eps * std::abs(s[j * lds + i]) + 1e-300)
          << "secular " << i << "," << j;
  const Index inner = o.header.pole_slots(child);
  const R one = 1, zero = 0;
  if (count > 0 && inner > 0) {
    const R* sp = ds.data() + o.header.first_pole_slot(child);
    if constexpr (sizeof(R) == 8)
      cublasDgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, int(rows), int(count), int(inner), &one, dp.data(),
                  int(ldp), sp, int(lds), &zero, dout.data(), int(ldo));
    else
      cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, int(rows), int(count), int(inner), &one, dp.data(),
                  int(ldp), sp, int(lds), &zero, dout.data(), int(ldo));
  }
  kernels::launch_spread_columns<R>(nullptr, c.m, device_record.data(), child, rows, dp.data(), ldp, begin,
                                    end, o.roots.first, inner > 0 ? count : 0, dout.data(), ldo);
  const auto result = dout.host();
  for (Index j = 0; j < end - begin; ++j)
    for (Index i = 0; i < rows; ++i)
      ASSERT_NEAR(result[j * ldo + i], out[j * ldo + i], rotated + 8 * eps * std::sqrt(double(c.m)))
          << "out " << i << "," << j;
}

TYPED_TEST(GpuMerge, RowsAreThoseOfTheCpu) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  cublasHandle_t cublas;
  cublasCreate(&cublas);
  for (const auto& kind : tridiagonal_kinds<TypeParam>())
    for (const auto& [m1, m2] : {std::pair<Index, Index>{1, 1}, {17, 33}, {299, 320}}) {
      SCOPED_TRACE(kind.name + ", " + std::to_string(m1) + " + " + std::to_string(m2));
      MergeCase c(kind, m1, m2, TypeParam(0));
      const Index m = m1 + m2;
      for (Child child : {Child::left, Child::right}) {
        check_update<TypeParam>(c, child, 45, 0, m, cublas);
        check_update<TypeParam>(c, child, 33, m / 3, m, cublas);
        check_update<TypeParam>(c, child, 1, m / 2, m / 2 + 1, cublas);
      }
      if (this->HasFatalFailure()) break;
    }
  cublasDestroy(cublas);
}

/// All leaves of a matrix cut at multiples of `leaf`, as a forest with a stride; checked one by one.
template <class R>
void check_leaves(const TridiagonalKind& kind, Index n, Index leaf, bool gaps) {
  SCOPED_TRACE(kind.name + ", " + std::to_string(n) + " in " + std::to_string(leaf));
  const auto t = make_tridiagonal<R>(kind, n);
  const DeviceArray<R> d(t.d), e(t.e);
  const DeviceArray<double> scaled(2 * n + 1);
  const DeviceArray<long long> failure(std::vector<long long>(1, 0));
  kernels::launch_scale_and_cut<R>(nullptr, n, d.data(), e.data(), leaf, scaled.data(), scaled.data() + n,
                                   scaled.data() + 2 * n, failure.data());
  const auto scaled_host = scaled.host();
  std::vector<double> cd(n), ce(n);
  int exponent = 0;
  kernels::scale_and_cut(n, t.d.data(), t.e.data(), leaf, cd.data(), ce.data(), &exponent);
  for (Index i = 0; i < n; ++i) ASSERT_EQ(scaled_host[i], cd[i]);
  for (Index i = 0; i + 1 < n; ++i) ASSERT_EQ(scaled_host[n + i], ce[i]);
  ASSERT_EQ(scaled_host[2 * n], double(exponent));
  // With gaps: every second leaf.
  const Index stride = gaps ? 2 * leaf : leaf;
  Index rows = 0;
  std::vector<Index> starts;
  for (Index start = 0; start < n; start += stride) {
    starts.push_back(start);
    rows = static_cast<Index>(starts.size() - 1) * leaf + std::min(leaf, n - start);
  }
  const Forest forest{rows, leaf, stride};
  ASSERT_EQ(forest.trees(), static_cast<Index>(starts.size()));
  const double epsilon = std::numeric_limits<R>::epsilon();
  const DeviceArray<char> scratch(static_cast<Index>(tridiagonal::forest_scratch_bytes(forest, true)));
  const kernels::LeafForest leaves{forest, scaled.data(), scaled.data() + n, epsilon, failure.data()};
  const DeviceArray<double> values(3 * rows);
  kernels::launch_leaf_values(nullptr, leaves, true, values.data(), scratch.data());
  const auto all_values = values.host();
  std::vector<DeviceArray<double>> spectra;
  std::vector<DeviceArray<R>> q;
  std::vector<double*> spectrum_pointers;
  std::vector<R*> q_pointers;
  std::vector<Index> ld;
  for (Index tree = 0; tree < forest.trees(); ++tree) {
    const Index r = forest.tree_rows(tree);
    spectrum_pointers.push_back(spectra.emplace_back(3 * r).data());
    ld.push_back(r + tree % 2);
    q_pointers.push_back(q.emplace_back(ld.back() * r).data());
  }
  kernels::launch_leaf_vectors<R>(nullptr, leaves, spectrum_pointers.data(), q_pointers.data(), ld.data(),
                                  scratch.data());
  ASSERT_EQ(failure.host()[0], 0);
  for (Index tree = 0; tree < forest.trees(); ++tree) {
    const Index r = forest.tree_rows(tree), start = starts[tree], l = ld[tree];
    const auto spectrum = spectra[tree].host();
    const auto padded = q[tree].host();
    Tridiagonal<R> piece{std::vector<R>(r), std::vector<R>(r - 1)};
    std::vector<R> w(r), vectors(r * r), w2(r);
    for (Index i = 0; i < r; ++i)
      piece.d[i] = static_cast<R>(cd[start + i]), w[i] = static_cast<R>(spectrum[i]);
    for (Index i = 0; i + 1 < r; ++i) piece.e[i] = static_cast<R>(ce[start + i]);
    for (Index i = 0; i < r; ++i) w2[i] = static_cast<R>(all_values[3 * tree * leaf + i]);
    for (Index j = 0; j < r; ++j)
      for (Index i = 0; i < r; ++i) vectors[j * r + i] = padded[j * l + i];
    // Errors are small beside the whole matrix, whose largest element is about 1 now, not beside a leaf.
    const double bound = 4.0 * std::max(1.0, 0.5 / static_cast<double>(norm(piece)));
    if (norm(piece) > 0) {
      ASSERT_TRUE(values_within(piece, w, bound)) << "leaf " << tree;
      ASSERT_TRUE(values_within(piece, w2, bound)) << "leaf " << tree;
    }
    const auto errors = vector_errors(piece, w, vectors);
    ASSERT_LT(errors.residual, bound) << "leaf " << tree;
    ASSERT_LT(errors.orthogonality, 4.0) << "leaf " << tree;
    for (Index j = 0; j < r; ++j) {
      ASSERT_NEAR(spectrum[r + j], double(vectors[j * r]), 100 * epsilon) << "first row " << j;
      ASSERT_NEAR(spectrum[2 * r + j], double(vectors[j * r + r - 1]), 100 * epsilon) << "last row " << j;
    }
  }
}

TYPED_TEST(GpuMerge, LeavesAreSolved) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  for (const auto& kind : tridiagonal_kinds<TypeParam>()) {
    for (Index n : {1, 2, 3, 31, 32, 33, 65, 200, 515}) check_leaves<TypeParam>(kind, n, n, false);
    check_leaves<TypeParam>(kind, 300, 96, false);
    check_leaves<TypeParam>(kind, 513, 64, true);
    check_leaves<TypeParam>(kind, 257, 64, false);
    if (this->HasFatalFailure()) return;
  }
  check_leaves<TypeParam>(tridiagonal_kinds<TypeParam>()[1], 1024, 1024, false);
}

TYPED_TEST(GpuMerge, ValuesOfLargerOrders) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  for (const auto& kind : tridiagonal_kinds<TypeParam>())
    for (Index n : {1001, 2999}) {
      SCOPED_TRACE(kind.name + ", " + std::to_string(n));
      const auto t = make_tridiagonal<TypeParam>(kind, n);
      const DeviceArray<TypeParam> d(t.d), e(t.e), w(n);
      const DeviceArray<double> scaled(2 * n + 1), spectra(3 * n);
      const DeviceArray<long long> failure(std::vector<long long>(1, 0));
      const DeviceArray<char> scratch(
          static_cast<Index>(tridiagonal::forest_scratch_bytes({n, n, n}, false)));
      kernels::launch_scale_and_cut<TypeParam>(nullptr, n, d.data(), e.data(), n, scaled.data(),
                                               scaled.data() + n, scaled.data() + 2 * n, failure.data());
      kernels::launch_leaf_values(nullptr,
                                  {{n, n, n},
                                   scaled.data(),
                                   scaled.data() + n,
                                   double(std::numeric_limits<TypeParam>::epsilon()),
                                   failure.data()},
                                  false, spectra.data(), scratch.data());
      kernels::launch_unscale<TypeParam>(nullptr, n, spectra.data(), scaled.data() + 2 * n, w.data());
      ASSERT_TRUE(values_within(t, w.host(), 4.0));
      ASSERT_EQ(failure.host()[0], 0);
    }
}

TYPED_TEST(GpuMerge, NumbersThatAreNotFiniteAreFound) {
  if (no_gpu()) GTEST_SKIP() << "no GPU";
  const Index n = 100;
  for (double bad : {std::nan(""), HUGE_VAL}) {
    std::vector<TypeParam> d(n, 1), e(n - 1, 1);
    e[70] = static_cast<TypeParam>(bad);
    d[90] = static_cast<TypeParam>(bad);
    const DeviceArray<TypeParam> dd(d), de(e);
    const DeviceArray<double> scaled(2 * n + 1), spectra(3 * n);
    const DeviceArray<long long> failure(std::vector<long long>(1, 0));
    kernels::launch_scale_and_cut<TypeParam>(nullptr, n, dd.data(), de.data(), n, scaled.data(),
                                             scaled.data() + n, scaled.data() + 2 * n, failure.data());
    ASSERT_EQ(failure.host()[0], 71);
    // And inside: it ends, and says so.
    std::vector<double> raw(2 * n + 1, 0.5);
    raw[50] = bad;
    const DeviceArray<double> broken(raw);
    const DeviceArray<long long> later(std::vector<long long>(1, 0));
    const DeviceArray<char> scratch(static_cast<Index>(tridiagonal::forest_scratch_bytes({n, n, n}, false)));
    kernels::launch_leaf_values(nullptr, {{n, n, n}, broken.data(), broken.data() + n, 0x1p-52, later.data()},
                                true, spectra.data(), scratch.data());
    ASSERT_EQ(later.host()[0], 1);
  }
}

}  // namespace
}  // namespace tessera::test
