// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <zlib.h>

#include <tessera/runtime/error.hpp>
#include <tessera/runtime/matrix_market.hpp>

namespace tessera {

struct MatrixMarketWriter::Detail {
  std::string path;
  Index rows, columns, written = 0;
  bool complex;
  std::FILE* plain = nullptr;
  gzFile compressed = nullptr;
  fmt::memory_buffer text;

  ~Detail() {
    if (plain) std::fclose(plain);
    if (compressed) gzclose(compressed);
  }
  [[noreturn]] void fail() const {
    throw InputError(path, 0,
                     fmt::format("cannot be written: {}", errno ? std::strerror(errno) : "unknown reason"));
  }
  void flush() {
    const std::size_t size = text.size();
    if (size == 0) return;
    const bool done =
        plain ? std::fwrite(text.data(), 1, size, plain) == size
              : gzwrite(compressed, text.data(), static_cast<unsigned>(size)) == static_cast<int>(size);
    text.clear();
    if (!done) fail();
  }
  void put(double x) { fmt::format_to(std::back_inserter(text), "{:.17g}", x); }
  void put(float x) { fmt::format_to(std::back_inserter(text), "{:.9g}", x); }
};

MatrixMarketWriter::MatrixMarketWriter(const std::string& path, Index rows, Index columns, bool complex,
                                       std::string_view comment)
    : detail_(std::make_unique<Detail>()) {
  Detail& d = *detail_;
  d.path = path;
  d.rows = rows;
  d.columns = columns;
  d.complex = complex;
  errno = 0;
  if (path.ends_with(".gz"))
    d.compressed = gzopen(path.c_str(), "wb1");
  else
    d.plain = std::fopen(path.c_str(), "wb");
  if (!d.plain && !d.compressed) d.fail();
  fmt::format_to(std::back_inserter(d.text), "%%MatrixMarket matrix array {} general\n",
                 complex ? "complex" : "real");
  while (!comment.empty()) {
    const std::string_view line = comment.substr(0, comment.find('\n'));
    fmt::format_to(std::back_inserter(d.text), "% {}\n", line);
    comment.remove_prefix(std::min(comment.size(), line.size() + 1));
  }
  fmt::format_to(std::back_inserter(d.text), "{} {}\n", rows, columns);
}

MatrixMarketWriter::~MatrixMarketWriter() = default;

template <class T>
void MatrixMarketWriter::append(const T* a, Index columns, Index ld) {
  constexpr std::size_t chunk = std::size_t{1} << 20;
  Detail& d = *detail_;
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < d.rows; ++i) {
      const T value = a[i + j * ld];
      d.put(real_part(value));
      if constexpr (is_complex<T>) {
        d.text.push_back(' ');
        d.put(imag_part(value));
      }
      d.text.push_back('\n');
      if (d.text.size() > chunk) d.flush();
    }
  }
  d.written += columns;
}

void MatrixMarketWriter::close() {
  Detail& d = *detail_;
  if (d.written != d.columns)
    throw Error(fmt::format("{}: {} of {} columns were written", d.path, d.written, d.columns));
  d.flush();
  errno = 0;
  bool done = true;
  if (d.plain) done = std::fclose(d.plain) == 0;
  if (d.compressed) done = gzclose(d.compressed) == Z_OK;
  d.plain = nullptr;
  d.compressed = nullptr;
  if (!done) d.fail();
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
  template void write_matrix_market<T>(const std::string&, Index, Index, const T*, Index, std::string_view);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
