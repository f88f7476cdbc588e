// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>

/// Machine code that is kept on disk between runs; no CUDA here.
namespace tessera::device {

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
  std::string flaw{};  ///< why a file that is there is not used; empty: it is used, or there is none
};

/// Binaries on disk, one file each. A GPU runs what is in them: a file is used only if nobody but this user
/// can have put it there (read_own_file), and if its key and its checksum are right. Any number of processes
/// and threads may use one directory at once. What cannot be written is not kept.
class StackCache {
 public:
  /// Empty: nothing is kept. Directories from `root` on must be the user's own; empty: the directory alone.
  explicit StackCache(std::filesystem::path directory, std::filesystem::path root = {});
  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::filesystem::path file(const StackShape& shape, const std::string& key) const;
  CachedBinary read(const StackShape& shape, const std::string& key) const;
  void write(const StackShape& shape, const std::string& key, const StackBinary& binary) const noexcept;

 private:
  std::filesystem::path directory_, root_;
};

}  // namespace tessera::device
