// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase.hpp>

/// The chase compiled per instruction set level; chase_cpu.cpp chooses.
namespace tessera::kernels {

#define TESSERA_DECLARE_CHASE(LEVEL)                                                                 \
  namespace LEVEL {                                                                                  \
  template <class T>                                                                                 \
  void chase_tile(const BandView<T>& band, Index first_sweep, Index sweeps, Index column_begin,      \
                  Index column_end, const Reflectors<T>& reflectors, RealOf<T>* workspace) noexcept; \
  }
TESSERA_DECLARE_CHASE(level2)
TESSERA_DECLARE_CHASE(level3)
TESSERA_DECLARE_CHASE(level4)
#undef TESSERA_DECLARE_CHASE

}  // namespace tessera::kernels
