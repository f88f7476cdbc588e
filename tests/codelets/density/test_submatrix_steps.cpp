// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/density/submatrix_steps.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::test {
using namespace detail;
namespace {

/// Matrix number k of a batch of n x cols matrices.
template <class T>
Matrix<T> of_batch(const Matrix<T>& batch, Index k, Index cols) {
  Matrix<T> one(batch.rows(), cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < batch.rows(); ++i) one(i, j) = batch(i, k * cols + j);
  return one;
}
template <class T>
Matrix<T> batch_of(const std::vector<Matrix<T>>& matrices) {
  const Index n = matrices.front().rows(), m = matrices.front().cols();
  Matrix<T> batch(n, m * Index(matrices.size()));
  for (std::size_t k = 0; k < matrices.size(); ++k)
    for (Index j = 0; j < m; ++j)
      for (Index i = 0; i < n; ++i) batch(i, Index(k) * m + j) = matrices[k](i, j);
  return batch;
}
template <class Entry>
Data list_of(Runtime& runtime, const std::vector<Entry>& entries) {
  Data data = Data::bytes(runtime, entries.size() * sizeof(Entry));
  const HostAccess access(data, HostAccess::Mode::write);
  std::copy(entries.begin(), entries.end(), access.array<Entry>().begin());
  return data;
}
/// In another precision.
template <class To, class From>
Matrix<To> rounded(const Matrix<From>& a) {
  Matrix<To> b(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) b(i, j) = To(a(i, j));
  return b;
}

template <class T>
class SubmatrixSteps : public RuntimeTest<T> {
 protected:
  static constexpr double eps = precision<T>;
  Data scratch(std::size_t bytes) {
    return this->runtime().any_gpus() ? Data::scratch(this->runtime(), bytes) : Data();
  }
};
TYPED_TEST_SUITE(SubmatrixSteps, Scalars);

/// C := A B of general matrices, all of it; and of commuting Hermitian ones the lower triangle.
TYPED_TEST(SubmatrixSteps, ProductsOfABatch) {
  using T = TypeParam;
  for (const Index n : {1, 7, 16, 130})
    for (const Index count : {1, 3})
      for (const bool whole : {true, false}) {
        SCOPED_TRACE(::testing::Message() << "order " << n << ", " << count << (whole ? ", whole" : ""));
        std::vector<Matrix<T>> a, b;
        for (Index k = 0; k < count; ++k) {
          a.push_back(whole ? random_matrix<T>(n, n, 3 + std::uint64_t(k))
                            : random_hermitian<T>(n, 3 + std::uint64_t(k)));
          b.push_back(whole ? random_matrix<T>(n, n, 9 + std::uint64_t(k))
                            : multiply(Op::none, a.back(), Op::none, a.back()));
        }
        const Data data_a = upload(this->runtime(), batch_of(a)),
                   data_b = upload(this->runtime(), batch_of(b)),
                   data_c = Data::matrix(this->runtime(), n, n * count, sizeof(T)),
                   work = this->scratch(split_work(n, count, false));
        ASSERT_TRUE(this->run([&](Sequence& s) {
          s.insert(HermitianProduct<T>{.a = data_a,
                                       .b = data_b,
                                       .c = data_c,
                                       .work = work.valid() ? &work : nullptr,
                                       .n = n,
                                       .k = n,
                                       .count = count,
                                       .whole = whole});
        }));
        const auto c = download<T>(data_c);
        for (std::size_t k = 0; k < std::size_t(count); ++k) {
          const auto expected = multiply(Op::none, a[k], Op::none, b[k]);
          EXPECT_LE(difference(of_batch(c, Index(k), n), expected, whole ? Uplo::general : Uplo::lower),
                    20 * double(n) * (1 + double(n) / 3) * this->eps);
        }
      }
}

/// Sums over the first columns alone; and a step without a second matrix.
TYPED_TEST(SubmatrixSteps, SumsOverOwnColumns) {
  using T = TypeParam;
  const double c0 = 0.75, c1 = -0.5;
  for (const Index n : {5, 40, 97}) {
    const std::vector<Index> own{n / 2, n, 0};
    std::vector<Matrix<T>> x;
    for (std::uint64_t k = 0; k < own.size(); ++k) x.push_back(random_hermitian<T>(n, 1 + k));
    const Index count = Index(own.size());
    const Data data_x = upload(this->runtime(), batch_of(x)), list = list_of(this->runtime(), own),
               sums = Data::bytes(this->runtime(), own.size() * sizeof(HermitianSums)),
               work = this->scratch(sums_work(count));
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(PolynomialStep<T>{.x = data_x,
                                 .sums = sums,
                                 .own = list,
                                 .work = work.valid() ? &work : nullptr,
                                 .c0 = c0,
                                 .c1 = c1,
                                 .count = count});
    }));
    const auto result = download<T>(data_x);
    const HostAccess access(sums, HostAccess::Mode::read);
    for (std::size_t k = 0; k < own.size(); ++k) {
      SCOPED_TRACE(::testing::Message() << "order " << n << ", " << own[k] << " columns");
      HermitianSums expected;
      Matrix<T> after(n, n);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
          after(i, j) = RealOf<T>(c1) * x[k](i, j) + T(RealOf<T>(i == j ? c0 : 0));
          if (j >= own[k]) continue;
          if (i == j) expected.trace += double(real_part(after(i, j)));
          expected.square += double(std::norm(after(i, j)));
          expected.dot += double(real_part(conjugate(x[k](i, j)) * after(i, j)));
        }
      EXPECT_LE(difference(of_batch(result, Index(k), n), after), 10 * this->eps);
      const HermitianSums& found = access.array<HermitianSums>()[k];
      const double bound = 2 * double(n * n) * double(n) * this->eps;  // Higham, section 4.2
      EXPECT_NEAR(found.trace, expected.trace, bound);
      EXPECT_NEAR(found.square, expected.square, bound);
      EXPECT_NEAR(found.dot, expected.dot, bound);
    }
  }
}

TYPED_TEST(SubmatrixSteps, GatherBlocksOfSomeRowsAndColumns) {
  using T = TypeParam;
  // Four columns of blocks of sizes 2, 3, 1, 2; blocks (0, 3) and (3, 0) are missing.
  const std::vector<Index> sizes{2, 3, 1, 2};
  std::vector<Index> first{0, 2, 5, 6}, begins{0};
  const Matrix<T> all = random_hermitian<T>(8, 5);
  std::vector<ColumnBlock> blocks;
  std::vector<T> values;
  const auto is_stored = [](std::size_t i, std::size_t j) { return i + j != 3 || (i != 0 && j != 0); };
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (!is_stored(i, j)) continue;
      blocks.push_back({std::int32_t(i), std::int32_t(sizes[i]), Index(values.size())});
      for (Index c = 0; c < sizes[j]; ++c)
        for (Index r = 0; r < sizes[i]; ++r) values.push_back(all(first[i] + r, first[j] + c));
    }
    begins.push_back(Index(blocks.size()));
  }
  // Of submatrices that begin with other blocks than the lowest: blocks 3, 0, 1, and 2 alone.
  const std::vector<std::vector<std::size_t>> wanted{{3, 0, 1}, {2}};
  const std::vector<SubmatrixMember> members{{0, 3, 7}, {3, 4, 1}};
  const std::vector<SubmatrixPlace> places{{0, 2, 2, 0}, {1, 4, 3, 0}, {3, 0, 2, 0}, {2, 0, 1, 1}};
  const Index n = 9;
  const Data data_begins = list_of(this->runtime(), begins), data_blocks = list_of(this->runtime(), blocks),
             data_values = list_of(this->runtime(), values), data_members = list_of(this->runtime(), members),
             data_places = list_of(this->runtime(), places),
             x = Data::matrix(this->runtime(), n, 2 * n, sizeof(T));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(GatherSubmatrices<T, T>{.begins = data_begins,
                                     .blocks = data_blocks,
                                     .values = data_values,
                                     .members = data_members,
                                     .places = data_places,
                                     .x = x,
                                     .padding = 0.5,
                                     .count = 2});
  }));
  const auto found = download<T>(x);
  for (std::size_t m = 0; m < wanted.size(); ++m) {
    Matrix<T> expected(n, n);
    Index col = 0;
    for (const std::size_t j : wanted[m]) {
      Index row = 0;
      for (const std::size_t i : wanted[m]) {
        for (Index c = 0; c < sizes[j] && is_stored(i, j); ++c)
          for (Index r = 0; r < sizes[i]; ++r) expected(row + r, col + c) = all(first[i] + r, first[j] + c);
        row += sizes[i];
      }
      col += sizes[j];
    }
    for (Index i = col; i < n; ++i) expected(i, i) = T(RealOf<T>(0.5));
    EXPECT_EQ(difference(of_batch(found, Index(m), n), expected), 0) << "submatrix " << m;
  }
}

/// In exact arithmetic as many steps as a matrix has different eigenvalues find them all.
TYPED_TEST(SubmatrixSteps, LanczosFindsTheEndsOfASpectrum) {
  using T = TypeParam;
  const Index n = 50, steps = 4;
  std::vector<Matrix<T>> x;
  // 1 + 2 v v^H / ||v||^2 has the eigenvalues 1 and 3; the second matrix those of a diagonal: -2, 0, 5.
  const auto v = random_matrix<T>(n, 1, 3);
  double square = 0;
  for (Index i = 0; i < n; ++i) square += double(std::norm(v(i, 0)));
  x.push_back(identity<T>(n));
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) x[0](i, j) += RealOf<T>(2 / square) * v(i, 0) * conjugate(v(j, 0));
  x.push_back(Matrix<T>(n, n));
  for (Index i = 0; i < n; ++i) x[1](i, i) = T(RealOf<T>(i % 3 == 0 ? -2 : i % 3 == 1 ? 0 : 5));
  const Data data_x = upload(this->runtime(), batch_of(x)),
             tridiagonal = Data::bytes(this->runtime(), 2 * 2 * steps * sizeof(double)),
             work = this->scratch(submatrix_lanczos_work<T>(n, 2));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(SubmatrixLanczos<T>{.x = data_x,
                                 .tridiagonal = tridiagonal,
                                 .work = work.valid() ? &work : nullptr,
                                 .n = n,
                                 .count = 2,
                                 .steps = steps});
  }));
  const HostAccess access(tridiagonal, HostAccess::Mode::read);
  const auto ends_of = [&](Index k, Index size) {
    std::vector<double> d(access.array<double>().begin() + 2 * steps * k,
                          access.array<double>().begin() + 2 * steps * k + size),
        e(access.array<double>().begin() + 2 * steps * k + steps,
          access.array<double>().begin() + 2 * steps * k + steps + size - 1);
    EXPECT_EQ(blas::sterf(size, d.data(), e.data()), 0);
    return std::pair(d.front(), d.back());
  };
  const double bound = 100 * double(n) * this->eps;
  const auto [one, three] = ends_of(0, 2);
  EXPECT_NEAR(one, 1, bound);
  EXPECT_NEAR(three, 3, bound);
  EXPECT_NEAR(access.array<double>()[std::size_t(steps + 1)], 0, bound);  // nothing is left after two steps
  const auto [lowest, highest] = ends_of(1, 3);
  EXPECT_NEAR(lowest, -2, bound);
  EXPECT_NEAR(highest, 5, bound);
}

TYPED_TEST(SubmatrixSteps, ColumnsAfterMcWeenysStep) {
  using T = TypeParam;
  using Half = std::conditional_t<is_complex<T>, std::complex<float>, float>;
  const auto check = [&]<class F>(F) {
    const Index n = 37, width = 5, count = 11;  // more than columns_at_once
    for (const bool overlap : {true, false}) {
      SCOPED_TRACE(::testing::Message()
                   << (overlap ? "overlap, " : "") << type_letter<F> << " " << type_letter<T>);
      std::vector<Matrix<T>> s;
      std::vector<Matrix<F>> x, z;
      for (std::uint64_t k = 0; k < std::uint64_t(count); ++k) {
        s.push_back(random_hermitian<T>(n, 1 + k));
        x.push_back(rounded<F>(random_hermitian<T>(n, 21 + k)));
        z.push_back(rounded<F>(random_hermitian<T>(n, 41 + k)));
        for (Index j = 0; j < n; ++j)
          for (Index i = 0; i < n; ++i) {
            x.back()(i, j) *= RealOf<F>(0.1), z.back()(i, j) *= RealOf<F>(0.1),
                s.back()(i, j) *= RealOf<T>(0.1);
            if (i == j) z.back()(i, j) += F(RealOf<F>(1)), s.back()(i, j) += T(RealOf<T>(1));
          }
      }
      const Data data_s = upload(this->runtime(), batch_of(s)), data_x = upload(this->runtime(), batch_of(x)),
                 data_z = upload(this->runtime(), batch_of(z)),
                 p = Data::matrix(this->runtime(), n, width * count, sizeof(T)),
                 work = this->scratch(columns_work<F, T>(n, width, count));
      ASSERT_TRUE(this->run([&](Sequence& sequence) {
        sequence.insert(DensityColumns<F, T>{.s = overlap ? &data_s : nullptr,
                                             .x = data_x,
                                             .z = overlap ? &data_z : nullptr,
                                             .p = p,
                                             .work = work.valid() ? &work : nullptr,
                                             .n = n,
                                             .width = width,
                                             .count = count});
      }));
      const auto found = download<T>(p);
      const auto times = [](const Matrix<T>& a, const Matrix<T>& b) {
        return multiply(Op::none, a, Op::none, b);
      };
      for (std::size_t k = 0; k < std::size_t(count); ++k) {
        const Matrix<T> x_t = rounded<T>(x[k]), z_t = rounded<T>(z[k]);
        const Matrix<T> q = overlap ? times(times(z_t, x_t), z_t) : x_t;
        const Matrix<T> qs = overlap ? times(q, s[k]) : q, qsq = times(qs, q), qsqsq = times(qs, qsq);
        Matrix<T> expected(n, width);
        for (Index j = 0; j < width; ++j)
          for (Index i = 0; i < n; ++i)
            expected(i, j) = RealOf<T>(3) * qsq(i, j) - RealOf<T>(2) * qsqsq(i, j);
        EXPECT_LE(difference(of_batch(found, Index(k), width), expected), 1e3 * double(n) * this->eps);
      }
    }
  };
  check(T{});
  if constexpr (sizeof(RealOf<T>) == 8) check(Half{});
}

}  // namespace
}  // namespace tessera::test
