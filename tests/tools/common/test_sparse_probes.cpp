// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <tessera/block_operations.hpp>
#include <tessera/matgen.hpp>
#include <tessera/multiply.hpp>

#include "sparse_probes.hpp"

/// The checks of a block-sparse product must accept right products and reject wrong ones.
namespace {

using namespace tessera;
using namespace tessera::program;

template <class T>
class SparseProbes : public ::testing::Test {
 protected:
  static constexpr double filter = 1e-3;

  void SetUp() override {
    const auto sizes = repeated_block_sizes(std::vector<Index>{7, 3}, 100);
    const BlockLayout layout = make_block_layout(runtime_, sizes, sizes);
    BlockLayout half = layout;
    half.symmetry = is_complex<T> ? Symmetry::hermitian : Symmetry::antisymmetric;
    a_ = random_block_sparse<T>(runtime_, half, 0.2, 1);
    b_ = random_block_sparse<T>(runtime_, layout, 0.2, 2);
    c0_ = random_block_sparse<T>(runtime_, layout, 0.1, 3);
  }

  /// C with `error` added to one element.
  BlockSparseMatrix<T> product(bool retain, double error) {
    BlockSparseMatrix<T> c = random_block_sparse<T>(runtime_, c0_.layout(), 0.1, 3);
    EXPECT_TRUE(tessera::multiply({.alpha = T(2), .a = a_, .b = {b_, Op::transpose}, .beta = T(-1), .c = c},
                                  {.filter_eps = retain ? 0 : filter, .retain_sparsity = retain}));
    Index number = 0;
    c.for_each_block_mutable([&](Index, Index, MatrixView<T> values) {
      if (number++ == 40) values(1, 1) += T(static_cast<RealOf<T>>(error));
    });
    return c;
  }
  SparseProduct<T> described(const BlockSparseMatrix<T>& c, bool retain) const {
    return {Op::none, Op::transpose, T(2), T(-1), retain ? 0 : filter, retain, &a_, &b_, &c0_, &c};
  }

  Runtime runtime_{RuntimeOptions{.cores = 2, .gpus = 0}};
  BlockSparseMatrix<T> a_, b_, c0_;
};
using Types = ::testing::Types<float, std::complex<double>>;
TYPED_TEST_SUITE(SparseProbes, Types);

TYPED_TEST(SparseProbes, RightProductsPass) {
  for (const bool retain : {false, true}) {
    const auto c = this->product(retain, 0);
    const auto product = this->described(c, retain);
    EXPECT_LT(check_against_dense(product, dense_product(product, 1).c).residual, 3);
    EXPECT_LT(check_by_vectors(product, 5).residual, 3);
  }
}

TYPED_TEST(SparseProbes, WrongProductsFail) {
  for (const bool retain : {false, true}) {
    const auto c = this->product(retain, 0.5);
    const auto product = this->described(c, retain);
    EXPECT_FALSE(check_against_dense(product, dense_product(product, 1).c).passed());
    // If the sparsity is retained, only one of eight block columns is checked, so the error may be
    // missed.
    EXPECT_TRUE(retain || !check_by_vectors(product, 5).passed());
    const auto broken = this->product(retain, NAN);
    EXPECT_FALSE(check_against_dense(this->described(broken, retain), dense_product(product, 1).c).passed());
  }
}

/// The report's data for a matrix, against its dense form.
TYPED_TEST(SparseProbes, OccupationAndChecksumCountBothHalves) {
  double elements = 0, squares = 0;
  for (const auto x : densify(this->a_)) squares += std::norm(std::complex<double>(x));
  for (Index row = 0; row < this->a_.block_rows(); ++row)
    for (Index col = 0; col <= row; ++col)
      if (this->a_.pattern().find(row, col))
        elements += static_cast<double>((row == col ? 1 : 2) * this->a_.pattern().rows().size(row) *
                                        this->a_.pattern().cols().size(col));
  EXPECT_EQ(occupation(this->a_),
            elements / (static_cast<double>(this->a_.rows()) * static_cast<double>(this->a_.cols())));
  EXPECT_NEAR(checksum(this->a_), squares, 1e-9 * squares);
}

}  // namespace
