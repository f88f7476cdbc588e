// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include <sys/mman.h>

#include "common.hpp"
#include "device.hpp"

/// eigensolve and eigensolve_batch for arrays of the host and of GPUs.
namespace tessera::python {
namespace {

struct Input {
  AnyArray array;
  Uplo uplo;
};

/// What a solve is asked for, beside its arrays.
struct DenseRequest {
  EigensolveOptions options;
  bool on_device = false;
  int device = 0;
};

template <class T>
MatrixInput<T> input_of(const Input& input, const char* name, TiledMatrix<T>& tiles) {
  const MatrixView<const T> a = column_major<T>(input.array, name);
  if (a.rows != a.cols)
    throw InvalidArgument(name, std::to_string(a.rows) + " x " + std::to_string(a.cols), "a square matrix");
  Runtime& runtime = current_runtime();
  if (runtime.size() == 1) return {a.data, a.rows, a.ld, input.uplo};
  // On several ranks all give the same array, and rank 0 deals it out.
  tiles = TiledMatrix<T>::wrap(
      runtime, const_cast<T*>(a.data), a.ld,
      {.rows = a.rows, .cols = a.cols, .tile_rows = 512, .tile_cols = 512, .uplo = input.uplo});
  return {tiles};
}

/// Memory of the host that is not touched before workers write it, in huge pages where it is large: the kernel gives them
/// out as they are touched, and small ones take a noticeable time.
using HostMemory = std::unique_ptr<void, decltype(&std::free)>;
HostMemory host_memory(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t(1) << 21;
  const std::size_t unit = bytes >= 2 * huge_page ? huge_page : 64;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
  HostMemory memory(std::aligned_alloc(unit, rounded), &std::free);
  if (!memory) throw std::bad_alloc();
  if (unit == huge_page) ::madvise(memory.get(), rounded, MADV_HUGEPAGE);  // a wish
  return memory;
}

/// Hands it over to NumPy; without strides row-major.
template <class T>
nb::object host_array(HostMemory memory, const std::vector<std::size_t>& shape,
                      const std::vector<std::int64_t>& strides = {}) {
  const nb::capsule owner(memory.get(), [](void* p) noexcept { std::free(p); });
  T* const data = static_cast<T*>(memory.release());
  return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner,
                                   strides.empty() ? nullptr : strides.data())
      .cast();
}

/// Arrays of a GPU need a Runtime that has it, in one process.
void check_device(const Runtime& runtime) {
  if (runtime.gpus() == 0)
    throw InvalidArgument("a", "an array in the memory of a GPU",
                          "an array of the host: the Runtime has no GPU");
  if (runtime.size() > 1)
    throw InvalidArgument("a", "an array in the memory of a GPU", "an array of the host on several ranks");
}

/// The vectors of all ranks, column-major.
template <class T>
HostMemory gathered(const ColumnSlabs<T>& slabs) {
  const Runtime& runtime = current_runtime();
  const auto n = static_cast<std::size_t>(slabs.rows());
  HostMemory memory = host_memory(n * static_cast<std::size_t>(slabs.cols()) * sizeof(T));
  T* const all = static_cast<T*>(memory.get());
  std::vector<T> own;
  for (Index s = 0; s < slabs.count(); ++s) {
    if (slabs.owner(s) != runtime.rank()) continue;
    const HostAccess access(slabs.slab(s), HostAccess::Mode::read);
    const auto z = access.template matrix<const T>();
    for (Index j = 0; j < z.cols; ++j) {
      T* const to = all + n * static_cast<std::size_t>(slabs.first_col(s) + j);
      std::copy_n(&z(0, j), n, to);
      if (runtime.size() > 1) own.insert(own.end(), to, to + n);
    }
  }
  if (runtime.size() == 1) return memory;
  const auto parts = runtime.all_gather(std::as_bytes(std::span<const T>(own)));
  std::vector<std::size_t> read(parts.size());
  for (Index s = 0; s < slabs.count(); ++s) {
    const auto owner = static_cast<std::size_t>(slabs.owner(s));
    const std::size_t bytes = n * static_cast<std::size_t>(slabs.slab_cols(s)) * sizeof(T);
    if (bytes == 0) continue;
    std::memcpy(all + n * static_cast<std::size_t>(slabs.first_col(s)), parts[owner].data() + read[owner],
                bytes);
    read[owner] += bytes;
  }
  return memory;
}

template <class T>
nb::tuple solve(const Input& a, const std::optional<Input>& b, const DenseRequest& request) {
  EigenResult<T> result;
  HostMemory vectors(nullptr, &std::free);
  DeviceMemory on_device;
  std::atomic<bool> stop = false;
  Index n = 0, count = 0;
  {
    const Call call;
    Runtime& runtime = current_runtime();
    if (request.on_device) check_device(runtime);
    if (b && b->array.dtype() != a.array.dtype())
      throw InvalidArgument("b", "another dtype", "the dtype of a");
    TiledMatrix<T> a_tiles, b_tiles;
    EigenProblem<T> problem{.a = input_of<T>(a, "a", a_tiles)};
    if (b) problem.b = input_of<T>(*b, "b", b_tiles);
    n = problem.a.order();
    const bool vectors_wanted = request.options.vectors && n > 0;
    if (vectors_wanted && runtime.size() == 1) {
      const Index most = max_vectors(n, request.options);
      const auto elements = static_cast<std::size_t>(n * std::max<Index>(most, 1));
      T* z = nullptr;
      if (request.on_device) {
        on_device = DeviceMemory(elements * sizeof(T), request.device);
        z = static_cast<T*>(on_device.get());
      } else if (request.options.range.kind != EigenRange::Kind::value) {
        vectors = host_memory(elements * sizeof(T));
        z = static_cast<T*>(vectors.get());
      }
      if (z != nullptr) problem.vectors_to = {z, n};
    }
    if (request.on_device) synchronize_default_stream(request.device);
    auto completion = submit_eigensolve<T>(runtime, problem, request.options);
    wait_for(completion, stop);
    result = std::move(completion).result();
    count = static_cast<Index>(result.values.size());
    if (vectors_wanted && result && !problem.vectors_to) vectors = gathered(result.vectors);
    result.vectors.release();
    a_tiles.release_unchanged(), b_tiles.release_unchanged();
  }
  check_signals();
  nb::object z = nb::none();
  if (request.options.vectors && result) {
    if (on_device.get() != nullptr) {
      z = std::move(on_device).template to_array<T>(
          {static_cast<std::size_t>(count), static_cast<std::size_t>(n)});
    } else {
      if (!vectors) vectors = host_memory(0);
      z = host_array<T>(std::move(vectors), {static_cast<std::size_t>(n), static_cast<std::size_t>(count)},
                        {1, static_cast<std::int64_t>(n)});
    }
  }
  std::vector<RealOf<T>> values = std::move(result.values);
  return nb::make_tuple(status_object(result.status()), to_numpy(std::move(values)), z, result.first,
                        std::string(to_string(result.used.solver)));
}

Uplo uplo_of(bool lower) {
  return lower ? Uplo::lower : Uplo::upper;
}

nb::tuple eigensolve_arrays(AnyArray a, bool a_lower, std::optional<AnyArray> b, bool b_lower, bool vectors,
                            const std::string& range, double lo, double hi, const std::string& solver,
                            Index tile, Index band, Index update_width, bool split_products) {
  DenseRequest request;
  request.options.solver = solver_from_string(solver);
  request.options.vectors = vectors;
  request.options.tile = tile;
  request.options.band = band;
  request.options.update_width = update_width;
  request.options.split_products = split_products;
  if (range == "index")
    request.options.range = index_range(static_cast<Index>(lo), static_cast<Index>(hi));
  else if (range == "value")
    request.options.range = value_range(lo, hi);
  request.on_device = a.device_type() != nb::device::cpu::value;
  request.device = a.device_id();
  if (b && (b->device_type() != a.device_type() || b->device_id() != a.device_id()))
    throw InvalidArgument("b", "an array in another memory", "an array where a is");
  std::optional<Input> second;
  if (b) second = Input{*b, uplo_of(b_lower)};
  return with_scalar(a.dtype(), [&]<class T>() { return solve<T>({a, uplo_of(a_lower)}, second, request); });
}

/// What a batch is: `shape` is (..., n, n), and its matrices are column-major, of one order and distance.
struct Stack {
  std::vector<std::size_t> shape;
  Index ld, stride;
  Uplo uplo;
};

/// Vectors come as (..., n, n), each matrix column-major, which is the transpose of what NumPy takes it for.
template <class T>
nb::tuple solve_batch(const AnyArray& a, const Stack& stack, bool vectors_wanted) {
  using R = RealOf<T>;
  const bool gpu = a.device_type() != nb::device::cpu::value;
  std::vector<std::size_t> shape_of_values = stack.shape;
  shape_of_values.pop_back();
  const std::size_t n = stack.shape.back();
  std::size_t count = 1;
  for (std::size_t k = 0; k + 2 < stack.shape.size(); ++k) count *= stack.shape[k];
  const std::size_t elements = std::max<std::size_t>(n * n * count, 1);
  EigenBatchResult<T> result;
  HostMemory vectors(nullptr, &std::free), values(nullptr, &std::free);
  DeviceMemory device_vectors, device_values;
  std::atomic<bool> stop = false;
  {
    const Call call;
    Runtime& runtime = current_runtime();
    if (gpu) check_device(runtime);
    EigenBatchProblem<T> problem{.a = {static_cast<const T*>(a.data()), static_cast<Index>(n),
                                       static_cast<Index>(count), stack.ld, stack.stride, stack.uplo}};
    const std::size_t value_bytes = std::max<std::size_t>(n * count, 1) * sizeof(R);
    T* z = nullptr;
    if (gpu) {
      device_values = DeviceMemory(value_bytes, a.device_id());
      problem.values_to = static_cast<R*>(device_values.get());
      if (vectors_wanted) {
        device_vectors = DeviceMemory(elements * sizeof(T), a.device_id());
        z = static_cast<T*>(device_vectors.get());
      }
      synchronize_default_stream(a.device_id());
    } else {
      values = host_memory(value_bytes);
      problem.values_to = static_cast<R*>(values.get());
      if (vectors_wanted) {
        vectors = host_memory(elements * sizeof(T));
        z = static_cast<T*>(vectors.get());
      }
    }
    if (z != nullptr) problem.vectors_to = {z, static_cast<Index>(n)};
    auto completion = submit_eigensolve_batch<T>(runtime, problem, {.vectors = vectors_wanted});
    wait_for(completion, stop);
    result = std::move(completion).result();
  }
  check_signals();
  nb::object w = gpu ? std::move(device_values).template to_array<R>(shape_of_values)
                     : host_array<R>(std::move(values), shape_of_values);
  nb::object z = nb::none();
  if (vectors_wanted)
    z = gpu ? std::move(device_vectors).template to_array<T>(stack.shape)
            : host_array<T>(std::move(vectors), stack.shape);
  return nb::make_tuple(status_object(result.status()), w, z);
}

nb::tuple eigensolve_stack(AnyArray a, std::vector<std::size_t> shape, Index ld, Index stride, bool lower,
                           bool vectors) {
  if (shape.size() < 2)
    throw InvalidArgument("shape", std::to_string(shape.size()) + " extents", "(..., n, n)");
  if (shape.back() > static_cast<std::size_t>(max_batch_order))
    throw InvalidArgument("a", "matrices of order " + std::to_string(shape.back()),
                          "at most " + std::to_string(max_batch_order) + " in a stack");
  const Stack stack{std::move(shape), ld, stride, uplo_of(lower)};
  return with_scalar(a.dtype(), [&]<class T>() { return solve_batch<T>(a, stack, vectors); });
}

}  // namespace

void bind_dense(nb::module_& module) {
  module.def("eigensolve", &eigensolve_arrays, nb::arg("a"), nb::arg("a_lower"), nb::arg("b").none(),
             nb::arg("b_lower"), nb::arg("vectors"), nb::arg("range"), nb::arg("lo"), nb::arg("hi"),
             nb::arg("solver"), nb::arg("tile"), nb::arg("band"), nb::arg("update_width"),
             nb::arg("split_products"));
  module.def("eigensolve_batch", &eigensolve_stack, nb::arg("a"), nb::arg("shape"), nb::arg("ld"),
             nb::arg("stride"), nb::arg("lower"), nb::arg("vectors"));
}

}  // namespace tessera::python
