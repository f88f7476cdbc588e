// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include <sys/types.h>

/// Temporary files of a process: files that become outputs by a rename, and working directories.
///
/// All have hidden names, `.tessera-HOST-RANDOM`, are in one list for the whole process, and go with the
/// object that made them. While it lives, the object holds a lock (flock) on its file: a file without a lock
/// was left by a process that was killed, and the next process of the same user and host that makes something
/// in that folder removes it.
namespace tessera::detail {

/// A file or directory under a temporary name; the destructor removes it, if it is still there.
class TemporaryEntry {
 public:
  TemporaryEntry() = default;
  ~TemporaryEntry();
  TemporaryEntry(TemporaryEntry&& other) noexcept;
  TemporaryEntry& operator=(TemporaryEntry&& other) noexcept;

  /// An empty file, open to read and write.
  /// @throws std::system_error
  static TemporaryEntry file(const std::string& folder, mode_t mode);
  static TemporaryEntry directory(const std::string& folder);
  /// A second name of an existing file, in its folder. Must be called with lock_temporaries() held.
  static TemporaryEntry link_to(const std::string& path);

  const std::string& path() const noexcept { return path_; }
  int descriptor() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return !path_.empty(); }
  /// Takes it from the list; what has its name by now stays. Must be called with lock_temporaries() held.
  void forget_locked() noexcept;

 private:
  std::string path_;
  int descriptor_ = -1;  ///< holds the lock
  pid_t owner_ = 0;      ///< a child made by fork removes nothing of its parent's
};

/// A directory to work in, under a folder or where TMPDIR says (/tmp by default); goes with its object.
class TemporaryDirectory {
 public:
  /// @throws InputError
  explicit TemporaryDirectory(const std::filesystem::path& folder = {});
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  TemporaryEntry entry_;
  std::filesystem::path path_;
};

/// While this is held, nothing is made, and abandon_temporaries() waits: for steps that belong together.
std::unique_lock<std::mutex> lock_temporaries();

/// For the end of a process from outside its work (a signal's thread): waits for a commit that is under way,
/// removes every temporary file and directory of this process, and lets no thread make or commit one after
/// that. The process must end now.
void abandon_temporaries() noexcept;

}  // namespace tessera::detail
