// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <tessera/data.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/caller_streams.hpp>
#include <tessera/runtime/fault_points.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/starpu_detail.hpp>
#if TESSERA_WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace tessera::detail {

namespace {

/// Tells StarPU-MPI who owns the piece; every rank passes here in the same order, so the tags agree.
void register_owner(Runtime& runtime, starpu_data_handle_t handle, int owner) {
  if (runtime.size() == 1) return;
  if (owner == Data::every_rank)
    starpu_mpi_data_register_comm(handle, -1, STARPU_MPI_PER_NODE, runtime.detail().communicator);
  else
    starpu_mpi_data_register_comm(handle, runtime.detail().next_tag++, owner, runtime.detail().communicator);
}

/// So many bytes are allocated: sizes that differ by less than a sixteenth are mostly equal then, so that
/// StarPU finds memory that it has freed before. To page-lock new memory costs more than to copy it ten
/// times.
std::size_t allocated_size(std::size_t size) {
  const std::size_t step = std::max<std::size_t>(std::bit_floor(size) / 16, 256);
  return (size + step - 1) / step * step;
}

/// One of StarPU's shapes, whose memory StarPU gives back when a piece of it is released.
starpu_data_interface_ops without_reuse(const starpu_data_interface_ops& shape) {
  starpu_data_interface_ops result = shape;
  result.dontcache = 1;
  return result;
}

void register_matrix(starpu_data_handle_t* handle, int node, void* memory, Index rows, Index cols, Index ld,
                     std::size_t element, bool reuse) {
  static starpu_data_interface_ops unkept = without_reuse(starpu_interface_matrix_ops);
  starpu_matrix_interface matrix{};
  matrix.id = STARPU_MATRIX_INTERFACE_ID;
  matrix.ptr = matrix.dev_handle = reinterpret_cast<uintptr_t>(memory);
  matrix.nx = static_cast<uint32_t>(rows);
  matrix.ny = static_cast<uint32_t>(cols);
  matrix.ld = static_cast<uint32_t>(memory ? ld : rows);
  matrix.elemsize = element;
  matrix.allocsize = static_cast<std::size_t>(rows * cols) * element;
  starpu_data_register(handle, node, &matrix, reuse ? &starpu_interface_matrix_ops : &unkept);
}

/// StarPU counts a vector's elements in 32 bits: beyond that the element is a page.
void register_bytes(starpu_data_handle_t* handle, int node, void* memory, std::size_t size,
                    std::size_t reserve, bool reuse) {
  static starpu_data_interface_ops unkept = without_reuse(starpu_interface_vector_ops);
  constexpr std::size_t page = 4096;
  starpu_vector_interface vector{};
  vector.id = STARPU_VECTOR_INTERFACE_ID;
  vector.ptr = vector.dev_handle = reinterpret_cast<uintptr_t>(memory);
  vector.elemsize = size > UINT32_MAX ? page : 1;
  vector.nx = static_cast<uint32_t>((size + vector.elemsize - 1) / vector.elemsize);
  const std::size_t bytes = vector.nx * vector.elemsize;
  vector.allocsize = memory ? bytes : allocated_size(std::max(bytes, reserve));
  starpu_data_register(handle, node, &vector, reuse ? &starpu_interface_vector_ops : &unkept);
}

/// A copy may be the work of a worker, which may be paused, while the caller waits for it.
class CopyingWorkers {
 public:
  explicit CopyingWorkers(Runtime& runtime) : runtime_(runtime.detail().workers_copy ? &runtime : nullptr) {
    if (runtime_) runtime_->detail().activate();
  }
  ~CopyingWorkers() {
    if (runtime_) runtime_->detail().deactivate();
  }
  CopyingWorkers(const CopyingWorkers&) = delete;
  CopyingWorkers& operator=(const CopyingWorkers&) = delete;

 private:
  Runtime* runtime_;
};

/// Whether StarPU keeps the memory of a piece of so many bytes when it is released.
bool keeps_memory(const Runtime& runtime, std::size_t bytes) {
  return bytes < runtime.detail().unkept_bytes;
}

/// Waits for the tasks submitted before, which may wait for messages of other ranks.
/// @throws what another rank has failed with, meanwhile
void acquire(const Data& data, starpu_data_access_mode mode) {
  Runtime& runtime = *data.runtime();
  fault_point();
  if (runtime.size() == 1) {
    starpu_data_acquire(starpu_handle(data), mode);
    return;
  }
  runtime.detail().require_no_alarm();
  // StarPU's thread may come when this one has given up.
  struct Arrival {
    std::mutex mutex;
    std::condition_variable changed;
    bool there = false;
  };
  const auto arrival = std::make_shared<Arrival>();
  const auto arrive = [](void* argument) {
    const std::unique_ptr<std::shared_ptr<Arrival>> shared(static_cast<std::shared_ptr<Arrival>*>(argument));
    const std::lock_guard lock((*shared)->mutex);
    (*shared)->there = true;
    (*shared)->changed.notify_all();
  };
  starpu_data_acquire_cb(starpu_handle(data), mode, arrive, new std::shared_ptr<Arrival>(arrival));
  std::unique_lock lock(arrival->mutex);
  while (!arrival->changed.wait_for(lock, std::chrono::milliseconds(20), [&] { return arrival->there; })) {
    lock.unlock();
    runtime.detail().require_no_alarm();
    lock.lock();
  }
}

bool holds(const Runtime& runtime, int owner) {
  return owner == Data::every_rank || owner == runtime.rank();
}

/// A new piece whose memory StarPU finds on this rank.
void count(starpu_data_handle_t handle) {
  try {
    hold_host_memory(starpu_data_get_size(handle));
  } catch (...) {
    starpu_data_unregister_submit(handle);
    throw;
  }
}

}  // namespace

void pass_on_node(starpu_data_handle_t handle, int node, starpu_data_access_mode mode) {
  struct Place {
    starpu_data_handle_t handle;
    int node;
  };
  auto* const place = new Place{handle, node};
  const auto release = [](void* argument) {
    const std::unique_ptr<Place> passed(static_cast<Place*>(argument));
    starpu_data_release_on_node(passed->handle, passed->node);
  };
  starpu_data_acquire_on_node_cb(place->handle, node, mode, release, place);
}

int memory_node_of_gpu(int gpu) {
  return static_cast<int>(starpu_worker_get_memory_node(
      static_cast<unsigned>(starpu_worker_get_by_type(STARPU_CUDA_WORKER, gpu))));
}

int memory_node_of([[maybe_unused]] const Runtime& runtime, [[maybe_unused]] const void* memory) {
#if TESSERA_WITH_CUDA
  if (runtime.info().cuda_workers == 0) return STARPU_MAIN_RAM;
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    cudaGetLastError();
    return STARPU_MAIN_RAM;
  }
  if (attributes.type != cudaMemoryTypeDevice) return STARPU_MAIN_RAM;
  for (int worker = 0; worker < runtime.workers(); ++worker)
    if (starpu_worker_get_type(worker) == STARPU_CUDA_WORKER &&
        starpu_worker_get_devid(worker) == attributes.device)
      return static_cast<int>(starpu_worker_get_memory_node(worker));
  throw InvalidArgument("memory", fmt::format("of GPU {}", attributes.device),
                        "memory of the host or of a GPU in use");
#else
  return STARPU_MAIN_RAM;
#endif
}

bool in_gpu_memory(const Runtime& runtime, const void* memory) {
  return memory_node_of(runtime, memory) != STARPU_MAIN_RAM;
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

Data Data::matrix(Runtime& runtime, Index rows, Index cols, std::size_t element_bytes, int owner) {
  return wrap_matrix(runtime, nullptr, rows, cols, rows, element_bytes, owner);
}

/// Owned memory of the caller, if there is any, or none yet: `register_at` (handle, memory node or -1,
/// memory) tells StarPU its shape.
template <class Register>
Data Data::wrap(Runtime& runtime, void* memory, int owner, const Register& register_at) {
  detail::fault_point();
  const bool wrapped = memory != nullptr && holds(runtime, owner);
  starpu_data_handle_t handle;
  register_at(&handle, wrapped ? memory_node_of(runtime, memory) : -1, wrapped ? memory : nullptr);
  register_owner(runtime, handle, owner);
  if (!wrapped && holds(runtime, owner)) count(handle);
  return Data(runtime, handle, owner, wrapped);
}

Data Data::wrap_matrix(Runtime& runtime, void* memory, Index rows, Index cols, Index ld,
                       std::size_t element_bytes, int owner) {
  return wrap(runtime, memory, owner, [&](starpu_data_handle_t* handle, int node, void* place) {
    register_matrix(handle, node, place, rows, cols, ld, element_bytes,
                    keeps_memory(runtime, static_cast<std::size_t>(rows * cols) * element_bytes));
  });
}

Data Data::bytes(Runtime& runtime, std::size_t size, int owner, std::size_t reserve) {
  return wrap(runtime, nullptr, owner, [&](starpu_data_handle_t* handle, int node, void* place) {
    register_bytes(handle, node, place, size, reserve, reserve > 0 || keeps_memory(runtime, size));
  });
}

Data Data::wrap_bytes(Runtime& runtime, void* memory, std::size_t size, int owner) {
  return wrap(runtime, memory, owner, [&](starpu_data_handle_t* handle, int node, void* place) {
    register_bytes(handle, node, place, size, 0, keeps_memory(runtime, size));
  });
}

Data Data::scratch(Runtime& runtime, std::size_t size) {
  starpu_data_handle_t handle;
  register_bytes(&handle, -1, nullptr, std::max<std::size_t>(size, 1), 0, keeps_memory(runtime, size));
  count(handle);
  return Data(runtime, handle, every_rank, false);
}

bool Data::local() const noexcept {
  return holds(*runtime_, owner_);
}

void Data::release() {
  if (!handle_) return;
  Runtime::Detail& detail = runtime_->detail();
  const auto handle = starpu_handle(*this);
  if (detail.alarm.raised()) {  // StarPU may wait for messages that never come
    handle_ = nullptr;
    return;
  }
  if (wrapped_ && detail.leaving_call(runtime_->size(), exceptions_)) {
    handle_ = nullptr;
    detail.abandon_data(handle);
    return;
  }
  if (wrapped_ && detail.finishes_abandoned) {  // the memory behind it may be gone
    handle_ = nullptr;
    starpu_data_unregister_no_coherency(handle);
    return;
  }
  flush_remote_copies();
  handle_ = nullptr;
  if (wrapped_) {
    const CopyingWorkers copying(*runtime_);
    starpu_data_unregister(handle);
  } else {
    const std::size_t bytes = starpu_data_get_size(handle);
    if (local()) let_host_memory_go(bytes);
    if (!detail.retired.take(handle, bytes)) starpu_data_unregister_submit(handle);
  }
}

void Data::release_unchanged() {
  if (!handle_) return;
  const auto handle = starpu_handle(*this);
  if (!wrapped_ || runtime_->detail().alarm.raised()) return release();
  // Nothing is to be brought up to date.
  flush_remote_copies();
  starpu_data_unregister_submit(handle);
  handle_ = nullptr;
}

void Data::flush_remote_copies() const {
  flush_remote_copies({});
}

bool Data::flush_remote_copies(std::function<void()> freed) const {
  if (runtime_->size() == 1 || owner_ == every_rank) return false;
  starpu_mpi_cache_flush(runtime_->detail().communicator, starpu_handle(*this));
  if (!received_) return false;
  forget_received(std::move(freed));
  return true;
}

void Data::drop_written_copy() const {
  if (!local()) starpu_data_invalidate_submit(starpu_handle(*this));
}

/// A task of this rank reads the piece, which is another rank's.
void Data::receives() const {
  if (std::exchange(received_, true)) return;
  runtime_->detail().remote_copies->add(starpu_data_get_size(starpu_handle(*this)));
}

/// The copy has just been given up: it is counted until its last reader is over and its memory free.
void Data::forget_received(std::function<void()> freed) const {
  received_ = false;
  struct Copy {
    starpu_data_handle_t handle;
    std::shared_ptr<RemoteCopies> all;
    std::function<void()> freed;
  };
  const auto handle = starpu_handle(*this);
  auto* const copy = new Copy{handle, runtime_->detail().remote_copies, std::move(freed)};
  const auto is_free = [](void* argument) {
    const std::unique_ptr<Copy> gone(static_cast<Copy*>(argument));
    gone->all->remove(starpu_data_get_size(gone->handle));
    if (gone->freed) gone->freed();
    starpu_data_release_on_node(gone->handle, STARPU_ACQUIRE_NO_NODE);
  };
  starpu_data_acquire_on_node_cb(handle, STARPU_ACQUIRE_NO_NODE, STARPU_W, is_free, copy);
}

void Data::prefetch(int gpu, bool wait) const {
  if (gpu < 0 || gpu >= runtime_->info().cuda_workers || !local()) return;
  const int node = memory_node_of_gpu(gpu);
  if (!wait) return pass_on_node(starpu_handle(*this), node, STARPU_R);
  const CopyingWorkers copying(*runtime_);
  starpu_data_prefetch_on_node(starpu_handle(*this), static_cast<unsigned>(node), 0);
}

void Data::fetch_to_host() const {
  if (runtime_->info().cuda_workers > 0 && local())
    pass_on_node(starpu_handle(*this), STARPU_MAIN_RAM, STARPU_R);
}

void Data::free_gpu_copies_after(const Data& other) const {
  if (runtime_->info().cuda_workers == 0 || !local() || !other.local()) return;
  struct Copies {
    starpu_data_handle_t handle, other;
  };
  const auto free_copies = [](void* argument) {
    const std::unique_ptr<Copies> copies(static_cast<Copies*>(argument));
    int allocated = 0, valid = 0, requested = 0;
    starpu_data_query_status(copies->handle, STARPU_MAIN_RAM, &allocated, &valid, &requested);
    for (unsigned node = 0; valid && node < starpu_memory_nodes_get_count(); ++node)
      if (starpu_node_get_kind(node) == STARPU_CUDA_RAM) starpu_data_evict_from_node(copies->handle, node);
    starpu_data_release_on_node(copies->other, STARPU_ACQUIRE_NO_NODE);
  };
  auto* const copies = new Copies{starpu_handle(*this), starpu_handle(other)};
  starpu_data_acquire_on_node_cb(copies->other, STARPU_ACQUIRE_NO_NODE, STARPU_R, free_copies, copies);
}

void Data::invalidate() const {
  forget();
  flush_remote_copies();
  if (local()) starpu_data_invalidate_submit(starpu_handle(*this));
}

ReturnedMemory::ReturnedMemory(Runtime& runtime, std::size_t bytes)
    : runtime_(runtime), before_(runtime.detail().unkept_bytes.exchange(bytes)) {}

ReturnedMemory::~ReturnedMemory() {
  runtime_.detail().unkept_bytes = before_;
}

HostAccess::HostAccess(const Data& data, Mode mode) : handle_(data.handle()) {
  const auto handle = starpu_handle(data);
  if (!data.local()) throw InvalidArgument("data", "a piece of another rank", "a piece that this rank holds");
  const CopyingWorkers copying(*data.runtime());
  if (mode != Mode::write) ++data.runtime()->detail().waits;
  acquire(data, mode == Mode::read ? STARPU_R : mode == Mode::write ? STARPU_W : STARPU_RW);
  if (starpu_data_get_interface_id(handle) == STARPU_MATRIX_INTERFACE_ID) {
    pointer_ = reinterpret_cast<void*>(starpu_matrix_get_local_ptr(handle));
    rows_ = starpu_matrix_get_nx(handle);
    cols_ = starpu_matrix_get_ny(handle);
    ld_ = starpu_matrix_get_local_ld(handle);
  } else {
    pointer_ = reinterpret_cast<void*>(starpu_vector_get_local_ptr(handle));
    rows_ = static_cast<Index>(starpu_vector_get_nx(handle)) *
            static_cast<Index>(starpu_vector_get_elemsize(handle));
    ld_ = rows_;
  }
}

HostAccess::~HostAccess() {
  starpu_data_release(static_cast<starpu_data_handle_t>(handle_));
}

}  // namespace tessera
