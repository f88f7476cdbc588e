// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tessera::detail {

/// Replaces the entries `parts` of a directory, which is made if it does not exist, by those that
/// `fill(draft)` makes in an empty directory beside it. The new directory is complete and on the disk before
/// one rename puts it in the place of the old one; entries that are not parts stay. A failure or a
/// kill before that leaves the old one unchanged. (Where the file system cannot exchange two names, as NFS,
/// there are two renames, and a SIGKILL between them leaves none.) @return what fill does.
/// @throws InputError: `PATH: cannot be written: No space left on device`; whatever fill throws
int write_directory(const std::filesystem::path& directory, const std::vector<std::string>& parts,
                    const std::function<int(const std::filesystem::path& draft)>& fill);

/// Why write_directory would refuse the directory; empty: it would not. Nothing is changed.
std::string refusal_to_write_directory(const std::filesystem::path& directory);

}  // namespace tessera::detail
