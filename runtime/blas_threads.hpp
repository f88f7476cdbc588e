// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// The thread count of the BLAS library in use (OpenBLAS, MKL or BLIS, found at run time).
namespace tessera::detail {

/// Threads that BLAS calls use; 1 when the library cannot be asked.
int blas_threads();
void set_blas_threads(int threads);
/// Name and configuration of the library, for reports.
std::string blas_description();

}  // namespace tessera::detail
