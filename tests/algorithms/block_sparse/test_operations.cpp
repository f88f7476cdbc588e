// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "arithmetic_cases.hpp"
#include "copy_operation_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;
using test::Matrix;

template <class T>
class BlockSparseOperations : public RuntimeTest<T> {};
TYPED_TEST_SUITE(BlockSparseOperations, Scalars);

TYPED_TEST(BlockSparseOperations, Copies) {
  check_copies<TypeParam>(this->runtime(), 5);
}

TYPED_TEST(BlockSparseOperations, RectangularCopies) {
  for (const auto& [rows, cols] : rectangles)
    check_rectangular_copies<TypeParam>(this->runtime(), rows, cols, 3);
}

TYPED_TEST(BlockSparseOperations, Arithmetic) {
  check_arithmetic<TypeParam>(this->runtime(), 5);
}

TYPED_TEST(BlockSparseOperations, RectangularArithmetic) {
  for (const auto& [rows, cols] : rectangles)
    check_rectangular_arithmetic<TypeParam>(this->runtime(), rows, cols, 3);
}

template <class T>
class RealBlockSparseOperations : public RuntimeTest<T> {};
TYPED_TEST_SUITE(RealBlockSparseOperations, Reals);

TYPED_TEST(RealBlockSparseOperations, TruncateAndRootsOutsideTheDomain) {
  using T = TypeParam;
  const BlockLayout layout = make_block_layout(this->runtime(), {1}, {3});
  BlockSparseBuilder<T> builder(this->runtime(), layout);
  Matrix<T> block(1, 3);
  block(0, 0) = -4;
  block(0, 1) = 9;
  block(0, 2) = not_a_number<T>();
  builder.put(0, 0, std::as_const(block).view());
  BlockSparseMatrix<T> a = builder.finalize(), b;
  run_sequence(this->runtime(), [&](Sequence& sequence) {
    b = copy(sequence, a);
    function_of_elements(sequence, ElementFunction::square_root, T(1), T(0), a);
    function_of_elements(sequence, ElementFunction::truncate, T(1), T(0), b);
  });
  const auto roots = *a.get_block(0, 0), cut = *b.get_block(0, 0);
  EXPECT_TRUE(std::isnan(roots[0]));
  EXPECT_EQ(roots[1], T(3));
  EXPECT_EQ(cut[0], T(-1));
  EXPECT_EQ(cut[1], T(1));
  EXPECT_TRUE(std::isnan(cut[2]));
}

/// A zero factor must not read the matrix, so a NaN disappears.
TYPED_TEST(BlockSparseOperations, ZeroFactorsWipeNaN) {
  using T = TypeParam;
  const std::vector<Index> sizes = mixed_sizes();
  const BlockLayout layout = make_block_layout(this->runtime(), sizes, sizes);
  auto [a, x] = make_problem<T>(this->runtime(), layout, 1);
  auto [b, y] = make_problem<T>(this->runtime(), layout, 2);
  run_sequence(this->runtime(), [&, &m = a, &n = b](Sequence& sequence) {
    set_all(sequence, not_a_number<T>(), m);
    add(sequence, T(0), m, T(2), n);
  });
  expect_matrix(a, mapped(y, [](T e, Index, Index) { return T(2) * e; }));
  run_sequence(this->runtime(), [&, &m = a, &n = b](Sequence& sequence) {
    set_all(sequence, not_a_number<T>(), m);
    add(sequence, T(1), n, T(0), m);
    scale(sequence, T(0), m);
  });
  expect_matrix(b, y);
  expect_matrix(a, Matrix<T>(x.rows(), x.cols()));
}

/// A block that contains a NaN must not count as small.
TYPED_TEST(BlockSparseOperations, FilterKeepsNaN) {
  using T = TypeParam;
  const BlockLayout layout = make_block_layout(this->runtime(), {1, 1}, {1, 1});
  BlockSparseBuilder<T> builder(this->runtime(), layout);
  const T nan = not_a_number<T>(), small(RealOf<T>(1e-3));
  builder.put(0, 0, {&nan, 1, 1, 1});
  builder.put(1, 1, {&small, 1, 1, 1});
  BlockSparseMatrix<T> a = builder.finalize();
  EXPECT_EQ(filter(a, 0.5), 1);
  EXPECT_TRUE(a.pattern().find(0, 0).has_value());
}

TYPED_TEST(BlockSparseOperations, RefuseBadArguments) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const std::vector<Index> sizes = mixed_sizes(), others{20, 5};
  const auto of = [&](Symmetry symmetry) {
    return make_problem<T>(runtime, make_block_layout(runtime, sizes, sizes, symmetry), 1).matrix;
  };
  BlockSparseMatrix<T> none = of(Symmetry::none), symmetric = of(Symmetry::symmetric),
                       antisymmetric = of(Symmetry::antisymmetric), hermitian = of(Symmetry::hermitian),
                       empty;
  BlockSparseMatrix<T> other = make_problem<T>(runtime, make_block_layout(runtime, others, sizes), 1).matrix;
  const T one(1);
  const std::vector<T> v(3, one), ones(25, one);
  Sequence s(runtime);
  expect_refused("a", [&] { copy(s, empty); });
  expect_refused("b", [&] { copy_into_existing(s, none, empty); });
  expect_refused("b", [&] { copy_into_existing(s, none, other); });
  expect_refused("a", [&] { copy_into_existing(s, symmetric, antisymmetric); });
  expect_refused("layout", [&] { redistribute(s, none, other.layout()); });
  expect_refused("a", [&] { redistribute(s, antisymmetric, symmetric.layout()); });
  expect_refused("a", [&] { upper_triangle(s, symmetric, true); });
  expect_refused("a", [&] { block_diagonal(s, other); });
  const std::vector<BlockCoordinate> outside{{0, 9}};
  expect_refused("block column", [&] { reserve_blocks(none, std::span<const BlockCoordinate>(outside)); });
  expect_refused("eps", [&] { filter(none, -1.0); });
  expect_refused("eps", [&] { filter(none, std::nan("")); });
  expect_refused("b", [&] { add(s, one, none, one, other); });
  expect_refused("b", [&] { add(s, one, symmetric, one, none); });
  expect_refused("b", [&] { add(s, one, symmetric, one, antisymmetric); });
  expect_refused("a", [&] { add(s, one, empty, one, none); });
  expect_refused("v", [&] { scale_by_vector(s, Side::left, std::span<const T>(v), none); });
  expect_refused("a", [&] { scale_by_vector(s, Side::left, std::span<const T>(ones), symmetric); });
  expect_refused("v", [&] { set_diagonal(s, std::span<const T>(v), none); });
  expect_refused("a", [&] { set_diagonal(s, std::span<const T>(ones), antisymmetric); });
  expect_refused("a", [&] { add_on_diagonal(s, one, antisymmetric); });
  BlockSparseMatrix<T> wide = make_problem<T>(runtime, make_block_layout(runtime, {2}, {3}), 1).matrix;
  expect_refused("a", [&] { add_on_diagonal(s, one, wide); });
  expect_refused("b", [&] { hadamard_product(s, none, other); });
  expect_refused("b", [&] { hadamard_product(s, symmetric, none); });
  using F = ElementFunction;
  expect_refused("f", [&] { function_of_elements(s, F::cos, one, T(0), antisymmetric); });
  expect_refused("second", [&] { function_of_elements(s, F::tanh, one, one, antisymmetric); });
  if constexpr (is_complex<T>) {
    const T i(0, 1);
    std::vector<T> not_real = ones;
    not_real[7] = i;
    expect_refused("alpha", [&] { scale(s, i, hermitian); });
    expect_refused("alpha", [&] { add(s, i, hermitian, one, hermitian); });
    expect_refused("beta", [&] { add(s, one, hermitian, i, hermitian); });
    expect_refused("alpha", [&] { add_on_diagonal(s, i, hermitian); });
    expect_refused("v", [&] { set_diagonal(s, std::span<const T>(not_real), hermitian); });
    expect_refused("b", [&] { add(s, one, symmetric, one, hermitian); });
    expect_refused("b", [&] { hadamard_product(s, symmetric, hermitian); });
    expect_refused("first", [&] { function_of_elements(s, F::sin, i, T(0), hermitian); });
    expect_refused("second", [&] { function_of_elements(s, F::sin, one, i, hermitian); });
    expect_refused("f", [&] { function_of_elements(s, F::square_root, one, T(0), hermitian); });
  } else {
    // A real Hermitian matrix is symmetric.
    add(s, one, symmetric, one, hermitian);
    EXPECT_EQ(hadamard_product(s, hermitian, symmetric).symmetry(), Symmetry::hermitian);
  }
  EXPECT_TRUE(s.wait().ok());
}

}  // namespace
}  // namespace tessera
