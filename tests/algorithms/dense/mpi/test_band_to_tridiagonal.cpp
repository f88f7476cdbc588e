// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "../chase_problem.hpp"

namespace tessera {
using namespace detail;
namespace {

template <class T>
void check(Runtime& runtime, Index n, Index b, Index cols, Index slab, const ChaseOptions& options = {}) {
  SCOPED_TRACE(::testing::Message() << "n " << n << " b " << b << " " << type_letter<T> << " rank "
                                    << runtime.rank());
  using R = RealOf<T>;
  const auto run = testing::chase_and_back<T>(runtime, n, b, cols, slab, options);
  const R bound = 10 * std::sqrt(R(n)) * precision<T>;
  EXPECT_LT(run.orthogonality, bound);
  EXPECT_LT(run.residual, bound * std::sqrt(R(std::min(n, b))));
  // Every rank must have the same tridiagonal matrix, so the maximum and minimum of each number
  // must agree.
  std::vector<double> high(run.d.begin(), run.d.end()), low;
  high.insert(high.end(), run.e.begin(), run.e.end());
  for (double x : high) low.push_back(-x);
  const std::vector<double> mine = high;
  runtime.all_reduce_max(high.data(), Index(high.size()));
  runtime.all_reduce_max(low.data(), Index(low.size()));
  for (std::size_t i = 0; i < mine.size(); ++i) {
    ASSERT_EQ(mine[i], high[i]) << i;
    ASSERT_EQ(mine[i], -low[i]) << i;
  }
}

TEST(ChaseMpi, RealAndComplexOverTheRanks) {
  Runtime runtime({}, Communicator::world());
  check<double>(runtime, 1, 1, 1, 1);
  check<double>(runtime, 2, 3, 2, 1);
  check<double>(runtime, 200, 16, 200, 37);
  check<double>(runtime, 140, 3, 140, 30, {4, 1});  // chase over all ranks
  check<std::complex<double>>(runtime, 75, 3, 60, 11, {4, 1});
  check<float>(runtime, 90, 24, 90, 200);  // one slab, so some ranks have no data
  check<std::complex<float>>(runtime, 120, 8, 0, 1, {5, 1});
}

}  // namespace
}  // namespace tessera
