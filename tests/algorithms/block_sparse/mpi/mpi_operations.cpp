// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "../arithmetic_cases.hpp"
#include "../copy_operation_cases.hpp"
#include "../reduction_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;

const std::vector<Index> tall{4, 0, 2, 7, 1, 6, 5}, wide_sizes{3, 3, 0, 4};

/// Each pair of matrices has different distributions, panels and grids.
template <class T>
void check_all(Runtime& runtime, unsigned seed, const std::vector<Symmetry>& symmetries) {
  check_copies<T>(runtime, seed, symmetries);
  check_arithmetic<T>(runtime, seed, symmetries);
  check_reductions<T>(runtime, seed, symmetries);
}

TEST(BlockSparseOperationsMpi, Complex) {
  Runtime runtime({}, Communicator::world());
  check_all<std::complex<double>>(runtime, 7, {Symmetry::none, Symmetry::hermitian});
}

TEST(BlockSparseOperationsMpi, Real) {
  Runtime runtime({}, Communicator::world());
  check_all<double>(runtime, 11, {Symmetry::antisymmetric});
}

TEST(BlockSparseOperationsMpi, Rectangular) {
  Runtime runtime({}, Communicator::world());
  check_rectangular_copies<float>(runtime, tall, wide_sizes, 3);
  check_rectangular_arithmetic<double>(runtime, wide_sizes, tall, 8);
  check_rectangular_reductions<std::complex<float>>(runtime, tall, wide_sizes, 0);
  check_rectangular_copies<double>(runtime, {}, {}, 0);
  check_rectangular_copies<double>(runtime, {1}, {1}, 0);
  check_rectangular_arithmetic<double>(runtime, {1}, {1}, 4);
}

}  // namespace
}  // namespace tessera
