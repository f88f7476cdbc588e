// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/vectors/combine.hpp>
#include <tessera/codelets/vectors/residual.hpp>
#include <tessera/runtime/device_task.hpp>

/// GPU kernels for tall and skinny blocks of vectors, against CPU kernels.
namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuVectors : public ::testing::Test {};
TYPED_TEST_SUITE(GpuVectors, Reals);

template <class T>
std::vector<T> numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < x.size(); ++k)
    x[k] = static_cast<T>(random_uniform(seed, 0, static_cast<Index>(k), 0));
  return x;
}

constexpr Index row_counts[] = {0, 1, 7, 8, 33, 257, 5000};

/// A range of columns of block number `block`.
struct Range {
  int block, first, columns;
};
struct Shape {
  std::vector<int> widths;  ///< widths of the blocks
  std::vector<Range> first, second;
};

template <class T>
struct Blocks {
  Blocks(Index rows, const std::vector<int>& widths) : widths(widths) {
    for (std::size_t b = 0; b < widths.size(); ++b) {
      host.push_back(numbers<T>(rows * widths[b], b + 1));
      device.emplace_back(host.back());
    }
  }
  template <class Element>
  std::vector<VectorBlock<Element>> ranges(const std::vector<Range>& from, bool on_device) {
    std::vector<VectorBlock<Element>> result;
    for (const Range& r : from) {
      const auto b = static_cast<std::size_t>(r.block);
      result.push_back({(on_device ? device[b].data() : host[b].data()) + r.first, widths[b], r.columns});
    }
    return result;
  }
  std::vector<int> widths;
  std::vector<std::vector<T>> host;
  std::vector<DeviceArray<T>> device;
};

TYPED_TEST(GpuVectors, Gram) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const DeviceHandles handles;
  const Shape shapes[] = {
      {{8}, {{0, 0, 8}}, {{0, 0, 8}}},
      {{1, 1}, {{0, 0, 1}}, {{1, 0, 1}}},
      {{5, 7, 9, 3}, {{0, 1, 3}, {1, 0, 7}, {2, 4, 5}}, {{3, 0, 3}, {0, 0, 5}}},
      {{32, 32, 32, 32, 32}, {{0, 0, 32}, {1, 0, 32}, {2, 0, 32}}, {{3, 0, 32}, {4, 0, 32}}},
      {{32, 32}, {{0, 0, 17}, {0, 17, 15}, {0, 0, 32}}, {{1, 3, 29}}},
      {{16, 16, 16, 16}, {{0, 0, 16}, {1, 0, 16}, {2, 0, 16}}, {{3, 0, 16}, {0, 0, 16}}}};
  for (const Shape& shape : shapes)
    for (const Index rows : row_counts) {
      Blocks<T> blocks(rows, shape.widths);
      int l = 0, r = 0;
      for (const Range& range : shape.first) l += range.columns;
      for (const Range& range : shape.second) r += range.columns;
      std::vector<double> expected(static_cast<std::size_t>(l * r));
      kernels::gram<T>(rows, blocks.template ranges<const T>(shape.first, false),
                       blocks.template ranges<const T>(shape.second, false), expected.data());
      const DeviceArray<double> g(expected.size()), again(expected.size()),
          parts(gram_parts * expected.size());
      for (const auto* to : {&g, &again})
        device::launch_gram<T>(handles.stream, rows, blocks.template ranges<const T>(shape.first, true),
                               blocks.template ranges<const T>(shape.second, true), to->data(), parts.data());
      EXPECT_EQ(cudaGetLastError(), cudaSuccess);
      const auto found = g.get();
      EXPECT_EQ(found, again.get()) << "the same bits twice";
      for (std::size_t k = 0; k < found.size(); ++k)
        ASSERT_NEAR(found[k], expected[k], 4.0 * double(rows) * precision<double>)
            << l << 'x' << r << ' ' << rows;
    }
}

TYPED_TEST(GpuVectors, CombineInPlace) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const DeviceHandles handles;
  const Shape shapes[] = {
      {{8}, {{0, 0, 8}}, {{0, 0, 8}}},
      {{1}, {}, {{0, 0, 1}}},
      {{5, 7, 9}, {{0, 1, 3}, {1, 0, 7}, {2, 4, 5}}, {{0, 0, 4}, {2, 0, 9}}},
      {{32, 32, 32, 32}, {{0, 0, 32}, {1, 0, 32}, {2, 0, 32}, {3, 0, 32}}, {{0, 0, 32}, {2, 0, 32}}},
      {{16, 16, 16}, {{0, 0, 16}, {1, 0, 13}, {2, 0, 16}}, {{0, 0, 16}, {2, 3, 13}}},
      {{32}, {{0, 5, 2}}, {{0, 0, 32}}}};
  for (const Shape& shape : shapes)
    for (const Index rows : row_counts) {
      Blocks<T> blocks(rows, shape.widths);
      int in = 0, out = 0;
      for (const Range& range : shape.first) in += range.columns;
      for (const Range& range : shape.second) out += range.columns;
      const auto c = numbers<double>(in * out, 99);
      const DeviceArray<double> device_c(c);
      std::vector<device::CombineOutput<T>> outputs;
      for (const auto& block : blocks.template ranges<T>(shape.second, true))
        outputs.push_back({block, 0, 0});
      device::launch_combine<T>(handles.stream, rows, blocks.template ranges<const T>(shape.first, true),
                                outputs, device_c.data());
      EXPECT_EQ(cudaGetLastError(), cudaSuccess);
      kernels::combine<T>(rows, blocks.template ranges<const T>(shape.first, false),
                          blocks.template ranges<T>(shape.second, false), c.data());
      for (std::size_t b = 0; b < blocks.host.size(); ++b) {
        const auto found = blocks.device[b].get();
        for (std::size_t k = 0; k < found.size(); ++k)
          ASSERT_NEAR(found[k], blocks.host[b][k], 2 * double(precision<T>) * (in + 1))
              << in << 'x' << out << ' ' << b;
      }
    }
}

TYPED_TEST(GpuVectors, CombineClearsTheRest) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const DeviceHandles handles;
  const Index rows = 77;
  const auto x = numbers<T>(rows * 3, 1);
  const DeviceArray<T> from(x), to(static_cast<std::size_t>(rows * 11));
  const DeviceArray<double> c(std::vector<double>{2, 0, 0, 0, 1, 0});  // 3 x 2
  const VectorBlock<const T> input{from.data(), 3, 3};
  const device::CombineOutput<T> output{{to.data() + 4, 11, 2}, 4, 7};
  device::launch_combine<T>(handles.stream, rows, {&input, 1}, {&output, 1}, c.data());
  const auto found = to.get();
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < 11; ++j) {
      const T expected = j == 4 ? 2 * x[std::size_t(3 * i)] : j == 5 ? x[std::size_t(3 * i + 1)] : T(0);
      ASSERT_EQ(found[std::size_t(11 * i + j)], expected) << i << ' ' << j;
    }
}

TYPED_TEST(GpuVectors, Residual) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const DeviceHandles handles;
  for (const Index rows : row_counts)
    for (const int columns : {1, 3, 8, 20, 32})
      for (const bool generalized : {false, true}) {
        Residual<T> task{};
        task.columns = columns, task.first = columns / 3, task.rows = rows;
        for (int j = 0; j < columns; ++j) task.theta[std::size_t(j)] = 0.1 * j - 1;
        const Index ldax = columns + 1, ldbx = columns, ldx = columns + 2, width = 32;
        const auto ax = numbers<T>(rows * ldax, 1), bx = numbers<T>(rows * ldbx, 2),
                   x = numbers<T>(rows * ldx, 3);
        std::vector<T> r(static_cast<std::size_t>(rows * width), T(7));
        std::vector<double> norms(residual_norms);
        const auto set = [&](const T* a_x, const T* b_x, const T* x_, T* r_, double* norms_) {
          task.ax = MatrixView<const T>{a_x, columns, rows, ldax};
          if (generalized) task.bx = MatrixView<const T>{b_x, columns, rows, ldbx};
          task.x = MatrixView<const T>{x_, columns, rows, ldx};
          task.r = MatrixView<T>{r_, width, rows, width};
          task.norms = std::span<double>(norms_, std::size_t(residual_norms));
        };
        set(ax.data(), bx.data(), x.data(), r.data(), norms.data());
        run(HostContext(TaskHeader{}), task);
        const DeviceArray<T> dax(ax), dbx(bx), dx(x), dr(r.size());
        const DeviceArray<double> dnorms(norms.size()), again(norms.size()),
            parts(residual_parts * norms.size());
        task.work = std::span<double>(parts.data(), std::size_t(residual_parts * residual_norms));
        for (const auto* to : {&dnorms, &again}) {
          set(dax.data(), dbx.data(), dx.data(), dr.data(), to->data());
          run(DeviceContext(TaskHeader{}, {handles.stream, nullptr, nullptr}), task);
        }
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
        const auto found = dr.get();
        for (std::size_t k = 0; k < found.size(); ++k)
          ASSERT_NEAR(found[k], r[k], 4 * double(precision<T>)) << k;
        const auto found_norms = dnorms.get();
        EXPECT_EQ(found_norms, again.get());
        // The summation order differs, and the terms are squares of differences. An element of A X
        // - Theta X is rounded once or, with a fused multiply-add, not at all; the error is up to
        // eps of |theta x| < 3, however small the difference.
        for (std::size_t k = 0; k < norms.size(); ++k)
          ASSERT_NEAR(found_norms[k], norms[k],
                      precision<double> * (double(rows) * norms[k] + 6 * std::sqrt(double(rows) * norms[k])))
              << k;
      }
}

}  // namespace
}  // namespace tessera::test
