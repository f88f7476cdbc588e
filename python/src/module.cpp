// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "common.hpp"

NB_MODULE(_core, module) {
  using namespace tessera::python;
  module.doc() = "What the package tessera calls of the C++ library.";
  bind_runtime(module);
  bind_dense(module);
  bind_device(module);
  bind_blocks(module);
  bind_algebra(module);
  bind_density(module);
  bind_lobpcg(module);
  bind_matgen(module);
}
