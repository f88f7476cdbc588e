// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cusolver_peer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/error.hpp>

#include "gpu_device.hpp"

namespace tessera::program {

#if TESSERA_WITH_CUDA

namespace {

constexpr Index small_order = 128;  ///< order of the matrix for the warm-up calls

void require_success(const std::string& name, const DeviceMemory<int>& info) {
  if (const int value = info.get(1)[0]; value != 0)
    throw RuntimeError(fmt::format("{} failed with info = {}", name, value));
}

template <class T>
std::string routine(const char* library, const char* name) {
  return fmt::format("{} {}{}", library, type_letter<T>, name);
}

/// Solves the eigenproblem once. The vectors overwrite the first columns of a.
template <class T>
void solve(const Device& device, const std::string& name, DeviceMemory<T>& a, DeviceMemory<T>& b, Index n,
           const cusolver::Range& range, bool vectors, PeerSolution<T>& solution) {
  const DeviceMemory<RealOf<T>> values(static_cast<std::size_t>(n));
  const DeviceMemory<int> info(1);
  std::int64_t found = n;
  if (b.size() == 0) {
    std::size_t device_bytes = 0, host_bytes = 0;
    require(cusolver::heevd_bytes<T>(device.solver(), vectors, range, n, &device_bytes, &host_bytes), name);
    const DeviceMemory<char> work(device_bytes);
    std::vector<char> host(std::max<std::size_t>(host_bytes, 1));
    solution.seconds = device.time([&] {
      require(cusolver::heevd<T>(device.solver(), vectors, range, n, a.data(), n, values.data(), work.data(),
                                 device_bytes, host.data(), host_bytes, &found, info.data()),
              name);
    });
  } else {
    const int order = static_cast<int>(n);
    int size = 0, count = order;
    require(range.all() ? cusolver::hegvd_size<T>(device.solver(), vectors, order, &size)
                        : cusolver::hegvdx_size<T>(device.solver(), vectors, range, order, &size),
            name);
    const DeviceMemory<T> work(static_cast<std::size_t>(size));
    solution.seconds = device.time([&] {
      require(range.all()
                  ? cusolver::hegvd<T>(device.solver(), vectors, order, a.data(), order, b.data(), order,
                                       values.data(), work.data(), size, info.data())
                  : cusolver::hegvdx<T>(device.solver(), vectors, range, order, a.data(), order, b.data(),
                                        order, &count, values.data(), work.data(), size, info.data()),
              name);
    });
    found = count;
  }
  require_success(name, info);
  solution.values = values.get(static_cast<std::size_t>(found));
}

/// Calls `work` on a small matrix as a warm-up, then times it on `a`.
template <class T, class Work>
double time_on(const std::vector<T>& a, Index n, const Work& work) {
  const Device device;
  const DeviceMemory<T> warm(warm_up_matrix<T>(small_order)), matrix(a);
  work(device, warm.data(), small_order);
  return work(device, matrix.data(), n);
}

}  // namespace

template <class T>
PeerSolution<T> solve_with_cusolver(const std::vector<T>& a, const std::vector<T>& b, Index n,
                                    const RangeOption& range, bool vectors, bool fetch) {
  PeerSolution<T> solution;
  const bool all = range.kind == RangeOption::Kind::all;
  const bool by_index = range.kind == RangeOption::Kind::index;
  const Index high = std::min(range.index_high, n);
  const std::string suffix = all ? "evd" : "evdx";
  solution.name = b.empty() ? fmt::format("cusolver Xsy{} ({})", suffix, type_letter<T>)
                            : routine<T>("cusolver", is_complex<T> ? (all ? "hegvd" : "hegvdx")
                                                                   : (all ? "sygvd" : "sygvdx"));
  if (n == 0 || (by_index && high <= range.index_low)) return solution;
  const auto chosen = all        ? cusolver::Range()
                      : by_index ? cusolver::Range::numbers(range.index_low, high)
                                 : cusolver::Range::values(range.value_low, range.value_high);
  const Device device;
  const auto solve_once = [&] {
    {
      DeviceMemory<T> warm_a(warm_up_matrix<T>(small_order)),
          warm_b(b.empty() ? std::vector<T>() : warm_up_matrix<T>(small_order));
      PeerSolution<T> ignored;
      const auto part = by_index ? cusolver::Range::numbers(0, small_order / 2) : chosen;
      solve(device, solution.name, warm_a, warm_b, small_order, part, vectors, ignored);
    }
    DeviceMemory<T> device_a(a), device_b(b);
    PeerSolution<T> found;
    found.name = solution.name;
    solve(device, found.name, device_a, device_b, n, chosen, vectors, found);
    found.first = by_index ? range.index_low : 0;
    if (vectors && fetch) found.vectors = device_a.get(static_cast<std::size_t>(n) * found.values.size());
    return found;
  };
  PeerSolution<T> best = solve_once();
#if CUSOLVER_VERSION >= 11500
  // Some routines are faster where they need not give the same bits each time.
  require(cusolverDnSetDeterministicMode(device.solver(), CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS),
          "choosing cuSOLVER's mode");
  PeerSolution<T> other = solve_once();
  other.name += ", non-deterministic";
  keep_faster(best, std::move(other));
#endif
  return best;
}

template <class T>
double time_cusolver_potrf(const std::vector<T>& a, Index n) {
  const std::string name = "cusolver Xpotrf";
  return time_on<T>(a, n, [&](const Device& device, T* matrix, Index order) {
    std::size_t device_bytes = 0, host_bytes = 0;
    require(cusolver::potrf_bytes<T>(device.solver(), order, &device_bytes, &host_bytes), name);
    const DeviceMemory<char> work(device_bytes);
    const DeviceMemory<int> info(1);
    std::vector<char> host(std::max<std::size_t>(host_bytes, 1));
    const double seconds = device.time([&] {
      require(cusolver::potrf<T>(device.solver(), order, matrix, order, work.data(), device_bytes,
                                 host.data(), host_bytes, info.data()),
              name);
    });
    require_success(name, info);
    return seconds;
  });
}

template <class T>
double time_cusolver_hetrd(const std::vector<T>& a, Index n) {
  const std::string name = routine<T>("cusolver", is_complex<T> ? "hetrd" : "sytrd");
  return time_on<T>(a, n, [&](const Device& device, T* matrix, Index order) {
    int size = 0;
    require(cusolver::hetrd_size<T>(device.solver(), static_cast<int>(order), &size), name);
    const DeviceMemory<T> work(static_cast<std::size_t>(size)), tau(static_cast<std::size_t>(order));
    const DeviceMemory<RealOf<T>> d(static_cast<std::size_t>(order)), e(static_cast<std::size_t>(order));
    const DeviceMemory<int> info(1);
    const double seconds = device.time([&] {
      require(cusolver::hetrd<T>(device.solver(), static_cast<int>(order), matrix, static_cast<int>(order),
                                 d.data(), e.data(), tau.data(), work.data(), size, info.data()),
              name);
    });
    require_success(name, info);
    return seconds;
  });
}

template <class T>
double time_cublas_trsm(const std::vector<T>& l, Index n, Index columns) {
  const Device device;
  const DeviceMemory<T> matrix(l), x(static_cast<std::size_t>(n * columns));
  require(cudaMemset(x.data(), 0, sizeof(T) * x.size()), "clearing memory");
  const auto solve_upper = [&](Index order) {
    cublas::trsm<T>(device.blas(), Side::left, Uplo::lower, Op::adjoint, Diag::non_unit, order, columns, T(1),
                    matrix.data(), n, x.data(), n);
  };
  solve_upper(std::min(n, small_order));
  return device.time([&] { solve_upper(n); });
}

#else

namespace {
[[noreturn]] void no_cuda() {
  throw RuntimeError("this build has no CUDA, so no GPU can be the peer");
}
}  // namespace

template <class T>
PeerSolution<T> solve_with_cusolver(const std::vector<T>&, const std::vector<T>&, Index, const RangeOption&,
                                    bool, bool) {
  no_cuda();
}
template <class T>
double time_cusolver_potrf(const std::vector<T>&, Index) {
  no_cuda();
}
template <class T>
double time_cusolver_hetrd(const std::vector<T>&, Index) {
  no_cuda();
}
template <class T>
double time_cublas_trsm(const std::vector<T>&, Index, Index) {
  no_cuda();
}

#endif

#define TESSERA_INSTANTIATE(T)                                                                         \
  template PeerSolution<T> solve_with_cusolver<T>(const std::vector<T>&, const std::vector<T>&, Index, \
                                                  const RangeOption&, bool, bool);                     \
  template double time_cusolver_potrf<T>(const std::vector<T>&, Index);                                \
  template double time_cusolver_hetrd<T>(const std::vector<T>&, Index);                                \
  template double time_cublas_trsm<T>(const std::vector<T>&, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
