// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The CPU codelets of the band family against their kernels. Results must be equal bitwise, because
// the chase does not depend on its tiles.
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/band/back_transform_tasks.hpp>
#include <tessera/codelets/band/band_tasks.hpp>
#include <tessera/codelets/band/kernels/band_storage.hpp>
#include <tessera/codelets/common/dispatch.hpp>

#include "band_problem.hpp"

namespace tessera::test {
using namespace detail;
namespace {

struct Shape {
  Index n, b, group;
};
constexpr Shape shapes[] = {{1, 1, 1}, {2, 3, 2}, {9, 8, 1}, {33, 5, 2}, {97, 7, 3}};

template <class T>
class BandCodelets : public RuntimeTest<T, true> {
 public:
  using RuntimeTest<T, true>::runtime;
  using Layout = kernels::BandLayout<T>;
  using Problem = testing::BandProblem<T>;

  static Data bytes_of(Index elements) {
    return Data::bytes(runtime(), sizeof(T) * std::size_t(std::max<Index>(elements, 1)));
  }
  static std::vector<Data> upload_segments(const Problem& p) {
    std::vector<Data> segments;
    for (Index k = 0; k < Index(p.segments.size()); ++k) {
      const auto& segment = p.segments[std::size_t(k)];
      const Index columns = std::min(p.width, p.n - k * p.width);
      segments.push_back(
          upload(runtime(), std::vector<T>(segment.begin(), segment.begin() + Layout::size(p.b, columns))));
    }
    return segments;
  }

  /// Sweeps of one group: two pieces with its reflectors, divided at tile `cut`.
  struct Kept {
    std::vector<kernels::Reflectors<T>> shapes;
    std::vector<Data> data;
  };
  static void insert_group(Sequence& s, const Problem& p, Index first, const std::vector<Data>& segments,
                           Kept* kept, const Data& workspace) {
    const Index sweeps = std::min(p.group, p.n - 1 - first), width = p.width, shift = 2 * p.b;
    const Index end_tile = (p.n - 2 + shift * sweeps) / width + 1, cut = Index(p.segments.size()) / 2 + 1;
    std::size_t piece = 0;
    const auto begin_of = [&](Index tile) { return tile == 0 ? -width : tile * width - shift; };
    if (kept)
      for (const auto& [from, to] :
           {std::pair<Index, Index>(0, cut), std::pair<Index, Index>(cut, end_tile)}) {
        kept->shapes.push_back(kernels::Reflectors<T>::of_tiles(p.n, p.b, first, sweeps, begin_of(from),
                                                                begin_of(std::max(to, from))));
        kept->data.push_back(bytes_of(kept->shapes.back().size()));
      }
    if (kept) piece = kept->shapes.size() - 2;
    for (Index tile = 0; tile < end_tile; ++tile) {
      const Index seen = std::max<Index>(tile - 1, 0);
      if (seen >= Index(segments.size())) break;
      const std::size_t at = piece + (tile < cut ? 0 : 1);
      const bool keep = kept && kept->shapes[at].size() > 0;
      const bool second = tile > 0 && tile < Index(segments.size());
      s.insert(ChaseTile<T>{
          .workspace = workspace,
          .segments = {segments[std::size_t(seen)], second ? &segments[std::size_t(tile)] : nullptr},
          .kept = keep ? &kept->data[at] : nullptr,
          .place = {.n = p.n,
                    .bandwidth = p.b,
                    .first_sweep = first,
                    .sweeps = sweeps,
                    .column_begin = begin_of(tile),
                    .column_end = begin_of(tile + 1),
                    .first_column = seen * width,
                    .segment_width = width},
          .reflectors = keep ? kept->shapes[at] : kernels::Reflectors<T>()});
    }
  }
  static Data chase_scratch(Index b) {
    return Data::scratch(runtime(), sizeof(RealOf<T>) * std::size_t(kernels::chase_workspace<T>(b)));
  }
};
TYPED_TEST_SUITE(BandCodelets, Scalars);

/// Columns 4 .. 12 of 20, from pieces of four columns each and a last piece with one column.
TYPED_TEST(BandCodelets, BandGather) {
  using T = TypeParam;
  const Index n = 20, b = 3, first = 4, columns = 9, piece_columns = 4;
  for (const Index bad : {-1, 7}) {
    auto band = random_matrix<T>(2 * b, columns, 1);
    if (bad >= 0) band(1, bad) = not_a_number<T>();
    std::vector<Data> pieces;
    std::vector<const Data*> pointers;
    for (Index j = 0; j < columns; j += piece_columns)
      pieces.push_back(
          upload(this->runtime(), band.block(0, j, 2 * b, std::min(piece_columns, columns - j))));
    for (const Data& piece : pieces) pointers.push_back(&piece);
    const Data segment = this->bytes_of(kernels::BandLayout<T>::size(b, columns));
    const Status status = this->run([&](Sequence& s) {
      s.insert(BandGather<T>{.segment = segment,
                             .pieces = pointers,
                             .band = {n, b, first, columns},
                             .piece_columns = piece_columns});
    });
    EXPECT_EQ(status.code, bad < 0 ? StatusCode::success : StatusCode::not_finite);
    EXPECT_EQ(status.index, bad < 0 ? 0 : first + bad + 1);
    if (bad >= 0) continue;
    std::vector<T> expected(std::size_t(kernels::BandLayout<T>::size(b, columns)));
    kernels::band_to_segment<T>(n, b, first, columns, band.data(), band.ld(), expected.data(), 0);
    EXPECT_EQ(download_values<T>(segment), expected);
  }
}

/// All tiles of a chase, and T both in pieces and as d and e.
TYPED_TEST(BandCodelets, ChaseToTridiagonal) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const auto& [n, b, group] : shapes)
    for (const bool keep : {true, false}) {
      SCOPED_TRACE(::testing::Message() << "n " << n << ", b " << b << ", group " << group);
      typename TestFixture::Problem p(n, b, group);
      const auto segments = this->upload_segments(p);
      typename TestFixture::Kept kept;
      std::vector<Data> pieces;
      std::vector<const Data*> pointers;
      const Data d = Data::bytes(this->runtime(), sizeof(R) * std::size_t(n)),
                 e = Data::bytes(this->runtime(), sizeof(R) * std::size_t(std::max<Index>(n - 1, 1)));
      const Data workspace = this->chase_scratch(b);
      ASSERT_TRUE(this->run([&](Sequence& s) {
        for (Index first = 0; first + 1 < n; first += group)
          this->insert_group(s, p, first, segments, keep ? &kept : nullptr, workspace);
        for (Index k = 0; k < Index(segments.size()); ++k) {
          const Index columns = std::min(p.width, n - k * p.width);
          pieces.push_back(Data::bytes(this->runtime(), 2 * sizeof(R) * std::size_t(columns)));
          s.insert(TridiagonalPiece<T>{.segment = segments[std::size_t(k)],
                                       .piece = pieces.back(),
                                       .band = {n, b, k * p.width, columns}});
        }
        for (const Data& piece : pieces) pointers.push_back(&piece);
        s.insert(TridiagonalAssemble<R>{.d = d, .e = e, .pieces = pointers, .n = n, .piece_columns = p.width},
                 {.execute_on = 0});
      }));
      p.chase(kernels::cpu_level());
      const auto result_d = download_values<R>(d), result_e = download_values<R>(e);
      for (Index j = 0; j < n; ++j) {
        EXPECT_EQ(result_d[std::size_t(j)], real_part(p.at(j, j)));
        if (j + 1 < n) {
          EXPECT_EQ(result_e[std::size_t(j)], real_part(p.at(j + 1, j)));
        }
        const auto piece = download_values<R>(pieces[std::size_t(j / p.width)]);
        EXPECT_EQ(piece[std::size_t(j % p.width)], real_part(p.at(j, j)));
      }
      // The reflectors must be the same numbers however they are divided into pieces.
      for (std::size_t i = 0; i < kept.shapes.size(); ++i) {
        if (kept.shapes[i].size() == 0) continue;
        auto values = download_values<T>(kept.data[i]);
        auto piece = kept.shapes[i];
        piece.data = values.data();
        for (Index sweep = piece.first_sweep; sweep < piece.first_sweep + piece.sweeps; ++sweep)
          for (Index hop = 0; hop < kernels::hop_count(n, b, sweep); ++hop)
            for (const auto& expected : p.reflectors)
              for (Index row = 0; row <= b && piece.holds(sweep, hop) && expected.holds(sweep, hop); ++row)
                ASSERT_EQ(piece.vector(sweep, hop)[row], expected.vector(sweep, hop)[row]);
      }
    }
}

/// Q C with the WY blocks of two groups formed at once, and formed in two steps from the relevant
/// pieces.
TYPED_TEST(BandCodelets, FormAndApplyWy) {
  using T = TypeParam;
  using R = RealOf<T>;
  using Reflectors = kernels::Reflectors<T>;
  const Index n = 101, b = 13, group = 2, sweeps = 3 * group, columns = 5;
  typename TestFixture::Problem p(n, b, group);
  p.chase(kernels::cpu_level());
  // Two WY groups from sweep 6 on; the second has one sweep, so its blocks have other sizes.
  const Index first = sweeps, last_sweeps = 1;
  const auto c = random_matrix<T>(n, columns, 1);
  std::vector<R> work(std::size_t(kernels::wy_workspace<T>(b, sweeps)));
  std::vector<std::vector<T>> blocks;
  std::vector<kernels::WyGroup<T>> groups;
  for (const auto& [sweep, count] : {std::pair(first, sweeps), std::pair(first + sweeps, last_sweeps)}) {
    blocks.emplace_back(std::size_t(kernels::WyLayout<T>::size(n, b, sweep, count)));
    groups.push_back({blocks.back().data(), sweep, count});
    kernels::form_wy<T>(n, b, p.reflectors.data(), Index(p.reflectors.size()), groups.back(), 0,
                        kernels::hop_count(n, b, sweep), work.data());
  }
  auto expected = c;
  kernels::apply_wy<T>(n, b, groups.data(), 2, 0, kernels::hop_count(n, b, first), expected.data(), columns,
                       expected.ld(), work.data());

  std::vector<Data> kept;
  for (const Reflectors& piece : p.reflectors)
    kept.push_back(upload(this->runtime(), std::vector<T>(piece.data, piece.data + piece.size())));
  for (const bool in_steps : {false, true}) {
    SCOPED_TRACE(::testing::Message() << "in steps " << in_steps);
    std::vector<Data> data;
    std::vector<const Data*> pointers;
    const Data slab = upload(this->runtime(), c),
               workspace = Data::scratch(this->runtime(), sizeof(R) * work.size());
    ASSERT_TRUE(this->run([&](Sequence& s) {
      for (const auto& wy : groups) {
        data.push_back(this->bytes_of(kernels::WyLayout<T>::size(n, b, wy.first_sweep, wy.sweeps)));
        const Index hops = kernels::hop_count(n, b, wy.first_sweep), middle = in_steps ? hops - 1 : hops;
        for (const auto& [begin, end] : {std::pair<Index, Index>(0, middle), std::pair(middle, hops)}) {
          std::vector<Reflectors> own;
          std::vector<const Data*> own_data;
          for (std::size_t i = 0; i < kept.size(); ++i) {
            const Reflectors& piece = p.reflectors[i];
            if (piece.size() == 0 || piece.first_sweep + piece.sweeps <= wy.first_sweep ||
                piece.first_sweep >= wy.first_sweep + wy.sweeps || piece.first_hop >= end ||
                piece.first_hop + piece.hops <= begin)
              continue;
            own.push_back(piece);
            own_data.push_back(&kept[i]);
          }
          FormWy<T> task{.workspace = workspace,
                         .blocks = data.back(),
                         .kept = own_data,
                         .n = n,
                         .bandwidth = b,
                         .first_sweep = wy.first_sweep,
                         .sweeps = wy.sweeps,
                         .first_hop = begin,
                         .last_hop = end};
          std::copy(own.begin(), own.end(), task.pieces.begin());
          if (begin < end) s.insert(task, {.execute_on = 0});
        }
      }
      for (const Data& piece : data) pointers.push_back(&piece);
      s.insert(ApplyWy<T>{.workspace = workspace,
                          .c = slab,
                          .blocks = pointers,
                          .n = n,
                          .bandwidth = b,
                          .first_sweep = first,
                          .sweeps = sweeps,
                          .last_sweeps = last_sweeps,
                          .columns = columns});
    }));
    for (std::size_t i = 0; i < groups.size(); ++i) EXPECT_EQ(download_values<T>(data[i]), blocks[i]);
    EXPECT_EQ(difference(download<T>(slab), expected), 0);
  }
}

}  // namespace
}  // namespace tessera::test
