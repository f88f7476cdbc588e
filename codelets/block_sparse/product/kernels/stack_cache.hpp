// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>

/// Machine code that is kept on disk between runs; no CUDA here.
namespace tessera::detail::device {

/// Products of m x k by k x n blocks of a type: s, d, c or z.
struct StackShape {
  char type;
  int m, n, k;
  auto operator<=>(const StackShape&) const = default;
};

struct StackBinary {
  std::string kernel;  ///< its name in the code
  std::string code;    ///< cubin
};

/// What is found in a cache.
struct CachedBinary {
  std::optional<StackBinary> binary{};
  std::string flaw{};  ///< why a file is rejected; empty: it is used, or there is no file
};

/// Binaries on disk, one file each. A GPU runs their code, so a file is used only if this user alone can have
/// written it (read_own_file), and if its key and its checksum are right. Any number of processes and threads
/// may use one directory at once. A failed write is ignored.
class StackCache {
 public:
  /// An empty `directory` keeps nothing. The user must own the directories from `root` down; an empty `root`
  /// means the directory alone.
  explicit StackCache(std::filesystem::path directory, std::filesystem::path root = {});
  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::filesystem::path file(const StackShape& shape, const std::string& key) const;
  CachedBinary read(const StackShape& shape, const std::string& key) const;
  void write(const StackShape& shape, const std::string& key, const StackBinary& binary) const noexcept;

 private:
  std::filesystem::path directory_, root_;
};

}  // namespace tessera::detail::device
