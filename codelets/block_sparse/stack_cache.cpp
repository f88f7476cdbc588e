// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <atomic>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/codelets/block_sparse/stack_program.hpp>
#include <tessera/runtime/cache_directory.hpp>

namespace tessera::device {
namespace {

namespace fs = std::filesystem;

/// The lines before the code.
std::string header(const std::string& key, const StackBinary& binary) {
  return fmt::format("tessera stack kernel 1\n{}\n{}\n{} {:016x}\n", key, binary.kernel, binary.code.size(),
                     hash_of(binary.kernel + binary.code));
}

}  // namespace

fs::path StackCache::file(const StackShape& shape, const std::string& key) const {
  return directory_ /
         fmt::format("{}_{}x{}x{}_{:016x}.cubin", shape.type, shape.m, shape.n, shape.k, hash_of(key));
}

std::optional<StackBinary> StackCache::read(const StackShape& shape, const std::string& key) const {
  if (directory_.empty()) return std::nullopt;
  std::ifstream input(file(shape, key), std::ios::binary);
  std::ostringstream content;
  content << input.rdbuf();
  if (!input) return std::nullopt;
  const std::string text = content.str();
  // The code begins after the fourth line; whether all is as it was written tells the header made anew.
  std::size_t lines[4];
  for (std::size_t from = 0; std::size_t & end : lines) {
    end = text.find('\n', from);
    if (end == std::string::npos) return std::nullopt;
    from = end + 1;
  }
  StackBinary binary{text.substr(lines[1] + 1, lines[2] - lines[1] - 1), text.substr(lines[3] + 1)};
  if (!text.starts_with(header(key, binary))) return std::nullopt;
  return binary;
}

void StackCache::write(const StackShape& shape, const std::string& key,
                       const StackBinary& binary) const noexcept {
  if (directory_.empty()) return;
  static std::atomic<int> number = 0;
  try {
    fs::create_directories(directory_);
    // It appears under its name in one step: nobody reads half a file.
    const fs::path path = file(shape, key),
                   draft = path.string() + fmt::format(".{}.{}", ::getpid(), number++);
    std::ofstream output(draft, std::ios::binary);
    output << header(key, binary) << binary.code;
    output.close();
    std::error_code ignored;
    if (output) fs::rename(draft, path, ignored);
    if (!output || ignored) fs::remove(draft, ignored);
  } catch (const std::exception&) {
    // The next run compiles again.
  }
}

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
