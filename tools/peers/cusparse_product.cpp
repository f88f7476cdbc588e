// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cusparse_product.hpp"

#include "report.hpp"

#if TESSERA_WITH_CUDA
#include <tessera/codelets/linalg/cusparse.hpp>

#include "gpu_device.hpp"
#endif

#include <tessera/error.hpp>

namespace tessera::program {
using namespace detail;

#if TESSERA_WITH_CUDA

/// Implementation for one type of offsets and column indices.
template <class T>
struct CusparseProduct<T>::Detail {
  virtual ~Detail() = default;
  virtual double time(int repeat) = 0;
  virtual std::vector<T> result() const = 0;
};

namespace {

template <class T, class I, class Base>
class ProductOnDevice final : public Base {
 public:
  ProductOnDevice(const FullRows<T>& a, Index columns, const std::vector<T>& x)
      : begins_(std::vector<I>(a.begins.begin(), a.begins.end())),
        places_(std::vector<I>(a.columns.begin(), a.columns.end())),
        values_(a.values),
        x_(x),
        y_(x.size()),
        product_(device_.stream(), static_cast<Index>(a.begins.size()) - 1,
                 static_cast<Index>(a.values.size()), begins_.data(), places_.data(), values_.data(), columns,
                 x_.data(), y_.data()),
        work_(product_.work_bytes()) {
    product_.prepare(work_.data());
    product_.multiply(work_.data());
  }

  double time(int repeat) override {
    std::vector<double> seconds;
    for (int run = 0; run < repeat; ++run)
      seconds.push_back(device_.time([&] { product_.multiply(work_.data()); }));
    if (product_.status() != CUSPARSE_STATUS_SUCCESS)
      throw RuntimeError(fmt::format("cuSPARSE failed with status {}", static_cast<int>(product_.status())));
    return median(seconds);
  }
  std::vector<T> result() const override { return y_.get(y_.size()); }

 private:
  Device device_;
  DeviceMemory<I> begins_, places_;
  DeviceMemory<T> values_, x_, y_;
  cusparse::RowProduct<T, I> product_;
  DeviceMemory<char> work_;
};

}  // namespace

/// Chooses the shortest type of offsets and column indices that the number of entries allows.
template <class T>
CusparseProduct<T>::CusparseProduct(const FullRows<T>& a, Index columns, const std::vector<T>& x) {
  if (a.values.size() < (std::size_t(1) << 31))
    detail_ = std::make_unique<ProductOnDevice<T, std::int32_t, Detail>>(a, columns, x);
  else
    detail_ = std::make_unique<ProductOnDevice<T, std::int64_t, Detail>>(a, columns, x);
}

template <class T>
double CusparseProduct<T>::time(int repeat) {
  return detail_->time(repeat);
}

template <class T>
std::vector<T> CusparseProduct<T>::result() const {
  return detail_->result();
}

#else

template <class T>
struct CusparseProduct<T>::Detail {};

template <class T>
CusparseProduct<T>::CusparseProduct(const FullRows<T>&, Index, const std::vector<T>&) {
  throw RuntimeError("this program was built without CUDA");
}

template <class T>
double CusparseProduct<T>::time(int) {
  return 0;
}

template <class T>
std::vector<T> CusparseProduct<T>::result() const {
  return {};
}

#endif

template <class T>
CusparseProduct<T>::~CusparseProduct() = default;

template class CusparseProduct<float>;
template class CusparseProduct<double>;

}  // namespace tessera::program
