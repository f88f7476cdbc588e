// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>
#include <tests/support/eigen_problem.hpp>

namespace tessera::test {
namespace {

/// Square matrices of blocks of 3, 2 and 4, with all blocks.
template <class T>
class CBlockOperations : public CTest<T> {
 public:
  static constexpr Index n = 9;
  void SetUp() override {
    const Index sizes[] = {3, 2, 4};
    ASSERT_C(
        tessera_block_layout_create(CTest<T>::runtime, 3, sizes, 0, nullptr, TESSERA_NO_SYMMETRY, &layout));
    ASSERT_C(tessera_block_layout_create(CTest<T>::runtime, 3, sizes, 0, nullptr,
                                         is_complex<T> ? TESSERA_HERMITIAN : TESSERA_SYMMETRIC,
                                         &hermitian_layout));
    a = random_matrix<T>(n, n, 1);
    b = random_matrix<T>(n, n, 2);
    make(layout, a, &block_a);
    make(layout, b, &block_b);
  }
  static void make(const tessera_block_layout* in, const Matrix<T>& dense, tessera_block_matrix** matrix) {
    ASSERT_C(tessera_block_matrix_from_dense(CTest<T>::runtime, CTest<T>::type, in, dense.data(), dense.ld(),
                                             -1, matrix));
  }
  static void expect_near(const tessera_block_matrix* matrix,
                          const std::function<T(Index, Index)>& expected) {
    Matrix<T> dense(n, n);
    ASSERT_C(tessera_block_matrix_to_dense(matrix, dense.data(), dense.ld()));
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i)
        EXPECT_LE(std::abs(dense(i, j) - expected(i, j)), 200 * precision<T>) << i << ' ' << j;
  }
  Layout layout, hermitian_layout;
  Matrix<T> a, b;
  BlockMatrix block_a, block_b;
};
TYPED_TEST_SUITE(CBlockOperations, Scalars);

/// Several operations in one sequence, without waits between them.
TYPED_TEST(CBlockOperations, ASequenceOfOperations) {
  using T = TypeParam;
  tessera_sequence* sequence = nullptr;
  ASSERT_C(tessera_sequence_create(this->runtime, &sequence));
  const T alpha(2), beta(-3), shift(5);
  EXPECT_C(tessera_block_add(sequence, &alpha, this->block_a, &beta, this->block_b));
  EXPECT_C(tessera_block_add_on_diagonal(sequence, &shift, this->block_a));
  EXPECT_C(tessera_block_scale(sequence, &alpha, this->block_a));
  BlockMatrix transposed;
  EXPECT_C(tessera_block_transpose(sequence, TESSERA_ADJOINT, this->block_a, &transposed));
  EXPECT_C(tessera_sequence_wait(sequence));
  tessera_sequence_free(sequence);
  const auto sum = [&](Index i, Index j) {
    return alpha * (alpha * this->a(i, j) + beta * this->b(i, j) + (i == j ? shift : T(0)));
  };
  this->expect_near(this->block_a, sum);
  this->expect_near(transposed, [&](Index i, Index j) { return conjugate(sum(j, i)); });
}

TYPED_TEST(CBlockOperations, ElementwiseOperations) {
  using T = TypeParam;
  BlockMatrix product, copy;
  ASSERT_C(tessera_block_hadamard(nullptr, this->block_a, this->block_b, &product));
  this->expect_near(product, [&](Index i, Index j) { return this->a(i, j) * this->b(i, j); });
  ASSERT_C(tessera_block_copy(nullptr, this->block_a, &copy));
  std::vector<T> v;
  for (Index i = 0; i < this->n; ++i) v.push_back(random_scalar<T>(5, i, 0));
  ASSERT_C(tessera_block_scale_by_vector(nullptr, 'R', v.data(), this->n, copy));
  this->expect_near(copy, [&](Index i, Index j) { return this->a(i, j) * v[static_cast<std::size_t>(j)]; });
  EXPECT_EQ(tessera_block_scale_by_vector(nullptr, 'R', v.data(), this->n - 1, copy),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_block_scale_by_vector(nullptr, 'X', v.data(), this->n, copy), TESSERA_INVALID_ARGUMENT);
  ASSERT_C(tessera_block_set_diagonal(nullptr, v.data(), this->n, copy));
  std::vector<T> diagonal(static_cast<std::size_t>(this->n));
  ASSERT_C(tessera_block_get_diagonal(copy, diagonal.data(), this->n));
  EXPECT_EQ(diagonal, v);
  ASSERT_C(tessera_block_function_of_elements(nullptr, TESSERA_ELEMENT_COS, nullptr, nullptr, copy));
  Matrix<T> dense(this->n, this->n);
  ASSERT_C(tessera_block_matrix_to_dense(copy, dense.data(), dense.ld()));
  EXPECT_LE(std::abs(dense(0, 0) - std::cos(v[0])), 10 * precision<T>);
  EXPECT_EQ(tessera_block_function_of_elements(nullptr, 77, nullptr, nullptr, copy),
            TESSERA_INVALID_ARGUMENT);
  const T value(0.5);
  ASSERT_C(tessera_block_set_all(nullptr, &value, copy));
  this->expect_near(copy, [&](Index, Index) { return value; });
}

TYPED_TEST(CBlockOperations, OtherShapesOfTheSameMatrix) {
  using T = TypeParam;
  const auto hermitian = random_hermitian<T>(this->n, 6);
  BlockMatrix half, full, again, upper, diagonal, permuted, other, back;
  this->make(this->hermitian_layout, hermitian, &half);
  const auto element = [&](Index i, Index j) { return hermitian(i, j); };
  ASSERT_C(tessera_block_desymmetrize(nullptr, half, &full));
  tessera_block_matrix_info info;
  ASSERT_C(tessera_block_matrix_get_info(full, &info));
  EXPECT_EQ(info.symmetry, TESSERA_NO_SYMMETRY);
  EXPECT_EQ(info.stored_blocks, 9);
  this->expect_near(full, element);
  ASSERT_C(tessera_block_redistribute(nullptr, full, this->hermitian_layout, &again));
  this->expect_near(again, element);
  Layout layout;
  ASSERT_C(tessera_block_matrix_layout(again, &layout));
  ASSERT_C(tessera_block_redistribute(nullptr, full, layout, &back));
  this->expect_near(back, element);
  ASSERT_C(tessera_block_upper_triangle(nullptr, full, 1, &upper));
  this->expect_near(upper, [&](Index i, Index j) { return i <= j ? hermitian(i, j) : T(0); });
  const auto block_of = [](Index i) { return i < 3 ? 0 : i < 5 ? 1 : 2; };
  ASSERT_C(tessera_block_diagonal(nullptr, full, &diagonal));
  this->expect_near(diagonal,
                    [&](Index i, Index j) { return block_of(i) == block_of(j) ? hermitian(i, j) : T(0); });
  ASSERT_C(tessera_block_convert(nullptr, full, &other));
  ASSERT_C(tessera_block_matrix_get_info(other, &info));
  EXPECT_EQ(tessera_type_bytes(info.type), precision<T> < 1e-10 ? sizeof(T) / 2 : sizeof(T) * 2);
  const Index identity[] = {0, 1, 2};
  ASSERT_C(tessera_block_permute(nullptr, full, identity, identity, &permuted));
  this->expect_near(permuted, element);
  const Index twice[] = {0, 0, 2};
  EXPECT_EQ(tessera_block_permute(nullptr, full, twice, identity, &permuted), TESSERA_INVALID_ARGUMENT);
}

TYPED_TEST(CBlockOperations, FactorsOfDiagonalBlocks) {
  using T = TypeParam;
  const auto positive = random_hermitian<T>(this->n, 6, 20);
  BlockMatrix half, inverse, cholesky, inverse_cholesky, product;
  this->make(this->hermitian_layout, positive, &half);
  ASSERT_C(tessera_block_diagonal_inverse(nullptr, half, &inverse));
  ASSERT_C(tessera_block_diagonal_cholesky(nullptr, half, &cholesky));
  ASSERT_C(tessera_block_diagonal_inverse_cholesky(nullptr, half, &inverse_cholesky));
  Layout layout;
  ASSERT_C(tessera_block_matrix_layout(cholesky, &layout));
  this->make(layout, Matrix<T>(this->n, this->n), &product);
  ASSERT_C(
      tessera_multiply(nullptr, 'N', inverse_cholesky, 'N', cholesky, nullptr, product, nullptr, nullptr));
  this->expect_near(product, [](Index i, Index j) { return T(i == j ? 1 : 0); });
  auto singular = positive;
  for (Index k = 3; k < 5; ++k) singular(k, 3) = singular(3, k) = singular(k, 4) = singular(4, k) = T(0);
  this->make(this->hermitian_layout, singular, &half);
  EXPECT_EQ(tessera_block_diagonal_inverse(nullptr, half, &inverse), TESSERA_BLOCK_SINGULAR);
  EXPECT_EQ(tessera_last_index(), 2);
  EXPECT_EQ(static_cast<tessera_block_matrix*>(inverse), nullptr);
}

TYPED_TEST(CBlockOperations, Numbers) {
  using T = TypeParam;
  T trace(0), dot(0), expected_trace(0), expected_dot(0);
  double squares = 0, largest = 0, frobenius = 0, max_abs = 0, checksum = 0, gershgorin = 0,
         expected_gershgorin = 0;
  for (Index i = 0; i < this->n; ++i) {
    expected_trace += this->a(i, i);
    double row = 0;
    for (Index j = 0; j < this->n; ++j) {
      expected_dot += conjugate(this->a(i, j)) * this->b(i, j);
      squares += std::norm(std::complex<double>(this->a(i, j)));
      largest = std::max(largest, double(std::abs(this->a(i, j))));
      row += std::abs(this->a(i, j));
    }
    expected_gershgorin = std::max(expected_gershgorin, row);
  }
  const double tolerance = 100 * precision<T>;
  ASSERT_C(tessera_block_trace(this->block_a, &trace));
  EXPECT_LE(std::abs(trace - expected_trace), tolerance);
  ASSERT_C(tessera_block_dot(this->block_a, this->block_b, &dot));
  EXPECT_LE(std::abs(dot - expected_dot), tolerance * 10);
  ASSERT_C(tessera_block_frobenius_norm(this->block_a, &frobenius));
  EXPECT_NEAR(frobenius, std::sqrt(squares), tolerance);
  ASSERT_C(tessera_block_max_abs_norm(this->block_a, &max_abs));
  EXPECT_NEAR(max_abs, largest, tolerance);
  ASSERT_C(tessera_block_gershgorin_norm(this->block_a, &gershgorin));
  EXPECT_NEAR(gershgorin, expected_gershgorin, tolerance);
  ASSERT_C(tessera_block_checksum(this->block_a, 0, &checksum));
  EXPECT_NEAR(checksum, squares, tolerance * 10);
  std::vector<double> norms(static_cast<std::size_t>(this->n));
  ASSERT_C(tessera_block_column_norms(this->block_a, norms.data(), this->n));
  double column = 0;
  for (Index i = 0; i < this->n; ++i) column += std::norm(std::complex<double>(this->a(i, 4)));
  EXPECT_NEAR(norms[4], std::sqrt(column), tolerance);
}

TYPED_TEST(CBlockOperations, Products) {
  using T = TypeParam;
  const T alpha(2), beta(-1);
  const auto c = random_matrix<T>(this->n, this->n, 3);
  for (const auto& [letter_a, letter_b] : {std::pair('N', 'N'), std::pair('T', 'C'), std::pair('C', 'N')}) {
    BlockMatrix product;
    this->make(this->layout, c, &product);
    tessera_multiply_result result;
    ASSERT_C(tessera_multiply(&alpha, letter_a, this->block_a, letter_b, this->block_b, &beta, product,
                              nullptr, &result));
    EXPECT_EQ(result.products, 27);
    EXPECT_EQ(result.filtered_products, 0);
    EXPECT_DOUBLE_EQ(result.flop, 2 * 9.0 * 9 * 9 * flop_factor<T>);
    const auto expected = multiply(Op(letter_a), this->a, Op(letter_b), this->b, alpha, beta, c);
    this->expect_near(product, [&](Index i, Index j) { return expected(i, j); });
  }
  BlockMatrix product;
  this->make(this->layout, c, &product);
  CompletionHandle completion;
  tessera_multiply_result result{};
  ASSERT_C(tessera_submit_multiply(nullptr, 'N', this->block_a, 'N', this->block_b, nullptr, product, nullptr,
                                   &result, &completion));
  ASSERT_C(tessera_wait(completion));
  EXPECT_EQ(result.products, 27);
  const auto expected = multiply(this->a, this->b);
  this->expect_near(product, [&](Index i, Index j) { return expected(i, j); });
  EXPECT_EQ(
      tessera_multiply(nullptr, 'X', this->block_a, 'N', this->block_b, nullptr, product, nullptr, nullptr),
      TESSERA_INVALID_ARGUMENT);
  tessera_multiply_options options;
  tessera_multiply_options_init(&options);
  options.filter_eps = 1e3;
  ASSERT_C(
      tessera_multiply(nullptr, 'N', this->block_a, 'N', this->block_b, nullptr, product, &options, &result));
  EXPECT_EQ(result.filtered_products, 27);
  this->expect_near(product, [](Index, Index) { return T(0); });
}

/// Matrices of two types do not mix.
TYPED_TEST(CBlockOperations, OtherTypesAreRefused) {
  BlockMatrix other;
  ASSERT_C(tessera_block_convert(nullptr, this->block_a, &other));
  EXPECT_EQ(tessera_block_add(nullptr, nullptr, this->block_a, nullptr, other), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(
      tessera_multiply(nullptr, 'N', this->block_a, 'N', other, nullptr, this->block_b, nullptr, nullptr),
      TESSERA_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tessera_last_message()).find("type"), std::string::npos);
}

TYPED_TEST(CBlockOperations, StoredBlocks) {
  Index dropped = -1;
  tessera_block_matrix_info info;
  const Index row[] = {2}, col[] = {0};
  ASSERT_C(tessera_block_filter(this->block_a, 1e3, &dropped));
  EXPECT_EQ(dropped, 9);
  ASSERT_C(tessera_block_reserve(this->block_a, 1, row, col));
  ASSERT_C(tessera_block_matrix_get_info(this->block_a, &info));
  EXPECT_EQ(info.stored_blocks, 1);
  ASSERT_C(tessera_block_clear(this->block_a));
  ASSERT_C(tessera_block_matrix_get_info(this->block_a, &info));
  EXPECT_EQ(info.stored_blocks, 0);
  EXPECT_EQ(tessera_block_filter(this->block_b, -1, nullptr), TESSERA_INVALID_ARGUMENT);
}

TYPED_TEST(CBlockOperations, VectorsAndSpectra) {
  using T = TypeParam;
  const auto hermitian = random_hermitian<T>(this->n, 6);
  BlockMatrix half;
  this->make(this->hermitian_layout, hermitian, &half);
  const auto x = random_matrix<T>(this->n, 3, 7);
  auto y = random_matrix<T>(this->n, 3, 8);
  const T alpha(2), beta(3);
  const auto expected = multiply(Op::none, hermitian, Op::none, x, alpha, beta, y);
  ASSERT_C(tessera_block_multiply_vectors(&alpha, 'N', half, 3, x.data(), x.ld(), &beta, y.data(), y.ld()));
  for (Index j = 0; j < 3; ++j)
    for (Index i = 0; i < this->n; ++i) EXPECT_LE(std::abs(y(i, j) - expected(i, j)), 200 * precision<T>);
  const auto reference = lapack_eigenvalues(hermitian);
  double lower = 0, upper = 0;
  ASSERT_C(tessera_gershgorin_bounds(half, &lower, &upper));
  EXPECT_LE(lower, reference.front());
  EXPECT_GE(upper, reference.back());
  tessera_extremal_result result;
  ASSERT_C(tessera_extremal_eigenvalues(half, 0, 0, 1, &result));
  EXPECT_NEAR(result.lowest, reference.front(), 1e-2);
  EXPECT_NEAR(result.highest, reference.back(), 1e-2);
  EXPECT_LE(result.lowest_safe_bound, reference.front() + 1e-5);
}

}  // namespace
}  // namespace tessera::test
