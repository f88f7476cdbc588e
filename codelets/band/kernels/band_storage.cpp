// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/band/kernels/band_storage.hpp>

namespace tessera::detail::kernels {

template <class T>
Index band_to_segment(Index n, Index bandwidth, Index first, Index count, const T* from, Index ld, T* segment,
                      Index at) noexcept {
  const Index segment_ld = BandLayout<T>::leading_dimension(bandwidth);
  if (at == 0) std::fill(segment, segment + BandLayout<T>::front(), T(0));
  T* to = segment + BandLayout<T>::front() + at * segment_ld;
  Index bad = -1;
  for (Index j = 0; j < count; ++j, to += segment_ld, from += ld) {
    const Index rows = std::min(bandwidth + 1, n - first - j);
    // The sum of x - x is zero unless some x is NaN or infinite.
    RealOf<T> differences = 0;
    for (Index i = 0; i < rows; ++i) {
      to[i] = from[i];
      differences += (real_part(from[i]) - real_part(from[i])) + (imag_part(from[i]) - imag_part(from[i]));
    }
    if (bad < 0 && !(differences == RealOf<T>(0))) bad = first + j;
    to[0] = T(real_part(from[0]));
    std::fill(to + rows, to + segment_ld, T(0));
  }
  return bad;
}

template <class T>
void segment_to_tridiagonal(Index n, Index bandwidth, Index first, Index count, const T* segment,
                            RealOf<T>* d, RealOf<T>* e) noexcept {
  const T* column = segment + BandLayout<T>::front();
  for (Index j = 0; j < count; ++j, column += BandLayout<T>::leading_dimension(bandwidth)) {
    d[j] = real_part(column[0]);
    e[j] = first + j + 1 < n ? real_part(column[1]) : RealOf<T>(0);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template Index band_to_segment<T>(Index, Index, Index, Index, const T*, Index, T*, Index) noexcept; \
  template void segment_to_tridiagonal<T>(Index, Index, Index, Index, const T*, RealOf<T>*,           \
                                          RealOf<T>*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
