// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <numeric>

#include <gtest/gtest.h>
#include <tests/codelets/sparse/piece_problem.hpp>

/// Plain loops that traverse the GPU index in the order of the kernel.
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
        rows(reinterpret_cast<const std::uint32_t*>(memory + header.rows_offset)),
        stages(reinterpret_cast<const CsbStage*>(memory + header.stages_offset)),
        x(reinterpret_cast<const std::uint32_t*>(memory + header.x_offset)),
        starts(reinterpret_cast<const CsbWarpStart*>(memory + header.starts_offset)),
        quads(reinterpret_cast<const CsbQuad*>(memory + header.quads_offset)),
        values(reinterpret_cast<const V*>(memory + header.values_offset)) {}
  const char* memory;
  const CsbIndexHeader& header;
  const CsbStrip* strips;
  const std::uint32_t* rows;
  const CsbStage* stages;
  const std::uint32_t* x;
  const CsbWarpStart* starts;
  const CsbQuad* quads;
  const V* values;
};

/// Rows of Y in a strip, with m columns; the first pass writes, the second adds.
template <class V>
class StripWalk {
 public:
  StripWalk(const IndexView<V>& index, std::int64_t s, int m, const std::vector<double>& x,
            std::span<const std::uint32_t> order_of_x)
      : index_(index),
        strip_(index.strips[s]),
        m_(m),
        x_(x),
        order_(order_of_x),
        starts_(index.starts + s * csb_strip_warps, index.starts + (s + 1) * csb_strip_warps),
        sums_(static_cast<std::size_t>(strip_.rows * m), 0.0) {}

  void walk(int pass, std::vector<double>& y, std::vector<int>& times) {
    for (std::uint32_t t = 0; t < strip_.stages; ++t) {
      const CsbStage& stage = index_.stages[strip_.first_stage + t];
      ASSERT_LT(stage.count, csb_stage_slots);
      for (std::uint32_t k = 0; k < stage.count; ++k) {
        const std::uint32_t row = index_.x[stage.first + k];
        const std::int64_t place =
            order_.empty() ? row : std::find(order_.begin(), order_.end(), row) - order_.begin();
        EXPECT_GT(place, last_place_) << "rows of X in their order";
        last_place_ = place;
      }
      written_.assign(strip_.rows, 0);
      for (CsbWarpStart& warp : starts_) walk_stage(stage, warp);
    }
    for (std::int64_t i = 0; i < strip_.rows; ++i) {
      const std::size_t row = index_.rows[strip_.first_row + i];
      EXPECT_EQ(times[row]++, pass) << "every row is in one strip of each pass";
      for (int j = 0; j < m_; ++j) {
        double& to = y[row * static_cast<std::size_t>(m_) + static_cast<std::size_t>(j)];
        const double sum = sums_[static_cast<std::size_t>(i * m_ + j)];
        to = pass == 0 ? sum : to + sum;
      }
    }
  }
  std::int64_t entries = 0;

 private:
  void walk_stage(const CsbStage& stage, CsbWarpStart& at) {
    for (bool end = false; !end; ++at.quad) {
      const CsbQuad* const quads = index_.quads + at.quad * csb_slice_rows;
      end = quads[0].end_of_stage();
      for (std::int64_t place = 0; place < csb_slice_rows; ++place) {
        const CsbQuad& quad = quads[place];
        EXPECT_EQ(quad.steps(), quads[0].steps());
        EXPECT_EQ(quad.last(), quads[0].last());
        EXPECT_EQ(quad.end_of_stage(), end);
        ASSERT_LE(quad.steps(), csb_quad_steps);
        for (int k = 0; k < quad.steps(); ++k) add(stage, quad, k, at.step * csb_slice_rows + place);
        if (quad.last() && quad.row() < strip_.rows) {
          EXPECT_EQ(written_[quad.row()]++, 0) << "one run a row and stage";
        }
      }
      at.step += quads[0].steps();
    }
  }
  void add(const CsbStage& stage, const CsbQuad& quad, int k, std::int64_t at) {
    const double value = index_.values[at + k * csb_slice_rows];
    const std::uint32_t slot = quad.slot(k);
    if (slot == 0) {
      EXPECT_EQ(value, 0);
      return;
    }
    ++entries;
    ASSERT_LE(slot, stage.count);
    ASSERT_LT(quad.row(), strip_.rows);
    const auto from = static_cast<std::size_t>(index_.x[stage.first + slot - 1]);
    for (int j = 0; j < m_; ++j)
      sums_[quad.row() * static_cast<std::size_t>(m_) + static_cast<std::size_t>(j)] +=
          value * x_[from * static_cast<std::size_t>(m_) + static_cast<std::size_t>(j)];
  }

  const IndexView<V>& index_;
  const CsbStrip& strip_;
  const int m_;
  const std::vector<double>& x_;
  const std::span<const std::uint32_t> order_;
  std::vector<CsbWarpStart> starts_;
  std::vector<double> sums_;
  std::vector<int> written_;
  std::int64_t last_place_ = -1;
};

/// Expected order of the strips of a pass: by row, then the lightest strips by decreasing length,
/// which have at most 0.15 of the entries.
void expect_order(const CsbStrip* strips, const std::vector<std::int64_t>& entries) {
  const double all = static_cast<double>(std::accumulate(entries.begin(), entries.end(), std::int64_t(0)));
  std::size_t light = entries.size();
  for (double sum = 0; light > 0; --light)
    if ((sum += static_cast<double>(entries[light - 1])) > 0.15 * all) break;
  for (std::size_t s = 1; s < entries.size(); ++s) {
    if (s < light) {
      EXPECT_GT(strips[s].first_row, strips[s - 1].first_row) << s;
    } else if (s > light) {
      EXPECT_LE(entries[s], entries[s - 1]) << s;
    }
  }
  const auto end_of_heavy = entries.begin() + static_cast<std::ptrdiff_t>(light);
  if (light > 0 && light < entries.size()) {
    EXPECT_GE(*std::min_element(entries.begin(), end_of_heavy),
              *std::max_element(end_of_heavy, entries.end()));
  }
}

/// Number of entries between rows of the same second family, for the sides that are multiplied.
template <class V>
std::int64_t entries_of_one_family(const PieceProblem<V>& p) {
  if (!p.shape.index_in_two_passes) return 0;
  std::int64_t count = 0;
  p.for_entries([&](std::int64_t row, std::int64_t column, V) {
    if (p.row_order.families[static_cast<std::size_t>(row)] ==
        p.column_order.families[static_cast<std::size_t>(column)])
      count += (p.shape.on_diagonal && row == column) || p.shape.sides != CsbSides::both ? 1 : 2;
  });
  return count;
}

TYPED_TEST(CsbIndex, WalkGivesTheProduct) {
  using V = TypeParam;
  constexpr int m = 3;
  for (const auto& p : piece_problems<V>()) {
    SCOPED_TRACE(p.name);
    const auto memory = p.index();
    const IndexView<V> index(memory);
    EXPECT_EQ(static_cast<std::size_t>(index.header.total), memory.size() * 8);
    const std::int64_t rows = p.shape.adds_to_rows() ? p.rows : 0,
                       others = p.shape.adds_to_columns() ? p.columns : 0,
                       height = csb_strip_rows(rows + others),
                       strips = csb_strips(rows, height) + csb_strips(others, height);
    const int passes = p.shape.index_in_two_passes ? 2 : 1;
    EXPECT_EQ(index.header.strip_count, passes * strips);
    const auto x_columns = random_rows<double>(p.columns, m, 1), x_rows = random_rows<double>(p.rows, m, 2);
    std::vector<double> y[2];
    std::vector<int> times[2];
    for (const int side : {0, 1}) {
      times[side].assign(static_cast<std::size_t>(side ? others : rows), 0);
      y[side].assign(times[side].size() * m, std::numeric_limits<double>::quiet_NaN());
    }
    std::int64_t stages = 0, entries = 0, second_entries = 0;
    for (int pass = 0; pass < passes; ++pass) {
      std::vector<std::int64_t> entries_of;
      for (std::int64_t s = pass * strips; s < (pass + 1) * strips; ++s) {
        const int side = index.strips[s].side;
        StripWalk<V> strip(index, s, m, side == 0 ? x_columns : x_rows,
                           (side == 0 ? p.column_order : p.row_order).first);
        strip.walk(pass, y[side], times[side]);
        entries += strip.entries;
        second_entries += pass * strip.entries;
        entries_of.push_back(strip.entries);
        stages += index.strips[s].stages;
      }
      expect_order(index.strips + pass * strips, entries_of);
    }
    EXPECT_EQ(stages, index.header.stage_count);
    EXPECT_EQ(second_entries, entries_of_one_family(p));
    EXPECT_GE(entries, p.shape.entry_count);
    EXPECT_LE(entries, (p.shape.sides == CsbSides::both ? 2 : 1) * p.shape.entry_count);
    const ExpectedProduct expected = expected_product(p, m, x_columns, m, x_rows, m);
    for (const int side : {0, 1})
      for (std::size_t k = 0; k < y[side].size(); ++k)
        ASSERT_NEAR(y[side][k], expected.y[side][k], 1e-13 * expected.magnitudes[side][k] + 1e-300)
            << side << ' ' << k;
  }
}

TYPED_TEST(CsbIndex, TheSameOnAnyNumberOfThreads) {
  for (const auto& p : piece_problems<TypeParam>()) EXPECT_EQ(p.index(), p.index(3));
}

/// The index of two pieces with entries in the same rows and columns must equal the index of one
/// piece with all these entries.
TYPED_TEST(CsbIndex, MayHaveSeveralParts) {
  PieceProblem<TypeParam> both("both", 300, 300, true), parts[2] = {both, both};
  const typename PieceProblem<TypeParam>::Coordinates left{{7, 7}, {9, 3}, {200, 100}},
      right{{9, 2}, {200, 99}, {250, 250}};
  both.add_cell(0, 300, 0, 300, left);
  both.add_cell(0, 300, 0, 300, right);
  parts[0].add_cell(0, 300, 0, 300, left);
  parts[1].add_cell(0, 1, 0, 1, {});
  parts[1].add_cell(0, 300, 0, 300, right);
  for (PieceProblem<TypeParam>* p : {&both, &parts[0], &parts[1]}) p->finish();
  const CsbPieceView<TypeParam> views[] = {parts[0].view(), parts[1].view()};
  const CsbIndexBuilder<TypeParam> builder(views, 300, 300, {}, 2);
  std::vector<std::int64_t> index(static_cast<std::size_t>(builder.header().total) / 8, -1);
  builder.write(index.data());
  EXPECT_EQ(index.size(), both.index().size());
  const auto x = random_rows<double>(300, 1, 1);
  const IndexView<TypeParam> view(index);
  std::vector<double> y(300), expected(300, 0.0);
  std::vector<int> times(300, 0);
  for (std::int64_t s = 0; s < view.header.strip_count; ++s)
    StripWalk<TypeParam>(view, s, 1, x, {}).walk(0, y, times);
  for (const auto& p : parts) {
    const ExpectedProduct of_part = expected_product(p, 1, x, 1, x, 1);
    for (std::size_t i = 0; i < 300; ++i) expected[i] += of_part.y[0][i];
  }
  for (std::size_t i = 0; i < 300; ++i) EXPECT_NEAR(y[i], expected[i], 1e-14) << i;
}

TYPED_TEST(CsbIndex, IsSmall) {
  // The longest of sixteen runs determines the size; the runs are about equally long.
  PieceProblem<TypeParam> p("many", 3000, 3000, false);
  p.add_random_cell(0, 3000, 0, 3000, 200000);
  p.finish();
  const CsbPieceView<TypeParam> parts[] = {p.view()};
  const CsbIndexHeader header = CsbIndexBuilder<TypeParam>(parts, p.rows, p.columns, {}, 2).header();
  const double entries = 2 * double(p.shape.entry_count);
  EXPECT_LT(double(header.step_count * csb_slice_rows), 1.2 * entries);
  EXPECT_LT(double(header.quad_count * csb_slice_rows * csb_quad_steps), 1.8 * entries);
  EXPECT_LT(double(header.total), (1.2 * sizeof(TypeParam) + 7) * entries);
}

}  // namespace
}  // namespace tessera::test
