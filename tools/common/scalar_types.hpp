// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

namespace tessera::program {

/// Calls work.operator()<T>() with the scalar type for a letter: s, d or c; otherwise z.
template <class Work>
auto with_scalar_type(char type, const Work& work) {
  switch (type) {
    case 's':
      return work.template operator()<float>();
    case 'd':
      return work.template operator()<double>();
    case 'c':
      return work.template operator()<std::complex<float>>();
    default:
      return work.template operator()<std::complex<double>>();
  }
}

}  // namespace tessera::program
