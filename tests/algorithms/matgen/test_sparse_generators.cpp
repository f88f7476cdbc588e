// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "sparse_rows_checks.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;
using tessera::test::Matrix;

/// One generator of each kind except files, and several sizes where the formulas have boundary
/// cases.
const std::vector<std::string> samples{
    "shell:19F",       "shell:sd:0:4",      "heisenberg:6",  "heisenberg:8:open", "heisenberg-ladder:3",
    "hubbard:4",       "hubbard:4:0:open",  "pairing:8",     "pairing:9:1:0.3",   "laplacian1d:37",
    "laplacian2d:7:5", "laplacian3d:4:3:5", "graph-ring:24", "graph-grid:6:4",    "sakurai:33",
    "mikota:20",       "elastic-rod:25",    "clusters:30",   "hard-diagonal:41",  "laplacian1d:1"};

/// Complex Hermitian ones.
const std::vector<std::string> hermitian_samples{"magnetic-ring:20:0.7", "magnetic-ring:3",
                                                 "hofstadter:6:5:1:3", "hofstadter:4"};

TEST(SparseGenerators, AreListedWithHelp) {
  std::set<std::string> names, made;
  for (const SparseGeneratorKind& kind : sparse_generator_kinds()) {
    EXPECT_TRUE(names.insert(std::string(kind.name)).second) << kind.name;
    EXPECT_FALSE(kind.help.empty());
    EXPECT_FALSE(kind.argument.empty());
    EXPECT_EQ(kind.help.find('\n'), std::string_view::npos);
  }
  made.insert("matrix-market");
  for (const auto* list : {&samples, &hermitian_samples})
    for (const std::string& sample : *list) made.insert(sample.substr(0, sample.find(':')));
  EXPECT_EQ(names, made) << "every kind has a sample";
  for (const char* kind : {"", "laplacian", "laplacian1d7", "Laplacian1d:7", ":", "shell48Cr"})
    expect_refused("kind", [&] { make_sparse_generator(kind); });
}

TEST(SparseGenerators, EntriesDoNotDependOnTheRangesThatAreAskedFor) {
  for (const std::string& sample : samples) {
    const SparseGenerator made = make_sparse_generator(sample), again = make_sparse_generator(sample);
    EXPECT_FALSE(made.spectrum.text.empty()) << sample;
    for (const SymmetricRows* rows : {made.a.get(), made.b.get()}) {
      if (!rows) continue;
      const Index n = rows->order();
      const EntryMap whole = gather(*rows, n, n);
      EXPECT_EQ(gather(*rows, 5, 11), whole) << sample;
      EXPECT_EQ(gather(*rows, 1, n), whole) << sample;
      EXPECT_EQ(gather(*(rows == made.a.get() ? again.a : again.b), n, n), whole) << sample;
      for (const auto& [place, value] : whole) EXPECT_TRUE(std::isfinite(value)) << sample;
    }
  }
}

/// Compares known eigenvalues of a generator with LAPACK; with `all` it must know every eigenvalue.
void expect_known(const std::string& kind, bool all) {
  const SparseGenerator made = make_sparse_generator(kind);
  const std::vector<double> w = eigenvalues(made);
  const Index n = made.a->order();
  ASSERT_EQ(static_cast<Index>(w.size()), n);
  // Rounding errors of A move the eigenvalues of a pair by the error divided by the smallest
  // eigenvalue of B.
  const double tolerance =
      1e-14 * static_cast<double>(n + 10) * std::max(std::abs(w.front()), std::abs(w.back()));
  Index low = 0, high = 0;
  for (Index count = 0; count <= n; ++count) {
    if (const auto lowest = made.lowest_eigenvalues(count)) {
      low = count;
      expect_near(*lowest, {w.begin(), w.begin() + count}, tolerance, kind + ", lowest");
    }
    if (const auto largest = made.largest_eigenvalues(count)) {
      high = count;
      expect_near(*largest, {w.rbegin(), w.rbegin() + count}, tolerance, kind + ", largest");
    }
  }
  if (all) {
    EXPECT_EQ(low, n) << kind;
    EXPECT_EQ(high, n) << kind;
  } else {
    EXPECT_GT(low + high, 0) << kind;
    EXPECT_LT(low, n) << kind;
  }
  EXPECT_FALSE(made.lowest_eigenvalues(n + 1));
  EXPECT_FALSE(made.largest_eigenvalues(n + 1));
  expect_refused("count", [&] { (void)made.lowest_eigenvalues(-1); });
}

TEST(SparseGenerators, AllEigenvaluesInClosedForm) {
  for (const char* kind : {"laplacian1d:1",    "laplacian1d:2",       "laplacian1d:50",    "laplacian2d:1",
                           "laplacian2d:7",    "laplacian2d:1:9",     "laplacian2d:9:1",   "laplacian2d:12:5",
                           "laplacian3d:4",    "laplacian3d:3:5",     "laplacian3d:5:2:7", "graph-ring:3",
                           "graph-ring:4",     "graph-ring:20",       "graph-ring:21",     "graph-grid:1",
                           "graph-grid:5",     "graph-grid:1:8",      "graph-grid:6:9",    "sakurai:2",
                           "sakurai:3",        "sakurai:60",          "mikota:1",          "mikota:2",
                           "mikota:30",        "elastic-rod:1",       "elastic-rod:2",     "elastic-rod:40",
                           "clusters:1",       "clusters:11",         "clusters:20:7",     "hard-diagonal:1",
                           "hard-diagonal:2",  "hard-diagonal:30:12", "heisenberg:2",      "heisenberg:4",
                           "hubbard:2:0",      "hubbard:2:7.5",       "hubbard:2:-3",      "hubbard:4:0",
                           "hubbard:6:0",      "hubbard:6:0:open",    "pairing:1:1",       "pairing:10:1",
                           "pairing:15:1:2.5", "pairing:6:6",         "pairing:6:0"})
    expect_known(kind, true);
}

TEST(SparseGenerators, SomeEigenvaluesInClosedForm) {
  for (const char* kind : {"heisenberg:4:open", "heisenberg:6", "heisenberg:6:open", "heisenberg:10",
                           "heisenberg:10:open", "heisenberg-ladder:2", "heisenberg-ladder:3",
                           "heisenberg-ladder:4:open", "heisenberg-ladder:5", "heisenberg-ladder:5:open"})
    expect_known(kind, false);
}

TEST(SparseGenerators, GraphLaplaciansAreSingularOnConstants) {
  for (const char* kind : {"graph-ring:17", "graph-grid:5:8"}) {
    const Matrix<double> a = dense(*make_sparse_generator(kind).a);
    for (Index i = 0; i < a.rows(); ++i) {
      double sum = 0;
      for (Index j = 0; j < a.cols(); ++j) sum += a(i, j);
      EXPECT_EQ(sum, 0) << kind;
    }
  }
}

TEST(SparseGenerators, ClustersAndHardDiagonalsAreWhatTheySay) {
  const auto clusters = make_sparse_generator("clusters:12:3").lowest_eigenvalues(5);
  expect_near(*clusters, {1, 1 + 1e-8, 1 + 2e-8, 2, 2 + 1e-8}, 1e-16);
  const auto hard = make_sparse_generator("hard-diagonal:9");
  expect_near(*hard.lowest_eigenvalues(2), {1, 10}, 1e-14);
  EXPECT_NEAR((*hard.largest_eigenvalues(1))[0], 1e8, 1e-6);
}

TEST(SparseGenerators, LargeOnesCostNothingUntilAskedFor) {
  const auto made = make_sparse_generator("laplacian3d:10000");
  EXPECT_EQ(made.a->order(), 1000000000000);
  EXPECT_NEAR((*made.lowest_eigenvalues(3))[0], 3 * std::pow(std::acos(-1.0) / 10001, 2), 1e-13);
  std::vector<SparseEntry> out;
  const Index row = 500000000000;
  made.a->entries(row, row + 1, row - 10, row + 10, out);
  ASSERT_EQ(out.size(), 1U);  // first point of a grid line: no neighbour within ten columns
  EXPECT_EQ(out[0].column, 10U);
}

/// All entries of the lower triangle, requested in parts, as a whole matrix.
Matrix<std::complex<double>> hermitian_dense(const SymmetricRows& rows, Index row_step, Index column_step) {
  const Index n = rows.order();
  Matrix<std::complex<double>> a(n, n);
  std::vector<ComplexSparseEntry> out;
  for (Index row = 0; row < n; row += row_step)
    for (Index column = 0; column < n; column += column_step) {
      out.clear();
      rows.complex_entries(row, std::min(row + row_step, n), column, std::min(column + column_step, n), out);
      for (const ComplexSparseEntry& entry : out) {
        const Index i = row + entry.row, j = column + entry.column;
        EXPECT_TRUE(j <= i && a(i, j) == 0.0) << i << ' ' << j;
        a(i, j) = entry.value;
        a(j, i) = std::conj(entry.value);
      }
    }
  return a;
}

TEST(SparseGenerators, MagneticLatticesInClosedForm) {
  for (const char* kind :
       {"magnetic-ring:3", "magnetic-ring:20", "magnetic-ring:21:0", "magnetic-ring:22:3.141592653589793",
        "magnetic-ring:17:-9.5", "magnetic-ring:18:100", "hofstadter:3", "hofstadter:6:5:1:3",
        "hofstadter:6:4:2:3", "hofstadter:8:3:-1:4", "hofstadter:5:6:0:1", "hofstadter:6:7:5:2",
        "hofstadter:10:10:3:5"}) {
    SCOPED_TRACE(kind);
    const SparseGenerator made = make_sparse_generator(kind);
    EXPECT_TRUE(made.a->hermitian());
    const Index n = made.a->order();
    const Matrix<std::complex<double>> a = hermitian_dense(*made.a, n, n),
                                       parts = hermitian_dense(*made.a, 5, 3);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) EXPECT_EQ(a(i, j), parts(i, j));
    const std::vector<double> w = lapack_eigenvalues(a);
    expect_near(*made.lowest_eigenvalues(n), w, 1e-13 * double(n), kind);
    expect_near(*made.largest_eigenvalues(3), {w.rbegin(), w.rbegin() + 3}, 1e-13 * double(n), kind);
    EXPECT_FALSE(made.lowest_eigenvalues(n + 1));
  }
}

/// The flux through every plaquette is what was asked for, also across the boundaries.
TEST(SparseGenerators, FluxOfEveryPlaquette) {
  const Index nx = 6, ny = 5;
  const auto a = hermitian_dense(*make_sparse_generator("hofstadter:6:5:1:3").a, 30, 30);
  for (Index x = 0; x < nx; ++x)
    for (Index y = 0; y < ny; ++y) {
      const Index right = (x + 1) % nx, up = (y + 1) % ny;
      const auto at = [&](Index column, Index row) { return column + nx * row; };
      const std::complex<double> around = a(at(x, y), at(x, up)) * a(at(x, up), at(right, up)) *
                                          a(at(right, up), at(right, y)) * a(at(right, y), at(x, y));
      EXPECT_NEAR(std::abs(around - std::polar(1.0, 2 * std::acos(-1.0) / 3)), 0, 1e-14) << x << ' ' << y;
    }
}

TEST(SparseGenerators, BadInputIsRefused) {
  for (const char* kind : {"magnetic-ring", "magnetic-ring:2", "magnetic-ring:5:inf", "magnetic-ring:5:1:1",
                           "hofstadter:2", "hofstadter:6:5:1:4", "hofstadter:6:5:1:0", "hofstadter:6:2"})
    expect_refused("kind", [&] { make_sparse_generator(kind); });
  for (const char* kind : {"laplacian1d",       "laplacian1d:0",         "laplacian1d:-3",
                           "laplacian1d:x",     "laplacian1d:3:3",       "laplacian2d:3:3:3",
                           "laplacian2d:3:0",   "laplacian3d:100000000", "laplacian1d:99999999999999999999",
                           "graph-ring:2",      "graph-grid:0",          "sakurai:1",
                           "mikota:0",          "elastic-rod:0",         "clusters:0",
                           "clusters:4:0",      "clusters:4:2:2",        "hard-diagonal:0",
                           "hard-diagonal:5:0", "hard-diagonal:5:31",    "hard-diagonal:5:nan",
                           "laplacian1d:3.5",   "laplacian1d: 3"})
    expect_refused("kind", [&] { make_sparse_generator(kind); });
}

}  // namespace
