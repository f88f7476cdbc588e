// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>

#include "shell_model_reference.hpp"
#include "sparse_rows_checks.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using tessera::test::Matrix;

const std::vector<ShellOrbit> p_shell{{0, 1, 3}, {0, 1, 1}};
const std::vector<ShellOrbit> two_parities{{0, 1, 1}, {0, 2, 3}, {1, 0, 1}};

ShellInteraction with_energies(ShellInteraction h) {
  for (std::size_t a = 0; a < h.energies.size(); ++a) h.energies[a] = 0.7 * static_cast<double>(a) - 0.4;
  return h;
}

TEST(ShellModel, HasTheSpectrumOfSecondQuantisation) {
  int compared = 0;
  for (const auto& orbits : {p_shell, two_parities})
    for (int protons = 0; protons <= 6; protons += 1 + (orbits.size() == 3))
      for (int neutrons = 0; neutrons <= 6; neutrons += 1 + 2 * (orbits.size() == 3)) {
        const ShellInteraction h = with_energies(random_interaction(orbits, 3));
        for (int parity : {0, 1, -1}) {
          const ShellModelSpace space{protons, neutrons, (protons + neutrons) % 2, parity};
          const Matrix<double> expected = ShellModelReference(h, space).matrix();
          if (expected.rows() == 0) {
            expect_refused("twice_m", [&] { ShellModelRows rows(h, space); });
            continue;
          }
          if (expected.rows() > 350) continue;
          const ShellModelRows rows(h, space);
          expect_near(lapack_eigenvalues(dense(rows)), lapack_eigenvalues(expected), 1e-11,
                      fmt::format("Z = {}, N = {}, parity {}", protons, neutrons, parity));
          ++compared;
        }
      }
  EXPECT_GT(compared, 70);
}

TEST(ShellModel, StoresWhatIsNotZero) {
  const ShellInteraction h = with_energies(random_interaction(p_shell, 3));
  const Matrix<double> expected = ShellModelReference(h, {2, 3, 1, 0}).matrix();
  std::size_t nonzero = 0;
  for (Index j = 0; j < expected.cols(); ++j)
    for (Index i = j; i < expected.rows(); ++i) nonzero += std::abs(expected(i, j)) > 1e-12;
  EXPECT_EQ(gather(ShellModelRows(h, {2, 3, 1, 0}), 1000, 1000).size(), nonzero);
}

/// Two protons and two neutrons in the sd shell. A first (second) family is a pair of protons
/// (neutrons) and has a row for each pair of the other kind with opposite M. The two families of a
/// row identify it.
TEST(ShellModel, FamiliesAreDeterminantsOfProtonsAndOfNeutrons) {
  const std::vector<int> states{-5, -3, -1, 1, 3, 5, -1, 1, -3, -1, 1, 3};  // 2m
  std::map<int, int> pairs;                                                 // by 2M
  for (std::size_t i = 0; i < states.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) ++pairs[states[i] + states[j]];
  std::multiset<int> expected;
  for (const auto& [twice_m, count] : pairs)
    for (int pair = 0; pair < count; ++pair) expected.insert(pairs[-twice_m]);
  const ShellModelRows rows(random_interaction(sd_shell_orbits(), 1), {2, 2, 0});
  std::map<std::uint32_t, int> protons, neutrons;
  std::set<std::pair<std::uint32_t, std::uint32_t>> both;
  for (Index row = 0; row < rows.order(); ++row) {
    const RowFamilies families = rows.families(row).value();
    ++protons[families.first];
    ++neutrons[families.second];
    both.emplace(families.first, families.second);
  }
  EXPECT_EQ(both.size(), static_cast<std::size_t>(rows.order()));
  for (const auto& of_kind : {protons, neutrons}) {
    std::multiset<int> found;
    for (const auto& [family, count] : of_kind) found.insert(count);
    EXPECT_EQ(found, expected);
  }
  // Proton determinants are numbered in the order of the rows of a tile, and neutron determinants
  // in the order of the rows within one proton determinant.
  for (std::size_t t = 0; t + 1 < rows.tiles().size(); ++t)
    for (Index row = rows.tiles()[t] + 1; row < rows.tiles()[t + 1]; ++row) {
      const RowFamilies before = rows.families(row - 1).value(), here = rows.families(row).value();
      EXPECT_TRUE(here.first > before.first ||
                  (here.first == before.first && here.second == before.second + 1));
    }
}

TEST(ShellModel, EntriesDoNotDependOnTheRangesThatAreAskedFor) {
  const ShellModelRows rows(random_interaction(sd_shell_orbits(), 1), {2, 2, 0});
  ASSERT_EQ(rows.order(), 640);
  const EntryMap whole = gather(rows, 640, 640);
  EXPECT_EQ(gather(rows, 7, 640), whole);
  EXPECT_EQ(gather(rows, 640, 23), whole);
  EXPECT_EQ(gather(rows, 5, 64), whole);
  EXPECT_EQ(gather(rows, 1, 31), whole);
  // Generating the matrix again must give the same matrix; another seed must give a different one.
  EXPECT_EQ(gather(ShellModelRows(random_interaction(sd_shell_orbits(), 1), {2, 2, 0}), 640, 640), whole);
  const EntryMap other =
      gather(ShellModelRows(random_interaction(sd_shell_orbits(), 2), {2, 2, 0}), 640, 640);
  EXPECT_NE(other, whole);
  std::vector<SparseEntry> none;
  rows.entries(3, 3, 0, 640, none);
  rows.entries(3, 4, 10, 10, none);
  EXPECT_TRUE(none.empty());
}

TEST(ShellModel, TilesArePairsOfConfigurations) {
  const ShellModelRows rows(random_interaction(sd_shell_orbits(), 1), {2, 2, 0});
  const auto tiles = rows.tiles();
  ASSERT_EQ(tiles.size(), 37U);  // 6 x 6 configurations of two nucleons in three orbits
  EXPECT_EQ(tiles.front(), 0);
  EXPECT_EQ(tiles.back(), 640);
  for (std::size_t k = 1; k < tiles.size(); ++k) EXPECT_LT(tiles[k - 1], tiles[k]);
  const auto cr = make_sparse_generator("shell:48Cr");
  EXPECT_EQ(cr.a->order(), 1963461);
  EXPECT_EQ(cr.a->tiles().size(), 962U);
}

TEST(ShellModel, LevelsOfHigherMAreAmongThoseOfLowerM) {
  const ShellInteraction h = random_interaction(sd_shell_orbits(), 9);
  const std::vector<double> low = lapack_eigenvalues(dense(ShellModelRows(h, {2, 2, 0}))),
                            high = lapack_eigenvalues(dense(ShellModelRows(h, {2, 2, 2}))),
                            minus = lapack_eigenvalues(dense(ShellModelRows(h, {2, 2, -2})));
  EXPECT_EQ(low.size(), 640U);
  EXPECT_EQ(low.size() - high.size(), 46U);  // states with J = 0
  expect_near(minus, high, 1e-11);
  std::size_t at = 0;
  for (double level : high) {
    while (at < low.size() && low[at] < level - 1e-11) ++at;
    ASSERT_LT(at, low.size());
    EXPECT_NEAR(low[at++], level, 1e-11);
  }
}

TEST(ShellModel, ProtonsAndNeutronsMayChangePlaces) {
  const ShellInteraction h = with_energies(random_interaction(sd_shell_orbits(), 4));
  expect_near(lapack_eigenvalues(dense(ShellModelRows(h, {1, 3, 0}))),
              lapack_eigenvalues(dense(ShellModelRows(h, {3, 1, 0}))), 1e-11);
}

TEST(ShellModel, PairingForceHasItsKnownGroundState) {
  SparseGeneratorOptions options;
  options.interaction = "pairing";
  // Like nucleons have the energy -n (2 Omega - n + 2) / 4; two protons and two neutrons have -13.
  for (const auto& [kind, energy] : std::vector<std::pair<std::string, double>>{{"shell:sd:0:2", -6},
                                                                                {"shell:sd:0:4", -10},
                                                                                {"shell:sd:6:0", -12},
                                                                                {"shell:pf:0:4", -18},
                                                                                {"shell:sd:2:2", -13},
                                                                                {"shell:sd:12:12", -18}}) {
    const SparseGenerator made = make_sparse_generator(kind, options);
    ASSERT_TRUE(made.lowest_eigenvalues(1)) << kind;
    EXPECT_NEAR((*made.lowest_eigenvalues(1))[0], energy, 1e-12) << kind;
    EXPECT_FALSE(made.lowest_eigenvalues(2));
    EXPECT_FALSE(made.largest_eigenvalues(1));
    EXPECT_NEAR(eigenvalues(made)[0], energy, 1e-11) << kind;
  }
  EXPECT_FALSE(make_sparse_generator("shell:sd:1:1", options).lowest_eigenvalues(1));
  EXPECT_FALSE(make_sparse_generator("shell:sd:0:2").lowest_eigenvalues(1));
}

TEST(ShellModel, NamesAndNumbersMeanTheSame) {
  const auto same = [](const std::string& a, const std::string& b) {
    const auto x = make_sparse_generator(a), y = make_sparse_generator(b);
    EXPECT_EQ(x.a->order(), y.a->order()) << a;
    EXPECT_EQ(gather(*x.a, 1 << 20, 1 << 20), gather(*y.a, 1 << 20, 1 << 20)) << a;
  };
  same("shell:18O", "shell:sd:0:2");
  same("shell:20Ne", "shell:sd:2:2:0:+");
  same("shell:42Ca:2", "shell:pf:0:2:2");
  same("shell:19F", "shell:sd:1:2:1");
  same("shell:40Ca", "shell:sd:12:12");
  EXPECT_EQ(make_sparse_generator("shell:24Mg").a->order(), 28503);
  EXPECT_EQ(make_sparse_generator("shell:28Si").a->order(), 93710);
  EXPECT_EQ(make_sparse_generator("shell:44Ti").a->order(), 4000);
  EXPECT_EQ(make_sparse_generator("shell:46Ti").a->order(), 86810);
  EXPECT_EQ(make_sparse_generator("shell:80Zr").a->order(), 1);
}

TEST(ShellModel, BadInputIsRefused) {
  for (const char* kind : {"shell",
                           "shell:",
                           "shell:Ne",
                           "shell:20ne",
                           "shell:20",
                           "shell:12C",
                           "shell:20Xx",
                           "shell:99Cr",
                           "shell:38Ca9",
                           "shell:20Ne:1",
                           "shell:21Ne:0",
                           "shell:20Ne:x",
                           "shell:20Ne:0:up",
                           "shell:20Ne:0:+:1",
                           "shell:sd",
                           "shell:sd:2",
                           "shell:sd:2:13",
                           "shell:sd:-1:2",
                           "shell:pf:21:2",
                           "shell:sd:2:2:1",
                           "shell:sd:2:2:0:+:7",
                           "shell:sd:a:2",
                           "shell:99999999999999999999Ne"})
    expect_refused("kind", [&] { make_sparse_generator(kind); });
  expect_refused("twice_m", [] { make_sparse_generator("shell:20Ne:100"); });
  expect_refused("twice_m", [] { make_sparse_generator("shell:20Ne:0:-"); });
  expect_refused("orbits", [] { make_sparse_generator("shell:file:2:2"); });
  SparseGeneratorOptions options;
  options.interaction = "unknown";
  expect_refused("interaction", [&] { make_sparse_generator("shell:20Ne", options); });
  options.interaction = "some.int";
  expect_refused("orbits", [&] { make_sparse_generator("shell:20Ne", options); });
  options.orbits = "/nowhere/some.sps";
  EXPECT_THROW(make_sparse_generator("shell:20Ne", options), InputError);
  const ShellInteraction h = random_interaction(sd_shell_orbits(), 1);
  expect_refused("protons", [&] { ShellModelRows rows(h, {13, 2, 1}); });
  expect_refused("protons", [&] { ShellModelRows rows(h, {-1, 2, 1}); });
  expect_refused("neutrons", [&] { ShellModelRows rows(h, {2, 13, 1}); });
  expect_refused("twice_m", [&] { ShellModelRows rows(h, {2, 2, 1}); });
  expect_refused("parity", [&] { ShellModelRows rows(h, {2, 2, 0, 2}); });
  expect_refused("protons", [&] { ShellModelRows rows(random_interaction({{0, 30, 61}}, 1), {31, 0, 1}); });
}

}  // namespace
