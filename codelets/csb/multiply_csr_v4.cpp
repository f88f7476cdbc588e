// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#define TESSERA_CPU_LEVEL 4
#define TESSERA_CPU_LEVEL_NAMESPACE level4
#include <tessera/codelets/csb/multiply_csr.inl>
