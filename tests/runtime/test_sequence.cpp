// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <numeric>

#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::test {
using namespace detail;
namespace {

struct Fail {
  static constexpr const char* name = "test_fail";
  ReadWrite<Array<double>> x;
  Index index = 0;
  StatusCode code = StatusCode::success;
};
void run(const HostContext& on, const Fail& task) {
  on.fail(task.code, task.index);
}

std::atomic<int> executed = 0;

/// Adds `add` to the first number of the piece.
struct Count {
  static constexpr const char* name = "test_count";
  ReadWrite<Array<double>> x;
  double add = 1;
  double work = 0;
  double flops() const { return work; }
};
void run(const HostContext&, const Count& task) {
  ++executed;
  task.x.view()[0] += task.add;
}

/// The same with commutative access, in any order.
struct CountInAnyOrder {
  static constexpr const char* name = "test_count_in_any_order";
  Accumulate<Array<double>> x;
  double add = 1;
};
void run(const HostContext&, const CountInAnyOrder& task) {
  task.x.view()[0] += task.add;
}

/// Sum of all inputs.
struct Sum {
  static constexpr const char* name = "test_sum";
  ReadAll<Array<double>> all{};
  Write<Array<double>> sum;
  double work = 0;
  double flops() const { return work; }
};
void run(const HostContext&, const Sum& task) {
  double sum = 0;
  for (int k = 0; k < task.all.size(); ++k) sum += task.all[k][0];
  task.sum.view()[0] = sum;
}

/// Fills the scratch piece with the task's number and sums the remaining values at the end.
struct FillScratch {
  static constexpr const char* name = "test_scratch";
  Write<Array<double>> sum;
  Scratch<Array<double>> work;
  double number = 0;
};
void run(const HostContext&, const FillScratch& task) {
  const auto work = *task.work;
  std::fill(work.begin(), work.end(), task.number);
  task.sum.view()[0] = std::accumulate(work.begin(), work.end(), 0.0);
}

}  // namespace
}  // namespace tessera::test

namespace tessera {
using namespace detail;
TESSERA_DEFINE_TASK(test::Fail)
TESSERA_DEFINE_TASK(test::Count)
TESSERA_DEFINE_TASK(test::CountInAnyOrder)
TESSERA_DEFINE_TASK(test::Sum)
TESSERA_DEFINE_TASK(test::FillScratch)
}  // namespace tessera

namespace tessera::test {
using namespace detail;
namespace {

class SequenceTest : public RuntimeTest<double> {
 public:
  static Data number(double value) { return upload(runtime(), std::vector<double>{value}); }
  static double value_of(const Data& data) { return download_values<double>(data)[0]; }
};

TEST_F(SequenceTest, EmptyOneSucceeds) {
  Sequence sequence(runtime());
  EXPECT_TRUE(sequence.wait().ok());
  EXPECT_TRUE(sequence.wait().ok());
  EXPECT_EQ(sequence.statistics().tasks, 0);
  EXPECT_EQ(sequence.wait().message(), "success");
}

TEST_F(SequenceTest, TasksOnOnePieceRunInTheOrderOfInsertion) {
  const Data data = number(0);
  Sequence sequence(runtime());
  for (int k = 0; k < 100; ++k) sequence.insert(Count{.x = data, .add = 1});
  EXPECT_TRUE(sequence.wait());
  EXPECT_EQ(value_of(data), 100);
}

TEST_F(SequenceTest, AfterAFailureTheRestDoesNothing) {
  const Data data = number(0);
  Sequence sequence(runtime());
  sequence.begin_stage("first");
  sequence.insert(Count{.x = data, .add = 1});
  sequence.insert(Fail{.x = data, .index = 7, .code = StatusCode::no_convergence});
  sequence.begin_stage("second");
  executed = 0;
  for (int k = 0; k < 50; ++k) sequence.insert(Count{.x = data, .add = 100});
  const Status status = sequence.wait();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code, StatusCode::no_convergence);
  EXPECT_EQ(status.stage, "first");
  EXPECT_EQ(status.index, 7);
  EXPECT_TRUE(sequence.failed());
  EXPECT_EQ(value_of(data), 1);
  EXPECT_LE(executed, 1);
  // A second sequence on the same data must not be affected.
  Sequence next(runtime());
  next.insert(Count{.x = data, .add = 1});
  EXPECT_TRUE(next.wait());
  EXPECT_EQ(value_of(data), 2);
}

TEST_F(SequenceTest, EarliestStageAndLowestIndexWin) {
  Sequence sequence(runtime());
  sequence.begin_stage("one");  // stage 0 is for tasks inserted before the first stage
  sequence.begin_stage("two");
  sequence.begin_stage("three");
  sequence.fail(StatusCode::no_convergence, 3, 1);
  sequence.fail(StatusCode::not_finite, 2, 9);
  sequence.fail(StatusCode::not_positive_definite, 2, 4);
  sequence.fail(StatusCode::no_convergence, 2, 5);
  const Status status = sequence.wait();
  EXPECT_EQ(status.code, StatusCode::not_positive_definite);
  EXPECT_EQ(status.stage, "two");
  EXPECT_EQ(status.index, 4);
  EXPECT_NE(status.message().find("leading minor of order 4"), std::string::npos) << status.message();
  EXPECT_EQ(status.message().rfind("two:", 0), 0u);
}

TEST_F(SequenceTest, StatisticsAddUp) {
  const Data data = number(0);
  Sequence sequence(runtime());
  sequence.begin_stage("a");
  for (int k = 0; k < 5; ++k) sequence.insert(Count{.x = data, .add = 1, .work = 10});
  sequence.begin_stage("without tasks");
  sequence.begin_stage("b");
  for (int k = 0; k < 3; ++k) sequence.insert(Count{.x = data, .add = 1, .work = 100});
  sequence.insert(Sum{.sum = data, .work = 7});
  EXPECT_TRUE(sequence.wait());
  const SequenceStatistics statistics = sequence.statistics();
  ASSERT_EQ(statistics.stages.size(), 3u);  // includes stages without tasks
  EXPECT_EQ(statistics.stages[0].name, "a");
  EXPECT_EQ(statistics.stages[0].tasks, 5);
  EXPECT_EQ(statistics.stages[0].flops, 50);
  EXPECT_EQ(statistics.stages[1].name, "without tasks");
  EXPECT_EQ(statistics.stages[1].tasks, 0);
  EXPECT_EQ(statistics.stages[1].seconds, 0);
  EXPECT_EQ(statistics.stages[2].name, "b");
  EXPECT_EQ(statistics.stages[2].tasks, 4);
  EXPECT_EQ(statistics.stages[2].flops, 307);
  EXPECT_EQ(statistics.tasks, 9);
  double seconds = 0, busy = 0, codelet_seconds = 0, codelet_flops = 0;
  for (const auto& stage : statistics.stages) seconds += stage.seconds, busy += stage.busy_seconds;
  EXPECT_NEAR(seconds, statistics.total_seconds, 1e-9);
  EXPECT_NEAR(busy, statistics.busy_share * statistics.total_seconds * runtime().workers(), 1e-9);
  EXPECT_GT(statistics.submit_seconds, 0);
  ASSERT_EQ(statistics.codelets.size(), 2u);
  for (const auto& codelet : statistics.codelets) {
    EXPECT_EQ(codelet.tasks, codelet.name == "test_count" ? 8 : 1) << codelet.name;
    codelet_seconds += codelet.seconds, codelet_flops += codelet.flops;
  }
  EXPECT_NEAR(codelet_seconds, busy, 1e-9);
  EXPECT_EQ(codelet_flops, 357);
}

TEST_F(SequenceTest, StagesGoOn) {
  const Data data = number(0);
  Sequence sequence(runtime());
  for (int k = 0; k < 40; ++k)
    for (const char* stage : {"one", "two"}) {
      sequence.resume_stage(stage);
      sequence.insert(Count{.x = data, .add = 1});
    }
  EXPECT_GE(sequence.busy_seconds("one"), 0);  // callable while tasks run
  ASSERT_TRUE(sequence.wait());
  EXPECT_EQ(value_of(data), 80);
  const SequenceStatistics statistics = sequence.statistics();
  ASSERT_EQ(statistics.stages.size(), 2);
  for (const StageStatistics& stage : statistics.stages) {
    EXPECT_EQ(stage.tasks, 40);
    EXPECT_GT(sequence.busy_seconds(stage.name), 0);
    // busy_seconds is the mean over the workers that have run tasks, one or two.
    EXPECT_LE(sequence.busy_seconds(stage.name), stage.busy_seconds * (1 + 1e-12));
    EXPECT_GE(sequence.busy_seconds(stage.name), stage.busy_seconds / 2 * (1 - 1e-12));
    EXPECT_LE(stage.longest_busy_seconds, stage.busy_seconds * (1 + 1e-12));
    EXPECT_GE(stage.longest_busy_seconds, stage.busy_seconds / 2 * (1 - 1e-12));
  }
  EXPECT_EQ(sequence.busy_seconds("three"), 0);
}

TEST_F(SequenceTest, TooManyStagesAreAnError) {
  Sequence sequence(runtime());
  EXPECT_THROW(
      {
        for (int k = 0; k < 40; ++k) sequence.begin_stage("stage");
      },
      RuntimeError);
  EXPECT_TRUE(sequence.wait());
}

TEST_F(SequenceTest, AnyNumberOfBuffers) {
  for (const int count : {1, 7, 8, 9, 15, 16, 17, 40}) {
    std::vector<Data> pieces;
    for (int k = 0; k <= count; ++k) pieces.push_back(number(k + 1));
    const std::vector<const Data*> all = pointers_to({pieces.data(), std::size_t(count)});
    Sequence sequence(runtime());
    sequence.insert(Sum{.all = all, .sum = pieces.back()});
    EXPECT_TRUE(sequence.wait());
    EXPECT_EQ(value_of(pieces.back()), count * (count + 1) / 2.0);
  }
}

TEST_F(SequenceTest, AccumulationLosesNothing) {
  const Data data = number(0.5);
  Sequence sequence(runtime());
  for (int k = 0; k < 200; ++k) sequence.insert(CountInAnyOrder{.x = data, .add = 2});
  EXPECT_TRUE(sequence.wait());
  EXPECT_EQ(value_of(data), 400.5);
}

TEST_F(SequenceTest, ScratchBelongsToOneTaskAtATime) {
  const Index length = 5000;
  const Data work = Data::scratch(runtime(), length * sizeof(double));
  std::vector<Data> results;
  for (int k = 0; k < 40; ++k) results.push_back(Data::bytes(runtime(), sizeof(double)));
  Sequence sequence(runtime());
  for (int k = 0; k < 40; ++k)
    sequence.insert(FillScratch{.sum = results[k], .work = work, .number = double(k)});
  EXPECT_TRUE(sequence.wait());
  for (int k = 0; k < 40; ++k) EXPECT_EQ(value_of(results[k]), double(k) * length);
}

TEST_F(SequenceTest, TwoInFlightAreWaitedForInAnyOrder) {
  const Data x = number(0), y = number(0);
  auto first = std::make_unique<Sequence>(runtime()), second = std::make_unique<Sequence>(runtime());
  first->begin_stage("f");
  second->begin_stage("s");
  for (int k = 0; k < 30; ++k) {
    first->insert(Count{.x = x, .add = 1});
    second->insert(Count{.x = y, .add = 2});
  }
  first->insert(Fail{.x = x, .index = 3, .code = StatusCode::not_finite});
  EXPECT_TRUE(second->wait().ok());
  EXPECT_EQ(second->statistics().tasks, 30);
  EXPECT_EQ(first->wait().stage, "f");
  EXPECT_EQ(value_of(x), 30);
  EXPECT_EQ(value_of(y), 60);
}

TEST_F(SequenceTest, DestroyingAnUnfinishedOneWaits) {
  const Data data = number(0);
  {
    Sequence sequence(runtime());
    for (int k = 0; k < 100; ++k) sequence.insert(Count{.x = data, .add = 1});
  }
  EXPECT_EQ(value_of(data), 100);
}

TEST_F(SequenceTest, CompletionKeepsResultAndStatistics) {
  auto result = std::make_shared<std::vector<double>>(1, 5.0);
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  auto sequence = std::make_unique<Sequence>(runtime());
  Data data = Data::wrap_bytes(runtime(), result->data(), sizeof(double));
  sequence->begin_stage("only");
  sequence->insert(Count{.x = data, .add = 1});
  sequence->keep(std::move(kept));
  EXPECT_FALSE(watch.expired());
  Completion<std::vector<double>> completion(std::move(sequence), result);
  Completion<std::vector<double>> moved = std::move(completion);
  EXPECT_TRUE(moved.wait().ok());
  EXPECT_TRUE(moved.wait().ok());
  EXPECT_TRUE(watch.expired());
  data.release();
  EXPECT_EQ(moved.result()[0], 6);
  EXPECT_EQ(moved.statistics().tasks, 1);
}

TEST_F(SequenceTest, ReadyAsksWithoutWaiting) {
  const Data data = number(1);
  auto sequence = std::make_unique<Sequence>(runtime());
  auto held = std::make_unique<HostAccess>(data, HostAccess::Mode::read_write);
  sequence->insert(Count{.x = data, .add = 1});
  Completion<int> completion(std::move(sequence), std::make_shared<int>(3));
  EXPECT_FALSE(completion.ready());
  Completion<int> empty(std::make_unique<Sequence>(runtime()), std::make_shared<int>(4));
  EXPECT_TRUE(empty.ready()) << "it has no tasks";
  EXPECT_EQ(std::move(empty).result(), 4);
  EXPECT_FALSE(completion.ready());
  held = nullptr;
  EXPECT_EQ(completion.result(), 3);
  EXPECT_TRUE(completion.ready());
  EXPECT_TRUE(completion.status().ok());
  EXPECT_EQ(value_of(data), 2);
}

TEST_F(SequenceTest, ReleasedDataLivesUntilItsTasksAreDone) {
  const Data sum = number(0);
  Sequence sequence(runtime());
  for (int k = 0; k < 50; ++k) {
    Data piece = Data::bytes(runtime(), sizeof(double));
    const std::vector<const Data*> of_sum{&sum}, of_piece{&piece};
    sequence.insert(Sum{.all = of_sum, .sum = piece});
    sequence.insert(Count{.x = piece, .add = 1});
    sequence.insert(Sum{.all = of_piece, .sum = sum});
    piece.release();
    EXPECT_FALSE(piece.valid());
  }
  EXPECT_TRUE(sequence.wait());
  EXPECT_EQ(value_of(sum), 50);
}

/// TaskOptions::gpu with a number for which no GPU exists.
TEST(SequenceOptions, AGpuThatThereIsNotLeavesTheTaskToAnyWorker) {
  Runtime runtime({.cores = 2});
  const TilePart whole(0, 0, 8, 8);
  const auto a = random_matrix<double>(8, 8, 1);
  const Data source = upload(runtime, a), destination = Data::matrix(runtime, 8, 8, sizeof(double));
  Sequence sequence(runtime);
  const Data scale = unit_scale<double>(sequence);
  sequence.insert(CopyTile<double>{.source = source,
                                   .scale = scale,
                                   .destination = destination,
                                   .from = whole,
                                   .to = whole,
                                   .row0 = 8},
                  {.gpu = 99});
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(difference(download<double>(destination), a), 0);
}

/// Pieces of decreasing size from one reserve must hold their contents.
TEST(SequenceOptions, PiecesWithAReserve) {
  Runtime runtime({.cores = 2});
  constexpr std::size_t reserve = 4096;
  for (const std::size_t size : {std::size_t(4096), std::size_t(1000), std::size_t(24)}) {
    const Data piece = Data::bytes(runtime, size, 0, reserve);
    const HostAccess access(piece, HostAccess::Mode::write);
    EXPECT_EQ(access.array<char>().size(), size);
    std::fill(access.array<char>().begin(), access.array<char>().end(), 'x');
  }
}

}  // namespace
}  // namespace tessera::test
