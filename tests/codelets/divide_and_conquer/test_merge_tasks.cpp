// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The CPU tasks of merges and of their vectors in tridiagonal divide and conquer, bitwise against
// their kernels, and against LAPACK.
#include <gtest/gtest.h>
#include <tests/codelets/divide_and_conquer/task_test.hpp>

#include <tessera/codelets/divide_and_conquer/kernels/deflate.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_vectors.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>
#include <tessera/codelets/divide_and_conquer/merge_tasks.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::test {
using namespace detail;
namespace {

using divide_and_conquer::Child;
using divide_and_conquer::ChildRows;
using divide_and_conquer::MergePanel;
using divide_and_conquer::MergeRecord;
using divide_and_conquer::MergeShape;
using divide_and_conquer::NodeSpectrum;
using divide_and_conquer::PanelOutline;

template <class R>
class TridiagonalMerges : public TridiagonalTasks<R> {
 public:
  using typename TridiagonalTasks<R>::Leaf;
  using TridiagonalTasks<R>::doubles;
  using TridiagonalTasks<R>::epsilon;
  using TridiagonalTasks<R>::piece;
  using TridiagonalTasks<R>::runtime;
  using TridiagonalTasks<R>::solve_leaf;

  static Data outline() { return Data::bytes(runtime(), sizeof(PanelOutline), Data::every_rank); }

  /// A merge of two leaves at row `cut`; the kernels compute its record and spectrum.
  struct Merge {
    MergeShape shape;
    Tridiagonal<R> t;  ///< the rows of both leaves, joined
    std::vector<double> scaled;
    Leaf left, right;
    std::vector<char> memory;
    std::vector<double> merged;
    MergeRecord record() { return MergeRecord(memory.data(), shape.order()); }
  };
  static Merge make_merge(const TridiagonalKind& kind, Index cut) {
    Merge merge;
    merge.scaled = TridiagonalTasks<R>::scaled(make_tridiagonal<R>(kind, order));
    merge.shape = {.n = order,
                   .cut = cut,
                   .left = leaf,
                   .right = std::min(leaf, order - cut),
                   .epsilon = epsilon,
                   .weights = true,
                   .rows = true};
    const auto [n, middle, m1, m2, eps, weights, rows] = merge.shape;
    const Index m = m1 + m2;
    merge.t = piece(merge.scaled, cut - m1, m);
    const double off_diagonal = merge.scaled[std::size_t(order + cut - 1)];
    for (const Index i : {m1 - 1, m1})
      merge.t.d[std::size_t(i)] = R(merge.scaled[std::size_t(cut - m1 + i)] + std::abs(off_diagonal));
    merge.left = solve_leaf(merge.scaled, cut - m1, m1);
    merge.right = solve_leaf(merge.scaled, cut, m2);
    merge.memory.resize(MergeRecord::bytes(m));
    merge.merged.resize(std::size_t(3 * m));
    auto record = merge.record();
    std::vector<double> reals(std::size_t(kernels::deflate_real_scratch(m)));
    std::vector<Index> integers(std::size_t(kernels::deflate_index_scratch(m)));
    kernels::deflate(NodeSpectrum(merge.left.spectrum.data(), m1), m1,
                     NodeSpectrum(merge.right.spectrum.data(), m2), m2, off_diagonal, eps, record,
                     reals.data(), integers.data());
    const Index poles = record.poles();
    kernels::secular_roots(record, 0, poles, record.base, record.offset);
    kernels::secular_weights(record, 0, poles, reals.data());
    kernels::place_weights(reals.data(), record);
    kernels::secular_rows(record, 0, poles, record.root_first, record.root_last);
    kernels::order_spectrum(record, true, NodeSpectrum(merge.merged.data(), m));
    return merge;
  }

  /// Runs the codelets of a merge, in `parts` parts, or as one task if `parts` is 0.
  struct MergeResult {
    Status status;
    std::vector<char> memory;
    std::vector<double> merged;
  };
  static MergeResult run_merge(const MergeShape& shape, const std::vector<double>& scaled,
                               const std::vector<double>& left, const std::vector<double>& right,
                               Index parts) {
    const Index m = shape.order();
    const Data data_scaled = upload(runtime(), scaled), data_left = upload(runtime(), left),
               data_right = upload(runtime(), right), merged = doubles(3 * m),
               record = Data::bytes(runtime(), MergeRecord::bytes(m), Data::every_rank),
               scratch = Data::scratch(runtime(), divide_and_conquer::merge_scratch_bytes(m));
    const divide_and_conquer::Merge merge{.scaled = data_scaled,
                                          .left = data_left,
                                          .right = data_right,
                                          .record = record,
                                          .merged = merged,
                                          .work = scratch,
                                          .shape = shape};
    std::vector<Data> pieces;
    for (Index p = 0; p < parts; ++p)
      pieces.push_back(doubles(2 * divide_and_conquer::merge_part_capacity(m, parts)));
    const Status status = RuntimeTest<R, true>::run([&](Sequence& s) {
      if (parts == 0)
        s.insert(merge);
      else
        insert_merge_in_parts(s, merge, pieces, {});
    });
    return {status, download_values<char>(record), download_values<double>(merged)};
  }

  static void expect_same_record(const MergeRecord& x, const MergeRecord& y, bool weights, bool rows) {
    ASSERT_EQ(std::memcmp(x.header, y.header, sizeof(*x.header)), 0);
    const Index m = x.order(), poles = x.poles(), rotations = x.header->rotations;
    const auto expect_same = [](const char* name, const auto* a, const auto* b, Index count) {
      for (Index i = 0; i < count; ++i) ASSERT_EQ(a[i], b[i]) << name << ", " << i;
    };
    expect_same("pole", x.pole, y.pole, poles);
    expect_same("z", x.z, y.z, poles);
    expect_same("base", x.base, y.base, poles);
    expect_same("offset", x.offset, y.offset, poles);
    expect_same("value", x.value, y.value, m);
    expect_same("first_row", x.first_row, y.first_row, m);
    expect_same("last_row", x.last_row, y.last_row, m);
    if (weights) expect_same("weight", x.weight, y.weight, poles);
    if (rows) expect_same("root_first", x.root_first, y.root_first, poles);
    if (rows) expect_same("root_last", x.root_last, y.root_last, poles);
    expect_same("cosine", x.cosine, y.cosine, rotations);
    expect_same("sine", x.sine, y.sine, rotations);
    expect_same("rotation_x", x.rotation_x, y.rotation_x, rotations);
    expect_same("rotation_y", x.rotation_y, y.rotation_y, rotations);
    expect_same("slot_column", x.slot_column, y.slot_column, m);
    expect_same("pole_slot", x.pole_slot, y.pole_slot, poles);
    expect_same("deflated", x.deflated, y.deflated, m - poles);
    expect_same("output", x.output, y.output, m);
  }
};
TYPED_TEST_SUITE(TridiagonalMerges, Reals);

/// As one task and in parts, also with more parts than poles; children of equal and unequal order.
TYPED_TEST(TridiagonalMerges, Merge) {
  using R = TypeParam;
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const Index cut : {leaf, 3 * leaf}) {
      auto merge = this->make_merge(kind, cut);
      const auto m = std::size_t(merge.shape.order());
      auto t = merge.t;
      ASSERT_EQ(blas::sterf<R>(Index(m), t.d.data(), t.e.data()), 0);
      for (const Index parts : {0, 1, 3, 40})
        for (const bool rows : {true, false})
          for (const bool weights : {true, false}) {
            // A parent needs the rows, and computing the rows needs the weights.
            if (rows && !weights) continue;
            SCOPED_TRACE(kind.name + ", row " + std::to_string(cut) + ", parts " + std::to_string(parts) +
                         (rows ? ", rows" : "") + (weights ? ", weights" : ""));
            auto shape = merge.shape;
            shape.rows = rows;
            shape.weights = weights;
            auto result =
                this->run_merge(shape, merge.scaled, merge.left.spectrum, merge.right.spectrum, parts);
            ASSERT_TRUE(result.status.ok());
            this->expect_same_record(MergeRecord(result.memory.data(), Index(m)), merge.record(), weights,
                                     rows);
            result.merged.resize(rows ? 3 * m : m);
            EXPECT_EQ(result.merged,
                      (std::vector<double>(merge.merged.begin(), merge.merged.begin() + (rows ? 3 * m : m))));
            for (std::size_t i = 0; i < m; ++i)
              EXPECT_NEAR(result.merged[i], t.d[i], 8 * double(m) * this->epsilon);
          }
    }
}

TYPED_TEST(TridiagonalMerges, MergeReportsWhatIsNotFinite) {
  using R = TypeParam;
  auto merge = this->make_merge(tridiagonal_kinds<R>()[0], 2 * leaf);
  merge.left.spectrum[3] = not_a_number<double>();
  for (const Index parts : {0, 2}) {
    const auto result =
        this->run_merge(merge.shape, merge.scaled, merge.left.spectrum, merge.right.spectrum, parts);
    EXPECT_EQ(result.status.code, StatusCode::no_convergence);
    EXPECT_EQ(result.status.index, 2 * leaf + 1);
  }
}

/// Checks the eigenvectors of a merge, by row blocks in tiles and by chunks of output columns,
/// against the matrix.
TYPED_TEST(TridiagonalMerges, VectorsOfAMerge) {
  using R = TypeParam;
  const Index tile_columns = 4, chunk = 9;
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const Index cut : {leaf, 3 * leaf}) {
      SCOPED_TRACE(kind.name + ", row " + std::to_string(cut));
      auto merge = this->make_merge(kind, cut);
      const auto record = merge.record();
      const Index m = merge.shape.order(), poles = record.poles();
      const Data data = upload(this->runtime(), merge.memory);
      std::vector<Data> secular, outlines;
      ASSERT_TRUE(this->run([&](Sequence& s) {
        for (Index begin = 0; begin < m; begin += chunk) {
          const Index end = std::min(begin + chunk, m);
          secular.push_back(Data::matrix(this->runtime(), m, end - begin, sizeof(R)));
          outlines.push_back(this->outline());
          const MergePanel panel{.m = m, .begin = begin, .end = end};
          s.insert(
              divide_and_conquer::OutlinePanel{.record = data, .outline = outlines.back(), .panel = panel});
          s.insert(divide_and_conquer::SecularVectors<R>{
              .outline = outlines.back(), .record = data, .s = secular.back(), .panel = panel});
        }
      }));
      for (Index begin = 0; begin < m; begin += chunk) {
        const auto [first, count] = record.roots_of(begin, std::min(begin + chunk, m));
        const auto bytes = download_values<char>(outlines[std::size_t(begin / chunk)]);
        PanelOutline outline;
        ASSERT_EQ(bytes.size(), sizeof(outline));
        std::memcpy(&outline, bytes.data(), sizeof(outline));
        EXPECT_EQ(std::memcmp(&outline.header, record.header, sizeof(outline.header)), 0);
        EXPECT_EQ(outline.roots.first, first);
        EXPECT_EQ(outline.roots.count, count);
        Matrix<R> expected(poles, count);
        kernels::secular_vectors(record, first, first + count, expected.data(), expected.ld());
        const auto s = download<R>(secular[std::size_t(begin / chunk)]);
        EXPECT_EQ(difference(s.block(0, 0, poles, count), expected), 0);
      }

      Matrix<R> z(m, m);
      for (const Child child : {Child::left, Child::right}) {
        const auto& q = child == Child::left ? merge.left.q : merge.right.q;
        const Index inner = q.rows(), top = child == Child::left ? 0 : merge.shape.left;
        // Two row blocks of different heights.
        for (const auto& [row, rows] :
             {std::pair<Index, Index>(0, 7), std::pair<Index, Index>(7, inner - 7)}) {
          std::vector<Data> tiles, out;
          std::vector<const R*> pointers;
          const auto block = q.block(row, 0, rows, inner);
          for (Index c = 0; c < inner; c += tile_columns) {
            tiles.push_back(
                upload(this->runtime(), block.block(0, c, rows, std::min(tile_columns, inner - c))));
            pointers.push_back(block.data() + c * block.ld());
          }
          const Data packed = Data::matrix(this->runtime(), rows, m, sizeof(R));
          const auto pieces = pointers_to(tiles);
          const ChildRows child_rows{.child = child, .rows = rows, .inner = inner};
          ASSERT_TRUE(this->run([&](Sequence& s) {
            s.insert(divide_and_conquer::PackRows<R>{.record = data,
                                                     .packed = packed,
                                                     .tiles = pieces,
                                                     .m = m,
                                                     .child = child,
                                                     .rows = rows,
                                                     .tile_columns = tile_columns});
            for (Index begin = 0; begin < m; begin += chunk) {
              const Index end = std::min(begin + chunk, m);
              out.push_back(Data::matrix(this->runtime(), rows, end - begin, sizeof(R)));
              s.insert(divide_and_conquer::UpdateRows<R>{.outline = outlines[std::size_t(begin / chunk)],
                                                         .record = data,
                                                         .packed = packed,
                                                         .s = secular[std::size_t(begin / chunk)],
                                                         .out = out.back(),
                                                         .panel = {.m = m, .begin = begin, .end = end},
                                                         .block = child_rows});
            }
          }));
          Matrix<R> expected(rows, record.header->packed_columns(child));
          kernels::pack_rows(record, child, rows, pointers.data(), tile_columns, block.ld(), expected.data(),
                             expected.ld());
          EXPECT_EQ(difference(download<R>(packed).block(0, 0, rows, expected.cols()), expected), 0);
          for (std::size_t c = 0; c < out.size(); ++c)
            z.set_block(top + row, Index(c) * chunk, download<R>(out[c]));
        }
      }
      const std::vector<R> w(merge.merged.begin(), merge.merged.begin() + m);
      const auto errors = vector_errors(merge.t, w, std::vector<R>(z.data(), z.data() + m * m));
      // Relative to the whole matrix, which has norm 1, because deflation is relative to it too.
      EXPECT_LT(errors.residual * norm(merge.t), 5);
      EXPECT_LT(errors.orthogonality, 5);
    }
}

template <class T>
class TridiagonalSlabs : public RuntimeTest<T> {};
TYPED_TEST_SUITE(TridiagonalSlabs, Scalars);

/// Row blocks with a shorter last one; one panel fills the first part of a slab, another continues
/// at its second column.
TYPED_TEST(TridiagonalSlabs, FillSlab) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 11, block_rows = 4, split = 5, columns = 13;
  const auto q = random_matrix<R>(n, columns, 1);
  const auto panel = [&](Index begin, Index end) {
    std::vector<Data> tiles;
    for (Index i = 0; i < n; i += block_rows)
      tiles.push_back(upload(this->runtime(), q.block(i, begin, std::min(block_rows, n - i), end - begin)));
    return tiles;
  };
  const auto first = panel(0, split), second = panel(split - 1, columns);
  const Data slab = Data::matrix(this->runtime(), n, columns, sizeof(T));
  const auto fill = [&](Sequence& s, const std::vector<Data>& tiles,
                        const divide_and_conquer::SlabColumns& part) {
    const auto pieces = pointers_to(tiles);
    s.insert(divide_and_conquer::FillSlab<T>{
        .slab = slab, .tiles = pieces, .block_rows = block_rows, .columns = part});
  };
  ASSERT_TRUE(this->run([&](Sequence& s) {
    fill(s, first, {.from = 0, .to = 0, .count = split});
    fill(s, second, {.from = 1, .to = split, .count = columns - split});
  }));
  Matrix<T> expected(n, columns);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < n; ++i) expected(i, j) = q(i, j);
  EXPECT_EQ(difference(download<T>(slab), expected), 0);
}

}  // namespace
}  // namespace tessera::test
