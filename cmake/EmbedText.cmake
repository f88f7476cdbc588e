# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# cmake -DTESSERA_SOURCE_DIR=... -DTESSERA_FILES="a;b" -DTESSERA_OUTPUT=... -P EmbedText.cmake
# Writes a C++ file that defines tessera::detail::device::stack_kernel_files(): the names, as they are included, and the text of
# the files.
cmake_minimum_required(VERSION 3.25)
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS TESSERA_FILES)
  file(READ "${TESSERA_SOURCE_DIR}/${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const unsigned char text${number}[] = {${bytes}0};\n")
  string(APPEND entries "      {\"tessera/${file}\", reinterpret_cast<const char*>(text${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(CONFIGURE OUTPUT "${TESSERA_OUTPUT}" @ONLY CONTENT
"#include <tessera/codelets/block_sparse/product/kernels/stack_program.hpp>

namespace tessera::detail::device {
namespace {
@arrays@}
std::span<const SourceFile> stack_kernel_files() noexcept {
  static const SourceFile files[] = {
@entries@  };
  return files;
}
}
")
