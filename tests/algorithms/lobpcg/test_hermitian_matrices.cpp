// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/hermitian_problems.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/hermitian_rows.hpp>
#include <tests/support/runtime_test.hpp>
#include <tests/support/symmetric_rows.hpp>

#include <tessera/matgen.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/sparse_matrix.hpp>

/// Solves with stored complex Hermitian matrices, and what preconditions them.
namespace tessera::test {
namespace {

template <class P>
class StoredHermitian : public RuntimeTest<P> {
 protected:
  using V = typename P::V;
  using T = typename P::T;
  static constexpr bool single = sizeof(RealOf<T>) == 4, rounded = sizeof(RealOf<V>) == 4;
  static constexpr double tolerance = single ? 1e-5 : 1e-9, values_gate = single || rounded ? 2e-5 : 1e-11;
};
TYPED_TEST_SUITE(StoredHermitian, ComplexPairs);

TYPED_TEST(StoredHermitian, LatticesInMagneticFields) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  for (const char* kind : {"hofstadter:12:9:1:4", "hofstadter:10:10:1:2", "magnetic-ring:90:2.5"}) {
    const SparseGenerator made = make_sparse_generator(kind);
    const auto a = CsbMatrix<V, T>::build(this->runtime(), *made.a, {.groups = 2, .tile_rows = 12});
    const std::vector<double> exact = *made.lowest_eigenvalues(6);
    for (const char* name : {"none", "jacobi", "fom", "chebyshev"}) {
      SCOPED_TRACE(fmt::format("{} {}", kind, name));
      std::unique_ptr<Preconditioner<T>> preconditioner;
      if (name[0] == 'j')
        preconditioner =
            std::make_unique<JacobiPreconditioner<T>>(this->runtime(), a.segments(), a.diagonal());
      else if (name[0] == 'f')
        preconditioner =
            std::make_unique<FomPreconditioner<V, T>>(this->runtime(), a, FomOptions{.steps = 4});
      else if (name[0] == 'c')
        preconditioner = std::make_unique<ChebyshevPreconditioner<T>>(this->runtime(), a);
      for (const EigenMethod method : {EigenMethod::lobpcg, EigenMethod::generalized_davidson}) {
        const auto result =
            lobpcg(this->runtime(), {.a = &a, .preconditioner = preconditioner.get()},
                   {.count = 6, .method = method, .tolerance = this->tolerance, .iterations = 3000});
        EXPECT_TRUE(result) << result.status().message();
        expect_near(result.values, exact, this->values_gate);
      }
    }
  }
}

/// A complex A with a real B of the same cut, which is widened.
TYPED_TEST(StoredHermitian, ComplexAAndRealB) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const Index n = 108;
  const SparseGenerator made = make_sparse_generator("hofstadter:12:9:1:4");
  const FunctionRows mass(n, [](Index i, Index j) {
    return i == j ? 2 + 0.25 * double(i % 3) : i - j == 1 ? 0.5 : 0;
  });
  const auto a = CsbMatrix<V, T>::build(this->runtime(), *made.a);
  const auto b = CsbMatrix<V, T>::build(this->runtime(), mass, {.like = made.a.get()});
  Matrix<Complex> dense_a(n, n), dense_b(n, n);
  std::vector<ComplexSparseEntry> entries;
  const auto fill = [&](const SymmetricRows& rows, Matrix<Complex>& to) {
    entries.clear();
    rows.complex_entries(0, n, 0, n, entries);
    for (const ComplexSparseEntry& e : entries) {
      to(e.row, e.column) = e.value;
      to(e.column, e.row) = std::conj(e.value);
    }
  };
  fill(*made.a, dense_a);
  fill(mass, dense_b);
  FomPreconditioner<V, T> fom(this->runtime(), a, {.b_norm = b.norm_bound()});
  const auto result = lobpcg(this->runtime(), {.a = &a, .b = &b, .preconditioner = &fom},
                             {.count = 5, .tolerance = this->tolerance, .iterations = 3000});
  EXPECT_TRUE(result) << result.status().message();
  expect_near(result.values, lapack_eigenvalues(dense_a, dense_b), this->values_gate);
}

/// As many steps as a tile has rows solve (K - shift) w = r.
TYPED_TEST(StoredHermitian, FomIsExactWithAsManyStepsAsRows) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const std::vector<Index> tiles{0, 6, 7, 15, 24};
  const HermitianLists rows = random_hermitian_rows(24, 12, 5, tiles);
  const Matrix<Complex> whole = rows.dense();
  const auto a = CsbMatrix<V, T>::build(this->runtime(), rows, {.groups = 2});
  const double shift = -40.5;
  for (const Index columns : {1, 3, 9, 32}) {
    FomPreconditioner<V, T> fom(this->runtime(), a, {.steps = 12, .shift = shift});
    const BlockVectors<T> r(this->runtime(), a.segments(), columns),
        w(this->runtime(), a.segments(), columns);
    std::vector<T> given, found(std::size_t(24 * columns));
    for (const Complex& x : complex_block(24, columns, 9)) given.push_back(T(x));
    r.set(given.data(), columns, columns);
    Sequence sequence(this->runtime());
    fom.prepare(sequence, {}, 0);
    fom.apply(sequence, r, w, columns);
    ASSERT_TRUE(sequence.wait().ok());
    w.get(found.data(), columns, columns);
    for (std::size_t t = 0; t + 1 < tiles.size(); ++t)
      for (Index i = tiles[t]; i < tiles[t + 1]; ++i)
        for (Index j = 0; j < columns; ++j) {
          Complex sum = -shift * Complex(found[std::size_t(i * columns + j)]);
          for (Index k = tiles[t]; k < tiles[t + 1]; ++k)
            sum += whole(i, k) * Complex(found[std::size_t(k * columns + j)]);
          EXPECT_NEAR(std::abs(sum - Complex(given[std::size_t(i * columns + j)])), 0,
                      this->single ? 1e-3 : 1e-9)
              << i << ' ' << j;
        }
  }
}

}  // namespace
}  // namespace tessera::test
