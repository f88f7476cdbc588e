// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "../union_cases.hpp"

namespace tessera {
namespace {

using namespace operations_test;

TEST(BlockSparseUnionsMpi, ByTasksAsOnTheHost) {
  Runtime runtime({}, Communicator::world());
  for (const unsigned seed : {0u, 7u}) check_all_unions(runtime, seed);
  check_unions(runtime, random_layout(runtime, {4, 0, 2, 7, 1, 6, 5}, {3, 3, 0, 4}, Symmetry::none, 8));
  check_unions(runtime, random_layout(runtime, {1}, {1}, Symmetry::none, 4));
  check_unions(runtime, random_layout(runtime, {}, {}, Symmetry::none, 0));
}

TEST(BlockSparseUnionsMpi, SumsOfFilteredMatrices) {
  Runtime runtime({}, Communicator::world());
  check_all_sums<double>(runtime, 11, {Symmetry::none, Symmetry::antisymmetric});
  check_all_sums<std::complex<float>>(runtime, 7, {Symmetry::none, Symmetry::hermitian});
}

}  // namespace
}  // namespace tessera
