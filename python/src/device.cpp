// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device.hpp"

#ifdef TESSERA_PYTHON_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tessera::python {
namespace {

/// A square array (or its DLPack capsule), or its transpose, as an array whose strides the library takes.
nb::object as_column_major(AnyArray array, bool transposed) {
  if (array.ndim() != 2)
    throw InvalidArgument("a", std::to_string(array.ndim()) + " dimensions", "two dimensions");
  const std::size_t shape[] = {array.shape(transposed ? 1 : 0), array.shape(transposed ? 0 : 1)};
  const std::int64_t strides[] = {array.stride(transposed ? 1 : 0), array.stride(transposed ? 0 : 1)};
  const nb::capsule owner(new AnyArray(array), [](void* p) noexcept { delete static_cast<AnyArray*>(p); });
  return nb::ndarray<nb::array_api, nb::ro>(array.data(), 2, shape, owner, strides, array.dtype(),
                                            array.device_type(), array.device_id())
      .cast();
}

}  // namespace

#ifdef TESSERA_PYTHON_WITH_CUDA
namespace {

void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw RuntimeError(std::string(what) + ": " + cudaGetErrorString(error));
}

/// A current GPU, and afterwards again the one that was.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    require(cudaGetDevice(&before_), "cudaGetDevice");
    require(cudaSetDevice(device), "cudaSetDevice");
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

int device_of(const void* memory) {
  cudaPointerAttributes attributes{};
  require(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw InvalidArgument("a", "a pointer into the host's memory", "a pointer into a GPU's memory");
  return attributes.device;
}

}  // namespace

DeviceMemory::DeviceMemory(std::size_t bytes, int device) : device_(device) {
  const CurrentDevice current(device);
  require(cudaMalloc(&memory_, bytes), "memory for the eigenvectors on the GPU");
}
void DeviceMemory::release(void* memory) noexcept {
  if (memory != nullptr) cudaFree(memory);
}
void synchronize_default_stream(int device) {
  const CurrentDevice current(device);
  require(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
}

namespace {

/// What has __cuda_array_interface__, as an array; what its stream does is over then.
nb::object wrap_cuda_array(std::uintptr_t pointer, std::vector<std::size_t> shape,
                           std::vector<std::int64_t> strides, const std::string& type,
                           std::optional<std::uintptr_t> stream, nb::object owner) {
  const int device = pointer == 0 ? 0 : device_of(reinterpret_cast<const void*>(pointer));
  if (stream) {
    const nb::gil_scoped_release without_python;
    const CurrentDevice current(device);
    require(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(*stream)), "cudaStreamSynchronize");
  }
  const auto array = [&]<class T>() {
    return nb::ndarray<nb::array_api, nb::ro>(reinterpret_cast<const void*>(pointer), shape.size(),
                                              shape.data(), owner, strides.data(), nb::dtype<T>(),
                                              nb::device::cuda::value, device)
        .cast();
  };
  if (type == "<f4") return array.template operator()<float>();
  if (type == "<f8") return array.template operator()<double>();
  if (type == "<c8") return array.template operator()<std::complex<float>>();
  if (type == "<c16") return array.template operator()<std::complex<double>>();
  throw InvalidArgument("dtype", type, "float32, float64, complex64 or complex128");
}

}  // namespace

void bind_device(nb::module_& module) {
  module.attr("with_cuda") = true;
  module.def("as_column_major", &as_column_major, nb::arg("array"), nb::arg("transposed"));
  module.def("wrap_cuda_array", &wrap_cuda_array, nb::arg("pointer"), nb::arg("shape"), nb::arg("strides"),
             nb::arg("type"), nb::arg("stream").none(), nb::arg("owner"));
}

#else

DeviceMemory::DeviceMemory(std::size_t, int) {
  throw RuntimeError("this tessera was built without CUDA");
}
void DeviceMemory::release(void*) noexcept {}
void synchronize_default_stream(int) {
  throw RuntimeError("this tessera was built without CUDA");
}
void bind_device(nb::module_& module) {
  module.attr("with_cuda") = false;
  module.def("as_column_major", &as_column_major, nb::arg("array"), nb::arg("transposed"));
}

#endif

}  // namespace tessera::python
