// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <tests/faults/fault_case.hpp>

#include <tessera/block_vectors.hpp>
#include <tessera/column_slabs.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/cpu_workers.hpp>
#include <tessera/runtime/matrix/band_matrix.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::test {
using namespace detail;
namespace {

const std::string different = "not the same on all ranks";

/// Slowly updates the piece from beginning to end.
struct Slow {
  static constexpr const char* name = "test_slow";
  ReadWrite<Array<double>> x;
};
void run(const HostContext&, const Slow& task) {
  for (double& x : *task.x) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    x += 1;
  }
}

}  // namespace
}  // namespace tessera::test

namespace tessera {
using namespace detail;
TESSERA_DEFINE_TASK(test::Slow)
}  // namespace tessera

namespace tessera::test {
using namespace detail;
namespace {

/// An exception, on one rank or on all ranks, frees memory while a running kernel writes to it.
void free_under_kernel(const Ranks& ranks, bool everywhere) {
  collectively(ranks.runtime, "test", 1, [&] {
    Sequence sequence(ranks.runtime);
    std::vector<double> memory(100);
    const Data wrapped =
        Data::wrap_bytes(ranks.runtime, memory.data(), memory.size() * sizeof(double), Data::every_rank);
    for (int k = 0; k < 3; ++k) sequence.insert(Slow{.x = wrapped});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto fail = [&] {
      if (ranks.here()) throw std::logic_error("lost");
    };
    everywhere ? agree(ranks.runtime, 1, fail) : fail();
    sequence.wait();
  });
}

/// One rank fails before a sum of many numbers that the other ranks compute.
void fail_before_a_sum(const Ranks& ranks) {
  collectively(ranks.runtime, "test", 2, [&] {
    if (ranks.here()) throw std::logic_error("lost");
    std::vector<double> many(129);
    ranks.runtime.all_reduce_sum(many.data(), 129);
  });
}

/// An exception ends a call on one rank only; this rank catches it and continues with another call.
void catch_and_go_on(const Ranks& ranks) {
  guarded(ranks.runtime, [&] {
    try {
      fail_before_a_sum(ranks);
    } catch (const std::logic_error&) {
    }
    double one = 1;
    ranks.runtime.all_reduce_sum(&one, 1);
  });
}

TileLayout four_by_four(const Ranks& ranks) {
  return {4, 4, 1, 1, ProcessGrid::squarest(ranks.runtime.size()), Uplo::general};
}

/// Starts a Runtime with different options on the faulty rank, then synchronizes all ranks.
FaultCase start(const std::string& name, const RuntimeOptions& usual, const RuntimeOptions& other,
                const std::string& message) {
  return {name, {}, message, [=](int rank, int faulty) {
            const Runtime runtime(rank == faulty ? other : usual, Communicator::world());
            runtime.barrier();
          }};
}
const RuntimeOptions usual{.cores = 1, .gpus = 0, .bind = false};

const AddFaultCases added({
    {"agreed",
     [](const Ranks& ranks) {
       agree(ranks.runtime, 1, [&] {
         if (ranks.here()) throw InvalidArgument("n", "-1", "at least 0");
       });
     },
     "n = -1: expected at least 0"},
    {"thrown_in_the_middle",
     [](const Ranks& ranks) {
       collectively(ranks.runtime, "test", 1, [&] {
         if (ranks.here()) throw std::logic_error("lost");
         ranks.runtime.barrier();
       });
     },
     "lost"},
    {"thrown_beside_a_gathering",
     [](const Ranks& ranks) {
       collectively(ranks.runtime, "test", 1, [&] {
         if (ranks.here()) throw InputError("file", 3, "damaged");
         const std::vector<std::byte> bytes(1 << 20);
         ranks.runtime.all_gather(bytes);
       });
     },
     "file:3: damaged"},
    {"different_calls",
     [](const Ranks& ranks) { collectively(ranks.runtime, ranks.here() ? "one" : "another", 1, [] {}); },
     "not the same on all ranks"},
    {"different_arguments",
     [](const Ranks& ranks) { collectively(ranks.runtime, "test", ranks.here() ? 2 : 1, [] {}); },
     "not the same on all ranks"},
    {"freed_under_a_kernel_of_one_rank", [](const Ranks& ranks) { free_under_kernel(ranks, false); }, "lost"},
    {"caught_and_gone_on", catch_and_go_on, "lost"},
    {"failed_within_a_check",
     [](const Ranks& ranks) { agree(ranks.runtime, 0, [&] { fail_before_a_sum(ranks); }); }, "lost"},
    {"freed_under_a_kernel_of_all_ranks", [](const Ranks& ranks) { free_under_kernel(ranks, true); }, "lost"},
    {"work_of_cpu_workers",
     [](const Ranks& ranks) {
       run_on_cpu_workers(ranks.runtime, [&](int) {
         if (ranks.here()) throw std::logic_error("lost");
       });
     },
     "lost"},
    {"sequences_waited_for_in_another_order",
     [](const Ranks& ranks) {
       guarded(ranks.runtime, [&] {
         Sequence first(ranks.runtime), second(ranks.runtime);
         (ranks.here() ? second : first).wait();
       });
     },
     different},
    {"local_array_missing",
     [](const Ranks& ranks) {
       std::vector<double> local(16);
       TiledMatrix<double>::wrap_block_cyclic(ranks.runtime, ranks.here() ? nullptr : local.data(), 4,
                                              four_by_four(ranks));
     },
     "local = null"},
    {"local_array_too_short",
     [](const Ranks& ranks) {
       std::vector<double> local(16);
       TiledMatrix<double>::wrap_block_cyclic(ranks.runtime, local.data(), ranks.here() ? 0 : 4,
                                              four_by_four(ranks));
     },
     "ld = 0"},
    {"whole_array_too_short",
     [](const Ranks& ranks) {
       std::vector<double> whole(16);
       TiledMatrix<double>::wrap(ranks.runtime, whole.data(), ranks.here() ? 3 : 4, {4, 4, 2, 2, {}});
     },
     "ld = 3"},
    {"grid_too_large",
     [](const Ranks& ranks) {
       TileLayout layout = four_by_four(ranks);
       if (ranks.here()) layout.grid.rows = 100;
       const TiledMatrix<double> a(ranks.runtime, layout);
     },
     "grid = 100"},
    {"slabs_differ",
     [](const Ranks& ranks) { const ColumnSlabs<double> z(ranks.runtime, 8, 8, ranks.here() ? 2 : 4); },
     different},
    {"slabs_of_no_width",
     [](const Ranks& ranks) { const ColumnSlabs<double> z(ranks.runtime, 8, 8, ranks.here() ? 0 : 4); },
     "width = 0"},
    {"bands_differ",
     [](const Ranks& ranks) { const BandMatrix<double> band(ranks.runtime, 32, ranks.here() ? 2 : 4); },
     different},
    {"band_of_no_width",
     [](const Ranks& ranks) { const BandMatrix<double> band(ranks.runtime, 32, ranks.here() ? 0 : 4); },
     "bandwidth = 0"},
    {"segments_differ",
     [](const Ranks& ranks) {
       const BlockVectors<double> x(ranks.runtime, RowSegments::even(ranks.runtime, 8, ranks.here() ? 3 : 2),
                                    2);
     },
     different},
    {"segments_missing",
     [](const Ranks& ranks) {
       const BlockVectors<double> x(ranks.runtime,
                                    ranks.here() ? nullptr : RowSegments::even(ranks.runtime, 8, 2), 2);
     },
     "segments = null"},
    {"vectors_of_another_rank",
     [](const Ranks& ranks) {
       const BlockVectors<double> x(
           ranks.runtime,
           std::make_shared<const RowSegments>(std::vector<Index>{0, 8}, std::vector{ranks.here() ? 7 : 0}),
           2);
     },
     "owners = 7"},
    {"vectors_set_and_got",
     [](const Ranks& ranks) {
       const BlockVectors<double> x(ranks.runtime, RowSegments::even(ranks.runtime, 8, 4), 2);
       std::vector<double> rows(16, 1);
       x.set(rows.data(), 2, 2);
       x.get(rows.data(), 2, 2);
     },
     ""},
    {"vectors_set_and_got_at_once",
     [](const Ranks& ranks) {
       const BlockVectors<double> x(ranks.runtime, RowSegments::even(ranks.runtime, 8, 4), 2);
       std::vector<double> rows(16, 1);
       if (ranks.here())
         x.set(rows.data(), 2, 2);
       else
         x.get(rows.data(), 2, 2);
     },
     different},
    {"vectors_got_to_nowhere",
     [](const Ranks& ranks) {
       const BlockVectors<double> x(ranks.runtime, RowSegments::even(ranks.runtime, 8, 4), 2);
       std::vector<double> rows(16, 1);
       x.set(rows.data(), 2, 2);
       x.get(ranks.here() ? nullptr : rows.data(), 2, 2);
     },
     "values = null"},
    start("start_without_a_fault", usual, usual, ""),
    start("start_with_gpus_that_are_not_there", usual, {.cores = 1, .gpus = 3, .bind = false},
          "3 GPUs asked for"),
    start("start_with_an_unknown_scheduler", usual,
          {.cores = 1, .gpus = 0, .scheduler = "nonsense", .bind = false},
          "scheduler = nonsense: expected one of"),
    start("start_synchronous_on_one_rank", usual, {.cores = 1, .gpus = 0, .synchronous = true, .bind = false},
          different),
    start("start_hybrid_on_one_rank", usual, {.cores = 1, .gpus = 0, .hybrid = true, .bind = false},
          different),
    start("start_without_workers", usual, {.cores = 0, .gpus = 0, .bind = false},
          "StarPU cannot start with 0 CPU"),
    {"runtime_ended_by_an_exception",
     {},
     "has ended its Runtime by an exception",
     [](int rank, int faulty) {
       Runtime runtime(usual, Communicator::world());
       if (rank == faulty) throw std::logic_error("has ended its Runtime by an exception");
       for (int k = 0; k < 10; ++k) const BandMatrix<double> band(runtime, 32, 4);
     }},
    {"process_ends_while_others_wait",
     {},
     "has ended",
     [](int rank, int faulty) {
       Runtime runtime(usual, Communicator::world());
       if (rank == faulty) {
         std::printf("rank %d: process has ended\n", rank);
         std::exit(0);
       }
       for (int k = 0; k < 10; ++k) const BandMatrix<double> band(runtime, 32, 4);
     }},
});

}  // namespace
}  // namespace tessera::test
