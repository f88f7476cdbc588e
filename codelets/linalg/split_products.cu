// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/linalg/hermitian.hpp>
#include <tessera/codelets/linalg/split_kernels.cuh>

namespace tessera::detail {

namespace {

using namespace device;
using namespace split_products;

/// At the beginning of the work space, on the device.
struct Header {
  unsigned largest_a, largest_b;
  float alpha, beta, one;
};

__global__ void coefficients_kernel(float alpha, float beta, Header* header) {
  header->alpha = unscaling(header->largest_a, header->largest_b, alpha);
  header->beta = beta;
  header->one = 1;
}

__global__ void __launch_bounds__(lanes* block_columns)
    largest_kernel(int rows, int cols, const float* x, Index ld, bool aligned, unsigned* largest) {
  unsigned most = 0;
  for (int j = blockIdx.y * block_columns + threadIdx.y; j < cols; j += gridDim.y * block_columns)
    for (int i = rows_of_thread * (blockIdx.x * lanes + threadIdx.x); i < rows;
         i += rows_of_thread * gridDim.x * lanes) {
      const float4 v = load_rows(x + j * ld, i, rows, aligned);
      for (const float value : {v.x, v.y, v.z, v.w}) most = max(most, __float_as_uint(value) & 0x7fffffffu);
    }
  most = __reduce_max_sync(0xffffffffu, most);
  if (threadIdx.x % 32 == 0 && most > 0) atomicMax(largest, most);
}

/// What becomes of a column of an operand, given as reals.
enum class Form {
  plain,      ///< the column: a real one, or a complex one for the first column of each 2 x 2 block
  blocks,     ///< complex: two columns of 2 x 2 blocks
  first_rows  ///< complex: the first row of each 2 x 2 block, re and -im, as two columns
};

/// Where the three terms of an operand go.
struct Terms {
  __half* data;
  Index ld, distance;  ///< from one term to the next
  int low;             ///< the term that is L; the other two are H
};

__device__ void store_pairs(const Terms& out, Index place, float a, float b, float c, float d) {
  __half2 high[2], low[2];
  split_pair(a, b, high[0], low[0]);
  split_pair(c, d, high[1], low[1]);
#pragma unroll
  for (int term = 0; term < 3; ++term)
    *reinterpret_cast<uint2*>(out.data + place + term * out.distance) =
        *reinterpret_cast<const uint2*>(term == out.low ? low : high);
}
__device__ void store_pair(const Terms& out, Index place, float a, float b) {
  __half2 high, low;
  split_pair(a, b, high, low);
#pragma unroll
  for (int term = 0; term < 3; ++term)
    *reinterpret_cast<__half2*>(out.data + place + term * out.distance) = term == out.low ? low : high;
}

/// Of an operand in reals: rows and columns, and those that the result has of them: the others are zero there.
struct Extent {
  int rows, cols, stored_rows, stored_cols;
};

template <Form form>
__global__ void __launch_bounds__(lanes* block_columns)
    split_kernel(Extent extent, const float* x, Index ld, bool aligned, const unsigned* largest, Terms out) {
  const float scale = power_of_two(scale_exponent(*largest));
  for (int j = blockIdx.y * block_columns + threadIdx.y; j < extent.stored_cols;
       j += gridDim.y * block_columns)
    for (int i = rows_of_thread * (blockIdx.x * lanes + threadIdx.x); i < extent.stored_rows;
         i += rows_of_thread * gridDim.x * lanes) {
      float4 v = load_rows(x + j * ld, i, j < extent.cols ? extent.rows : 0, aligned);
      v.x *= scale, v.y *= scale, v.z *= scale, v.w *= scale;
      if constexpr (form == Form::first_rows) {
        store_pair(out, i / 2 + 2 * j * out.ld, v.x, v.z);
        store_pair(out, i / 2 + (2 * j + 1) * out.ld, -v.y, -v.w);
      } else if constexpr (form == Form::blocks) {
        store_pairs(out, i + 2 * j * out.ld, v.x, v.y, v.z, v.w);
        store_pairs(out, i + (2 * j + 1) * out.ld, -v.y, v.x, -v.w, v.z);
      } else {
        store_pairs(out, i + j * out.ld, v.x, v.y, v.z, v.w);
      }
    }
}

/// An operand as three terms along the sum: op none or adjoint of what is stored.
struct Split {
  const __half* data;
  cublasOperation_t op;
  Index ld;
};

/// Rows and columns of a split operand: of one term, in reals.
struct SplitSize {
  bool along_rows;  ///< the sum
  Index rows, cols;
  Index halves() const noexcept { return 3 * rows * cols; }
};
template <class T>
SplitSize split_size(bool left, Op op, Index outer, Index inner) noexcept {
  // The sum runs along the rows of B in op(B) = B, and of A in op(A) = A^H.
  const bool along_rows = left == (op != Op::none);
  const Index sum = padded(reals<T> * inner), other = left ? reals<T> * outer : outer;
  return along_rows ? SplitSize{true, sum, other} : SplitSize{false, padded(other), sum};
}

/// Splits a part of an operand: all rows and columns of the result, `inner` of the sum.
template <class T>
Split split(const CudaContext& on, bool left, Op op, la::Factor<T> part, const unsigned* largest,
            __half* to) noexcept {
  const Reals x(part);
  const Form form = is_complex<T> && left             ? Form::blocks
                    : is_complex<T> && op != Op::none ? Form::first_rows
                                                      : Form::plain;
  const auto size = (left == (op == Op::none)) ? split_size<T>(left, op, part.rows, part.cols)
                                               : split_size<T>(left, op, part.cols, part.rows);
  const Terms terms{to, size.along_rows ? 3 * size.rows : size.rows,
                    size.along_rows ? size.rows : size.rows * size.cols, left ? 0 : 1};
  const Extent extent{x.rows, x.cols, static_cast<int>(form == Form::first_rows ? 2 * size.rows : size.rows),
                      static_cast<int>(form == Form::plain ? size.cols : size.cols / 2)};
  const auto kernel = form == Form::blocks       ? split_kernel<Form::blocks>
                      : form == Form::first_rows ? split_kernel<Form::first_rows>
                                                 : split_kernel<Form::plain>;
  kernel<<<grid_of(extent.stored_rows, extent.stored_cols), dim3(lanes, block_columns), 0, on.stream>>>(
      extent, x.data, x.ld, x.aligned, largest, terms);
  return {to, size.along_rows == left ? CUBLAS_OP_T : CUBLAS_OP_N, terms.ld};
}

/// Products of split operands, with the coefficients of the header.
template <class T>
class SplitProduct {
 public:
  SplitProduct(const CudaContext& on, RealOf<T> alpha, la::Factor<T> a, la::Factor<T> b, RealOf<T> beta,
               std::span<char> work)
      : on_(on), header_(reinterpret_cast<Header*>(work.data())) {
    cudaMemsetAsync(header_, 0, sizeof(Header), on.stream);
    find_largest(on, Reals(a), &header_->largest_a);
    find_largest(on, Reals(b), &header_->largest_b);
    coefficients_kernel<<<1, 1, 0, on.stream>>>(alpha, beta, header_);
    cublasSetPointerMode(on.cublas, CUBLAS_POINTER_MODE_DEVICE);
  }
  ~SplitProduct() { cublasSetPointerMode(on_.cublas, CUBLAS_POINTER_MODE_HOST); }
  SplitProduct(const SplitProduct&) = delete;
  SplitProduct& operator=(const SplitProduct&) = delete;

  Split left(Op op, la::Factor<T> part, __half* to) const noexcept {
    return split<T>(on_, true, op, part, &header_->largest_a, to);
  }
  Split right(Op op, la::Factor<T> part, __half* to) const noexcept {
    return split<T>(on_, false, op, part, &header_->largest_b, to);
  }
  /// `count` products of m x n results of reals, whose operands and results are `step` rows (and columns)
  /// apart.
  void multiply(const Split& a, const Split& b, bool first, Index m, Index n, Index sum, float* c, Index ldc,
                Index count = 1, Index step_a = 0, Index step_b = 0, Index step_c = 0) const noexcept {
    if (m == 0 || n == 0 || count == 0) return;
    cublasGemmStridedBatchedEx_64(on_.cublas, a.op, b.op, m, n, sum, &header_->alpha, a.data, CUDA_R_16F,
                                  a.ld, step_a, b.data, CUDA_R_16F, b.ld, step_b,
                                  first ? &header_->beta : &header_->one, c, CUDA_R_32F, ldc, step_c, count,
                                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  }

 private:
  const CudaContext& on_;
  Header* header_;
};

/// How a product is cut, so that its operands fit into the work space.
struct Cuts {
  Index sum = 0, columns = 0;
};
template <class T>
Cuts cuts_of(Op op_a, Op op_b, const ProductShape& shape, std::size_t bytes,
             Index fewest_columns = 1024) noexcept {
  const auto room = static_cast<Index>((bytes - std::min(bytes, header_bytes)) / sizeof(__half));
  for (Index sum = std::min(shape.k, longest_sum / reals<T>); sum > 0; sum /= 2) {
    const Index left = split_size<T>(true, op_a, shape.m, sum).halves();
    const Index column = split_size<T>(false, op_b, alignment, sum).halves() / alignment;
    const Index columns = (room - left) / column / alignment * alignment;
    if (columns >= shape.n) return {sum, shape.n};
    if (columns >= fewest_columns) return {sum, columns};
  }
  return {};
}

}  // namespace

void split_products::find_largest(const CudaContext& on, const Reals& x, unsigned* largest) noexcept {
  largest_kernel<<<grid_of(x.rows, x.cols), dim3(lanes, block_columns), 0, on.stream>>>(
      x.rows, x.cols, x.data, x.ld, x.aligned, largest);
}

template <class T>
void split_gemm(const CudaContext& on, Op op_a, Op op_b, RealOf<T> alpha, la::Factor<T> a, la::Factor<T> b,
                RealOf<T> beta, MatrixView<T> c, std::span<char> work) noexcept {
  const Index k = la::inner_size(op_a, a);
  const Cuts cuts = cuts_of<T>(op_a, op_b, {c.rows, c.cols, k}, work.size());
  if (cuts.sum == 0) return la::gemm(on, op_a, op_b, T(alpha), a, b, T(beta), c);
  const SplitProduct<T> product(on, alpha, a, b, beta, work);
  auto* const left = reinterpret_cast<__half*>(work.data() + header_bytes);
  __half* const right = left + split_size<T>(true, op_a, c.rows, cuts.sum).halves();
  for (Index begin = 0; begin < k; begin += cuts.sum) {
    const Index sum = std::min(cuts.sum, k - begin);
    const Split split_a = product.left(
        op_a, op_a == Op::none ? a.block(0, begin, c.rows, sum) : a.block(begin, 0, sum, c.rows), left);
    for (Index column = 0; column < c.cols; column += cuts.columns) {
      const Index columns = std::min(cuts.columns, c.cols - column);
      const Split split_b = product.right(
          op_b,
          op_b == Op::none ? b.block(begin, column, sum, columns) : b.block(column, begin, columns, sum),
          right);
      product.multiply(split_a, split_b, begin == 0, reals<T> * c.rows, columns, 3 * padded(reals<T> * sum),
                       reinterpret_cast<float*>(c.data + column * c.ld), reals<T> * c.ld);
    }
  }
}

template <class T>
void split_subtract_lower_product(const CudaContext& on, la::Factor<T> x, la::Factor<T> y, MatrixView<T> c,
                                  std::span<char> work) noexcept {
  constexpr Index f = reals<T>;
  const Index n = c.rows, k = x.cols;
  if (n == 0 || k == 0) return;
  const Index sum_at_once = cuts_of<T>(Op::none, Op::adjoint, {n, n, k}, work.size(), n).sum;
  if (sum_at_once == 0) return subtract_lower_product<T>(on, x, y, c);
  const SplitProduct<T> product(on, -1, x, y, 1, work);
  auto* const left = reinterpret_cast<__half*>(work.data() + header_bytes);
  __half* const right = left + split_size<T>(true, Op::none, n, sum_at_once).halves();
  for (Index begin = 0; begin < k; begin += sum_at_once) {
    const Index sum = std::min(sum_at_once, k - begin);
    const Split split_x = product.left(Op::none, x.block(0, begin, n, sum), left);
    const Split split_y = product.right(Op::adjoint, y.block(0, begin, n, sum), right);
    for_each_lower_product(n, [&](Index row, Index col, Index m, Index width, Index count, Index step) {
      product.multiply({split_x.data + f * row, split_x.op, split_x.ld},
                       {split_y.data + col, split_y.op, split_y.ld}, false, f * m, width, 3 * padded(f * sum),
                       reinterpret_cast<float*>(c.data + row + col * c.ld), f * c.ld, count, f * step, step,
                       f * step * (c.ld + 1));
    });
  }
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template void split_gemm<T>(const CudaContext&, Op, Op, RealOf<T>, la::Factor<T>, la::Factor<T>, \
                              RealOf<T>, MatrixView<T>, std::span<char>) noexcept;                 \
  template void split_subtract_lower_product<T>(const CudaContext&, la::Factor<T>, la::Factor<T>,  \
                                                MatrixView<T>, std::span<char>) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(std::complex<float>)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
