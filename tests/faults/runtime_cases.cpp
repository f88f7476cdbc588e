// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include <tests/faults/fault_case.hpp>

#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera::test {
namespace {

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
});

}  // namespace
}  // namespace tessera::test
