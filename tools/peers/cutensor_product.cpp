// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cutensor_product.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tessera/error.hpp>

#include "cutensor_library.hpp"
#include "gpu_device.hpp"
#include "process.hpp"

namespace tessera::program {

#if TESSERA_WITH_CUDA

namespace {

namespace ct = cutensor;

template <class Object>
using CutensorObject = std::unique_ptr<Object, ct::Status (*)(Object*)>;

/// Creates one of cuTENSOR's objects. `create` gets the address for the pointer.
template <class Object, class Create>
CutensorObject<Object> make_cutensor_object(ct::Status (*destroy)(Object*), const char* what,
                                            const Create& create) {
  Object* object = nullptr;
  ct::require(create(&object), what);
  return {object, destroy};
}

/// Which blocks of a matrix there are, and where each begins in the array of all.
struct BlockList {
  std::vector<std::pair<Index, Index>> places{};
  std::vector<std::size_t> offsets{0};  ///< one more than there are blocks
  void add(Index row, Index col, std::size_t elements) {
    places.emplace_back(row, col);
    offsets.push_back(offsets.back() + elements);
  }
  std::size_t elements() const { return offsets.back(); }
};

/// All blocks of an operand and their values, which are contiguous and column-major.
template <class T>
BlockList list_of(const BlockMap<T>& blocks, std::vector<T>& values) {
  BlockList list;
  for (const auto& [place, block] : blocks) {
    list.add(place.first, place.second, block.size());
    values.insert(values.end(), block.begin(), block.end());
  }
  return list;
}

/// The blocks of C, and its values before the product, which are zero where C had no block.
template <class T>
BlockList list_of_result(const SparseProduct<T>& product, std::vector<T>& before) {
  BlockList list;
  product.c->for_each_block([&](Index row, Index col, MatrixView<const T> values) {
    list.add(row, col, static_cast<std::size_t>(values.rows * values.cols));
  });
  if (!product.c0) return list;
  before.assign(list.elements(), T(0));
  const BlockMap<T> initial = all_blocks(*product.c0);
  for (std::size_t i = 0; i < list.places.size(); ++i)
    if (const auto found = initial.find(list.places[i]); found != initial.end())
      std::copy(found->second.begin(), found->second.end(),
                before.begin() + static_cast<std::ptrdiff_t>(list.offsets[i]));
  return list;
}

/// A matrix in cuTENSOR's terms: the description of its blocks, and their addresses.
template <class T>
class CutensorMatrix {
 public:
  CutensorMatrix(const ct::Library& library, ct::Context* context, const BlockPattern& pattern,
                 const BlockList& list, T* memory)
      : tensor_(nullptr, library.destroy_tensor) {
    std::vector<std::int32_t> coordinates;
    for (const auto& [row, col] : list.places) {
      coordinates.push_back(static_cast<std::int32_t>(row));
      coordinates.push_back(static_cast<std::int32_t>(col));
    }
    for (std::size_t i = 0; i < list.places.size(); ++i) addresses_.push_back(memory + list.offsets[i]);
    const std::uint32_t sections[] = {static_cast<std::uint32_t>(pattern.rows().blocks()),
                                      static_cast<std::uint32_t>(pattern.cols().blocks())};
    std::vector<std::int64_t> extents;
    for (const BlockDimension* dimension : {&pattern.rows(), &pattern.cols()})
      extents.insert(extents.end(), dimension->sizes().begin(), dimension->sizes().end());
    tensor_ = make_cutensor_object(
        library.destroy_tensor, "describing a matrix", [&](ct::BlockSparseTensor** made) {
          return library.create_tensor(context, made, 2, list.places.size(), sections, extents.data(),
                                       coordinates.data(), nullptr, cusolver::data_type<T>);
        });
  }
  const ct::BlockSparseTensor* tensor() const noexcept { return tensor_.get(); }
  void* const* addresses() const noexcept { return addresses_.data(); }

 private:
  CutensorObject<ct::BlockSparseTensor> tensor_;
  std::vector<void*> addresses_;
};

}  // namespace

template <class T>
struct CutensorProduct<T>::Detail {
  explicit Detail(const SparseProduct<T>& product)
      : list_a(list_of(all_blocks(*product.a), host_a)),
        list_b(list_of(all_blocks(*product.b), host_b)),
        list_c(list_of_result(product, host_before)),
        alpha(product.alpha),
        beta(product.beta),
        a(host_a),
        b(host_b),
        before(host_before),
        c(list_c.elements()) {
    for (std::vector<T>* host : {&host_a, &host_b, &host_before}) std::vector<T>().swap(*host);
    if (!has_work()) return;
    const double start = now();
    make_plan(product);
    plan_seconds = now() - start;
    multiply();
  }

  bool has_work() const { return a.size() > 0 && b.size() > 0 && c.size() > 0; }

  /// Transposed operands have their modes in the other order.
  void make_plan(const SparseProduct<T>& product) {
    constexpr std::int32_t m = 'm', n = 'n', k = 'k';
    std::int32_t modes_a[] = {m, k}, modes_b[] = {k, n};
    const std::int32_t modes_c[] = {m, n};
    if (product.op_a != Op::none) std::swap(modes_a[0], modes_a[1]);
    if (product.op_b != Op::none) std::swap(modes_b[0], modes_b[1]);
    const auto describe = [&](const BlockSparseMatrix<T>& x, const BlockList& list, T* memory) {
      return std::make_unique<CutensorMatrix<T>>(library, context.get(), x.pattern(), list, memory);
    };
    matrix_a = describe(*product.a, list_a, a.data());
    matrix_b = describe(*product.b, list_b, b.data());
    matrix_c = describe(*product.c, list_c, c.data());
    const auto operation =
        make_cutensor_object(library.destroy_operation, "describing a product", [&](ct::Operation** made) {
          return library.create_contraction(
              context.get(), made, matrix_a->tensor(), modes_a, ct::identity, matrix_b->tensor(), modes_b,
              ct::identity, matrix_c->tensor(), modes_c, ct::identity, matrix_c->tensor(), modes_c,
              sizeof(RealOf<T>) == 4 ? library.compute_single : library.compute_double);
        });
    std::uint64_t bytes = 0;
    ct::require(
        library.estimate_workspace(context.get(), operation.get(), nullptr, ct::default_workspace, &bytes),
        "estimating the work space");
    work = std::make_unique<DeviceMemory<char>>(bytes);
    plan = make_cutensor_object(library.destroy_plan, "making a plan", [&](ct::Plan** made) {
      return library.create_plan(context.get(), made, operation.get(), nullptr, bytes);
    });
  }

  /// Bringing C back to its initial values is not timed.
  double multiply() {
    const FirstGpu gpu;
    const std::size_t bytes = sizeof(T) * c.size();
    if (before.size() > 0)
      require(cudaMemcpy(c.data(), before.data(), bytes, cudaMemcpyDeviceToDevice), "copying on the GPU");
    else
      require(cudaMemset(c.data(), 0, bytes), "clearing memory");
    require(cudaDeviceSynchronize(), "waiting for the GPU");
    const double start = now();
    ct::require(library.contract(context.get(), plan.get(), &alpha, matrix_a->addresses(),
                                 matrix_b->addresses(), &beta, matrix_c->addresses(), matrix_c->addresses(),
                                 work->data(), work->size(), device.stream()),
                "a product");
    require(cudaStreamSynchronize(device.stream()), "a product of cuTENSOR");
    return now() - start;
  }

  std::vector<T> host_a, host_b, host_before;  // only until they are on the GPU
  BlockList list_a, list_b, list_c;
  T alpha, beta;
  Device device;
  DeviceMemory<T> a, b, before, c;
  const ct::Library& library = ct::library();
  CutensorObject<ct::Context> context = make_cutensor_object(
      library.destroy, "starting", [this](ct::Context** made) { return library.create(made); });
  std::unique_ptr<CutensorMatrix<T>> matrix_a, matrix_b, matrix_c;
  CutensorObject<ct::Plan> plan{nullptr, library.destroy_plan};
  std::unique_ptr<DeviceMemory<char>> work;
  double plan_seconds = 0;
};

template <class T>
CutensorProduct<T>::CutensorProduct(const SparseProduct<T>& product) {
  if (product.c->symmetry() != Symmetry::none)
    throw InvalidArgument("--peer", "cutensor", "a peer that takes a half-stored C (dense, or none)");
  detail_ = std::make_unique<Detail>(product);
}

template <class T>
bool CutensorProduct<T>::has_work() const {
  return detail_->has_work();
}

template <class T>
double CutensorProduct<T>::multiply() {
  return detail_->multiply();
}

template <class T>
BlockMap<T> CutensorProduct<T>::blocks() const {
  const BlockList& list = detail_->list_c;
  const std::vector<T> values = detail_->c.get(list.elements());
  BlockMap<T> blocks;
  for (std::size_t i = 0; i < list.places.size(); ++i)
    blocks[list.places[i]].assign(values.begin() + static_cast<std::ptrdiff_t>(list.offsets[i]),
                                  values.begin() + static_cast<std::ptrdiff_t>(list.offsets[i + 1]));
  return blocks;
}

template <class T>
double CutensorProduct<T>::plan_seconds() const {
  return detail_->plan_seconds;
}

template <class T>
std::size_t CutensorProduct<T>::workspace_bytes() const {
  return detail_->work ? detail_->work->size() : 0;
}

#else

template <class T>
struct CutensorProduct<T>::Detail {};

template <class T>
CutensorProduct<T>::CutensorProduct(const SparseProduct<T>&) {
  throw RuntimeError("this program was built without CUDA");
}

template <class T>
bool CutensorProduct<T>::has_work() const {
  return false;
}

template <class T>
double CutensorProduct<T>::multiply() {
  return 0;
}

template <class T>
BlockMap<T> CutensorProduct<T>::blocks() const {
  return {};
}

template <class T>
double CutensorProduct<T>::plan_seconds() const {
  return 0;
}

template <class T>
std::size_t CutensorProduct<T>::workspace_bytes() const {
  return 0;
}

#endif

template <class T>
CutensorProduct<T>::~CutensorProduct() = default;

#define TESSERA_INSTANTIATE(T) template class CutensorProduct<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
