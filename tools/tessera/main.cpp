// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tessera_main.hpp"

int main(int argc, char** argv) {
  return tessera::program::tessera_main(argc, argv);
}
