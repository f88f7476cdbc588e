// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <tuple>

#include <gtest/gtest.h>

#include <tessera/eigensolve.hpp>
#include <tessera/error.hpp>

/// A separate program, because a process has one default Runtime. The last one lives until the
/// process ends.
namespace tessera::test {
namespace {

/// The eigenvalues of [2 1; 1 2] are 1 and 3.
void expect_solves() {
  const double a[] = {2, 1, 1, 2};
  const auto r = eigensolve({.a = {a, 2, 2}});
  ASSERT_TRUE(r) << r.status().message();
  ASSERT_EQ(r.values.size(), 2u);
  EXPECT_NEAR(r.values[0], 1, 1e-15);
  EXPECT_NEAR(r.values[1], 3, 1e-15);
}

TEST(DefaultRuntime, IsMadeByTheFirstCallAndStays) {
  expect_solves();
  const Runtime* const first = &default_runtime();
  EXPECT_EQ(first->size(), 1);
  expect_solves();
  EXPECT_EQ(&default_runtime(), first);
}

TEST(DefaultRuntime, KeepsOthersOutUntilItIsEnded) {
  expect_solves();
  try {
    const Runtime other({.cores = 1, .gpus = 0});
    FAIL() << "two Runtimes";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("end_default_runtime()"), std::string::npos) << error.what();
  }
  end_default_runtime();
  end_default_runtime();
  const Runtime other({.cores = 1, .gpus = 0});
  EXPECT_EQ(other.workers(), 1);
}

TEST(DefaultRuntime, IsTheCallersWhereThereIsOne) {
  end_default_runtime();
  {
    Runtime mine({.cores = 1, .gpus = 0});
    EXPECT_EQ(&default_runtime(), &mine);
    expect_solves();
    EXPECT_EQ(&default_runtime(), &mine);
    end_default_runtime();
    EXPECT_EQ(&default_runtime(), &mine) << "it is not the default one's end";
    EXPECT_THROW(Runtime({.cores = 1, .gpus = 0}), RuntimeError);
  }
  expect_solves();
}

TEST(DefaultRuntime, MayFailAndBeTriedAgain) {
  end_default_runtime();
  setenv("STARPU_SCHED", "no_such_policy", 1);
  EXPECT_THROW(std::ignore = &default_runtime(), Error);
  unsetenv("STARPU_SCHED");
  expect_solves();  // this Runtime ends with the process
}

}  // namespace
}  // namespace tessera::test
