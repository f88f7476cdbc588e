// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tessera/runtime/temporary_files.hpp>

namespace tessera::detail {

/// A file that is written whole or not at all. Every output of Tessera goes through this class.
///
/// What is written goes into a temporary file (temporary_files.hpp) in the target's folder. commit() writes
/// it to the disk (fsync), gives it the old file's mode, or that of the umask, and renames it: at any moment,
/// also after a kill or a power cut, the target is the old file or the complete new one. Without commit, and
/// after any error, the target is unchanged and no file is left; a SIGKILL leaves the hidden temporary
/// file, which the next write in that folder removes.
///
/// A symbolic link stays one: its target is replaced. Other hard links of the old file keep the old
/// content. A folder in which no file can be made, a file that cannot be written, a directory and a mount
/// point are refused by the constructor. Where the target is not a regular file (a pipe, /dev/stdout, a
/// device), all is kept in an unnamed temporary file until commit() copies it there.
///
/// Errors are InputErrors: `PATH: cannot be written: No space left on device`.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  void write(std::string_view bytes);
  /// The temporary file's name or open descriptor, for libraries that write by themselves, and see to their
  /// errors. They have closed the name before the commit, which closes the descriptor.
  const std::string& path() const noexcept { return name_; }
  int descriptor() const noexcept { return descriptor_; }
  /// As the user named it.
  const std::string& target() const noexcept { return given_; }
  /// The target is, or becomes, a regular file.
  bool regular() const noexcept { return !stream_; }
  void commit();

  /// Files that belong together: all are complete and on the disk before the first takes its place, and if
  /// one cannot, those before it get their old content back (where the file system knows hard links). Only a
  /// SIGKILL or a power cut within the microseconds between two renames leaves new beside old files: a common
  /// stamp in them (new_stamp) tells.
  static void commit_together(std::span<OutputFile* const> files);

  /// Throws what the system's error number says of the target.
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail(std::string_view reason) const;

 private:
  friend class Commit;
  void open_temporary(const std::string& path);
  void complete();
  void copy_to_target() const;

  std::string given_, resolved_, name_;
  TemporaryEntry entry_;
  int descriptor_ = -1;
  bool stream_ = false, failed_ = false, committed_ = false;
};

/// Why an OutputFile would refuse the path; empty: it would not. Nothing is left, nothing is changed.
std::string refusal_to_write(const std::string& path, bool& regular);

/// The whole text at once.
void write_file(const std::string& path, std::string_view text);

/// `solve 0123456789abcdef`, another one each time: for comments of files that belong together.
std::string new_stamp();

}  // namespace tessera::detail
