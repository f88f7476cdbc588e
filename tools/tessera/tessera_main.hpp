// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tessera::program {

/// The main function of the program, without the headers of its options, which compile slowly.
/// @return the exit code
int tessera_main(int argc, char** argv);

}  // namespace tessera::program
