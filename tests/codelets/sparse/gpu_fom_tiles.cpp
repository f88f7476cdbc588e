// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/codelets/sparse/piece_problem.hpp>
#include <tests/support/device_array.hpp>
#include <tests/support/type_pairs.hpp>

#include <tessera/codelets/sparse/fom_tiles.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class P>
class GpuFomTiles : public ::testing::Test {};
TYPED_TEST_SUITE(GpuFomTiles, TypePairs);

template <class V>
struct TileProblem {
  PieceProblem<V> piece;
  std::vector<std::uint32_t> begins;
};

/// Symmetric tiles with about eight entries per row and magnitudes up to about ten.
template <class V>
TileProblem<V> tile_problem(const std::vector<std::int64_t>& tiles) {
  std::int64_t rows = 0;
  for (const std::int64_t t : tiles) rows += t;
  TileProblem<V> problem{PieceProblem<V>("diagonal tiles", rows, rows, true), {0}};
  for (const std::int64_t t : tiles) {
    const std::int64_t first = problem.begins.back();
    problem.piece.add_random_cell(first, t, first, t, 8 * t);
    problem.begins.push_back(static_cast<std::uint32_t>(first + t));
  }
  problem.piece.finish();
  return problem;
}

template <class V, class T>
std::vector<T> on_device(const TileProblem<V>& problem, int m, int steps, double shift,
                         const std::vector<T>& r, std::int64_t ldr, std::int64_t ldw, bool stored = true) {
  const DeviceHandles handles;
  const PieceProblem<V>& p = problem.piece;
  const auto tiles = static_cast<std::int64_t>(problem.begins.size()) - 1;
  const std::vector<std::int64_t> host_index = p.index();
  const DeviceArray<std::int64_t> index(host_index);
  const DeviceArray<std::uint32_t> begins(problem.begins);
  const DeviceArray<T> dr(r), w(static_cast<std::size_t>(p.rows * ldw));
  const auto scratch_bytes = static_cast<std::size_t>(fom_scratch(p.rows, tiles, m, steps, sizeof(T)).total);
  const DeviceArray<char> scratch(scratch_bytes);
  FomTiles<V, T> task{.begins = std::span<const std::uint32_t>(begins.data(), problem.begins.size()),
                      .r = MatrixView<const T>{dr.data(), ldr, p.rows, ldr},
                      .w = MatrixView<T>{w.data(), ldw, p.rows, ldw},
                      .scratch = std::span<char>(scratch.data(), scratch_bytes),
                      .shape = stored ? p.shape : CsbPieceShape{0, 0, true},
                      .rows = p.rows,
                      .tiles = tiles,
                      .columns = m,
                      .steps = steps,
                      .shift = shift};
  if (stored)
    task.index = std::span<const char>(reinterpret_cast<const char*>(index.data()), 8 * host_index.size());
  run(DeviceContext(TaskHeader{}, {handles.stream, nullptr, nullptr}), task);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  return w.get();
}

template <class V, class T>
void expect_as_on_the_cpu(const std::vector<std::int64_t>& sizes) {
  const auto problem = tile_problem<V>(sizes);
  const PieceProblem<V>& p = problem.piece;
  const auto tiles = static_cast<std::int64_t>(problem.begins.size()) - 1;
  for (const int m : {1, 3, 8, 16, 21, 32})
    for (const int steps : {1, 2, 5}) {
      const std::int64_t ldr = m + 1, ldw = m + 2;
      auto r = random_rows<T>(p.rows, ldr, 9);
      for (std::int64_t i = 4; i < 704; ++i)
        r[static_cast<std::size_t>(i * ldr)] = T(0);  // first case: a tile with zero residual
      std::vector<T> expected(static_cast<std::size_t>(p.rows * ldw), T(0)),
          basis(static_cast<std::size_t>(p.rows * m * steps));
      kernels::fom_tiles<V, T>(p.view(), tiles, problem.begins.data(), m, steps, -30.0, r.data(), ldr,
                               expected.data(), ldw, basis.data());
      const auto found = on_device<V, T>(problem, m, steps, -30.0, r, ldr, ldw);
      for (std::int64_t i = 0; i < p.rows; ++i)
        for (std::int64_t j = 0; j < ldw; ++j) {
          const auto k = static_cast<std::size_t>(i * ldw + j);
          if (j >= m) {
            ASSERT_EQ(found[k], T(0));
          } else {
            ASSERT_NEAR(found[k], expected[k], 3000 * double(precision<T>))
                << m << ' ' << steps << ' ' << i << ' ' << j;
          }
        }
      EXPECT_TRUE((on_device<V, T>(problem, m, steps, -30.0, r, ldr, ldw) == found)) << "the same bits twice";
    }
}

TYPED_TEST(GpuFomTiles, AgreesWithTheCpu) {
  TESSERA_NEED_GPU();
  expect_as_on_the_cpu<typename TypeParam::V, typename TypeParam::T>({1, 2, 1, 700, 3, 33, 1, 1500, 64});
}

/// A cluster of thread blocks processes each tile.
TYPED_TEST(GpuFomTiles, LargeTiles) {
  TESSERA_NEED_GPU();
  expect_as_on_the_cpu<typename TypeParam::V, typename TypeParam::T>({1, 2, 1, 2000, 700});
}

/// K = 0: w = r / -shift.
TYPED_TEST(GpuFomTiles, WithoutEntries) {
  TESSERA_NEED_GPU();
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const auto problem = tile_problem<V>({1, 300, 5});
  const auto r = random_rows<T>(306, 4, 9);
  const auto w = on_device<V, T>(problem, 4, 3, 2.0, r, 4, 4, false);
  for (std::size_t k = 0; k < w.size(); ++k) ASSERT_NEAR(w[k], -r[k] / 2, 20 * double(precision<T>));
}

}  // namespace
}  // namespace tessera::test
