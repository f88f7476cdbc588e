// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shell_model_reference.hpp"
#include "sparse_rows_checks.hpp"

/// Interactions in KSHELL's format, which tells protons and neutrons apart, and truncations.
namespace {

using namespace tessera;
using namespace tessera::test;
using tessera::test::Matrix;

const std::vector<ShellOrbit> p_shell{{0, 1, 3, 1}, {0, 1, 1, 1}};

/// The head, with orbits of neutrons in the opposite order.
std::string head_of(const std::vector<ShellOrbit>& orbits, int core) {
  const auto count = orbits.size();
  std::string text = fmt::format("! model space\n{} {} {} {}\n", count, count, core, core);
  for (std::size_t k = 0; k < 2 * count; ++k) {
    const ShellOrbit& orbit = orbits[k < count ? k : 2 * count - 1 - k];
    text += fmt::format("{} {} {} {} {}  ! an orbit\n", k + 1, orbit.n, orbit.l, orbit.twice_j,
                        k < count ? -1 : 1);
  }
  return text;
}
int neutron_number(const std::vector<ShellOrbit>& orbits, int orbit) {
  return 2 * static_cast<int>(orbits.size()) - orbit;
}

/// Calls visit(a, b, c, d, J) for each element of two nucleons, one of each pair that follow from each other by
/// symmetry.
template <class Visit>
void for_each_element(const ShellInteraction& h, bool like, Visit visit) {
  const int count = static_cast<int>(h.orbits().size());
  for (int a = 0; a < count; ++a)
    for (int b = like ? a : 0; b < count; ++b)
      for (int c = 0; c < count; ++c)
        for (int d = like ? c : 0; d < count; ++d)
          for (int j = 0; j <= h.largest_j(); ++j)
            if (std::pair(a, b) <= std::pair(c, d) && h.allowed(like, {a, b, c, d, j})) visit(a, b, c, d, j);
}

/// The text of an interaction; element(kind, a, b, c, d, J): kind 0 two protons, 1 two neutrons, 2 one of each.
template <class Energy, class Element>
std::string text_of(const std::vector<ShellOrbit>& orbits, const Energy& energy, const Element& element,
                    const std::string& method = "0") {
  const ShellInteraction h(orbits);
  std::string text = head_of(orbits, 8) + fmt::format("{} 0\n", 2 * orbits.size()), lines;
  for (int a = 0; a < static_cast<int>(orbits.size()); ++a) {
    text += fmt::format("{} {} {:.17g}\n", a + 1, a + 1, energy(Nucleon::proton, a));
    const int n = neutron_number(orbits, a);
    text += fmt::format("{} {} {:.17g}\n", n, n, energy(Nucleon::neutron, a));
  }
  int count = 0;
  for (const int kind : {0, 1, 2})
    for_each_element(h, kind < 2, [&](int a, int b, int c, int d, int j) {
      const auto number = [&](int orbit, bool second) {
        return kind == 1 || (kind == 2 && second) ? neutron_number(orbits, orbit) : orbit + 1;
      };
      lines += fmt::format("{} {} {} {} {} {:.17g}\n", number(a, false), number(b, true), number(c, false),
                           number(d, true), j, element(kind, a, b, c, d, j));
      ++count;
    });
  return text + fmt::format("! elements\n{} {}\n", count, method) + lines;
}

TEST(KshellInteraction, OfIsospinIsTheSame) {
  const std::vector<ShellOrbit> sd = sd_shell_orbits();
  ShellInteraction h = random_interaction(sd, 3);
  h.energies = {-3.9, -3.2, 2.1};
  const TextFile file("w.snt", text_of(
                                   sd, [&](Nucleon, int a) { return h.energies[a]; },
                                   [&](int kind, int a, int b, int c, int d, int j) {
                                     const double one = h.element(a, b, c, d, j, 1);
                                     if (kind < 2) return one;
                                     return (one + h.element(a, b, c, d, j, 0)) / 2 *
                                            std::sqrt((a == b ? 2. : 1.) * (c == d ? 2. : 1.));
                                   },
                                   "1 18 -0.3"));
  const ShellInteraction read = read_kshell_interaction(file.path());
  EXPECT_FALSE(read.isospin_invariant());
  ASSERT_TRUE(read.mass_dependence);
  EXPECT_EQ(read.mass_dependence->core, 16);
  EXPECT_EQ(read.mass_dependence->reference, 18);
  EXPECT_EQ(read.mass_dependence->exponent, 0.3);
  EXPECT_EQ(read.orbits()[1].weight, 2);
  const std::vector<ShellState> states = h.states();
  for (std::size_t a = 0; a < sd.size(); ++a)
    for (const Nucleon kind : {Nucleon::proton, Nucleon::neutron})
      EXPECT_EQ(read.energy(kind, static_cast<int>(a)), h.energies[a]);
  int compared = 0;
  for (const ShellState& i : states)
    for (const ShellState& j : states)
      for (const ShellState& k : states)
        for (const ShellState& l : states) {
          if (i.twice_m + j.twice_m != k.twice_m + l.twice_m) continue;
          ASSERT_NEAR(read.unlike_element(i, j, k, l), h.unlike_element(i, j, k, l), 1e-13);
          for (const Nucleon kind : {Nucleon::proton, Nucleon::neutron})
            ASSERT_NEAR(read.like_element(i, j, k, l, kind), h.like_element(i, j, k, l), 1e-13);
          ++compared;
        }
  EXPECT_GT(compared, 1000);
  // The same matrix, from both forms.
  const ShellModelSpace space{2, 2, 0};
  ShellInteraction scaled = h;
  scaled.mass_dependence = read.mass_dependence;
  expect_near(lapack_eigenvalues(dense(ShellModelRows(read, space))),
              lapack_eigenvalues(dense(ShellModelRows(scaled, space))), 1e-11);
}

/// Energies and elements that differ for protons and neutrons.
TEST(KshellInteraction, OfDifferentNucleonsHasTheSpectrumOfSecondQuantisation) {
  const TextFile file(
      "pn.snt",
      text_of(
          p_shell, [](Nucleon kind, int a) { return 0.3 * a + (kind == Nucleon::proton ? 1 : -0.4); },
          [](int kind, int a, int b, int c, int d, int j) {
            return random_uniform(9, 10 * kind + j, 10 * a + b, 10 * c + d);
          }));
  const ShellInteraction h = read_kshell_interaction(file.path());
  for (const auto& [protons, neutrons] : {std::pair{1, 1}, {2, 0}, {0, 2}, {2, 2}, {3, 3}, {2, 3}, {4, 1}}) {
    const ShellModelSpace space{protons, neutrons, (protons + neutrons) % 2, 0};
    expect_near(lapack_eigenvalues(dense(ShellModelRows(h, space))),
                lapack_eigenvalues(ShellModelReference(h, space).matrix()), 1e-11,
                fmt::format("Z = {}, N = {}", protons, neutrons));
  }
  SparseGeneratorOptions options;
  options.interaction = file.path();
  EXPECT_EQ(make_sparse_generator("shell:file:2:2", options).a->order(),
            ShellModelRows(h, {2, 2, 0}).order());
  expect_refused("interaction", [&] { make_sparse_generator("shell:sd:2:2", options); });
  options.orbits = file.path();
  expect_refused("orbits", [&] { make_sparse_generator("shell:file:2:2", options); });
}

void expect_snt_refused(const std::string& text, Index line, const std::string& reason) {
  expect_file_refused("broken.snt", text, line, reason, read_kshell_interaction);
}

TEST(KshellInteraction, BrokenFilesAreRefused) {
  const std::string orbits = "1 1 2 2\n1 0 1 3 -1\n2 0 1 3 1\n", energies = "2 0\n1 1 -1\n2 2 -2\n";
  const std::string good = orbits + energies + "2 0\n1 1 1 1 0 -1\n1 2 1 2 1 0.5\n";
  {
    const TextFile file("good.snt", good);
    EXPECT_EQ(read_kshell_interaction(file.path()).neutron_energies, std::vector<double>{-2});
  }
  expect_snt_refused("", 0, "orbits");
  expect_snt_refused("1 2 2 2\n", 1, "equally many");
  expect_snt_refused("0 0 2 2\n", 1, "equally many");
  expect_snt_refused("1 1 2\n", 1, "3 words");
  expect_snt_refused("1 1 2 2\n2 0 1 3 -1\n", 2, "orbit 1 should follow");
  expect_snt_refused("1 1 2 2\n1 0 1 3 1\n", 2, "2tz");
  expect_snt_refused("1 1 2 2\n1 0 1 5 -1\n", 2, "j = l");
  expect_snt_refused("1 1 2 2\n1 0 1 3 -1\n2 0 1 1 1\n", 3, "the same orbits");
  expect_snt_refused(orbits + "2 10 12.5\n", 4, "method");
  expect_snt_refused(orbits + "2 0\n1 1 -1\n1 2 3\n", 6, "different orbits");
  expect_snt_refused(orbits + "2 0\n1 1 -1\n1 1 -2\n", 6, "twice");
  expect_snt_refused(orbits + "1 0\n3 3 -1\n", 5, "orbit 3 does not exist");
  expect_snt_refused(orbits + energies + "1 1 18\n", 7, "two-body");
  expect_snt_refused(orbits + energies + "1 1 0 -0.3\n", 7, "reference");
  expect_snt_refused(orbits + energies + "1 0\n2 1 2 1 1 1\n", 8, "a proton before a neutron");
  expect_snt_refused(orbits + energies + "1 0\n1 1 2 2 0 1\n", 8, "a proton before a neutron");
  expect_snt_refused(orbits + energies + "1 0\n1 1 1 1 1 1\n", 8, "cannot couple");
  expect_snt_refused(orbits + energies + "1 0\n1 2 1 2 4 1\n", 8, "cannot couple");
  expect_snt_refused(orbits + energies + "2 0\n1 1 1 1 0 1\n1 1 1 1 0 1\n", 9, "twice");
  expect_snt_refused(good + "1 2 1 2 2 0.5\n", 10, "more lines");
  expect_snt_refused(orbits + energies + "2 0\n1 1 1 1 0 -1\n", 8, "element 2 of 2");
}

/// A truncated space has the elements of the whole one between its states.
TEST(ShellModelTruncation, IsASubmatrix) {
  const std::vector<ShellOrbit> orbits{{0, 1, 3, 1}, {0, 2, 5, 2}, {0, 1, 1, 1}};
  const ShellInteraction h = random_interaction(orbits, 2);
  const ShellModelRows whole(h, {2, 2, 0});
  const Matrix<double> all = dense(whole);
  using Determinants = std::pair<Determinant, Determinant>;
  const auto determinants = [](const ShellModelRows& rows, Index row) {
    const RowFamilies families = *rows.families(row);
    return Determinants(rows.protons().mask(families.first), rows.neutrons().mask(families.second));
  };
  std::map<Determinants, Index> row_of;
  std::map<int, Index> by_excitation;  // rows
  for (Index row = 0; row < whole.order(); ++row) {
    const RowFamilies families = *whole.families(row);
    row_of[determinants(whole, row)] = row;
    int excited = 0;
    for (const auto& [nucleons, determinant] :
         {std::pair(&whole.protons(), families.first), {&whole.neutrons(), families.second}})
      for (std::size_t s = 0; s < nucleons->states().size(); ++s)
        if (nucleons->mask(determinant).has(static_cast<int>(s))) excited += nucleons->states()[s].orbit == 1;
    ++by_excitation[excited];
  }
  Index order = 0;
  for (int excitation = 0; excitation <= 5; ++excitation) {
    order += by_excitation[excitation];
    const ShellModelRows part(h, {2, 2, 0, 0, excitation});
    ASSERT_EQ(part.order(), order);
    std::vector<Index> rows;
    for (Index row = 0; row < order; ++row) {
      const RowFamilies families = *part.families(row);
      rows.push_back(row_of.at(determinants(part, row)));
      EXPECT_EQ(part.row_of(families.first, families.second), row);
    }
    const Matrix<double> found = dense(part);
    for (Index j = 0; j < order; ++j)
      for (Index i = 0; i < order; ++i) ASSERT_EQ(found(i, j), all(rows[i], rows[j])) << i << ' ' << j;
  }
  EXPECT_EQ(order, whole.order());
  expect_refused("excitation", [&] { ShellModelRows rows(h, {2, 2, 0, 0, -1}); });
  SparseGeneratorOptions options;
  options.excitation = 2;
  expect_refused("excitation", [&] { make_sparse_generator("shell:20Ne", options); });
  // What is known of the pairing force holds in the whole space alone.
  const TextFile file("weights.sps", "iso\n3\n0 2 2.5 0\n1 0 0.5 1\n0 2 1.5 1\n");
  options.interaction = "pairing";
  options.orbits = file.path();
  EXPECT_FALSE(make_sparse_generator("shell:file:2:2", options).lowest_eigenvalues(1));
  options.excitation.reset();
  EXPECT_TRUE(make_sparse_generator("shell:file:2:2", options).lowest_eigenvalues(1));
}

}  // namespace
