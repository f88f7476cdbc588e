// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "../vector_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;

/// The vectors and the matrix have distributions, panels and grids of their own.
template <class T>
void check_products(Runtime& runtime, unsigned seed, const std::vector<Symmetry>& symmetries) {
  for_each_symmetry<T>(runtime, seed, symmetries,
                       [&](Symmetry, const BlockLayout& first, const BlockLayout& second) {
                         check_vector_product<T>(runtime, first, 2);
                         check_vector_product<T>(runtime, second, 5, 1);
                       });
}

TEST(BlockSparseVectorsMpi, Products) {
  Runtime runtime({}, Communicator::world());
  check_products<std::complex<double>>(runtime, 7, {Symmetry::none, Symmetry::hermitian});
  check_products<double>(runtime, 11, {Symmetry::antisymmetric});
  check_products<float>(runtime, 0, {Symmetry::symmetric});
  for_rectangle<std::complex<float>>(runtime, {4, 0, 2, 7, 1, 6, 5}, {3, 3, 0, 4}, 3,
                                     [&](const BlockLayout& first, const BlockLayout&) {
                                       check_vector_product<std::complex<float>>(runtime, first, 1);
                                     });
}

TEST(BlockSparseVectorsMpi, Spectra) {
  Runtime runtime({}, Communicator::world());
  std::vector<Index> sizes(15, 7);
  sizes[4] = 0, sizes[9] = 2;
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian}) {
    check_spectrum<std::complex<double>>(runtime, random_layout(runtime, sizes, sizes, symmetry, 5));
    check_spectrum<float>(runtime, random_layout(runtime, sizes, sizes, symmetry, 6));
    check_spectrum<double>(runtime, make_block_layout(runtime, sizes, sizes, symmetry));
  }
  for (const std::vector<Index>& small : {std::vector<Index>{}, {1}, {0, 0}})
    check_spectrum<double>(runtime, make_block_layout(runtime, small, small, Symmetry::symmetric), 1);
}

TEST(BlockSparseVectorsMpi, NanIsAStatusOfAllRanks) {
  Runtime runtime({}, Communicator::world());
  const std::vector<Index> sizes{3, 4, 5};
  auto [a, dense] =
      hermitian_problem<double>(runtime, make_block_layout(runtime, sizes, sizes, Symmetry::symmetric), 1);
  auto block = dense.block(3, 0, 4, 3);
  block(0, 0) = not_a_number<double>();
  if (a.layout().owner(1, 0) == runtime.rank()) a.put_block(1, 0, std::as_const(block).view());
  auto submitted = submit_extremal_eigenvalues(runtime, {.a = a});
  submitted.wait();
  EXPECT_EQ(submitted.status().code, StatusCode::not_finite);
}

}  // namespace
}  // namespace tessera
