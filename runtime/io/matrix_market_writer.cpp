// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera::detail {

namespace {

/// Text into an output file, compressed if its name says so, in large pieces.
class TextFile {
 public:
  explicit TextFile(const std::string& path) : own_(std::in_place, path), file_(&*own_) { open(); }
  /// The owner of the file commits it.
  explicit TextFile(OutputFile& file) : file_(&file) { open(); }
  ~TextFile() {
    if (compressed_) gzclose(compressed_);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::string& path() const noexcept { return file_->target(); }
  template <class... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  void put(double x) { print("{:.17g}", x); }
  void put(float x) { print("{:.9g}", x); }
  template <class T>
  void put_value_line(T value) {
    put(real_part(value));
    if constexpr (is_complex<T>) {
      text_.push_back(' ');
      put(imag_part(value));
    }
    text_.push_back('\n');
    constexpr std::size_t chunk = std::size_t{1} << 20;
    if (text_.size() > chunk) flush();
  }
  void put_head(std::string_view format, std::string_view field, std::string_view symmetry,
                std::string_view comment) {
    print("%%MatrixMarket matrix {} {} {}\n", format, field, symmetry);
    while (!comment.empty()) {
      const std::string_view line = comment.substr(0, comment.find('\n'));
      print("% {}\n", line);
      comment.remove_prefix(std::min(comment.size(), line.size() + 1));
    }
  }
  void close() {
    flush();
    if (compressed_) {
      errno = 0;
      if (gzclose(std::exchange(compressed_, nullptr)) != Z_OK) file_->fail(errno);
    }
    if (own_) own_->commit();
  }

 private:
  void open() {
    if (!path().ends_with(".gz")) return;
    errno = 0;
    compressed_ = gzopen(file_->path().c_str(), "wb1");
    if (!compressed_) file_->fail(errno);
  }
  void flush() {
    const std::string_view text(text_.data(), text_.size());
    if (text.empty()) return;
    if (compressed_) {
      errno = 0;
      if (gzwrite(compressed_, text.data(), static_cast<unsigned>(text.size())) !=
          static_cast<int>(text.size()))
        file_->fail(errno);
    } else {
      file_->write(text);
    }
    text_.clear();
  }
  std::optional<OutputFile> own_;
  OutputFile* file_;
  gzFile compressed_ = nullptr;
  fmt::memory_buffer text_;
};

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

struct MatrixMarketWriter::Detail {
  template <class Target>
  Detail(Target& target, Index row_count, Index column_count, bool complex, std::string_view comment)
      : file(target), rows(row_count), columns(column_count) {
    file.put_head("array", complex ? "complex" : "real", "general", comment);
    file.print("{} {}\n", rows, columns);
  }
  TextFile file;
  Index rows, columns, written = 0;
};

MatrixMarketWriter::MatrixMarketWriter(const std::string& path, Index rows, Index columns, bool complex,
                                       std::string_view comment)
    : detail_(new Detail(path, rows, columns, complex, comment)) {}

MatrixMarketWriter::MatrixMarketWriter(OutputFile& file, Index rows, Index columns, bool complex,
                                       std::string_view comment)
    : detail_(new Detail(file, rows, columns, complex, comment)) {}

MatrixMarketWriter::~MatrixMarketWriter() = default;

template <class T>
void MatrixMarketWriter::append(const T* a, Index columns, Index ld) {
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < detail_->rows; ++i) detail_->file.put_value_line(a[i + j * ld]);
  detail_->written += columns;
}

void MatrixMarketWriter::close() {
  if (detail_->written != detail_->columns)
    throw Error(fmt::format("{}: {} of {} columns were written", detail_->file.path(), detail_->written,
                            detail_->columns));
  detail_->file.close();
}

struct MatrixMarketEntryWriter::Detail {
  TextFile file;
  Index entries, written = 0;
};

MatrixMarketEntryWriter::MatrixMarketEntryWriter(const std::string& path, const MatrixMarketHeader& header,
                                                 std::string_view comment)
    : detail_(new Detail{TextFile(path), header.entries}) {
  TextFile& file = detail_->file;
  file.put_head(to_string(MatrixMarketFormat::coordinate), to_string(header.field),
                to_string(header.symmetry), comment);
  file.print("{} {} {}\n", header.rows, header.columns, header.entries);
}

MatrixMarketEntryWriter::~MatrixMarketEntryWriter() = default;

template <class T>
void MatrixMarketEntryWriter::append(Index row, Index column, T value) {
  detail_->file.print("{} {} ", row + 1, column + 1);
  detail_->file.put_value_line(value);
  ++detail_->written;
}

void MatrixMarketEntryWriter::close() {
  if (detail_->written != detail_->entries)
    throw Error(fmt::format("{}: {} of {} entries were written", detail_->file.path(), detail_->written,
                            detail_->entries));
  detail_->file.close();
}

template <class T>
void write_matrix_market(const std::string& path, Index rows, Index columns, const T* a, Index ld,
                         std::string_view comment) {
  MatrixMarketWriter writer(path, rows, columns, is_complex<T>, comment);
  writer.append(a, columns, ld);
  writer.close();
}

#define TESSERA_INSTANTIATE(T)                                         \
  template void MatrixMarketWriter::append<T>(const T*, Index, Index); \
  template void MatrixMarketEntryWriter::append<T>(Index, Index, T);   \
  template void write_matrix_market<T>(const std::string&, Index, Index, const T*, Index, std::string_view);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
