// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tests/tools/program_test.hpp>

#include <tessera/matgen.hpp>
#include <tessera/saved_rows.hpp>
#include <tessera/sparse_matrix.hpp>

/// `--save-matrix` and `--matrix FILE.h5` as a user would use them.
namespace {

using namespace tessera;
using namespace tessera::test;

class SavedMatrixProgram : public Program {
 protected:
  /// Two protons and two neutrons in two orbits, with all that a file can have.
  std::string shell_model() const {
    const std::string orbits = file("two.sps", "iso\n2\n0.0 2.0 2.5 1\n1.0 0.0 0.5 3\n");
    const std::string interaction = file("two.int",
                                         "4 -1.5 0.75\n1 1 1 1 0 1 -2.0\n1 1 1 1 2 1 -1.0\n"
                                         "1 1 2 2 0 1 -0.75\n1 2 1 2 2 1 -0.5\n");
    return fmt::format("shell:file:2:2 --interaction {} --orbits {} --excitation 4", interaction, orbits);
  }
  static void expect_same_states(const Json& a, const Json& b, double tolerance) {
    EXPECT_TRUE(passed(b));
    const Json &first = result(a), &second = result(b);
    for (std::size_t k = 0; k < first["values"].size(); ++k)
      EXPECT_NEAR(first["values"][k].get<double>(), second["values"][k].get<double>(), tolerance);
    ASSERT_TRUE(second.contains("shell_model"));
    const Json &x = first["shell_model"]["states"], &y = second["shell_model"]["states"];
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_NEAR(x[k]["j"].get<double>(), y[k]["j"].get<double>(), 1e-4);
      EXPECT_NEAR(x[k]["t"].get<double>(), y[k]["t"].get<double>(), 1e-4);
      EXPECT_EQ(x[k]["parity"], y[k]["parity"]);
      for (std::size_t i = 0; i < x[k]["protons"].size(); ++i)
        EXPECT_NEAR(x[k]["protons"][i].get<double>(), y[k]["protons"][i].get<double>(), 1e-4);
    }
  }
};

/// Without a core a saved matrix keeps hbar omega, the Lawson term and Coulomb's.
TEST_F(SavedMatrixProgram, ShellModelWithoutACore) {
  const Json first = record(
      "lobpcg --generate shell:nocore:3He:2 --interaction minnesota --hw 15 --lawson 3 --coulomb "
      "--k 2 --tol 1e-9 --save-matrix " +
      path("m.h5"));
  EXPECT_TRUE(passed(first));
  expect_same_states(first, record("lobpcg " + path("m.h5") + " --k 2 --tol 1e-9"), 1e-7);
}

/// The files of the interaction may be gone: energies, J, T, parity, occupations and levels are the same.
TEST_F(SavedMatrixProgram, ShellModel) {
  const std::string saved = path("m.h5"), tail = " --k 2 --tol 1e-9 --levels ";
  const Json first =
      record("lobpcg --generate " + shell_model() + " --save-matrix " + saved + tail + path("a.txt"));
  EXPECT_TRUE(passed(first));
  ASSERT_EQ(first["options"]["saved"].size(), 1u);
  EXPECT_EQ(first["options"]["saved"][0]["file"], saved);
  const double bytes = 12 * first["options"]["stored_entries"].get<double>();
  EXPECT_EQ(first["options"]["saved"][0]["bytes"], bytes);
  EXPECT_GT(first["options"]["saved"][0]["bytes_per_second"], 0);
  fs::remove(path("two.sps"));
  fs::remove(path("two.int"));
  const Json second = record("lobpcg " + saved + tail + path("b.txt"));
  EXPECT_TRUE(passed(second));
  EXPECT_EQ(second["options"]["read"]["bytes"], bytes);
  expect_same_states(first, second, 1e-9);
  EXPECT_EQ(contents("a.txt"), contents("b.txt"));
  // Another cut, float, and once more from the copy of a copy.
  const Json other =
      record("lobpcg --matrix " + saved + " --nd 3 --k 2 --tol 1e-9 --save-matrix " + path("c.h5"));
  expect_same_states(first, other, 1e-9);
  const Json third = record("lobpcg " + path("c.h5") + " --k 2 --storage f --tol 1e-7");
  expect_same_states(first, third, 1e-4);
  const std::string two = two_ranks();
  if (!two.empty()) expect_same_states(first, record("lobpcg " + saved + " --k 2 --tol 1e-9", 0, two), 1e-9);
  const Json spmm = record("bench_spmm " + saved + " --columns 4");
  EXPECT_TRUE(passed(spmm));
  EXPECT_EQ(spmm["options"]["stored_entries"], first["options"]["stored_entries"]);
}

TEST_F(SavedMatrixProgram, OtherMatricesAndGeneralizedOnes) {
  const std::string a = path("a.h5"), b = path("b.h5");
  const Json first =
      record("lobpcg --generate mikota:60 --k 2 --shift 0 --save-matrix " + a + " --save-overlap " + b);
  EXPECT_EQ(first["options"]["saved"].size(), 2u);
  const Json second = record("lobpcg " + a + " --overlap " + b + " --k 2 --shift 0");
  EXPECT_TRUE(passed(second));
  // Mikota's pair has the eigenvalues k^2.
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_NEAR(result(second)["values"][k].get<double>(), std::pow(double(k) + 1, 2), 1e-6);
  EXPECT_FALSE(result(second).contains("shell_model"));
  const Outcome levels =
      run("lobpcg " + a + " --k 2 --iterations 400 --preconditioner jacobi --levels " + path("l.txt"));
  EXPECT_NE(levels.out.find("the matrix is of no shell model"), std::string::npos)
      << levels.out << levels.err;
}

TEST_F(SavedMatrixProgram, BadUsage) {
  const std::string laplacian = "lobpcg --generate laplacian1d:60 ";
  expect_refused(laplacian + "--save-matrix " + path("m.mtx"), "expected a file whose name ends in .h5");
  expect_refused(laplacian + "--save-matrix /nonexistent/m.h5", "--save-matrix");
  expect_refused(laplacian + "--save-overlap " + path("m.h5"), "expected a problem with B");
  expect_refused("lobpcg " + path("absent.h5"), "absent.h5: there is no such file");
  expect_refused("lobpcg " + file("text.h5", "%%MatrixMarket\n"), "expected an HDF5 file");
  EXPECT_EQ(run("lobpcg --generate shell:20Ne --k 2 --save-matrix " + path("m.h5")).code, 0);
  expect_refused("lobpcg " + path("m.h5") + " --interaction pairing", "--interaction");
  const std::string text = contents("m.h5");
  expect_refused("lobpcg " + file("short.h5", text.substr(0, text.size() / 2)), "short.h5: ");
}

/// A description of another shell model than the matrix's is not believed.
TEST_F(SavedMatrixProgram, ForeignDescriptions) {
  Runtime runtime({.cores = 1, .gpus = 0});
  SparseGeneratorOptions generator_options;
  generator_options.seed = 5;
  const SparseGenerator made = make_sparse_generator("shell:20Ne:0", generator_options);
  const auto a = CsbMatrix<double, double>::build(runtime, *made.a);
  for (const auto& [description, reason] :
       {std::pair(R"({"kind": "shell:20Ne:0", "seed": 6})", "is not the matrix of the shell model"),
        {R"({"kind": "shell:24Mg:0", "seed": 5})", "is not the matrix of the shell model"},
        {R"({"kind": "shell:20Ne:0", "seed": "x"})", "has a damaged description"},
        {R"({"kind": "shell:20Ne:7:8:9"})", "cannot be: "},
        {R"({"kind": "shell:20Ne", "interaction": "/etc/passwd", "orbits": "/etc/passwd"})",
         "whose texts it does not"},
        {R"({"kind": "shell:20Ne", "interaction": "a.snt", "interaction_text": "no"})", "a.snt"}}) {
    a.save(path("m.h5"), {.description = description});
    expect_refused("lobpcg " + path("m.h5") + " --k 2", reason);
  }
  for (const char* none :
       {"", "no JSON", "[1]", R"({"kind": 3})", R"({"kind": "matrix-market:/etc/passwd"})"}) {
    a.save(path("m.h5"), {.description = none});
    EXPECT_FALSE(result(record("lobpcg " + path("m.h5") + " --k 2")).contains("shell_model")) << none;
  }
}

}  // namespace
