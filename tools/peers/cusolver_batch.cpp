// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cusolver_batch.hpp"

#include <algorithm>
#include <complex>
#include <functional>
#include <limits>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include <tessera/error.hpp>

#include "gpu_device.hpp"

namespace tessera::program {

#if TESSERA_WITH_CUDA

namespace {

/// A routine that takes this many times as long as the fastest, and this long, is not called again.
constexpr double batch_too_slow = 3, batch_too_long = 2;

/// The arrays of a call on the GPU.
template <class T>
struct BatchOnGpu {
  Index n, count;
  bool vectors;
  DeviceMemory<T> a;  ///< the matrices, then the vectors
  DeviceMemory<RealOf<T>> values;
  DeviceMemory<int> info;
  explicit BatchOnGpu(const BatchPeerProblem<T>& p)
      : n(p.n),
        count(p.count),
        vectors(p.vectors),
        a(static_cast<std::size_t>(p.n * p.n * p.count)),
        values(static_cast<std::size_t>(p.n * p.count)),
        info(static_cast<std::size_t>(p.count)) {}
};

/// A call with its workspace, which it owns.
using PreparedCall = std::function<void()>;

template <class T>
struct BatchRoutine {
  std::string name;
  std::function<PreparedCall(const Device&, const BatchOnGpu<T>&)> prepare;
};

#if CUSOLVER_VERSION >= 11701

template <class T>
PreparedCall prepare_syev(const std::string& name, const Device& device, const BatchOnGpu<T>& x) {
  const cudaDataType type = cusolver::data_type<T>, real = cusolver::data_type<RealOf<T>>;
  const auto params = std::make_shared<cusolver::Parameters>();
  std::size_t device_bytes = 0, host_bytes = 0;
  require(cusolverDnXsyevBatched_bufferSize(device.solver(), *params, cusolver::mode(x.vectors),
                                            CUBLAS_FILL_MODE_LOWER, x.n, type, x.a.data(), x.n, real,
                                            x.values.data(), type, &device_bytes, &host_bytes, x.count),
          name);
  const auto work = std::make_shared<DeviceMemory<char>>(device_bytes);
  const auto host = std::make_shared<std::vector<char>>(std::max<std::size_t>(host_bytes, 1));
  return [=, &device, &x] {
    require(
        cusolverDnXsyevBatched(device.solver(), *params, cusolver::mode(x.vectors), CUBLAS_FILL_MODE_LOWER,
                               x.n, type, x.a.data(), x.n, real, x.values.data(), type, work->data(),
                               device_bytes, host->data(), host_bytes, x.info.data(), x.count),
        name);
  };
}

#endif

/// The one of four routines that belongs to T.
template <class T, class S, class D, class C, class Z>
auto routine_of_type(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>)
    return s;
  else if constexpr (std::is_same_v<T, double>)
    return d;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return c;
  else
    return z;
}

template <class T>
PreparedCall prepare_syevj(const std::string& name, const Device& device, const BatchOnGpu<T>& x) {
  const auto size_of =
      routine_of_type<T>(cusolverDnSsyevjBatched_bufferSize, cusolverDnDsyevjBatched_bufferSize,
                         cusolverDnCheevjBatched_bufferSize, cusolverDnZheevjBatched_bufferSize);
  const auto solve = routine_of_type<T>(cusolverDnSsyevjBatched, cusolverDnDsyevjBatched,
                                        cusolverDnCheevjBatched, cusolverDnZheevjBatched);
  const int n = static_cast<int>(x.n), count = static_cast<int>(x.count);
  // As the library sets them: to the precision of T, at most 100 sweeps, ascending values.
  syevjInfo_t created = nullptr;
  require(cusolverDnCreateSyevjInfo(&created), name);
  const std::shared_ptr<std::remove_pointer_t<syevjInfo_t>> params(created, cusolverDnDestroySyevjInfo);
  int size = 0;
  require(size_of(device.solver(), cusolver::mode(x.vectors), CUBLAS_FILL_MODE_LOWER, n,
                  cublas::cast(x.a.data()), n, x.values.data(), &size, params.get(), count),
          name);
  const auto work = std::make_shared<DeviceMemory<T>>(static_cast<std::size_t>(std::max(size, 0)));
  return [=, &device, &x] {
    require(
        solve(device.solver(), cusolver::mode(x.vectors), CUBLAS_FILL_MODE_LOWER, n, cublas::cast(x.a.data()),
              n, x.values.data(), cublas::cast(work->data()), size, x.info.data(), params.get(), count),
        name);
  };
}

template <class T>
std::vector<BatchRoutine<T>> batch_routines() {
  std::vector<BatchRoutine<T>> all;
  const auto add = [&](std::string name, auto prepare) {
    all.push_back({name, [name, prepare](const Device& device, const BatchOnGpu<T>& x) {
                     return prepare(name, device, x);
                   }});
  };
#if CUSOLVER_VERSION >= 11701
  add(fmt::format("cusolver XsyevBatched ({})", type_letter<T>), prepare_syev<T>);
#endif
  add(fmt::format("cusolver {}{}evjBatched", type_letter<T>, is_complex<T> ? "he" : "sy"), prepare_syevj<T>);
  return all;
}

/// Copies on a stream.
template <class E>
void copy_on_stream(E* to, const E* from, std::size_t count, const Device& device) {
  require(cudaMemcpyAsync(to, from, sizeof(E) * count, cudaMemcpyDefault, device.stream()), "copying");
}

/// Calls one routine once. If the results belong on the host, the time includes the copies from page-locked memory
/// and to it.
template <class T>
BatchPeerSolution<T> solve_once(const Device& device, const BatchPeerProblem<T>& p,
                                const BatchRoutine<T>& routine, const T* from, T* vectors_to,
                                RealOf<T>* values_to) {
  BatchPeerSolution<T> solution;
  solution.name = routine.name;
  const BatchOnGpu<T> x(p);
  const PreparedCall call = routine.prepare(device, x);
  if (p.on_gpu) copy_on_stream(x.a.data(), from, x.a.size(), device);
  solution.seconds = device.time([&] {
    if (!p.on_gpu) copy_on_stream(x.a.data(), from, x.a.size(), device);
    call();
    if (p.on_gpu) return;
    copy_on_stream(values_to, x.values.data(), x.values.size(), device);
    if (p.vectors) copy_on_stream(vectors_to, x.a.data(), x.a.size(), device);
  });
  const std::vector<int> info = x.info.get(x.info.size());
  const auto failed = std::ranges::find_if(info, [](int value) { return value != 0; });
  if (failed != info.end())
    throw RuntimeError(fmt::format("{} failed for matrix {} with info = {}", routine.name,
                                   failed - info.begin() + 1, *failed));
  solution.values = x.values.get(x.values.size());
  if (p.vectors && p.fetch) solution.vectors = x.a.get(x.a.size());
  return solution;
}

}  // namespace

template <class T>
struct CusolverBatch<T>::State {
  std::optional<Device> device;  // made by the first call, because a peer is also made to be refused
  std::vector<BatchRoutine<T>> usable = batch_routines<T>();
  std::vector<std::string> left_out;
};

template <class T>
CusolverBatch<T>::CusolverBatch() : state_(std::make_shared<State>()) {}

template <class T>
BatchPeerSolution<T> CusolverBatch<T>::operator()(const BatchPeerProblem<T>& p) const {
  if (p.count > std::numeric_limits<int>::max())
    throw RuntimeError(fmt::format("cuSOLVER counts matrices in 32 bits, and {} are too many", p.count));
  State& state = *state_;
  if (!state.device) state.device.emplace();
  const auto elements = static_cast<std::size_t>(p.n * p.n * p.count);
  const LockedMemory<T> matrices(elements), vectors(p.vectors && !p.on_gpu ? elements : 0);
  const LockedMemory<RealOf<T>> values(static_cast<std::size_t>(p.n * p.count));
  std::copy_n(p.a, elements, matrices.data());
  std::optional<BatchPeerSolution<T>> best;
  std::vector<PeerTrial> trials;
  std::erase_if(state.usable, [&](const BatchRoutine<T>& routine) {
    try {
      BatchPeerSolution<T> found =
          solve_once(*state.device, p, routine, matrices.data(), vectors.data(), values.data());
      trials.push_back({found.name, found.seconds});
      if (!best || found.seconds < best->seconds) best = std::move(found);
      return false;
    } catch (const RuntimeError& error) {
      state.left_out.emplace_back(error.what());
      return true;
    }
  });
  if (!best) throw RuntimeError(state.left_out.empty() ? "cuSOLVER has no routine" : state.left_out.back());
  for (const PeerTrial& trial : trials) {
    if (trial.seconds < std::max(batch_too_slow * best->seconds, batch_too_long)) continue;
    state.left_out.push_back(fmt::format("{} took {:.3g} s where {} took {:.3g} s", trial.name, trial.seconds,
                                         best->name, best->seconds));
    std::erase_if(state.usable, [&](const BatchRoutine<T>& routine) { return routine.name == trial.name; });
  }
  if (trials.size() > 1) best->trials = std::move(trials);
  best->left_out = state.left_out;
  return std::move(*best);
}

#else

template <class T>
struct CusolverBatch<T>::State {};

template <class T>
CusolverBatch<T>::CusolverBatch() = default;

template <class T>
BatchPeerSolution<T> CusolverBatch<T>::operator()(const BatchPeerProblem<T>&) const {
  throw RuntimeError("this build has no CUDA, so no GPU can be the peer");
}

#endif

#define TESSERA_INSTANTIATE(T) template class CusolverBatch<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
