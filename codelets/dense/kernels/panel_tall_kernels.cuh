// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_scalar.cuh>

/// Kernels on the tall matrices of a panel (rows x b with b <= 128): Gram matrix, substitution with a
/// triangle, product with a small matrix. Products use the FP64 tensor cores (mma m16n8k8) for every scalar
/// type. The tensor cores take column-major operands in an order that reads whole 32-byte sectors of global
/// memory, so that shared memory is not needed.
namespace tessera::detail::panel_cuda {

using device::Real;

/// The type in which the kernels compute small matrices: double or complex double.
template <class S>
struct WideScalar {
  using type = double;
};
template <class R>
struct WideScalar<device::Complex<R>> {
  using type = device::Complex<double>;
};
template <class S>
using Wide = typename WideScalar<S>::type;

__device__ inline double widen(float x) {
  return x;
}
__device__ inline double widen(double x) {
  return x;
}
template <class R>
__device__ inline device::Complex<double> widen(device::Complex<R> x) {
  return {double(x.re), double(x.im)};
}
template <class S>
__device__ inline S narrow(Wide<S> x) {
  if constexpr (device::is_complex_scalar<S>)
    return S(Real<S>(x.re), Real<S>(x.im));
  else
    return S(x);
}

template <class S>
struct DeviceMatrix {
  S* data;
  long long ld;
  __device__ S& operator()(long long i, long long j) const { return data[i + j * ld]; }
};

/// C += A B, 16 x 8 times 8 x 8, spread over a warp. Lane l holds A(l / 4 + 8 h, l % 4 + 4 s) in a[h + 2 s],
/// B(l % 4 + 4 s, l / 4) in b[s], C(l / 4 + 8 h, 2 (l % 4) + e) in c[e + 2 h].
__device__ inline void tensor_multiply(double (&c)[4], double a0, double a1, double a2, double a3, double b0,
                                       double b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
}

/// A 16 x 8 tile of a product.
template <class W>
struct TensorTile {
  double re[4] = {0, 0, 0, 0};
  __device__ void add(const W (&a)[4], const W (&b)[2]) {
    tensor_multiply(re, a[0], a[1], a[2], a[3], b[0], b[1]);
  }
  __device__ double get(int e) const { return re[e]; }
  __device__ void set(int e, double x) { re[e] = x; }
};
template <>
struct TensorTile<device::Complex<double>> {
  using W = device::Complex<double>;
  double re[4] = {0, 0, 0, 0}, im[4] = {0, 0, 0, 0};
  __device__ void add(const W (&a)[4], const W (&b)[2]) {
    tensor_multiply(re, a[0].re, a[1].re, a[2].re, a[3].re, b[0].re, b[1].re);
    tensor_multiply(re, -a[0].im, -a[1].im, -a[2].im, -a[3].im, b[0].im, b[1].im);
    tensor_multiply(im, a[0].re, a[1].re, a[2].re, a[3].re, b[0].im, b[1].im);
    tensor_multiply(im, a[0].im, a[1].im, a[2].im, a[3].im, b[0].re, b[1].re);
  }
  __device__ W get(int e) const { return {re[e], im[e]}; }
  __device__ void set(int e, W x) { re[e] = x.re, im[e] = x.im; }
};

/// Columns of one unit of work in the Gram matrix and in products.
inline constexpr int column_block = 32;
inline constexpr int tall_warps = 8;
inline constexpr int tall_threads = 32 * tall_warps;

/// Block (ci, cj) of column_block^2 entries of X^H X over the rows [begin, end), by all warps of the thread
/// block; in a diagonal block only tiles on and above the diagonal. out: b x b, ld b. `shared`: tall_warps
/// column_block^2 numbers. Sums run in a fixed order.
template <bool diagonal, class S>
__device__ void gram_block(const S* __restrict__ x, long long ld, long long begin, long long end, int b,
                           int ci, int cj, Wide<S>* shared, Wide<S>* out) {
  using W = Wide<S>;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int first_i = ci * column_block, first_j = cj * column_block;
  // Columns 8 t + l / 4 of the block, rows l % 4 + 4 s: the tensor cores' operands on either side.
  TensorTile<W> tile[2][4];
  for (long long row0 = begin + 8 * warp; row0 < end; row0 += 8 * tall_warps) {
    W left[4][2], right[4][2];
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const long long row = row0 + 4 * s + lane % 4;
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const int i = first_i + 8 * t + lane / 4, j = first_j + 8 * t + lane / 4;
        left[t][s] = row < end && i < b ? widen(x[row + i * ld]) : W(0);
        right[t][s] = diagonal ? left[t][s] : row < end && j < b ? widen(x[row + j * ld]) : W(0);
      }
    }
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      const W a[4] = {device::conj(left[2 * t][0]), device::conj(left[2 * t + 1][0]),
                      device::conj(left[2 * t][1]), device::conj(left[2 * t + 1][1])};
#pragma unroll
      for (int u = diagonal ? 2 * t : 0; u < 4; ++u) tile[t][u].add(a, right[u]);
    }
  }
#pragma unroll
  for (int t = 0; t < 2; ++t)
#pragma unroll
    for (int u = diagonal ? 2 * t : 0; u < 4; ++u)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        shared[(warp * column_block + 8 * u + 2 * (lane % 4) + e % 2) * column_block + 16 * t + lane / 4 +
               e / 2 * 8] = tile[t][u].get(e);
  __syncthreads();
  for (int k = threadIdx.x; k < column_block * column_block; k += tall_threads) {
    const int i = k % column_block, j = k / column_block;
    if ((diagonal && i > j) || first_i + i >= b || first_j + j >= b) continue;
    W sum = shared[k];
    for (int w = 1; w < tall_warps; ++w) sum += shared[w * column_block * column_block + k];
    out[first_i + i + (first_j + j) * b] = sum;
  }
  __syncthreads();
}

/// The blocks of the upper triangle are numbered by columns: (0, 0), (0, 1), (1, 1), (0, 2), ...
template <class S>
__device__ void gram_block_number(int number, const S* x, long long ld, long long begin, long long end, int b,
                                  Wide<S>* shared, Wide<S>* out) {
  int cj = 0;
  while (number > cj) number -= ++cj;
  if (number == cj)
    gram_block<true>(x, ld, begin, end, b, cj, cj, shared, out);
  else
    gram_block<false>(x, ld, begin, end, b, number, cj, shared, out);
}

/// Partial Gram matrix of each chunk of rows (blockIdx.x) and block of columns (blockIdx.y). Clears the
/// counters of the later kernels of the factorisation.
template <class S>
__global__ void __launch_bounds__(tall_threads)
    gram_kernel(const S* __restrict__ x, long long ld, long long rows, long long chunk, int b,
                Wide<S>* partials, int* counters) {
  extern __shared__ double2 shared_memory[];
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < 2) counters[threadIdx.x] = 0;
  const long long begin = blockIdx.x * chunk, end = min(rows, begin + chunk);
  gram_block_number(blockIdx.y, x, ld, begin, end, b, reinterpret_cast<Wide<S>*>(shared_memory),
                    partials + static_cast<long long>(blockIdx.x) * b * b);
}

/// Sum of the partial Gram matrices. Each thread block sums 32 entries (down the columns); the lanes of the
/// first warp get true and one entry each. `shared` has one number for each thread.
template <class W>
__device__ bool sum_partials(const W* __restrict__ partials, int count, int b, W* shared, int& entry,
                             W& sum) {
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32, groups = blockDim.x / 32;
  entry = blockIdx.x * 32 + lane;
  const bool wanted = entry < b * b && entry % b <= entry / b;
  sum = W(0);
  if (wanted)
    for (int first = group; first < count; first += 8 * groups) {
      W part[8];  // loaded at once
#pragma unroll
      for (int l = 0; l < 8; ++l) {
        const int k = first + l * groups;
        part[l] = k < count ? partials[static_cast<long long>(k) * b * b + entry] : W(0);
      }
#pragma unroll
      for (int l = 0; l < 8; ++l) sum += part[l];
    }
  shared[threadIdx.x] = sum;
  __syncthreads();
  if (group != 0) return false;
  for (int g = 1; g < groups; ++g) sum += shared[g * 32 + lane];
  return wanted;
}

template <class S>
__global__ void gram_sum_kernel(const Wide<S>* partials, int count, int b, S* gram, long long ld) {
  __shared__ Wide<S> shared[256];
  int entry;
  Wide<S> sum;
  if (sum_partials(partials, count, b, shared, entry, sum)) gram[entry % b + entry / b * ld] = narrow<S>(sum);
}

/// Columns that the substitution keeps in a thread's registers.
template <class S>
inline constexpr int solve_columns = sizeof(S) == 16 ? 16 : 32;

template <class S>
__device__ inline S reciprocal(S x) {
  if constexpr (device::is_complex_scalar<S>) {
    const Real<S> scale = Real<S>(1) / device::norm(x);
    return {x.re * scale, -x.im * scale};
  } else {
    return S(1) / x;
  }
}

/// Q := P R^-1 for the rows [begin, end) by substitution, one row a thread. Unlike a product with R^-1 it
/// keeps the residual P - Q R at working precision however ill-conditioned R is. `shared`: b x solve_columns.
/// Q may be P.
template <class S>
__device__ void solve_rows(const S* p, long long ld_p, const S* __restrict__ r, S* q, long long ld_q,
                           long long begin, long long end, int b, S* shared) {
  constexpr int width = solve_columns<S>;
  for (int first = 0; first < b; first += width) {
    __syncthreads();
    for (int i = threadIdx.x % 32; i < first + width; i += 32) {
      S column[width / tall_warps];
#pragma unroll
      for (int k = 0; k < width / tall_warps; ++k) {
        const int j = first + threadIdx.x / 32 + tall_warps * k;
        column[k] = i <= j && j < b ? r[i + j * b] : S(0);
        if (i == j) column[k] = j < b ? reciprocal(column[k]) : S(1);
      }
#pragma unroll
      for (int k = 0; k < width / tall_warps; ++k)
        shared[i * width + threadIdx.x / 32 + tall_warps * k] = column[k];
    }
    __syncthreads();
    for (long long row = begin + threadIdx.x; row < end; row += blockDim.x) {
      // The triangle does not fit into registers: this keeps the compiler from loading it before the loop.
      asm volatile("" ::: "memory");
      S x[width];
#pragma unroll
      for (int c = 0; c < width; ++c) x[c] = first + c < b ? p[row + (first + c) * ld_p] : S(0);
#pragma unroll 8
      for (int i = 0; i < first; ++i) {
        const S y = q[row + i * ld_q];
#pragma unroll
        for (int c = 0; c < width; ++c) x[c] -= y * shared[i * width + c];
      }
      const S* triangle = shared + first * width;
#pragma unroll
      for (int c = 0; c < width; ++c) {
        x[c] = x[c] * triangle[c * width + c];
#pragma unroll
        for (int d = c + 1; d < width; ++d) x[d] -= x[c] * triangle[c * width + d];
      }
#pragma unroll
      for (int c = 0; c < width; ++c)
        if (first + c < b) q[row + (first + c) * ld_q] = x[c];
    }
  }
}

/// Q := P R^-1 and, where `partials` is given, the partial Gram matrices of Q; nothing if *flag.
template <class S>
__global__ void __launch_bounds__(tall_threads)
    solve_kernel(const std::int32_t* flag, const S* p, long long ld_p, const S* __restrict__ r, S* q,
                 long long ld_q, long long rows, long long chunk, int b, Wide<S>* partials) {
  extern __shared__ double2 shared_memory[];
  if (*flag) return;
  const long long begin = blockIdx.x * chunk, end = min(rows, begin + chunk);
  solve_rows(p, ld_p, r, q, ld_q, begin, end, b, reinterpret_cast<S*>(shared_memory));
  if (!partials) return;
  __syncthreads();
  const int blocks = (b + column_block - 1) / column_block;
  for (int number = 0; number < blocks * (blocks + 1) / 2; ++number)
    gram_block_number<S>(number, q, ld_q, begin, end, b, reinterpret_cast<Wide<S>*>(shared_memory),
                         partials + static_cast<long long>(blockIdx.x) * b * b);
}

/// C := A M (+ E, the first columns of the identity), rows x inner times inner x cols.
template <class S>
struct TallProduct {
  const std::int32_t* flag = nullptr;  ///< runs if flag is null or *flag == when
  std::int32_t when = 0;
  const S* a = nullptr;
  long long ld_a = 0;
  const S* m = nullptr;
  long long ld_m = 0;
  S* c = nullptr;  ///< may be A if `upper`
  long long ld_c = 0;
  long long rows = 0;
  int inner = 0, cols = 0;
  bool upper = false;  ///< M is upper triangular
  bool plus_identity = false;
  S* copy = nullptr;  ///< gets A (inner == cols)
  long long ld_copy = 0;
  const S* top = nullptr;  ///< replaces the first `cols` rows of C (cols x cols, ld = cols)
};

inline constexpr int product_threads = 128;
inline constexpr int product_rows = 16 * product_threads / 32;  ///< rows of a thread block
/// Distance of the columns of M in shared memory: it spreads the reads of a warp over the banks.
__host__ __device__ constexpr int product_pitch(int inner) {
  return (inner + 15) / 16 * 16 + 4;
}

template <class S>
__global__ void __launch_bounds__(product_threads) tall_product_kernel(TallProduct<S> a) {
  using W = Wide<S>;
  extern __shared__ double2 shared_memory[];
  if (a.flag && *a.flag != a.when) return;
  W* m = reinterpret_cast<W*>(shared_memory);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long row0 = static_cast<long long>(blockIdx.x) * product_rows + 16 * warp + lane / 4;
  const int pitch = product_pitch(a.inner);
  // From the last columns to the first: with a triangular M no later step reads an overwritten column.
  for (int first = (a.cols - 1) / column_block * column_block; first >= 0; first -= column_block) {
    const int inner = a.upper ? min(a.inner, first + column_block) : a.inner, padded = (inner + 7) / 8 * 8;
    __syncthreads();
    for (int i = lane; i < padded; i += 32) {
      W column[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const int col = first + warp + 4 * k;
        const bool inside = i < inner && col < a.cols && !(a.upper && i > col);
        column[k] = inside ? widen(a.m[i + col * a.ld_m]) : W(0);
      }
#pragma unroll
      for (int k = 0; k < 8; ++k) m[(warp + 4 * k) * pitch + i] = column[k];
    }
    __syncthreads();
    TensorTile<W> tile[4];
    for (int group = 0; group < padded; group += column_block) {
      // The loads of 32 columns together, then the products.
      S value[4][4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const long long row = row0 + q % 2 * 8;
          const int i = group + 8 * k + q / 2 * 4 + lane % 4;
          value[k][q] = row < a.rows && i < inner ? a.a[row + i * a.ld_a] : S(0);
        }
      if (a.copy && group == first) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
          for (int q = 0; q < 4; ++q) {
            const long long row = row0 + q % 2 * 8;
            const int i = group + 8 * k + q / 2 * 4 + lane % 4;
            if (row < a.rows && i < inner) a.copy[row + i * a.ld_copy] = value[k][q];
          }
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (group + 8 * k >= padded) break;
        const W left[4] = {widen(value[k][0]), widen(value[k][1]), widen(value[k][2]), widen(value[k][3])};
#pragma unroll
        for (int u = 0; u < 4; ++u) {
          const W* column = m + (8 * u + lane / 4) * pitch + group + 8 * k + lane % 4;
          const W right[2] = {column[0], column[4]};
          tile[u].add(left, right);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < 4; ++u)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const long long row = row0 + e / 2 * 8;
        const int col = first + 8 * u + 2 * (lane % 4) + e % 2;
        if (row >= a.rows || col >= a.cols) continue;
        W value = tile[u].get(e);
        if (a.plus_identity && row == col) value += W(1);
        S result = narrow<S>(value);
        if (a.top && row < a.cols) result = a.top[row + col * a.cols];
        a.c[row + col * a.ld_c] = result;
      }
  }
}

template <class S>
void launch_tall_product(cudaStream_t stream, const TallProduct<S>& product) {
  if (product.rows == 0 || product.cols == 0) return;
  const std::size_t shared =
      sizeof(Wide<S>) * static_cast<std::size_t>(column_block * product_pitch(product.inner));
  if (shared > 48 * 1024)
    cudaFuncSetAttribute(tall_product_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(shared));
  const auto blocks = static_cast<unsigned>((product.rows + product_rows - 1) / product_rows);
  tall_product_kernel<S><<<blocks, product_threads, shared, stream>>>(product);
}

}  // namespace tessera::detail::panel_cuda
