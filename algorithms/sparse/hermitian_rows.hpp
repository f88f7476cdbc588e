// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/error.hpp>

namespace tessera::detail {

/// SymmetricRows::entries of a Hermitian matrix was called.
inline InvalidArgument hermitian_entries() {
  return InvalidArgument("rows", "a complex Hermitian matrix",
                         "a real symmetric one: complex_entries() lists others");
}

}  // namespace tessera::detail
