// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/sparse/sum_vectors.hpp>
#include <tessera/codelets/vectors/combine.hpp>
#include <tessera/codelets/vectors/precondition.hpp>
#include <tessera/codelets/vectors/random_vectors.hpp>
#include <tessera/codelets/vectors/residual.hpp>

/// The tasks on tall complex vectors, which see a complex column as two real ones, against plain loops. A test matrix
/// of width x rows is a block of row-major vectors; its element (j, i) is element i of vector j.
namespace tessera::test {
using namespace detail;
namespace {

struct Columns {
  std::size_t block = 0;
  Index first = 0, columns = 0;
};

template <class T>
class ComplexVectors : public RuntimeTest<T> {
 protected:
  static constexpr double unit = precision<T>;
  using Wide = std::complex<double>;

  void make(const std::vector<Index>& widths, Index rows) {
    blocks.clear(), data.clear();
    for (const Index width : widths) {
      blocks.push_back(random_matrix<T>(width, rows, 7 + blocks.size()));
      data.push_back(upload(this->runtime(), blocks.back()));
    }
  }
  static Index count(const std::vector<Columns>& ranges) {
    Index sum = 0;
    for (const Columns& range : ranges) sum += range.columns;
    return sum;
  }
  Wide at(const std::vector<Columns>& ranges, Index c, Index i) const {
    for (const Columns& range : ranges) {
      if (c < range.columns) return Wide(blocks[range.block](range.first + c, i));
      c -= range.columns;
    }
    return 0;
  }
  /// Real column c.
  double real_at(const std::vector<Columns>& ranges, Index c, Index i) const {
    const Wide x = at(ranges, c / 2, i);
    return c % 2 == 0 ? x.real() : x.imag();
  }
  template <std::size_t max>
  std::array<ReadColumns<T>, max> on(const std::vector<Columns>& ranges) const {
    std::array<ReadColumns<T>, max> operands;
    auto next = operands.begin();
    for (const Columns& range : ranges) *next++ = {data[range.block], range.first, range.columns};
    return operands;
  }
  std::vector<Matrix<T>> blocks;
  std::vector<Data> data;
};
using Complexes = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ComplexVectors, Complexes);

TYPED_TEST(ComplexVectors, Gram) {
  using T = TypeParam;
  struct Shape {
    std::vector<Index> widths;
    std::vector<Columns> left, right;
  };
  const std::vector<Shape> shapes{
      {{1}, {{0, 0, 1}}, {{0, 0, 1}}},
      {{5, 3}, {{0, 1, 3}}, {{1, 0, 2}}},
      {{20, 20, 20, 9, 7}, {{0, 0, 20}, {1, 3, 15}, {2, 0, 20}}, {{3, 0, 9}, {4, 1, 6}}},
      {{32, 32, 32, 32, 32}, {{0, 0, 32}, {1, 0, 31}, {2, 0, 32}}, {{3, 0, 32}, {4, 0, 29}}},
  };
  for (const Shape& shape : shapes)
    for (const Index rows : {1, 130, 700}) {
      this->make(shape.widths, rows);
      const Index l = 2 * this->count(shape.left), r = 2 * this->count(shape.right);
      const Data g = Data::bytes(this->runtime(), sizeof(double) * std::size_t(l * r));
      const Data work =
          Data::scratch(this->runtime(), sizeof(double) * std::size_t(gram_parts * gram_launch(l * r)));
      ASSERT_TRUE(this->run([&](Sequence& sequence) {
        sequence.insert(Gram<T>{.left = this->template on<3>(shape.left),
                                .right = this->template on<2>(shape.right),
                                .g = g,
                                .work = work,
                                .rows = rows});
      }));
      const std::vector<double> sums = download_values<double>(g);
      for (Index j = 0; j < r; ++j)
        for (Index i = 0; i < l; ++i) {
          double sum = 0;
          for (Index k = 0; k < rows; ++k)
            sum += this->real_at(shape.left, i, k) * this->real_at(shape.right, j, k);
          ASSERT_NEAR(sums[std::size_t(i + j * l)], sum, 1e-15 * double(rows + 8)) << i << " " << j;
        }
    }
}

/// Up to 128 columns of inputs and 64 of outputs, in place or not.
TYPED_TEST(ComplexVectors, Combine) {
  using T = TypeParam;
  struct Case {
    std::vector<Index> widths;
    std::vector<Columns> inputs, outputs;
    bool whole;  ///< overwrites outputs that are not inputs
  };
  const std::vector<Case> cases{
      {{1}, {{0, 0, 1}}, {{0, 0, 1}}, true},
      {{3, 4}, {{0, 0, 3}}, {{1, 1, 2}}, false},
      {{3, 4}, {{0, 0, 3}}, {{1, 1, 2}}, true},
      {{6, 6, 6}, {{0, 0, 6}, {1, 0, 4}, {2, 1, 3}}, {{0, 0, 6}, {2, 0, 4}}, true},
      {{20, 20, 20}, {{0, 0, 20}, {1, 0, 20}, {2, 1, 19}}, {{0, 0, 20}, {2, 0, 17}}, true},
      {{32, 32, 32}, {{0, 0, 32}, {1, 0, 32}, {2, 0, 32}}, {{0, 0, 32}, {2, 0, 32}}, true},
      {{32, 32, 32, 32, 32}, {{0, 0, 32}, {1, 0, 32}, {2, 0, 32}, {3, 0, 31}}, {{4, 2, 29}}, true},
      {{32, 32, 32, 32}, {{0, 0, 32}, {1, 0, 32}, {2, 0, 32}, {3, 0, 32}}, {{0, 0, 32}, {1, 0, 32}}, true},
      {{20, 20}, {}, {{0, 1, 19}, {1, 0, 20}}, true},
  };
  for (const Case& c : cases)
    for (const Index rows : {1, 63, 130, 500}) {
      this->make(c.widths, rows);
      const Index in = 2 * this->count(c.inputs), out = 2 * this->count(c.outputs);
      const Matrix<double> coefficients =
          random_matrix<double>(std::max<Index>(in, 1), std::max<Index>(out, 1), 5);
      const Data matrix =
          upload(this->runtime(), std::vector<double>(coefficients.data(), coefficients.data() + in * out));
      const auto is_input = [&](std::size_t block) {
        for (const Columns& range : c.inputs)
          if (range.block == block) return true;
        return false;
      };
      ASSERT_TRUE(this->run([&](Sequence& sequence) {
        Combine<T> task{.inputs = this->template on<4>(c.inputs), .c = matrix, .rows = rows};
        std::size_t next = 0;
        for (const Columns& range : c.outputs) {
          const Data& block = this->data[range.block];
          task.outputs[next++] = {c.whole && !is_input(range.block) ? overwrite(block) : add_to(block),
                                  range.first, range.columns};
        }
        sequence.insert(task);
      }));
      Index column = 0;
      for (const Columns& range : c.outputs) {
        const auto result = download<T>(this->data[range.block]);
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < result.rows(); ++j) {
            std::complex<double> expected(this->blocks[range.block](j, i));
            if (c.whole && !is_input(range.block)) expected = 0;
            if (j >= range.first && j < range.first + range.columns) {
              double parts[2] = {};
              for (Index part = 0; part < 2; ++part)
                for (Index k = 0; k < in; ++k)
                  parts[part] +=
                      this->real_at(c.inputs, k, i) * coefficients(k, column + 2 * (j - range.first) + part);
              expected = {parts[0], parts[1]};
            }
            ASSERT_NEAR(std::abs(std::complex<double>(result(j, i)) - expected), 0,
                        double(in + 1) * (1e-15 + 2 * this->unit))
                << range.block << " " << i << " " << j;
          }
        column += 2 * range.columns;
      }
    }
}

TYPED_TEST(ComplexVectors, Residual) {
  using T = TypeParam;
  for (const bool generalized : {false, true})
    for (const Index columns : {1, 5, 32}) {
      const Index rows = 300, width = columns + 2, first = columns / 3;
      this->make({width, width, width}, rows);
      std::array<double, max_block_columns> theta{};
      for (std::size_t j = 0; j < std::size_t(columns); ++j) theta[j] = random_uniform(9, 0, Index(j), 0);
      const Data r = Data::matrix(this->runtime(), width, rows, sizeof(T)),
                 norms = Data::bytes(this->runtime(), sizeof(double) * residual_norms),
                 work = Data::scratch(this->runtime(), sizeof(double) * residual_parts * residual_norms);
      ASSERT_TRUE(this->run([&](Sequence& sequence) {
        sequence.insert(Residual<T>{.ax = this->data[1],
                                    .bx = generalized ? &this->data[2] : nullptr,
                                    .x = this->data[0],
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
      for (Index j = 0; j < columns; ++j) {
        double sums[4] = {};
        for (Index i = 0; i < rows; ++i) {
          const std::complex<double> x(this->blocks[0](j, i)), ax(this->blocks[1](j, i)),
              bx(this->blocks[generalized ? 2 : 0](j, i)), e = ax - theta[std::size_t(j)] * bx;
          sums[0] += std::norm(e), sums[1] += std::norm(x), sums[2] += std::norm(ax),
              sums[3] += std::norm(bx);
          if (j >= first) {
            EXPECT_NEAR(std::abs(std::complex<double>(result(j - first, i)) - e), 0, 8 * this->unit);
          }
        }
        for (Index k = 0; k < 4; ++k)
          EXPECT_NEAR(squares[std::size_t(32 * k + j)], sums[k], 1e-14 * double(rows)) << k << " " << j;
      }
      for (Index i = 0; i < rows; ++i)
        for (Index j = columns - first; j < width; ++j) EXPECT_EQ(result(j, i), T(0));
      for (Index k = 0; k < 4; ++k)
        for (Index j = columns; j < 32; ++j) EXPECT_EQ(squares[std::size_t(32 * k + j)], 0);
    }
}

/// Division by rows, Chebyshev's steps and sums: on both parts alike.
TYPED_TEST(ComplexVectors, RealOperations) {
  using T = TypeParam;
  const Index rows = 200, width = 7;
  const int columns = 5;
  this->make({width, width, width, width, width}, rows);
  std::vector<double> diagonal;
  for (Index i = 0; i < rows; ++i) diagonal.push_back(2 + random_uniform(3, 0, i, 0));
  const Data of_rows = upload(this->runtime(), diagonal),
             sum = Data::matrix(this->runtime(), width, rows, sizeof(T));
  ASSERT_TRUE(this->run([&](Sequence& sequence) {
    sequence.insert(DivideRows<T>{.diagonal = of_rows,
                                  .r = this->data[0],
                                  .w = this->data[1],
                                  .columns = columns,
                                  .sign = 1,
                                  .shift = 0.5,
                                  .least = 0.1});
    sequence.insert(ChebyshevStep<T>{.ad = this->data[0],
                                     .q = this->data[2],
                                     .d = this->data[3],
                                     .w = this->data[4],
                                     .columns = columns,
                                     .shift = 0.3,
                                     .old = 0.7,
                                     .residual = -1.5});
    SumVectors<T> adds{.y = overwrite(sum), .columns = columns, .rows = rows};
    adds.z[0] = this->data[0];
    adds.z[1] = this->data[1];
    sequence.insert(adds);
  }));
  const auto divided = download<T>(this->data[1]), q = download<T>(this->data[2]),
             d = download<T>(this->data[3]), w = download<T>(this->data[4]), added = download<T>(sum);
  const double gate = 10 * this->unit;
  using Wide = std::complex<double>;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < width; ++j) {
      const auto was = [&](std::size_t block) { return Wide(this->blocks[block](j, i)); };
      if (j >= columns) {
        EXPECT_EQ(divided(j, i), T(0));
        EXPECT_EQ(added(j, i), T(0));
        EXPECT_EQ(w(j, i), this->blocks[4](j, i));
        continue;
      }
      const Wide quotient = was(0) / (diagonal[std::size_t(i)] - 0.5),
                 residual = was(2) - (was(0) - 0.3 * was(3)), direction = 0.7 * was(3) - 1.5 * residual;
      EXPECT_NEAR(std::abs(Wide(divided(j, i)) - quotient), 0, gate);
      EXPECT_NEAR(std::abs(Wide(q(j, i)) - residual), 0, gate);
      EXPECT_NEAR(std::abs(Wide(d(j, i)) - direction), 0, gate);
      EXPECT_NEAR(std::abs(Wide(w(j, i)) - was(4) - direction), 0, gate);
      EXPECT_NEAR(std::abs(Wide(added(j, i)) - was(0) - quotient), 0, gate);
    }
}

TYPED_TEST(ComplexVectors, RandomNumbersHaveTwoParts) {
  using T = TypeParam;
  const Index rows = 4000, width = 4;
  const auto fill = [&](Index first_row, Index count) {
    const Data v = Data::matrix(this->runtime(), width, count, sizeof(T));
    EXPECT_TRUE(this->run([&](Sequence& sequence) {
      sequence.insert(RandomVectors<T>{.v = overwrite(v),
                                       .seed = 5,
                                       .first_row = first_row,
                                       .first = 1,
                                       .columns = std::int32_t(width - 1)});
    }));
    return download<T>(v);
  };
  const Matrix<T> all = fill(0, rows), part = fill(100, 50);
  for (Index j = 0; j < width; ++j) {
    std::complex<double> mean = 0;
    double square = 0, product = 0;
    for (Index i = 0; i < rows; ++i) {
      const std::complex<double> x(all(j, i));
      mean += x, square += std::norm(x), product += x.real() * x.imag();
      if (i >= 100 && i < 150) {
        EXPECT_EQ(all(j, i), part(j, i - 100));
      }
    }
    if (j == 0) {
      EXPECT_EQ(square, 0);
      continue;
    }
    EXPECT_NEAR(std::abs(mean) / double(rows), 0, 0.1);
    EXPECT_NEAR(square / double(rows), 8. / 3, 0.3);
    EXPECT_NEAR(product / double(rows), 0, 0.1);
  }
}

}  // namespace
}  // namespace tessera::test
