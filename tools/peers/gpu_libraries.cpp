// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_libraries.hpp"

#include <fmt/format.h>

#if TESSERA_WITH_CUDA
#include <tessera/codelets/linalg/cusparse.hpp>

#include "gpu_device.hpp"
#endif

namespace tessera::program {

#if TESSERA_WITH_CUDA

using namespace detail;

namespace {

/// Version from a library's getProperty function, which returns 0 on success.
template <class GetProperty>
std::string version_of(GetProperty get_property) {
  int major = 0, minor = 0, patch = 0;
  const bool known = static_cast<int>(get_property(MAJOR_VERSION, &major)) == 0 &&
                     static_cast<int>(get_property(MINOR_VERSION, &minor)) == 0 &&
                     static_cast<int>(get_property(PATCH_LEVEL, &patch)) == 0;
  return known ? fmt::format("{}.{}.{}", major, minor, patch) : std::string();
}

}  // namespace

std::string needs_first_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return {};
  cudaGetLastError();  // clear the error, or the next launch reports it
  return "another peer (there is no GPU)";
}

std::string cusolver_version() {
  return version_of(cusolverGetProperty);
}
std::string cublas_version() {
  return version_of(cublasGetProperty);
}
std::string cusparse_version() {
  return version_of(cusparseGetProperty);
}

#else

std::string needs_first_gpu() {
  return "another peer (no GPU can be one: this program was built without CUDA)";
}

std::string cusolver_version() {
  return {};
}
std::string cublas_version() {
  return {};
}
std::string cusparse_version() {
  return {};
}

#endif

}  // namespace tessera::program
