// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench_spmm.hpp"
#include "report.hpp"

#if TESSERA_WITH_CUDA
#include <tessera/codelets/cusparse.hpp>

#include "gpu_device.hpp"
#endif

#include <tessera/runtime/error.hpp>

namespace tessera::program {

#if TESSERA_WITH_CUDA

namespace {

/// I: of offsets and columns, as short as the number of entries allows.
template <class I, class T>
double time_product(const FullRows<T>& a, Index columns, const std::vector<T>& x, int repeat,
                    std::vector<T>& y) {
  const Device device;
  const DeviceMemory<I> begins(std::vector<I>(a.begins.begin(), a.begins.end())),
      places(std::vector<I>(a.columns.begin(), a.columns.end()));
  const DeviceMemory<T> values(a.values), in(x), out(x.size());
  cusparse::RowProduct<T, I> product(device.stream(), static_cast<Index>(a.begins.size()) - 1,
                                     static_cast<Index>(a.values.size()), begins.data(), places.data(),
                                     values.data(), columns, in.data(), out.data());
  const DeviceMemory<char> work(product.work_bytes());
  product.prepare(work.data());
  product.multiply(work.data());
  std::vector<double> seconds;
  for (int run = 0; run < repeat; ++run)
    seconds.push_back(device.time([&] { product.multiply(work.data()); }));
  if (product.status() != CUSPARSE_STATUS_SUCCESS)
    throw RuntimeError(fmt::format("cuSPARSE failed with status {}", static_cast<int>(product.status())));
  y = out.get(x.size());
  return median(seconds);
}

}  // namespace

template <class T>
double time_cusparse_spmm(const FullRows<T>& a, Index columns, const std::vector<T>& x, int repeat,
                          std::vector<T>& y) {
  return a.values.size() < (std::size_t(1) << 31) ? time_product<std::int32_t>(a, columns, x, repeat, y)
                                                  : time_product<std::int64_t>(a, columns, x, repeat, y);
}

#else

template <class T>
double time_cusparse_spmm(const FullRows<T>&, Index, const std::vector<T>&, int, std::vector<T>&) {
  throw RuntimeError("this program was built without CUDA");
}

#endif

template double time_cusparse_spmm<float>(const FullRows<float>&, Index, const std::vector<float>&, int,
                                          std::vector<float>&);
template double time_cusparse_spmm<double>(const FullRows<double>&, Index, const std::vector<double>&, int,
                                           std::vector<double>&);

}  // namespace tessera::program
