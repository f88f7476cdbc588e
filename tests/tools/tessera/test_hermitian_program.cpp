// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <numbers>
#include <tuple>

#include <tests/tools/program_test.hpp>

#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/types.hpp>

/// Runs `tessera lobpcg` and `bench_spmm` with complex Hermitian matrices, as a user would.
namespace {

using namespace tessera;
using namespace tessera::test;

class HermitianProgram : public Program {
 protected:
  /// A ring with the flux `phi` through it, as a file.
  std::string ring(int n, double phi, const char* symmetry = "hermitian") const {
    const std::complex<double> hop = -std::polar(1.0, phi / n);
    const bool general = std::string(symmetry) == "general";
    std::string text = fmt::format("%%MatrixMarket matrix coordinate complex {}\n{} {} {}\n", symmetry, n, n,
                                   general ? 3 * n : 2 * n);
    const auto put = [&](int i, int j, std::complex<double> value) {
      text += fmt::format("{} {} {:.17g} {:.17g}\n", i, j, value.real(), value.imag());
      if (general && i != j)
        text += fmt::format("{} {} {:.17g} {:.17g}\n", j, i, value.real(), -value.imag());
    };
    for (int i = 1; i <= n; ++i) {
      put(i, i, 2);
      if (i > 1) put(i, i - 1, hop);
    }
    put(n, 1, std::conj(hop));
    return file(fmt::format("ring_{}.mtx", symmetry), text);
  }
  static double exact(int n, double phi, int k) {
    const double angle = 2 * std::numbers::pi * ((k + 1) / 2) + (k % 2 == 0 ? phi : -phi);
    return 4 * std::pow(std::sin(angle / (2 * n)), 2);
  }
};

TEST_F(HermitianProgram, FilesAndTypes) {
  const int n = 70;
  const double phi = 0.9;
  for (const char* symmetry : {"hermitian", "general"})
    for (const auto& [more, type, gate] : {std::tuple("--peer dense", "z", 1e-9),
                                           {"--storage f --tol 1e-6", "z", 1e-5},
                                           {"--storage f --vectors-type f --peer dense", "c", 1e-3},
                                           {"--preconditioner chebyshev --method gd", "z", 1e-9}}) {
      const Json json = record(fmt::format("lobpcg --matrix {} --k 4 {}", ring(n, phi, symmetry), more));
      EXPECT_TRUE(passed(json)) << more;
      EXPECT_EQ(json["options"]["type"], std::string(type));
      for (int k = 0; k < 4; ++k)
        EXPECT_NEAR(result(json)["values"][std::size_t(k)].get<double>(), exact(n, phi, k), gate) << more;
    }
}

TEST_F(HermitianProgram, GeneratorsKnowTheirEigenvalues) {
  for (const char* kind : {"magnetic-ring:90:0.4", "hofstadter:12:9:1:4", "hofstadter:8:9:1:8 --largest"}) {
    const Json json = record(fmt::format("lobpcg --generate {} --k 3", kind));
    EXPECT_TRUE(passed(json)) << kind;
    EXPECT_EQ(json["runs"][0]["check"]["values_against"], "the exact eigenvalues");
  }
}

TEST_F(HermitianProgram, ComplexBesideReal) {
  // B = 2 + i on neighbours, positive definite, beside a real A; and a real B beside a complex A.
  const int n = 60;
  std::string b = fmt::format("%%MatrixMarket matrix coordinate complex hermitian\n{} {} {}\n", n, n,
                              2 * n - 1),
              real = fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{} {} {}\n", n, n, n);
  for (int i = 1; i <= n; ++i) {
    b += fmt::format("{0} {0} 4 0\n", i);
    if (i > 1) b += fmt::format("{} {} 0 0.8\n", i, i - 1);
    real += fmt::format("{0} {0} 2\n", i);
  }
  const Json mixed = record(fmt::format(
      "lobpcg --generate laplacian1d:{} --overlap {} --k 3 --shift 0 --peer dense", n, file("b.mtx", b)));
  EXPECT_TRUE(passed(mixed));
  EXPECT_EQ(mixed["options"]["type"], "z");
  const Json halves = record(fmt::format("lobpcg --matrix {} --overlap {} --k 3 --shift -0.1", ring(n, 0.5),
                                         file("real.mtx", real)));
  EXPECT_TRUE(passed(halves));
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(result(halves)["values"][std::size_t(k)].get<double>(), exact(n, 0.5, k) / 2, 1e-9);
}

TEST_F(HermitianProgram, SavedMatricesAndVectors) {
  const std::string saved = path("ring.h5"), pairs = path("pairs.h5");
  const Json made = record(fmt::format("lobpcg --matrix {} --k 2 --save-matrix {}", ring(60, 0.3), saved));
  const Json read = record(fmt::format("lobpcg --matrix {} --k 2 --output {}", saved, pairs));
  EXPECT_TRUE(passed(read));
  EXPECT_EQ(read["options"]["type"], "z");
  for (int k = 0; k < 2; ++k)
    EXPECT_NEAR(result(read)["values"][std::size_t(k)].get<double>(), exact(60, 0.3, k), 1e-9);
  auto file = detail::Hdf5File::open(pairs);
  Index rows = 0, columns = 0;
  const auto vectors = file.read<std::complex<double>>("vectors", rows, columns);
  ASSERT_EQ(rows, 60);
  ASSERT_EQ(columns, 2);
  // The lowest state is a plane wave of wave number 0: all of one phase.
  for (Index i = 1; i < 60; ++i) EXPECT_NEAR(std::abs(vectors[std::size_t(i)] - vectors[0]), 0, 1e-4);
}

TEST_F(HermitianProgram, ProductsOfTheBenchmark) {
  for (const char* more :
       {"--columns 7", "--columns 3 --storage f --type s --peer csr", "--columns 4 --peer csr"}) {
    const Json json = record(fmt::format("bench_spmm --generate hofstadter:20:15:1:5 --check last {}", more));
    EXPECT_TRUE(passed(json)) << more;
  }
}

TEST_F(HermitianProgram, BadUsage) {
  const std::string head = "%%MatrixMarket matrix coordinate complex ";
  expect_refused("lobpcg --matrix " + file("a.mtx", head + "hermitian\n9 9 1\n1 1 1 2\n"), "is not real");
  expect_refused("lobpcg --matrix " + file("b.mtx", head + "general\n9 9 2\n1 2 1 2\n2 1 1 2\n"),
                 "a Hermitian matrix");
  expect_refused("lobpcg --matrix " + file("c.mtx", head + "symmetric\n9 9 1\n2 1 1 2\n"),
                 "a Hermitian matrix");
  expect_refused("lobpcg --generate magnetic-ring:60 --product free", "--product: 'free'");
  expect_refused("lobpcg --generate magnetic-ring:2", "--generate");
  expect_refused("bench_spmm --generate magnetic-ring:60 --peer naive", "--peer");
}

}  // namespace
