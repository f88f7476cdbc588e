// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/expect_refused.hpp>
#include <unistd.h>

#include <tessera/matgen.hpp>

namespace tessera::test {

using EntryMap = std::map<std::pair<Index, Index>, double>;

/// First rows of the ranges that one call may request.
inline std::vector<Index> row_ranges(const SymmetricRows& rows) {
  if (!rows.tiles().empty()) return {rows.tiles().begin(), rows.tiles().end()};
  return {0, rows.order()};
}

/// All entries, requested in parts of the given numbers of rows and columns. Fails for entries
/// outside the requested part.
inline EntryMap gather(const SymmetricRows& rows, Index row_step, Index column_step) {
  EntryMap all;
  const std::vector<Index> ranges = row_ranges(rows);
  std::vector<SparseEntry> out;
  for (std::size_t t = 0; t + 1 < ranges.size(); ++t)
    for (Index row = ranges[t]; row < ranges[t + 1]; row += row_step)
      for (Index column = 0; column < rows.order(); column += column_step) {
        const Index end_row = std::min(row + row_step, ranges[t + 1]),
                    end_column = std::min(column + column_step, rows.order());
        out.assign(1, {77, 78, 79.0});
        rows.entries(row, end_row, column, end_column, out);
        EXPECT_TRUE(out[0].row == 77 && out[0].column == 78 && out[0].value == 79.0) << "not appended";
        for (std::size_t k = 1; k < out.size(); ++k) {
          const Index i = row + out[k].row, j = column + out[k].column;
          EXPECT_TRUE(i < end_row && j < end_column && j <= i) << i << ' ' << j;
          EXPECT_TRUE(all.emplace(std::pair(i, j), out[k].value).second) << "twice: " << i << ' ' << j;
        }
      }
  return all;
}

inline Matrix<double> dense(const SymmetricRows& rows) {
  Matrix<double> a(rows.order(), rows.order());
  for (const auto& [place, value] : gather(rows, rows.order(), rows.order()))
    a(place.first, place.second) = a(place.second, place.first) = value;
  return a;
}

inline std::vector<double> eigenvalues(const SparseGenerator& made) {
  return made.b ? lapack_eigenvalues(dense(*made.a), dense(*made.b)) : lapack_eigenvalues(dense(*made.a));
}

inline void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                        double tolerance, const std::string& what = "") {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t k = 0; k < found.size(); ++k)
    EXPECT_NEAR(found[k], expected[k], tolerance) << what << ", number " << k;
}

/// A file with the given text; the destructor removes it.
class TextFile {
 public:
  TextFile(const std::string& name, const std::string& text)
      : path_((std::filesystem::temp_directory_path() / fmt::format("tessera_{}_{}", ::getpid(), name))
                  .string()) {
    std::ofstream(path_) << text;
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Path of a published interaction file, or "" if the user has not set its directory.
inline std::string shell_model_file(const std::string& name) {
  const char* directory = std::getenv("TESSERA_DATA_DIR");
  return directory ? std::string(directory) + "/shell_model/" + name : "";
}
#define TESSERA_NEED_SHELL_MODEL_FILES() \
  if (::tessera::test::shell_model_file("").empty()) GTEST_SKIP() << "TESSERA_DATA_DIR is not set"

/// The published interactions: USDB for sd-shell nuclei, GXPF1A for pf-shell nuclei.
inline SparseGeneratorOptions field_interaction(bool sd) {
  SparseGeneratorOptions options;
  options.interaction = shell_model_file(sd ? "usdb.int" : "gx1a.int");
  options.orbits = shell_model_file(sd ? "sd.sps" : "fp0.sps");
  return options;
}

/// read(path) must refuse a file with this text, in this line, for a reason that contains these words.
template <class Read>
void expect_file_refused(const std::string& name, const std::string& text, Index line,
                         const std::string& reason, const Read& read) {
  const TextFile file(name, text);
  try {
    read(file.path());
    ADD_FAILURE() << "read: " << text;
  } catch (const InputError& error) {
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_EQ(error.file(), file.path());
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

}  // namespace tessera::test
