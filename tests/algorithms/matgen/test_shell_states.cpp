// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/matgen/shell_model/no_core.hpp>
#include <tessera/codelets/linalg/blas.hpp>

#include "shell_states_checks.hpp"

namespace tessera::test {
namespace {

using ShellStates = RuntimeTest<double>;
const std::vector<ShellOrbit> p_shell{{0, 1, 3}, {0, 1, 1}};
const std::vector<ShellOrbit> two_parities{{0, 1, 1}, {0, 2, 3}, {1, 0, 1}};

TEST_F(ShellStates, OfRandomVectors) {
  for (int protons = 0; protons <= 6; protons += 2)
    for (int neutrons = 0; neutrons <= 6; ++neutrons) {
      const int odd = (protons + neutrons) % 2;
      check_states<double>(runtime(), p_shell, {protons, neutrons, odd, 0});
      if (protons % 6 != 0 || neutrons % 6 != 0)  // else there is J = 0 alone
        check_states<float>(runtime(), p_shell, {protons, neutrons, odd - 2, 0});
    }
  for (const int parity : {0, 1, -1})
    for (const auto& [protons, neutrons] : {std::pair{2, 3}, {1, 4}, {3, 3}, {5, 2}})
      check_states<double>(runtime(), two_parities, {protons, neutrons, (protons + neutrons) % 2, parity});
  check_states<double>(runtime(), sd_shell_orbits(), {2, 3, 1, 0});
  for (const auto& [protons, neutrons, nmax] : {std::tuple{2, 2, 2}, {3, 2, 1}, {1, 2, 4}})
    check_states<double>(runtime(), oscillator_orbits(highest_shell(protons, neutrons, nmax)),
                         no_core_space(protons, neutrons, nmax, (protons + neutrons) % 2));
}

/// Eigenstates of an interaction that is invariant have J >= |M| and T >= |T_z|, halves of integers.
TEST_F(ShellStates, OfEigenstatesAreQuantumNumbers) {
  for (const ShellModelSpace& space : {ShellModelSpace{2, 2, 0, 0}, {2, 3, 1, 0}, {1, 2, 3, 0}}) {
    SparseGenerator made;
    made.a = std::make_shared<ShellModelRows>(random_interaction(p_shell, 5), space);
    const auto n = static_cast<Index>(made.a->order());
    Matrix<double> z = dense(*made.a);
    std::vector<double> values(static_cast<std::size_t>(n)),
        work(static_cast<std::size_t>(2 * n * n + 6 * n + 1)), rows(static_cast<std::size_t>(n * n)),
        rwork(1);
    std::vector<int> iwork(static_cast<std::size_t>(5 * n + 3));
    ASSERT_EQ(0, blas::heevd<double>('V', Uplo::lower, n, z.data(), z.ld(), values.data(), work.data(),
                                     Index(work.size()), rwork.data(), 1, iwork.data(), Index(iwork.size())));
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < n; ++k) rows[i * n + k] = z(i, k);
    const BlockVectors<double> vectors(runtime(), RowSegments::even(runtime(), n, 2), n);
    vectors.set(rows.data(), n, n);
    for (const ShellModelState& state : shell_model_states(runtime(), made, vectors, n).states) {
      const double parts = space.protons + space.neutrons;
      for (const auto& [q, least] : {std::pair{state.j, std::abs(space.twice_m) / 2.},
                                     {state.t, std::abs(space.neutrons - space.protons) / 2.}}) {
        EXPECT_NEAR(std::remainder(q - parts / 2, 1), 0, 1e-9) << q;
        EXPECT_GT(q, least - 1e-9);
      }
    }
  }
}

TEST_F(ShellStates, ParityOfAMixture) {
  SparseGenerator made;
  made.a = std::make_shared<ShellModelRows>(random_interaction(two_parities, 1), ShellModelSpace{1, 0, 1, 0});
  ASSERT_EQ(made.a->order(), 3);  // one state with m = 1/2 in each orbit
  const BlockVectors<double> vectors(runtime(), RowSegments::even(runtime(), 3, 1), 3);
  const std::vector<double> x{1, 0, 1, 0, 2, 2, 0, 1, 0};
  vectors.set(x.data(), 3, 3);
  const auto found = shell_model_states(runtime(), made, vectors, 3);
  EXPECT_EQ(found.orbits, (std::vector<std::string>{"0p1/2", "0d3/2", "1s1/2"}));
  std::multiset<int> parities;
  for (const ShellModelState& state : found.states) parities.insert(state.parity);
  EXPECT_EQ(parities.count(0), 1u);
  EXPECT_EQ(parities.size(), 3u);
  EXPECT_NEAR(found.states[1].protons[0] + found.states[1].protons[1] + found.states[1].protons[2], 1, 1e-14);
}

TEST_F(ShellStates, Refused) {
  const SparseGenerator other = make_sparse_generator("laplacian1d:12"),
                        made = make_sparse_generator("shell:sd:0:2");
  EXPECT_FALSE(is_shell_model(other));
  EXPECT_TRUE(is_shell_model(made));
  const BlockVectors<double> vectors(runtime(), RowSegments::even(runtime(), 12, 1), 2);
  expect_refused("generator", [&] { shell_model_states(runtime(), other, vectors, 1); });
  expect_refused("vectors", [&] { shell_model_states(runtime(), made, vectors, 1); });
  expect_refused("count", [&] { shell_model_states(runtime(), made, vectors, 3); });
  expect_refused("count", [&] { shell_model_states(runtime(), made, vectors, -1); });
}

}  // namespace
}  // namespace tessera::test
