// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numbers>

#include <tessera/algorithms/matgen/shell_model/angular_momentum.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>

#include "sparse_rows_checks.hpp"

namespace {

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;

const std::vector<ShellOrbit> sd = sd_shell_orbits();

TEST(ShellInteraction, ElementsOfUsdb) {
  TESSERA_NEED_SHELL_MODEL_FILES();
  const auto h =
      read_shell_interaction(shell_model_file("usdb.int"), read_shell_orbits(shell_model_file("sd.sps")));
  ASSERT_TRUE(h.mass_dependence);
  EXPECT_EQ(h.mass_dependence->core, 16);
  EXPECT_EQ(h.mass_dependence->reference, 18);
  EXPECT_EQ(h.mass_dependence->exponent, 0.3);
  EXPECT_EQ(h.energies, (std::vector<double>{2.1117, -3.9257, -3.2079}));
  const auto s = [](int orbit, int twice_m) { return ShellState{orbit - 1, twice_m}; };
  EXPECT_NEAR(h.like_element(s(2, 5), s(2, -5), s(2, 5), s(2, -5)), -1.463700000, 5e-10);
  EXPECT_NEAR(h.like_element(s(2, 5), s(2, -5), s(2, 3), s(2, -3)), 0.689800000, 5e-10);
  EXPECT_NEAR(h.like_element(s(2, 5), s(2, -5), s(3, 1), s(3, -1)), -0.900781890, 5e-10);
  EXPECT_NEAR(h.like_element(s(2, 3), s(1, 1), s(2, 5), s(3, -1)), 0.112200613, 5e-10);
  EXPECT_NEAR(h.like_element(s(1, 1), s(2, 3), s(2, 5), s(3, -1)), -0.112200613, 5e-10);
  EXPECT_NEAR(h.unlike_element(s(2, 5), s(2, 5), s(2, 5), s(2, 5)), -4.320500000, 5e-10);
  EXPECT_NEAR(h.unlike_element(s(2, 5), s(2, -5), s(2, 5), s(2, -5)), -1.472973016, 5e-10);
  EXPECT_NEAR(h.unlike_element(s(2, 5), s(2, -5), s(2, -5), s(2, 5)), -0.009273016, 5e-10);
  EXPECT_NEAR(h.unlike_element(s(2, 5), s(3, 1), s(2, 5), s(3, 1)), -1.749100000, 5e-10);
  EXPECT_NEAR(h.unlike_element(s(2, 5), s(3, 1), s(3, 1), s(2, 5)), -2.433200000, 5e-10);
  EXPECT_NEAR(h.unlike_element(s(2, 1), s(1, 1), s(3, 1), s(2, 1)), -0.147374963, 5e-10);
  EXPECT_EQ(h.like_element(s(2, 5), s(2, -5), s(2, 5), s(2, -3)), 0);
}

TEST(ShellInteraction, SymmetriesOfTheElements) {
  const ShellInteraction h = random_interaction(pf_shell_orbits(), 5);
  int allowed = 0;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      for (int c = 0; c < 4; ++c)
        for (int d = 0; d < 4; ++d)
          for (int j = 0; j <= 7; ++j)
            for (int t = 0; t < 2; ++t) {
              const double v = h.element(a, b, c, d, j, t);
              EXPECT_EQ(v, h.element(c, d, a, b, j, t));
              const int exponent = (h.orbits()[a].twice_j + h.orbits()[b].twice_j) / 2 + j + t;
              EXPECT_EQ(v, (exponent % 2 == 0 ? 1 : -1) * h.element(b, a, c, d, j, t));
              EXPECT_LE(std::abs(v), std::numbers::sqrt2);
              if (v != 0 && a <= b && c <= d && std::pair(a, b) <= std::pair(c, d)) ++allowed;
            }
  EXPECT_EQ(allowed, 195);  // number of elements in a complete file for the pf shell
  const ShellInteraction again = random_interaction(pf_shell_orbits(), 5),
                         other = random_interaction(pf_shell_orbits(), 6);
  EXPECT_EQ(again.element(0, 1, 1, 2, 3, 1), h.element(0, 1, 1, 2, 3, 1));
  EXPECT_NE(other.element(0, 1, 1, 2, 3, 1), h.element(0, 1, 1, 2, 3, 1));
}

/// Q.Q in the m-scheme, computed from single-particle elements by the Wigner-Eckart theorem.
TEST(ShellInteraction, QuadrupoleForceIsTheProductOfTwoQuadrupoleOperators) {
  const double chi = 0.7;
  const ShellInteraction h = pairing_quadrupole_interaction(sd, 0, chi, 2);
  EXPECT_NEAR(h.energies[0], -2, 1e-15);  // d5/2: l.s = 1
  EXPECT_NEAR(h.energies[1], 0, 1e-15);   // s1/2
  EXPECT_NEAR(h.energies[2], 3, 1e-15);   // d3/2: l.s = -3/2
  const auto q = [&](const ShellState& a, const ShellState& b, int twice_q) {
    const ShellOrbit &x = sd[a.orbit], &y = sd[b.orbit];
    return clebsch_gordan(y.twice_j, b.twice_m, 4, twice_q, x.twice_j, a.twice_m) * reduced_quadrupole(x, y) /
           std::sqrt(x.twice_j + 1.0);
  };
  const auto product = [&](const ShellState& i, const ShellState& j, const ShellState& k,
                           const ShellState& l) {
    double sum = 0;
    for (int twice_q = -4; twice_q <= 4; twice_q += 2)
      sum += (twice_q / 2 % 2 == 0 ? 1 : -1) * q(i, k, twice_q) * q(j, l, -twice_q);
    return -chi * sum;
  };
  // <d5/2 5/2| Y20 |d5/2 5/2> = -sqrt(5 / (4 pi)) (2j - 1) / (4 (j + 1))
  EXPECT_NEAR(q({0, 5}, {0, 5}, 0), -std::sqrt(5 / (4 * std::numbers::pi)) * 4 / 14.0, 1e-14);
  const std::vector<ShellState> states = h.states();
  for (const auto& i : states)
    for (const auto& j : states)
      for (const auto& k : states)
        for (const auto& l : states) {
          EXPECT_NEAR(h.unlike_element(i, j, k, l), product(i, j, k, l), 1e-14);
          EXPECT_NEAR(h.like_element(i, j, k, l), product(i, j, k, l) - product(i, j, l, k), 1e-14);
        }
}

TEST(ShellInteraction, ImpossibleOrbitsAreRefused) {
  for (const std::vector<ShellOrbit>& orbits : std::vector<std::vector<ShellOrbit>>{{},
                                                                                    {{0, -1, 1}},
                                                                                    {{0, 2, 7}},
                                                                                    {{0, 2, 4}},
                                                                                    {{0, 2, 5}, {0, 2, 5}},
                                                                                    {{0, 31, 63}},
                                                                                    {{0, 1 << 20, 1}}})
    expect_refused("orbits", [&] { ShellInteraction h(orbits); });
  // 31 orbits of 24 states are 744 in all, and 24 more 768.
  std::vector<ShellOrbit> many;
  for (int n = 0; n < 32; ++n) many.push_back({n, 11, 23});
  EXPECT_EQ(ShellInteraction(many).states().size(), 768U);
  many.push_back({0, 0, 1});
  expect_refused("orbits", [&] { ShellInteraction h(many); });
}

class ShellFiles : public ::testing::Test {
 protected:
  /// The message of the InputError, or "" if there is none.
  template <class Call>
  static std::string complaint(const Call& call) {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  static void expect_orbits_refused(const std::string& text, Index line, const std::string& reason) {
    expect_file_refused("orbits.sps", text, line, reason, read_shell_orbits);
  }
  static void expect_interaction_refused(const std::string& text, Index line, const std::string& reason) {
    expect_file_refused("elements.int", text, line, reason, [](const std::string& path) {
      read_shell_interaction(path, {{0, 2, 5}, {1, 0, 1}});
    });
  }
};

TEST_F(ShellFiles, AreReadWithCommentsAndAnyLineEnds) {
  const TextFile orbits("good.sps", "iso\r\n2\r\n 0.0 2 2.5 2\r\n 1.0 0.0 0.5 2 \r\n\r\n");
  const auto read = read_shell_orbits(orbits.path());
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].n, 1);
  EXPECT_EQ(read[0].l, 2);
  EXPECT_EQ(read[0].twice_j, 5);
  const TextFile elements(
      "good.int", "! a comment\n# another\n2 -1.5 2.5 16. 18 0.3\r\n\n 2 1 1 2 2 0 0.5\n1 1 1 1 0 1 -2\n");
  const auto h = read_shell_interaction(elements.path(), read);
  EXPECT_EQ(h.energies, (std::vector<double>{-1.5, 2.5}));
  EXPECT_EQ(h.element(0, 0, 0, 0, 0, 1), -2);
  // ja + jb + J + T = 3 + 2 is odd, so exchanging the two nucleons changes the sign.
  EXPECT_EQ(h.element(1, 0, 0, 1, 2, 0), 0.5);
  EXPECT_EQ(h.element(0, 1, 0, 1, 2, 0), -0.5);
  EXPECT_EQ(h.element(0, 1, 1, 0, 2, 0), 0.5);
  const TextFile plain("plain.int", "-1 -1.5 2.5\n1 1 1 1 0 1 -2\n");
  EXPECT_FALSE(read_shell_interaction(plain.path(), read).mass_dependence);
}

TEST_F(ShellFiles, BrokenOrbitFilesAreRefused) {
  EXPECT_NE(complaint([] { read_shell_orbits("/nowhere/orbits.sps"); }).find("no such file"),
            std::string::npos);
  EXPECT_NE(complaint([] { read_shell_orbits("."); }).find("directory"), std::string::npos);
  expect_orbits_refused("", 0, "'iso'");
  expect_orbits_refused("pn\n1\n0 2 2.5 2\n", 1, "iso");
  expect_orbits_refused("iso\n", 1, "number of orbits");
  expect_orbits_refused("iso\nx\n", 2, "'x'");
  expect_orbits_refused("iso\n0\n", 2, "0 orbits");
  expect_orbits_refused("iso\n2\n0 2 2.5 2\n", 3, "orbit 2 of 2");
  expect_orbits_refused("iso\n1\n0 2 2.5 2", 3, "ends within this line");
  expect_orbits_refused("\xef\xbb\xbfiso\n1\n0 2 2.5 2\n", 1, "iso");
  expect_orbits_refused("iso\n1\n0 0x2 2.5 2\n", 3, "'0x2'");
  expect_orbits_refused("iso\n1\n0 " + std::string(100000, '9') + " 2.5 2\n", 3, "9...'");
  expect_orbits_refused("iso\n1\n0 2 2.5\n", 3, "3 words");
  expect_orbits_refused("iso\n1\n0 2 2.3 2\n", 3, "half of an integer");
  expect_orbits_refused("iso\n1\n0 2 3.5 2\n", 3, "j = l");
  expect_orbits_refused("iso\n1\n0 1.5 2.5 2\n", 3, "'1.5'");
  expect_orbits_refused("iso\n2\n0 2 2.5 2\n0 2 2.5 2\n", 4, "once");
  expect_orbits_refused("iso\n1\n0 2 2.5 2\n0 2 1.5 2\n", 4, "more lines");
}

TEST_F(ShellFiles, BrokenInteractionFilesAreRefused) {
  EXPECT_NE(complaint([] { read_shell_interaction("/nowhere/x.int", sd); }).find("no such file"),
            std::string::npos);
  const std::string head = "2 -1.5 2.5 16 18 0.3\n", one = "1 1 1 1 0 1 -2\n";
  expect_interaction_refused("! nothing\n", 1, "head");
  expect_interaction_refused("2 -1.5 16 18 0.3\n", 1, "5 words in the head");
  expect_interaction_refused("2 -1.5 nan 16 18 0.3\n", 1, "'nan'");
  expect_interaction_refused("2.5 -1.5 2.5 16 18 0.3\n", 1, "'2.5'");
  expect_interaction_refused("2 -1.5 2.5 16 0 0.3\n", 1, "mass");
  expect_interaction_refused(head + one + "2 2 2 2 0 1 -1.2", 3, "ends within this line");
  expect_interaction_refused(head + one, 2, "element 2 of 2");
  expect_interaction_refused(head + one + one, 3, "twice");
  expect_interaction_refused(head + "1 2 1 2 2 0 1\n2 1 1 2 2 0 1\n", 3, "twice");
  expect_interaction_refused(head + "1 1 2 2 0 1 1\n2 2 1 1 0 1 1\n", 3, "twice");
  expect_interaction_refused(head + one + "2 2 2 2 0 1 -1\n" + one, 4, "more lines");
  expect_interaction_refused(head + "1 1 1 3 0 1 -2\n" + one, 2, "orbit 3 does not exist");
  expect_interaction_refused(head + "0 1 1 1 0 1 -2\n" + one, 2, "orbit 0 does not exist");
  expect_interaction_refused(head + "1 1 1 1 0 0 -2\n" + one, 2, "cannot couple");
  expect_interaction_refused(head + "1 1 1 1 6 1 -2\n" + one, 2, "cannot couple");
  expect_interaction_refused(head + "1 1 1 1 0 2 -2\n" + one, 2, "cannot couple");
  expect_interaction_refused(head + "1 1 1 1 -1 0 -2\n" + one, 2, "cannot couple");
  expect_interaction_refused(head + "1 1 1 1 0 1 inf\n" + one, 2, "'inf'");
  expect_interaction_refused(head + "1 1 1 1 0 1\n" + one, 2, "6 words");
  expect_interaction_refused(head + "1 1 1 1 0 1 -2 7\n" + one, 2, "8 words");
}

}  // namespace
