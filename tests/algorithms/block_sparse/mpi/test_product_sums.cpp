// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "../product_sum_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;

TEST(ProductSumsMpi, AreThoseOfTheResult) {
  Runtime runtime({}, Communicator::world());
  for (const unsigned seed : {0u, 5u}) {
    check_sums<double>(runtime, seed);
    check_sums<std::complex<float>>(runtime, seed + 1);
  }
}

}  // namespace
}  // namespace tessera
