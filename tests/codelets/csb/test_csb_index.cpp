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
        chunks(reinterpret_cast<const CsbChunk*>(memory + header.chunks_offset)),
        runs(reinterpret_cast<const std::uint32_t*>(memory + header.runs_offset)),
        rows(reinterpret_cast<const std::uint16_t*>(memory + header.rows_offset)),
        positions(reinterpret_cast<const std::uint16_t*>(memory + header.positions_offset)),
        values(reinterpret_cast<const V*>(memory + header.values_offset)) {}
  const char* memory;
  const CsbIndexHeader& header;
  const CsbStrip* strips;
  const CsbChunk* chunks;
  const std::uint32_t* runs;
  const std::uint16_t *rows, *positions;
  const V* values;
};

/// What a thread block leaves in its strip's rows of Y, y_I or y_J.
template <class V>
void walk_strip(const PieceProblem<V>& p, const IndexView<V>& index, const CsbStrip& strip, int m,
                const std::vector<double>& x_columns, const std::vector<double>& x_rows,
                std::vector<double> (&y)[2]) {
  const auto piece = p.view();
  std::vector<double> sums(static_cast<std::size_t>(csb_strip_rows * m), 0.0);
  for (std::uint32_t c = 0; c < strip.chunks; ++c) {
    const CsbChunk& chunk = index.chunks[strip.first_chunk + c];
    std::vector<double> values(chunk.entries);
    std::vector<std::uint16_t> coordinates(chunk.entries);
    for (std::int64_t e = 0; e < chunk.entries; ++e) {
      const auto k = static_cast<std::size_t>(e);
      coordinates[k] = chunk.side == 0 ? piece.columns[chunk.first + e] : index.rows[chunk.first + e];
      values[k] = chunk.side == 0 ? piece.values[chunk.first + e]
                  : index.header.positions_offset != 0
                      ? piece.values[chunk.block + index.positions[chunk.first + e]]
                      : index.values[chunk.first + e];
    }
    const std::vector<double>& x = chunk.side == 0 || p.shape.on_diagonal ? x_columns : x_rows;
    std::vector<bool> taken(csb_strip_rows, false);
    std::int64_t covered = 0;
    ASSERT_LE(chunk.runs, csb_strip_rows);
    for (int r = 0; r < chunk.runs; ++r) {
      const std::uint32_t run = index.runs[chunk.first_run + r];
      const int row = csb_run_row(run), start = csb_run_start(run), length = csb_run_length(run);
      ASSERT_LT(row, strip.rows);
      ASSERT_LE(start + length, chunk.entries);
      EXPECT_EQ(length >= csb_long_run, r < chunk.long_runs) << "the long ones first";
      if (r > 0) {
        EXPECT_LE(length, csb_run_length(index.runs[chunk.first_run + r - 1])) << "sorted";
      }
      EXPECT_FALSE(taken[static_cast<std::size_t>(row)]) << "a row is in one run of a chunk";
      taken[static_cast<std::size_t>(row)] = true;
      covered += length;
      for (int e = start; e < start + length; ++e)
        for (int j = 0; j < m; ++j)
          sums[static_cast<std::size_t>(row * m + j)] +=
              values[static_cast<std::size_t>(e)] *
              x[static_cast<std::size_t>((chunk.gather + coordinates[static_cast<std::size_t>(e)]) * m + j)];
    }
    EXPECT_EQ(covered, chunk.entries);
    EXPECT_LE(chunk.entries, csb_chunk_entries);
    EXPECT_GT(chunk.entries, 0);
  }
  for (int i = 0; i < strip.rows; ++i)
    for (int j = 0; j < m; ++j) {
      double& to = y[strip.side][static_cast<std::size_t>((strip.first_row + i) * m + j)];
      EXPECT_TRUE(std::isnan(to)) << "every row is in one strip";
      to = sums[static_cast<std::size_t>(i * m + j)];
    }
}

TYPED_TEST(CsbIndex, WalkGivesTheProduct) {
  using V = TypeParam;
  constexpr int m = 3;
  for (const auto& p : piece_problems<V>())
    for (const CsbOrder order : {CsbOrder::positions, CsbOrder::values}) {
      SCOPED_TRACE(p.name);
      const auto memory = p.index(order);
      const IndexView<V> index(memory);
      EXPECT_EQ(static_cast<std::size_t>(index.header.total), memory.size() * 8);
      EXPECT_EQ(index.header.strip_count,
                csb_strips(p.rows) + (p.shape.on_diagonal ? 0 : csb_strips(p.columns)));
      const auto x_columns = random_rows<double>(p.columns, m, 1), x_rows = random_rows<double>(p.rows, m, 2);
      std::vector<double> y[2];
      const int sides = p.shape.on_diagonal ? 1 : 2;
      for (int side = 0; side < sides; ++side)
        y[side].assign(static_cast<std::size_t>((side ? p.columns : p.rows) * m),
                       std::numeric_limits<double>::quiet_NaN());
      std::int64_t chunks = 0, entries = 0, before = std::numeric_limits<std::int64_t>::max();
      for (std::int64_t s = 0; s < index.header.strip_count; ++s) {
        const CsbStrip& strip = index.strips[s];
        walk_strip(p, index, strip, m, x_columns, x_rows, y);
        std::int64_t work = 0;
        for (std::uint32_t c = 0; c < strip.chunks; ++c) work += index.chunks[strip.first_chunk + c].entries;
        EXPECT_LE(work, before) << "those with most work begin first";
        before = work;
        entries += work;
        chunks += strip.chunks;
      }
      EXPECT_EQ(chunks, index.header.chunk_count);
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
  for (const auto& p : piece_problems<TypeParam>())
    for (const CsbOrder order : {CsbOrder::positions, CsbOrder::values})
      EXPECT_EQ(p.index(order), p.index(order));
}

TYPED_TEST(CsbIndex, IsSmall) {
  // 4 bytes an entry for its position and row, 8 a run, and little else.
  PieceProblem<TypeParam> p("many", 3000, 3000, false);
  p.add_random_block(0, 3000, 0, 3000, 100000);
  p.finish();
  const double bytes = double(csb_index_bytes(p.view(), p.rows, p.columns, CsbOrder::positions));
  EXPECT_LT(bytes, 4.2 * double(p.shape.entry_count) + 8.0 * 8 * 3000);
}

}  // namespace
}  // namespace tessera::test
