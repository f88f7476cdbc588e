// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <tessera/runtime/temporary_files.hpp>

/// Files that the library keeps between runs, where several processes, other users and full disks may meddle.
namespace tessera::detail {

/// The content of a file, or why it is rejected.
struct FileContent {
  bool absent = false;  ///< this process can reach no such file
  std::string flaw{};   ///< empty: `bytes` are the whole file
  std::string bytes{};
};

/// A regular file of at most `most` bytes; a pipe or a device is a flaw and never blocks.
FileContent read_whole_file(const std::filesystem::path& file, std::size_t most);

/// The same for a file whose content the library trusts, because this user alone can have written it: it
/// belongs to the user, is no link, and no other user may write it. No other user can have put another file
/// in its place, either: `root` and the directories from there to the file belong to the user (or root), and
/// only their owner may write them (others where the directory is sticky).
FileContent read_own_file(const std::filesystem::path& file, const std::filesystem::path& root,
                          std::size_t most);

struct NewFile {
  std::filesystem::path path;
  std::string bytes;
};

/// Puts each file in its place in one step: whoever reads, and whatever fails, finds the old one or the new
/// one whole. Makes directories that are missing (for this user alone). @return why the first file that could
/// not be written could not; empty: all are written
std::string replace_files(const std::vector<NewFile>& files);

/// A new empty directory of this process in XDG_RUNTIME_DIR, TMPDIR, /tmp or /dev/shm, the first that can be
/// written and has `bytes` bytes free. No other user can enter it; the result removes it at its end.
/// @throws RuntimeError if there is none
TemporaryEntry make_private_directory(std::size_t bytes);

}  // namespace tessera::detail
