// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_program.hpp>
#include <tessera/runtime/cache_directory.hpp>

namespace tessera::detail::device {
namespace {

constexpr const char* main_file = "tessera/codelets/block_sparse/product/kernels/stack_kernel.cuh";

const char* scalar_name(char type) {
  switch (type) {
    case 's':
      return "float";
    case 'd':
      return "double";
    case 'c':
      return "tessera::detail::kernels::StackComplex<float>";
    default:
      return "tessera::detail::kernels::StackComplex<double>";
  }
}

class Program {
 public:
  Program(const std::string& text, const std::vector<const char*>& texts,
          const std::vector<const char*>& names) {
    require(nvrtcCreateProgram(&program_, text.c_str(), "stack_kernel.cu", static_cast<int>(texts.size()),
                               texts.data(), names.data()));
  }
  ~Program() { nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  StackBinary compile(int architecture, const std::string& kernel) {
    require(nvrtcAddNameExpression(program_, kernel.c_str()));
    const std::string target = fmt::format("--gpu-architecture=sm_{}", architecture);
    const char* const options[] = {target.c_str(), "--std=c++20"};
    if (const nvrtcResult result = nvrtcCompileProgram(program_, 2, options); result != NVRTC_SUCCESS)
      fail(result, fmt::format("{}: {}", nvrtcGetErrorString(result), first_error()));
    StackBinary binary;
    const char* name = nullptr;
    require(nvrtcGetLoweredName(program_, kernel.c_str(), &name));
    binary.kernel = name;
    std::size_t size = 0;
    require(nvrtcGetCUBINSize(program_, &size));
    binary.code.resize(size);
    require(nvrtcGetCUBIN(program_, binary.code.data()));
    return binary;
  }

 private:
  static void require(nvrtcResult result) {
    if (result != NVRTC_SUCCESS) fail(result, nvrtcGetErrorString(result));
  }
  [[noreturn]] static void fail(nvrtcResult result, const std::string& text) {
    if (result == NVRTC_ERROR_OUT_OF_MEMORY) throw PassingFailure(text);
    throw RuntimeError(text);
  }
  /// The first line of the compiler's messages that contains `error`.
  std::string first_error() const {
    std::size_t size = 0;
    if (nvrtcGetProgramLogSize(program_, &size) != NVRTC_SUCCESS || size == 0) return {};
    std::string log(size, '\0');
    nvrtcGetProgramLog(program_, log.data());
    const std::size_t error = log.find("error");
    if (error == std::string::npos) return log.substr(0, log.find('\n'));
    const std::size_t before = log.rfind('\n', error), begin = before == std::string::npos ? 0 : before + 1;
    return log.substr(begin, log.find('\n', error) - begin);
  }
  nvrtcProgram program_ = nullptr;
};

}  // namespace

void require_success(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // a task of this thread must not find it
  const std::string text = fmt::format("{}: {}", what, cudaGetErrorString(error));
  if (error == cudaErrorMemoryAllocation) throw PassingFailure(text);
  throw RuntimeError(text);
}

std::string stack_compiler_version() {
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  return fmt::format("NVRTC {}.{}", major, minor);
}

std::string stack_source_version(std::span<const SourceFile> files) {
  std::string text;
  for (const SourceFile& file : files) text += fmt::format("{}\n{}\n", file.name, file.text);
  return fmt::format("{:016x}", hash_of(text));
}

std::string stack_binary_key(std::span<const SourceFile> files, int architecture, const StackShape& shape,
                             const StackPlan& plan) {
  int driver = 0;  // stays 0 without a driver
  cudaDriverGetVersion(&driver);
  return fmt::format("source {}, {}, driver {}, sm_{}, type {}, {} x {} x {}, {}",
                     stack_source_version(files), stack_compiler_version(), driver, architecture, shape.type,
                     shape.m, shape.n, shape.k, plan_as_argument(plan));
}

StackBinary compile_stack(std::span<const SourceFile> files, int architecture, const StackShape& shape,
                          const StackPlan& plan) {
  std::vector<const char*> names, texts;
  for (const SourceFile& file : files) {
    names.push_back(file.name);
    texts.push_back(file.text);
  }
  Program program(fmt::format("#include <{}>\n", main_file), texts, names);
  // The formula is the kernel's default.
  const std::string argument = plan == formula_plan(shape) ? "" : ", " + plan_as_argument(plan);
  return program.compile(architecture,
                         fmt::format("tessera::detail::kernels::multiply_stack_kernel<{}, {}, {}, {}{}>",
                                     scalar_name(shape.type), shape.m, shape.n, shape.k, argument));
}

}  // namespace tessera::detail::device

#endif  // TESSERA_WITH_CUDA
