// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// The thread count of the BLAS library in use (OpenBLAS, MKL or BLIS, found at run time). It is one number for
/// the whole process, and the host program's: the library borrows it.
namespace tessera::detail {

/// Threads that BLAS calls use; 1 when the library cannot be asked.
int blas_threads();
void set_blas_threads(int threads);
/// BLAS has one thread while at least one of these lives, whoever made it: the first saves the caller's number,
/// and the last restores it, unless the number has been changed meanwhile. Any thread may make or end one.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
};

/// Name and configuration of the library, for reports.
std::string blas_description();

}  // namespace tessera::detail
