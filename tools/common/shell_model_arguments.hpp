// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/types.hpp>

namespace tessera::program {

/// What a shell model goes by beside --generate.
struct ShellModelArguments {
  std::string interaction, orbits;  ///< empty: not given
  Index excitation = -1;            ///< -1: not given
  // Of a model without a core:
  double oscillator = 20, lawson = 0;
  bool coulomb = false;
};

}  // namespace tessera::program
