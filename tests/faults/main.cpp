// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// fault_cases --list            prints names and expected messages, one per line: NAME<tab>MESSAGE
// fault_cases NAME RANK         runs the case with RANK as the faulty rank
// fault_cases NAME RANK POINT   the same, and RANK throws at the POINT-th fault point (from 1)
// fault_cases NAME RANK 0       counts the fault points of RANK
//
// Prints `rank R: KIND: MESSAGE` for each rank, where KIND is `none` without an exception, and
// `points N`.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <tests/faults/fault_case.hpp>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/fault_points.hpp>

namespace tessera::test {
using namespace detail;

std::vector<FaultCase>& fault_cases() {
  static std::vector<FaultCase> cases;
  return cases;
}

namespace {

long points = 0, thrown_at = -1;

/// Throws an exception of the standard library, not one of Tessera's types.
void count_and_throw() {
  if (++points == thrown_at) throw std::bad_alloc();
}

std::string kind_and_message(const std::function<void()>& work) {
  try {
    work();
  } catch (const InvalidArgument& error) {
    return fmt::format("InvalidArgument: {}", error.what());
  } catch (const InputError& error) {
    return fmt::format("InputError: {}", error.what());
  } catch (const RuntimeError& error) {
    return fmt::format("RuntimeError: {}", error.what());
  } catch (const RemoteError& error) {
    return fmt::format("RemoteError: {}", error.what());
  } catch (const Error& error) {
    return fmt::format("Error: {}", error.what());
  } catch (const std::bad_alloc&) {
    return "bad_alloc: there is not enough memory";
  } catch (const std::exception& error) {
    return fmt::format("exception: {}", error.what());
  }
  return "none: ";
}

/// Ranks detect the failure at different places. The pause lets all ranks print before the first
/// one ends all.
[[noreturn]] void end_after_failure() {
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  Runtime::abort_ranks(2);
}

/// Rank of this process before a Runtime exists.
int launched_rank() {
  const char* const text = std::getenv("OMPI_COMM_WORLD_RANK");
  return text ? std::atoi(text) : 0;
}

int run_alone(const FaultCase& fault, int faulty, long point) {
  const int rank = launched_rank();
  if (point >= 0 && rank == faulty) {
    thrown_at = point;
    detail::fault_hook = count_and_throw;
  }
  const std::string outcome = kind_and_message([&] { fault.run_alone(rank, faulty); });
  detail::fault_hook = nullptr;
  fmt::print("rank {}: {}\n", rank, outcome);
  if (point == 0 && rank == faulty) fmt::print("points {}\n", points);
  std::fflush(stdout);
  // The end of the first process may end all processes, so the others get time to print.
  if (!outcome.starts_with("none")) std::this_thread::sleep_for(std::chrono::milliseconds(700));
  return 0;
}

int run(const FaultCase& fault, int faulty, long point) {
  if (fault.run_alone) return run_alone(fault, faulty, point);
  std::unique_ptr<Runtime> runtime;
  const std::string start = kind_and_message([&] {
    runtime = std::make_unique<Runtime>(RuntimeOptions{.cores = 1, .gpus = 0, .bind = false},
                                        Communicator::world());
  });
  if (!runtime) {  // another rank has already failed
    fmt::print("rank {}: {}\n", launched_rank(), start);
    end_after_failure();
  }
  const Ranks ranks{*runtime, faulty};
  if (point >= 0 && ranks.here()) {
    thrown_at = point;
    detail::fault_hook = count_and_throw;
  }
  // Exceptions between the public calls of a case are left to the program, which uses guarded().
  const std::string outcome = kind_and_message([&] {
    if (point > 0)
      guarded(*runtime, [&] { fault.run(ranks); });
    else
      fault.run(ranks);
  });
  detail::fault_hook = nullptr;
  fmt::print("rank {}: {}\n", runtime->rank(), outcome);
  if (point == 0 && ranks.here()) fmt::print("points {}\n", points);
  std::fflush(stdout);
  // Other ranks learn of a failure on one rank when they next wait for it.
  const std::string after = kind_and_message([&] { runtime->barrier(); });
  if (!runtime->poisoned()) return 0;
  fmt::print("rank {} after: {}\n", runtime->rank(), after);
  end_after_failure();
}

}  // namespace
}  // namespace tessera::test

int main(int argc, char** argv) {
  using namespace tessera::test;
  const std::string name = argc > 1 ? argv[1] : "--list";
  if (name == "--list") {
    for (const FaultCase& fault : fault_cases()) fmt::print("{}\t{}\n", fault.name, fault.message);
    return 0;
  }
  for (const FaultCase& fault : fault_cases())
    if (fault.name == name && argc > 2)
      return run(fault, std::atoi(argv[2]), argc > 3 ? std::atol(argv[3]) : -1);
  fmt::print(stderr, "unknown case '{}'\n", name);
  return 3;
}
