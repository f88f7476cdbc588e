// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cusparse_lanczos.hpp"

#include <tessera/error.hpp>

#if TESSERA_WITH_CUDA
#include <limits>
#include <type_traits>

#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/linalg/cusparse.hpp>

#include "gpu_device.hpp"
#include "lanczos_kernels.hpp"
#endif

namespace tessera::program {
using namespace detail;

#if TESSERA_WITH_CUDA

namespace {

void require_cublas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw RuntimeError(fmt::format("cuBLAS: {} failed with status {}", what, static_cast<int>(status)));
}

/// The level 1 and 2 routines of float and double.
template <class T>
struct VectorBlas;
template <>
struct VectorBlas<float> {
  static constexpr auto gemv = cublasSgemv_64;
  static constexpr auto axpy = cublasSaxpy_64;
  static constexpr auto nrm2 = cublasSnrm2_64;
};
template <>
struct VectorBlas<double> {
  static constexpr auto gemv = cublasDgemv_64;
  static constexpr auto axpy = cublasDaxpy_64;
  static constexpr auto nrm2 = cublasDnrm2_64;
};

template <class T, class I>
class DeviceLanczos final : public LanczosSpace<T> {
 public:
  DeviceLanczos(const FullRows<T>& a, Index vectors, CusparseChoice& choice)
      : n_(static_cast<Index>(a.begins.size()) - 1),
        most_(vectors),
        begins_(std::vector<I>(a.begins.begin(), a.begins.end())),
        columns_(std::vector<I>(a.columns.begin(), a.columns.end())),
        values_(a.values),
        v_(std::vector<T>(static_cast<std::size_t>(n_), T(1))),
        basis_(static_cast<std::size_t>(n_ * (vectors + 1))),
        h_(static_cast<std::size_t>(vectors * vectors)),
        again_(static_cast<std::size_t>(vectors)),
        beta_(static_cast<std::size_t>(vectors)),
        s_(static_cast<std::size_t>(vectors * vectors)),
        rows_(static_cast<std::size_t>(part * vectors)) {
    choose(choice);
  }

  Index order() const override { return n_; }

  void begin(const std::vector<T>& v) override {
    require(cudaMemcpyAsync(basis_.data(), v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice,
                            device_.stream()),
            "copying to the GPU");
    wait();
  }

  void step(Index j) override {
    T* const w = column(j + 1);
    T* const sum = h_.data() + j * most_;
    const T one = 1, minus = -1, zero = 0;
    multiply(column(j), w);
    for (int pass = 0; pass < 2; ++pass) {
      T* const h = pass == 0 ? sum : again_.data();
      require_cublas(
          VectorBlas<T>::gemv(blas(), CUBLAS_OP_T, n_, j + 1, &one, basis_.data(), n_, w, 1, &zero, h, 1),
          "gemv");
      require_cublas(
          VectorBlas<T>::gemv(blas(), CUBLAS_OP_N, n_, j + 1, &minus, basis_.data(), n_, h, 1, &one, w, 1),
          "gemv");
    }
    require_cublas(VectorBlas<T>::axpy(blas(), j + 1, &one, again_.data(), 1, sum, 1), "axpy");
    require_cublas(cublasSetPointerMode(blas(), CUBLAS_POINTER_MODE_DEVICE), "pointer mode");
    require_cublas(VectorBlas<T>::nrm2(blas(), n_, w, 1, beta_.data() + j), "nrm2");
    require_cublas(cublasSetPointerMode(blas(), CUBLAS_POINTER_MODE_HOST), "pointer mode");
    if (!launch_normalise(device_.stream(), n_, w, static_cast<const T*>(beta_.data() + j)))
      throw RuntimeError("a kernel of the Lanczos peer does not start");
  }

  void fetch(Index first, Index m, std::vector<double>& h, std::vector<double>& beta) override {
    wait();
    const std::vector<T> all = h_.get(h_.size()), lengths = beta_.get(beta_.size());
    for (Index j = first; j < m; ++j) {
      std::copy_n(all.begin() + j * most_, j + 1, h.begin() + j * m);
      beta[static_cast<std::size_t>(j)] = static_cast<double>(lengths[static_cast<std::size_t>(j)]);
    }
  }

  void rotate(const std::vector<double>& s, Index m, Index count) override {
    const std::vector<T> c(s.begin(), s.end());
    require(
        cudaMemcpyAsync(s_.data(), c.data(), c.size() * sizeof(T), cudaMemcpyHostToDevice, device_.stream()),
        "copying to the GPU");
    for (Index first = 0; first < n_; first += part) {
      const Index here = std::min(part, n_ - first);
      cublas::gemm<T>(blas(), Op::none, Op::none, here, count, m, 1, basis_.data() + first, n_, s_.data(), m,
                      0, rows_.data(), here);
      const auto bytes = static_cast<std::size_t>(here) * sizeof(T);
      require(cudaMemcpy2DAsync(basis_.data() + first, static_cast<std::size_t>(n_) * sizeof(T), rows_.data(),
                                bytes, bytes, static_cast<std::size_t>(count), cudaMemcpyDeviceToDevice,
                                device_.stream()),
              "copying on the GPU");
    }
    if (m == most_)
      require(cudaMemcpyAsync(column(count), column(m), static_cast<std::size_t>(n_) * sizeof(T),
                              cudaMemcpyDeviceToDevice, device_.stream()),
              "copying on the GPU");
    wait();  // for c
  }

  std::vector<double> residuals(const std::vector<double>& theta) override {
    std::vector<double> residuals;
    T* const w = column(most_);
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const T* const x = column(static_cast<Index>(i));
      multiply(column(static_cast<Index>(i)), w);
      const T minus = static_cast<T>(-theta[i]);
      T r = 0, length = 0;
      require_cublas(VectorBlas<T>::axpy(blas(), n_, &minus, x, 1, w, 1), "axpy");
      require_cublas(VectorBlas<T>::nrm2(blas(), n_, w, 1, &r), "nrm2");
      require_cublas(VectorBlas<T>::nrm2(blas(), n_, x, 1, &length), "nrm2");
      residuals.push_back(static_cast<double>(r) / static_cast<double>(length));
    }
    return residuals;
  }

 private:
  using Product = cusparse::VectorProduct<T, I>;
  static constexpr Index part = Index(1) << 16;  // rows that are rotated at once

  struct Algorithm {
    const char* name;
    cusparseSpMVAlg_t value;
  };

  /// The fastest of cuSPARSE's algorithms on this matrix.
  void choose(CusparseChoice& choice) {
    constexpr Algorithm all[] = {{"CSR_ALG1", CUSPARSE_SPMV_CSR_ALG1}, {"CSR_ALG2", CUSPARSE_SPMV_CSR_ALG2}};
    double least = std::numeric_limits<double>::infinity();
    for (const Algorithm& algorithm : all) {
      auto product =
          std::make_unique<Product>(device_.stream(), n_, static_cast<Index>(values_.size()), begins_.data(),
                                    columns_.data(), values_.data(), algorithm.value);
      auto work = std::make_unique<DeviceMemory<char>>(product->work_bytes(v_.data(), basis_.data()));
      product->prepare(v_.data(), basis_.data(), work->data());
      constexpr int repeat = 3;
      double seconds = std::numeric_limits<double>::infinity();
      for (int run = 0; run <= repeat; ++run)
        seconds = std::min(seconds,
                           device_.time([&] { product->multiply(v_.data(), basis_.data(), work->data()); }));
      check(*product);
      if (seconds >= least) continue;
      least = seconds;
      choice.algorithm = algorithm.name;
      product_ = std::move(product);
      work_ = std::move(work);
    }
  }

  static void check(const Product& product) {
    if (product.status() != CUSPARSE_STATUS_SUCCESS)
      throw RuntimeError(fmt::format("cuSPARSE failed with status {}", static_cast<int>(product.status())));
  }
  void multiply(T* x, T* y) {
    product_->multiply(x, y, work_->data());
    check(*product_);
  }
  void wait() const { require(cudaStreamSynchronize(device_.stream()), "work on the GPU"); }
  T* column(Index j) { return basis_.data() + j * n_; }
  cublasHandle_t blas() const { return device_.blas(); }

  Device device_;
  Index n_, most_;
  DeviceMemory<I> begins_, columns_;
  DeviceMemory<T> values_, v_, basis_, h_, again_, beta_, s_, rows_;
  std::unique_ptr<DeviceMemory<char>> work_;
  std::unique_ptr<Product> product_;
};

}  // namespace

template <class T>
std::unique_ptr<LanczosSpace<T>> make_cusparse_lanczos(const FullRows<T>& a, Index vectors,
                                                       CusparseChoice& choice) {
  // The shortest type of offsets and column indices that the number of entries allows.
  if (a.values.size() < (std::size_t(1) << 31))
    return std::make_unique<DeviceLanczos<T, std::int32_t>>(a, vectors, choice);
  return std::make_unique<DeviceLanczos<T, std::int64_t>>(a, vectors, choice);
}

#else

template <class T>
std::unique_ptr<LanczosSpace<T>> make_cusparse_lanczos(const FullRows<T>&, Index, CusparseChoice&) {
  throw RuntimeError("this program was built without CUDA");
}

#endif

template std::unique_ptr<LanczosSpace<float>> make_cusparse_lanczos(const FullRows<float>&, Index,
                                                                    CusparseChoice&);
template std::unique_ptr<LanczosSpace<double>> make_cusparse_lanczos(const FullRows<double>&, Index,
                                                                     CusparseChoice&);

}  // namespace tessera::program
