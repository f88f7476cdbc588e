// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>

#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::test {
using namespace detail;

template <class T>
Matrix<T> generate(const std::string& kind, Index n, std::uint64_t seed, double scale) {
  Matrix<T> a(n, n);
  if (n > 0) MatrixGenerator<T>::make(kind, n, seed, scale).fill(0, 0, n, n, a.data(), a.ld());
  return a;
}

namespace {

template <class T>
struct DriverWork {
  explicit DriverWork(Index n)
      : work(static_cast<std::size_t>(2 * n * n + 70 * n + 10)),
        rwork(static_cast<std::size_t>(2 * n * n + 5 * n + 10)),
        iwork(static_cast<std::size_t>(5 * n + 10)) {}
  std::vector<T> work;
  std::vector<RealOf<T>> rwork;
  std::vector<int> iwork;
};

/// x 2^exponent without intermediate overflow or underflow.
template <class T>
Matrix<T> shifted(Matrix<T> a, int exponent) {
  using R = RealOf<T>;
  const R half = std::ldexp(R(1), exponent / 2), rest = std::ldexp(R(1), exponent - exponent / 2);
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) a(i, j) = a(i, j) * half * rest;
  return a;
}

template <class T>
int exponent_of(const Matrix<T>& a) {
  RealOf<T> largest = 0;
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i)
      largest = std::max({largest, std::abs(real_part(a(i, j))), std::abs(imag_part(a(i, j)))});
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  return exponent;
}

template <class T>
Matrix<T> product(Op op, const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(op == Op::none ? a.rows() : a.cols(), b.cols());
  if (c.rows() > 0 && c.cols() > 0)
    blas::gemm(op, Op::none, c.rows(), c.cols(), b.rows(), T(1), a.data(), a.ld(), b.data(), b.ld(), T(0),
               c.data(), c.ld());
  return c;
}

}  // namespace

template <class T>
std::vector<RealOf<T>> lapack_eigenvalues(Matrix<T> a) {
  const Index n = a.rows();
  std::vector<RealOf<T>> w(static_cast<std::size_t>(n));
  DriverWork<T> s(n);
  if (n > 0) {
    EXPECT_EQ(
        blas::heevd<T>('N', Uplo::lower, n, a.data(), a.ld(), w.data(), s.work.data(), Index(s.work.size()),
                       s.rwork.data(), Index(s.rwork.size()), s.iwork.data(), Index(s.iwork.size())),
        0);
  }
  return w;
}

template <class T>
std::vector<RealOf<T>> lapack_eigenvalues(Matrix<T> a, Matrix<T> b) {
  const Index n = a.rows();
  std::vector<RealOf<T>> w(static_cast<std::size_t>(n));
  DriverWork<T> s(n);
  if (n > 0) {
    EXPECT_EQ(blas::hegvd<T>(1, 'N', Uplo::lower, n, a.data(), a.ld(), b.data(), b.ld(), w.data(),
                             s.work.data(), Index(s.work.size()), s.rwork.data(), Index(s.rwork.size()),
                             s.iwork.data(), Index(s.iwork.size())),
              0);
  }
  return w;
}

template <class T>
EigenErrors eigen_errors(const Matrix<T>& whole_a, const Matrix<T>* b, const std::vector<RealOf<T>>& w,
                         const Matrix<T>* z, const std::vector<RealOf<T>>& reference, Index first) {
  EigenErrors errors;
  const Index n = whole_a.rows(), count = static_cast<Index>(w.size());
  if (n == 0) return errors;
  const int exponent = exponent_of(whole_a);
  const auto a = shifted(whole_a, -exponent);
  const auto value = [&](RealOf<T> x) { return std::ldexp(double(x), -exponent); };
  const double scale = double(n) * precision<T>;
  const double norm = norm_1(a), norm_a = norm > 0 ? norm : 1;
  for (Index k = 0; k < count; ++k) {
    const double d = std::abs(value(w[k]) - value(reference[first + k]));
    errors.values = std::isnan(d) ? d : std::max(errors.values, d / (scale * norm_a));
  }
  if (!z || count == 0) return errors;
  const auto bz = b ? product(Op::none, *b, *z) : *z;
  auto residual = product(Op::none, a, *z), inner = product(Op::adjoint, *z, bz);
  for (Index k = 0; k < count; ++k) {
    for (Index i = 0; i < n; ++i) residual(i, k) -= RealOf<T>(value(w[k])) * bz(i, k);
    inner(k, k) -= T(1);
  }
  const double norm_z = b ? norm_1(*z) : 1, norm_b = b ? norm_1(*b) : 1;
  errors.residual = norm_1(residual) / (scale * norm_a * norm_z);
  errors.orthogonality = norm_1(inner) / (scale * norm_b * norm_z * norm_z);
  return errors;
}

template <class T>
EigenErrors expect_solved(Runtime& runtime, const Matrix<T>& a, const Matrix<T>* b, const SolveCase& c) {
  using R = RealOf<T>;
  const Index n = a.rows();
  const auto laid_out = [&](const Matrix<T>& whole) {
    Matrix<T> padded(n, n, 3);
    padded.set_block(0, 0, whole);
    return c.uplo == Uplo::general ? padded : poison_other_triangle(padded, c.uplo);
  };
  const Matrix<T> input_a = laid_out(a), input_b = b ? laid_out(*b) : Matrix<T>();
  const auto before_a = input_a, before_b = input_b;
  // n columns, and one more that must not change.
  Matrix<T> z(n, n + 1, 1);
  for (Index j = 0; j <= n; ++j)
    for (Index i = 0; i < n; ++i) z(i, j) = T(-77);
  const auto before_z = z;
  EigenProblem<T> problem{.a = {input_a.data(), n, input_a.ld(), c.uplo}, .vectors_to = {z.data(), z.ld()}};
  if (b) problem.b = {input_b.data(), n, input_b.ld(), c.uplo};
  const EigenResult<T> result = eigensolve(runtime, problem, c.options);
  const std::vector<R>& w = result.values;
  const auto count = static_cast<Index>(w.size());
  EXPECT_TRUE(result) << result.status().message();
  EXPECT_EQ(result.vectors.count(), 0) << "they are in the array";
  EXPECT_TRUE(identical(input_a, before_a)) << "A has changed";
  EXPECT_TRUE(identical(input_b, before_b)) << "B has changed";
  const auto reference = b ? lapack_eigenvalues(a, *b) : lapack_eigenvalues(a);
  Index first = 0, last = n;
  const auto& range = c.options.range;
  if (range.kind == EigenRange::Kind::index) first = range.lo, last = range.hi;
  if (range.kind == EigenRange::Kind::value) {
    const auto upto = [&](double x) {
      return Index(std::count_if(reference.begin(), reference.end(), [&](R y) { return double(y) <= x; }));
    };
    first = upto(range.above), last = upto(range.upto);
  }
  EXPECT_EQ(count, last - first);
  EXPECT_EQ(result.first, first);
  if (count != last - first || !result) return {};
  for (Index k = 1; k < count; ++k) EXPECT_LE(w[k - 1], w[k]) << "not ascending at " << k;
  const Index columns = c.options.vectors ? count : 0;
  EXPECT_EQ(std::memcmp(&before_z(0, columns), z.data() + columns * z.ld(),
                        sizeof(T) * std::size_t(z.ld() * (n + 1 - columns))),
            0)
      << "written beyond the vectors";
  for (Index j = 0; j < columns; ++j)
    EXPECT_EQ(std::memcmp(&before_z(0, j) + n, &z(0, j) + n, sizeof(T)), 0) << "padding";
  const auto vectors = z.block(0, 0, n, columns);
  const EigenErrors errors = eigen_errors(a, b, w, c.options.vectors ? &vectors : nullptr, reference, first);
  EXPECT_LT(errors.residual, c.residual_gate);
  EXPECT_LT(errors.orthogonality, c.orthogonality_gate);
  EXPECT_LT(errors.values, c.values_gate);
  return errors;
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template Matrix<T> generate<T>(const std::string&, Index, std::uint64_t, double);                       \
  template std::vector<RealOf<T>> lapack_eigenvalues<T>(Matrix<T>);                                       \
  template std::vector<RealOf<T>> lapack_eigenvalues<T>(Matrix<T>, Matrix<T>);                            \
  template EigenErrors eigen_errors<T>(const Matrix<T>&, const Matrix<T>*, const std::vector<RealOf<T>>&, \
                                       const Matrix<T>*, const std::vector<RealOf<T>>&, Index);           \
  template EigenErrors expect_solved<T>(Runtime&, const Matrix<T>&, const Matrix<T>*, const SolveCase&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::test
