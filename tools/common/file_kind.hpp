// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// What a file seems to be by its first bytes, so that a wrong one is named.
namespace tessera::program {

enum class FileKind { empty, matrix_market, gzip, hdf5, json, text, other };

/// What an option reads.
enum class FileFormat { none, matrix_market, matrix_market_or_hdf5, text, json };

/// `an HDF5 file`, `a PDF document`, ... . @throws InputError if the file is not there or cannot be read
struct FoundFile {
  FileKind kind = FileKind::other;
  std::string name;
};
FoundFile look_at_file(const std::string& path);

/// Refuses a file that is clearly of another kind than the format; what is left to the reader is whether it
/// is a good one. @throws InputError
void require_format(const std::string& path, FileFormat format);

}  // namespace tessera::program
