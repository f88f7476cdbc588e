// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vector_cases.hpp"

/// Matrices in the other precision.
namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;
using test::Matrix;

template <class T>
class Convert : public RuntimeTest<T> {};
TYPED_TEST_SUITE(Convert, Scalars);

TYPED_TEST(Convert, RoundsOrKeepsEveryElement) {
  using T = TypeParam;
  constexpr bool widens = sizeof(RealOf<T>) == 4;
  using R = std::conditional_t<widens, double, float>;
  using Other = std::conditional_t<is_complex<T>, std::complex<R>, R>;
  const std::vector<Index> sizes{4, 0, 5, 3};
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::symmetric, Symmetry::antisymmetric}) {
    BlockSparseBuilder<T> builder(this->runtime(),
                                  make_block_layout(this->runtime(), sizes, sizes, symmetry));
    for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {2, 0}, {2, 2}, {3, 2}}) {
      Matrix<T> block(sizes[std::size_t(i)], sizes[std::size_t(j)]);
      for (Index c = 0; c < block.cols(); ++c)
        for (Index r = 0; r < block.rows(); ++r)
          block(r, c) = test::random_scalar<T>(std::uint64_t(i * 4 + j), r, c + 1);
      builder.put(i, j, MatrixView<const T>{block.data(), block.rows(), block.cols(), block.rows()});
    }
    const auto a = builder.finalize();
    BlockSparseMatrix<Other> b;
    run_sequence(this->runtime(), [&](Sequence& sequence) { b = convert<Other>(sequence, a); });
    EXPECT_EQ(b.pattern_pointer(), a.pattern_pointer());
    b.for_each_block([&](Index i, Index j, MatrixView<const Other> block) {
      const auto original = *a.get_block(i, j);
      const auto from = [&](Index r, Index c) {
        return static_cast<Other>(original[std::size_t(r + c * block.rows)]);
      };
      const bool imposed = widens && symmetry != Symmetry::none && i == j;
      for (Index c = 0; c < block.cols; ++c)
        for (Index r = 0; r < block.rows; ++r) {
          Other expected = from(r, c);
          if (imposed && r < c) expected = symmetry == Symmetry::symmetric ? from(c, r) : -from(c, r);
          if (imposed && r == c && symmetry == Symmetry::antisymmetric) expected = Other(0);
          EXPECT_EQ(block(r, c), expected) << i << ' ' << j << ' ' << r << ' ' << c;
        }
    });
  }
}

TYPED_TEST(Convert, RefusesNoMatrix) {
  using T = TypeParam;
  using R = std::conditional_t<sizeof(RealOf<T>) == 4, double, float>;
  using Other = std::conditional_t<is_complex<T>, std::complex<R>, R>;
  Sequence sequence(this->runtime());
  EXPECT_THROW(convert<Other>(sequence, BlockSparseMatrix<T>()), InvalidArgument);
}

}  // namespace
}  // namespace tessera
