// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cutensor_library.hpp"

#include <fmt/format.h>

#include <tessera/error.hpp>

#if TESSERA_WITH_CUDA

#include <dlfcn.h>

namespace tessera::program {

namespace cutensor {

namespace {

constexpr const char* library_file = "libcutensor.so.2";  // the version of the interface

struct Loaded {
  Library functions;
  std::string version;
  std::string missing;  ///< as Peer::unavailable()
};

std::string version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

/// Looks up symbols, and notes whether all were there.
class Symbols {
 public:
  explicit Symbols(void* file) : file_(file) {}
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(find(name));
  }
  /// The object that a variable of the library points to.
  void find_object(const Compute*& object, const char* name) {
    if (void* const variable = find(name)) object = *static_cast<const Compute* const*>(variable);
  }
  bool complete() const noexcept { return complete_; }

 private:
  void* find(const char* name) {
    void* const found = dlsym(file_, name);
    complete_ = complete_ && found;
    return found;
  }
  void* file_;
  bool complete_ = true;
};

bool find_all(void* file, Library& library) {
  Symbols symbols(file);
  symbols.find(library.get_version, "cutensorGetVersion");
  symbols.find(library.get_error_string, "cutensorGetErrorString");
  symbols.find(library.create, "cutensorCreate");
  symbols.find(library.destroy, "cutensorDestroy");
  symbols.find(library.create_tensor, "cutensorCreateBlockSparseTensorDescriptor");
  symbols.find(library.destroy_tensor, "cutensorDestroyBlockSparseTensorDescriptor");
  symbols.find(library.create_contraction, "cutensorCreateBlockSparseContraction");
  symbols.find(library.destroy_operation, "cutensorDestroyOperationDescriptor");
  symbols.find(library.estimate_workspace, "cutensorEstimateWorkspaceSize");
  symbols.find(library.create_plan, "cutensorCreatePlan");
  symbols.find(library.destroy_plan, "cutensorDestroyPlan");
  symbols.find(library.contract, "cutensorBlockSparseContract");
  symbols.find_object(library.compute_single, "CUTENSOR_COMPUTE_DESC_32F");
  symbols.find_object(library.compute_double, "CUTENSOR_COMPUTE_DESC_64F");
  return symbols.complete();
}

/// The file is never closed: CUDA may end before the program's static objects do.
Loaded load() {
  Loaded loaded;
  void* const file = dlopen(library_file, RTLD_NOW | RTLD_LOCAL);
  if (!file) {
    const char* const reason = dlerror();
    loaded.missing = fmt::format("another peer, or cuTENSOR's folder in LD_LIBRARY_PATH ({})",
                                 reason ? reason : library_file);
    return loaded;
  }
  const bool complete = find_all(file, loaded.functions);
  if (loaded.functions.get_version) loaded.version = version_text(loaded.functions.get_version());
  if (!complete)
    loaded.missing = fmt::format("another peer ({} {} has no block-sparse products; {} has)", library_file,
                                 loaded.version, version_text(first_version));
  return loaded;
}

const Loaded& loaded_library() {
  static const Loaded loaded = load();
  return loaded;
}

}  // namespace

const Library& library() {
  const Loaded& loaded = loaded_library();
  if (!loaded.missing.empty()) throw RuntimeError(fmt::format("there is no cuTENSOR: {}", loaded.missing));
  return loaded.functions;
}

void require(Status status, const char* what) {
  if (status != success)
    throw RuntimeError(fmt::format("cuTENSOR failed in {}: {}", what, library().get_error_string(status)));
}

}  // namespace cutensor

std::string needs_cutensor() {
  return cutensor::loaded_library().missing;
}
std::string cutensor_version() {
  return cutensor::loaded_library().version;
}

}  // namespace tessera::program

#else

namespace tessera::program {

std::string needs_cutensor() {
  return "another peer (this program was built without CUDA)";
}
std::string cutensor_version() {
  return {};
}

}  // namespace tessera::program

#endif
