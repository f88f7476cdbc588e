// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The CUDA kernels that merge two halves, each against its CPU counterpart.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/divide_and_conquer/kernels/deflate.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_vectors.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>

#include "matrices.hpp"

namespace tessera::test {
using namespace detail;
namespace {

using divide_and_conquer::Child;
using divide_and_conquer::MergeBatch;
using divide_and_conquer::MergeRecord;
using divide_and_conquer::NodeSpectrum;
using divide_and_conquer::PanelOutline;

/// Two children from the CPU, their merge on the GPU, and the same merge on the CPU.
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
        scratch(divide_and_conquer::merge_scratch_doubles(m));
    const DeviceArray<char> record(actual.size());
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
    actual = record.get();
    merged = dm.get();
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

/// Orthogonal rotations of columns must preserve the trace and the norms of z and of the boundary
/// rows. Slots must be a permutation, and poles must ascend.
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
  const double dropped = 32 * c.epsilon / gpu.header->coupling;  // bound for a dropped z
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
  // If many d are equal, rounding decides the order of the rotations; otherwise the records must be
  // equal.
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
  // Deflated columns with equal values may swap if rotations differ by rounding, so columns are
  // compared.
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

/// |f| at each root in long double must be below the rounding error that the iteration permits.
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
TYPED_TEST_SUITE(GpuMerge, Reals);

TYPED_TEST(GpuMerge, RecordsAreThoseOfTheCpu) {
  TESSERA_NEED_GPU();
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

/// pack_rows, secular_vectors, the product and spread_columns of output columns [begin, end), on
/// GPU and CPU.
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
  const PanelOutline o = outline.get()[0];
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
  const auto gp = dp.get();
  const auto gs = ds.get();
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
  const auto result = dout.get();
  for (Index j = 0; j < end - begin; ++j)
    for (Index i = 0; i < rows; ++i)
      ASSERT_NEAR(result[j * ldo + i], out[j * ldo + i], rotated + 8 * eps * std::sqrt(double(c.m)))
          << "out " << i << "," << j;
}

TYPED_TEST(GpuMerge, RowsAreThoseOfTheCpu) {
  TESSERA_NEED_GPU();
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

}  // namespace
}  // namespace tessera::test
