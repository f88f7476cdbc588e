// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <gtest/gtest.h>
#include <tests/codelets/csb/piece_problem.hpp>

/// The index of GPUs, walked as the kernel walks it, by plain loops.
namespace tessera::test {
namespace {

template <class V>
class CsbIndex : public ::testing::Test {};
using Values = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CsbIndex, Values);

template <class V>
struct IndexView {
  explicit IndexView(const std::vector<std::int64_t>& index)
      : memory(reinterpret_cast<const char*>(index.data())),
        header(*reinterpret_cast<const CsbIndexHeader*>(memory)),
        strips(reinterpret_cast<const CsbStrip*>(memory + header.strips_offset)),
        starts(reinterpret_cast<const CsbWarpStart*>(memory + header.starts_offset)),
        windows(reinterpret_cast<const std::uint32_t*>(memory + header.windows_offset)),
        steps(reinterpret_cast<const CsbWarpSteps*>(memory + header.steps_offset)),
        values(reinterpret_cast<const V*>(memory + header.values_offset)),
        coordinates(reinterpret_cast<const std::uint16_t*>(memory + header.coordinates_offset)) {}
  const char* memory;
  const CsbIndexHeader& header;
  const CsbStrip* strips;
  const CsbWarpStart* starts;
  const std::uint32_t* windows;
  const CsbWarpSteps* steps;
  const V* values;
  const std::uint16_t* coordinates;
};

/// What a warp leaves in its rows of Y, y_I or y_J; `entries` counts those that it meets.
template <class V>
void walk_warp(const IndexView<V>& index, std::int64_t s, std::int64_t warp, int m,
               const std::vector<double>& x, std::vector<double>& y, std::int64_t& entries) {
  const CsbStrip& strip = index.strips[s];
  CsbWarpStart at = index.starts[s * index.header.strip_warps + warp];
  std::vector<double> sums(static_cast<std::size_t>(csb_warp_rows * m), 0.0);
  for (std::uint32_t w = 0; w < strip.windows; ++w) {
    const std::int64_t window = strip.first_window + w;
    if (w > 0) {
      EXPECT_GT(index.windows[window], index.windows[window - 1]) << "windows ascend";
    }
    for (std::int64_t q = 0; q < csb_warp_slices; ++q) {
      const std::int64_t steps = index.steps[window * index.header.strip_warps + warp].of_slice[q];
      std::int64_t longest = 0;
      for (std::int64_t place = 0; place < csb_slice_rows; ++place) {
        std::int64_t length = 0;
        for (std::int64_t k = 0; k < (steps + csb_coordinate_steps - 1) / csb_coordinate_steps * 4; ++k) {
          const std::uint16_t coordinate =
              index.coordinates[((at.coordinates + k / csb_coordinate_steps) * csb_slice_rows + place) *
                                    csb_coordinate_steps +
                                k % csb_coordinate_steps];
          if (coordinate == csb_no_entry) {
            if (k < steps) {
              EXPECT_EQ(index.values[(at.step + k) * csb_slice_rows + place], 0);
            }
            continue;
          }
          ASSERT_LT(k, steps);
          EXPECT_EQ(k, length) << "a row's entries are its first places";
          ++length;
          const std::int64_t row = q * csb_slice_rows + place, from = index.windows[window] + coordinate;
          ASSERT_LT(warp * csb_warp_rows + row, strip.rows);
          for (int j = 0; j < m; ++j)
            sums[static_cast<std::size_t>(row * m + j)] +=
                double(index.values[(at.step + k) * csb_slice_rows + place]) *
                x[static_cast<std::size_t>(from * m + j)];
        }
        entries += length;
        longest = std::max(longest, length);
      }
      EXPECT_EQ(longest, steps) << "no more places than the longest row needs";
      at.step += steps;
      at.coordinates += (steps + csb_coordinate_steps - 1) / csb_coordinate_steps;
    }
  }
  for (std::int64_t i = 0; i < csb_warp_rows && warp * csb_warp_rows + i < strip.rows; ++i)
    for (int j = 0; j < m; ++j) {
      double& to = y[static_cast<std::size_t>((strip.first_row + warp * csb_warp_rows + i) * m + j)];
      EXPECT_TRUE(std::isnan(to)) << "every row is in one strip";
      to = sums[static_cast<std::size_t>(i * m + j)];
    }
}

TYPED_TEST(CsbIndex, WalkGivesTheProduct) {
  using V = TypeParam;
  constexpr int m = 3;
  for (const auto& p : piece_problems<V>()) {
    SCOPED_TRACE(p.name);
    const auto memory = p.index();
    const IndexView<V> index(memory);
    EXPECT_EQ(static_cast<std::size_t>(index.header.total), memory.size() * 8);
    const std::int64_t others = p.shape.on_diagonal ? 0 : p.columns, warps = csb_strip_warps(p.rows + others);
    EXPECT_EQ(index.header.strip_warps, warps);
    EXPECT_EQ(index.header.strip_count, csb_strips(p.rows, warps) + csb_strips(others, warps));
    const auto x_columns = random_rows<double>(p.columns, m, 1), x_rows = random_rows<double>(p.rows, m, 2);
    std::vector<double> y[2];
    const int sides = p.shape.on_diagonal ? 1 : 2;
    for (int side = 0; side < sides; ++side)
      y[side].assign(static_cast<std::size_t>((side ? p.columns : p.rows) * m),
                     std::numeric_limits<double>::quiet_NaN());
    std::int64_t windows = 0, entries = 0, before = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t s = 0; s < index.header.strip_count; ++s) {
      const int side = index.strips[s].side;
      std::int64_t work = 0;
      for (std::int64_t warp = 0; warp < index.header.strip_warps; ++warp)
        walk_warp(index, s, warp, m, side == 0 ? x_columns : x_rows, y[side], work);
      EXPECT_LE(work, before) << "those with most work begin first";
      before = work;
      entries += work;
      windows += index.strips[s].windows;
    }
    EXPECT_EQ(windows, index.header.window_count);
    EXPECT_GE(entries, p.shape.entry_count);
    EXPECT_LE(entries, 2 * p.shape.entry_count);
    const ExpectedProduct expected = expected_product(p, m, x_columns, m, x_rows, m);
    for (int side = 0; side < sides; ++side)
      for (std::size_t k = 0; k < y[side].size(); ++k)
        ASSERT_NEAR(y[side][k], expected.y[side][k], 1e-13 * expected.magnitudes[side][k] + 1e-300)
            << side << ' ' << k;
  }
}

TYPED_TEST(CsbIndex, TheSameTwice) {
  for (const auto& p : piece_problems<TypeParam>()) EXPECT_EQ(p.index(), p.index());
}

TYPED_TEST(CsbIndex, IsSmall) {
  // Both triangles; of eight rows with some six random entries each in a window the longest has about ten,
  // and coordinates are filled up to a multiple of four.
  PieceProblem<TypeParam> p("many", 3000, 3000, false);
  p.add_random_block(0, 3000, 0, 3000, 200000);
  p.finish();
  const double bytes = double(csb_index_bytes(p.view(), p.rows, p.columns));
  EXPECT_LT(bytes, 2 * (1.75 * sizeof(TypeParam) + 4.6) * double(p.shape.entry_count));
}

}  // namespace
}  // namespace tessera::test
