// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include <tessera/block_sparse_files.hpp>
#include <tessera/runtime/io/input_file.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera::detail {

namespace {

constexpr std::string_view separator = "columns";

Index parse_size(const TextLines& lines, std::string_view word) {
  Index size = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
  if (error == std::errc::invalid_argument || end != word.data() + word.size())
    lines.fail(fmt::format("expected a block size, found {}", shown_input(word)));
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (error != std::errc() || size < 0 || size > most)
    lines.fail(fmt::format("the block size {} is outside 0..{}", word.substr(0, 24), most));
  return size;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

BlockSizes read_block_sizes(const std::string& path) {
  TextLines lines(path);
  BlockSizes sizes;
  bool columns = false;
  for (std::string_view text; lines.next(text);)
    for (const std::string_view word : words_of(text.substr(0, text.find('#')))) {
      lines.require_line_end();
      if (word != separator) {
        (columns ? sizes.cols : sizes.rows).push_back(parse_size(lines, word));
        continue;
      }
      if (columns) lines.fail("'columns' is given twice");
      columns = true;
    }
  if (lines.line() == 0) throw InputError(path, 0, "is empty: block sizes are expected");
  if (!columns) sizes.cols = sizes.rows;
  return sizes;
}

void write_block_sizes(const std::string& path, const BlockSizes& sizes) {
  std::string text;
  const auto write = [&](std::string_view title, const std::vector<Index>& list) {
    text += fmt::format("# {} block sizes along the {}\n", list.size(), title);
    for (const Index size : list) text += fmt::format("{}\n", size);
  };
  write(sizes.rows == sizes.cols ? "rows and columns" : "rows", sizes.rows);
  if (sizes.rows != sizes.cols) {
    text += fmt::format("{}\n", separator);
    write("columns", sizes.cols);
  }
  write_file(path, text);
}

}  // namespace tessera
