// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>
#include <utility>

#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/runtime_test.hpp>

/// Generalized problems whose B is difficult, or not positive definite.
namespace tessera::test {
namespace {

class LobpcgOverlaps : public RuntimeTest<double> {
 protected:
  static constexpr Index n = 60;
};

/// Refuses blocks without columns, as CsbMatrix does.
class RefusesNoColumns final : public SymmetricOperator<double> {
 public:
  explicit RefusesNoColumns(UserOperator<double> a) : a_(std::move(a)) {}
  Index order() const override { return a_.order(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return a_.segments(); }
  void apply(Sequence& sequence, const BlockVectors<double>& x, const BlockVectors<double>& y,
             Index columns) const override {
    if (columns < 1) throw std::logic_error("no columns to multiply");
    a_.apply(sequence, x, y, columns);
  }

 private:
  UserOperator<double> a_;
};

/// Number of eigenvalues below x of L y = lambda B y, where L is the Laplacian of order n and B the
/// identity in the first `rank` rows and 0 elsewhere. They are the eigenvalues of the Schur
/// complement of L in these rows, which is tridiagonal, and are counted with a Sturm sequence.
std::size_t finite_values_below(double x, Index rank) {
  constexpr Index n = 60;
  const double last = 2 - static_cast<double>(n - rank) / static_cast<double>(n - rank + 1);
  std::size_t below = 0;
  double pivot = 1;
  for (Index i = 0; i < rank; ++i) {
    pivot = (i + 1 < rank ? 2 : last) - x - (i > 0 ? 1 / pivot : 0);
    below += pivot < 0;
  }
  return below;
}

void expect_finite(const std::vector<double>& values) {
  for (const double value : values) ASSERT_TRUE(std::isfinite(value));
}

/// Messages with which an iteration with a singular B may end.
void expect_reason(const std::string& message) {
  const auto says = [&](const char* reason) { return message.find(reason) != std::string::npos; };
  EXPECT_TRUE(says("B is not positive definite") || says("the Gram matrix of iteration") ||
              says("leave no new direction"))
      << message;
}

TEST_F(LobpcgOverlaps, OverlapMatricesThatAreNotPositiveDefinite) {
  const auto solve = [&](const std::vector<double>& overlap, Index count, LobpcgVariant variant) {
    const RefusesNoColumns a(operator_of<double>(runtime(), laplacian(n), 2)),
        b(operator_of<double>(runtime(), diagonal(overlap), 2));
    return lobpcg(runtime(), {.a = &a, .b = &b}, {.count = count, .variant = variant, .iterations = 100});
  };
  const auto overlap = [&](const std::function<double(Index)>& value) {
    std::vector<double> all;
    for (Index i = 0; i < n; ++i) all.push_back(value(i));
    return all;
  };
  for (const LobpcgVariant variant : {LobpcgVariant::orthonormal, LobpcgVariant::basic}) {
    const std::vector<double> wrong[] = {
        overlap([](Index) { return 0; }), overlap([](Index i) { return i < 2; }),
        overlap([](Index) { return -1; }), overlap([](Index i) { return i % 2 == 0 ? 1 : -1; }),
        overlap([](Index i) { return i < 1    ? 1e6
                                     : i < 30 ? 0
                                              : -1; })};
    for (const auto& values : wrong)
      for (const Index count : {3, 8}) {
        const auto result = solve(values, count, variant);
        EXPECT_EQ(result.status().code, StatusCode::breakdown) << result.status().message();
        EXPECT_NE(result.status().message().find("B is not positive definite"), std::string::npos)
            << result.status().message();
        expect_finite(columns_of(result.vectors, 3));
      }
    // The rank of B suffices for the wanted vectors, but not for the block or for new directions.
    // The solve must report a breakdown or that it has not converged (which of them, rounding decides), or its
    // converged values must be correct.
    for (const Index rank : {3, 4, 5, 7, 12}) {
      const auto result = solve(overlap([&](Index i) { return i < rank; }), 3, variant);
      expect_finite(columns_of(result.vectors, 3));
      EXPECT_TRUE(result.values.empty() || result.values.size() == 3);
      expect_finite(result.values);
      if (result.status().code == StatusCode::breakdown) {
        expect_reason(result.status().message());
        continue;
      }
      if (result.status().code == StatusCode::iterations_exhausted) continue;
      EXPECT_EQ(result.status().code, StatusCode::success) << rank << ": " << result.status().message();
      ASSERT_EQ(result.values.size(), 3);
      for (std::size_t k = 0; k < 3; ++k) {
        const double value = result.values[k], near = 1e-6;
        EXPECT_LE(finite_values_below(value - near, rank), k) << rank << ": " << value;
        EXPECT_GE(finite_values_below(value + near, rank), k + 1) << rank << ": " << value;
      }
    }
    // Indefinite in only one of sixty elements.
    const auto result = solve(overlap([](Index i) { return i == 7 ? -1 : 1; }), 3, variant);
    EXPECT_EQ(result.status().code, StatusCode::breakdown) << result.status().message();
  }
}

/// Starts from zero vectors, with B a small or large multiple of the identity.
template <class T>
void solve_with_scaled_overlap(Runtime& runtime, double scale, LobpcgVariant variant) {
  const Index order = 200;
  const SparseRows a = laplacian(order),
                   b = diagonal(std::vector<double>(std::size_t(order), double(T(scale))));
  const auto op = operator_of<T>(runtime, a, 2), mass = operator_of<T>(runtime, b, 2);
  UserPreconditioner<T> inverse(runtime, op.segments(), tridiagonal_inverse<T>(order, 2, -1));
  const auto zero = vectors_of<T>(runtime, op.segments(), 5, [](Index, Index) { return 0; });
  const auto result =
      lobpcg(runtime, {.a = &op, .b = &mass, .preconditioner = &inverse, .guess = &zero, .guess_count = 5},
             {.count = 3, .block = 5, .variant = variant});
  EXPECT_EQ(result.status().code, StatusCode::success) << scale << ": " << result.status().message();
  ASSERT_EQ(result.values.size(), 3);
  for (Index k = 0; k < 3; ++k)
    EXPECT_NEAR(result.values[std::size_t(k)] * scale, laplacian_value(order, k + 1),
                sizeof(T) == 4 ? 1e-5 : 1e-10);
}

TEST_F(LobpcgOverlaps, ScaledOverlapFromZeroVectors) {
  for (const LobpcgVariant variant : {LobpcgVariant::orthonormal, LobpcgVariant::basic})
    for (const double scale : {1e-6, 1.0, 1e6}) {
      solve_with_scaled_overlap<double>(runtime(), scale, variant);
      solve_with_scaled_overlap<float>(runtime(), scale, variant);
    }
}

TEST_F(LobpcgOverlaps, OverlapOfLargeConditionInARotatedBasis) {
  // A = Q D L D Q and B = Q D^2 Q with D = diag(1, d, 1, d, ...) and Q a rotation of neighbouring
  // pairs by 45 degrees. B x is much longer than 1 / ||x||, and x^T B x has rounding errors of that
  // size.
  const double d = 1e5;
  const Index order = 60;
  const SparseRows l = laplacian(order);
  SparseRows a(order), b(order);
  const auto q = [](Index i, Index j) { return (i % 2 == 1 && j % 2 == 1 ? -1 : 1) * std::sqrt(0.5); };
  const auto scale = [&](Index i) { return i % 2 == 0 ? 1 : d; };
  const Matrix<double> whole = dense(l);
  for (Index i = 0; i < order; ++i)
    for (Index j = std::max<Index>(0, i / 2 * 2 - 2); j <= i; ++j) {
      double of_a = 0, of_b = 0;
      for (Index k = i / 2 * 2; k < i / 2 * 2 + 2; ++k)
        for (Index m = j / 2 * 2; m < j / 2 * 2 + 2; ++m) {
          of_a += q(i, k) * scale(k) * whole(k, m) * scale(m) * q(m, j);
          if (k == m) of_b += q(i, k) * scale(k) * scale(k) * q(k, j);
        }
      a.add(i, j, of_a);
      if (i / 2 == j / 2) b.add(i, j, of_b);
    }
  const auto op = operator_of<double>(runtime(), a, 2), mass = operator_of<double>(runtime(), b, 2);
  const auto guess = vectors_of<double>(runtime(), op.segments(), 3, [&](Index i, Index j) {
    const Index k = i / 2 * 2;
    return q(i, k) / scale(k) * laplacian_vector(order, k, order - j) +
           q(i, k + 1) / scale(k + 1) * laplacian_vector(order, k + 1, order - j);
  });
  const auto result = lobpcg(runtime(), {.a = &op, .b = &mass, .guess = &guess, .guess_count = 3},
                             {.count = 3, .block = 3, .end = EigenEnd::largest, .tolerance = 1e-9});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_EQ(result.restarts, 0);
  for (Index k = 0; k < 3; ++k)
    EXPECT_NEAR(result.values.at(std::size_t(k)), laplacian_value(order, order - k), 1e-6);
}

}  // namespace
}  // namespace tessera::test
