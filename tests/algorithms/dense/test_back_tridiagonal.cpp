// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tessera/algorithms/dense/back_tridiagonal.hpp>
#include <tessera/error.hpp>

#include "tests/codelets/band/reflector_pieces.hpp"

/// The back-transform with reflectors in the layout of a GPU chase, on GPUs if present, else on
/// CPUs.
namespace tessera {
using namespace detail;
namespace {

using namespace testing;

template <class T>
class BackTridiagonal : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BackTridiagonal, Scalars);

template <class T>
void expect_pieces_applied(Runtime& runtime, ReflectorKernel kernel) {
  using D = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  for (const PieceShape& s : piece_shapes) {
    if (s.n > 300 || (kernel == ReflectorKernel::one_by_one && (s.b & (s.b - 1)) != 0)) continue;
    SCOPED_TRACE(::testing::Message() << "n " << s.n << " b " << s.b << " k " << s.columns);
    std::mt19937 generator(5);
    const Index width = ceil_div(s.columns, 3);
    ColumnSlabs<T> z(runtime, s.n, s.columns, width);
    std::vector<D> expected(static_cast<std::size_t>(s.n * s.columns));
    for (D& x : expected) x = D(random_scalar<T>(generator));
    for (Index k = 0; k < z.count(); ++k) {
      HostAccess access(z.slab(k), HostAccess::Mode::write);
      const auto view = access.template matrix<T>();
      for (Index j = 0; j < z.slab_cols(k); ++j)
        for (Index i = 0; i < s.n; ++i) view(i, j) = T(expected[i + (z.first_col(k) + j) * s.n]);
    }
    ChaseReflectors<T> reflectors(s.n, s.b);
    std::vector<std::vector<T>> data;
    const auto pieces = cut(s);
    for (const DeviceReflectors& piece : pieces) {
      data.push_back(random_reflectors<T>(piece, generator));
      reflectors.device_pieces().push_back({piece, Data::bytes(runtime, data.back().size() * sizeof(T))});
      HostAccess access(reflectors.device_pieces().back().data, HostAccess::Mode::write);
      std::copy(data.back().begin(), data.back().end(), access.template array<T>().begin());
    }
    for (std::size_t p = pieces.size(); p-- > 0;)
      apply_one_by_one(pieces[p], data[p], expected, s.columns, s.n);
    Sequence sequence(runtime);
    back_tridiagonal<T>(sequence, std::move(reflectors), z, kernel);
    ASSERT_TRUE(sequence.wait().ok());
    double difference = 0;
    for (Index k = 0; k < z.count(); ++k) {
      HostAccess access(z.slab(k), HostAccess::Mode::read);
      const auto view = access.template matrix<T>();
      for (Index j = 0; j < z.slab_cols(k); ++j)
        for (Index i = 0; i < s.n; ++i)
          difference =
              std::max(difference, std::abs(D(view(i, j)) - expected[i + (z.first_col(k) + j) * s.n]));
    }
    EXPECT_LT(difference, 10. * std::sqrt(static_cast<double>(s.n)) * precision<T>);
  }
}

TYPED_TEST(BackTridiagonal, DevicePiecesAreApplied) {
  Runtime runtime({.cores = 2});
  expect_pieces_applied<TypeParam>(runtime, ReflectorKernel::blocked);
}

TYPED_TEST(BackTridiagonal, DevicePiecesAreAppliedOneByOne) {
  Runtime runtime({.cores = 2});
  expect_pieces_applied<TypeParam>(runtime, ReflectorKernel::one_by_one);
}

TEST(BackTridiagonalOneByOne, SaysWhatItCannotDo) {
  Runtime runtime({.cores = 1});
  const ColumnSlabs<double> z(runtime, 40, 3, 3);
  Sequence sequence(runtime);
  EXPECT_THROW(back_tridiagonal<double>(sequence, {40, 4}, z, ReflectorKernel::one_by_one), InvalidArgument);
  ChaseReflectors<double> uneven(40, 5);
  uneven.device_pieces().push_back({{.n = 40, .bandwidth = 5, .sweeps = 39}, Data::bytes(runtime, 8)});
  EXPECT_THROW(back_tridiagonal(sequence, std::move(uneven), z, ReflectorKernel::one_by_one),
               InvalidArgument);
}

}  // namespace
}  // namespace tessera
