// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <tests/support/expect_refused.hpp>
#include <unistd.h>

#include <tessera/algorithms/lobpcg/stored_rows.hpp>

namespace tessera::test {
namespace {

using Elements = std::map<std::pair<Index, Index>, double>;

Elements elements(const SymmetricRows& rows, Index r0, Index r1, Index c0, Index c1) {
  std::vector<SparseEntry> found;
  rows.entries(r0, r1, c0, c1, found);
  Elements result;
  for (const SparseEntry& e : found)
    EXPECT_TRUE(result.emplace(std::pair(r0 + e.row, c0 + e.column), e.value).second) << "given twice";
  return result;
}

TEST(StoredRows, GivesWhatItWasGiven) {
  const StoredRows rows(5, {{4, 1, 7}, {0, 0, 1}, {4, 4, -2}, {3, 0, 5}, {4, 0, 6}, {2, 2, 3}}, {0, 2, 5});
  EXPECT_EQ(rows.order(), 5);
  EXPECT_EQ(rows.count(), 6);
  EXPECT_EQ(rows.tiles().size(), 3u);
  EXPECT_EQ(elements(rows, 0, 5, 0, 5),
            (Elements{{{0, 0}, 1}, {{2, 2}, 3}, {{3, 0}, 5}, {{4, 0}, 6}, {{4, 1}, 7}, {{4, 4}, -2}}));
  EXPECT_EQ(elements(rows, 3, 5, 1, 5), (Elements{{{4, 1}, 7}, {{4, 4}, -2}}));
  EXPECT_EQ(elements(rows, 3, 5, 0, 1), (Elements{{{3, 0}, 5}, {{4, 0}, 6}}));
  EXPECT_TRUE(elements(rows, 1, 2, 0, 2).empty());
  EXPECT_EQ(StoredRows(0, {}).order(), 0);
  EXPECT_EQ(StoredRows(3, {}).count(), 0);
}

TEST(StoredRows, BadArguments) {
  expect_refused("order", [] { StoredRows(-1, {}); });
  expect_refused("entries", [] { StoredRows(2, {{0, 1, 1}}); });
  expect_refused("entries", [] { StoredRows(2, {{2, 0, 1}}); });
  expect_refused("entries", [] { StoredRows(2, {{1, -1, 1}}); });
  expect_refused("entries", [] { StoredRows(2, {{1, 0, NAN}}); });
  expect_refused("entries", [] { StoredRows(2, {{1, 0, 1}, {0, 0, 1}, {1, 0, 2}}); });
  expect_refused("tiles", [] { StoredRows(2, {}, {0, 1}); });
  expect_refused("tiles", [] { StoredRows(2, {}, {0, 1, 1, 2}); });
}

class RowsFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  StoredRows read(const std::string& header, const std::string& body) {
    std::ofstream(path_) << "%%MatrixMarket matrix " << header << '\n' << body;
    return StoredRows::read(path_);
  }
  void expect_bad(const std::string& header, const std::string& body, const std::string& what) {
    try {
      read(header, body);
      ADD_FAILURE() << header << " was read";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  }
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("tessera_rows_" + std::to_string(::getpid()));
};

TEST_F(RowsFile, EveryKind) {
  const Elements expected{{{0, 0}, 2}, {{1, 0}, -1}, {{2, 1}, 4}, {{2, 2}, 3}};
  for (const auto& [header, body] :
       {std::pair("coordinate real symmetric", "3 3 4\n1 1 2\n2 1 -1\n3 2 4\n3 3 3\n"),
        {"coordinate integer symmetric", "3 3 4\n1 1 2\n1 2 -1\n2 3 4\n3 3 3\n"},
        {"coordinate real general", "3 3 6\n1 2 -1\n1 1 2\n2 1 -1\n3 2 4\n3 3 3\n2 3 4\n"},
        {"array real symmetric", "3 3\n2\n-1\n0\n0\n4\n3\n"},
        {"array real general", "3 3\n2\n-1\n0\n-1\n0\n4\n0\n4\n3\n"}})
    EXPECT_EQ(elements(read(header, body), 0, 3, 0, 3), expected) << header;
  EXPECT_EQ(elements(read("coordinate pattern symmetric", "3 3 2\n2 1\n3 3\n"), 0, 3, 0, 3),
            (Elements{{{1, 0}, 1}, {{2, 2}, 1}}));
}

TEST_F(RowsFile, WhatIsNotSymmetric) {
  expect_bad("coordinate real general", "3 3 3\n1 1 2\n2 1 -1\n1 2 -1.001\n", "(2, 1)");
  expect_bad("coordinate real general", "3 3 2\n1 1 2\n2 1 -1\n", "(2, 1)");
  expect_bad("coordinate real general", "3 3 2\n1 1 2\n2 3 -1\n", "(3, 2)");
  expect_bad("coordinate real general", "3 2 2\n1 1 2\n2 2 -1\n", "square");
  expect_bad("coordinate complex hermitian", "3 3 1\n2 1 0 1\n", "complex");
  expect_bad("coordinate real skew-symmetric", "3 3 1\n2 1 1\n", "skew");
}

}  // namespace
}  // namespace tessera::test
