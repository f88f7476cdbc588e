// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <starpu.h>

#include <tessera/runtime.hpp>

/// Included by runtime/*.cpp only.
namespace tessera {

/// What StarPU is started with.
struct Runtime::Start {
  starpu_conf conf{};
  std::string host{};  ///< its name in the names of model files
  bool uses_gpus = false;
  bool crowded = false;           ///< workers have no cores for themselves
  bool no_core_to_spare = false;  ///< for the thread that brings messages
};

}  // namespace tessera
