// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/matgen/sparse_rows_checks.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/preconditioners.hpp>

/// Nuclei with published interactions, solved as a user would. Compares all energies in the table
/// of lowest states that comes with the files (README of TESSERA_DATA_DIR/shell_model), on which
/// two other programs agree.
namespace tessera::test {
namespace {

class ReferenceEnergies : public RuntimeTest<double> {
 protected:
  void SetUp() override { TESSERA_NEED_SHELL_MODEL_FILES(); }

  /// Energies are in MeV; the table has nine decimals.
  template <class V>
  static void expect_energies(const std::string& nucleus, bool sd, const std::vector<double>& energies,
                              EigenEnd end = EigenEnd::smallest, double gate = 2e-9) {
    const SparseGenerator made = make_sparse_generator("shell:" + nucleus, field_interaction(sd));
    const auto a = CsbMatrix<V, double>::build(runtime(), *made.a);
    FomPreconditioner<V, double> fom(runtime(), a, {.end = end});
    const auto result = lobpcg(runtime(), {.a = &a, .preconditioner = &fom},
                               {.count = static_cast<Index>(energies.size()), .end = end});
    EXPECT_EQ(result.status().code, StatusCode::success) << nucleus << ": " << result.status().message();
    expect_near(result.values, energies, gate, nucleus);
  }
};

/// The number of values must not exceed a fifth of the order, which is 14 and 30.
TEST_F(ReferenceEnergies, TwoParticles) {
  expect_energies<double>("18O", true, {-11.931788252, -9.933345811});
  expect_energies<double>("18O", true, {4.288333910}, EigenEnd::largest);
  expect_energies<double>(
      "42Ca", false,
      {-19.734159208, -18.295685936, -17.464398888, -17.022560441, -15.035846517, -14.527038175});
  expect_energies<double>("42Ca", false, {-2.883656621}, EigenEnd::largest);
}

TEST_F(ReferenceEnergies, Neon20) {
  expect_energies<double>("20Ne", true,
                          {-40.472330800, -38.725640544, -36.297059062, -33.774152656, -32.929371546,
                           -31.925203743, -30.526997831, -30.514242502});
  expect_energies<double>("20Ne", true, {7.643482884}, EigenEnd::largest);
}

TEST_F(ReferenceEnergies, Magnesium24) {
  expect_energies<double>("24Mg", true,
                          {-87.104449080, -85.602147527, -82.988299179, -82.732013361, -82.034078947,
                           -81.221868673, -79.766173832, -79.622747953});
  expect_energies<double>("24Mg", true, {-6.107746}, EigenEnd::largest, 1e-6);
}

/// Stored values in single precision have a relative error of up to 6e-8, and each is at most some
/// MeV.
TEST_F(ReferenceEnergies, Titanium44) {
  const std::vector<double> lowest{-47.568195302, -46.280805586, -45.187209615, -44.454958067,
                                   -44.400064224, -43.510505827, -43.067292701, -42.736044630};
  expect_energies<double>("44Ti", false, lowest);
  expect_energies<float>("44Ti", false, lowest, EigenEnd::smallest, 1e-5);
  expect_energies<double>("44Ti", false, {-6.983407409}, EigenEnd::largest);
}

}  // namespace
}  // namespace tessera::test
