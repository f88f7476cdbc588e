// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_cache.hpp>
#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/kept_files.hpp>

namespace tessera::detail::device {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = std::size_t(256) << 20;

/// The lines before the code.
std::string header(const std::string& key, const StackBinary& binary) {
  return fmt::format("tessera stack kernel 2\n{}\n{}\n{} {:016x}\n", key, binary.kernel, binary.code.size(),
                     hash_of(binary.kernel + binary.code));
}

/// The code begins after the fourth line. The file is whole if it begins with the header of this binary.
std::optional<StackBinary> binary_in(const std::string& text, const std::string& key) {
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

}  // namespace

StackCache::StackCache(fs::path directory, fs::path root)
    : directory_(std::move(directory)), root_(root.empty() ? directory_ : std::move(root)) {}

fs::path StackCache::file(const StackShape& shape, const std::string& key) const {
  return directory_ /
         fmt::format("{}_{}x{}x{}_{:016x}.cubin", shape.type, shape.m, shape.n, shape.k, hash_of(key));
}

CachedBinary StackCache::read(const StackShape& shape, const std::string& key) const {
  if (directory_.empty()) return {};
  const fs::path path = file(shape, key);
  const FileContent content = read_own_file(path, root_, largest_file);
  if (content.absent) return {};
  CachedBinary found;
  if (content.flaw.empty()) found.binary = binary_in(content.bytes, key);
  if (!found.binary)
    found.flaw = fmt::format("{} {}: not used", path.string(),
                             content.flaw.empty() ? "is damaged, or of another key" : content.flaw);
  return found;
}

void StackCache::write(const StackShape& shape, const std::string& key,
                       const StackBinary& binary) const noexcept {
  if (directory_.empty()) return;
  try {
    replace_files({{file(shape, key), header(key, binary) + binary.code}});
  } catch (const std::exception&) {
    // The next run compiles again.
  }
}

}  // namespace tessera::detail::device
