// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>

#include <tessera/runtime/blas_threads.hpp>

namespace tessera::detail {

namespace {

template <class Function>
Function find(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));
}

}  // namespace

int blas_threads() {
  if (auto get = find<int (*)()>("openblas_get_num_threads")) return get();
  if (auto get = find<int (*)()>("MKL_Get_Max_Threads")) return get();
  if (auto get = find<long (*)()>("bli_thread_get_num_threads")) return static_cast<int>(get());
  return 1;
}

void set_blas_threads(int threads) {
  if (auto set = find<void (*)(int)>("openblas_set_num_threads"))
    set(threads);
  else if (auto set_mkl = find<void (*)(int)>("MKL_Set_Num_Threads"))
    set_mkl(threads);
  else if (auto set_blis = find<void (*)(long)>("bli_thread_set_num_threads"))
    set_blis(threads);
}

std::string blas_description() {
  if (auto config = find<char* (*)()>("openblas_get_config")) return config();
  if (find<int (*)()>("MKL_Get_Max_Threads")) return "MKL";
  if (find<long (*)()>("bli_thread_get_num_threads")) return "BLIS";
  return "unknown BLAS";
}

}  // namespace tessera::detail
