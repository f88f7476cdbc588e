// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/matgen/shell_model/no_core.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_space_count.hpp>
#include <tessera/shell_model.hpp>

#include "sparse_rows_checks.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using namespace tessera::detail;
using tessera::test::Matrix;

/// 12C, M = 0: P. Maris' tabulation of dimensions for the code MFDn, as M. A. Caprio (University of Notre Dame) quotes
/// it in the documentation of mfdnmem.py; 6Li, M = 1, Nmax = 2: an example of MFDn's results.
TEST(NoCoreSpace, HasThePublishedDimensions) {
  const std::vector<std::pair<const char*, double>> dimensions{
      {"12C:4", 1118926},   {"12C:5", 6488004},    {"12C:6", 32598920},    {"12C:7", 145989820},
      {"12C:8", 594496743}, {"12C:9", 2233681236}, {"12C:10", 7830355795}, {"6Li:2:2", 711},
  };
  for (const auto& [space, dimension] : dimensions)
    EXPECT_EQ(shell_model_order(fmt::format("shell:nocore:{}", space)), dimension) << space;
}

/// Table 2 of Maris et al. 2022 tells dimensions of test cases to a tenth of a million, and not which nuclei they are:
/// spaces of these sizes.
TEST(NoCoreSpace, OfTheSizesOfTheTestCases) {
  const std::vector<std::pair<const char*, double>> millions{{"9Li:6", 2.9},  {"9Li:7:3", 10.1},
                                                             {"7Li:9", 16.9}, {"8Li:9", 51.9},
                                                             {"8Be:9", 68.1}, {"9He:10", 122.4}};
  for (const auto& [space, size] : millions)
    EXPECT_NEAR(shell_model_order(fmt::format("shell:nocore:{}", space)) * 1e-6, size, 0.05) << space;
}

/// All ways to choose states of one kind, one by one.
struct Chosen {
  int quanta, twice_m;
};
void choose(const std::vector<std::pair<int, int>>& states, std::size_t from, int left, int max_quanta,
            Chosen now, std::vector<Chosen>& all) {
  if (left == 0) return all.push_back(now);
  for (std::size_t s = from; s < states.size(); ++s)
    if (now.quanta + states[s].first <= max_quanta)
      choose(states, s + 1, left - 1, max_quanta,
             {now.quanta + states[s].first, now.twice_m + states[s].second}, all);
}

/// The states of the three-dimensional oscillator with spin, in Cartesian quanta for their number and in l and m for
/// 2M: against counts, orders of the lists, and all 2M together.
TEST(NoCoreSpace, IsCountedByEnumeration) {
  for (const auto& [protons, neutrons] :
       {std::pair{1, 1}, {2, 1}, {2, 2}, {0, 3}, {3, 3}, {1, 4}, {2, 6}, {3, 1}})
    for (int nmax = 0; nmax <= (protons + neutrons > 6 ? 2 : 3); ++nmax) {
      const int shell = highest_shell(protons, neutrons, nmax);
      std::vector<std::pair<int, int>> states;  // quanta and 2m
      for (int quanta = 0; quanta <= shell; ++quanta)
        for (int l = quanta % 2; l <= quanta; l += 2)
          for (int m = -l; m <= l; ++m)
            for (int spin : {-1, 1}) states.emplace_back(quanta, 2 * m + spin);
      std::size_t of_shell = 0;
      for (int x = 0; x <= shell; ++x)
        for (int y = 0; x + y <= shell; ++y) of_shell += 2 * static_cast<std::size_t>(shell - x - y + 1);
      ASSERT_EQ(states.size(), of_shell);
      const auto orbits = oscillator_orbits(shell);
      const int least = least_weight(orbits, protons) + least_weight(orbits, neutrons);
      std::vector<Chosen> of_protons, of_neutrons;
      choose(states, 0, protons, least + nmax, {0, 0}, of_protons);
      choose(states, 0, neutrons, least + nmax, {0, 0}, of_neutrons);
      std::map<int, double> by_m;
      for (const Chosen& p : of_protons)
        for (const Chosen& n : of_neutrons)
          if (const int excited = p.quanta + n.quanta - least; excited <= nmax && (nmax - excited) % 2 == 0)
            ++by_m[p.twice_m + n.twice_m];
      for (const auto& [twice_m, count] : by_m) {
        const ShellModelSpace space = no_core_space(protons, neutrons, nmax, twice_m);
        EXPECT_EQ(count_states(orbits, space), count)
            << protons << ' ' << neutrons << ' ' << nmax << ' ' << twice_m;
        if (std::abs(twice_m) > 2) continue;
        const ShellModelRows rows(ShellInteraction(orbits, max_pair_weight(orbits, space)), space);
        EXPECT_EQ(static_cast<double>(rows.order()), count);
      }
      EXPECT_EQ(count_states(orbits, no_core_space(protons, neutrons, nmax, by_m.rbegin()->first + 2)), 0);
    }
}

/// Counts of spaces of valence particles, with both parities or one, and truncated.
TEST(NoCoreSpace, CountsOfSpacesWithACore) {
  EXPECT_EQ(shell_model_order("shell:48Cr"), 1963461);
  EXPECT_EQ(shell_model_order("shell:sd:4:4"), 28503);
  EXPECT_EQ(shell_model_order("shell:pf:10:10"), 2292604744.);
  const std::vector<ShellOrbit> orbits{{0, 1, 3, 1}, {0, 2, 5, 3}, {0, 1, 1, 2}};
  for (const int parity : {0, 1, -1})
    for (int excitation = -1; excitation <= 6; ++excitation) {
      const ShellModelSpace space{2, 3, 1, parity, excitation < 0 ? std::nullopt : std::optional(excitation)};
      if (const double count = count_states(orbits, space); count == 0)
        expect_refused("twice_m", [&] { ShellModelRows rows(random_interaction(orbits, 1), space); });
      else
        EXPECT_EQ(static_cast<double>(ShellModelRows(random_interaction(orbits, 1), space).order()), count);
    }
}

/// MFDn has 28,238 elements in half of the matrix of 6Li, Nmax = 2, M = 1. Fewer are stored here, because those that
/// are zero by the coupling or cancel by isospin are not; more have states of which at most two nucleons differ.
TEST(NoCoreSpace, HasTheNonzerosOfMfdn) {
  const SparseGenerator made = make_sparse_generator("shell:nocore:6Li:2:2");
  const auto& rows = dynamic_cast<const ShellModelRows&>(*made.a);
  ASSERT_EQ(rows.order(), 711);
  const EntryMap stored = gather(rows, 711, 711);
  std::size_t possible = 0;
  for (Index i = 0; i < 711; ++i)
    for (Index j = 0; j <= i; ++j) {
      const RowFamilies a = *rows.families(i), b = *rows.families(j);
      const int moved = rows.protons().mask(a.first).without(rows.protons().mask(b.first)).count() +
                        rows.neutrons().mask(a.second).without(rows.neutrons().mask(b.second)).count();
      if (moved <= 2) ++possible;
      if (stored.contains({i, j})) {
        EXPECT_LE(moved, 2);
      }
    }
  EXPECT_GT(possible, 28238U);
  EXPECT_LE(stored.size(), 28238U);
  EXPECT_GT(stored.size(), 28000U);
}

/// The same matrix with tiles by orbits and by shells, whose rows stand in another order; and one without a limit of
/// the interaction's pairs.
TEST(NoCoreSpace, HasTheSameMatrixWithOtherTiles) {
  for (const auto& [protons, neutrons, nmax] : {std::tuple{2, 2, 3}, {3, 2, 2}, {1, 2, 4}}) {
    ShellModelSpace space = no_core_space(protons, neutrons, nmax, (protons + neutrons) % 2);
    const auto orbits = oscillator_orbits(highest_shell(protons, neutrons, nmax));
    const ShellModelRows by_shells(random_interaction(orbits, 3, max_pair_weight(orbits, space)), space);
    space.by_shells = false;
    const ShellModelRows by_orbits(random_interaction(orbits, 3), space);
    ASSERT_EQ(by_shells.order(), by_orbits.order());
    EXPECT_LT(by_shells.tiles().size(), by_orbits.tiles().size() / 4);
    const Matrix<double> a = dense(by_shells), b = dense(by_orbits);
    std::vector<Index> other;
    for (Index row = 0; row < by_shells.order(); ++row) {
      const RowFamilies families = *by_shells.families(row);
      EXPECT_EQ(by_shells.row_of(families.first, families.second), row);
      other.push_back(
          by_orbits.row_of(by_orbits.protons().number_of(by_shells.protons().mask(families.first)),
                           by_orbits.neutrons().number_of(by_shells.neutrons().mask(families.second))));
    }
    for (Index j = 0; j < by_shells.order(); ++j)
      for (Index i = 0; i < by_shells.order(); ++i) ASSERT_NEAR(a(i, j), b(other[i], other[j]), 1e-13);
  }
}

/// Of files, whose orbits may stand in any order, with more shells than are needed, and other labels n.
TEST(NoCoreSpace, TakesOrbitsAndElementsOfFiles) {
  const auto orbits = oscillator_orbits(3);
  std::string sps = "iso\n10\n", elements;
  std::vector<std::size_t> order;  // of the file
  for (std::size_t a = orbits.size(); a-- > 0;) {
    order.push_back(a);
    sps +=
        fmt::format("{} {} {} {}\n", orbits[a].n + 1, orbits[a].l, orbits[a].twice_j / 2., orbits[a].weight);
  }
  const ShellInteraction h = random_interaction(orbits, 4);
  std::vector<int> number(orbits.size());
  for (std::size_t k = 0; k < order.size(); ++k) number[order[k]] = static_cast<int>(k) + 1;
  int count = 0;
  h.for_each_element([&](int a, int b, int c, int d, int j, int t) {
    elements += fmt::format("{} {} {} {} {} {} {:.17g}\n", number[a], number[b], number[c], number[d], j, t,
                            h.element(a, b, c, d, j, t));
    ++count;
  });
  const TextFile orbit_file("nocore.sps", sps),
      file("nocore.int", fmt::format("{} 0 0 0 0 0 0 0 0 0 0\n{}", count, elements));
  SparseGeneratorOptions options;
  options.orbits = orbit_file.path();
  options.interaction = file.path();
  SparseGeneratorOptions random;
  random.seed = 4;
  const auto values = eigenvalues(make_sparse_generator("shell:nocore:4He:2", options));
  EXPECT_EQ(values.size(), 59U);
  expect_near(
      values,
      lapack_eigenvalues(dense(ShellModelRows(random_interaction(orbits, 4), no_core_space(2, 2, 2, 0)))),
      1e-11);
  EXPECT_EQ(make_sparse_generator("shell:nocore:4He:3", options).a->order(),
            shell_model_order("shell:nocore:4He:3"));
  expect_refused("orbits", [&] { make_sparse_generator("shell:nocore:4He:4", options); });
  options.excitation = 2;
  expect_refused("excitation", [&] { make_sparse_generator("shell:nocore:4He:2", options); });
  options.excitation.reset();
  // w is not 2 n + l.
  const TextFile other("other.sps", "iso\n1\n0 0 0.5 1\n");
  options.orbits = other.path();
  expect_refused("orbits", [&] { make_sparse_generator("shell:nocore:4He:0", options); });
}

/// KSHELL's files, with protons and neutrons told apart.
TEST(NoCoreSpace, TakesFilesOfKshell) {
  const auto orbits = oscillator_orbits(2);
  const int count = static_cast<int>(orbits.size());
  const ShellInteraction h = random_interaction(orbits, 6);
  std::string head = fmt::format("{0} {0} 0 0\n", count), elements;
  for (const int kind : {0, 1})
    for (int a = 0; a < count; ++a)
      head += fmt::format("{} {} {} {} {}\n", kind * count + a + 1, orbits[a].n, orbits[a].l,
                          orbits[a].twice_j, kind == 0 ? -1 : 1);
  int lines = 0;
  const auto add = [&](int a, int b, int c, int d, int j, double value) {
    elements += fmt::format("{} {} {} {} {} {:.17g}\n", a + 1, b + 1, c + 1, d + 1, j, value);
    ++lines;
  };
  h.for_each_element([&](int a, int b, int c, int d, int j, int t) {
    for (const int kind : {0, count})
      if (t == 1) add(a + kind, b + kind, c + kind, d + kind, j, h.element(a, b, c, d, j, 1));
  });
  for (int a = 0; a < count; ++a)
    for (int b = 0; b < count; ++b)
      for (int c = 0; c < count; ++c)
        for (int d = 0; d < count; ++d)
          for (int j = 0; j <= h.largest_j(); ++j) {
            if (std::pair(a, b) > std::pair(c, d) || !h.allowed(false, {a, b, c, d, j})) continue;
            const double norm = std::sqrt((a == b ? 2. : 1.) * (c == d ? 2. : 1.));
            add(a, b + count, c, d + count, j,
                norm / 2 * (h.element(a, b, c, d, j, 0) + h.element(a, b, c, d, j, 1)));
          }
  const TextFile file("nocore.snt", fmt::format("{}0 0\n{} 0\n{}", head, lines, elements));
  SparseGeneratorOptions options;
  options.interaction = file.path();
  for (const auto& [nucleus, protons, neutrons, nmax] : {std::tuple{"4He", 2, 2, 2}, {"3H", 1, 2, 1}})
    expect_near(eigenvalues(make_sparse_generator(fmt::format("shell:nocore:{}:{}", nucleus, nmax), options)),
                lapack_eigenvalues(dense(
                    ShellModelRows(h, no_core_space(protons, neutrons, nmax, (protons + neutrons) % 2)))),
                1e-11, nucleus);
  expect_refused("interaction", [&] { make_sparse_generator("shell:nocore:4He:3", options); });
}

TEST(NoCoreSpace, Refused) {
  for (const char* kind :
       {"shell:nocore", "shell:nocore:6Li", "shell:nocore:3:3", "shell:nocore:0:0:2", "shell:nocore:6Xx:2",
        "shell:nocore:6:2", "shell:nocore:6Li:-2", "shell:nocore:6Li:2.5", "shell:nocore:6Li:41",
        "shell:nocore:6Li:11", "shell:nocore:6Li:2:1", "shell:nocore:7Li:2:0", "shell:nocore:6Li:2:0:-",
        "shell:nocore:6Li:3:0:+", "shell:nocore:6Li:2:0:0", "shell:nocore:6Li:2:0:+:1", "shell:nocore:2Li:2",
        "shell:nocore:41:1:0"})
    expect_refused("kind", [&] { make_sparse_generator(kind); });
  expect_refused("twice_m", [&] { make_sparse_generator("shell:nocore:4He:0:2"); });
  expect_refused("kind", [&] { shell_model_order("laplacian1d:5"); });
  EXPECT_EQ(make_sparse_generator("shell:nocore:6Li:3:0:-").a->order(),
            shell_model_order("shell:nocore:6Li:3"));
  EXPECT_EQ(make_sparse_generator("shell:nocore:3:3:2").a->order(), 800);
  EXPECT_EQ(make_sparse_generator("shell:nocore:0:2:2").a->order(), shell_model_order("shell:nocore:0:2:2"));
  SparseGeneratorOptions options;
  options.lawson = 1;
  expect_refused("lawson", [&] { make_sparse_generator("shell:24Mg", options); });
  options.lawson = -1;
  expect_refused("lawson", [&] { make_sparse_generator("shell:nocore:4He:2", options); });
  options = {};
  for (const double oscillator : {0., -20., std::numeric_limits<double>::infinity(), std::nan("")}) {
    options.oscillator = oscillator;
    expect_refused("oscillator", [&] { make_sparse_generator("shell:nocore:4He:2", options); });
  }
  options = {};
  options.coulomb = true;
  expect_refused("coulomb", [&] { make_sparse_generator("shell:nocore:4He:2", options); });
  options = {};
  options.interaction = "minnesota";
  expect_refused("interaction", [&] { make_sparse_generator("shell:24Mg", options); });
}

}  // namespace
