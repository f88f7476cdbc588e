// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// Determines the kind of a file from its first bytes, so that an error message can name a wrong
/// kind.
namespace tessera::program {

enum class FileKind { empty, matrix_market, gzip, hdf5, json, text, other };

/// The file format that an option reads.
enum class FileFormat { none, matrix_market, matrix_market_or_hdf5, hdf5, text, json };

/// `an HDF5 file`, `a PDF document`, ... .
/// @throws InputError if the file does not exist or cannot be read
struct FoundFile {
  FileKind kind = FileKind::other;
  std::string name;
};
FoundFile look_at_file(const std::string& path);

/// Rejects a file that is clearly not of this format. The reader checks whether the contents are
/// valid.
/// @throws InputError
void require_format(const std::string& path, FileFormat format);

}  // namespace tessera::program
