// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "tests/codelets/band/reflector_pieces.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace testing;

template <class T>
class ChaseBlocks : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ChaseBlocks, Scalars);

TYPED_TEST(ChaseBlocks, ApplyTheReflectors) {
  using T = TypeParam;
  using D = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  for (const PieceShape& s : piece_shapes) {
    if (s.n > 300) continue;
    SCOPED_TRACE(::testing::Message() << "n " << s.n << " b " << s.b);
    std::mt19937 generator(8);
    std::vector<T> c(static_cast<std::size_t>(s.ld * s.columns));
    for (T& x : c) x = random_scalar<T>(generator);
    std::vector<D> expected(c.begin(), c.end());
    const auto pieces = cut(s);
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      const std::vector<T> data = random_reflectors<T>(*piece, generator);
      apply_one_by_one(*piece, data, expected, s.columns, s.ld);
      std::vector<double> blocks(static_cast<std::size_t>(kernels::chase_blocks<T>(*piece).size()));
      kernels::form_chase_t<T>(*piece, data.data(), blocks.data());
      kernels::apply_chase<T>(*piece, blocks.data(), c.data(), s.columns, s.ld);
    }
    EXPECT_LT(largest_difference(c, expected), 10. * std::sqrt(static_cast<double>(s.n)) * precision<T>);
  }
}

}  // namespace
}  // namespace tessera
