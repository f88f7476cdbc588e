// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tridiagonal/merge_record.hpp>

/// One version of the secular kernels per instruction set; secular.hpp has the contracts.
namespace tessera::kernels {

struct SecularKernels {
  Index (*roots)(const tridiagonal::MergeRecord&, Index, Index, double*, double*) noexcept;
  void (*weights)(const tridiagonal::MergeRecord&, Index, Index, double*) noexcept;
  void (*rows)(const tridiagonal::MergeRecord&, Index, Index, double*, double*) noexcept;
  void (*vectors_float)(const tridiagonal::MergeRecord&, Index, Index, float*, Index) noexcept;
  void (*vectors_double)(const tridiagonal::MergeRecord&, Index, Index, double*, Index) noexcept;
};

namespace level2 {
extern const SecularKernels secular_kernels;
}
namespace level3 {
extern const SecularKernels secular_kernels;
}
namespace level4 {
extern const SecularKernels secular_kernels;
}

}  // namespace tessera::kernels
