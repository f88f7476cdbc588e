// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>

namespace {

using namespace tessera;
using Complex = std::complex<double>;

/// A separate directory for each test, removed at its end.
class MatrixMarket : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ =
        std::filesystem::temp_directory_path() / fmt::format("tessera_{}_{}", test->name(), ::getpid());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::string file(const std::string& text, const std::string& name = "a.mtx") const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string compressed(const std::string& text, const std::string& name = "a.mtx.gz") const {
    gzFile out = gzopen(path(name).c_str(), "wb");
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
    return path(name);
  }
  /// Message of the InputError from reading the text as a Hermitian matrix; empty if there is none.
  template <class T = double>
  std::string message(const std::string& text) const {
    return message_of_file<T>(file(text));
  }
  template <class T = double>
  std::string message_of_file(const std::string& name) const {
    try {
      MatrixMarketReader reader(name);
      std::vector<T> a;
      const Index n = reader.header().rows;
      if (n < 1000) a.resize(static_cast<std::size_t>(n * n));
      read_hermitian<T>(reader, [&](Index i, Index j) { return a.empty() ? nullptr : &a[i + j * n]; });
    } catch (const InputError& error) {
      std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << "more than one line";
      EXPECT_EQ(text.find(name), 0u) << text << " does not begin with the file's name";
      return text.substr(std::min(text.size(), name.size() + 1));
    }
    return {};
  }

  std::filesystem::path directory_;
};

template <class T>
std::vector<T> lower_triangle(MatrixMarketReader& reader) {
  const Index n = reader.header().rows;
  std::vector<T> a(static_cast<std::size_t>(n * n));
  read_hermitian<T>(reader, [&](Index i, Index j) {
    EXPECT_GE(i, j);
    return &a[i + j * n];
  });
  return a;
}

TEST_F(MatrixMarket, CoordinateOfEveryField) {
  const std::string entries = "% a comment\n\n3 3 4\n1 1 2\n2 1 -3\n  3 2\t4 \r\n3 3 5\n";
  const std::vector<double> expected{2, -3, 0, -3, 0, 4, 0, 4, 5};
  for (const char* field : {"real", "integer", "double"}) {
    MatrixMarketReader reader(
        file(fmt::format("%%MatrixMarket matrix coordinate {} symmetric\n{}", field, entries)));
    EXPECT_EQ(reader.header().rows, 3);
    EXPECT_EQ(reader.header().entries, 4);
    EXPECT_EQ(read_dense<double>(reader), expected);
    EXPECT_EQ(read_dense<float>(reader), std::vector<float>(expected.begin(), expected.end()))
        << "read again";
  }
  MatrixMarketReader pattern(file("%%MatrixMarket MATRIX Coordinate Pattern General\n2 3 2\n1 3\n2 1\n"));
  EXPECT_EQ(read_dense<double>(pattern), (std::vector<double>{0, 1, 0, 0, 1, 0}));
  MatrixMarketReader complex(
      file("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 2 -3\n"));
  EXPECT_EQ(read_dense<Complex>(complex), (std::vector<Complex>{1, {2, -3}, {2, 3}, 0}));
  MatrixMarketReader skew(file("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n"));
  EXPECT_EQ(read_dense<double>(skew), (std::vector<double>{0, 7, -7, 0}));
}

TEST_F(MatrixMarket, ArrayOfEverySymmetry) {
  MatrixMarketReader general(file("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n"));
  EXPECT_EQ(read_dense<double>(general), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  MatrixMarketReader symmetric(file("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"));
  EXPECT_EQ(read_dense<double>(symmetric), (std::vector<double>{1, 2, 3, 2, 4, 5, 3, 5, 6}));
  MatrixMarketReader skew(file("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"));
  EXPECT_EQ(read_dense<double>(skew), (std::vector<double>{0, 1, 2, -1, 0, 3, -2, -3, 0}));
  MatrixMarketReader hermitian(file("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 -3\n4 0\n"));
  EXPECT_EQ(read_dense<Complex>(hermitian), (std::vector<Complex>{1, {2, -3}, {2, 3}, 4}));
  MatrixMarketReader empty(file("%%MatrixMarket matrix array real general\n0 0\n"));
  EXPECT_TRUE(read_dense<double>(empty).empty());
}

TEST_F(MatrixMarket, NumbersAsFortranAndOthersWriteThem) {
  MatrixMarketReader reader(
      file("%%MatrixMarket matrix array real general\n7 1\n+1.5\n1.5D+02\n-.25d0\n1e-400\n 12 \n1.E3\n0x\n"));
  EXPECT_THROW(read_dense<double>(reader), InputError);
  MatrixMarketReader good(
      file("%%MatrixMarket matrix array real general\n6 1\n+1.5\n1.5D+02\n-.25d0\n1e-400\n 12 \n1.E3\n"));
  EXPECT_EQ(read_dense<double>(good), (std::vector<double>{1.5, 150, -0.25, 0, 12, 1000}));
}

TEST_F(MatrixMarket, HermitianKeepsOnlyWhatTheCallerWants) {
  const std::string text =
      "%%MatrixMarket matrix coordinate complex hermitian\n3 3 4\n1 1 1 0\n1 2 5 6\n3 1 2 3\n3 3 9 0\n";
  MatrixMarketReader reader(file(text));
  EXPECT_EQ(lower_triangle<Complex>(reader), (std::vector<Complex>{1, {5, -6}, {2, 3}, 0, 0, 0, 0, 0, 9}))
      << "an upper entry stands for its mirror image";
  Complex only = 0;
  read_hermitian<Complex>(reader, [&](Index i, Index j) { return i == 2 && j == 0 ? &only : nullptr; });
  EXPECT_EQ(only, Complex(2, 3));
}

TEST_F(MatrixMarket, GeneralFilesAreCheckedForSymmetry) {
  const std::string header = "%%MatrixMarket matrix coordinate real general\n";
  MatrixMarketReader good(file(header + "2 2 4\n1 1 1\n1 2 5\n2 1 5.00000000000000001\n2 2 3\n"));
  EXPECT_EQ(lower_triangle<double>(good), (std::vector<double>{1, 5, 0, 3}));
  EXPECT_EQ(message(header + "2 2 4\n1 1 1\n1 2 5\n2 1 6\n2 2 3\n"),
            "4: the matrix is not symmetric: entry (2, 1) is 6, entry (1, 2) is 5");
  EXPECT_EQ(message(header + "3 3 3\n1 1 1\n2 1 6\n3 3 3\n"),
            "4: the matrix is not symmetric: entry (2, 1) is 6, entry (1, 2) is 0");
  EXPECT_EQ(message(header + "3 3 3\n1 1 1\n1 2 6\n3 3 3\n"),
            "4: the matrix is not symmetric: entry (2, 1) is 0, entry (1, 2) is 6");
  EXPECT_EQ(message("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"),
            "5: the matrix is not symmetric: entry (2, 1) is 2, entry (1, 2) is 3");
  EXPECT_EQ(message("%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n4\n"), "");
  EXPECT_EQ(message<Complex>("%%MatrixMarket matrix array complex general\n2 2\n1 0\n2 3\n2 3\n4 0\n"),
            "5: the matrix is not Hermitian: entry (2, 1) is (2, 3), entry (1, 2) is (2, 3)");
  EXPECT_EQ(message<Complex>("%%MatrixMarket matrix array complex general\n2 2\n1 0\n2 3\n2 -3\n4 0\n"), "");
  EXPECT_EQ(message<Complex>("%%MatrixMarket matrix coordinate complex symmetric\n2 2 2\n1 1 1 0\n2 1 3 4\n"),
            "4: the matrix is symmetric, not Hermitian: the entry (2, 1) is not real");
  EXPECT_EQ(message<Complex>("%%MatrixMarket matrix coordinate complex general\n2 2 1\n2 2 3 4\n"),
            "3: the matrix is not Hermitian: the diagonal entry 2 is not real");
}

TEST_F(MatrixMarket, BadInputGivesOneClearLine) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate real symmetric\n";
  EXPECT_EQ(message_of_file(path("absent.mtx")), " there is no such file");
  EXPECT_EQ(message_of_file(directory_.string()), " is a directory, not a file");
  EXPECT_EQ(message(""), " is not a Matrix Market file: it is empty");
  EXPECT_EQ(message("hello\n"),
            "1: is not a Matrix Market file: the first line does not begin with %%MatrixMarket");
  EXPECT_EQ(message("%%MatrixMarket matrix sparse real general\n"),
            "1: unknown format 'sparse', expected coordinate or array");
  EXPECT_EQ(message("%%MatrixMarket vector coordinate real general\n"),
            "1: holds a 'vector', expected a 'matrix'");
  EXPECT_NE(message("%%MatrixMarket matrix coordinate quaternion general\n").find("unknown field"),
            std::string::npos);
  EXPECT_NE(message("%%MatrixMarket matrix array pattern general\n").find("unknown field"),
            std::string::npos);
  EXPECT_NE(message("%%MatrixMarket matrix coordinate real upper\n").find("unknown symmetry"),
            std::string::npos);
  EXPECT_EQ(message(coordinate), "1: truncated: the line with the sizes is missing");
  EXPECT_EQ(message(coordinate + "2 2\n"), "2: expected the number of entries, found the end of the line");
  EXPECT_EQ(message(coordinate + "2 2 -1\n"), "2: a size is negative");
  EXPECT_EQ(message(coordinate + "2 3 1\n1 1 1\n"), "2: a symmetric matrix of 2 x 3 is not square");
  EXPECT_EQ(message(coordinate + "2 2 5\n"), "2: 5 entries do not fit into 2 x 2");
  EXPECT_EQ(message("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n"),
            " a square matrix is needed, this one is 2 x 3");
  EXPECT_EQ(message("%%MatrixMarket matrix array real general\n9000000000 9000000000\n"),
            "2: an array of 9000000000 x 9000000000 is too large");
  EXPECT_EQ(message(coordinate + "2 2 3\n1 1 1\n2 2 1\n"),
            "4: truncated: the header announces 3 entries, the file has 2");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 1 1\n2 2 1\n"),
            "4: more entries than the 1 that the header announces");
  EXPECT_EQ(message(coordinate + "2 2 1\n3 1 1\n"), "3: the row index 3 is outside 1..2");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 0 1\n"), "3: the column index 0 is outside 1..2");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 99999999999999999999 1\n"),
            "3: a column index '99999999999999999999' does not fit into 64 bits");
  EXPECT_EQ(message(coordinate + "2 2 1\n1.5 1 1\n"), "3: expected a row index, found '1.5'");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 1\n"), "3: expected a number, found the end of the line");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 1 two\n"), "3: expected a number, found 'two'");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 1 2 3\n"), "3: unexpected '3' at the end of the line");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 1 nan\n"), "3: the value 'nan' is not finite");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 1 -inf\n"), "3: the value '-inf' is not finite");
  EXPECT_EQ(message(coordinate + "2 2 1\n1 1 1e400\n"),
            "3: the value '1e400' is too large for double precision");
  EXPECT_EQ(message<float>(coordinate + "2 2 1\n1 1 1e40\n"),
            "3: the value 1e+40 is too large for single precision");
  EXPECT_NE(
      message("%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 0\n").find("complex matrix"),
      std::string::npos);
  EXPECT_EQ(message<Complex>("%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 2\n"),
            "3: the diagonal entry 1 of a hermitian matrix is not real");
  EXPECT_EQ(message("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1\n"),
            "1: a symmetric or Hermitian matrix is needed, this one is skew-symmetric");
}

TEST_F(MatrixMarket, ALastNumberThatIsCutIsNoticed) {
  const std::string array = "%%MatrixMarket matrix array real general\n",
                    symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  const std::string reason =
      "truncated: the file ends within this line (a complete file ends with a newline)";
  EXPECT_EQ(message(symmetric + "2 2 2\n1 1 5\n2 2 12345\n"), "");
  EXPECT_EQ(message(symmetric + "2 2 2\n1 1 5\n2 2 12"), "4: " + reason);
  EXPECT_EQ(message(array + "1 1\n12"), "3: " + reason);
  EXPECT_EQ(message(array + "1 1"), "2: " + reason);
  EXPECT_EQ(message(array + "1 1\n12\n% the end"), "") << "no number can be cut there";
  EXPECT_EQ(message(array + "1 1\n12\n  "), "");
  EXPECT_EQ(message_of_file(compressed(array + "1 1\n12")), "") << "the checksum tells that it is whole";
}

TEST_F(MatrixMarket, AHeaderBeyondItsFileIsRefused) {
  const std::string array = "%%MatrixMarket matrix array real general\n",
                    general = "%%MatrixMarket matrix coordinate real general\n";
  const std::string too_small = " entries, for which the file is too small";
  EXPECT_EQ(message(general + "4000000 4000000 9000000000000\n1 1 1\n"),
            "2: truncated: the header announces 9000000000000" + too_small);
  EXPECT_EQ(message_of_file(compressed(array + "60000 60000\n1\n")),
            "2: truncated: the header announces 3600000000" + too_small);
  // Rows or columns without entries need no memory.
  for (const char* sizes : {"0 9223372036854775807\n", "9223372036854775807 0\n"}) {
    MatrixMarketReader reader(file(array + sizes));
    reader.for_each([](Index, Index, Complex) { FAIL() << "there is no entry"; });
    EXPECT_TRUE(read_dense<double>(reader).empty());
  }
  MatrixMarketReader wide(
      file(general + "9223372036854775807 9223372036854775807 1\n7 9223372036854775807 2\n"));
  Index column = 0;
  wide.for_each([&](Index, Index j, Complex) { column = j; });
  EXPECT_EQ(column, std::numeric_limits<Index>::max() - 1);
  // Text with the highest possible compression ratio must be accepted.
  std::string zeros = array + "1000000 1\n";
  for (int k = 0; k < 1000000; ++k) zeros += "0\n";
  EXPECT_EQ(read_dense<double>(*std::make_unique<MatrixMarketReader>(compressed(zeros))).size(), 1000000u);
}

TEST_F(MatrixMarket, OnlyRegularFilesAreRead) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string refused = " is a pipe or a device: only a regular file can be read";
  EXPECT_EQ(message_of_file(path("pipe")), refused);
  EXPECT_EQ(message_of_file("/dev/zero"), refused);
  EXPECT_EQ(message_of_file(path("pipe/a")), " cannot be opened: Not a directory");
}

TEST_F(MatrixMarket, WhatIsNoTextIsShownAsText) {
  EXPECT_EQ(message("%%MatrixMarket matrix \x1b[2J\xff real general\n"),
            "1: unknown format '?[2j?', expected coordinate or array");
  EXPECT_EQ(message(std::string("%%MatrixMarket matrix array real general\n1 1\n1\0002\n", 49)),
            "3: expected a number, found '1?2'");
  EXPECT_EQ(message("%%MatrixMarket matrix array real general\r\n1 1\r\n2\r\n"), "")
      << "line ends of Windows";
}

TEST_F(MatrixMarket, AnEntryGivenTwiceIsNoticed) {
  const std::string general = "%%MatrixMarket matrix coordinate real general\n";
  const auto dense_message = [&](const std::string& text) -> std::string {
    try {
      MatrixMarketReader reader(file(text));
      reader.for_each([](Index, Index, Complex) {});
    } catch (const InputError& error) {
      return fmt::format("{}: {}", error.line(),
                         std::string(error.what()).find("given twice") != std::string::npos);
    }
    return {};
  };
  EXPECT_EQ(dense_message(general + "2 2 3\n1 1 1\n2 2 1\n1 1 1\n"), "5: true");
  EXPECT_EQ(dense_message(general + "2 2 2\n2 2 1\n2 2 1\n"), "4: true");
  EXPECT_EQ(dense_message(general + "100 100 3\n7 9 1\n100 100 1\n7 9 2\n"), "5: true")
      << "few entries: sorted keys";
  EXPECT_EQ(dense_message(general + "100 100 3\n7 9 1\n100 100 1\n9 7 2\n"), "");
  EXPECT_EQ(dense_message("%%MatrixMarket matrix coordinate real symmetric\n9 9 2\n7 9 1\n9 7 1\n"),
            "4: true");
}

TEST_F(MatrixMarket, CompressedFiles) {
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n2000 2000 2000\n";
  for (int i = 1; i <= 2000; ++i) text += fmt::format("{} {} {}\n", i, i, std::sin(i));
  const std::string name = compressed(text);
  MatrixMarketReader reader(name);
  Index entries = 0;
  reader.for_each([&](Index i, Index j, Complex value) {
    EXPECT_EQ(i, j);
    EXPECT_EQ(value.real(), std::sin(static_cast<double>(i + 1)));
    ++entries;
  });
  EXPECT_EQ(entries, 2000);
  const auto size = std::filesystem::file_size(name);
  std::filesystem::resize_file(name, size / 2);
  EXPECT_NE(message_of_file(name).find("truncated: the compressed data end too early"), std::string::npos);
  {
    std::fstream damage(compressed(text), std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(static_cast<std::streamoff>(size / 2));
    damage.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  }
  EXPECT_NE(message_of_file(name), "");
}

TEST_F(MatrixMarket, LinesAcrossTheReadBuffer) {
  // Text larger than one buffer, with lines of many lengths.
  const Index n = 120000;
  std::string text = "%%MatrixMarket matrix array real general\n" + fmt::format("{} 1\n", n);
  for (Index i = 0; i < n; ++i) text += fmt::format("{:>{}}\n", i * 0.5, 5 + i % 37);
  MatrixMarketReader reader(file(text));
  const std::vector<double> a = read_dense<double>(reader);
  for (Index i = 0; i < n; ++i) ASSERT_EQ(a[i], i * 0.5);
}

template <class T>
void round_trip(const std::string& name) {
  const Index rows = 5, columns = 3, ld = 7;
  std::vector<T> a(ld * columns, T(-1));
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i) {
      a[i + j * ld] = T(static_cast<RealOf<T>>(std::sin(1.0 + i + 10 * j) * std::pow(10.0, 7 * i - 14)));
      if constexpr (is_complex<T>) a[i + j * ld] += T(0, static_cast<RealOf<T>>(std::cos(2.0 + i + j)));
    }
  write_matrix_market(name, rows, columns, a.data(), ld, "two\nlines");
  MatrixMarketReader reader(name);
  EXPECT_EQ(reader.header().field == MatrixMarketField::complex, is_complex<T>);
  const std::vector<T> b = read_dense<T>(reader);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i) EXPECT_EQ(b[i + j * rows], a[i + j * ld]) << name << i << ' ' << j;
}

TEST_F(MatrixMarket, WrittenNumbersSurvive) {
  for (const char* name : {"out.mtx", "out.mtx.gz"}) {
    round_trip<float>(path(name));
    round_trip<double>(path(name));
    round_trip<std::complex<float>>(path(name));
    round_trip<std::complex<double>>(path(name));
  }
  const double one = 1;
  EXPECT_THROW(write_matrix_market(path("no/such/place.mtx"), 1, 1, &one, 1), InputError);
  MatrixMarketWriter writer(path("half.mtx"), 1, 2, false);
  writer.append(&one, 1, 1);
  EXPECT_THROW(writer.close(), Error);
}

TEST_F(MatrixMarket, WrittenEntriesSurvive) {
  using T = std::complex<float>;
  for (const char* name : {"out.mtx", "out.mtx.gz"}) {
    const MatrixMarketHeader header{
        MatrixMarketFormat::coordinate, MatrixMarketField::complex, MatrixMarketSymmetry::hermitian, 3, 3, 2};
    MatrixMarketEntryWriter writer(path(name), header, "of a test");
    writer.append(2, 0, T(1.0F / 3, -7));
    EXPECT_THROW(writer.close(), Error);
    writer.append(2, 2, T(4, 0));
    writer.close();
    MatrixMarketReader reader(path(name));
    EXPECT_EQ(reader.header().symmetry, MatrixMarketSymmetry::hermitian);
    std::vector<std::tuple<Index, Index, T>> entries;
    reader.for_each([&](Index i, Index j, std::complex<double> x) {
      entries.emplace_back(i, j, matrix_market_value<T>(reader, x));
      EXPECT_THROW(matrix_market_value<double>(reader, x), InputError);
    });
    const std::vector<std::tuple<Index, Index, T>> expected{{2, 0, T(1.0F / 3, -7)}, {2, 2, T(4, 0)}};
    EXPECT_EQ(entries, expected);
  }
  EXPECT_THROW(MatrixMarketEntryWriter(path("no/such/place.mtx"), {}), InputError);
}

TEST_F(MatrixMarket, WaterPair) {
  const char* data = std::getenv("TESSERA_TEST_DATA");
  if (!data) GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  MatrixMarketReader reader(std::string(data) + "/water32_dzvp_H.mtx.gz");
  EXPECT_EQ(reader.header().rows, 736);
  EXPECT_EQ(reader.header().entries, 271216);
  const std::vector<double> h = lower_triangle<double>(reader);
  EXPECT_EQ(h[0], -0.73812679264025305);
  EXPECT_EQ(h[3], -0.063533543843150186);
}

}  // namespace
