// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "half_blocks_peer.hpp"

#include <fmt/format.h>

#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/version.hpp>

#include "machine_limits.hpp"
#include "process.hpp"

#if TESSERA_WITH_CUDA
#include "gpu_device.hpp"
#include "half_blocks_kernels.hpp"
#endif

namespace tessera::program {
using namespace detail;

namespace {

/// What both have: the matrix, and what is said of it.
template <class V, class T>
class HalfBlocksPeer : public RowsPeer<T> {
 public:
  HalfBlocksPeer(Runtime& runtime, const std::string& name, HalfBlocksMethod method, int threads)
      : RowsPeer<T>({fmt::format("half-stored blocks, {}{} (Maris et al. 2022)", name,
                                 threads == 0 ? " on a GPU" : ""),
                     TESSERA_VERSION_STRING, needs_one_process(runtime), threads}),
        runtime_(runtime),
        method_(method) {}

  void prepare(RowsPeerProblem<T> problem) override {
    problem_ = problem;
    if (ready_) return;
    const CsbPartition cut = csb_partition(runtime_, *problem.a, {});
    const HalfBlocks<V> a = half_blocks<V>(*problem.a, cut.bands, host_threads(runtime_));
    // Both kernels read all of it.
    bytes_ = 2 * a.bytes();
    set_matrix(a);
    ready_ = true;
  }
  double matrix_bytes() const override { return bytes_; }
  void release() override {
    clear();
    ready_ = false;
  }

 protected:
  virtual void set_matrix(const HalfBlocks<V>& a) = 0;
  virtual void clear() = 0;
  int columns() const { return static_cast<int>(problem_.columns); }

  Runtime& runtime_;
  HalfBlocksMethod method_;
  RowsPeerProblem<T> problem_;

 private:
  bool ready_ = false;
  double bytes_ = 0;
};

template <class V, class T>
class HalfBlocksOnCores final : public HalfBlocksPeer<V, T> {
 public:
  HalfBlocksOnCores(Runtime& runtime, const std::string& name, HalfBlocksMethod method)
      : HalfBlocksPeer<V, T>(runtime, name, method, cpu_threads(runtime)) {}
  double run() override {
    y_.resize(this->problem_.x->size());
    double seconds = 0;
    this->runtime_.run_exclusively(1, [&] {
      const double begin = now();
      multiply_half_blocks(a_, this->method_, this->columns(), *this->problem_.x, y_, this->threads());
      seconds = now() - begin;
    });
    return seconds;
  }
  std::vector<T> result() override { return this->problem_.fetch ? y_ : std::vector<T>(); }

 private:
  void set_matrix(const HalfBlocks<V>& a) override { a_ = a; }
  void clear() override {
    a_ = {};
    y_ = {};
  }
  HalfBlocks<V> a_;
  std::vector<T> y_;
};

#if TESSERA_WITH_CUDA

template <class V, class T>
class HalfBlocksOnDevice final : public HalfBlocksPeer<V, T> {
 public:
  HalfBlocksOnDevice(Runtime& runtime, const std::string& name, HalfBlocksMethod method)
      : HalfBlocksPeer<V, T>(runtime, name, method, 0) {}
  double run() override {
    constexpr int repeat = 5;
    std::vector<double> seconds;
    for (int run = 0; run < repeat; ++run)
      seconds.push_back(memory_->device.time([&] {
        if (!launch_half_blocks(memory_->device.stream(), memory_->view, this->method_, this->columns(),
                                memory_->x.data(), memory_->y.data(), this->problem_.a->order()))
          throw RuntimeError("the product by blocks could not be started on the GPU");
      }));
    return median(seconds);
  }
  std::vector<T> result() override {
    return this->problem_.fetch ? memory_->y.get(memory_->y.size()) : std::vector<T>();
  }

 private:
  struct Memory {
    Memory(const HalfBlocks<V>& a, const std::vector<T>& given)
        : blocks(a.blocks),
          row_begins(a.row_begins),
          column_begins(a.column_begins),
          by_column(a.by_column),
          values(a.values),
          rows(a.rows),
          columns(a.columns),
          x(given),
          y(given.size()),
          view{a.block_rows(),       static_cast<std::int64_t>(a.blocks.size()),
               blocks.data(),        row_begins.data(),
               column_begins.data(), by_column.data(),
               values.data(),        rows.data(),
               columns.data()} {}
    Device device;
    DeviceMemory<HalfBlock> blocks;
    DeviceMemory<std::int64_t> row_begins, column_begins, by_column;
    DeviceMemory<V> values;
    DeviceMemory<std::uint16_t> rows, columns;
    DeviceMemory<T> x, y;
    HalfBlocksOnGpu<V> view;
  };
  void set_matrix(const HalfBlocks<V>& a) override {
    memory_ = std::make_unique<Memory>(a, *this->problem_.x);
  }
  void clear() override { memory_.reset(); }

  std::unique_ptr<Memory> memory_;
};

#endif

}  // namespace

template <class V, class T>
std::unique_ptr<RowsPeer<T>> make_half_blocks_peer(Runtime& runtime, const std::string& name) {
  const std::pair<const char*, HalfBlocksMethod> methods[] = {{"naive", HalfBlocksMethod::naive},
                                                              {"atomic", HalfBlocksMethod::atomic},
                                                              {"cached", HalfBlocksMethod::cached}};
  for (const auto& [known, method] : methods) {
    if (name != known) continue;
#if TESSERA_WITH_CUDA
    if (runtime.gpus() > 0) return std::make_unique<HalfBlocksOnDevice<V, T>>(runtime, name, method);
#endif
    if (method == HalfBlocksMethod::cached)
      throw InvalidArgument("--peer", name, "naive or atomic without a GPU");
    return std::make_unique<HalfBlocksOnCores<V, T>>(runtime, name, method);
  }
  return nullptr;
}

template std::unique_ptr<RowsPeer<float>> make_half_blocks_peer<float, float>(Runtime&, const std::string&);
template std::unique_ptr<RowsPeer<double>> make_half_blocks_peer<float, double>(Runtime&, const std::string&);
template std::unique_ptr<RowsPeer<double>> make_half_blocks_peer<double, double>(Runtime&,
                                                                                 const std::string&);

}  // namespace tessera::program
