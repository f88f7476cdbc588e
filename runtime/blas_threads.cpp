// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <mutex>

#include <dlfcn.h>

#include <tessera/runtime/blas_threads.hpp>

namespace tessera::detail {

namespace {

template <class Function>
Function find(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));
}

/// Of all OneBlasThread.
std::mutex mutex;
int alive = 0;
int number_of_caller = 1;

}  // namespace

int blas_threads() {
  static const auto get = find<int (*)()>("openblas_get_num_threads");
  if (get) return get();
  static const auto get_mkl = find<int (*)()>("MKL_Get_Max_Threads");
  if (get_mkl) return get_mkl();
  static const auto get_blis = find<long (*)()>("bli_thread_get_num_threads");
  return get_blis ? static_cast<int>(get_blis()) : 1;
}

void set_blas_threads(int threads) {
  static const auto set = find<void (*)(int)>("openblas_set_num_threads");
  if (set) return set(threads);
  static const auto set_mkl = find<void (*)(int)>("MKL_Set_Num_Threads");
  if (set_mkl) return set_mkl(threads);
  static const auto set_blis = find<void (*)(long)>("bli_thread_set_num_threads");
  if (set_blis) set_blis(threads);
}

OneBlasThread::OneBlasThread() {
  const std::lock_guard lock(mutex);
  if (alive++ > 0) return;
  number_of_caller = blas_threads();
  if (number_of_caller != 1) set_blas_threads(1);
}

OneBlasThread::~OneBlasThread() {
  const std::lock_guard lock(mutex);
  if (--alive == 0 && number_of_caller != 1 && blas_threads() == 1) set_blas_threads(number_of_caller);
}

std::string blas_description() {
  if (auto config = find<char* (*)()>("openblas_get_config")) return config();
  if (find<int (*)()>("MKL_Get_Max_Threads")) return "MKL";
  if (find<long (*)()>("bli_thread_get_num_threads")) return "BLIS";
  return "unknown BLAS";
}

}  // namespace tessera::detail
