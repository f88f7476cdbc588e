// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <map>
#include <set>

#include <tests/algorithms/sparse/saved_checks.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/algorithms/sparse/saved_matrix.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class P>
class SavedRowsTest : public RuntimeTest<P> {
 public:
  using V = typename P::V;
  using T = typename P::T;
  CsbMatrix<V, T> built(const SymmetricRows& rows, const CsbOptions& options = {}) {
    return CsbMatrix<V, T>::build(this->runtime(), rows, options);
  }
  CsbMatrix<V, T> loaded(const std::string& path, const CsbOptions& options = {}) {
    return CsbMatrix<V, T>::load(this->runtime(), path, options);
  }
};
TYPED_TEST_SUITE(SavedRowsTest, TypePairs);

/// The same cut: the same bits, and pieces that are read where they belong.
TYPED_TEST(SavedRowsTest, SameBitsWithTheSameCut) {
  using V = typename TypeParam::V;
  const ListRows rows[] = {random_rows(300, 9, 1), random_rows(200, 12, 2, {0, 1, 40, 41, 170, 200}),
                           ListRows(ListRows::Lists(30)), ListRows(ListRows::Lists{{{0, 3}}})};
  for (const ListRows& of : rows)
    for (const CsbOptions& options :
         {CsbOptions{}, CsbOptions{.groups = 3, .segments = 2, .tile_rows = 7, .piece_bytes = 3000}}) {
      const TemporaryFile file(this->runtime(), ".h5");
      const auto a = this->built(of, options);
      EXPECT_EQ(a.save(file.path()), static_cast<double>(of.stored() * Index(sizeof(V) + 4)));
      const SavedRows saved = SavedRows::open(file.path());
      EXPECT_TRUE(
          SavedPieces<V>::fit(saved.file(), csb_partition(this->runtime(), saved, options),
                              options.piece_bytes > 0 ? options.piece_bytes : saved.file().piece_bytes()));
      const auto b = this->loaded(file.path(), options);
      EXPECT_EQ(a.groups(), b.groups());
      EXPECT_EQ(*a.segments(), *b.segments());
      EXPECT_TRUE(same_bits(inexact_product(this->runtime(), a), inexact_product(this->runtime(), b)));
      expect_matrix_of(this->runtime(), b, of);
    }
}

/// Other cuts and sizes of pieces: the same numbers, through the builder.
TYPED_TEST(SavedRowsTest, OtherCuts) {
  using V = typename TypeParam::V;
  const ListRows rows[] = {random_rows(300, 9, 1), random_rows(260, 12, 2, {0, 1, 40, 41, 170, 260})};
  for (const ListRows& of : rows) {
    const TemporaryFile file(this->runtime(), ".h5");
    this->built(of, {.groups = 2, .segments = 2, .tile_rows = 10}).save(file.path());
    for (const CsbOptions& options :
         {CsbOptions{}, CsbOptions{.groups = 5, .tile_rows = 6},
          CsbOptions{.groups = 2, .segments = 2, .tile_rows = 10, .piece_bytes = 3000}}) {
      const SavedRows saved = SavedRows::open(file.path());
      if (options.groups == 5) {
        EXPECT_FALSE(SavedPieces<V>::fit(saved.file(), csb_partition(this->runtime(), saved, options), 3000));
      }
      expect_matrix_of(this->runtime(), this->loaded(file.path(), options), of);
    }
  }
}

/// Cells of more entries than one may have: they go on in the next cell.
TYPED_TEST(SavedRowsTest, FullMatrix) {
  const Index n = 700;
  ListRows::Lists lists(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) lists[static_cast<std::size_t>(i)].emplace_back(j, (i + 2 * j) % 5 + 1);
  const ListRows tiled(lists, {0, 300, n}), plain(lists);
  for (const ListRows* rows : {&tiled, &plain}) {
    const TemporaryFile file(this->runtime(), ".h5");
    this->built(*rows, {.groups = 2, .tile_rows = 300}).save(file.path());
    const SavedRows saved = SavedRows::open(file.path());
    EXPECT_TRUE(std::any_of(saved.file().cells().begin(), saved.file().cells().end(),
                            [](const SavedCell& cell) { return cell.continues; }));
    expect_matrix_of(this->runtime(), this->loaded(file.path(), {.groups = 2, .tile_rows = 300}), *rows);
    expect_matrix_of(this->runtime(), this->loaded(file.path(), {.groups = 5}), *rows);
  }
}

using SavedRowsFiles = RuntimeTest<double, true>;

CsbMatrix<double, double> built(Runtime& runtime, const SymmetricRows& rows, const CsbOptions& options = {}) {
  return CsbMatrix<double, double>::build(runtime, rows, options);
}

/// Every range of rows and columns has the entries that the rows had, and the rest survives, too.
TEST_F(SavedRowsFiles, RowsTilesFamiliesDescription) {
  const FamilyRows rows(random_rows(160, 9, 4, {0, 3, 50, 51, 120, 160}));
  const TemporaryFile file(runtime(), ".h5");
  const std::string text = "a text,\nwith \"quotes\"";
  built(runtime(), rows, {.groups = 3}).save(file.path(), {.description = text});
  const SavedRows saved = SavedRows::open(file.path());
  EXPECT_EQ(saved.order(), 160);
  EXPECT_EQ(saved.stored_entries(), rows.lists().stored());
  EXPECT_EQ(saved.value_bytes(), 8);
  EXPECT_EQ(saved.description(), text);
  EXPECT_TRUE(
      std::equal(saved.tiles().begin(), saved.tiles().end(), rows.tiles().begin(), rows.tiles().end()));
  for (Index row = 0; row < 160; ++row) {
    ASSERT_TRUE(saved.families(row).has_value());
    EXPECT_EQ(saved.families(row)->first, FamilyRows::of(row).first);
    EXPECT_EQ(saved.families(row)->second, FamilyRows::of(row).second);
  }
  for (Index trial = 0; trial < 200; ++trial) {
    const auto draw = [&](Index stream, Index most) {
      return static_cast<Index>((random_uniform(3, 8, trial, stream) + 1) / 2 *
                                static_cast<double>(most + 1));
    };
    const Index first_row = draw(0, 160), end_row = first_row + draw(1, 160 - first_row),
                first_column = draw(2, 160), end_column = first_column + draw(3, 160 - first_column);
    const auto listed = [&](const SymmetricRows& of) {
      std::vector<SparseEntry> entries;
      of.entries(first_row, end_row, first_column, end_column, entries);
      std::map<std::pair<std::uint32_t, std::uint32_t>, double> all;
      for (const SparseEntry& e : entries)
        EXPECT_TRUE(all.emplace(std::pair(e.row, e.column), e.value).second);
      return all;
    };
    EXPECT_EQ(listed(saved), listed(rows));
  }
}

/// A float matrix for double values has them rounded; a double one for float values is rounded once.
TEST_F(SavedRowsFiles, OtherTypes) {
  ListRows::Lists lists(90);
  for (Index i = 0; i < 90; ++i)
    for (Index j = i % 3; j <= i; j += 3)
      lists[static_cast<std::size_t>(i)].emplace_back(j, random_uniform(1, 1, i, j));
  const ListRows rows(lists);
  const TemporaryFile in_double(runtime(), ".h5"), in_float(runtime(), ".h5");
  const auto of_float = CsbMatrix<float, double>::build(runtime(), rows);
  built(runtime(), rows).save(in_double.path());
  of_float.save(in_float.path());
  for (const Index groups : {0, 4}) {
    const auto expected =
        inexact_product(runtime(), CsbMatrix<float, double>::build(runtime(), rows, {.groups = groups}));
    EXPECT_TRUE(same_bits(
        expected, inexact_product(runtime(), CsbMatrix<float, double>::load(runtime(), in_double.path(),
                                                                            {.groups = groups}))));
    EXPECT_TRUE(
        same_bits(expected, inexact_product(runtime(), CsbMatrix<double, double>::load(
                                                           runtime(), in_float.path(), {.groups = groups}))));
  }
}

/// B of A x = lambda B x, cut as A: both from files.
TEST_F(SavedRowsFiles, GeneralizedProblem) {
  const ListRows a = random_rows(220, 9, 1, {0, 50, 51, 220}), b = random_rows(220, 3, 2, {0, 100, 220});
  const TemporaryFile file_a(runtime(), ".h5"), file_b(runtime(), ".h5");
  built(runtime(), a, {.groups = 3}).save(file_a.path());
  built(runtime(), b, {.groups = 3, .like = &a}).save(file_b.path());
  const SavedRows saved_a = SavedRows::open(file_a.path()), saved_b = SavedRows::open(file_b.path());
  for (const Index groups : {3, 4}) {
    const auto first = built(runtime(), saved_a, {.groups = groups});
    const auto second = built(runtime(), saved_b, {.groups = groups, .like = &saved_a});
    EXPECT_EQ(*first.segments(), *second.segments());
    expect_matrix_of(runtime(), second, b);
  }
  EXPECT_TRUE(std::equal(saved_b.tiles().begin(), saved_b.tiles().end(), b.tiles().begin(), b.tiles().end()));
}

/// A matrix that was loaded can be saved: the same file.
TEST_F(SavedRowsFiles, SavedAgain) {
  const FamilyRows rows(random_rows(120, 9, 4));
  const TemporaryFile once(runtime(), ".h5"), twice(runtime(), ".h5");
  built(runtime(), rows).save(once.path(), {.description = "x"});
  CsbMatrix<double, double>::load(runtime(), once.path()).save(twice.path(), {.description = "x"});
  EXPECT_EQ(once.text(), twice.text());
}

using Change = std::function<void(SavedParts<double>&)>;

class BadSavedRows : public SavedRowsFiles {
 protected:
  /// The file with this change is refused, by both ways to read it, for this reason.
  void refuse(const std::string& reason, const Change& change, bool cells_fit = true) {
    const ListRows rows = random_rows(150, 9, 4, {0, 30, 31, 150});
    const TemporaryFile good(runtime(), ".h5"), bad(runtime(), ".h5");
    built(runtime(), rows, {.groups = 2, .segments = 2}).save(good.path());
    SavedParts<double> parts(good.path());
    change(parts);
    if (cells_fit) parts.sum_cells();
    parts.write(bad.path());
    for (const Index groups : {2, 3})
      expect_input_error(
          [&] {
            CsbMatrix<double, double>::load(runtime(), bad.path(),
                                            {.groups = groups, .segments = groups == 2 ? 2 : 0});
          },
          bad.path(), 0, reason);
  }
};

TEST_F(BadSavedRows, Tables) {
  const auto number = [](SavedTables::Number which, Index value) {
    return [=](SavedParts<double>& p) { p.tables.numbers[which] = value; };
  };
  refuse("its attribute 'format' is not 'tessera sparse matrix 1'",
         [](auto& p) { p.format = "tessera sparse matrix 2"; });
  refuse("is of order 0", number(SavedTables::order, 0));
  refuse("is of order -5", number(SavedTables::order, -5));
  refuse("do not ascend from 0 to the order", number(SavedTables::order, 151));
  refuse("has values of 16 bytes", number(SavedTables::value_bytes, 16));
  refuse("'value' has other elements than 4 bytes each", number(SavedTables::value_bytes, 4));
  refuse("has pieces of 0 bytes", number(SavedTables::piece_bytes, 0));
  refuse("values, ", number(SavedTables::entries, 7));
  refuse("has other numbers than four", [](auto& p) { p.tables.numbers.pop_back(); });
  refuse("tiles that do not ascend", [](auto& p) { p.tables.tiles[1] = 0; });
  refuse("tiles, bands or segments", [](auto& p) { p.tables.cut_tiles[1] = 0; });
  refuse("tiles, bands or segments", [](auto& p) { p.tables.cut_bands.back() = 149; });
  refuse("tiles, bands or segments", [](auto& p) { p.tables.cut_segments[0] = -1; });
  refuse("where no tile or no band begins", [](auto& p) { --p.tables.cut_segments[1]; });
  refuse("families for 150 rows", [](auto& p) { p.tables.first_family.resize(150); });
  refuse("families for 150 rows", [](auto& p) {
    p.tables.first_family.resize(20);
    p.tables.second_family.resize(20);
  });
  refuse("a survey that no matrix",
         [](auto& p) { p.tables.survey[0] = std::numeric_limits<double>::quiet_NaN(); });
  refuse("a survey that no matrix", [](auto& p) { p.tables.survey.pop_back(); });
  refuse("a survey that no matrix", [](auto& p) { p.tables.survey[1] = 1; });
}

TEST_F(BadSavedRows, PiecesAndCells) {
  refuse("lists of pieces of different lengths", [](auto& p) { p.tables.piece_row.pop_back(); });
  refuse("is not possible", [](auto& p) { p.tables.piece_row[0] = 9; });
  refuse("is not possible", [](auto& p) { p.tables.piece_column.back() = -1; });
  refuse("is not possible", [](auto& p) { p.tables.piece_cells[0] = Index(1) << 62; });
  refuse("is not possible", [](auto& p) { p.tables.piece_cells[0] = 0; });
  refuse("is not in its place", [](auto& p) {
    std::swap(p.tables.piece_row[0], p.tables.piece_row.back());
    std::swap(p.tables.piece_column[0], p.tables.piece_column.back());
    std::swap(p.tables.piece_on_tiles[0], p.tables.piece_on_tiles.back());
    std::swap(p.tables.piece_cells[0], p.tables.piece_cells.back());
  });
  refuse("cells, its pieces have", [](auto& p) {
    p.tables.piece_row.pop_back();
    p.tables.piece_column.pop_back();
    p.tables.piece_on_tiles.pop_back();
    p.tables.piece_cells.pop_back();
  });
  refuse(
      "lists of cells of different lengths", [](auto& p) { p.tables.cell_entries.push_back(1); }, false);
  refuse(
      "is not possible", [](auto& p) { p.tables.cell_entries[0] = 0; }, false);
  refuse(
      "is not possible", [](auto& p) { p.tables.cell_entries[0] = 16385; }, false);
  refuse("is not possible", [](auto& p) { p.tables.cell_rows[0] = 0; });
  refuse(
      "is not possible", [](auto& p) { p.tables.cell_checksum[0] = -1; }, false);
  refuse("is not in its place", [](auto& p) { --p.tables.cell_rows.back(); });
  refuse("is not in its place", [](auto& p) { p.tables.cell_first_row[0] = Index(1) << 60; });
  refuse("is not in its place", [](auto& p) { p.tables.cell_first_column[1] = -3; });
}

TEST_F(BadSavedRows, Entries) {
  refuse(
      "its checksum is another one", [](auto& p) { p.values[20] += 1; }, false);
  refuse(
      "its checksum is another one", [](auto& p) { p.rows[20] ^= 1; }, false);
  refuse(
      "its checksum is another one", [](auto& p) { p.columns.back() ^= 1; }, false);
  refuse("is not finite", [](auto& p) { p.values[9] = std::numeric_limits<double>::infinity(); });
  refuse("is not finite", [](auto& p) { p.values.back() = std::numeric_limits<double>::quiet_NaN(); });
  refuse("an entry is outside of it", [](auto& p) { p.rows[0] = 60000; });
  refuse("an entry is outside of it", [](auto& p) { p.columns.back() = 60000; });
  // The first cell is a diagonal tile of 30 rows.
  refuse("is above the diagonal", [](auto& p) { p.rows[0] = 0, p.columns[0] = 1; });
  refuse("not in the order of rows and columns", [](auto& p) {
    std::swap(p.rows[3], p.rows[9]);
    std::swap(p.columns[3], p.columns[9]);
  });
  refuse("not in the order of rows and columns",
         [](auto& p) { p.rows[4] = p.rows[3], p.columns[4] = p.columns[3]; });
}

/// An entry of a diagonal tile in the piece that has the rest of a segment would be counted twice.
TEST_F(BadSavedRows, EntryOfATileElsewhere) {
  const ListRows rows({{{0, 1}}, {{0, 2}}, {{0, 3}, {2, 4}}}, {0, 2, 3});
  const TemporaryFile good(runtime(), ".h5"), bad(runtime(), ".h5");
  built(runtime(), rows, {.groups = 1, .segments = 1}).save(good.path());
  SavedParts<double> parts(good.path());
  ASSERT_EQ(parts.rows.back(), 2);  // (2, 0), between tiles
  parts.rows.back() = 1;
  parts.sum_cells();
  parts.write(bad.path());
  for (const Index groups : {1, 2})
    expect_input_error([&] { CsbMatrix<double, double>::load(runtime(), bad.path(), {.groups = groups}); },
                       bad.path(), 0, "the entry (1, 0) belongs to a diagonal tile");
}

/// Cells that go on: the seam is checked, wherever the file is read in parts.
TEST_F(BadSavedRows, Seam) {
  const Index n = 300;
  const FunctionRows rows(n, [](Index, Index) { return 1.; }, {0, n});
  const TemporaryFile good(runtime(), ".h5"), bad(runtime(), ".h5");
  built(runtime(), rows).save(good.path());
  SavedParts<double> parts(good.path());
  const auto at = static_cast<std::size_t>(csb_cell_entries);
  ASSERT_GT(parts.rows.size(), at);
  parts.rows[at] = parts.rows[at - 1];
  parts.columns[at] = parts.columns[at - 1];
  parts.sum_cells();
  parts.write(bad.path());
  for (const Index groups : {0, 2})
    expect_input_error(
        [&] {
          CsbMatrix<double, double>::load(runtime(), bad.path(),
                                          {.groups = groups, .piece_bytes = groups ? 10 : 0});
        },
        bad.path(), 0, "do not follow those of the cell before");
}

TEST_F(BadSavedRows, ValuesTooLargeForFloat) {
  const TemporaryFile file(runtime(), ".h5");
  built(runtime(), ListRows({{{0, 1e200}}, {{0, 1}}})).save(file.path());
  expect_input_error([&] { CsbMatrix<float, double>::load(runtime(), file.path()); }, file.path(), 0,
                     "has the value 1e+200, too large for float");
}

TEST_F(BadSavedRows, OtherFiles) {
  const auto load = [&](const std::string& path) {
    return [this, path] { CsbMatrix<double, double>::load(runtime(), path); };
  };
  const TemporaryFile text(runtime(), ".h5", "%%MatrixMarket\n"), empty(runtime(), ".h5", ""),
      other(runtime(), ".h5");
  expect_input_error(load(text.path()), text.path(), 0, "is not an HDF5 file");
  expect_input_error(load(empty.path()), empty.path(), 0, "is not an HDF5 file");
  expect_input_error(load(other.path()), other.path(), 0, "there is no such file");
  {
    Hdf5File file = Hdf5File::create(other.path());
    file.create_array<double>("values", 3);
    file.close();
  }
  expect_input_error(load(other.path()), other.path(), 0, "there is no attribute 'format'");
  const std::string folder = std::filesystem::temp_directory_path().string();
  expect_input_error(load(folder), folder, 0, "is a directory, not a file");
}

/// Any byte that is not the right one: an error, or a file that means the same.
TEST_F(BadSavedRows, FlippedAndMissingBytes) {
  const ListRows rows = random_rows(60, 4, 4);
  const TemporaryFile good(runtime(), ".h5"), bad(runtime(), ".h5");
  built(runtime(), rows, {.groups = 2}).save(good.path());
  const std::string text = good.text();
  Index refused = 0, trials = 0;
  const auto check = [&](const std::string& changed) {
    std::ofstream(bad.path(), std::ios::binary) << changed;
    ++trials;
    try {
      expect_matrix_of(runtime(),
                       CsbMatrix<double, double>::load(runtime(), bad.path(), {.groups = 2 + trials % 2}),
                       rows);
    } catch (const InputError& error) {
      ++refused;
      EXPECT_EQ(error.file(), bad.path());
    }
  };
  for (Index trial = 0; trial < 300; ++trial) {
    std::string changed = text;
    const auto at =
        static_cast<std::size_t>((random_uniform(1, 1, trial, 0) + 1) / 2 * static_cast<double>(text.size()));
    changed[std::min(at, text.size() - 1)] ^= static_cast<char>(1 << trial % 8);
    check(changed);
  }
  for (std::size_t part = 0; part < 20; ++part) check(text.substr(0, text.size() * part / 20));
  EXPECT_GT(refused, 100);
}

TEST_F(SavedRowsFiles, CannotBeWritten) {
  const auto a = built(runtime(), random_rows(60, 4, 4));
  const std::string nowhere = "/nonexistent/folder/a.h5";
  expect_input_error([&] { a.save(nowhere); }, nowhere, 0, "cannot be written");
  const std::string device = "/dev/full";
  expect_input_error([&] { a.save(device); }, device, 0, "HDF5 needs a regular file");
  // What the path had before stays, whatever ends the call.
  const TemporaryFile file(runtime(), ".h5", "before");
  struct Stop {};
  EXPECT_THROW(a.save(file.path(), {.progress = [](double) { throw Stop(); }}), Stop);
  EXPECT_EQ(file.text(), "before");
}

/// Shares that never fall and end at 1, while a matrix is built, saved, read and built again.
TEST_F(SavedRowsFiles, Progress) {
  const ListRows rows = random_rows(20000, 5, 1);
  const TemporaryFile file(runtime(), ".h5");
  const auto thread = std::this_thread::get_id();
  for (const char* what : {"build", "save", "load", "recut"}) {
    std::vector<double> shares;
    const auto note = [&](double share) {
      EXPECT_EQ(std::this_thread::get_id(), thread);
      shares.push_back(share);
    };
    const std::string step = what;
    if (step == "build") built(runtime(), rows, {.progress = note});
    if (step == "save") built(runtime(), rows).save(file.path(), {.progress = note});
    if (step == "load") CsbMatrix<double, double>::load(runtime(), file.path(), {.progress = note});
    if (step == "recut")
      CsbMatrix<double, double>::load(runtime(), file.path(), {.groups = 3, .progress = note});
    ASSERT_FALSE(shares.empty()) << what;
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end())) << what;
    EXPECT_GE(shares.front(), 0);
    EXPECT_EQ(shares.back(), 1) << what;
    EXPECT_EQ(std::count(shares.begin(), shares.end(), 1.), 1) << what;
    if (step == "build" || step == "recut") {
      // The first pass is half of the work.
      EXPECT_NE(std::find(shares.begin(), shares.end(), 0.5), shares.end()) << what;
    }
  }
  // What it throws ends the build, in either pass; the runtime goes on.
  struct Stop {};
  for (const double at : {0.0, 0.6, 1.0})
    EXPECT_THROW(built(runtime(), rows,
                       {.progress =
                            [&](double share) {
                              if (share >= at) throw Stop();
                            }}),
                 Stop);
  expect_matrix_of(runtime(), built(runtime(), rows), rows);
}

}  // namespace
}  // namespace tessera::test
