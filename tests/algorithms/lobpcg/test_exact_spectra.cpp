// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <optional>
#include <set>

#include <tests/algorithms/matgen/sparse_rows_checks.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/preconditioners.hpp>

/// Solves every generator with exactly known eigenvalues as a half-stored matrix.
namespace tessera::test {
namespace {

struct ExactCase {
  std::string kind;
  Index lowest, largest;          ///< number of eigenvalues
  bool inverse_diagonal = false;  ///< use Jacobi with shift 0 for the lowest
  double tolerance = 1e-10;
  std::string interaction = "random";
};

/// Tolerances are tighter where eigenvalues differ by 1e-8, or are 1e-8 of the norm.
const std::vector<ExactCase> cases{{"laplacian1d:60", 4, 4},
                                   {"laplacian2d:14:11", 5, 5},
                                   {"laplacian3d:7:6:5", 5, 5},
                                   {"graph-ring:61", 5, 5},
                                   {"graph-grid:12:9", 5, 5},
                                   {"magnetic-ring:61:0.8", 5, 5},
                                   {"hofstadter:9:8:1:3", 5, 5},
                                   {"sakurai:60", 4, 4},
                                   {"mikota:30", 4, 4},
                                   {"elastic-rod:40", 4, 4},
                                   {"clusters:60", 6, 6, false, 1e-11},
                                   {"hard-diagonal:60", 4, 4, true, 1e-12},
                                   {"heisenberg:4", 1, 1},
                                   {"heisenberg:10", 0, 3},
                                   {"heisenberg:10:open", 0, 2},
                                   {"heisenberg-ladder:5", 0, 2},
                                   {"hubbard:4:0", 4, 4},
                                   {"hubbard:6:0:open", 5, 5},
                                   {"pairing:40:1:2.5", 4, 4},
                                   {"shell:sd:2:2", 1, 0, false, 1e-10, "pairing"}};

class LobpcgExactSpectra : public RuntimeTest<double> {
 protected:
  /// Compares with the exact values to 1e-10 of the norm of A. For a pair, whose values have a
  /// different scale, the bound is relative to the largest value.
  static void expect_exact(const ExactCase& c, EigenEnd end, Index count) {
    SCOPED_TRACE(c.kind + (end == EigenEnd::smallest ? ", smallest" : ", largest"));
    SparseGeneratorOptions options;
    options.interaction = c.interaction;
    const SparseGenerator made = make_sparse_generator(c.kind, options);
    if (made.a->hermitian())
      expect_exact_in<std::complex<double>>(made, c, end, count);
    else
      expect_exact_in<double>(made, c, end, count);
  }

 private:
  template <class T>
  static void expect_exact_in(const SparseGenerator& made, const ExactCase& c, EigenEnd end, Index count) {
    const bool smallest = end == EigenEnd::smallest;
    const auto exact = smallest ? made.lowest_eigenvalues(count) : made.largest_eigenvalues(count);
    ASSERT_TRUE(exact);
    const auto a = CsbMatrix<T, T>::build(runtime(), *made.a);
    std::optional<CsbMatrix<T, T>> b;
    if (made.b) b = CsbMatrix<T, T>::build(runtime(), *made.b, {.like = made.a.get()});
    JacobiPreconditioner<T> inverse_diagonal(runtime(), a.segments(), a.diagonal(), {.shift = 0});
    const auto result =
        lobpcg<T>(runtime(),
                  {.a = &a,
                   .b = b ? &*b : nullptr,
                   .preconditioner = smallest && c.inverse_diagonal ? &inverse_diagonal : nullptr},
                  {.count = count, .end = end, .tolerance = c.tolerance});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    const double norm = made.b ? made.largest_eigenvalues(1)->front() : a.norm_bound();
    expect_near(result.values, *exact, 1e-10 * norm);
  }
};

TEST_F(LobpcgExactSpectra, OfEveryGenerator) {
  std::set<std::string_view> in_table{"matrix-market"};
  for (const ExactCase& c : cases) {
    in_table.insert(std::string_view(c.kind).substr(0, c.kind.find(':')));
    if (c.lowest > 0) expect_exact(c, EigenEnd::smallest, c.lowest);
    if (c.largest > 0) expect_exact(c, EigenEnd::largest, c.largest);
  }
  for (const SparseGeneratorKind& kind : sparse_generator_kinds())
    EXPECT_TRUE(in_table.contains(kind.name)) << kind.name;
}

}  // namespace
}  // namespace tessera::test
