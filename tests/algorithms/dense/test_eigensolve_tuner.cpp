// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <tuple>

#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/eigensolve_tuner.hpp>

namespace tessera::test {
namespace {

template <class T>
class Tuner : public RuntimeTest<T> {
 public:
  static std::string path() {
    return std::filesystem::temp_directory_path() / ("tessera_tuner_" + std::to_string(::getpid()) + ".json");
  }
  static std::tuple<int, Index, Index, Index> key(const EigensolveOptions& o) {
    return {static_cast<int>(o.solver), o.tile, o.band, o.update_width};
  }
};
TYPED_TEST_SUITE(Tuner, Scalars);

TYPED_TEST(Tuner, TriesEachCandidateOnceAndKeepsTheFastest) {
  using T = TypeParam;
  const Index n = 400;
  EigensolveTuner<T> tuner(this->runtime(), n);
  ASSERT_GE(tuner.candidates(), 4);
  EXPECT_EQ(tuner.tried(), 0);
  EXPECT_TRUE(std::isinf(tuner.best_seconds()));
  EXPECT_EQ(this->key(tuner.best()), this->key(resolve_options<T>(this->runtime(), n, {})));
  std::set<std::tuple<int, Index, Index, Index>> seen;
  for (Index k = 0; k < tuner.candidates(); ++k) {
    EXPECT_EQ(this->key(tuner.next()), this->key(tuner.candidate(k)));
    seen.insert(this->key(tuner.next()));
    tuner.record(k == 2   ? 0.5
                 : k == 0 ? std::numeric_limits<double>::infinity()
                          : 1.0 + static_cast<double>(k));
  }
  EXPECT_EQ(static_cast<Index>(seen.size()), tuner.candidates()) << "no candidate twice";
  EXPECT_TRUE(tuner.done());
  EXPECT_EQ(tuner.best_seconds(), 0.5);
  EXPECT_EQ(this->key(tuner.best()), this->key(tuner.candidate(2)));
  EXPECT_EQ(this->key(tuner.next()), this->key(tuner.candidate(2)));
  tuner.record(0.1);  // of the best one again: nothing is left to try
  EXPECT_EQ(tuner.best_seconds(), 0.5);
}

/// Each solve is right, whatever is tried.
TYPED_TEST(Tuner, SolvesWhileItTries) {
  using T = TypeParam;
  const Index n = 150;
  const auto a = random_hermitian<T>(n, 3);
  const auto reference = lapack_eigenvalues(a);
  EigensolveTuner<T> tuner(this->runtime(), n, {.range = index_range(5, 40)});
  for (Index k = 0; k <= tuner.candidates(); ++k) {
    const auto r = tuner.solve({.a = {a.data(), n, a.ld()}});
    ASSERT_TRUE(r) << r.status().message();
    const EigenErrors errors = eigen_errors<T>(a, nullptr, r.values, nullptr, reference, 5);
    EXPECT_LT(errors.values, 30) << k;
  }
  EXPECT_TRUE(tuner.done());
  EXPECT_GT(tuner.best_seconds(), 0);
  EXPECT_LT(tuner.best_seconds(), 60);
}

TYPED_TEST(Tuner, WhatIsFixedIsNotTried) {
  using T = TypeParam;
  const EigensolveTuner<T> tuner(this->runtime(), 500,
                                 {.solver = Solver::two_stage, .vectors = false, .band = 32});
  ASSERT_GE(tuner.candidates(), 2);
  for (Index k = 0; k < tuner.candidates(); ++k) {
    EXPECT_EQ(tuner.candidate(k).solver, Solver::two_stage);
    EXPECT_EQ(tuner.candidate(k).band, 32);
    EXPECT_FALSE(tuner.candidate(k).vectors);
  }
  EXPECT_THROW(EigensolveTuner<T>(this->runtime(), 10, {.band = 10}), InvalidArgument);
}

TYPED_TEST(Tuner, GoesOnWhereAFileEnds) {
  using T = TypeParam;
  const Index n = 300;
  const std::string path = this->path();
  EigensolveTuner<T> tuner(this->runtime(), n);
  tuner.record(2);
  tuner.record(std::numeric_limits<double>::infinity());
  tuner.record(0.1 + 0.2);
  tuner.save(path);
  EigensolveTuner<T> other(this->runtime(), n);
  other.load(path);
  EXPECT_EQ(other.tried(), 3);
  EXPECT_EQ(other.best_seconds(), 0.1 + 0.2);
  EXPECT_EQ(this->key(other.next()), this->key(tuner.next()));
  EigensolveTuner<T> larger(this->runtime(), n + 1);
  EXPECT_THROW(larger.load(path), InputError);
  EXPECT_EQ(larger.tried(), 0);
  std::ofstream(path) << "{}";
  EXPECT_THROW(other.load(path), InputError);
  std::ofstream(path) << "no JSON";
  EXPECT_THROW(other.load(path), InputError);
  EXPECT_EQ(other.tried(), 3);
  std::filesystem::remove(path);
  EXPECT_THROW(other.load(path), InputError);
  EXPECT_THROW(other.record(-1), InvalidArgument);
  EXPECT_THROW(other.record(std::nan("")), InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
