// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include <sys/mman.h>

#include "common.hpp"
#include "device.hpp"

/// eigensolve for arrays of the host and of GPUs.
namespace tessera::python {
namespace {

struct Input {
  AnyArray array;
  Uplo uplo;
};

/// What a solve is asked for, beside its arrays.
struct Request {
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
nb::tuple solve(const Input& a, const std::optional<Input>& b, const Request& request) {
  EigenResult<T> result;
  HostMemory vectors(nullptr, &std::free);
  DeviceMemory on_device;
  std::atomic<bool> stop = false;
  Index n = 0, count = 0;
  {
    const Call call;
    Runtime& runtime = current_runtime();
    if (request.on_device && runtime.gpus() == 0)
      throw InvalidArgument("a", "an array in the memory of a GPU",
                            "an array of the host: the Runtime has no GPU");
    if (request.on_device && runtime.size() > 1)
      throw InvalidArgument("a", "an array in the memory of a GPU", "an array of the host on several ranks");
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
      z = std::move(on_device).template to_array<T>(count, n);
    } else {
      if (!vectors) vectors = host_memory(0);
      const nb::capsule owner(vectors.get(), [](void* p) noexcept { std::free(p); });
      T* const data = static_cast<T*>(vectors.release());
      const std::size_t shape[] = {static_cast<std::size_t>(n), static_cast<std::size_t>(count)};
      const std::int64_t strides[] = {1, static_cast<std::int64_t>(n)};
      z = nb::ndarray<nb::numpy, T>(data, 2, shape, owner, strides).cast();
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
                            Index tile, Index band, Index update_width) {
  Request request;
  request.options.solver = solver_from_string(solver);
  request.options.vectors = vectors;
  request.options.tile = tile;
  request.options.band = band;
  request.options.update_width = update_width;
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

}  // namespace

void bind_dense(nb::module_& module) {
  module.def("eigensolve", &eigensolve_arrays, nb::arg("a"), nb::arg("a_lower"), nb::arg("b").none(),
             nb::arg("b_lower"), nb::arg("vectors"), nb::arg("range"), nb::arg("lo"), nb::arg("hi"),
             nb::arg("solver"), nb::arg("tile"), nb::arg("band"), nb::arg("update_width"));
}

}  // namespace tessera::python
