// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <tessera/runtime.hpp>

namespace tessera::test {

/// A file that only this test uses and whose path all ranks know; rank 0 removes it at the end.
class TemporaryFile {
 public:
  TemporaryFile(const Runtime& runtime, const std::string& ending) : runtime_(runtime) {
    static int number = 0;
    Index process = ::getpid();
    runtime.broadcast(&process, sizeof process, 0);
    path_ = (std::filesystem::temp_directory_path() /
             ("tessera_" + std::to_string(process) + "_" + std::to_string(++number) + ending))
                .string();
  }
  TemporaryFile(const Runtime& runtime, const std::string& ending, const std::string& text)
      : TemporaryFile(runtime, ending) {
    if (runtime.rank() == 0) std::ofstream(path_, std::ios::binary) << text;
    runtime.barrier();
  }
  ~TemporaryFile() {
    runtime_.barrier();
    std::error_code ignored;
    if (runtime_.rank() == 0) std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  const Runtime& runtime_;
  std::string path_;
};

}  // namespace tessera::test
