// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>
#include <tests/support/temporary_file.hpp>

#include <tessera/preconditioners.hpp>

/// Solves that are stopped and go on from a checkpoint, against closed forms; damaged and foreign files.
namespace tessera::test {
namespace {

constexpr EigenMethod methods[] = {EigenMethod::lobpcg, EigenMethod::generalized_davidson};

template <class T>
class Checkpoint : public RuntimeTest<double> {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Checkpoint, Reals);
using CheckpointInDouble = RuntimeTest<double>;

/// What a kill is to a solve: an exception that it does not expect.
struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

auto stop_at(Index iteration) {
  return [iteration](const LobpcgStep& step) { return step.iteration < iteration; };
}
auto kill_at(Index iteration) {
  return [iteration](const LobpcgStep& step) {
    if (step.iteration >= iteration) throw Killed();
    return true;
  };
}

/// All methods, ends and numbers of pairs, also in groups: the values are those of the closed form, and what was done
/// before is not done again.
TYPED_TEST(Checkpoint, StoppedSolvesGoOn) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const SparseRows a = grid_laplacian(21);
  std::vector<double> values = grid_values(21);
  const auto op = operator_of<T>(runtime, a, 3);
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-8, rounding = 400 * double(precision<T>);
  for (const EigenMethod method : methods)
    for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest})
      for (const Index count : {1, 5, 40}) {
        SCOPED_TRACE(fmt::format("method {} largest {} count {}", int(method), int(end), count));
        std::sort(values.begin(), values.end());
        if (end == EigenEnd::largest) std::reverse(values.begin(), values.end());
        const TemporaryFile file(runtime, ".h5");
        LobpcgOptions options{.count = count, .method = method, .end = end, .tolerance = tolerance};
        const auto whole = lobpcg(runtime, {.a = &op}, options);
        options.checkpoint = {.path = file.path(), .iterations = 1000};
        const Index half = 2 * whole.iterations / 3;
        options.monitor = stop_at(half);
        const auto first = lobpcg(runtime, {.a = &op}, options);
        ASSERT_EQ(first.status().code, StatusCode::stopped);
        EXPECT_EQ(first.checkpoints, 1);
        EXPECT_EQ(first.checkpoint_failure, "");
        options.monitor = {};
        options.resume = file.path();
        const auto second = lobpcg(runtime, {.a = &op}, options);
        ASSERT_EQ(Index(second.values.size()), count);
        EXPECT_EQ(second.converged, count);
        EXPECT_EQ(second.checkpoints, 0);
        EXPECT_EQ(second.iterations_before, half);
        EXPECT_EQ(second.history.front().iteration, half + 1);
        EXPECT_EQ(second.restarts, first.restarts + 1);
        EXPECT_EQ(second.iterations, half + Index(second.history.size()));
        EXPECT_LT(Index(second.history.size()), Index(whole.history.size()));
        EXPECT_GT(second.columns_multiplied, first.columns_multiplied);
        expect_values(second, values, 10 * tolerance);
        expect_eigenpairs(second, a, nullptr, a.norm() * (2 * tolerance + rounding), rounding);
      }
}

/// After an exception the file is the last one that was due.
TEST_F(CheckpointInDouble, AfterAnExceptionByIterations) {
  const Index n = 120;
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  for (const EigenMethod method : methods)
    for (const Index count : {3, 24}) {
      SCOPED_TRACE(fmt::format("method {} count {}", int(method), count));
      const TemporaryFile file(runtime(), ".h5");
      LobpcgOptions options{.count = count, .method = method, .tolerance = 1e-8};
      const Index last = lobpcg(runtime(), {.a = &op}, options).iterations, killed = 9 * last / 10;
      Index converged = 0;
      options.checkpoint = {.path = file.path(), .iterations = 4, .seconds = 0};
      options.monitor = [&, kill = kill_at(killed)](const LobpcgStep& step) {
        if (step.iteration < killed) converged = step.converged;
        return kill(step);
      };
      EXPECT_THROW(lobpcg(runtime(), {.a = &op}, options), Killed);
      options.monitor = {};
      options.resume = file.path();
      const auto result = lobpcg(runtime(), {.a = &op}, options);
      EXPECT_TRUE(method == EigenMethod::lobpcg || count < 24 || converged > 0) << "no locked pairs";
      // After a restart there is none.
      EXPECT_GE(result.iterations_before, killed - 6);
      EXPECT_LT(result.iterations_before, killed);
      std::vector<double> values;
      for (Index k = 1; k <= count; ++k) values.push_back(laplacian_value(n, k));
      expect_values(result, values, 1e-9);
      expect_eigenpairs(result, a, nullptr, 1e-7, 1e-9);
    }
}

TEST_F(CheckpointInDouble, BySeconds) {
  const auto op = operator_of<double>(runtime(), laplacian(120));
  const TemporaryFile file(runtime(), ".h5");
  LobpcgOptions options{.count = 2, .iterations = 6};
  options.checkpoint = {.path = file.path(), .seconds = 1e-9};
  const auto result = lobpcg(runtime(), {.a = &op}, options);
  EXPECT_EQ(result.status().code, StatusCode::iterations_exhausted);
  EXPECT_EQ(result.checkpoints, 7);  // after each iteration but the last one, and at the end
  options.checkpoint.seconds = 1e6;
  EXPECT_EQ(lobpcg(runtime(), {.a = &op}, options).checkpoints, 1);
}

/// `iterations` count from where a solve goes on: the same call again and again comes to the end.
TEST_F(CheckpointInDouble, ManyShortSolves) {
  const Index n = 200;
  const auto op = operator_of<double>(runtime(), laplacian(n), 2);
  const TemporaryFile file(runtime(), ".h5");
  LobpcgOptions options{.count = 36, .method = EigenMethod::generalized_davidson, .iterations = 12};
  options.checkpoint = {.path = file.path(), .iterations = 5};
  auto result = lobpcg(runtime(), {.a = &op}, options);
  options.resume = file.path();
  Index solves = 1;
  for (; solves < 60 && !result; ++solves) {
    ASSERT_EQ(result.status().code, StatusCode::iterations_exhausted);
    result = lobpcg(runtime(), {.a = &op}, options);
  }
  EXPECT_GT(solves, 2);
  std::vector<double> values;
  for (Index k = 1; k <= 36; ++k) values.push_back(laplacian_value(n, k));
  expect_values(result, values, 1e-7);
}

/// With B, constraints and a preconditioner.
TEST_F(CheckpointInDouble, GeneralizedWithConstraints) {
  const Index n = 190;
  const auto [k, m] = mikota(n);
  const auto stiffness = operator_of<double>(runtime(), k, 3), mass = operator_of<double>(runtime(), m, 3);
  const TemporaryFile file(runtime(), ".h5");
  const auto lowest =
      lobpcg(runtime(), {.a = &stiffness, .b = &mass}, {.count = 2, .tolerance = 1e-12, .iterations = 2000});
  ASSERT_TRUE(lowest) << lowest.status().message();
  for (const EigenMethod method : methods)
    for (const Index count : {3, 36}) {
      SCOPED_TRACE(fmt::format("method {} count {}", int(method), count));
      std::vector<double> diagonal;
      for (Index i = 0; i < n; ++i) diagonal.push_back(2. * double(n - i) - 1);
      JacobiPreconditioner<double> jacobi(runtime(), stiffness.segments(), diagonal, {.shift = 0});
      const LobpcgProblem<double> problem{.a = &stiffness,
                                          .b = &mass,
                                          .preconditioner = &jacobi,
                                          .constraints = &lowest.vectors,
                                          .constraint_count = 2};
      LobpcgOptions options{.count = count, .method = method, .tolerance = 1e-9, .iterations = 3000};
      options.checkpoint = {.path = file.path(), .iterations = 1000};
      options.monitor = [&](const LobpcgStep& step) { return step.converged < 2 * count / 3; };
      ASSERT_EQ(lobpcg(runtime(), problem, options).status().code, StatusCode::stopped);
      options.monitor = {};
      options.resume = file.path();
      const auto result = lobpcg(runtime(), problem, options);
      std::vector<double> values;
      for (Index j = 3; j < 3 + count; ++j) values.push_back(double(j * j));
      expect_values(result, values, 1e-3);
    }
}

/// The matrix may be cut otherwise, the method, its sizes and the tolerance may be others.
TEST_F(CheckpointInDouble, OtherCutsMethodsAndSizes) {
  const Index n = 170;
  const SparseRows a = laplacian(n);
  std::vector<double> values;
  for (Index k = 1; k <= 34; ++k) values.push_back(laplacian_value(n, k));
  const TemporaryFile file(runtime(), ".h5");
  for (const Index count : {4, 34})
    for (const EigenMethod from : methods) {
      const auto written = operator_of<double>(runtime(), a, 1);
      LobpcgOptions options{.count = count, .method = from, .tolerance = 1e-8};
      options.checkpoint = {.path = file.path(), .iterations = 1000};
      options.monitor = [&](const LobpcgStep& step) { return step.converged < count / 2; };
      ASSERT_EQ(lobpcg(runtime(), {.a = &written}, options).status().code, StatusCode::stopped);
      for (const EigenMethod method : methods)
        for (const Index block : {4, 11}) {
          SCOPED_TRACE(fmt::format("count {} from {} to {} block {}", count, int(from), int(method), block));
          const auto op = operator_of<double>(runtime(), a, 5);
          LobpcgOptions changed{
              .count = count, .method = method, .block = block, .iterations = 3000, .seed = 9};
          changed.tolerance = count == 4 ? 1e-10 : 1e-7;
          changed.resume = file.path();
          expect_values(lobpcg(runtime(), {.a = &op}, changed), values, 1e-7);
        }
    }
}

/// A checkpoint of a small solve for the tests of bad files.
class BadCheckpoint : public RuntimeTest<double> {
 protected:
  void SetUp() override {
    LobpcgOptions options = options_;
    options.checkpoint = {.path = file_.path(), .iterations = 1000, .label = "by rows"};
    options.monitor = [](const LobpcgStep& step) { return step.converged < 10; };
    ASSERT_EQ(lobpcg(runtime(), {.a = &op_}, options).status().code, StatusCode::stopped);
  }
  LobpcgOptions resumed() const {
    LobpcgOptions options = options_;
    options.resume = file_.path();
    options.checkpoint.label = "by rows";
    return options;
  }
  static constexpr Index n_ = 170;
  const TemporaryFile file_{runtime(), ".h5"};
  const LobpcgOptions options_{.count = 34, .method = EigenMethod::generalized_davidson, .tolerance = 1e-9};
  const UserOperator<double> op_ = operator_of<double>(runtime(), laplacian(n_), 2);
};

TEST_F(BadCheckpoint, OfAnotherProblemIsRefused) {
  EXPECT_TRUE(lobpcg(runtime(), {.a = &op_}, resumed()));
  const auto refused = [&](const LobpcgProblem<double>& problem, const LobpcgOptions& options,
                           const std::string& why) {
    try {
      (void)lobpcg(runtime(), problem, options);
      ADD_FAILURE() << "no exception: " << why;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.name(), "resume") << error.what();
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  };
  const auto larger = operator_of<double>(runtime(), laplacian(n_ + 1));
  refused({.a = &larger}, resumed(), "order 171, not 170");
  LobpcgOptions options = resumed();
  options.count = 33;
  refused({.a = &op_}, options, "count 33, not 34");
  options = resumed();
  options.end = EigenEnd::largest;
  refused({.a = &op_}, options, "largest = 1, not 0");
  options = resumed();
  options.tolerance = 1e-10;
  refused({.a = &op_}, options, "tolerance 1e-10");
  options = resumed();
  options.checkpoint.label = "by columns";
  refused({.a = &op_}, options, "'by columns', not 'by rows'");
  refused({.a = &op_, .b = &op_}, resumed(), "generalized = 1, not 0");
  const auto vector =
      vectors_of<double>(runtime(), op_.segments(), 1, [](Index i, Index) { return double(i); });
  refused({.a = &op_, .constraints = &vector, .constraint_count = 1}, resumed(), "constraint_count 1, not 0");
  SparseRows shifted = laplacian(n_);
  for (Index i = 0; i < n_; ++i) shifted.add(i, i, 1);
  const auto other_norm = operator_of<double>(runtime(), shifted);
  refused({.a = &other_norm}, resumed(), "||A|| = 5, not 4");
  // Of the same order and norm: what shows it are the Ritz values.
  SparseRows changed(n_);
  for (Index i = 0; i < n_; ++i) {
    changed.add(i, i, 2);
    if (i > 0) changed.add(i, i - 1, i == 80 ? 1 : -1);
  }
  for (const bool with_norm : {true, false}) {
    const auto same_norm = operator_of<double>(runtime(), changed, 1, with_norm);
    refused({.a = &same_norm}, resumed(), with_norm ? "Ritz value" : "||A|| = 0, not 4");
  }
  SparseRows lower = laplacian(n_);
  for (Index i = 0; i < n_; ++i) lower.add(i, i, -0.001);
  const UserOperator<double> nearer(runtime(), RowSegments::even(runtime(), n_, 2),
                                    function_of<double>(lower), 4);
  refused({.a = &nearer}, resumed(), "Ritz value");
  options = resumed();
  const auto guess = vectors_of<double>(runtime(), op_.segments(), 1, [](Index, Index) { return 1.0; });
  expect_refused("guess_count",
                 [&] { (void)lobpcg(runtime(), {.a = &op_, .guess = &guess, .guess_count = 1}, options); });
}

TEST_F(BadCheckpoint, OfAnotherTypeIsRefused) {
  const auto op = operator_of<float>(runtime(), laplacian(n_));
  expect_input_error([&] { (void)lobpcg(runtime(), {.a = &op}, resumed()); }, file_.path(), 0,
                     "has vectors of type d, expected s");
}

/// Whatever byte is wrong, and wherever the file ends: an error, or bytes that HDF5 does not use and the right values.
TEST_F(BadCheckpoint, DamagedOrForeign) {
  const std::string good = file_.text();
  const auto right = lobpcg(runtime(), {.a = &op_}, resumed());
  Index refused = 0, unused = 0;
  const auto attempt = [&](const std::string& text) {
    const TemporaryFile bad(runtime(), ".h5", text);
    LobpcgOptions options = resumed();
    options.resume = bad.path();
    try {
      const auto result = lobpcg(runtime(), {.a = &op_}, options);
      ++unused;
      ASSERT_EQ(result.values.size(), right.values.size());
      for (std::size_t k = 0; k < right.values.size(); ++k)
        ASSERT_NEAR(result.values[k], right.values[k], 1e-9);
    } catch (const InputError& error) {
      ++refused;
      EXPECT_EQ(error.file(), bad.path());
    } catch (const InvalidArgument& error) {
      ++refused;  // the label
      EXPECT_EQ(error.name(), "resume") << error.what();
    }
  };
  for (std::size_t at = 0; at < good.size(); at += good.size() / 60 + 1) {
    std::string text = good;
    text[at] = static_cast<char>(text[at] ^ 0x14);
    attempt(text);
    attempt(good.substr(0, at));
  }
  EXPECT_GT(refused, 60);
  attempt("");
  attempt("no HDF5");
  LobpcgOptions options = resumed();
  options.resume = "/nowhere/at/all.h5";
  expect_input_error([&] { (void)lobpcg(runtime(), {.a = &op_}, options); }, options.resume, 0,
                     "cannot be read");
  RecordProperty("damaged bytes without effect", std::to_string(unused));
}

TEST_F(CheckpointInDouble, BadOptions) {
  const auto op = operator_of<double>(runtime(), laplacian(60));
  const auto refused = [&](const LobpcgCheckpoint& checkpoint, const std::string& name) {
    LobpcgOptions options;
    options.checkpoint = checkpoint;
    expect_refused(name, [&] { (void)lobpcg(runtime(), {.a = &op}, options); });
  };
  const TemporaryFile file(runtime(), ".h5");
  refused({.path = file.path(), .iterations = -1}, "checkpoint.iterations");
  refused({.path = file.path(), .seconds = -1}, "checkpoint.seconds");
  refused({.path = file.path(), .seconds = NAN}, "checkpoint.seconds");
  refused({.path = file.path(), .seconds = HUGE_VAL}, "checkpoint.seconds");
  refused({.path = file.path(), .seconds = 0}, "checkpoint.seconds");
  refused({.path = "/nowhere/at/all.h5"}, "checkpoint.path");
  refused({.path = "/dev/null"}, "checkpoint.path");
}

/// The folder is gone when the file is due: the solve goes on, and says why there is no file.
TEST_F(CheckpointInDouble, GoesOnWhereItCannotBeWritten) {
  const TemporaryFile name(runtime(), "");
  std::filesystem::create_directory(name.path());
  const auto op = operator_of<double>(runtime(), laplacian(90));
  LobpcgOptions options{.count = 2};
  options.checkpoint = {.path = name.path() + "/c.h5", .iterations = 2};
  options.monitor = [&](const LobpcgStep& step) {
    if (step.iteration == 3) std::filesystem::remove_all(name.path());
    return true;
  };
  const auto result = lobpcg(runtime(), {.a = &op}, options);
  expect_values(result, {laplacian_value(90, 1), laplacian_value(90, 2)}, 1e-7);
  EXPECT_EQ(result.checkpoints, 1);
  EXPECT_NE(result.checkpoint_failure.find("c.h5: cannot be written"), std::string::npos)
      << result.checkpoint_failure;
}

}  // namespace
}  // namespace tessera::test
