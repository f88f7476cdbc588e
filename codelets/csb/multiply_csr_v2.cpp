// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#define TESSERA_CPU_LEVEL 2
#define TESSERA_CPU_LEVEL_NAMESPACE level2
#include <tessera/codelets/csb/multiply_csr.inl>
