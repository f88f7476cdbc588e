// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>

namespace tessera::detail::kernels {
namespace {

const SecularKernels& chosen() noexcept {
  TESSERA_DISPATCH(cpu_level(), secular_kernels);
}

}  // namespace

Index secular_roots(const divide_and_conquer::MergeRecord& record, Index begin, Index end, double* base,
                    double* offset) noexcept {
  return chosen().roots(record, begin, end, base, offset);
}

void secular_weights(const divide_and_conquer::MergeRecord& record, Index begin, Index end,
                     double* weights) noexcept {
  chosen().weights(record, begin, end, weights);
}

void secular_rows(const divide_and_conquer::MergeRecord& record, Index begin, Index end, double* first,
                  double* last) noexcept {
  chosen().rows(record, begin, end, first, last);
}

template <class R>
void secular_vectors(const divide_and_conquer::MergeRecord& record, Index begin, Index end, R* s,
                     Index lds) noexcept {
  if constexpr (std::is_same_v<R, float>)
    chosen().vectors_float(record, begin, end, s, lds);
  else
    chosen().vectors_double(record, begin, end, s, lds);
}
template void secular_vectors(const divide_and_conquer::MergeRecord&, Index, Index, float*, Index) noexcept;
template void secular_vectors(const divide_and_conquer::MergeRecord&, Index, Index, double*, Index) noexcept;

}  // namespace tessera::detail::kernels
