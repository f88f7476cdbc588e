// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/multiply.hpp>

#include "reduction_cases.hpp"

/// Checks the sums that a product forms of its result, and operations in flight together.
namespace tessera::operations_test {
using namespace detail;

/// Sums over the elements of a matrix, or, with a second one, sum conj(x_ij) y_ij.
template <class T>
std::complex<double> dense_dot(const Matrix<T>& x, const Matrix<T>& y) {
  std::complex<double> sum(0);
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < x.rows(); ++i) sum += std::conj(wide(x(i, j))) * wide(y(i, j));
  return sum;
}

template <class T>
std::complex<double> dense_trace(const Matrix<T>& x) {
  std::complex<double> sum(0);
  for (Index i = 0; i < std::min(x.rows(), x.cols()); ++i) sum += wide(x(i, i));
  return sum;
}

/// The matrix as every rank has it.
template <class T>
Matrix<T> dense_of(const BlockSparseMatrix<T>& a) {
  Matrix<T> dense(a.rows(), a.cols());
  const std::vector<T> values = to_dense(a);
  std::copy(values.begin(), values.end(), dense.data());
  return dense;
}

/// The sums of C = A B against those of its elements, with a filter that drops some blocks of C, and with D in
/// C's layout and another one.
template <class T>
void check_product_sums(Runtime& runtime, const BlockLayout& layout, const BlockLayout& other, double eps,
                        bool retain_sparsity = false) {
  SCOPED_TRACE(::testing::Message() << "eps " << eps << " retained " << retain_sparsity);
  const auto a = make_problem<T>(runtime, layout, 51).matrix, b = make_problem<T>(runtime, layout, 52).matrix;
  for (const BlockLayout& of_d : {layout, other}) {
    auto c = make_problem<T>(runtime, layout, 53).matrix;
    const auto [d, dense_d] = make_problem<T>(runtime, of_d, 54);
    const MultiplyResult r = multiply(
        runtime, {.a = a, .b = b, .c = c, .dot_with = &d},
        {.filter_eps = eps, .retain_sparsity = retain_sparsity, .trace = true, .frobenius_norm = true});
    ASSERT_TRUE(r) << r.status().message();
    const Matrix<T> dense = dense_of(c);
    const double norm = std::sqrt(dense_dot(dense, dense).real());
    const double size =
        norm * (1 + std::sqrt(dense_dot(dense_d, dense_d).real()) + std::sqrt(static_cast<double>(c.rows())));
    SameEverywhere all(runtime);
    all.number(r.frobenius_norm, norm, norm);
    const std::complex<double> trace = dense_trace(dense), dot = dense_dot(dense, dense_d);
    all.number(r.trace.real(), trace.real(), size);
    all.number(r.trace.imag(), trace.imag(), size);
    all.number(r.dot.real(), dot.real(), size);
    all.number(r.dot.imag(), dot.imag(), size);
    if (eps > 0 && !retain_sparsity) EXPECT_GT(r.filtered_blocks, 0) << "the case must drop blocks";
  }
}

/// Operations and filtered products that are in flight together give what the blocking calls give, and what a
/// number was of stays so when the matrix changes after the call.
template <class T>
void check_operations_in_flight(Runtime& runtime, const BlockLayout& layout) {
  const auto make = [&](std::uint64_t seed) { return make_problem<T>(runtime, layout, seed).matrix; };
  constexpr double eps = 1.5;
  std::vector<BlockSparseMatrix<T>> a, expected, products;
  for (std::uint64_t i = 0; i < 4; ++i) {
    a.push_back(make(60 + i));
    expected.push_back(make(70));
    products.push_back(make(70));
    ASSERT_TRUE(multiply(runtime, {.a = a.back(), .b = a.back(), .c = expected.back()}, {.filter_eps = eps}));
  }
  const T trace_before = trace(a[0]), dot_before = dot(a[0], a[1]);
  const double norm_before = frobenius_norm(a[0]);
  auto added = make(60), filtered = make(61), filtered_too = make(61);
  run_sequence(runtime, [&](Sequence& s) { add(s, T(2), added, T(1), a[1]); });
  const Index dropped = filter(filtered_too, eps);

  std::vector<Completion<MultiplyResult>> in_flight;
  for (std::size_t i = 0; i < 4; ++i)
    in_flight.push_back(
        submit_multiply(runtime, {.a = a[i], .b = a[i], .c = products[i]}, {.filter_eps = eps}));
  auto number = submit_trace(a[0]);
  auto product = submit_dot(a[0], a[1]);
  auto norm = submit_frobenius_norm(a[0]);
  auto filtering = submit_filter(filtered, eps);
  auto adding = submit_add(T(2), a[0], T(1), a[1]);
  for (auto& completion : in_flight) ASSERT_TRUE(completion.wait()) << completion.status().message();
  ASSERT_TRUE(number.wait() && product.wait() && norm.wait() && filtering.wait() && adding.wait());
  EXPECT_EQ(number.result().value, trace_before);
  EXPECT_EQ(product.result().value, dot_before);
  EXPECT_EQ(norm.result().value, norm_before);
  EXPECT_EQ(filtering.result().dropped_blocks, dropped);
  EXPECT_GT(dropped, 0);
  EXPECT_EQ(to_dense(filtered), to_dense(filtered_too));
  EXPECT_EQ(to_dense(a[0]), to_dense(added));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(to_dense(products[i]), to_dense(expected[i]));
    EXPECT_EQ(products[i].pattern().blocks(), expected[i].pattern().blocks());
  }
}

/// Filtered products that leave their copies to a sequence give the same, also where the next product reads the result
/// before anything has waited for the copies.
template <class T>
void check_products_in_sequence(Runtime& runtime, const BlockLayout& layout) {
  constexpr double eps = 2.5;
  const auto a = make_problem<T>(runtime, layout, 51).matrix, b = make_problem<T>(runtime, layout, 52).matrix;
  std::array<BlockSparseMatrix<T>, 2> at_once, expected;
  for (auto* results : {&at_once, &expected})
    for (auto& c : *results) c = make_problem<T>(runtime, layout, 72).matrix;
  const auto compute = [&](std::array<BlockSparseMatrix<T>, 2>& c, Sequence* sequence) {
    const MultiplyOptions options{.filter_eps = eps, .sequence = sequence};
    const MultiplyResult first = multiply(runtime, {.a = a, .b = b, .c = c[0]}, options),
                         second = multiply(runtime, {.a = a, .b = c[0], .c = c[1]}, options);
    ASSERT_TRUE(first && second) << first.status().message() << second.status().message();
    EXPECT_GT(first.filtered_blocks, 0) << "the case must drop blocks";
  };
  run_sequence(runtime, [&](Sequence& sequence) { compute(at_once, &sequence); });
  compute(expected, nullptr);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(to_dense(at_once[i]), to_dense(expected[i]));
    EXPECT_EQ(at_once[i].pattern().blocks(), expected[i].pattern().blocks());
  }
}

template <class T>
void check_sums(Runtime& runtime, unsigned seed) {
  for_each_symmetry<T>(runtime, seed, {Symmetry::none},
                       [&](Symmetry, const BlockLayout& first, const BlockLayout& second) {
                         BlockLayout half = second;
                         half.symmetry = is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
                         check_product_sums<T>(runtime, first, second, 0);
                         check_product_sums<T>(runtime, first, half, 2.5);
                         check_product_sums<T>(runtime, first, second, 2.5, true);
                         check_operations_in_flight<T>(runtime, first);
                         check_products_in_sequence<T>(runtime, first);
                       });
}

}  // namespace tessera::operations_test
