// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <compare>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/runtime/error.hpp>

/// Machine code of the kernel in stack_kernel.cuh for one shape and type: compiled at run time (NVRTC, which
/// needs no GPU), and kept on disk.
namespace tessera::device {

/// Products of m x k by k x n blocks of a type: s, d, c or z.
struct StackShape {
  char type;
  int m, n, k;
  auto operator<=>(const StackShape&) const = default;
};

/// A file as it is included, and its text.
struct SourceFile {
  const char* name;
  const char* text;
};

/// stack_kernel.cuh and what it includes, as they were when the library was built.
std::span<const SourceFile> stack_kernel_files() noexcept;

struct StackBinary {
  std::string kernel;  ///< its name in the code
  std::string code;    ///< cubin
};

/// What determines the machine code: files, compiler, architecture (90 for sm_90), shape.
std::string stack_binary_key(std::span<const SourceFile> files, int architecture, const StackShape& shape);

/// Memory was short, of the compiler or of a device: what failed may succeed another time.
class PassingFailure : public RuntimeError {
  using RuntimeError::RuntimeError;
};

/// Compiles; any number of threads may do so at once. @throws RuntimeError with the compiler's first lines
/// (PassingFailure if it had no memory)
StackBinary compile_stack(std::span<const SourceFile> files, int architecture, const StackShape& shape);

/// The compiler's name and version.
std::string stack_compiler_version();

/// Binaries on disk, one file each, checked when read. Any number of processes and threads may use one
/// directory at once. What cannot be written is not kept.
class StackCache {
 public:
  /// Empty: nothing is kept.
  explicit StackCache(std::filesystem::path directory) : directory_(std::move(directory)) {}
  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::filesystem::path file(const StackShape& shape, const std::string& key) const;
  /// Nothing if there is no file, or it is damaged or of another key.
  std::optional<StackBinary> read(const StackShape& shape, const std::string& key) const;
  void write(const StackShape& shape, const std::string& key, const StackBinary& binary) const noexcept;

 private:
  std::filesystem::path directory_;
};

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
