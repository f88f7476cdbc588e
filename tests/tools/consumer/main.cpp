// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program as a user of an installed Tessera writes it. all_headers.hpp includes every installed header.
#include "all_headers.hpp"

#include <cstdio>
#include <string>

int main() {
  tessera::RuntimeOptions options;
  options.cores = 1;
  options.gpus = 0;
  tessera::Runtime runtime(options);
  std::printf("tessera %s on StarPU %s, %d worker\n", runtime.info().version.c_str(),
              runtime.info().starpu_version.c_str(), runtime.workers());
  return runtime.info().version == TESSERA_VERSION_STRING && runtime.workers() == 1 ? 0 : 1;
}
