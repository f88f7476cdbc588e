// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/io/input_file.hpp>

namespace tessera::detail {

namespace {

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r';
}
const char* skip_blanks(const char* p, const char* end) noexcept {
  while (p != end && is_blank(*p)) ++p;
  return p;
}
bool is_comment_or_empty(std::string_view text) noexcept {
  const char* p = skip_blanks(text.data(), text.data() + text.size());
  return p == text.data() + text.size() || *p == '%';
}

/// Lines of a text file that may be compressed, one view at a time.
class LineSource {
 public:
  explicit LineSource(const std::string& path) : path_(path), buffer_(std::size_t{1} << 20) {
    InputFile file(path);
    bytes_ = file.bytes();
    const int descriptor = file.release();
    file_ = gzdopen(descriptor, "rb");
    if (!file_) {
      ::close(descriptor);
      throw InputError(path, 0, "cannot be opened: there is not enough memory");
    }
    gzbuffer(file_, 1 << 17);
  }
  ~LineSource() { gzclose(file_); }
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  void restart() {
    gzrewind(file_);
    begin_ = end_ = 0;
    line_ = 0;
    at_end_ = false;
  }
  Index line() const noexcept { return line_; }
  [[noreturn]] void fail(std::string_view reason) const { throw InputError(path_, line_, reason); }

  /// The most characters that the whole text may have. Known when the first line has been read.
  double largest_text() const noexcept {
    constexpr double max_per_byte = 1032;  // of what zlib compresses
    return static_cast<double>(bytes_) * (gzdirect(file_) ? 1 : max_per_byte);
  }

  /// The next line without its end; false after the last one. The view holds until the next call.
  /// Of a plain file, a last line without an end is refused where it may hold numbers, one of which may be
  /// cut; of a compressed file, the checksum tells that it is whole.
  bool next(std::string_view& text) {
    for (;;) {
      const char* first = buffer_.data() + begin_;
      if (const void* newline = std::memchr(first, '\n', end_ - begin_)) {
        text = {first, static_cast<std::size_t>(static_cast<const char*>(newline) - first)};
        begin_ += text.size() + 1;
        ++line_;
        return true;
      }
      if (at_end_) break;
      refill();
    }
    if (begin_ == end_) return false;
    text = {buffer_.data() + begin_, end_ - begin_};
    begin_ = end_;
    ++line_;
    if (line_ > 1 && gzdirect(file_) && !is_comment_or_empty(text)) fail(file_ends_in_line);
    return true;
  }

 private:
  void refill() {
    if (begin_ == 0 && end_ == buffer_.size())
      fail("is not a Matrix Market file: a line is longer than a megabyte");
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const std::size_t room = buffer_.size() - end_;
    const int got = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(room));
    int code = Z_OK;
    const char* message = gzerror(file_, &code);
    if (code == Z_BUF_ERROR) fail("truncated: the compressed data end too early");
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
      fail(code == Z_DATA_ERROR ? "damaged: the compressed data are not valid"
                                : fmt::format("cannot be read: {}", message));
    end_ += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < room) at_end_ = true;
  }

  std::string path_;
  gzFile file_ = nullptr;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  Index line_ = 0, bytes_ = 0;
  bool at_end_ = false;
};

/// The word that begins at p, for a message.
std::string shown(const char* p, const char* end) {
  const char* const last = std::find_if(p, end, is_blank);
  return p == last ? "the end of the line" : shown_input({p, static_cast<std::size_t>(last - p)});
}

std::vector<std::string> lower_case_words(std::string_view text) {
  std::vector<std::string> words;
  const char *p = text.data(), *end = p + text.size();
  while ((p = skip_blanks(p, end)) != end) {
    std::string word;
    for (; p != end && !is_blank(*p); ++p)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(*p)));
    words.push_back(std::move(word));
  }
  return words;
}

MatrixMarketHeader parse_banner(LineSource& source) {
  std::string_view text;
  constexpr std::string_view banner = "%%matrixmarket";
  if (!source.next(text)) source.fail("is not a Matrix Market file: it is empty");
  const auto words = lower_case_words(text.substr(0, 200));
  if (words.empty() || words[0] != banner)
    source.fail("is not a Matrix Market file: the first line does not begin with %%MatrixMarket");
  if (words.size() < 5) source.fail("truncated: expected '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
  MatrixMarketHeader header;
  if (words[1] != "matrix")
    source.fail(fmt::format("holds a {}, expected a 'matrix'", shown_input(words[1])));
  if (words[2] == "coordinate")
    header.format = MatrixMarketFormat::coordinate;
  else if (words[2] == "array")
    header.format = MatrixMarketFormat::array;
  else
    source.fail(fmt::format("unknown format {}, expected coordinate or array", shown_input(words[2])));
  if (words[3] == "real" || words[3] == "double")
    header.field = MatrixMarketField::real;
  else if (words[3] == "integer" || words[3] == "unsigned-integer")
    header.field = MatrixMarketField::integer;
  else if (words[3] == "complex")
    header.field = MatrixMarketField::complex;
  else if (words[3] == "pattern" && header.format == MatrixMarketFormat::coordinate)
    header.field = MatrixMarketField::pattern;
  else
    source.fail(fmt::format("unknown field {}, expected real, integer, complex or (coordinate only) pattern",
                            shown_input(words[3])));
  if (words[4] == "general")
    header.symmetry = MatrixMarketSymmetry::general;
  else if (words[4] == "symmetric")
    header.symmetry = MatrixMarketSymmetry::symmetric;
  else if (words[4] == "hermitian")
    header.symmetry = MatrixMarketSymmetry::hermitian;
  else if (words[4] == "skew-symmetric")
    header.symmetry = MatrixMarketSymmetry::skew_symmetric;
  else
    source.fail(fmt::format("unknown symmetry {}, expected general, symmetric, hermitian or skew-symmetric",
                            shown_input(words[4])));
  return header;
}

const char* parse_index(const LineSource& source, const char* p, const char* end, std::string_view what,
                        Index& value) {
  p = skip_blanks(p, end);
  const auto [next, error] = std::from_chars(p, end, value);
  if (error == std::errc::result_out_of_range)
    source.fail(fmt::format("{} {} does not fit into 64 bits", what, shown(p, end)));
  if (error != std::errc() || (next != end && !is_blank(*next)))
    source.fail(fmt::format("expected {}, found {}", what, shown(p, end)));
  return next;
}

/// Also what Fortran writes: a leading plus and the exponent letters d and D.
const char* parse_real(const LineSource& source, const char* p, const char* end, double& value) {
  p = skip_blanks(p, end);
  const char* first = p != end && *p == '+' ? p + 1 : p;
  auto [next, error] = std::from_chars(first, end, value);
  if (error == std::errc() && next != end && (*next == 'd' || *next == 'D')) {
    std::string word(first, std::find_if(first, end, is_blank));
    std::replace_if(
        word.begin(), word.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
    const auto again = std::from_chars(word.data(), word.data() + word.size(), value);
    next = first + (again.ptr - word.data());
    error = again.ec;
  }
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(first, std::find_if(first, end, is_blank)).c_str(), nullptr);
    if (std::abs(value) > 1)
      source.fail(fmt::format("the value {} is too large for double precision", shown(p, end)));
  } else if (error != std::errc() || (next != end && !is_blank(*next))) {
    source.fail(fmt::format("expected a number, found {}", shown(p, end)));
  }
  if (!std::isfinite(value)) source.fail(fmt::format("the value {} is not finite", shown(p, end)));
  return next;
}

void expect_end(const LineSource& source, const char* p, const char* end) {
  p = skip_blanks(p, end);
  if (p != end) source.fail(fmt::format("unexpected {} at the end of the line", shown(p, end)));
}

void parse_sizes(LineSource& source, MatrixMarketHeader& header) {
  std::string_view text;
  do {
    if (!source.next(text)) source.fail("truncated: the line with the sizes is missing");
  } while (is_comment_or_empty(text));
  const char *p = text.data(), *end = p + text.size();
  p = parse_index(source, p, end, "the number of rows", header.rows);
  p = parse_index(source, p, end, "the number of columns", header.columns);
  const bool coordinate = header.format == MatrixMarketFormat::coordinate;
  if (coordinate) p = parse_index(source, p, end, "the number of entries", header.entries);
  expect_end(source, p, end);
  if (header.rows < 0 || header.columns < 0 || header.entries < 0) source.fail("a size is negative");
  const bool general = header.symmetry == MatrixMarketSymmetry::general;
  if (!general && header.rows != header.columns)
    source.fail(fmt::format("a {} matrix of {} x {} is not square", to_string(header.symmetry), header.rows,
                            header.columns));
  Index all = 0;
  const bool overflow = __builtin_mul_overflow(header.rows, header.columns, &all);
  if (coordinate) {
    if (!overflow && header.entries > all)
      source.fail(
          fmt::format("{} entries do not fit into {} x {}", header.entries, header.rows, header.columns));
    return;
  }
  if (overflow) source.fail(fmt::format("an array of {} x {} is too large", header.rows, header.columns));
  const Index n = header.rows;
  if (general)
    header.entries = all;
  else if (header.symmetry == MatrixMarketSymmetry::skew_symmetric)
    header.entries = (all - n) / 2;
  else
    header.entries = (all - n) / 2 + n;
}

/// A header must not cause allocations beyond what the file can hold.
void require_room_for_entries(const LineSource& source, const MatrixMarketHeader& header) {
  int numbers = header.format == MatrixMarketFormat::coordinate ? 2 : 0;
  if (header.field != MatrixMarketField::pattern) ++numbers;
  if (header.field == MatrixMarketField::complex) ++numbers;
  // A digit and a blank or a line's end each.
  if (2.0 * numbers * static_cast<double>(header.entries) > source.largest_text())
    source.fail(fmt::format("truncated: the header announces {} entries, for which the file is too small",
                            header.entries));
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

std::string_view to_string(MatrixMarketFormat format) noexcept {
  return format == MatrixMarketFormat::array ? "array" : "coordinate";
}
std::string_view to_string(MatrixMarketField field) noexcept {
  switch (field) {
    case MatrixMarketField::real:
      return "real";
    case MatrixMarketField::integer:
      return "integer";
    case MatrixMarketField::complex:
      return "complex";
    case MatrixMarketField::pattern:
      break;
  }
  return "pattern";
}
std::string_view to_string(MatrixMarketSymmetry symmetry) noexcept {
  switch (symmetry) {
    case MatrixMarketSymmetry::general:
      return "general";
    case MatrixMarketSymmetry::symmetric:
      return "symmetric";
    case MatrixMarketSymmetry::hermitian:
      return "hermitian";
    case MatrixMarketSymmetry::skew_symmetric:
      break;
  }
  return "skew-symmetric";
}

struct MatrixMarketReader::Detail {
  std::string path;
  LineSource source;
  MatrixMarketHeader header;
  bool at_first_entry = true;

  explicit Detail(const std::string& file) : path(file), source(file) {
    header = parse_banner(source);
    parse_sizes(source, header);
    require_room_for_entries(source, header);
  }

  void go_to_first_entry() {
    if (!at_first_entry) {
      source.restart();
      MatrixMarketHeader again = parse_banner(source);
      parse_sizes(source, again);
    }
    at_first_entry = false;
  }

  /// The triangle that the file stores stands for both, so an entry and its mirror image are the same one.
  Index key(Index i, Index j) const noexcept {
    if (header.symmetry != MatrixMarketSymmetry::general && i < j) std::swap(i, j);
    return j * header.rows + i;
  }

  template <class Visit>
  void scan(const Visit& visit) {
    go_to_first_entry();
    if (header.format == MatrixMarketFormat::array)
      scan_array(visit);
    else
      scan_coordinates(visit);
    std::string_view text;
    while (source.next(text))
      if (!is_comment_or_empty(text))
        source.fail(fmt::format("more entries than the {} that the header announces", header.entries));
  }

  bool next_entry(std::string_view& text, Index done) {
    do {
      if (!source.next(text))
        throw InputError(
            path, source.line(),
            fmt::format("truncated: the header announces {} entries, the file has {}", header.entries, done));
    } while (is_comment_or_empty(text));
    return true;
  }

  std::complex<double> parse_value(const char*& p, const char* end) const {
    double real = 1, imaginary = 0;
    if (header.field != MatrixMarketField::pattern) p = parse_real(source, p, end, real);
    if (header.field == MatrixMarketField::complex) p = parse_real(source, p, end, imaginary);
    expect_end(source, p, end);
    return {real, imaginary};
  }

  void check_diagonal(Index i, std::complex<double> value) const {
    if (header.symmetry == MatrixMarketSymmetry::hermitian && value.imag() != 0)
      source.fail(fmt::format("the diagonal entry {0} of a hermitian matrix is not real", i + 1));
    if (header.symmetry == MatrixMarketSymmetry::skew_symmetric && value != 0.0)
      source.fail(fmt::format("the diagonal entry {0} of a skew-symmetric matrix is not zero", i + 1));
  }

  template <class Visit>
  void scan_coordinates(const Visit& visit) {
    std::string_view text;
    for (Index done = 0; done < header.entries; ++done) {
      next_entry(text, done);
      const char *p = text.data(), *end = p + text.size();
      Index i = 0, j = 0;
      p = parse_index(source, p, end, "a row index", i);
      p = parse_index(source, p, end, "a column index", j);
      if (i < 1 || i > header.rows)
        source.fail(fmt::format("the row index {} is outside 1..{}", i, header.rows));
      if (j < 1 || j > header.columns)
        source.fail(fmt::format("the column index {} is outside 1..{}", j, header.columns));
      const std::complex<double> value = parse_value(p, end);
      if (i == j) check_diagonal(i - 1, value);
      visit(i - 1, j - 1, value);
    }
  }

  template <class Visit>
  void scan_array(const Visit& visit) {
    if (header.entries == 0) return;  // of as many columns as there may be
    std::string_view text;
    Index done = 0;
    for (Index j = 0; j < header.columns; ++j) {
      Index first = 0;
      if (header.symmetry != MatrixMarketSymmetry::general) first = j;
      if (header.symmetry == MatrixMarketSymmetry::skew_symmetric) first = j + 1;
      for (Index i = first; i < header.rows; ++i, ++done) {
        next_entry(text, done);
        const char *p = text.data(), *end = p + text.size();
        const std::complex<double> value = parse_value(p, end);
        if (i == j) check_diagonal(i, value);
        visit(i, j, value);
      }
    }
  }

  void find_duplicates();
};

/// A second pass over a file whose entries are not sorted.
void MatrixMarketReader::Detail::find_duplicates() {
  const auto fail = [this](Index i, Index j) {
    source.fail(fmt::format("the entry ({}, {}) is given twice", i + 1, j + 1));
  };
  Index elements = 0;
  if (__builtin_mul_overflow(header.rows, header.columns, &elements))
    throw InputError(path, 0,
                     fmt::format("unsorted entries of a matrix of {} x {}", header.rows, header.columns));
  if (elements / 64 <= header.entries) {
    std::vector<bool> seen(static_cast<std::size_t>(elements));
    scan([&](Index i, Index j, std::complex<double>) {
      const auto position = static_cast<std::size_t>(key(i, j));
      if (seen[position]) fail(i, j);
      seen[position] = true;
    });
    return;
  }
  std::vector<Index> keys;
  keys.reserve(static_cast<std::size_t>(header.entries));
  scan([&](Index i, Index j, std::complex<double>) { keys.push_back(key(i, j)); });
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return;
  Index times = 0;
  scan([&](Index i, Index j, std::complex<double>) {
    if (key(i, j) == *twice && ++times == 2) fail(i, j);
  });
}

MatrixMarketReader::MatrixMarketReader(const std::string& path) : detail_(std::make_unique<Detail>(path)) {}
MatrixMarketReader::~MatrixMarketReader() = default;
MatrixMarketReader::MatrixMarketReader(MatrixMarketReader&&) noexcept = default;
MatrixMarketReader& MatrixMarketReader::operator=(MatrixMarketReader&&) noexcept = default;
const std::string& MatrixMarketReader::path() const noexcept {
  return detail_->path;
}
const MatrixMarketHeader& MatrixMarketReader::header() const noexcept {
  return detail_->header;
}
Index MatrixMarketReader::line() const noexcept {
  return detail_->source.line();
}

void MatrixMarketReader::for_each(const Visitor& visit) {
  Index row = -1, column = -1;
  bool by_columns = true, by_rows = true;
  const bool one_triangle = detail_->header.symmetry != MatrixMarketSymmetry::general;
  detail_->scan([&](Index i, Index j, std::complex<double> value) {
    const Index r = one_triangle ? std::max(i, j) : i, c = one_triangle ? std::min(i, j) : j;
    by_columns = by_columns && (c > column || (c == column && r > row));
    by_rows = by_rows && (r > row || (r == row && c > column));
    row = r;
    column = c;
    visit(i, j, value);
  });
  if (!by_columns && !by_rows) detail_->find_duplicates();
}

}  // namespace tessera
