// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/codelets/one_stage/work_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/one_stage/matrix_tasks.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class TridiagonalizeMatrixCodelets : public RuntimeTest<T> {
 public:
  static double tolerance(Index n) { return 20 * double(n + 2) * precision<T>; }
  static Data scalars(Index k) { return Data::bytes(RuntimeTest<T>::runtime(), ScalarPiece<T>::bytes(k)); }
};
TYPED_TEST_SUITE(TridiagonalizeMatrixCodelets, Scalars);

struct Shape {
  Index n, tile, wanted, groups;
};
/// Several work rows in a tile, with shorter last ones; one work row per tile that is wider than
/// the granularity; a single work tile.
constexpr Shape shapes[] = {{23, 9, 5, 3}, {47, 20, 20, 2}, {7, 64, 100, 1}};

TYPED_TEST(TridiagonalizeMatrixCodelets, PackTile) {
  using T = TypeParam;
  for (const auto& shape : shapes) {
    SCOPED_TRACE(shape.n);
    const WorkProblem<T> problem(shape.n, shape.tile, shape.wanted, shape.groups, 1);
    const Index tile = problem.layout.tile, pieces = problem.layout.pieces;
    const auto lower = poison_other_triangle(problem.a, Uplo::lower);
    std::vector<Data> groups;
    for (Index g = 0; g < shape.groups; ++g) {
      const auto expected = problem.group(g, problem.a);
      groups.push_back(Data::matrix(this->runtime(), expected.rows(), expected.cols(), sizeof(T)));
    }
    ASSERT_TRUE(this->run([&](Sequence& s) {
      for (Index g = 0; g < shape.groups; ++g)
        for (Index j = 0; j * tile < shape.n; ++j)
          for (Index i = j; i * tile < shape.n; ++i) {
            bool has_part = false;
            for (const auto& part : problem.tiles.group(g))
              has_part = has_part || (part.i / pieces == i && part.j / pieces == j);
            if (!has_part) continue;
            const Data piece =
                upload(this->runtime(), lower.block(i * tile, j * tile, std::min(tile, shape.n - i * tile),
                                                    std::min(tile, shape.n - j * tile)));
            s.insert(TridiagonalizePack<T>{.tile = piece,
                                           .group = groups[std::size_t(g)],
                                           .tiles = &problem.tiles,
                                           .group_number = g,
                                           .i = i,
                                           .j = j});
          }
    }));
    for (Index g = 0; g < shape.groups; ++g)
      EXPECT_EQ(difference(download<T>(groups[std::size_t(g)]), problem.group(g, problem.a)), 0);
  }
}

/// Columns of a work column, and the remaining square.
TYPED_TEST(TridiagonalizeMatrixCodelets, ExtractColumns) {
  using T = TypeParam;
  for (const auto& shape : shapes) {
    const WorkProblem<T> problem(shape.n, shape.tile, shape.wanted, shape.groups, 1);
    const Index w = problem.layout.w, order = problem.padded_order(), last = problem.rows() - 1;
    const auto whole = problem.spread(problem.a);
    struct Columns {
      Index column, count;
    };
    const Index middle = last / 2;
    for (const auto& [column, count] : {Columns{0, 3}, Columns{middle * w + 1, 2}, Columns{last * w, 1},
                                        Columns{middle * w, order - middle * w}}) {
      SCOPED_TRACE(::testing::Message() << "n " << shape.n << ", column " << column << ", count " << count);
      const Index first = column / w, height = order - first * w;
      for (Index g = 0; g < shape.groups; ++g) {
        const Data group = upload(this->runtime(), problem.trailing_group(g, first));
        Matrix<T> before(height, count);
        for (Index j = 0; j < count; ++j)
          for (Index i = 0; i < height; ++i) before(i, j) = not_a_number<T>();
        const Data columns = upload(this->runtime(), before);
        ASSERT_TRUE(this->run([&](Sequence& s) {
          s.insert(TridiagonalizeExtract<T>{.group = group,
                                            .columns = columns,
                                            .tiles = &problem.tiles,
                                            .group_number = g,
                                            .column = column,
                                            .count = count});
        }));
        Matrix<T> expected(height, count);
        for (Index j = 0; j < count; ++j)
          for (Index i = first * w; i < order; ++i) {
            const Index q = column + j;
            // Column indices like row indices of A, so that the matrix is spread over its rows
            // only.
            const Index in_tile = q % w, work = q / w;
            if (i < q || in_tile >= problem.layout.count(work) || !problem.owns(g, i / w, work)) continue;
            expected(i - first * w, j) = whole(i, problem.layout.start(work) + in_tile);
          }
        EXPECT_EQ(difference(download<T>(columns), expected), 0);
      }
    }
  }
}

TYPED_TEST(TridiagonalizeMatrixCodelets, RankUpdate) {
  using T = TypeParam;
  const Index k = 3;
  for (const auto& shape : shapes)
    for (const Index chunk_count : {1, 2})
      for (const Index first : {Index(0), Index(1)}) {
        const WorkProblem<T> problem(shape.n, shape.tile, shape.wanted, shape.groups, 1);
        if (problem.rows() < std::max<Index>(chunk_count, first + 1)) continue;
        SCOPED_TRACE(::testing::Message()
                     << "n " << shape.n << ", chunks " << chunk_count << ", from work column " << first);
        const auto chunks = problem.chunks(0, chunk_count);
        const auto v = random_matrix<T>(shape.n, k, 2), w = random_matrix<T>(shape.n, k, 3);
        Matrix<T> vwv(shape.n, 3 * k);
        vwv.set_block(0, 0, v);
        vwv.set_block(0, k, w);
        vwv.set_block(0, 2 * k, v);
        const auto padded = problem.spread(vwv);
        std::vector<Data> pieces, groups;
        for (Index c = 0; c < chunk_count; ++c)
          pieces.push_back(upload(this->runtime(), problem.chunk(chunks, c, padded)));
        for (Index g = 0; g < shape.groups; ++g)
          groups.push_back(upload(this->runtime(), problem.group(g, problem.a)));
        ASSERT_TRUE(this->run([&](Sequence& s) {
          const auto pointers = pointers_to(pieces);
          for (Index g = 0; g < shape.groups; ++g)
            s.insert(TridiagonalizeUpdate<T>{.v = pointers,
                                             .group = groups[std::size_t(g)],
                                             .tiles = &problem.tiles,
                                             .chunks = chunks,
                                             .group_number = g,
                                             .k = k,
                                             .first_column = first});
        }));
        const auto updated = multiply(Op::none, w, Op::adjoint, v, T(-1), T(1),
                                      multiply(Op::none, v, Op::adjoint, w, T(-1), T(1), problem.a));
        auto expected = problem.a;
        const Index begin = problem.layout.start(first);
        expected.set_block(begin, begin, updated.block(begin, begin, shape.n - begin, shape.n - begin));
        for (Index g = 0; g < shape.groups; ++g)
          EXPECT_LE(difference(download<T>(groups[std::size_t(g)]), problem.group(g, expected)),
                    this->tolerance(2 * k));
      }
}

/// Two panels in one block, from work row 1 on.
TYPED_TEST(TridiagonalizeMatrixCodelets, StoreReflectors) {
  using T = TypeParam;
  const Index k[] = {3, 2}, first = 1, chunk_count = 2;
  const WorkProblem<T> problem(23, 9, 5, 1, 1);
  const auto chunks = problem.chunks(first, chunk_count);
  const Index rows = problem.layout.n - problem.layout.start(first);
  const auto block = random_matrix<T>(rows, k[0] + k[1], 2);
  for (Index c = 0; c < chunk_count; ++c) {
    const Index begin = problem.layout.start(chunks.begin(c)),
                end = problem.layout.start(chunks.begin(c + 1));
    const Data piece = Data::matrix(this->runtime(), end - begin, k[0] + k[1], sizeof(T));
    ASSERT_TRUE(this->run([&](Sequence& s) {
      Index at = 0;
      for (const Index width : k) {
        // Values after V in its piece, and the padding, must not be read.
        Matrix<T> vwv((problem.rows() - first) * problem.layout.w, 3 * width);
        for (Index j = 0; j < vwv.cols(); ++j)
          for (Index i = 0; i < vwv.rows(); ++i) vwv(i, j) = not_a_number<T>();
        for (Index j = 0; j < width; ++j)
          for (Index i = 0; i < rows; ++i)
            vwv(problem.layout.padded(problem.layout.start(first) + i) - first * problem.layout.w, j) =
                block(i, at + j);
        const Data v = upload(this->runtime(), problem.chunk(chunks, c, vwv));
        s.insert(TridiagonalizeStore<T>{.v = v,
                                        .piece = piece,
                                        .layout = problem.layout,
                                        .chunks = chunks,
                                        .chunk = c,
                                        .k = width,
                                        .at = at});
        at += width;
      }
    }));
    EXPECT_EQ(difference(download<T>(piece),
                         block.block(begin - problem.layout.start(first), 0, end - begin, block.cols())),
              0);
  }
}

/// Checks A = Q T Q^H with Q from the single reflectors, starting at work row 0, in the middle, and
/// at the last one.
TYPED_TEST(TridiagonalizeMatrixCodelets, TridiagonalizeRest) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const auto& shape : {Shape{23, 9, 5, 3}, Shape{47, 20, 20, 2}, Shape{19, 9, 9, 1}})
    for (const bool keep : {true, false}) {
      const WorkProblem<T> problem(shape.n, shape.tile, shape.wanted, shape.groups, 1);
      const Index w = problem.layout.w;
      for (const Index first : {Index(0), Index(1), problem.rows() - 1}) {
        const Index start = problem.layout.start(first), m = shape.n - start;
        SCOPED_TRACE(::testing::Message() << "n " << shape.n << ", order " << m << ", keep " << keep);
        std::vector<Data> squares;
        for (Index g = 0; g < shape.groups; ++g) {
          Matrix<T> square((problem.rows() - first) * w, (problem.rows() - first) * w);
          for (Index j = start; j < shape.n; ++j)
            for (Index i = j; i < shape.n; ++i)
              if (problem.owns(g, problem.layout.work_row(i), problem.layout.work_row(j)))
                square(problem.layout.padded(i) - first * w, problem.layout.padded(j) - first * w) =
                    problem.a(i, j);
          squares.push_back(upload(this->runtime(), square));
        }
        const auto pointers = pointers_to(squares);
        const Data data = this->scalars(m),
                   workspace = Data::scratch(this->runtime(), rest_workspace_bytes<T>(m));
        const Data v = Data::matrix(this->runtime(), m, std::max<Index>(m - 1, 1), sizeof(T));
        ASSERT_TRUE(this->run([&](Sequence& s) {
          s.insert(TridiagonalizeRest<T>{.scalars = data,
                                         .v = keep && m > 1 ? &v : nullptr,
                                         .workspace = workspace,
                                         .squares = pointers,
                                         .layout = problem.layout,
                                         .first = first});
        }));
        auto memory = download_values<char>(data);
        const ScalarPiece<T> scalars(memory.data(), m);
        EXPECT_EQ(scalars.e[m - 1], R(0));
        EXPECT_EQ(scalars.tau[m - 1], T(0));
        Matrix<T> t(m, m);
        for (Index i = 0; i < m; ++i) t(i, i) = scalars.d[i];
        for (Index i = 0; i + 1 < m; ++i) t(i + 1, i) = t(i, i + 1) = scalars.e[i];
        const auto a = problem.a.block(start, start, m, m);
        if (keep) {
          const auto reflectors = m > 1 ? download<T>(v) : Matrix<T>(1, 0);
          for (Index j = 0; j + 1 < m; ++j)
            for (Index i = 0; i <= j + 1; ++i) EXPECT_EQ(reflectors(i, j), T(i == j + 1));
          const auto q = product_of_reflectors(reflectors, scalars.tau);
          EXPECT_LE(difference(multiply(Op::none, multiply(q, t), Op::adjoint, q), a), this->tolerance(m));
        } else {
          // Without the reflectors only the traces of A, A^2 and A^3 are compared.
          const auto a_a = multiply(a, a), t_t = multiply(t, t);
          const auto a_a_a = multiply(a_a, a), t_t_t = multiply(t_t, t);
          double traces[3] = {};
          for (Index i = 0; i < m; ++i) {
            traces[0] += real_part(a(i, i)) - real_part(t(i, i));
            traces[1] += real_part(a_a(i, i)) - real_part(t_t(i, i));
            traces[2] += real_part(a_a_a(i, i)) - real_part(t_t_t(i, i));
          }
          const double norm = norm_1(a);
          for (int power = 0; power < 3; ++power)
            EXPECT_LE(std::abs(traces[power]), this->tolerance(m) * std::pow(norm, power + 1));
        }
      }
    }
}

TYPED_TEST(TridiagonalizeMatrixCodelets, PlaceScalars) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index counts[] = {3, 1, 4}, n = 8;
  std::vector<R> d, e;
  std::vector<Data> pieces;
  for (const Index count : counts) {
    std::vector<char> memory(ScalarPiece<T>::bytes(count));
    const ScalarPiece<T> scalars(memory.data(), count);
    for (Index i = 0; i < count; ++i) {
      d.push_back(scalars.d[i] = R(1 + d.size()));
      e.push_back(scalars.e[i] = R(100 + e.size()));
      scalars.tau[i] = not_a_number<T>();
    }
    pieces.push_back(upload(this->runtime(), memory));
  }
  e.pop_back();  // the last piece has one element less than its count
  const Data data_d = Data::bytes(this->runtime(), sizeof(R) * n),
             data_e = Data::bytes(this->runtime(), sizeof(R) * (n - 1));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    Index at = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      s.insert(TridiagonalizePlace<T>{.scalars = pieces[i],
                                      .d = data_d,
                                      .e = data_e,
                                      .at = at,
                                      .count = counts[i],
                                      .elements = std::min(counts[i], n - 1 - at)},
               {.execute_on = 0});
      at += counts[i];
    }
  }));
  EXPECT_EQ(download_values<R>(data_d), d);
  EXPECT_EQ(download_values<R>(data_e), e);
}

/// I - V T V^H against the product of the reflectors, with V in two pieces and tau in two panels,
/// the second with one column more than is used.
TYPED_TEST(TridiagonalizeMatrixCodelets, ReflectorFactor) {
  using T = TypeParam;
  const Index rows[] = {7, 6}, widths[] = {3, 3}, n = 13, k = 5;
  auto v = random_matrix<T>(n, k, 1);
  for (Index j = 0; j < k; ++j)
    for (Index i = 0; i <= j; ++i) v(i, j) = T(i == j);
  std::vector<T> tau;
  std::vector<Data> panels, pieces;
  for (const Index width : widths) {
    std::vector<char> memory(ScalarPiece<T>::bytes(width));
    const ScalarPiece<T> scalars(memory.data(), width);
    for (Index i = 0; i < width; ++i)
      tau.push_back(scalars.tau[i] = random_scalar<T>(2, Index(tau.size()), 0));
    panels.push_back(upload(this->runtime(), memory));
  }
  pieces.push_back(upload(this->runtime(), v.block(0, 0, rows[0], k)));
  pieces.push_back(upload(this->runtime(), v.block(rows[0], 0, rows[1], k)));
  const Data t = upload(this->runtime(), random_matrix<T>(k, k, 3));
  const auto of_v = pointers_to(pieces), of_panels = pointers_to(panels);
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(TridiagonalizeFactor<T>{.v = of_v, .scalars = of_panels, .t = t, .rows = n, .k = k});
  }));
  const auto factor = download<T>(t);
  EXPECT_EQ(difference(factor, triangle(factor, Uplo::upper)), 0) << "GPUs multiply by all of T";
  const auto q = multiply(Op::none, multiply(v, factor), Op::adjoint, v, T(-1), T(1), identity<T>(n));
  const auto expected = product_of_reflectors(v, tau.data());
  EXPECT_LE(difference(q, expected), this->tolerance(n) * norm_1(expected));
}

}  // namespace
}  // namespace tessera::test
