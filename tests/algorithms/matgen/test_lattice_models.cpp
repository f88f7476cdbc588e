// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <functional>

#include <tessera/algorithms/matgen/bit_combinations.hpp>

#include "sparse_rows_checks.hpp"

namespace {

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;
using tessera::test::Matrix;

TEST(BitCombinations, RankAndCombinationAreInverse) {
  for (int bits = 1; bits <= 13; ++bits)
    for (int ones = 0; ones <= bits; ++ones) {
      const BitCombinations states(bits, ones);
      Index next = 0;
      for (std::uint64_t mask = 0; mask < std::uint64_t{1} << bits; ++mask) {
        if (std::popcount(mask) != ones) continue;
        EXPECT_EQ(states.rank(mask), next);
        EXPECT_EQ(states.combination(next++), mask);
      }
      EXPECT_EQ(states.count(), next);
    }
  EXPECT_EQ(BitCombinations(40, 20).count(), 137846528820);
}

/// The matrix on the states of `bits` bits that `keep` accepts, in ascending order; `apply` gives H
/// times one state.
using Image = std::vector<std::pair<std::uint64_t, double>>;
Matrix<double> on_states(int bits, const std::function<bool(std::uint64_t)>& keep,
                         const std::function<Image(std::uint64_t)>& apply) {
  std::map<std::uint64_t, Index> states;
  for (std::uint64_t s = 0; s < std::uint64_t{1} << bits; ++s)
    if (keep(s)) states.emplace(s, static_cast<Index>(states.size()));
  Matrix<double> a(static_cast<Index>(states.size()), static_cast<Index>(states.size()));
  for (const auto& [state, column] : states)
    for (const auto& [to, value] : apply(state)) a(states.at(to), column) += value;
  return a;
}

void expect_equal(const Matrix<double>& a, const Matrix<double>& b, const std::string& what) {
  ASSERT_EQ(a.rows(), b.rows()) << what;
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) EXPECT_NEAR(a(i, j), b(i, j), 1e-13) << what << ' ' << i << ' ' << j;
}

/// S_i . S_j = Sz Sz + (S+ S- + S- S+) / 2 for every bond.
Matrix<double> spins(int sites, const std::vector<std::pair<int, int>>& bonds) {
  return on_states(
      sites, [=](std::uint64_t s) { return 2 * std::popcount(s) == sites; },
      [=](std::uint64_t s) {
        Image image;
        for (const auto& [a, b] : bonds) {
          const bool up_a = s >> a & 1, up_b = s >> b & 1;
          image.emplace_back(s, (up_a ? 0.5 : -0.5) * (up_b ? 0.5 : -0.5));
          if (up_a && !up_b) image.emplace_back(s - (std::uint64_t{1} << a) + (std::uint64_t{1} << b), 0.5);
          if (!up_a && up_b) image.emplace_back(s + (std::uint64_t{1} << a) - (std::uint64_t{1} << b), 0.5);
        }
        return image;
      });
}

TEST(Heisenberg, MatricesAreThoseOfTheBonds) {
  for (int sites : {2, 4, 6, 8}) {
    std::vector<std::pair<int, int>> bonds;
    for (int s = 0; s + 1 < sites; ++s) bonds.emplace_back(s + 1, s);
    const auto open = make_sparse_generator(fmt::format("heisenberg:{}:open", sites));
    expect_equal(dense(*open.a), spins(sites, bonds), fmt::format("open {}", sites));
    if (sites == 2) continue;
    bonds.emplace_back(0, sites - 1);
    expect_equal(dense(*make_sparse_generator(fmt::format("heisenberg:{}", sites)).a), spins(sites, bonds),
                 fmt::format("periodic {}", sites));
  }
  // Three rungs with periodic boundary.
  const std::vector<std::pair<int, int>> ladder{{0, 1}, {2, 3}, {4, 5}, {0, 2}, {2, 4},
                                                {4, 0}, {1, 3}, {3, 5}, {5, 1}};
  expect_equal(dense(*make_sparse_generator("heisenberg-ladder:3:periodic").a), spins(6, ladder), "ladder");
}

TEST(Heisenberg, KnownEnergies) {
  const auto lowest = [](const char* kind) { return eigenvalues(make_sparse_generator(kind))[0]; };
  expect_near(eigenvalues(make_sparse_generator("heisenberg:4:periodic")), {-2, -1, 0, 0, 0, 1}, 1e-14);
  expect_near(eigenvalues(make_sparse_generator("heisenberg-ladder:2")), {-2, -1, 0, 0, 0, 1}, 1e-14);
  expect_near(eigenvalues(make_sparse_generator("heisenberg-ladder:1")), {-0.75, 0.25}, 1e-14);
  EXPECT_NEAR(lowest("heisenberg:4:open"), -0.75 - std::sqrt(3) / 2, 1e-13);
  EXPECT_NEAR(lowest("heisenberg:6"), -1 - std::sqrt(13) / 2, 1e-13);
  EXPECT_NEAR(lowest("heisenberg:8"), -3.651093409, 1e-9);
  EXPECT_NEAR(lowest("heisenberg:10"), -4.515446354, 1e-9);
}

/// -t c+_i c_j with the sign of all electrons between i and j, up electrons before down electrons,
/// and U for two electrons on one site.
Matrix<double> electrons(int sites, double u, const std::vector<std::pair<int, int>>& bonds) {
  const std::uint64_t down_bits = (std::uint64_t{1} << sites) - 1;
  // The up electrons are the high bits, so the states sort by them first.
  return on_states(
      2 * sites,
      [=](std::uint64_t s) {
        return 2 * std::popcount(s & down_bits) == sites && 2 * std::popcount(s >> sites) == sites;
      },
      [=](std::uint64_t s) {
        Image image{{s, u * std::popcount(s & down_bits & (s >> sites))}};
        for (const auto& [a, b] : bonds)
          for (int shift : {0, sites})
            for (const auto& [from, to] :
                 {std::pair(a + shift, b + shift), std::pair(b + shift, a + shift)}) {
              if ((s >> from & 1) == 0 || (s >> to & 1) != 0) continue;
              const std::uint64_t rest = s ^ (std::uint64_t{1} << from);
              const int passed = std::popcount(s & ((std::uint64_t{1} << from) - 1)) +
                                 std::popcount(rest & ((std::uint64_t{1} << to) - 1));
              image.emplace_back(rest | std::uint64_t{1} << to, passed % 2 == 0 ? -1.0 : 1.0);
            }
        return image;
      });
}

TEST(Hubbard, MatricesAreThoseOfTheElectrons) {
  for (int sites : {2, 4, 6}) {
    std::vector<std::pair<int, int>> bonds;
    for (int s = 0; s + 1 < sites; ++s) bonds.emplace_back(s, s + 1);
    expect_equal(dense(*make_sparse_generator(fmt::format("hubbard:{}:2.5:open", sites)).a),
                 electrons(sites, 2.5, bonds), fmt::format("open {}", sites));
    if (sites == 2) continue;
    bonds.emplace_back(sites - 1, 0);
    expect_equal(dense(*make_sparse_generator(fmt::format("hubbard:{}", sites)).a),
                 electrons(sites, 4, bonds), fmt::format("periodic {}", sites));
  }
  const auto made = make_sparse_generator("hubbard:6");
  ASSERT_EQ(made.a->tiles().size(), 21U);
  EXPECT_EQ(made.a->tiles()[1], 20);
  EXPECT_EQ(made.a->order(), 400);
  EXPECT_EQ(make_sparse_generator("hubbard:12").a->order(), 853776);
}

TEST(Hubbard, SpectrumIsSymmetric) {
  const std::vector<double> w = eigenvalues(make_sparse_generator("hubbard:4:3"));
  for (std::size_t k = 0; k < w.size(); ++k) EXPECT_NEAR(w[k] + w[w.size() - 1 - k], 2 * 4 * 3 / 4.0, 1e-12);
}

TEST(PairingModel, MatrixIsThatOfTheLevels) {
  const int levels = 7, pairs = 3;
  const double g = 0.8;
  const Matrix<double> expected = on_states(
      levels, [=](std::uint64_t s) { return std::popcount(s) == pairs; },
      [=](std::uint64_t s) {
        Image image;
        for (int a = 0; a < levels; ++a) {
          if ((s >> a & 1) == 0) continue;
          image.emplace_back(s, 2.0 * (a + 1));
          for (int b = 0; b < levels; ++b) {
            const std::uint64_t rest = s ^ (std::uint64_t{1} << a);
            if ((rest >> b & 1) == 0) image.emplace_back(rest | std::uint64_t{1} << b, -g);
          }
        }
        return image;
      });
  expect_equal(dense(*make_sparse_generator("pairing:7:3:0.8").a), expected, "pairing");
  // Without interaction the pairs fill the lowest levels.
  EXPECT_EQ(eigenvalues(make_sparse_generator("pairing:6:3:0"))[0], 12);
}

TEST(LatticeModels, BadInputIsRefused) {
  for (const char* kind : {"heisenberg",
                           "heisenberg:",
                           "heisenberg:3",
                           "heisenberg:0",
                           "heisenberg:42",
                           "heisenberg:4:closed",
                           "heisenberg:2:periodic",
                           "heisenberg:4:open:1",
                           "heisenberg-ladder:0",
                           "heisenberg-ladder:2:periodic",
                           "heisenberg-ladder:21",
                           "hubbard:3",
                           "hubbard:26",
                           "hubbard:4:x",
                           "hubbard:4:nan",
                           "hubbard:2:4:periodic",
                           "hubbard:4:4:both",
                           "pairing:0",
                           "pairing:4:5",
                           "pairing:4:-1",
                           "pairing:4:2:inf",
                           "pairing:4:2:1:1",
                           "heisenberg:4 "})
    expect_refused("kind", [&] { make_sparse_generator(kind); });
}

}  // namespace
