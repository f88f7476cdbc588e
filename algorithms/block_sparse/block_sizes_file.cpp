// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_sparse_io.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera {
namespace {

constexpr std::string_view separator = "columns";

Index parse_size(const std::string& path, Index line, const std::string& word) {
  Index size = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
  if (error == std::errc::invalid_argument || end != word.data() + word.size())
    throw InputError(path, line, fmt::format("expected a block size, found '{}'", word.substr(0, 24)));
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (error != std::errc() || size < 0 || size > most)
    throw InputError(path, line, fmt::format("the block size {} is outside 0..{}", word.substr(0, 24), most));
  return size;
}

}  // namespace

BlockSizes read_block_sizes(const std::string& path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    throw InputError(path, 0, "is a directory, not a file");
  std::ifstream file(path);
  if (!file) throw InputError(path, 0, "there is no such file, or it cannot be read");
  BlockSizes sizes;
  bool columns = false;
  Index line = 0;
  for (std::string text; std::getline(file, text);) {
    ++line;
    std::istringstream words(text.substr(0, text.find('#')));
    for (std::string word; words >> word;) {
      if (word != separator) {
        (columns ? sizes.cols : sizes.rows).push_back(parse_size(path, line, word));
        continue;
      }
      if (columns) throw InputError(path, line, "'columns' is given twice");
      columns = true;
    }
  }
  if (file.bad()) throw InputError(path, line, "cannot be read to its end");
  if (line == 0) throw InputError(path, 0, "is empty: block sizes are expected");
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
