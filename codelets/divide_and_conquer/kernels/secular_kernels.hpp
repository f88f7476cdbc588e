// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>

/// One version of the secular kernels per instruction set; secular.hpp has the contracts.
namespace tessera::kernels {

struct SecularKernels {
  Index (*roots)(const divide_and_conquer::MergeRecord&, Index, Index, double*, double*) noexcept;
  void (*weights)(const divide_and_conquer::MergeRecord&, Index, Index, double*) noexcept;
  void (*rows)(const divide_and_conquer::MergeRecord&, Index, Index, double*, double*) noexcept;
  void (*vectors_float)(const divide_and_conquer::MergeRecord&, Index, Index, float*, Index) noexcept;
  void (*vectors_double)(const divide_and_conquer::MergeRecord&, Index, Index, double*, Index) noexcept;
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
