// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/starpu_detail.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

namespace {

std::vector<Codelet*>& registry() {
  static std::vector<Codelet*> codelets;
  return codelets;
}

struct CudaImplementation {
  Codelet::Function function;
  CudaOptions options;
  const Codelet* codelet;
};

/// CUDA functions by codelet name: load order of the two files is not defined, so they meet at start.
std::map<std::string, CudaImplementation>& cuda_functions() {
  static std::map<std::string, CudaImplementation> functions;
  return functions;
}

/// Every CUDA implementation is that of the codelet of its name: two tasks may not have one name.
void require_whole_codelets() {
  for (const auto& [name, implementation] : cuda_functions())
    if (implementation.codelet->name() != name)
      throw RuntimeError(
          fmt::format("the GPU's half of the task '{}' meets '{}'", name, implementation.codelet->name()));
}

const TaskHeader& header_of(const starpu_task* task) {
  return *static_cast<const TaskHeader*>(task->cl_arg);
}

/// Sizes of the buffers, and what the arguments add.
std::uint32_t task_footprint(starpu_task* task) {
  const auto extra = registry()[header_of(task).codelet]->detail().footprint(task->cl_arg);
  return starpu_hash_crc32c_be(extra, starpu_task_data_footprint(task));
}

/// Bytes of all buffers, work space included.
double buffer_bytes(starpu_task* task) {
  double bytes = 0;
  for (unsigned i = 0; i < STARPU_TASK_GET_NBUFFERS(task); ++i)
    bytes += static_cast<double>(starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, i)));
  return bytes;
}

/// Microseconds, by the codelet's own count.
double task_cost(starpu_task* task, starpu_perfmodel_arch* arch, unsigned) {
  const bool on_gpu = arch->ndevices > 0 && arch->devices[0].type == STARPU_CUDA_WORKER;
  return 1e6 * registry()[header_of(task).codelet]->detail().cost(
                   task->cl_arg, on_gpu ? WorkerKind::gpu : WorkerKind::cpu, buffer_bytes(task));
}

starpu_perfmodel_type model_type(PerformanceModel model) {
  switch (model) {
    case PerformanceModel::history:
      return STARPU_HISTORY_BASED;
    case PerformanceModel::regression:
      return STARPU_NL_REGRESSION_BASED;
    case PerformanceModel::cost:
      return STARPU_PER_ARCH;
  }
  return STARPU_HISTORY_BASED;
}

/// Regressions are over the flops of the task.
std::size_t task_size(starpu_task* task, unsigned) {
  return static_cast<std::size_t>(header_of(task).flops);
}

#ifdef STARPU_USE_CUDA
/// Limits of a task that a core may take beside GPUs.
constexpr double largest_flops_of_cpu = 5e8, largest_bytes_of_cpu = 64 << 20;

/// Beside GPUs a CPU takes small tasks only. A large one there would hold up all that wait for it, and until
/// its time is known the scheduler would try it: a whole stage on one core, where a tile is the whole matrix.
int cpu_may_take(unsigned worker, starpu_task* task, unsigned) {
  if (starpu_worker_get_type(static_cast<int>(worker)) != STARPU_CPU_WORKER) return 1;
  return header_of(task).flops <= largest_flops_of_cpu && buffer_bytes(task) <= largest_bytes_of_cpu;
}
#endif

}  // namespace

Codelet::Codelet(std::string name, Function cpu, Footprint footprint, PerformanceModel model)
    : name_(std::move(name)),
      index_(static_cast<int>(registry().size())),
      model_(model),
      detail_(new Detail) {
  starpu_codelet_init(&detail_->codelet);
  detail_->footprint = footprint;
  detail_->codelet.cpu_funcs[0] = cpu;
  detail_->codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
  detail_->codelet.name = name_.c_str();
  registry().push_back(this);
}

Codelet::Codelet(std::string name, Function cpu, Footprint footprint, Cost cost)
    : Codelet(std::move(name), cpu, footprint, PerformanceModel::cost) {
  detail_->cost = cost;
}

Codelet::~Codelet() = default;

bool Codelet::has_cuda() const noexcept {
  return cuda_functions().contains(name_);
}

const std::vector<Codelet*>& Codelet::all() {
  return registry();
}

bool register_cuda_implementation(const std::string& codelet_name, Codelet::Function function,
                                  const CudaOptions& options, const Codelet* codelet) {
  return cuda_functions().emplace(codelet_name, CudaImplementation{function, options, codelet}).second;
}

void prepare_codelets([[maybe_unused]] bool gpus, [[maybe_unused]] bool hybrid) {
  require_whole_codelets();
  for (Codelet* codelet : registry()) {
    Codelet::Detail& detail = codelet->detail();
    // StarPU keeps run-time state in both structures, so every start initializes them again.
    const auto cpu = detail.codelet.cpu_funcs[0];
    starpu_codelet_init(&detail.codelet);
    detail.codelet.cpu_funcs[0] = cpu;
    detail.codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
    detail.codelet.name = codelet->name().c_str();
#ifdef STARPU_USE_CUDA
    if (auto found = cuda_functions().find(codelet->name()); found != cuda_functions().end()) {
      detail.codelet.cuda_funcs[0] = found->second.function;
      detail.codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
      // One GPU does what forty times as many cores do: a task that a CPU takes over delays those that wait
      // for it.
      const CudaOptions& options = found->second.options;
      if (gpus && (!hybrid || options.instead_of_cpu))
        detail.codelet.where = STARPU_CUDA;
      else if (gpus)
        detail.codelet.can_execute = cpu_may_take;
      if (const int host_buffers = options.host_buffers; host_buffers > 0) {
        detail.codelet.specific_nodes = 1;
        for (int i = 0; i < STARPU_NMAXBUFS; ++i)
          detail.codelet.nodes[i] = i < host_buffers ? STARPU_SPECIFIC_NODE_CPU : STARPU_SPECIFIC_NODE_LOCAL;
      }
    }
#endif
    detail.model = starpu_perfmodel{};
    detail.model.symbol = codelet->name().c_str();
    detail.model.type = model_type(codelet->model());
    if (codelet->model() == PerformanceModel::cost) detail.model.arch_cost_function = task_cost;
    detail.model.footprint = task_footprint;
    if (codelet->model() == PerformanceModel::regression) detail.model.size_base = task_size;
    detail.codelet.model = &detail.model;
  }
}

RawBuffer raw_buffer(const void* buffer) noexcept {
  if (*static_cast<const starpu_data_interface_id*>(buffer) == STARPU_MATRIX_INTERFACE_ID) {
    const auto& matrix = *static_cast<const starpu_matrix_interface*>(buffer);
    return {reinterpret_cast<void*>(matrix.ptr), static_cast<Index>(matrix.nx), static_cast<Index>(matrix.ny),
            static_cast<Index>(matrix.ld)};
  }
  const auto& vector = *static_cast<const starpu_vector_interface*>(buffer);
  const auto size = static_cast<Index>(vector.nx) * static_cast<Index>(vector.elemsize);
  return {reinterpret_cast<void*>(vector.ptr), size, 1, size};
}

int AccessList::add(const Data& data, AccessMode mode) {
  for (int i = 0; i < count_; ++i) {
    Access& access = begin()[i];
    if (access.data != &data) continue;
    if (access.mode != mode) access.mode = AccessMode::read_write;
    return i;
  }
  return append(data, mode);
}

int AccessList::append(const Data& data, AccessMode mode) {
  const auto used = static_cast<std::size_t>(count_);
  if (used == few_.size() && many_.empty()) many_.assign(few_.begin(), few_.end());
  if (used >= few_.size())
    many_.push_back({&data, mode});
  else
    few_[used] = {&data, mode};
  return count_++;
}

}  // namespace tessera::detail
