// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/vectors/combine.hpp>
#include <tessera/codelets/vectors/random_vectors.hpp>
#include <tessera/codelets/vectors/residual.hpp>

/// The tasks on tall vectors against plain loops in long double. A test matrix of width x rows is a
/// block of row-major vectors; its element (j, i) is element i of vector j.
namespace tessera::test {
using namespace detail;
namespace {

/// Columns of block number `block`.
struct ColumnRange {
  std::int32_t block = 0, first = 0, columns = 0;
};

template <class T>
class Vectors : public RuntimeTest<T> {
 protected:
  static constexpr double unit = precision<T>;
  /// Elements (range.first + a, i) of the block.
  static double element(const std::vector<Matrix<T>>& blocks, const ColumnRange& range, Index a, Index i) {
    return blocks[std::size_t(range.block)](range.first + a, i);
  }
  static Index columns(const std::vector<ColumnRange>& ranges) {
    Index sum = 0;
    for (const ColumnRange& range : ranges) sum += range.columns;
    return sum;
  }
  /// Column c of all ranges, counted consecutively.
  static double column(const std::vector<Matrix<T>>& blocks, const std::vector<ColumnRange>& ranges, Index c,
                       Index i) {
    for (const ColumnRange& range : ranges) {
      if (c < range.columns) return element(blocks, range, c, i);
      c -= range.columns;
    }
    return not_a_number<double>();
  }
  static std::vector<Matrix<T>> blocks_of(const std::vector<Index>& widths, Index rows, std::uint64_t seed) {
    std::vector<Matrix<T>> blocks;
    for (const Index width : widths) blocks.push_back(random_matrix<T>(width, rows, seed++));
    return blocks;
  }
  std::vector<Data> uploaded(const std::vector<Matrix<T>>& blocks) {
    std::vector<Data> data;
    for (const Matrix<T>& block : blocks) data.push_back(upload(this->runtime(), block));
    return data;
  }
  template <std::size_t max>
  static std::array<ReadColumns<T>, max> on(const std::vector<Data>& data,
                                            const std::vector<ColumnRange>& ranges) {
    std::array<ReadColumns<T>, max> operands;
    auto next = operands.begin();
    for (const ColumnRange& range : ranges)
      *next++ = {data[std::size_t(range.block)], range.first, range.columns};
    return operands;
  }
};
TYPED_TEST_SUITE(Vectors, Reals);

struct Shape {
  std::vector<Index> widths;
  std::vector<ColumnRange> left, right;
};

TYPED_TEST(Vectors, Gram) {
  using T = TypeParam;
  const std::vector<Shape> shapes{
      {{1}, {{0, 0, 1}}, {{0, 0, 1}}},
      {{5, 3}, {{0, 1, 3}}, {{1, 0, 2}}},
      {{8, 8, 8, 8, 8}, {{0, 0, 8}, {1, 0, 7}, {2, 2, 5}}, {{3, 0, 7}, {4, 0, 7}}},
      {{6, 6, 6, 6}, {{0, 0, 6}, {1, 0, 4}, {2, 1, 3}}, {{3, 0, 4}, {1, 0, 4}}},  // B = I: W twice
      {{32, 32, 32, 32, 32}, {{0, 0, 32}, {1, 0, 32}, {2, 0, 32}}, {{3, 0, 32}, {4, 0, 32}}},
      {{4, 4}, {{0, 0, 4}, {1, 0, 0}}, {{1, 0, 2}, {0, 0, 0}}},  // ranges without columns
  };
  for (const Shape& shape : shapes)
    for (const Index rows : {1, 2, 127, 128, 129, 700}) {
      const auto blocks = this->blocks_of(shape.widths, rows, 7);
      const auto data = this->uploaded(blocks);
      const Index l = this->columns(shape.left), r = this->columns(shape.right);
      // The output may be larger than needed.
      const Data g = Data::bytes(this->runtime(), sizeof(double) * std::size_t(l * r + 5));
      const Data work = Data::scratch(this->runtime(), sizeof(double) * std::size_t(gram_parts * l * r));
      ASSERT_TRUE(this->run([&](Sequence& sequence) {
        sequence.insert(Gram<T>{.left = this->template on<3>(data, shape.left),
                                .right = this->template on<2>(data, shape.right),
                                .g = g,
                                .work = work,
                                .rows = rows});
      }));
      const std::vector<double> sums = download_values<double>(g);
      for (Index j = 0; j < r; ++j)
        for (Index i = 0; i < l; ++i) {
          long double sum = 0;
          for (Index k = 0; k < rows; ++k)
            sum += static_cast<long double>(this->column(blocks, shape.left, i, k)) *
                   this->column(blocks, shape.right, j, k);
          // Sums are in double, even for float vectors.
          EXPECT_NEAR(sums[std::size_t(i + j * l)], double(sum), 1e-15 * double(rows + 8)) << i << " " << j;
        }
    }
}

struct Combination {
  std::vector<Index> widths;
  std::vector<ColumnRange> inputs, outputs;
  bool whole;  ///< overwrites outputs that are not inputs
};
bool has(const std::vector<ColumnRange>& ranges, int block) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const ColumnRange& range) { return range.block == block; });
}

TYPED_TEST(Vectors, Combine) {
  using T = TypeParam;
  const std::vector<Combination> cases{
      {{3, 3}, {{0, 0, 3}}, {{1, 0, 2}}, true},
      {{3, 4}, {{0, 0, 3}}, {{1, 1, 2}}, false},
      {{1}, {{0, 0, 1}}, {{0, 0, 1}}, true},
      // [X P] := [X W P] C in place, with columns of P from the second on.
      {{6, 6, 6}, {{0, 0, 6}, {1, 0, 4}, {2, 1, 3}}, {{0, 0, 6}, {2, 0, 4}}, true},
      // In the first iteration P is only written.
      {{6, 6, 6}, {{0, 0, 6}, {1, 0, 4}}, {{0, 0, 6}, {2, 0, 4}}, true},
      // W := [X P Y W] C in place.
      {{5, 5, 9, 5}, {{0, 0, 5}, {1, 0, 5}, {2, 0, 9}, {3, 0, 5}}, {{3, 0, 3}}, true},
      {{32, 32, 32}, {{0, 0, 32}, {1, 0, 32}, {2, 0, 32}}, {{0, 0, 32}, {2, 0, 32}}, true},
      {{4, 4}, {}, {{1, 1, 2}}, true},
      // A single block with overlapping ranges.
      {{8}, {{0, 0, 6}}, {{0, 4, 3}}, true},
  };
  for (const Combination& c : cases)
    for (const Index rows : {1, 128, 130, 500}) {
      const auto blocks = this->blocks_of(c.widths, rows, 11);
      const auto data = this->uploaded(blocks);
      const Index in = this->columns(c.inputs), out = this->columns(c.outputs);
      const Matrix<double> coefficients = random_matrix<double>(std::max<Index>(in, 1), out, 5);
      const Data matrix =
          upload(this->runtime(), std::vector<double>(coefficients.data(), coefficients.data() + in * out));
      ASSERT_TRUE(this->run([&](Sequence& sequence) {
        Combine<T> task{.inputs = this->template on<4>(data, c.inputs), .c = matrix, .rows = rows};
        std::size_t next = 0;
        for (const ColumnRange& range : c.outputs) {
          const Data& block = data[std::size_t(range.block)];
          const bool replaced = c.whole && !has(c.inputs, range.block);
          task.outputs[next++] = {replaced ? overwrite(block) : add_to(block), range.first, range.columns};
        }
        sequence.insert(task);
      }));
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const auto result = download<T>(data[b]);
        const bool written = has(c.outputs, int(b)), is_input = has(c.inputs, int(b));
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < c.widths[b]; ++j) {
            double expected = written && c.whole && !is_input ? 0 : double(blocks[b](j, i));
            double gate = 0;
            Index column = 0;
            for (const ColumnRange& range : c.outputs) {
              if (std::size_t(range.block) == b && j >= range.first && j < range.first + range.columns) {
                expected = 0;
                for (Index k = 0; k < in; ++k)
                  expected +=
                      this->column(blocks, c.inputs, k, i) * coefficients(k, column + j - range.first);
                gate = double(in + 1) * (1e-15 + this->unit);
              }
              column += range.columns;
            }
            ASSERT_NEAR(double(result(j, i)), expected, gate) << b << " " << i << " " << j;
          }
      }
    }
}

TYPED_TEST(Vectors, Residual) {
  using T = TypeParam;
  for (const bool generalized : {false, true})
    for (const Index columns : {1, 5, 32})
      for (const Index rows : {1, 77, 300}) {
        const Index width = std::min<Index>(columns + 2, 40);
        const auto blocks = this->blocks_of({width, width, width}, rows, 3);  // X, AX, BX
        const auto data = this->uploaded(blocks);
        const Index first = columns / 3;
        std::array<double, max_block_columns> theta{};
        for (std::size_t j = 0; j < std::size_t(columns); ++j) theta[j] = random_uniform(9, 0, Index(j), 0);
        const Data r = Data::matrix(this->runtime(), width, rows, sizeof(T)),
                   norms = Data::bytes(this->runtime(), sizeof(double) * residual_norms),
                   work = Data::scratch(this->runtime(), sizeof(double) * residual_parts * residual_norms);
        ASSERT_TRUE(this->run([&](Sequence& sequence) {
          sequence.insert(Residual<T>{.ax = data[1],
                                      .bx = generalized ? &data[2] : nullptr,
                                      .x = data[0],
                                      .r = r,
                                      .norms = norms,
                                      .work = work,
                                      .columns = std::int32_t(columns),
                                      .first = std::int32_t(first),
                                      .theta = theta,
                                      .rows = rows});
        }));
        const auto result = download<T>(r);
        const auto squares = download_values<double>(norms);
        const Matrix<T>& bx = blocks[generalized ? 2 : 0];
        for (Index j = 0; j < columns; ++j) {
          long double sums[4] = {};
          for (Index i = 0; i < rows; ++i) {
            const long double e =
                static_cast<long double>(blocks[1](j, i)) - theta[std::size_t(j)] * (long double)(bx(j, i));
            const long double x = blocks[0](j, i), ax = blocks[1](j, i), b = bx(j, i);
            sums[0] += e * e, sums[1] += x * x, sums[2] += ax * ax, sums[3] += b * b;
            if (j >= first) {
              EXPECT_NEAR(double(result(j - first, i)), double(e), 4 * this->unit);
            }
          }
          for (Index k = 0; k < 4; ++k)
            EXPECT_NEAR(squares[std::size_t(32 * k + j)], double(sums[k]), 1e-15 * double(rows + 8) * 4);
        }
        for (Index i = 0; i < rows; ++i)
          for (Index j = columns - first; j < width; ++j) EXPECT_EQ(result(j, i), T(0));
        for (Index k = 0; k < 4; ++k)
          for (Index j = columns; j < 32; ++j) EXPECT_EQ(squares[std::size_t(32 * k + j)], 0);
      }
}

TYPED_TEST(Vectors, RandomVectors) {
  using T = TypeParam;
  const Index rows = 3000, width = 6;
  const auto fill = [&](Index first_row, Index count, Index first, Index columns, bool clear) {
    const Data v = upload(this->runtime(), random_matrix<T>(width, count, 4));
    EXPECT_TRUE(this->run([&](Sequence& sequence) {
      sequence.insert(RandomVectors<T>{.v = clear ? overwrite(v) : add_to(v),
                                       .seed = 5,
                                       .first_row = first_row,
                                       .first = std::int32_t(first),
                                       .columns = std::int32_t(columns)});
    }));
    return download<T>(v);
  };
  const Matrix<T> all = fill(0, rows, 0, width, true);
  // Values must depend on row and column only.
  const Matrix<T> part = fill(1000, 500, 2, 3, false), cleared = fill(1000, 500, 2, 3, true);
  const Matrix<T> before = random_matrix<T>(width, 500, 4);
  for (Index i = 0; i < 500; ++i)
    for (Index j = 0; j < width; ++j) {
      const bool filled = j >= 2 && j < 5;
      EXPECT_EQ(part(j, i), filled ? all(j, 1000 + i) : before(j, i));
      EXPECT_EQ(cleared(j, i), filled ? all(j, 1000 + i) : T(0));
    }
  // Mean 0, variance 4/3, no correlation: within five standard deviations.
  for (Index j = 0; j < width; ++j)
    for (Index k = 0; k <= j; ++k) {
      double mean = 0, product = 0;
      for (Index i = 0; i < rows; ++i)
        mean += double(all(j, i)), product += double(all(j, i)) * double(all(k, i));
      EXPECT_NEAR(mean / double(rows), 0, 5 * 1.16 / std::sqrt(double(rows)));
      EXPECT_NEAR(product / double(rows), j == k ? 4.0 / 3 : 0, 5 * 1.9 / std::sqrt(double(rows)));
    }
}

}  // namespace
}  // namespace tessera::test
