// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/algorithms/sparse/saved_checks.hpp>
#include <tests/support/mpi_test.hpp>

/// Any number of ranks: what all of them save one can load, and the other way round; errors of one rank leave
/// the call on all.
namespace tessera::test {
using namespace detail;
namespace {

using SavedRowsMpi = MpiTest;

TEST_F(SavedRowsMpi, SavedAndLoaded) {
  const FamilyRows rows(random_rows(250, 8, 1, {0, 10, 11, 90, 180, 250}));
  for (const CsbOptions& options :
       {CsbOptions{}, CsbOptions{.groups = 4, .segments = 2}, CsbOptions{.groups = 3, .piece_bytes = 2000}}) {
    const TemporaryFile file(runtime(), ".h5"), again(runtime(), ".h5");
    const auto a = CsbMatrix<double, double>::build(runtime(), rows, options);
    EXPECT_EQ(a.save(file.path(), {.description = "of rank 0"}),
              static_cast<double>(12 * rows.lists().stored()));
    const auto b = CsbMatrix<double, double>::load(runtime(), file.path(), options);
    EXPECT_TRUE(same_bits(inexact_product(runtime(), a), inexact_product(runtime(), b)));
    expect_matrix_of(runtime(), b, rows.lists());
    expect_matrix_of(runtime(), CsbMatrix<double, double>::load(runtime(), file.path(), {.groups = 5}),
                     rows.lists());
    expect_matrix_of(runtime(), CsbMatrix<float, float>::load(runtime(), file.path(), options), rows.lists());
    b.save(again.path(), {.description = "of rank 0"});
    EXPECT_EQ(file.text(), again.text());
    const SavedRows saved = SavedRows::open(file.path());
    for (Index row = 0; row < 250; ++row) EXPECT_EQ(saved.families(row)->second, FamilyRows::of(row).second);
  }
}

/// Where the cut does not follow from the number of ranks, neither does the file.
TEST_F(SavedRowsMpi, FileOfOneRank) {
  const ListRows rows = random_rows(200, 8, 2);
  const CsbOptions options{.groups = 4, .segments = 1, .tile_rows = 9};
  const TemporaryFile file(runtime(), ".h5");
  CsbMatrix<double, double>::build(runtime(), rows, options).save(file.path());
  SavedParts<double> parts(file.path());
  std::size_t at = 0;
  double sum = 0;
  for (std::size_t c = 0; c < parts.tables.cell_entries.size(); ++c)
    for (Index e = 0; e < parts.tables.cell_entries[c]; ++e, ++at) {
      const Index row = parts.tables.cell_first_row[c] + parts.rows[at],
                  column = parts.tables.cell_first_column[c] + parts.columns[at];
      for (const auto& [j, value] : rows.lists()[static_cast<std::size_t>(row)])
        if (j == column) {
          EXPECT_EQ(value, parts.values[at]);
          ++sum;
        }
    }
  EXPECT_EQ(sum, static_cast<double>(rows.stored()));
}

/// A file that is damaged where only one rank reads, and a path that rank 0 cannot write.
TEST_F(SavedRowsMpi, Errors) {
  const ListRows rows = random_rows(200, 8, 2);
  const CsbOptions options{.groups = 4, .tile_rows = 9};
  const TemporaryFile file(runtime(), ".h5");
  const auto a = CsbMatrix<double, double>::build(runtime(), rows, options);
  a.save(file.path());
  const std::string nowhere = "/nonexistent/folder/a.h5";
  expect_input_error([&] { a.save(nowhere); }, nowhere, 0, "cannot be written");
  if (runtime().rank() == 0) {
    SavedParts<double> parts(file.path());
    parts.values.back() += 1;
    parts.write(file.path());
  }
  runtime().barrier();
  for (const Index groups : {4, 5})
    expect_input_error(
        [&] { CsbMatrix<double, double>::load(runtime(), file.path(), {.groups = groups, .tile_rows = 9}); },
        file.path(), 0, "its checksum is another one");
  // The ranks see different files.
  if (runtime().size() > 1) {
    const TemporaryFile other(runtime(), ".h5");
    CsbMatrix<double, double>::build(runtime(), random_rows(200, 8, 3), options).save(other.path());
    a.save(file.path());
    EXPECT_THROW((CsbMatrix<double, double>::load(runtime(), (runtime().rank() == 0 ? file : other).path())),
                 InvalidArgument);
  }
  expect_matrix_of(runtime(), a, rows);
}

/// The last rank's callback throws: all ranks leave the call.
TEST_F(SavedRowsMpi, Progress) {
  const ListRows rows = random_rows(9000, 4, 2);
  const bool last = runtime().rank() == runtime().size() - 1;
  std::vector<double> shares;
  const auto note = [&](double share) { shares.push_back(share); };
  const auto a = CsbMatrix<double, double>::build(runtime(), rows,
                                                  {.progress = last ? note : std::function<void(double)>()});
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.empty(), !last);
  if (last) {
    EXPECT_EQ(shares.back(), 1);
    EXPECT_GE(shares.size(), 2u);
  }
  struct Stop {};
  const TemporaryFile file(runtime(), ".h5");
  const auto stop = [&](double share) {
    if (last && share > 0.5) throw Stop();
  };
  const auto expect_end = [&](const auto& call) {
    if (last)
      EXPECT_THROW(call(), Stop);
    else
      EXPECT_THROW(call(), RemoteError);
  };
  expect_end([&] { CsbMatrix<double, double>::build(runtime(), rows, {.progress = stop}); });
  expect_end([&] { a.save(file.path(), {.progress = stop}); });
  EXPECT_EQ(file.text(), "");
  a.save(file.path());
  expect_end([&] { CsbMatrix<double, double>::load(runtime(), file.path(), {.progress = stop}); });
  expect_matrix_of(runtime(), a, rows);
}

}  // namespace
}  // namespace tessera::test
