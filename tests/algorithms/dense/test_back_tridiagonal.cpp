// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tessera/algorithms/dense/back_tridiagonal.hpp>

#include "tests/codelets/band/reflector_pieces.hpp"

/// The back-transform with reflectors in the layout of a GPU's chase, on whatever the machine has.
namespace tessera {
namespace {

using namespace testing;

template <class T>
class BackTridiagonal : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BackTridiagonal, Scalars);

TYPED_TEST(BackTridiagonal, DevicePiecesAreApplied) {
  using T = TypeParam;
  using D = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  Runtime runtime({.cores = 2});
  for (const PieceShape& s : piece_shapes) {
    if (s.n > 300) continue;
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
    back_tridiagonal<T>(sequence, std::move(reflectors), z);
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

}  // namespace
}  // namespace tessera
