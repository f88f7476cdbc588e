// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#define TESSERA_CPU_LEVEL 2
#include <tessera/codelets/tridiagonal/secular_kernels.inl>
