// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vector_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;
using test::Matrix;

template <class T>
class MultiplyVectors : public RuntimeTest<T> {};
TYPED_TEST_SUITE(MultiplyVectors, Scalars);

TYPED_TEST(MultiplyVectors, OfAllSymmetries) {
  for (const Index width : {1, 3, 6})
    for_each_symmetry<TypeParam>(this->runtime(), 5, all_symmetries,
                                 [&](Symmetry, const BlockLayout& first, const BlockLayout& second) {
                                   check_vector_product<TypeParam>(this->runtime(), first, width);
                                   check_vector_product<TypeParam>(this->runtime(), second, width, 1);
                                 });
}

TYPED_TEST(MultiplyVectors, OfRectangularAndEmptyMatrices) {
  for (const auto& [rows, cols] : rectangles)
    for_rectangle<TypeParam>(this->runtime(), rows, cols, 3,
                             [&](const BlockLayout& first, const BlockLayout& second) {
                               check_vector_product<TypeParam>(this->runtime(), first, 2);
                               check_vector_product<TypeParam>(this->runtime(), second, 1, 0);
                             });
}

/// Blocks large enough for BLAS, beside small ones.
TYPED_TEST(MultiplyVectors, OfLargeBlocks) {
  const std::vector<Index> sizes{70, 1, 33, 0, 20};
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian})
    for (const Index width : {1, 9})
      check_vector_product<TypeParam>(this->runtime(),
                                      make_block_layout(this->runtime(), sizes, sizes, symmetry), width, 1);
}

TYPED_TEST(MultiplyVectors, MayOverwriteTheirInput) {
  using T = TypeParam;
  const std::vector<Index> sizes = mixed_sizes();
  auto [a, dense] = make_problem<T>(this->runtime(),
                                    random_layout(this->runtime(), sizes, sizes, Symmetry::symmetric, 4), 1);
  auto [x, dense_x] = filled(row_vectors(a, 2), 2);
  run_sequence(this->runtime(), [&, &m = a, &v = x](Sequence& sequence) {
    multiply_vectors(sequence, T(1), m, Op::none, v, T(2), v);
  });
  const Matrix<T> expected = test::multiply(Op::none, dense, Op::none, dense_x, T(1), T(2), dense_x);
  EXPECT_LE(difference(contents(x), expected), 200 * precision<T>);
}

TYPED_TEST(MultiplyVectors, RefuseBadArguments) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto a = make_problem<T>(runtime, make_block_layout(runtime, {3, 2}, {2, 2, 0}), 1).matrix;
  const PanelVectors<T> x = column_vectors(a, 2), y = row_vectors(a, 2), narrow = row_vectors(a, 1), none;
  const BlockSparseMatrix<T> empty;
  Sequence sequence(runtime);
  const auto call = [&](T alpha, const BlockSparseMatrix<T>& m, Op op, const PanelVectors<T>& from, T beta,
                        const PanelVectors<T>& to) {
    return [=, &sequence, &m, &from, &to] { multiply_vectors(sequence, alpha, m, op, from, beta, to); };
  };
  expect_refused("a", call(T(1), empty, Op::none, x, T(0), y));
  expect_refused("x", call(T(1), a, Op::none, none, T(0), y));
  expect_refused("y", call(T(1), a, Op::none, x, T(0), none));
  expect_refused("x", call(T(1), a, Op::none, y, T(0), y));
  expect_refused("x", call(T(1), a, Op::adjoint, x, T(0), y));
  expect_refused("y", call(T(1), a, Op::none, x, T(0), narrow));
  expect_refused("alpha", call(not_a_number<T>(), a, Op::none, x, T(0), y));
  expect_refused("beta", call(T(1), a, Op::none, x, not_a_number<T>(), y));
  expect_refused("a", [&] { row_vectors(empty, 1); });
  expect_refused("width", [&] { row_vectors(a, 0); });
  expect_refused("dimension", [&] { PanelVectors<T>(runtime, nullptr, 1); });
  expect_refused("owners", [&] { PanelVectors<T>(runtime, a.layout().rows, 1, {5, 5, 5}); });
  std::vector<T> values(8);
  expect_refused("values", [&] { x.set(nullptr, 4); });
  expect_refused("ld", [&] { x.get(values.data(), 3); });
}

/// Bitwise the same, however many workers there are.
TEST(MultiplyVectorsRepeated, DoNotDependOnTheWorkers) {
  using T = std::complex<double>;
  const std::vector<Index> sizes(40, 7);
  std::vector<Matrix<T>> results;
  for (const int cores : {1, 2, 3}) {
    Runtime runtime({.cores = cores, .gpus = 0, .bind = false});
    const auto a =
        make_problem<T>(runtime, random_layout(runtime, sizes, sizes, Symmetry::hermitian, 3), 1).matrix;
    for (int round = 0; round < 3; ++round) {
      const auto x = filled(column_vectors(a, 3), 2), y = filled(row_vectors(a, 3), 3);
      run_sequence(runtime, [&](Sequence& sequence) {
        multiply_vectors(sequence, T(2), a, Op::transpose, x.vectors, T(3), y.vectors);
      });
      results.push_back(contents(y.vectors));
    }
  }
  for (const Matrix<T>& result : results) EXPECT_TRUE(test::identical(result, results.front()));
}

}  // namespace
}  // namespace tessera
