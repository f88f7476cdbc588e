// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>
#include <tests/support/mpi_test.hpp>

#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/runtime/gpu_messages.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

/// The same insertions for one process and many: tasks run where the written data is located,
/// pieces are sent, and failures are shared.
namespace tessera::test {
using namespace detail;
namespace {

struct Fail {
  static constexpr const char* name = "test_mpi_fail";
  ReadWrite<Array<double>> x;
  Index index = 0;
};
void run(const HostContext& on, const Fail& task) {
  on.fail(StatusCode::no_convergence, task.index);
}

/// y := x + value.
struct Add {
  static constexpr const char* name = "test_mpi_add";
  Read<Array<double>> x;
  Write<Array<double>> y;
  double value = 0;
};
void run(const HostContext&, const Add& task) {
  task.y.view()[0] = task.x.view()[0] + task.value;
}

struct Set {
  static constexpr const char* name = "test_mpi_set";
  Write<Array<double>> x;
  double value = 0;
};
void run(const HostContext&, const Set& task) {
  task.x.view()[0] = task.value;
}

struct AddNumber {
  static constexpr const char* name = "test_mpi_add_number";
  WriteOrAdd<Array<double>> sum;
  double number = 0;
};
void run(const HostContext&, const AddNumber& task) {
  const auto sum = *task.sum;
  sum[0] = (task.sum.first() ? 0 : sum[0]) + task.number;
}

}  // namespace
}  // namespace tessera::test

namespace tessera {
using namespace detail;
TESSERA_DEFINE_TASK(test::AddNumber)
TESSERA_DEFINE_TASK(test::Fail)
TESSERA_DEFINE_TASK(test::Add)
TESSERA_DEFINE_TASK(test::Set)
}  // namespace tessera

namespace tessera::test {
using namespace detail;
namespace {

class DistributedTasks : public MpiTest {
 public:
  static Data number(int owner) { return Data::bytes(runtime(), sizeof(double), owner); }
};

TEST_F(DistributedTasks, Collectives) {
  const double me = runtime().rank(), size = runtime().size();
  double values[2] = {me, -me};
  runtime().all_reduce_max(values, 2);
  EXPECT_EQ(values[0], size - 1);
  EXPECT_EQ(values[1], 0);
  double sum[1] = {me + 1};
  runtime().all_reduce_sum(sum, 1);
  EXPECT_EQ(sum[0], size * (size + 1) / 2);
  double root = me == size - 1 ? 42 : 0;
  runtime().broadcast(&root, sizeof root, runtime().size() - 1);
  EXPECT_EQ(root, 42);
  runtime().barrier();
}

/// What goes from one rank to another: nothing, little, or more than one message takes.
std::vector<std::byte> piece_for(int from, int to, std::size_t most) {
  std::vector<std::byte> piece((from + 2 * to) % 3 * most / 2);
  for (std::size_t at = 0; at < piece.size(); ++at)
    piece[at] = static_cast<std::byte>((static_cast<std::size_t>(7 * from + 3 * to) + at) % 251);
  return piece;
}

TEST_F(DistributedTasks, AllToAll) {
  const int size = runtime().size(), me = runtime().rank();
  for (const std::size_t most :
       {std::size_t{0}, std::size_t{10}, (std::size_t{1} << 27) / std::size_t(size) + 10}) {
    std::vector<std::vector<std::byte>> pieces;
    for (int to = 0; to < size; ++to) pieces.push_back(piece_for(me, to, most));
    const auto received = runtime().all_to_all(std::move(pieces));
    ASSERT_EQ(int(received.size()), size);
    for (int from = 0; from < size; ++from)
      EXPECT_TRUE(received[std::size_t(from)] == piece_for(from, me, most));
  }
}

TEST_F(DistributedTasks, AChainPassesThroughAllRanks) {
  const int size = runtime().size();
  std::vector<Data> pieces;
  for (int k = 0; k < 3 * size; ++k) pieces.push_back(number(k % size));
  Sequence sequence(runtime());
  sequence.insert(Set{.x = pieces[0], .value = 1});
  for (int k = 1; k < 3 * size; ++k)
    sequence.insert(Add{.x = pieces[k - 1], .y = pieces[k], .value = double(k)});
  ASSERT_TRUE(sequence.wait().ok());
  double expected = 1;
  for (int k = 0; k < 3 * size; ++k) {
    expected += k;
    EXPECT_EQ(pieces[k].local(), k % size == runtime().rank());
    if (pieces[k].local()) {
      EXPECT_EQ(download_values<double>(pieces[k])[0], expected);
    }
  }
}

TEST_F(DistributedTasks, ReplicatedDataHasACopyOnEachRank) {
  const int size = runtime().size();
  const Data copies = number(Data::every_rank), distributed = number(size - 1), result = number(0);
  Sequence sequence(runtime());
  // First on all ranks without communication, then from one rank to every copy.
  sequence.insert(Set{.x = copies, .value = 7});
  sequence.insert(Add{.x = copies, .y = distributed, .value = 1});
  for (int rank = 0; rank < size; ++rank)
    sequence.insert(CopyBytes{.source = distributed, .destination = copies}, {.execute_on = rank});
  sequence.insert(Add{.x = copies, .y = result, .value = 100}, {.execute_on = size - 1});
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(download_values<double>(copies)[0], 8);
  if (result.local()) {
    EXPECT_EQ(download_values<double>(result)[0], 108);
  }
}

/// If every rank has its own copy of a sum, the first task on each rank overwrites, whatever other
/// ranks do.
TEST_F(DistributedTasks, TheFirstTaskOfEachRankWritesItsCopy) {
  const Data copies = number(Data::every_rank);
  for (int round = 0; round < 2; ++round) {
    Sequence sequence(runtime());
    for (const double summand : {1.0, 2.0})
      for (int rank = 0; rank < runtime().size(); ++rank)
        sequence.insert(AddNumber{.sum = copies, .number = summand + 10 * rank}, {.execute_on = rank});
    ASSERT_TRUE(sequence.wait().ok());
    EXPECT_EQ(download_values<double>(copies)[0], 3 + 20 * runtime().rank()) << round;
  }
}

/// If one rank has the sum, the first task overwrites it, wherever the task runs.
TEST_F(DistributedTasks, TheFirstTaskWritesWhereverItRuns) {
  const int size = runtime().size();
  const Data sum = number(0);
  for (int round = 0; round < 2; ++round) {
    Sequence sequence(runtime());
    for (int rank = size - 1; rank >= 0; --rank)
      sequence.insert(AddNumber{.sum = sum, .number = rank + 1.0}, {.execute_on = rank});
    ASSERT_TRUE(sequence.wait().ok());
    if (sum.local()) {
      EXPECT_EQ(download_values<double>(sum)[0], size * (size + 1) / 2) << round;
    }
  }
}

/// If MPI supports GPU memory (CUDA-aware), no data may pass through the host.
TEST_F(DistributedTasks, PiecesGoFromGpuToGpu) {
  const int size = runtime().size(), rank = runtime().rank();
  double missing = sends_from_gpus(runtime()) ? 0 : 1;
  runtime().all_reduce_max(&missing, 1);
  if (size == 1 || missing > 0) GTEST_SKIP() << "no GPU, one rank or an MPI that is not CUDA-aware";
  const Index n = 256;
  const auto first = random_matrix<double>(n, n, 3);
  std::vector<Data> pieces, scales;
  for (int k = 0; k <= size; ++k) {
    pieces.push_back(Data::matrix(runtime(), n, n, sizeof(double), k % size));
    scales.push_back(number(k % size));
  }
  if (rank == 0) {
    HostAccess access(pieces[0], HostAccess::Mode::write);
    const auto view = access.matrix<double>();
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) view(i, j) = first(i, j);
  }
  for (const Data& scale : scales)
    if (scale.local()) HostAccess(scale, HostAccess::Mode::write).array<double>()[0] = 2;
  runtime().profile(true);
  Sequence sequence(runtime());
  for (int k = 0; k < size; ++k)
    sequence.insert(CopyTile<double>{.source = pieces[k],
                                     .scale = scales[k + 1],
                                     .destination = pieces[k + 1],
                                     .from = {0, 0, n, n},
                                     .to = {0, 0, n, n},
                                     .col0 = n});
  ASSERT_TRUE(sequence.wait().ok());
  // Only the first piece is copied to rank 0's GPU, and a number to each GPU.
  const double bytes = runtime().bytes_moved();
  runtime().profile(false);
  EXPECT_LT(bytes, (rank == 0 ? double(n * n) : 0) * sizeof(double) + 1024);
  if (rank != 0) return;
  const auto last = download<double>(pieces[size]);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) ASSERT_EQ(last(i, j), std::ldexp(first(i, j), size));
}

TEST_F(DistributedTasks, ProductOfDistributedMatrices) {
  const int size = runtime().size();
  const Index n = 12, tile = 4;
  const auto a = random_matrix<double>(n, n, 1), b = random_matrix<double>(n, n, 2);
  const TileLayout layout{n, n, tile, tile, ProcessGrid::squarest(size), Uplo::general};
  const TiledMatrix<double> tiles_a(runtime(), layout), tiles_b(runtime(), layout),
      tiles_c(runtime(), layout);
  for (Index j = 0; j < n / tile; ++j)
    for (Index i = 0; i < n / tile; ++i)
      for (const auto& [tiles, whole] : {std::pair{&tiles_a, &a}, {&tiles_b, &b}}) {
        if (!tiles->tile(i, j).local()) continue;
        HostAccess access(tiles->tile(i, j), HostAccess::Mode::write);
        const auto view = access.matrix<double>();
        for (Index c = 0; c < tile; ++c)
          for (Index r = 0; r < tile; ++r) view(r, c) = (*whole)(i * tile + r, j * tile + c);
      }
  Sequence sequence(runtime());
  for (Index j = 0; j < n / tile; ++j)
    for (Index i = 0; i < n / tile; ++i)
      for (Index k = 0; k < n / tile; ++k)
        sequence.insert(Gemm<double>{.a = tiles_a.tile(i, k),
                                     .b = tiles_b.tile(k, j),
                                     .c = tiles_c.tile(i, j),
                                     .part_a = {0, 0, tile, tile},
                                     .part_b = {0, 0, tile, tile},
                                     .part_c = {0, 0, tile, tile}});
  tiles_a.flush_remote_copies();
  tiles_b.flush_remote_copies();
  ASSERT_TRUE(sequence.wait().ok());
  const auto expected = multiply(a, b);
  for (Index j = 0; j < n / tile; ++j)
    for (Index i = 0; i < n / tile; ++i)
      if (tiles_c.tile(i, j).local()) {
        EXPECT_LE(
            difference(download<double>(tiles_c.tile(i, j)), expected.block(i * tile, j * tile, tile, tile)),
            1e-13);
      }
}

TEST_F(DistributedTasks, TheEarliestFailureOfAllRanksIsEverybodys) {
  const int size = runtime().size();
  std::vector<Data> pieces;
  for (int rank = 0; rank < size; ++rank) pieces.push_back(number(rank));
  Sequence sequence(runtime());
  sequence.begin_stage("first");
  for (int rank = 0; rank < size; ++rank) sequence.insert(Set{.x = pieces[rank], .value = 0});
  sequence.begin_stage("second");
  for (int rank = 0; rank < size; ++rank) sequence.insert(Fail{.x = pieces[rank], .index = 100 - rank});
  const Status status = sequence.wait();
  EXPECT_EQ(status.code, StatusCode::no_convergence);
  EXPECT_EQ(status.stage, "second");
  EXPECT_EQ(status.index, 100 - (size - 1));
  EXPECT_TRUE(sequence.failed());
}

}  // namespace
}  // namespace tessera::test
