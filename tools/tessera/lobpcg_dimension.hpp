// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"
#include "session.hpp"

namespace tessera::program {

/// Reports how many rows a shell model's matrix has, which is not made. @return the exit code
int tell_dimension(const LobpcgProgramOptions& options, Session& session);

}  // namespace tessera::program
