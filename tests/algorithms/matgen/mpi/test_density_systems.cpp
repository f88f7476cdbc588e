// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/mpi_test.hpp>

#include <tessera/algorithms/matgen/density_kinds.hpp>

/// Systems made on all ranks must equal those made on one rank.
namespace tessera::test {
namespace {

using DensitySystemsMpi = MpiTest;

template <class T>
std::pair<std::uint64_t, std::uint64_t> prints_of(const DensitySystem<T>& system) {
  return {fingerprint(system.hamiltonian), fingerprint(system.overlap)};
}

template <class T>
void expect_same_as_on_one_rank(Runtime& runtime, const DensitySystemOptions& options) {
  const int ranks = runtime.size();
  const auto one = density_system_on<T>(runtime, options, {1, 1}, 0);
  EXPECT_EQ(prints_of(density_system<T>(runtime, options)), prints_of(one));
  EXPECT_EQ(prints_of(density_system_on<T>(runtime, options, {ranks, 1}, 50)), prints_of(one));
  EXPECT_EQ(prints_of(density_system_on<T>(runtime, options, {1, ranks, true}, 50)), prints_of(one));
}

TEST_F(DensitySystemsMpi, SameAsOnOneRank) {
  for (const DensitySystemOptions& options :
       {DensitySystemOptions{.kind = "water", .molecules = 40},
        DensitySystemOptions{.kind = "water", .molecules = 40, .blocks = {4, 1, 1}},
        DensitySystemOptions{.kind = "amorphous", .molecules = 30},
        DensitySystemOptions{.kind = "tio2", .molecules = 12}}) {
    expect_same_as_on_one_rank<double>(runtime(), options);
    expect_same_as_on_one_rank<std::complex<float>>(runtime(), options);
  }
}

TEST_F(DensitySystemsMpi, BadArgumentsOnOneRankAreRefusedOnAll) {
  const int last = runtime().size() - 1;
  DensitySystemOptions options{.molecules = 3};
  if (runtime().rank() == last) options.gap = -1;
  if (runtime().size() == 1)
    expect_refused("gap", [&] { density_system<double>(runtime(), options); });
  else
    EXPECT_THROW(density_system<double>(runtime(), options), InvalidArgument);
  options = {.molecules = 3, .seed = runtime().rank() == last ? 1u : 2u};
  if (runtime().size() > 1) {
    EXPECT_THROW(density_system<double>(runtime(), options), InvalidArgument);
  }
}

}  // namespace
}  // namespace tessera::test
