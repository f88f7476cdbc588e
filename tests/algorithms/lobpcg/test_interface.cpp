// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/matgen.hpp>
#include <tessera/preconditioners.hpp>

/// Options, counts, history, bad input.
namespace tessera::test {
namespace {

class LobpcgInterface : public RuntimeTest<double> {
 protected:
  static constexpr Index n = 100;
};

/// Counts the columns that it multiplies.
class Counted final : public SymmetricOperator<double> {
 public:
  Counted(Runtime& runtime, const SparseRows& a) : a_(operator_of<double>(runtime, a, 2)) {}
  Index order() const override { return a_.order(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return a_.segments(); }
  double norm_bound() const override { return a_.norm_bound(); }
  void apply(Sequence& sequence, const BlockVectors<double>& x, const BlockVectors<double>& y,
             Index count) const override {
    columns.push_back(count);
    a_.apply(sequence, x, y, count);
  }
  mutable std::vector<Index> columns;

 private:
  UserOperator<double> a_;
};

TEST_F(LobpcgInterface, OneMultiplicationOfTheActiveColumnsAnIteration) {
  for (const bool lock : {true, false}) {
    const Counted op(runtime(), laplacian(n));
    const auto result = lobpcg(runtime(), {.a = &op}, {.count = 5, .block = 8, .lock = lock});
    ASSERT_EQ(result.status().code, StatusCode::success) << result.status().message();
    ASSERT_EQ(result.restarts, 0);
    // One multiplication at the start, one in each iteration, one at the end.
    ASSERT_EQ(Index(op.columns.size()), result.iterations + 2);
    EXPECT_EQ(result.multiplications, result.iterations + 2);
    EXPECT_EQ(op.columns.front(), 8);
    EXPECT_EQ(op.columns.back(), 8);
    Index sum = 0, locked = 0;
    for (const Index count : op.columns) sum += count;
    EXPECT_EQ(result.columns_multiplied, sum);
    for (std::size_t i = 1; i + 1 < op.columns.size(); ++i) {
      EXPECT_EQ(op.columns[i], result.history[i - 1].active);
      EXPECT_EQ(result.history[i - 1].active, lock ? 8 - result.history[i - 1].converged : 8);
      locked += op.columns[i] < 8;
    }
    EXPECT_EQ(locked > 0, lock);
  }
}

TEST_F(LobpcgInterface, HistoryAndMonitor) {
  const auto op = operator_of<double>(runtime(), laplacian(n), 2);
  const auto result = lobpcg(runtime(), {.a = &op}, {.count = 3, .block = 5});
  ASSERT_EQ(Index(result.history.size()), result.iterations + 1);
  double before = 0, sum_before = 1e300;
  for (std::size_t i = 0; i < result.history.size(); ++i) {
    const LobpcgStep& step = result.history[i];
    EXPECT_EQ(step.iteration, Index(i));
    EXPECT_EQ(step.values.size(), 5);
    EXPECT_EQ(step.residuals.size(), 5);
    EXPECT_TRUE(std::is_sorted(step.values.begin(), step.values.end()));
    EXPECT_NEAR(step.largest_residual,
                *std::max_element(step.residuals.begin(), step.residuals.begin() + 3) / 1e-8,
                1e-6 * step.largest_residual);
    // The sum of the block's Ritz values falls in every iteration.
    double sum = 0;
    for (const double value : step.values) sum += value;
    EXPECT_LE(sum, sum_before + 1e-13);
    sum_before = sum;
    EXPECT_GE(step.seconds, before);
    before = step.seconds;
    EXPECT_GE(step.waiting_seconds, 0);
    EXPECT_NEAR(
        step.multiply_seconds + step.preconditioner_seconds + step.dense_seconds + step.waiting_seconds,
        step.seconds, 0.02 * step.seconds + 1e-3);
    EXPECT_EQ(step.preconditioner_seconds, 0);
    EXPECT_GT(step.multiply_seconds, 0);
  }
  EXPECT_LE(result.history.back().largest_residual, 1);

  LobpcgOptions options{.count = 3};
  Index calls = 0;
  options.monitor = [&](const LobpcgStep& step) { return ++calls, step.iteration < 7; };
  const auto stopped = lobpcg(runtime(), {.a = &op}, options);
  EXPECT_EQ(stopped.status().code, StatusCode::stopped);
  EXPECT_EQ(stopped.iterations, 7);
  EXPECT_EQ(calls, 8);
  // The pairs at that point are inaccurate, and the result must report this correctly.
  expect_eigenpairs<double>(stopped, laplacian(n), nullptr, 1, 1e-11);

  const auto exhausted = lobpcg(runtime(), {.a = &op}, {.count = 3, .iterations = 4});
  EXPECT_EQ(exhausted.status().code, StatusCode::iterations_exhausted);
  EXPECT_EQ(exhausted.iterations, 4);
  EXPECT_LT(exhausted.converged, 3);
  EXPECT_EQ(lobpcg(runtime(), {.a = &op}, {.count = 3, .iterations = 0}).history.size(), 1);
}

TEST_F(LobpcgInterface, Norms) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a);
  const auto solve = [&](LobpcgNorm norm, double tolerance) {
    auto result = lobpcg(runtime(), {.a = &op}, {.count = 2, .tolerance = tolerance, .norm = norm});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    return result;
  };
  auto result = solve(LobpcgNorm::absolute, 1e-6);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_LE(result.residuals[k], 1e-6);
    EXPECT_NEAR(result.scaled_residuals[k], result.residuals[k], 1e-12);
  }
  result = solve(LobpcgNorm::relative, 1e-5);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_LE(result.residuals[k], 1e-5 * result.values[k]);
    EXPECT_NEAR(result.scaled_residuals[k], result.residuals[k] / result.values[k], 1e-9);
  }
  result = solve(LobpcgNorm::backward, 1e-6);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_LE(result.residuals[k], 1e-6 * (4 + result.values[k]));
    EXPECT_NEAR(result.scaled_residuals[k], result.residuals[k] / (4 + result.values[k]), 1e-10);
  }
}

TEST_F(LobpcgInterface, TwoRunsGiveTheSameBits) {
  const auto op = operator_of<double>(runtime(), laplacian(n), 3);
  const auto first = lobpcg(runtime(), {.a = &op}, {.count = 4});
  const auto second = lobpcg(runtime(), {.a = &op}, {.count = 4});
  EXPECT_EQ(first.values, second.values);
  EXPECT_EQ(first.residuals, second.residuals);
  EXPECT_EQ(first.iterations, second.iterations);
  EXPECT_EQ(columns_of(first.vectors, 6), columns_of(second.vectors, 6));
  const auto other = lobpcg(runtime(), {.a = &op}, {.count = 4, .seed = 2});
  EXPECT_NE(columns_of(first.vectors, 6), columns_of(other.vectors, 6));
}

TEST_F(LobpcgInterface, BasicVariantAgrees) {
  const SparseRows a = grid_laplacian(12);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto good = lobpcg(runtime(), {.a = &op}, {.count = 4});
  const auto basic = lobpcg(runtime(), {.a = &op}, {.count = 4, .variant = LobpcgVariant::basic});
  expect_values(good, grid_values(12), 1e-10);
  expect_values(basic, grid_values(12), 1e-10);
  expect_eigenpairs<double>(basic, a, nullptr, 1e-6, 1e-9);
  EXPECT_NEAR(double(basic.iterations), double(good.iterations), 0.2 * double(good.iterations));
  const auto [k, m] = mikota(40);
  const auto stiffness = operator_of<double>(runtime(), k), mass = operator_of<double>(runtime(), m);
  expect_values(lobpcg(runtime(), {.a = &stiffness, .b = &mass},
                       {.count = 3, .tolerance = 1e-11, .variant = LobpcgVariant::basic}),
                {1, 4, 9}, 1e-6);
}

TEST_F(LobpcgInterface, GeneralizedWithADenseMatrix) {
  const Index order = 60;
  SparseRows b(order);
  for (Index i = 0; i < order; ++i) {
    b.add(i, i, 4 + random_uniform(5, 0, i, i));
    for (Index j = 0; j < i; ++j) b.add(i, j, 2.0 / double(order) * random_uniform(5, 0, i, j));
  }
  const SparseRows a = laplacian(order);
  std::vector<double> reference = lapack_eigenvalues(dense(a), dense(b));
  const auto op = operator_of<double>(runtime(), a, 2), mass = operator_of<double>(runtime(), b, 2, false);
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
    const auto result =
        lobpcg(runtime(), {.a = &op, .b = &mass}, {.count = 5, .end = end, .tolerance = 1e-11});
    expect_values(result, reference, 1e-10);
    expect_eigenpairs<double>(result, a, &b, 1e-8, 1e-10);
    std::reverse(reference.begin(), reference.end());
  }
}

/// A derivative, which is not symmetric.
UserOperator<double> derivative(Runtime& runtime, Index n) {
  return UserOperator<double>(
      runtime, n, [](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < columns; ++j)
            y[i * ldy + j] = 2 * x[i * ldx + j] - (i > 0 ? 1.5 * x[(i - 1) * ldx + j] : 0) -
                             (i + 1 < rows ? 0.5 * x[(i + 1) * ldx + j] : 0);
      });
}

TEST_F(LobpcgInterface, SymmetryIsSeenWhateverTheScaleOfB) {
  const auto symmetric = operator_of<double>(runtime(), laplacian(n));
  const auto asymmetric = derivative(runtime(), n);
  for (const double scale : {1e-20, 1.0, 1e20}) {
    const auto b = operator_of<double>(runtime(), diagonal(std::vector<double>(std::size_t(n), scale)));
    const auto result = lobpcg(runtime(), {.a = &symmetric, .b = &b}, {.count = 2});
    EXPECT_EQ(result.status().code, StatusCode::success) << scale << ": " << result.status().message();
    EXPECT_NEAR(result.values.at(0) * scale, laplacian_value(n, 1), 1e-10) << scale;
    expect_refused("a", [&] { std::ignore = lobpcg(runtime(), {.a = &asymmetric, .b = &b}, {.count = 2}); });
  }
}

TEST_F(LobpcgInterface, WhatTheUserThrows) {
  const auto op = operator_of<double>(runtime(), laplacian(n), 2);
  LobpcgOptions options{.count = 2};
  options.monitor = [](const LobpcgStep& step) {
    if (step.iteration == 3) throw std::logic_error("enough");
    return true;
  };
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &op}, options), std::logic_error);

  int calls = 0;
  tessera::UserPreconditioner<double> rows(
      [&](Index first, Index count, Index columns, const double* r, Index ldr, double* w, Index ldw) {
        if (first > 0 && ++calls == 3) throw std::logic_error("enough");
        for (Index i = 0; i < count; ++i) std::copy_n(r + i * ldr, columns, w + i * ldw);
      });
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &op, .preconditioner = &rows}, {.count = 2}),
               std::logic_error);
  const tessera::UserOperator<double> throws(
      runtime(), op.segments(),
      [](Index, Index, Index, const double*, Index, double*, Index) { throw std::logic_error("lost"); });
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &throws}, {.count = 2}), std::logic_error);
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &op, .b = &throws}, {.count = 2}), std::logic_error);

  tessera::UserPreconditioner<double> prepares(
      [](Index, Index, Index, const double*, Index, double*, Index) {},
      [](std::span<const double>, Index) { throw std::logic_error("unprepared"); });
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &op, .preconditioner = &prepares}, {.count = 2}),
               std::logic_error);
  EXPECT_EQ(lobpcg(runtime(), {.a = &op}, {.count = 2}).status().code, StatusCode::success);
}

/// From call number `when` on it reports the shape of another operator, and applies that operator.
class ChangesShape final : public SymmetricOperator<double> {
 public:
  ChangesShape(const SymmetricOperator<double>& first, const SymmetricOperator<double>& then, int when)
      : first_(first), then_(then), when_(when) {}
  Index order() const override { return now().order(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return now().segments(); }
  double norm_bound() const override { return now().norm_bound(); }
  void apply(Sequence& sequence, const BlockVectors<double>& x, const BlockVectors<double>& y,
             Index columns) const override {
    ++calls_;
    now().apply(sequence, x, y, columns);
  }

 private:
  const SymmetricOperator<double>& now() const { return calls_ < when_ ? first_ : then_; }
  const SymmetricOperator<double>&first_, &then_;
  int when_;
  mutable int calls_ = 0;
};

/// Reports an order that differs from that of its segments.
class OrderAndSegmentsDiffer final : public SymmetricOperator<double> {
 public:
  OrderAndSegmentsDiffer(const SymmetricOperator<double>& inner, Index order)
      : inner_(inner), order_(order) {}
  Index order() const override { return order_; }
  const std::shared_ptr<const RowSegments>& segments() const override { return inner_.segments(); }
  void apply(Sequence& sequence, const BlockVectors<double>& x, const BlockVectors<double>& y,
             Index columns) const override {
    inner_.apply(sequence, x, y, columns);
  }

 private:
  const SymmetricOperator<double>& inner_;
  Index order_;
};

TEST_F(LobpcgInterface, OtherOrders) {
  const auto op = operator_of<double>(runtime(), laplacian(n), 2);
  const auto refused = [&](const std::string& name, const LobpcgProblem<double>& problem) {
    expect_refused(name, [&] { std::ignore = lobpcg(runtime(), problem, {.count = 2}); });
  };
  for (const Index other : {n - 1, n + 1, 2 * n}) {
    SCOPED_TRACE(other);
    const auto b = operator_of<double>(runtime(), laplacian(other), 2);
    const BlockVectors<double> vectors(runtime(), b.segments(), 2);
    refused("b", {.a = &op, .b = &b});
    refused("constraints", {.a = &op, .constraints = &vectors, .constraint_count = 1});
    refused("guess", {.a = &op, .guess = &vectors, .guess_count = 1});
    const SparseGenerator made = make_sparse_generator(fmt::format("laplacian1d:{}", other));
    const auto csb = CsbMatrix<double, double>::build(runtime(), *made.a, {.segments = 2});
    JacobiPreconditioner<double> jacobi(runtime(), b.segments(),
                                        std::vector<double>(std::size_t(other), 2.0));
    FomPreconditioner<double, double> fom(runtime(), csb);
    ChebyshevPreconditioner<double> chebyshev(runtime(), b);
    for (Preconditioner<double>* const t :
         std::initializer_list<Preconditioner<double>*>{&jacobi, &fom, &chebyshev})
      refused("preconditioner", {.a = &op, .preconditioner = t});
    const OrderAndSegmentsDiffer differ(op, other);
    refused("a", {.a = &differ});
    refused("b", {.a = &op, .b = &differ});
    // The shape changes at the start, or in an iteration.
    for (const int when : {1, 2, 5}) {
      const ChangesShape a(op, b, when);
      refused("x", {.a = &a});
      const auto mass = operator_of<double>(runtime(), diagonal(std::vector<double>(n, 2.0)), 2);
      const ChangesShape changing_b(mass, b, when);
      refused("x", {.a = &op, .b = &changing_b});
    }
  }
  // The runtime must stay usable.
  EXPECT_EQ(lobpcg(runtime(), {.a = &op}, {.count = 2}).status().code, StatusCode::success);
}

TEST_F(LobpcgInterface, BadInput) {
  const auto op = operator_of<double>(runtime(), laplacian(n), 2);
  const auto other = operator_of<double>(runtime(), laplacian(n), 3);
  const auto refused = [&](const std::string& name, const LobpcgProblem<double>& problem,
                           LobpcgOptions options) {
    expect_refused(name, [&] { std::ignore = lobpcg(runtime(), problem, options); });
  };
  const LobpcgProblem<double> good{.a = &op};
  refused("a", {}, {});
  refused("count", good, {.count = 0});
  refused("count", good, {.count = n / 5 + 1});
  refused("block", good, {.count = 5, .block = 4});
  refused("block", good, {.count = 5, .block = 33});
  refused("block", good, {.count = 5, .block = -1});
  refused("tolerance", good, {.tolerance = -1});
  refused("tolerance", good, {.tolerance = std::numeric_limits<double>::quiet_NaN()});
  refused("iterations", good, {.iterations = -1});
  refused("b", {.a = &op, .b = &other}, {});
  const BlockVectors<double> v(runtime(), op.segments(), 3), wrong(runtime(), other.segments(), 3);
  refused("guess", {.a = &op, .guess = &wrong, .guess_count = 2}, {});
  refused("guess", {.a = &op, .guess = &v, .guess_count = 4}, {});
  refused("guess", {.a = &op, .guess_count = 1}, {});
  refused("guess_count", {.a = &op, .guess = &v, .guess_count = 3}, {.count = 1, .block = 2});
  refused("constraints", {.a = &op, .constraints = &wrong, .constraint_count = 1}, {});
  refused("constraints", {.a = &op, .constraints = &v, .constraint_count = -1}, {});
  JacobiPreconditioner<double> cut_otherwise(runtime(), other.segments(), std::vector<double>(n, 2.0));
  refused("preconditioner", {.a = &op, .preconditioner = &cut_otherwise}, {});
  const auto many = vectors_of<double>(runtime(), op.segments(), 90, [](Index i, Index j) { return i == j; });
  refused("constraint_count", {.a = &op, .constraints = &many, .constraint_count = 90}, {.count = 4});
  const auto dependent = vectors_of<double>(runtime(), op.segments(), 3, [](Index i, Index j) {
    return j < 2 ? random_uniform(1, 0, i, j) : random_uniform(1, 0, i, 0) - random_uniform(1, 0, i, 1);
  });
  refused("constraints", {.a = &op, .constraints = &dependent, .constraint_count = 3}, {.count = 2});
  const auto asymmetric = derivative(runtime(), n);
  refused("a", {.a = &asymmetric}, {.count = 2});
  const auto tiny = operator_of<double>(runtime(), laplacian(4));
  refused("count", {.a = &tiny}, {.count = 1});
  expect_refused("function", [&] { UserOperator<double>(runtime(), op.segments(), UserFunction<double>()); });
  // Direct use of the operator without a solve.
  const BlockVectors<double> x(runtime(), op.segments(), 40), y(runtime(), op.segments(), 40);
  const BlockVectors<double> shorter(runtime(), RowSegments::even(runtime(), n / 2, 2), 40);
  const BlockVectors<double> otherwise(runtime(), other.segments(), 40);
  Sequence sequence(runtime());
  expect_refused("columns", [&] { op.apply(sequence, x, y, 40); });
  expect_refused("columns", [&] { op.apply(sequence, x, y, 0); });
  expect_refused("columns", [&] { op.apply(sequence, v, y, 4); });
  expect_refused("x", [&] { op.apply(sequence, shorter, y, 3); });
  expect_refused("y", [&] { op.apply(sequence, x, otherwise, 3); });
  expect_refused("y", [&] { op.apply(sequence, x, x, 3); });
  // The runtime must stay usable.
  EXPECT_EQ(lobpcg(runtime(), good, {.count = 2}).status().code, StatusCode::success);
}

}  // namespace
}  // namespace tessera::test
