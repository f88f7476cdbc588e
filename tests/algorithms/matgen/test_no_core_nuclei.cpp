// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include <tessera/algorithms/matgen/shell_model/no_core.hpp>
#include <tessera/algorithms/matgen/shell_model/oscillator_two_body.hpp>
#include <tessera/shell_model.hpp>

#include "sparse_rows_checks.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using namespace tessera::detail;
using tessera::test::Matrix;

SparseGeneratorOptions minnesota(double oscillator, double lawson = 0, bool coulomb = false) {
  SparseGeneratorOptions options;
  options.interaction = "minnesota";
  options.oscillator = oscillator;
  options.lawson = lawson;
  options.coulomb = coulomb;
  return options;
}
double lowest(const std::string& kind, const SparseGeneratorOptions& options) {
  return eigenvalues(make_sparse_generator(kind, options)).front();
}

/// The Hamiltonian of the relative motion of two nucleons with l, S and T and up to `max_quanta` quanta, by quadrature
/// of the potential in r (fm) and of no bracket: its functions, positive near the origin, and their energies.
std::vector<double> relative_energies(int l, int s, int max_quanta, double oscillator, double charge) {
  const int count = (max_quanta - l) / 2 + 1;
  const double b = std::sqrt(2 * nucleon_hbar2_over_m / oscillator);  // of r_1 - r_2
  Matrix<double> h(count, count);
  for (int n = 0; n < count; ++n) {
    h(n, n) = oscillator / 2 * (2 * n + l + 1.5);
    if (n > 0) h(n, n - 1) = h(n - 1, n) = oscillator / 2 * std::sqrt(n * (n + l + 0.5));
  }
  constexpr double step = 0.002;
  std::vector<double> u(static_cast<std::size_t>(count));
  for (double x = step / 2; x < 16; x += step) {
    const double r = x * b, a = l + 0.5;
    double before = 0, laguerre = 1;
    for (int n = 0; n < count; ++n) {
      u[n] = std::sqrt(2 * std::exp(std::lgamma(n + 1.) - std::lgamma(n + a + 1))) * std::pow(x, l + 1) *
             std::exp(-x * x / 2) * laguerre;
      const double next = ((2 * n + 1 + a - x * x) * laguerre - (n + a) * before) / (n + 1);
      before = std::exchange(laguerre, next);
    }
    double v = charge / r;
    if (l % 2 == 0)
      v += 200 * std::exp(-1.487 * r * r) -
           (s == 1 ? 178 * std::exp(-0.639 * r * r) : 91.85 * std::exp(-0.465 * r * r));
    for (int n = 0; n < count; ++n)
      for (int m = 0; m < count; ++m) h(n, m) += step * v * u[n] * u[m];
  }
  return lapack_eigenvalues(h);
}

/// All energies of two nucleons with M = 0: each state of relative motion, with each state of the centre of mass that
/// the quanta leave, times the values of J that there are.
std::vector<double> two_nucleon_energies(bool deuteron, int nmax, double oscillator, double lawson,
                                         double charge) {
  std::vector<double> all;
  for (int centre = 0; centre <= nmax; ++centre)
    for (int big_l = centre % 2; big_l <= centre; big_l += 2)
      for (int l = 0; l <= nmax - centre; ++l)
        for (int s = 0; s < 2; ++s)
          for (int t = deuteron ? 0 : 1; t < 2; ++t) {
            if ((l + s + t) % 2 == 0 || (l + centre - nmax) % 2 != 0) continue;
            int couplings = 0;  // states with M = 0
            for (int m_l = -l; m_l <= l; ++m_l)
              for (int m_s = -s; m_s <= s; ++m_s)
                if (std::abs(m_l + m_s) <= big_l) ++couplings;
            for (const double energy : relative_energies(l, s, nmax - centre, oscillator, charge))
              for (int k = 0; k < couplings; ++k) all.push_back(energy + lawson * oscillator * centre);
          }
  std::sort(all.begin(), all.end());
  return all;
}

/// Two nucleons: the spectrum of the matrix is that of the relative motion, diagonalised by itself, with all states of
/// the centre of mass, which cost nothing without and beta hbar omega for each quantum with the Lawson term.
TEST(NoCoreNuclei, TwoNucleonsAreRelativeMotionAndCentreOfMass) {
  for (const double oscillator : {12., 20.})
    for (const double lawson : {0., 1.5})
      for (const int nmax : {0, 1, 4, 5}) {
        const std::string what = fmt::format("{} MeV, beta = {}, Nmax = {}", oscillator, lawson, nmax);
        expect_near(eigenvalues(make_sparse_generator(fmt::format("shell:nocore:2H:{}", nmax),
                                                      minnesota(oscillator, lawson))),
                    two_nucleon_energies(true, nmax, oscillator, lawson, 0), 1e-6, what);
        expect_near(eigenvalues(make_sparse_generator(fmt::format("shell:nocore:0:2:{}", nmax),
                                                      minnesota(oscillator, lawson))),
                    two_nucleon_energies(false, nmax, oscillator, lawson, 0), 1e-6, what);
        if (nmax == 4) {
          // Two protons with Coulomb; e^2 = 1.43996 MeV fm.
          expect_near(
              eigenvalues(make_sparse_generator("shell:nocore:2:0:4", minnesota(oscillator, lawson, true))),
              two_nucleon_energies(false, 4, oscillator, lawson, 1.4399645), 1e-4, what);
        }
      }
}

/// The deuteron of the Minnesota potential is bound by 2.20 MeV: from above, and reached with many quanta.
TEST(NoCoreNuclei, TheDeuteron) {
  double former = 0;
  for (const int nmax : {0, 2, 4, 8}) {
    const double energy = lowest(fmt::format("shell:nocore:2H:{}", nmax), minnesota(12));
    if (nmax > 0) {
      EXPECT_LT(energy, former + 1e-12);
    }
    EXPECT_GT(energy, -2.203);
    former = energy;
  }
  EXPECT_NEAR(relative_energies(0, 1, 120, 12, 0)[0], -2.202, 1e-3);
}

/// The Lawson term alone.
Matrix<double> centre_of_mass(const ShellModelSpace& space, double oscillator) {
  ShellInteraction h(oscillator_orbits(highest_shell(space.protons, space.neutrons, *space.excitation)));
  add_lawson(h, space, oscillator, 1);
  return dense(ShellModelRows(h, space));
}

/// H_cm has the eigenvalues 0, 1, ..., Nmax (of Nmax's parity, and those between for the other one) times hbar omega,
/// and commutes with the intrinsic Hamiltonian: energies without a quantum of it stay where they are for any beta.
TEST(NoCoreNuclei, TheCentreOfMassFactorises) {
  for (const auto& [nucleus, protons, neutrons, nmax, coulomb] : {std::tuple{"3H", 1, 2, 3, false},
                                                                  {"3He", 2, 1, 2, true},
                                                                  {"4He", 2, 2, 3, false},
                                                                  {"4He", 2, 2, 2, true}}) {
    SCOPED_TRACE(fmt::format("{}, Nmax = {}", nucleus, nmax));
    const double oscillator = 18;
    const ShellModelSpace space = no_core_space(protons, neutrons, nmax, (protons + neutrons) % 2);
    const Matrix<double> cm = centre_of_mass(space, oscillator);
    std::set<int> quanta;
    std::size_t intrinsic = 0;
    for (const double value : lapack_eigenvalues(cm)) {
      const double count = value / oscillator;
      EXPECT_NEAR(count, std::round(count), 1e-11);
      quanta.insert(static_cast<int>(std::lround(count)));
      intrinsic += std::abs(count) < 0.5;
    }
    EXPECT_EQ(*quanta.begin(), 0);
    EXPECT_EQ(*quanta.rbegin(), nmax);
    const std::string kind = fmt::format("shell:nocore:{}:{}", nucleus, nmax);
    const Matrix<double> h = dense(*make_sparse_generator(kind, minnesota(oscillator, 0, coulomb)).a);
    double commutator = 0;
    for (Index j = 0; j < h.rows(); ++j)
      for (Index i = 0; i < j; ++i) {
        double sum = 0;
        for (Index k = 0; k < h.rows(); ++k) sum += h(i, k) * cm(k, j) - cm(i, k) * h(k, j);
        commutator = std::max(commutator, std::abs(sum));
      }
    EXPECT_LT(commutator, 1e-8);
    // Far above with a large beta, all else is the same.
    const std::vector<double> plain = lapack_eigenvalues(h), lifted = eigenvalues(make_sparse_generator(
                                                                 kind, minnesota(oscillator, 100, coulomb)));
    for (std::size_t k = 0; k < intrinsic; ++k) {
      const auto near = std::lower_bound(plain.begin(), plain.end(), lifted[k] - 1e-7);
      ASSERT_NE(near, plain.end());
      EXPECT_NEAR(*near, lifted[k], 1e-7);
    }
    EXPECT_GT(lifted[intrinsic], lifted[intrinsic - 1] + 100);
    if (nmax % 2 == 0) {
      EXPECT_NEAR(lifted[0], plain[0], 1e-8);
    }
  }
}

/// 4He without Coulomb is variational in Nmax. The bounds are loose ones around our own energies: -25.83, -27.98 and
/// -28.44 MeV with Nmax 2, 4 and 6.
TEST(NoCoreNuclei, TheAlphaParticleIsVariational) {
  double former = 1e3;
  for (const int nmax : {0, 2, 4}) {
    const double energy = lowest(fmt::format("shell:nocore:4He:{}", nmax), minnesota(20));
    EXPECT_LT(energy, former);
    EXPECT_GT(energy, -30);
    former = energy;
  }
  EXPECT_LT(former, -25);
  // Coulomb between two protons about 1 fm from the centre.
  const double repulsion = lowest("shell:nocore:4He:4", minnesota(20, 0, true)) - former;
  EXPECT_GT(repulsion, 0.7);
  EXPECT_LT(repulsion, 0.9);
}

/// Energies do not depend on M, and protons and neutrons may change places without Coulomb.
TEST(NoCoreNuclei, LevelsOfHigherMAreAmongThoseOfLowerM) {
  const auto options = minnesota(16, 1);
  const std::vector<double> low = eigenvalues(make_sparse_generator("shell:nocore:3H:2:1", options)),
                            high = eigenvalues(make_sparse_generator("shell:nocore:3H:2:3", options));
  expect_near(eigenvalues(make_sparse_generator("shell:nocore:3H:2:-3", options)), high, 1e-9);
  expect_near(eigenvalues(make_sparse_generator("shell:nocore:3He:2", options)), low, 1e-9);
  EXPECT_LT(high.size(), low.size());
  std::size_t at = 0;
  for (const double level : high) {
    while (at < low.size() && low[at] < level - 1e-9) ++at;
    ASSERT_LT(at, low.size());
    EXPECT_NEAR(low[at++], level, 1e-9);
  }
}

/// The same elements in both forms of an interaction, and a Lawson term added to either.
TEST(NoCoreNuclei, NucleonsToldApartAreTheSame) {
  const ShellModelSpace space = no_core_space(2, 1, 2, 1);
  const auto orbits = oscillator_orbits(highest_shell(2, 1, 2));
  ShellInteraction h = minnesota_interaction(orbits, space, 15), apart = h;
  apart.tell_nucleons_apart();
  EXPECT_FALSE(apart.isospin_invariant());
  expect_near(lapack_eigenvalues(dense(ShellModelRows(apart, space))),
              lapack_eigenvalues(dense(ShellModelRows(h, space))), 1e-10);
  add_lawson(h, space, 15, 2);
  add_lawson(apart, space, 15, 2);
  const Matrix<double> a = dense(ShellModelRows(h, space)), b = dense(ShellModelRows(apart, space));
  for (Index j = 0; j < a.rows(); ++j)
    for (Index i = 0; i < a.rows(); ++i) ASSERT_NEAR(a(i, j), b(i, j), 1e-10);
}

}  // namespace
