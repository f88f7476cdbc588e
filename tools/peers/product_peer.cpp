// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "product_peer.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include <fmt/format.h>

#include <tessera/error.hpp>

#include "cutensor_library.hpp"
#include "cutensor_product.hpp"
#include "dbcsr_peer.hpp"
#include "gpu_libraries.hpp"
#include "machine_limits.hpp"
#include "stack_peer.hpp"

namespace tessera::program {

namespace {

template <class T>
double shape_flop(const ProductCount& shape) {
  return flop_factor<T> * 2 * static_cast<double>(shape.m * shape.n * shape.k);
}

/// Estimates the time that libxsmm needs for the block products of a run, if all operands are in
/// the cache. For each shape, the number of timed products gives enough work for a reliable
/// measurement.
template <class T>
double run_libxsmm(Runtime& runtime, const ProductPeerProblem<T>& problem, ProductPeerResult<T>& result,
                   std::string& name) {
  constexpr double flop_each = 1e9;  // for each shape and thread
  double seconds = 0;
  Json shapes = Json::array();
  for (const ProductCount& shape : problem.shapes) {
    const double flop = shape_flop<T>(shape);
    const Index products = cpu_threads(runtime) * std::max<Index>(1, static_cast<Index>(flop_each / flop));
    const double each =
        time_resident_products<T>(runtime, "libxsmm", shape.m, shape.n, shape.k, products, name) /
        static_cast<double>(products);
    seconds += each * static_cast<double>(shape.products);
    shapes.push_back({{"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"gflops", 1e-9 * flop / each}});
  }
  if (problem.shapes.empty()) return unknown;
  result.record = {{"gflops", 1e-9 * problem.flop / seconds}, {"shapes", shapes}};
  return seconds;
}

/// Sum of squares and number of the blocks of C.
template <class T>
Json record_of(const BlockMap<T>& blocks) {
  double squares = 0;
  for (const auto& [place, block] : blocks)
    for (const T x : block) squares += std::norm(std::complex<double>(x));
  return {{"checksum", squares}, {"blocks", blocks.size()}};
}

/// DBCSR is initialized once in a process. It keeps A, B and the initial C until release().
template <class T>
class DbcsrProductPeer final : public ProductPeer<T> {
 public:
  explicit DbcsrProductPeer(Runtime& runtime)
      : ProductPeer<T>({"DBCSR", dbcsr_version(),
                        first_of({needs_one_process(runtime), needs_build_with(has_dbcsr(), "DBCSR")}),
                        cpu_threads(runtime)}) {}
  void prepare(ProductPeerProblem<T> problem) override {
    if (!library_) library_ = std::make_unique<DbcsrPeer<T>>(this->threads());
    if (!library_->loaded()) library_->load(problem.product, problem.filter);
    fetch_ = problem.fetch;
  }
  double run() override {
    DbcsrProduct<T> theirs = library_->multiply(fetch_);
    result_ = {};
    if (fetch_) {
      result_.record = record_of(theirs.blocks);
      result_.record["flop"] = theirs.flop;
      result_.blocks = std::move(theirs.blocks);
    }
    return theirs.seconds;
  }
  ProductPeerResult<T> result() override { return std::exchange(result_, {}); }
  void release() override {
    result_ = {};
    if (library_) library_->unload();
  }

 private:
  std::unique_ptr<DbcsrPeer<T>> library_;
  bool fetch_ = false;
  ProductPeerResult<T> result_;
};

/// A, B, the initial C and cuTENSOR's plan stay on the GPU until release().
template <class T>
class CutensorProductPeer final : public ProductPeer<T> {
 public:
  explicit CutensorProductPeer(Runtime& runtime)
      : ProductPeer<T>({"cuTENSOR, blocks of C given", cutensor_version(),
                        first_of({needs_one_process(runtime), needs_first_gpu(), needs_cutensor()}), 0}),
        runtime_(runtime) {}
  void prepare(ProductPeerProblem<T> problem) override {
    if (!product_) product_ = std::make_unique<CutensorProduct<T>>(problem.product);
    fetch_ = problem.fetch;
  }
  double run() override {
    result_ = {};
    if (!product_->has_work()) return unknown;
    double seconds = unknown;
    // The workers sleep meanwhile, so that they take nothing from the host's part of the call.
    runtime_.run_exclusively(1, [&] { seconds = product_->multiply(); });
    if (fetch_) {
      result_.blocks = product_->blocks();
      result_.record = record_of(*result_.blocks);
    }
    result_.record["plan_seconds"] = product_->plan_seconds();
    result_.record["workspace_bytes"] = product_->workspace_bytes();
    return seconds;
  }
  ProductPeerResult<T> result() override { return std::exchange(result_, {}); }
  void release() override {
    result_ = {};
    product_.reset();
  }

 private:
  Runtime& runtime_;
  std::unique_ptr<CutensorProduct<T>> product_;
  bool fetch_ = false;
  ProductPeerResult<T> result_;
};

}  // namespace

template <class T>
std::unique_ptr<ProductPeer<T>> make_product_peer(Runtime& runtime, const std::string& library) {
  using Problem = ProductPeerProblem<T>;
  using Result = ProductPeerResult<T>;
  using Made = CallPeer<Problem, Result>;
  const std::string alone = needs_one_process(runtime);
  const int threads = cpu_threads(runtime);
  if (library == "none") return nullptr;
  if (library == "dbcsr") return std::make_unique<DbcsrProductPeer<T>>(runtime);
  if (library == "cutensor") return std::make_unique<CutensorProductPeer<T>>(runtime);
  if (library == "dense")
    return std::make_unique<Made>(
        PeerTraits{fmt::format("BLAS {}gemm, dense", type_letter<T>), runtime.info().blas, alone, threads},
        [threads](Problem& problem, Result& result, std::string&) {
          DenseProduct<T> dense = dense_product(problem.product, threads);
          result.dense = std::move(dense.c);
          return dense.seconds;
        });
  if (library == "libxsmm")
    return std::make_unique<Made>(
        PeerTraits{"libxsmm", libxsmm_version(),
                   first_of({alone, needs_build_with(has_libxsmm(), "libxsmm")}), threads},
        [&runtime](Problem& problem, Result& result, std::string& name) {
          return run_libxsmm<T>(runtime, problem, result, name);
        });
  throw InvalidArgument("--peer", library, "none, dense, dbcsr, cutensor or libxsmm");
}

template <class T>
void require_peer_takes(const std::string& library, Op op_a, Op op_b) {
  if (library == "cutensor" && is_complex<T> && (op_a == Op::adjoint || op_b == Op::adjoint))
    throw InvalidArgument("--peer", library, "another peer (cuTENSOR has no adjoints of complex blocks)");
}

template <class T>
ProductPeerResult<T> run_product_peer(ProductPeer<T>& peer, ProductPeerProblem<T> problem, Report* timed) {
  peer.prepare(std::move(problem));
  const double seconds = peer.run();
  if (timed && !std::isnan(seconds)) add_peer_seconds(*timed, peer, seconds);
  return peer.result();
}

template <class T>
void compare_with_peer(const SparseProduct<T>& product, const ProductPeerResult<T>& theirs,
                       const std::string& name, CheckRecord& check, Json& record) {
  if (!theirs.blocks) return;
  const CheckRecord difference = check_against_blocks(product, *theirs.blocks);
  check.values = difference.values;
  check.values_difference = difference.values_difference;
  check.values_against = name;
  record["largest_difference"] = difference.values_difference;
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template std::unique_ptr<ProductPeer<T>> make_product_peer<T>(Runtime&, const std::string&);        \
  template void require_peer_takes<T>(const std::string&, Op, Op);                                    \
  template ProductPeerResult<T> run_product_peer<T>(ProductPeer<T>&, ProductPeerProblem<T>, Report*); \
  template void compare_with_peer<T>(const SparseProduct<T>&, const ProductPeerResult<T>&,            \
                                     const std::string&, CheckRecord&, Json&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
