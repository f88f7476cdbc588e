// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "rows_peer.hpp"

#include <complex>

#include <tessera/algorithms/lobpcg/small_dense.hpp>
#include <tessera/codelets/sparse/csb_layout.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/sparse_matrix.hpp>
#include <tessera/version.hpp>

#include "cusparse_product.hpp"
#include "gpu_libraries.hpp"
#include "half_blocks_peer.hpp"
#include "machine_limits.hpp"
#include "operator_peer.hpp"
#include "two_species_peer.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Values, columns and begins of rows.
template <class V>
double csr_bytes(const FullRows<V>& full, std::size_t index_bytes) {
  return static_cast<double>(full.values.size() * (sizeof(V) + index_bytes) +
                             full.begins.size() * index_bytes);
}

template <class V, class T>
class CsrRowsPeer final : public OperatorPeer<T> {
 public:
  explicit CsrRowsPeer(Runtime& runtime)
      : OperatorPeer<T>(runtime, {"full rows (CSR)", TESSERA_VERSION_STRING, needs_one_process(runtime),
                                  cpu_threads(runtime)}) {}
  double matrix_bytes() const override { return bytes_; }

 private:
  const SymmetricOperator<T>& make_operator(const RowsPeerProblem<T>& problem) override {
    const FullRows<V> full = full_rows<V>(*problem.a, host_threads(this->runtime_));
    bytes_ = csr_bytes(full, sizeof(std::uint32_t));
    const std::vector<Index> places(full.columns.begin(), full.columns.end());
    using Wide = detail::WideOf<V>;
    const std::vector<Wide> values(full.values.begin(), full.values.end());
    CsrArrays arrays{full.begins, places, {}, {}};
    if constexpr (is_complex<V>)
      arrays.complex_values = values;
    else
      arrays.values = values;
    a_ = std::make_unique<CsrMatrix<V, T>>(CsrMatrix<V, T>::build(this->runtime_, arrays, problem.segments));
    return *a_;
  }
  const SymmetricOperator<T>& get_operator() const override { return *a_; }
  void release_operator() override { a_.reset(); }

  double bytes_ = 0;
  std::unique_ptr<CsrMatrix<V, T>> a_;
};

template <class T>
class CusparseRowsPeer final : public RowsPeer<T> {
 public:
  CusparseRowsPeer(Runtime& runtime, bool one_precision)
      : RowsPeer<T>(
            {"cuSPARSE SpMM, full rows (CSR_ALG3)", cusparse_version(),
             first_of({needs_one_process(runtime),
                       one_precision ? "" : "--storage and --type of one precision", needs_gpu(runtime)}),
             0}),
        runtime_(runtime) {}
  void prepare(RowsPeerProblem<T> problem) override {
    problem_ = problem;
    if (product_) return;
    const FullRows<T> full = full_rows<T>(*problem.a, host_threads(runtime_));
    bytes_ = csr_bytes(full, full.values.size() < (std::size_t(1) << 31) ? 4 : 8);
    product_ = std::make_unique<CusparseProduct<T>>(full, problem.columns, *problem.x);
  }
  double matrix_bytes() const override { return bytes_; }
  double run() override {
    constexpr int repeat = 5;
    return product_->time(repeat);
  }
  std::vector<T> result() override { return problem_.fetch ? product_->result() : std::vector<T>(); }
  void release() override { product_.reset(); }

 private:
  Runtime& runtime_;
  RowsPeerProblem<T> problem_;
  double bytes_ = 0;
  std::unique_ptr<CusparseProduct<T>> product_;
};

}  // namespace

template <class V, class T>
std::unique_ptr<RowsPeer<T>> make_rows_peer(Runtime& runtime, const std::string& library) {
  if (library == "none") return nullptr;
  if (library == "csr") return std::make_unique<CsrRowsPeer<V, T>>(runtime);
  if constexpr (is_complex<T>) {
    throw InvalidArgument("--peer", library, "none or csr, for a complex matrix");
  } else {
    if (library == "cusparse") return std::make_unique<CusparseRowsPeer<T>>(runtime, std::is_same_v<V, T>);
    if (auto made = make_half_blocks_peer<V, T>(runtime, library)) return made;
    if (library == "free") return make_two_species_peer<T>(runtime, std::is_same_v<V, T>);
    throw InvalidArgument("--peer", library, "none, csr, cusparse, naive, atomic, cached or free");
  }
}

#define TESSERA_INSTANTIATE(V, T) \
  template std::unique_ptr<RowsPeer<T>> make_rows_peer<V, T>(Runtime&, const std::string&);
TESSERA_FOR_STORED(TESSERA_INSTANTIATE)

}  // namespace tessera::program
