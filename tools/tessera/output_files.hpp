// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// The files that a command leaves.
namespace tessera::program {

/// That `path`, which an option names, can be written later: what is there stays as it is, and nothing is
/// left. Only the process that speaks() looks. @throws InvalidArgument that names the option
void require_writable(const std::string& option, const std::string& path);

/// @throws InputError
void write_text(const std::string& path, const std::string& text);

}  // namespace tessera::program
