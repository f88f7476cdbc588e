// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/density/lanczos_steps.inl>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(LanczosSteps<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
