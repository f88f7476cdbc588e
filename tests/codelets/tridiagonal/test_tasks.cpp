// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The codelets of the tridiagonal divide and conquer on CPUs, against their kernels (bit for bit) and LAPACK.
#include <gtest/gtest.h>
#include <tests/codelets/tridiagonal/matrices.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/tridiagonal/deflate.hpp>
#include <tessera/codelets/tridiagonal/leaf.hpp>
#include <tessera/codelets/tridiagonal/merge_vectors.hpp>
#include <tessera/codelets/tridiagonal/secular.hpp>
#include <tessera/codelets/tridiagonal/value_tasks.hpp>
#include <tessera/codelets/tridiagonal/vector_tasks.hpp>

namespace tessera::test {
namespace {

using tridiagonal::Child;
using tridiagonal::Forest;
using tridiagonal::MergeRecord;
using tridiagonal::NodeSpectrum;
using tridiagonal::PanelOutline;

/// Of the matrices used here: four pieces, the last of 11 rows.
constexpr Index order = 50, leaf = 13;

template <class R>
class TridiagonalCodelets : public RuntimeTest<R, true> {
 public:
  using RuntimeTest<R, true>::runtime;
  static constexpr double epsilon = std::numeric_limits<R>::epsilon();

  static Data doubles(Index count, int owner = Data::every_rank) {
    return Data::bytes(runtime(), sizeof(double) * std::size_t(count), owner);
  }
  /// T scaled and cut, by the kernel.
  static std::vector<double> scaled(const Tridiagonal<R>& t) {
    const Index n = t.order();
    std::vector<double> buffer(std::size_t(2 * n + 1));
    const ScaledTridiagonal s(buffer.data(), n);
    int exponent = 0;
    EXPECT_EQ(kernels::scale_and_cut(n, t.d.data(), t.e.data(), leaf, s.d, s.e, &exponent), 0);
    *s.exponent = exponent;
    return buffer;
  }
  static Data outline() { return Data::bytes(runtime(), sizeof(PanelOutline), Data::every_rank); }
  static Tridiagonal<R> piece(const std::vector<double>& scaled, Index start, Index m) {
    const double* d = scaled.data() + start;
    const double* e = scaled.data() + scaled.size() / 2 + start;
    return {{d, d + m}, {e, e + m - 1}};
  }

  /// A leaf's spectrum and vectors, by the kernel.
  struct Leaf {
    std::vector<double> spectrum;
    Matrix<R> q;
  };
  static Leaf solve_leaf(std::vector<double> scaled, Index start, Index m) {
    Leaf node{std::vector<double>(std::size_t(3 * m)), Matrix<R>(m, m)};
    std::vector<double> reals(std::size_t(kernels::leaf_real_scratch(m)));
    std::vector<int> integers(std::size_t(kernels::leaf_integer_scratch(m)));
    const ScaledTridiagonal s(scaled.data(), order);
    EXPECT_EQ(kernels::leaf_eigenvectors(m, s.d + start, s.e + start, NodeSpectrum(node.spectrum.data(), m),
                                         node.q.data(), m, reals.data(), integers.data()),
              0);
    return node;
  }
  /// The codelet's view of leaves.
  static std::vector<LeafData> leaf_data(const std::vector<Data>& qs, const std::vector<Data>& spectra) {
    std::vector<LeafData> leaves;
    for (std::size_t i = 0; i < qs.size(); ++i) leaves.push_back({&qs[i], &spectra[i]});
    return leaves;
  }

  /// A merge of two leaves at row `cut`, whose record and spectrum the kernels compute.
  struct Merge {
    MergeShape shape;
    Tridiagonal<R> t;  ///< the rows of both, put together again
    std::vector<double> scaled;
    Leaf left, right;
    std::vector<char> memory;
    std::vector<double> merged;
    MergeRecord record() { return MergeRecord(memory.data(), shape.order()); }
  };
  static Merge make_merge(const TridiagonalKind& kind, Index cut) {
    Merge merge;
    merge.scaled = scaled(make_tridiagonal<R>(kind, order));
    merge.shape = {order, cut, leaf, std::min(leaf, order - cut), epsilon, true, true};
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

  /// Runs the codelets of a merge, in `parts` parts or (0) as one task.
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
               scratch = Data::scratch(runtime(), merge_scratch_bytes(m));
    const MergeData data{data_scaled, data_left, data_right, record, merged, scratch};
    std::vector<Data> pieces;
    for (Index p = 0; p < parts; ++p) pieces.push_back(doubles(2 * merge_part_capacity(m, parts)));
    const Status status = RuntimeTest<R, true>::run([&](Sequence& s) {
      if (parts == 0)
        insert_tridiagonal_merge(s, 0, shape, data);
      else
        insert_tridiagonal_merge_in_parts(s, 0, shape, data, pieces);
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
TYPED_TEST_SUITE(TridiagonalCodelets, Reals);

TYPED_TEST(TridiagonalCodelets, Scale) {
  using R = TypeParam;
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const Index n : {Index(1), Index(2), leaf, leaf + 1, order}) {
      SCOPED_TRACE(kind.name + ", n = " + std::to_string(n));
      const auto t = make_tridiagonal<R>(kind, n);
      const Data d = upload(this->runtime(), t.d), e = upload(this->runtime(), t.e),
                 scaled = this->doubles(2 * n + 1);
      ASSERT_TRUE(this->run([&](Sequence& s) { insert_tridiagonal_scale<R>(s, 0, n, leaf, d, e, scaled); }));
      auto result = download_values<double>(scaled), expected = this->scaled(t);
      if (n == 1) result[1] = expected[1] = 0;                            // there is no e
      result[std::size_t(2 * n - 1)] = expected[std::size_t(2 * n - 1)];  // nor an element n of it
      EXPECT_EQ(result, expected);
    }
}

TYPED_TEST(TridiagonalCodelets, ScaleFindsWhatIsNotFinite) {
  using R = TypeParam;
  for (const bool in_d : {true, false}) {
    auto t = make_tridiagonal<R>(tridiagonal_kinds<R>()[0], order);
    (in_d ? t.d : t.e)[29] = in_d ? not_a_number<R>() : std::numeric_limits<R>::infinity();
    const Data d = upload(this->runtime(), t.d), e = upload(this->runtime(), t.e),
               scaled = this->doubles(2 * order + 1);
    const Status status =
        this->run([&](Sequence& s) { insert_tridiagonal_scale<R>(s, 0, order, leaf, d, e, scaled); });
    EXPECT_EQ(status.code, StatusCode::not_finite);
    EXPECT_EQ(status.index, 30);
  }
}

/// Each leaf as a task, all of them in one task, and every other one; the last leaf is the lower one.
TYPED_TEST(TridiagonalCodelets, LeavesAreSolved) {
  using R = TypeParam;
  struct Part {
    Index start;
    Forest forest;
  };
  const Part parts[] = {{0, {leaf, leaf, leaf}},
                        {leaf, {leaf, leaf, leaf}},
                        {3 * leaf, {order - 3 * leaf, leaf, leaf}},
                        {0, {order, leaf, leaf}},
                        {leaf, {order - 2 * leaf, leaf, 2 * leaf}}};
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const auto& [first_row, forest] : parts) {
      const auto scaled = this->scaled(make_tridiagonal<R>(kind, order));
      const Data data = upload(this->runtime(), scaled),
                 scratch = Data::scratch(this->runtime(), leaf_scratch_bytes(forest, false));
      std::vector<Data> qs, spectra;
      for (Index tree = 0; tree < forest.trees(); ++tree) {
        const Index m = forest.tree_rows(tree);
        qs.push_back(Data::matrix(this->runtime(), m, m, sizeof(R)));
        spectra.push_back(this->doubles(3 * m));
      }
      const auto leaves = this->leaf_data(qs, spectra);
      ASSERT_TRUE(this->run([&](Sequence& s) {
        insert_tridiagonal_leaves<R>(s, 0, order, first_row, forest, this->epsilon, data, leaves, scratch);
      }));
      for (Index tree = 0; tree < forest.trees(); ++tree) {
        const Index m = forest.tree_rows(tree), start = first_row + tree * forest.stride;
        SCOPED_TRACE(kind.name + ", first row " + std::to_string(start) + ", leaf " + std::to_string(tree) +
                     " of " + std::to_string(forest.trees()));
        const auto values = download_values<double>(spectra[std::size_t(tree)]);
        const auto vectors = download<R>(qs[std::size_t(tree)]);
        const auto expected = this->solve_leaf(scaled, start, m);
        EXPECT_EQ(values, expected.spectrum);
        EXPECT_EQ(difference(vectors, expected.q), 0);
        const std::vector<R> w(values.begin(), values.begin() + m);
        const auto errors = vector_errors(this->piece(scaled, start, m), w,
                                          std::vector<R>(vectors.data(), vectors.data() + m * m));
        EXPECT_LT(errors.residual, 5);
        EXPECT_LT(errors.orthogonality, 5);
        EXPECT_TRUE(std::is_sorted(values.begin(), values.begin() + m));
        for (Index j = 0; j < m; ++j) {
          EXPECT_EQ(R(values[std::size_t(m + j)]), vectors(0, j));
          EXPECT_EQ(R(values[std::size_t(2 * m + j)]), vectors(m - 1, j));
        }
      }
    }
}

TYPED_TEST(TridiagonalCodelets, Subtree) {
  using R = TypeParam;
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const Index n : {Index(1), Index(3), Index(107)}) {
      SCOPED_TRACE(kind.name + ", n = " + std::to_string(n));
      // The last m rows of n, as one piece of its own.
      const auto t = make_tridiagonal<R>(kind, n);
      const Index start = n / 10, m = n - start;
      std::vector<double> scaled(std::size_t(2 * n + 1));
      const ScaledTridiagonal view(scaled.data(), n);
      int exponent = 0;
      ASSERT_EQ(kernels::scale_and_cut(n, t.d.data(), t.e.data(), n + 1, view.d, view.e, &exponent), 0);
      const Data data = upload(this->runtime(), scaled),
                 scratch = Data::scratch(this->runtime(), subtree_scratch_bytes(m, false));
      for (const bool rows : {true, false}) {
        const Data spectrum = this->doubles(3 * m);
        ASSERT_TRUE(this->run([&](Sequence& s) {
          insert_tridiagonal_subtree(s, 0, n, start, m, this->epsilon, rows, data, spectrum, scratch);
        }));
        std::vector<double> expected(std::size_t(3 * m)), work(kernels::subtree_scratch_bytes(m) / 8 + 1);
        ASSERT_EQ(kernels::subtree_values(m, view.d + start, view.e + start, this->epsilon, rows,
                                          NodeSpectrum(expected.data(), m), work.data()),
                  0);
        const auto result = download_values<double>(spectrum);
        for (Index i = 0; i < (rows ? 3 * m : m); ++i)
          ASSERT_EQ(result[std::size_t(i)], expected[std::size_t(i)]) << i;
        const Tridiagonal<R> piece{{view.d + start, view.d + n}, {view.e + start, view.e + n - 1}};
        // Accurate with respect to the whole matrix, of norm 1, which says little about a tiny part.
        if (norm(piece) > 0.25L) {
          EXPECT_TRUE(values_within(piece, std::vector<R>(result.begin(), result.begin() + m), 2.0));
        }
      }
    }
}

/// What does not converge is told by its first row.
TYPED_TEST(TridiagonalCodelets, LeafAndSubtreeReportFailures) {
  using R = TypeParam;
  auto scaled = this->scaled(make_tridiagonal<R>(tridiagonal_kinds<R>()[0], order));
  scaled[std::size_t(leaf + 4)] = not_a_number<double>();
  const Data data = upload(this->runtime(), scaled), spectrum = this->doubles(3 * leaf);
  // Alone, and as the second leaf of a task for three.
  for (const auto& [start, count] : {std::pair<Index, Index>(leaf, 1), std::pair<Index, Index>(0, 3)}) {
    const Forest forest{count * leaf, leaf, leaf};
    std::vector<Data> qs, spectra;
    for (Index tree = 0; tree < count; ++tree) {
      qs.push_back(Data::matrix(this->runtime(), leaf, leaf, sizeof(R)));
      spectra.push_back(this->doubles(3 * leaf));
    }
    const auto leaves = this->leaf_data(qs, spectra);
    const Data scratch = Data::scratch(this->runtime(), leaf_scratch_bytes(forest, false));
    const Status of_leaf = this->run([&, first_row = start](Sequence& s) {
      insert_tridiagonal_leaves<R>(s, 0, order, first_row, forest, this->epsilon, data, leaves, scratch);
    });
    EXPECT_EQ(of_leaf.code, StatusCode::no_convergence);
    EXPECT_EQ(of_leaf.index, leaf + 1);
  }
  const Data scratch = Data::scratch(this->runtime(), subtree_scratch_bytes(leaf, false));
  const Status of_subtree = this->run([&](Sequence& s) {
    insert_tridiagonal_subtree(s, 0, order, leaf, leaf, this->epsilon, true, data, spectrum, scratch);
  });
  EXPECT_EQ(of_subtree.code, StatusCode::no_convergence);
  EXPECT_EQ(of_subtree.index, leaf + 1);
}

TYPED_TEST(TridiagonalCodelets, CopyAndUnscale) {
  using R = TypeParam;
  const Index n = 7;
  std::vector<double> values, scaled(std::size_t(2 * n + 1));
  for (Index i = 0; i < 3 * n; ++i) values.push_back(random_scalar<double>(1, i, 0));
  const Data spectrum = upload(this->runtime(), values), copy = this->doubles(3 * n);
  for (const int exponent : {0, 5, -70}) {
    scaled.back() = exponent;
    const Data data = upload(this->runtime(), scaled),
               w = Data::bytes(this->runtime(), sizeof(R) * std::size_t(n), Data::every_rank);
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(CopyBytes{.source = spectrum, .destination = copy}, {.execute_on = 0});
      insert_tridiagonal_unscale<R>(s, 0, n, data, copy, w);
    }));
    EXPECT_EQ(download_values<double>(copy), values);
    const auto result = download_values<R>(w);
    for (Index i = 0; i < n; ++i)
      EXPECT_EQ(result[std::size_t(i)], R(std::ldexp(values[std::size_t(i)], exponent)));
  }
}

/// As one task and in parts, also in more parts than there are poles; children of equal and unequal order.
TYPED_TEST(TridiagonalCodelets, Merge) {
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
            // A parent needs the rows, and these the weights.
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

TYPED_TEST(TridiagonalCodelets, MergeReportsWhatIsNotFinite) {
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

/// The merge's eigenvectors, row block by row block in tiles and output columns by chunks, against the
/// matrix.
TYPED_TEST(TridiagonalCodelets, VectorsOfAMerge) {
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
          insert_panel_outline(s, 0, m, begin, end, data, outlines.back());
          insert_secular_vectors<R>(s, 0, m, begin, end, outlines.back(), data, secular.back());
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
        // Two blocks of rows, of other heights.
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
          ASSERT_TRUE(this->run([&](Sequence& s) {
            insert_pack_rows<R>(s, 0, m, child, rows, tile_columns, data, packed, tiles);
            for (Index begin = 0; begin < m; begin += chunk) {
              const Index end = std::min(begin + chunk, m);
              out.push_back(Data::matrix(this->runtime(), rows, end - begin, sizeof(R)));
              insert_update_rows<R>(s, 0, m, child, rows, inner, begin, end,
                                    outlines[std::size_t(begin / chunk)], data, packed,
                                    secular[std::size_t(begin / chunk)], out.back());
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
      // With respect to the whole matrix, of norm 1: deflation is.
      EXPECT_LT(errors.residual * norm(merge.t), 5);
      EXPECT_LT(errors.orthogonality, 5);
    }
}

template <class T>
class TridiagonalSlabs : public RuntimeTest<T> {};
TYPED_TEST_SUITE(TridiagonalSlabs, Scalars);

/// Blocks of rows of which the last is lower; a panel that fills the first part of a slab and one that goes
/// on, from its second column.
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
  ASSERT_TRUE(this->run([&](Sequence& s) {
    insert_fill_slab<T>(s, 0, block_rows, {0, 0, split}, true, slab, first);
    insert_fill_slab<T>(s, 0, block_rows, {1, split, columns - split}, false, slab, second);
  }));
  Matrix<T> expected(n, columns);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < n; ++i) expected(i, j) = q(i, j);
  EXPECT_EQ(difference(download<T>(slab), expected), 0);
}

}  // namespace
}  // namespace tessera::test
