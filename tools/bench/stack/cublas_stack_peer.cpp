// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cublas_stack_peer.hpp"

#include <cmath>
#include <complex>
#include <map>

#include <fmt/format.h>

#include <tessera/error.hpp>

#include "gpu_device.hpp"
#include "gpu_libraries.hpp"
#include "product_rounds.hpp"

#if TESSERA_WITH_CUDA
#include <tessera/codelets/linalg/cublas.hpp>
#endif

namespace tessera::program {
using namespace detail;

namespace {

constexpr const char* grouped_library = "cublas-grouped";

template <class T>
std::string routine_name(bool grouped) {
  return fmt::format("cublas{}gemm{}", type_letter<T>, grouped ? "GroupedBatched" : "Batched");
}

/// cuBLAS 12.5 and later have the grouped product by pointers, of real types.
template <class T>
std::string needs_grouped() {
#if TESSERA_WITH_CUDA
  if (CUBLAS_VERSION < 120500)
    return "cublas-batched (this program was built with a cuBLAS that has no grouped product)";
#endif
  return is_complex<T> ? "cublas-batched, or --type s or d (the grouped product has no complex types)" : "";
}

}  // namespace

bool is_cublas_stack_peer(const std::string& library) {
  return library == "cublas-batched" || library == grouped_library;
}

#if TESSERA_WITH_CUDA

namespace {

void require_cublas(cublasStatus_t status, const std::string& name) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw RuntimeError(fmt::format("{} failed: {}", name, cublasGetStatusString(status)));
}

/// One call: as many products as there are pointers.
template <class T>
struct Batch {
  std::int32_t m, n, k;
  Index count;
  std::size_t first;  ///< of its pointers in the arrays of all
};

/// Arrays of pointers as cuBLAS takes them.
template <class T>
struct BatchPointers {
  const T* const* a;
  const T* const* b;
  T* const* c;
};

template <class T>
cublasStatus_t multiply_batched(cublasHandle_t handle, const Batch<T>& batch, const BatchPointers<T>& at) {
  using Scalar = cublas::CudaTypeOf<T>;
  const T one(1);
  const auto* const alpha = cublas::cast(&one);
  const auto* const a = reinterpret_cast<const Scalar* const*>(at.a);
  const auto* const b = reinterpret_cast<const Scalar* const*>(at.b);
  auto* const c = reinterpret_cast<Scalar* const*>(at.c);
  const auto call = [&](auto routine) {
    return routine(handle, CUBLAS_OP_N, CUBLAS_OP_N, batch.m, batch.n, batch.k, alpha, a, batch.m, b, batch.k,
                   alpha, c, batch.m, static_cast<int>(batch.count));
  };
  if constexpr (std::is_same_v<T, float>)
    return call(cublasSgemmBatched);
  else if constexpr (std::is_same_v<T, double>)
    return call(cublasDgemmBatched);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return call(cublasCgemmBatched);
  else
    return call(cublasZgemmBatched);
}

template <class T>
cublasStatus_t multiply_grouped([[maybe_unused]] cublasHandle_t handle,
                                [[maybe_unused]] const Batch<T>& batch,
                                [[maybe_unused]] const BatchPointers<T>& at) {
#if CUBLAS_VERSION >= 120500
  const cublasOperation_t plain = CUBLAS_OP_N;
  const int m = batch.m, n = batch.n, k = batch.k, count = static_cast<int>(batch.count);
  const T one(1);
  const auto call = [&](auto routine) {
    return routine(handle, &plain, &plain, &m, &n, &k, &one, at.a, &m, at.b, &k, &one, at.c, &m, 1, &count);
  };
  if constexpr (std::is_same_v<T, float>)
    return call(cublasSgemmGroupedBatched);
  else if constexpr (std::is_same_v<T, double>)
    return call(cublasDgemmGroupedBatched);
#endif
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace

template <class T>
struct CublasStackPeer<T>::Detail {
  using Panels = std::vector<std::unique_ptr<DeviceMemory<T>>>;
  Device device;
  Panels a, b, c;
  std::vector<Batch<T>> batches;
  std::unique_ptr<DeviceMemory<const T*>> pointers_a, pointers_b;
  std::unique_ptr<DeviceMemory<T*>> pointers_c;

  static T* panel(Panels& panels, const std::vector<Data>& host, std::size_t number) {
    panels.resize(host.size());
    if (!panels[number]) panels[number] = std::make_unique<DeviceMemory<T>>(panel_values<T>(host[number]));
    return panels[number]->data();
  }

  Detail(const StackProblem<T>& problem, std::size_t items) {
    std::vector<const T*> all_a, all_b;
    std::vector<T*> all_c;
    for (std::size_t i = 0; i < std::min(items, problem.items.size()); ++i) {
      const StackItem& item = problem.items[i];
      const T *const x = panel(a, problem.a, item.a), *const y = panel(b, problem.b, item.b);
      T* const z = panel(c, problem.c, item.c);
      for (const ProductRound& round : product_rounds(item)) {
        batches.push_back({round.m, round.n, round.k, static_cast<Index>(round.c.size()), all_c.size()});
        for (std::size_t p = 0; p < round.c.size(); ++p) {
          all_a.push_back(x + round.a[p]);
          all_b.push_back(y + round.b[p]);
          all_c.push_back(z + round.c[p]);
        }
      }
    }
    pointers_a = std::make_unique<DeviceMemory<const T*>>(all_a);
    pointers_b = std::make_unique<DeviceMemory<const T*>>(all_b);
    pointers_c = std::make_unique<DeviceMemory<T*>>(all_c);
  }

  void multiply(bool grouped) const {
    for (const Batch<T>& batch : batches) {
      const BatchPointers<T> at{pointers_a->data() + batch.first, pointers_b->data() + batch.first,
                                pointers_c->data() + batch.first};
      require_cublas(
          grouped ? multiply_grouped(device.blas(), batch, at) : multiply_batched(device.blas(), batch, at),
          routine_name<T>(grouped));
    }
  }
};

template <class T>
void CublasStackPeer<T>::load(const StackProblem<T>& problem, std::size_t items, Index rounds) {
  detail_ = std::make_unique<Detail>(problem, items);
  rounds_ = rounds;
}

template <class T>
double CublasStackPeer<T>::run() {
  detail_->multiply(grouped_);
  return detail_->device.time([&] {
    for (Index round = 0; round < rounds_; ++round) detail_->multiply(grouped_);
  });
}

template <class T>
Index CublasStackPeer<T>::calls() const {
  return static_cast<Index>(detail_->batches.size());
}

template <class T>
std::vector<std::vector<T>> CublasStackPeer<T>::results() const {
  require(cudaDeviceSynchronize(), "waiting for the GPU");
  for (const auto& panel : detail_->c)
    if (panel) require(cudaMemset(panel->data(), 0, panel->size() * sizeof(T)), "clearing C");
  require(cudaDeviceSynchronize(), "clearing C");
  detail_->multiply(grouped_);
  require(cudaDeviceSynchronize(), "the products of cuBLAS");
  std::vector<std::vector<T>> values;
  for (const auto& panel : detail_->c) values.push_back(panel ? panel->get(panel->size()) : std::vector<T>());
  return values;
}

#else

template <class T>
struct CublasStackPeer<T>::Detail {};
template <class T>
void CublasStackPeer<T>::load(const StackProblem<T>&, std::size_t, Index) {
  throw RuntimeError("this build has no CUDA");
}
template <class T>
double CublasStackPeer<T>::run() {
  return unknown;
}
template <class T>
Index CublasStackPeer<T>::calls() const {
  return 0;
}
template <class T>
std::vector<std::vector<T>> CublasStackPeer<T>::results() const {
  return {};
}

#endif

template <class T>
CublasStackPeer<T>::CublasStackPeer(const Runtime& runtime, const std::string& library)
    : Peer({routine_name<T>(library == grouped_library), cublas_version(),
            first_of({needs_one_process(runtime), needs_gpu(runtime), needs_first_gpu(),
                      library == grouped_library ? needs_grouped<T>() : std::string()}),
            0}),
      grouped_(library == grouped_library) {}
template <class T>
CublasStackPeer<T>::~CublasStackPeer() = default;

template <class T>
double difference_of_results(const StackProblem<T>& problem, std::size_t items,
                             const std::vector<std::vector<T>>& one,
                             const std::vector<std::vector<T>>& other) {
  // Inner indices that are summed in a block of C, by its panel and place.
  std::map<std::pair<std::size_t, std::int32_t>, std::pair<Index, double>> blocks;
  for (std::size_t i = 0; i < std::min(items, problem.items.size()); ++i)
    for (const StackClass& shape : problem.items[i].classes)
      for (std::int32_t r = shape.first_run; r < shape.first_run + shape.runs; ++r) {
        const StackRun& run = problem.items[i].runs[static_cast<std::size_t>(r)];
        auto& [elements, terms] = blocks[{problem.items[i].c, run.c}];
        elements = Index(shape.m) * shape.n;
        terms += static_cast<double>(run.count) * shape.k;
      }
  double worst = 0;
  for (const auto& [place, block] : blocks) {
    const auto& [elements, terms] = block;
    for (Index e = 0; e < elements; ++e) {
      const auto at = static_cast<std::size_t>(place.second + e);
      const double error = static_cast<double>(std::abs(one[place.first][at] - other[place.first][at])) /
                           (static_cast<double>(precision<T>) * std::max(terms, 1.0));
      worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
    }
  }
  return worst;
}

#define TESSERA_INSTANTIATE(T)                                                  \
  template class CublasStackPeer<T>;                                            \
  template double difference_of_results<T>(const StackProblem<T>&, std::size_t, \
                                           const std::vector<std::vector<T>>&,  \
                                           const std::vector<std::vector<T>>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
