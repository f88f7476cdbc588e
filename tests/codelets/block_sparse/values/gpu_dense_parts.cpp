// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/codelets/block_sparse/random_values.hpp>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/block_sparse/values/dense_parts.hpp>
#include <tessera/codelets/block_sparse/values/diagonal_blocks.hpp>
#include <tessera/runtime/sequence.hpp>

/// The tasks between panels and dense matrices, and the factors of blocks, on CPUs alone and on a GPU.
namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuDenseParts : public ::testing::Test {};
TYPED_TEST_SUITE(GpuDenseParts, Scalars);

constexpr Index order = 90, panel_elements = 4000;

template <class E>
Data uploaded(Runtime& runtime, const std::vector<E>& values) {
  Data data = Data::bytes(runtime, values.size() * sizeof(E));
  const HostAccess access(data, HostAccess::Mode::write);
  std::copy(values.begin(), values.end(), access.array<E>().begin());
  return data;
}

template <class E>
std::vector<E> downloaded(const Data& data) {
  const HostAccess access(data, HostAccess::Mode::read);
  const auto values = access.array<E>();
  return {values.begin(), values.end()};
}

template <class T>
Data uploaded_matrix(Runtime& runtime) {
  Data data = Data::matrix(runtime, order, order, sizeof(T));
  const HostAccess access(data, HostAccess::Mode::write);
  const MatrixView<T> a = access.matrix<T>();
  for (Index j = 0; j < order; ++j)
    for (Index i = 0; i < order; ++i) a(i, j) = random_scalar<T>(9, i, j);
  return data;
}

template <class T>
std::vector<T> downloaded_matrix(const Data& data) {
  const HostAccess access(data, HostAccess::Mode::read);
  const MatrixView<T> a = access.matrix<T>();
  std::vector<T> values;
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) values.push_back(a(i, j));
  return values;
}

/// Runs one task and says whether it was on a GPU.
template <class Insert>
void run_one(Runtime& runtime, const Insert& insert) {
  Sequence sequence(runtime);
  sequence.begin_stage("test");
  insert(sequence);
  EXPECT_TRUE(sequence.wait().ok());
  Index on_device = 0;
  for (const StageStatistics& stage : sequence.statistics().stages) on_device += stage.device_tasks;
  EXPECT_EQ(on_device > 0, runtime.gpus() > 0);
}

/// Blocks of one panel, parts of blocks and single elements, in the four ways.
std::vector<DensePart> parts_of(bool triangles) {
  std::vector<DensePart> parts{{0, 3, 4, 20, 30, 20, PartImage::straight},
                               {700, 40, 2, 5, 20, 9, PartImage::straight},
                               {1000, 60, 33, 13, 7, 20, PartImage::mirrored},
                               {1500, 0, 89, 1, 1, 1, PartImage::mirrored}};
  if (triangles) {
    parts.push_back({2000, 30, 35, 23, 17, 23, PartImage::of_lower});
    parts.push_back({2500, 50, 45, 23, 17, 24, PartImage::of_upper});
  }
  return parts;
}

template <class T>
struct Results {
  std::vector<std::vector<T>> values;
  std::vector<double> largest;
};

template <class T>
Results<T> copies(const RuntimeOptions& options) {
  Runtime runtime(options);
  Results<T> results;
  const Data panel = uploaded(runtime, random_values<T>(panel_elements, 1));
  const Data gathered = uploaded(runtime, parts_of(false)), scattered = uploaded(runtime, parts_of(true));
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::antisymmetric, Symmetry::hermitian}) {
    for (const bool add : {false, true}) {
      const Data matrix = uploaded_matrix<T>(runtime);
      run_one(runtime, [&](Sequence& s) {
        s.insert(GatherBlocks<T>{.parts = gathered,
                                 .values = panel,
                                 .matrix = add ? add_to(matrix) : overwrite(matrix),
                                 .symmetry = symmetry});
      });
      results.values.push_back(downloaded_matrix<T>(matrix));
    }
    const Data matrix = uploaded_matrix<T>(runtime);
    const Data values = uploaded(runtime, random_values<T>(panel_elements, 2));
    run_one(runtime, [&](Sequence& s) {
      s.insert(ScatterBlocks<T>{
          .parts = scattered, .matrix = matrix, .values = add_to(values), .symmetry = symmetry});
    });
    results.values.push_back(downloaded<T>(values));
  }
  for (const Uplo counted : {Uplo::general, Uplo::lower, Uplo::upper}) {
    const Data matrix = uploaded_matrix<T>(runtime);
    const Data largest = Data::bytes(runtime, parts_of(false).size() * sizeof(double));
    run_one(runtime, [&](Sequence& s) {
      s.insert(
          LargestOfParts<T>{.parts = gathered, .matrix = matrix, .largest = largest, .counted = counted});
    });
    for (const double x : downloaded<double>(largest)) results.largest.push_back(x);
  }
  return results;
}

TYPED_TEST(GpuDenseParts, LeaveWhatCpusLeave) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const Results<T> cpu = copies<T>(RuntimeOptions{.cores = 2, .gpus = 0}),
                   gpu = copies<T>(RuntimeOptions{.cores = 2, .gpus = 1});
  EXPECT_EQ(gpu.values, cpu.values);
  ASSERT_EQ(gpu.largest.size(), cpu.largest.size());
  for (std::size_t i = 0; i < cpu.largest.size(); ++i)
    EXPECT_NEAR(gpu.largest[i], cpu.largest[i], 4 * precision<T> * cpu.largest[i]);
}

/// Orders below and above what fits into shared memory, and an empty block.
std::vector<PanelBlock> diagonal_blocks() {
  std::vector<PanelBlock> blocks;
  Index offset = 0, first = 0;
  for (const std::int32_t n : {1, 5, 0, 23, 64, 13, 260, 32}) {
    const auto number = static_cast<std::int32_t>(blocks.size());
    blocks.push_back({offset, n, n, number, number, first, first});
    offset += Index(n) * n;
    first += n;
  }
  return blocks;
}

/// Hermitian blocks with a large diagonal, which `change` may spoil.
template <class T, class Change>
std::vector<T> block_values(const Change& change) {
  const auto blocks = diagonal_blocks();
  const PanelBlock& last = blocks.back();
  std::vector<T> values(static_cast<std::size_t>(last.offset + Index(last.rows) * last.rows));
  for (const PanelBlock& block : blocks) {
    const Matrix<T> a = random_hermitian<T>(block.rows, 3, 3.0 * block.rows);
    for (Index j = 0; j < block.cols; ++j)
      for (Index i = 0; i < block.rows; ++i)
        values[static_cast<std::size_t>(block.offset + i + j * block.rows)] = a(i, j);
  }
  change(values);
  return values;
}

template <class T>
Status factored(Runtime& runtime, DiagonalFactor factor, std::vector<T>& values) {
  const auto list = diagonal_blocks();
  const Data blocks = uploaded(runtime, list), panel = uploaded(runtime, values);
  const Data work = Data::scratch(runtime, factor_work_bytes(260, Index(list.size()), sizeof(T)));
  Sequence sequence(runtime);
  sequence.begin_stage("test");
  sequence.insert(FactorBlocks<T>{.blocks = blocks,
                                  .values = panel,
                                  .work = work,
                                  .factor = factor,
                                  .symmetry = Symmetry::hermitian,
                                  .largest = 260});
  const Status status = sequence.wait();
  values = downloaded<T>(panel);
  return status;
}

TYPED_TEST(GpuDenseParts, FactorsAreThoseOfCpus) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  for (const DiagonalFactor factor :
       {DiagonalFactor::inverse, DiagonalFactor::cholesky, DiagonalFactor::inverse_cholesky}) {
    auto expected = block_values<T>([](auto&) {}), found = expected;
    {
      Runtime runtime(RuntimeOptions{.cores = 2, .gpus = 0});
      EXPECT_TRUE(factored(runtime, factor, expected).ok());
    }
    Runtime runtime(RuntimeOptions{.cores = 2, .gpus = 1});
    EXPECT_TRUE(factored(runtime, factor, found).ok());
    ASSERT_EQ(found.size(), expected.size());
    // Elements are of the size of one for inverses, of the root of the diagonal for factors.
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_LE(std::abs(found[i] - expected[i]), 2000 * precision<T> * (1 + std::abs(expected[i]))) << i;
  }
}

/// The first of two bad blocks is named; NaN is never taken for a pivot.
TYPED_TEST(GpuDenseParts, TheFirstBadBlockIsNamed) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const auto blocks = diagonal_blocks();
  Runtime runtime(RuntimeOptions{.cores = 2, .gpus = 1});
  for (const T bad : {T(0), not_a_number<T>()}) {
    const auto spoil = [&](std::vector<T>& values) {
      for (const std::size_t b : {std::size_t{6}, std::size_t{3}}) {
        const auto first = static_cast<std::size_t>(blocks[b].offset);
        std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(first), blocks[b].rows, bad);
      }
    };
    auto values = block_values<T>(spoil);
    Status status = factored(runtime, DiagonalFactor::inverse, values);
    EXPECT_EQ(status.code, StatusCode::block_singular);
    EXPECT_EQ(status.index, 4);
    values = block_values<T>(spoil);
    status = factored(runtime, DiagonalFactor::cholesky, values);
    EXPECT_EQ(status.code, StatusCode::block_not_positive_definite);
    EXPECT_EQ(status.index, 4);
  }
}

}  // namespace
}  // namespace tessera::test
