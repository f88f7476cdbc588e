// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/temporary_file.hpp>

/// A checkpoint that one number of ranks writes and another one reads.
namespace tessera::test {
namespace {

constexpr EigenMethod methods[] = {EigenMethod::lobpcg, EigenMethod::generalized_davidson};
constexpr Index side = 14;

std::vector<double> lowest(Index count) {
  std::vector<double> values = grid_values(side);
  values.resize(static_cast<std::size_t>(count));
  return values;
}

/// A solve for `count` pairs that stops, and leaves a checkpoint.
Index write(Runtime& runtime, EigenMethod method, Index count, Index segments, const std::string& path) {
  const auto op = operator_of<double>(runtime, grid_laplacian(side), segments);
  LobpcgOptions options{.count = count, .method = method};
  options.checkpoint = {.path = path, .iterations = 1000};
  options.monitor = [&](const LobpcgStep& step) { return step.converged < count - 1; };
  const auto result = lobpcg(runtime, {.a = &op}, options);
  EXPECT_EQ(result.status().code, StatusCode::stopped);
  EXPECT_EQ(result.checkpoints, 1) << result.checkpoint_failure;
  return result.iterations;
}

void go_on(Runtime& runtime, EigenMethod method, Index count, Index segments, const std::string& path,
           Index before) {
  SCOPED_TRACE(fmt::format("{} ranks, method {}, count {}", runtime.size(), int(method), count));
  const SparseRows a = grid_laplacian(side);
  const auto op = operator_of<double>(runtime, a, segments);
  const auto result = lobpcg(runtime, {.a = &op}, {.count = count, .method = method, .resume = path});
  expect_values(result, lowest(count), 1e-7);
  expect_eigenpairs(result, a, nullptr, 1e-6, 1e-11);
  EXPECT_EQ(result.iterations_before, before);
  EXPECT_LT(Index(result.history.size()), before);
}

/// The string of rank 0.
std::string common_path(const Runtime& runtime, const std::string& mine) {
  const auto all = runtime.all_gather(std::as_bytes(std::span(mine)));
  return {reinterpret_cast<const char*>(all[0].data()), all[0].size()};
}

TEST(CheckpointMpi, OtherNumbersOfRanksGoOn) {
  Runtime world({.cores = 1, .bind = false}, Communicator::world());
  for (const Index count : {3, 36}) {
    std::vector<std::string> files;
    std::vector<Index> before;
    std::vector<std::unique_ptr<TemporaryFile>> kept;
    for (const EigenMethod method : methods) {
      kept.push_back(std::make_unique<TemporaryFile>(world, ".h5"));
      files.push_back(kept.back()->path());
      before.push_back(write(world, method, count, 2 * world.size() + 1, files.back()));
    }
    for (std::size_t k = 0; k < files.size(); ++k) {
      go_on(world, methods[k], count, world.size(), files[k], before[k]);
      world.barrier();
    }
  }
}

TEST(CheckpointMpi, FromOneRankToManyAndBack) {
  const Index count = 3;
  std::string one, many;
  std::vector<Index> before(2);
  {
    Runtime alone({.cores = 1, .bind = false});
    one = (std::filesystem::temp_directory_path() / fmt::format("tessera_one_{}.h5", ::getpid())).string();
    before[0] = write(alone, methods[1], count, 3, one);
  }
  {
    Runtime world({.cores = 1, .bind = false}, Communicator::world());
    const std::string from = common_path(world, one);
    go_on(world, methods[0], count, 2 * world.size(), from, before[0]);
    many = common_path(world, one + ".many.h5");
    before[1] = write(world, methods[0], count, 2 * world.size() + 1, many);
    world.barrier();
  }
  {
    Runtime alone({.cores = 1, .bind = false});
    go_on(alone, methods[1], count, 2, many, before[1]);
  }
  {
    const Runtime world({.cores = 1, .bind = false}, Communicator::world());  // all have read
    if (world.rank() == 0) std::filesystem::remove(many);
    std::filesystem::remove(one);
  }
}

/// What is wrong with a file or a path only rank 0 sees; all say so, and go on to work.
TEST(CheckpointMpi, ErrorsAreEverybodys) {
  Runtime world({.cores = 1, .bind = false}, Communicator::world());
  const auto op = operator_of<double>(world, laplacian(40), 4);
  LobpcgOptions options{.count = 2, .resume = "/nowhere/at/all.h5"};
  expect_input_error([&] { std::ignore = lobpcg(world, {.a = &op}, options); }, options.resume, 0,
                     "cannot be read");
  const TemporaryFile foreign(world, ".h5", "no HDF5");
  options.resume = foreign.path();
  expect_input_error([&] { std::ignore = lobpcg(world, {.a = &op}, options); }, options.resume, 0, "HDF5");
  options.resume.clear();
  options.checkpoint.path = "/nowhere/at/all.h5";
  expect_refused("checkpoint.path", [&] { std::ignore = lobpcg(world, {.a = &op}, options); });
  // The folder goes during the solve.
  const TemporaryFile folder(world, "");
  if (world.rank() == 0) std::filesystem::create_directory(folder.path());
  world.barrier();
  options.checkpoint = {.path = folder.path() + "/c.h5", .iterations = 2};
  options.monitor = [&](const LobpcgStep& step) {
    if (step.iteration == 3 && world.rank() == 0) std::filesystem::remove_all(folder.path());
    return true;
  };
  const auto result = lobpcg(world, {.a = &op}, options);
  expect_values(result, {laplacian_value(40, 1), laplacian_value(40, 2)}, 1e-7);
  EXPECT_EQ(result.checkpoints, 1);
  EXPECT_NE(result.checkpoint_failure.find("c.h5: cannot be written"), std::string::npos);
}

}  // namespace
}  // namespace tessera::test
