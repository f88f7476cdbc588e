// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_rows_checks.hpp"

/// Published interactions against spectra computed with other programs. The reference energies are
/// in the README of the files, TESSERA_DATA_DIR/shell_model.
namespace {

using namespace tessera;
using namespace tessera::test;
using tessera::test::Matrix;

class Nuclei : public ::testing::Test {
 protected:
  void SetUp() override { TESSERA_NEED_SHELL_MODEL_FILES(); }
  static SparseGenerator nucleus(const std::string& kind, bool sd) {
    return make_sparse_generator(kind, field_interaction(sd));
  }
  static double trace(const EntryMap& entries) {
    double sum = 0;
    for (const auto& [place, value] : entries)
      if (place.first == place.second) sum += value;
    return sum;
  }
  static void expect_spectrum(const SparseGenerator& made, Index order, std::size_t entries,
                              double trace_expected, double largest, const std::vector<double>& lowest) {
    ASSERT_EQ(made.a->order(), order);
    const EntryMap all = gather(*made.a, order, order);
    EXPECT_EQ(all.size(), entries);
    EXPECT_NEAR(trace(all), trace_expected, 2e-9);
    std::vector<double> found = eigenvalues(made);
    EXPECT_NEAR(found.back(), largest, 1e-8);
    found.resize(lowest.size());
    expect_near(found, lowest, 1e-8);
  }
};

TEST_F(Nuclei, Oxygen18) {
  expect_spectrum(nucleus("shell:18O", true), 14, 97, -52.914400000, 4.288333910,
                  {-11.931788252, -9.933345811, -8.404587772, -7.571710409, -7.339262558, -6.505420839,
                   -2.912412228, -2.050510163});
}

TEST_F(Nuclei, Neon20) {
  expect_spectrum(nucleus("shell:20Ne", true), 640, 27372, -9044.724791190, 7.643482884,
                  {-40.472330800, -38.725640544, -36.297059062, -33.774152656, -32.929371546, -31.925203743,
                   -30.526997831, -30.514242502});
}

TEST_F(Nuclei, Calcium42) {
  expect_spectrum(nucleus("shell:42Ca", false), 30, 437, -314.732200000, -2.883656621,
                  {-19.734159208, -18.295685936, -17.464398888, -17.022560441, -15.035846517, -14.527038175,
                   -14.214863511, -13.762921311});
}

TEST_F(Nuclei, FullShellsHaveOneState) {
  const auto sd = eigenvalues(nucleus("shell:40Ca", true)), pf = eigenvalues(nucleus("shell:80Zr", false));
  ASSERT_EQ(sd.size(), 1U);
  ASSERT_EQ(pf.size(), 1U);
  EXPECT_NEAR(sd[0], -279.960701233, 1e-9);
  EXPECT_NEAR(pf[0], -502.887656232, 1e-9);
}

TEST_F(Nuclei, Titanium44) {
  const SparseGenerator made = nucleus("shell:44Ti", false);
  ASSERT_EQ(made.a->order(), 4000);
  const EntryMap all = gather(*made.a, 4000, 4000);
  EXPECT_EQ(all.size(), 406900U);
  EXPECT_NEAR(trace(all), -98096.069891769, 1e-8);
}

TEST_F(Nuclei, OrbitsMustBeThoseOfTheShell) {
  expect_refused("orbits", [] { nucleus("shell:20Ne", false); });
  expect_refused("orbits", [] { nucleus("shell:44Ti", true); });
  const auto any = nucleus("shell:file:0:2", true);
  EXPECT_EQ(any.a->order(), 14);
  EXPECT_NEAR(eigenvalues(any)[0], -11.931788252, 1e-8);
  // The interaction belongs to one shell, but the orbits to another.
  SparseGeneratorOptions mixed = field_interaction(true);
  mixed.orbits = field_interaction(false).orbits;
  EXPECT_THROW(make_sparse_generator("shell:44Ti", mixed), InputError);
}

/// Lanczos iteration with full reorthogonalization.
TEST_F(Nuclei, Magnesium24) {
  const SparseGenerator made = nucleus("shell:24Mg", true);
  const Index n = made.a->order();
  ASSERT_EQ(n, 28503);
  struct Place {
    Index row, column;
    double value;
  };
  std::vector<Place> all;
  std::vector<SparseEntry> part;
  const auto tiles = made.a->tiles();
  double sum = 0;
  for (std::size_t t = 0; t + 1 < tiles.size(); ++t) {
    part.clear();
    made.a->entries(tiles[t], tiles[t + 1], 0, n, part);
    for (const SparseEntry& e : part) {
      all.push_back({tiles[t] + e.row, Index(e.column), e.value});
      if (all.back().row == all.back().column) sum += e.value;
    }
  }
  EXPECT_EQ(all.size(), 3029327U);
  EXPECT_NEAR(sum, -1241147.652342, 1e-6);
  constexpr Index steps = 90;
  std::vector<std::vector<double>> v;
  Matrix<double> t(steps, steps);
  std::vector<double> w(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) w[i] = random_uniform(1, 0, i, 0);
  for (Index k = 0; k < steps; ++k) {
    double norm = 0;
    for (double x : w) norm += x * x;
    norm = std::sqrt(norm);
    for (double& x : w) x /= norm;
    if (k > 0) t(k, k - 1) = t(k - 1, k) = norm;
    v.push_back(w);
    std::fill(w.begin(), w.end(), 0.0);
    const double* x = v.back().data();
    for (const Place& e : all) {
      w[e.row] += e.value * x[e.column];
      if (e.row != e.column) w[e.column] += e.value * x[e.row];
    }
    for (int pass = 0; pass < 2; ++pass)
      for (Index j = 0; j <= k; ++j) {
        double overlap = 0;
        for (Index i = 0; i < n; ++i) overlap += v[j][i] * w[i];
        for (Index i = 0; i < n; ++i) w[i] -= overlap * v[j][i];
        if (j == k && pass == 0) t(k, k) = overlap;
      }
  }
  const std::vector<double> found = lapack_eigenvalues(t);
  EXPECT_NEAR(found[0], -87.104449080, 1e-8);
  EXPECT_NEAR(found[1], -85.602147527, 1e-8);
  EXPECT_NEAR(found.back(), -6.107746, 1e-6);
}

}  // namespace
