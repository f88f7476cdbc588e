// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "file_kind.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/input_file.hpp>

namespace tessera::program {
using namespace detail;

namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  FileKind kind;
  const char* name;
};

constexpr std::array<Signature, 15> signatures{{
    {"%%MatrixMarket"sv, FileKind::matrix_market, "a Matrix Market file"},
    {"\x1f\x8b"sv, FileKind::gzip, "a gzipped file"},
    {"\x89HDF\r\n\x1a\n"sv, FileKind::hdf5, "an HDF5 file"},
    {"\x93NUMPY"sv, FileKind::other, "a NumPy array"},
    {"PK\x03\x04"sv, FileKind::other, "a zip archive"},
    {"BZh"sv, FileKind::other, "a file packed by bzip2"},
    {"\xfd"
     "7zXZ"sv,
     FileKind::other, "a file packed by xz"},
    {"\x28\xb5\x2f\xfd"sv, FileKind::other, "a file packed by zstd"},
    {"\x7f"
     "ELF"sv,
     FileKind::other, "a program"},
    {"%PDF"sv, FileKind::other, "a PDF document"},
    {"\x89PNG"sv, FileKind::other, "a PNG image"},
    {"MATLAB 5.0"sv, FileKind::other, "a MATLAB file"},
    {"<?xml"sv, FileKind::other, "an XML document"},
    {"<svg"sv, FileKind::other, "an SVG drawing"},
    {"<!DOCTYPE"sv, FileKind::other, "an HTML page"},
}};

std::string first_bytes(const std::string& path) {
  InputFile file(path);
  std::string bytes(512, '\0');
  const int descriptor = file.release();
  const ssize_t got = ::read(descriptor, bytes.data(), bytes.size());
  ::close(descriptor);
  if (got < 0) throw InputError(path, 0, "cannot be read");
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

}  // namespace

FoundFile look_at_file(const std::string& path) {
  const std::string bytes = first_bytes(path);
  if (bytes.empty()) return {FileKind::empty, "empty"};
  for (const Signature& signature : signatures)
    if (bytes.starts_with(signature.bytes)) return {signature.kind, signature.name};
  const std::size_t begin = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size() - 1);
  if (bytes[begin] == '{' || bytes[begin] == '[') return {FileKind::json, "a JSON document"};
  const bool text = std::none_of(bytes.begin(), bytes.end(), [](unsigned char c) {
    return c == 0x7f || (c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f');
  });
  return text ? FoundFile{FileKind::text, "some text"} : FoundFile{FileKind::other, "binary data"};
}

void require_format(const std::string& path, FileFormat format) {
  if (path.empty() || format == FileFormat::none) return;
  const FoundFile found = look_at_file(path);
  const auto refuse = [&](const char* expected) {
    throw InputError(path, 0, fmt::format("seems to be {}; expected {}", found.name, expected));
  };
  const FileKind kind = found.kind;
  switch (format) {
    case FileFormat::matrix_market_or_hdf5:
      if (path.ends_with(".h5")) {
        if (kind != FileKind::hdf5) refuse("an HDF5 file, as the name ends in .h5");
        break;
      }
      if (kind == FileKind::hdf5) refuse("a Matrix Market file (the names of HDF5 files end in .h5)");
      [[fallthrough]];
    case FileFormat::matrix_market:
      if (kind == FileKind::hdf5 || kind == FileKind::json || kind == FileKind::other)
        refuse("a Matrix Market file, which begins with %%MatrixMarket and may be gzipped");
      break;
    case FileFormat::hdf5:
      if (kind != FileKind::hdf5) refuse("an HDF5 file");
      break;
    case FileFormat::json:
      if (kind != FileKind::json && kind != FileKind::text && kind != FileKind::empty)
        refuse("a JSON document");
      break;
    case FileFormat::text:
      if (kind != FileKind::text && kind != FileKind::empty) refuse("numbers in a text file");
      break;
    case FileFormat::none:
      break;
  }
}

}  // namespace tessera::program
