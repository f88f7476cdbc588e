// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The matrix stays in registers: thread block g of G has the rows g, g + G, .., whole, a thread some columns of them.
// So each block gets its part of a product A v without sums over blocks, and all of them together need one exchange a
// column: a block sends, for each of its rows i, y_i = (A v)_i and the element of the next column, x_i. Everything
// else is made by every block for itself, from the same numbers in the same order: w = tau y + alpha v, the next
// column x - v conj(w_1) - w, and its reflector. The update A - v w^H - w v^H is delayed to the next product, which
// reads the elements anyway.
//
// Numbers travel with the number of their column as a tag, so that nobody needs a fence. Two sets of places suffice: a
// block sends for column k + 2 when it has received all of column k + 1, and who has sent that has read all of column k.
// So a block must not read a column behind which it sends no more: it ends with the column before its last row, which
// it does not read; only the block of the very last row does, its own message.
//
// What is stored for column k comes from the block of row k + 1, into a matrix that all have read: every block sends for
// column 0 when it has all of its rows.
//
// The chain of a column is one message, three sums over a thread block, a root and the block's share of the product.
#include <algorithm>

#include <tessera/codelets/common/device_reflector.cuh>
#include <tessera/codelets/one_stage/kernels/tridiagonalize_device.hpp>

namespace tessera::detail {

namespace kernels {
namespace {

using namespace device;

/// More threads wait longer for each other; fewer have too many elements each.
constexpr int threads = 256, warps = threads / 32;
/// Rows of a thread block for the largest order, at which a thread has four columns; beyond, two stages are faster.
constexpr int largest_rows = 8, largest_order = 4 * threads;
/// What a message takes at least, in cycles.
constexpr int message_cycles = 400;

/// The words of a number.
__device__ inline void to_words(float x, unsigned* w) {
  w[0] = __float_as_uint(x);
}
__device__ inline void to_words(double x, unsigned* w) {
  w[0] = static_cast<unsigned>(__double2loint(x)), w[1] = static_cast<unsigned>(__double2hiint(x));
}
__device__ inline void from_words(const unsigned* w, float& x) {
  x = __uint_as_float(w[0]);
}
__device__ inline void from_words(const unsigned* w, double& x) {
  x = __hiloint2double(static_cast<int>(w[1]), static_cast<int>(w[0]));
}
template <class R>
__device__ void to_words(Complex<R> x, unsigned* w) {
  to_words(x.re, w), to_words(x.im, w + sizeof(R) / 4);
}
template <class R>
__device__ void from_words(const unsigned* w, Complex<R>& x) {
  from_words(w, x.re), from_words(w + sizeof(R) / 4, x.im);
}

/// Two numbers as a message: three of their words in each 16 bytes, and the tag, so that each part says whether it has
/// arrived.
template <class S>
struct PairMessage {
  static constexpr int number_words = static_cast<int>(sizeof(S) / 4), parts = (2 * number_words + 2) / 3,
                       words = 4 * parts;

  static __device__ void send(unsigned* to, S first, S second, unsigned tag) {
    unsigned w[3 * parts] = {};
    to_words(first, w), to_words(second, w + number_words);
#pragma unroll
    for (int i = 0; i < parts; ++i)
      asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to + 4 * i), "r"(w[3 * i]),
                   "r"(w[3 * i + 1]), "r"(w[3 * i + 2]), "r"(tag)
                   : "memory");
  }
  static __device__ void receive(const unsigned* from, S& first, S& second, unsigned tag) {
    unsigned w[3 * parts];
    bool all;
    do {
      all = true;
#pragma unroll
      for (int i = 0; i < parts; ++i) {
        unsigned seen;
        asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[3 * i]), "=r"(w[3 * i + 1]), "=r"(w[3 * i + 2]), "=r"(seen)
                     : "l"(from + 4 * i)
                     : "memory");
        all &= seen == tag;
      }
    } while (!all);
    from_words(w, first), from_words(w + number_words, second);
  }
};

template <class S>
struct TridiagonalizeArguments {
  int n;
  S* a;
  Index ld;
  Real<S>*d, *e;
  S* tau;
  unsigned* mail;
};

template <class S, int L>
struct TridiagonalizeShared {
  S partial[warps][L];  ///< a warp's part of A v
  S x[L], v[L], w[L];   ///< of the block's rows
  S head, y_head;       ///< x and y in the first row
  Real<S> tail[warps], q[warps], most[warps];
};

/// L rows of a block, C columns of a thread.
template <class S, int L, int C>
class Tridiagonalizer {
 public:
  using R = Real<S>;

  __device__ Tridiagonalizer(const TridiagonalizeArguments<S>& p, TridiagonalizeShared<S, L>& shared)
      : p_(p),
        shared_(shared),
        thread_(static_cast<int>(threadIdx.x)),
        lane_(thread_ % 32),
        warp_(thread_ / 32),
        block_(static_cast<int>(blockIdx.x)),
        blocks_(static_cast<int>(gridDim.x)) {}

  __device__ void run() {
    load();
    const int last = block_ + blocks_ * ((p_.n - 1 - block_) / blocks_);  // row of this block
    for (int k = 0; k < last; ++k) {
      const Reflector<S> h = reflector(k);
      S v[C];
#pragma unroll
      for (int c = 0; c < C; ++c)
        v[c] = column(c) == k + 1 ? S(R(1)) : column(c) > k + 1 ? x_[c] * h.inverse : S(R(0));
      product(k, v);
      if (k + 1 < last || last == p_.n - 1) receive_product(k, v, h.tau);
      if (stores(k)) store_reflector(k, v);
    }
    if (last < p_.n - 1) return;
#pragma unroll
    for (int c = 0; c < C; ++c)
      if (column(c) == last) p_.d[last] = real(x_[c]);
  }

 private:
  __device__ int column(int c) const {
    return thread_ + threads * c;
  }
  __device__ int row(int l) const {
    return block_ + blocks_ * l;
  }
  __device__ bool stores(int k) const {
    return block_ == (k + 1) % blocks_;
  }
  __device__ unsigned* mail(int k, int i) const {
    return p_.mail + (Index(k % 2) * p_.n + i) * PairMessage<S>::words;
  }
  /// The sum of a number of each warp, which lies in shared memory.
  __device__ static R sum_of(const R* part) {
    R sum[warps];
#pragma unroll
    for (int i = 0; i < warps; ++i) sum[i] = part[i];
#pragma unroll
    for (int half = warps / 2; half > 0; half /= 2)
#pragma unroll
      for (int i = 0; i < half; ++i) sum[i] += sum[i + half];
    return sum[0];
  }
  __device__ R tail_sum(int k) {
    R part = R(0);
#pragma unroll
    for (int c = 0; c < C; ++c)
      if (column(c) > k + 1) part += norm(x_[c]);
    part = warp_sum(part);
    if (lane_ == 0) shared_.tail[warp_] = part;
    __syncthreads();
    return sum_of(shared_.tail);
  }

  __device__ void load();
  __device__ Reflector<S> reflector(int k);
  __device__ R scale_column(int k, R& tail);
  __device__ void product(int k, const S (&v)[C]);
  __device__ void receive_product(int k, const S (&v)[C], S tau);
  __device__ void store_reflector(int k, const S (&v)[C]);

  const TridiagonalizeArguments<S>& p_;
  TridiagonalizeShared<S, L>& shared_;
  const int thread_, lane_, warp_, block_, blocks_;
  S a_[L][C];
  S x_[C];         ///< the column that is next; zero outside of its rows
  S v_[C], w_[C];  ///< of the update that is delayed
};

/// All elements are used for column 0, before the first message: who has a message may store into the matrix.
template <class S, int L, int C>
__device__ void Tridiagonalizer<S, L, C>::load() {
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const int j = column(c);
#pragma unroll
    for (int l = 0; l < L; ++l) {
      const int i = row(l);
      S x = S(R(0));
      if (i < p_.n && j < p_.n) x = i > j ? p_.a[i + j * p_.ld] : conj(p_.a[j + i * p_.ld]);
      a_[l][c] = i == j ? S(real(x)) : x;
    }
    x_[c] = j < p_.n ? p_.a[j] : S(R(0));
    v_[c] = w_[c] = S(R(0));
  }
  if (thread_ < L) shared_.v[thread_] = shared_.w[thread_] = S(R(0));
}

/// If squares of the column over- or underflow, divides it by its largest part. @return that, or 1; 0 for zero
template <class S, int L, int C>
__device__ Real<S> Tridiagonalizer<S, L, C>::scale_column(int k, R& tail) {
  constexpr R tiny = sizeof(R) == 4 ? R(1e-26) : R(1e-270), huge = sizeof(R) == 4 ? R(1e34) : R(1e300);
  const R total = tail + norm(shared_.head);
  if (total > tiny && total < huge) return R(1);
  R most = R(0);
#pragma unroll
  for (int c = 0; c < C; ++c)
    if (column(c) > k) most = larger(imag(x_[c]), larger(real(x_[c]), most));
  most = warp_max(most);
  if (lane_ == 0) shared_.most[warp_] = most;
  __syncthreads();
  most = R(0);
  for (int i = 0; i < warps; ++i) most = larger(shared_.most[i], most);
  if (most > R(0)) {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (column(c) > k) x_[c] = x_[c] / most;
      if (column(c) == k + 1) shared_.head = x_[c];
    }
  }
  tail = tail_sum(k);
  return most;
}

/// The reflector of column k from its rows k + 1 and following; the column's diagonal element, and what the block
/// keeps of the reflector.
template <class S, int L, int C>
__device__ Reflector<S> Tridiagonalizer<S, L, C>::reflector(int k) {
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (column(c) == k + 1) shared_.head = x_[c];
    if (column(c) == k && stores(k)) p_.d[k] = real(x_[c]);
  }
  R tail = tail_sum(k);
  const R scale = scale_column(k, tail);
  const Reflector<S> h = reflector_of(shared_.head, tail, scale);
  if (stores(k) && thread_ == 0) p_.e[k] = h.beta, p_.tau[k] = h.tau;
  return h;
}

/// The delayed update, and the block's rows of A v; sends them.
template <class S, int L, int C>
__device__ void Tridiagonalizer<S, L, C>::product(int k, const S (&v)[C]) {
  constexpr int each = 32 / L;  // lanes for a row
  S sum[L];
#pragma unroll
  for (int l = 0; l < L; ++l) {
    sum[l] = S(R(0));
    if (row(l) <= k) continue;  // these rows have been reduced
    const S v_i = shared_.v[l], w_i = shared_.w[l];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      S& a = a_[l][c];
      a = fused(S(R(0)) - v_i, conj(w_[c]), fused(S(R(0)) - w_i, conj(v_[c]), a));
      sum[l] = fused(a, v[c], sum[l]);
    }
  }
  // The column that is next, for the block's rows.
#pragma unroll
  for (int c = 0; c < C; ++c)
    if (column(c) == k + 1)
#pragma unroll
      for (int l = 0; l < L; ++l) shared_.x[l] = a_[l][c];
  const S part = warp_sums(sum, lane_);
  if (lane_ % each == 0) shared_.partial[warp_][lane_ / each] = part;
  __syncthreads();
  if (warp_ == 0) {
    const int l = lane_ / each;
    S y = S(R(0));
    for (int i = lane_ % each; i < warps; i += each) y += shared_.partial[i][l];
    for (int mask = each / 2; mask > 0; mask /= 2) y += exchange(y, mask);
    if (lane_ % each == 0 && row(l) > k && row(l) < p_.n)
      PairMessage<S>::send(mail(k, row(l)), y, shared_.x[l], static_cast<unsigned>(k + 1));
    __syncwarp();
  }
}

/// A v of all blocks: w of the update, and the next column.
template <class S, int L, int C>
__device__ void Tridiagonalizer<S, L, C>::receive_product(int k, const S (&v)[C], S tau) {
  const unsigned tag = static_cast<unsigned>(k + 1);
  S y[C];
  R part = R(0);
  // Reading earlier only delays the messages of others.
  for (const long long sent = clock64(); clock64() - sent < message_cycles;) {
  }
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const int j = column(c);
    y[c] = x_[c] = S(R(0));
    if (j <= k || j >= p_.n) continue;
    PairMessage<S>::receive(mail(k, j), y[c], x_[c], tag);
    part += real(conj(v[c]) * y[c]);
    if (j == k + 1) shared_.y_head = y[c];
  }
  part = warp_sum(part);
  if (lane_ == 0) shared_.q[warp_] = part;
  __syncthreads();
  const R alpha = R(-0.5) * norm(tau) * sum_of(shared_.q);
  const S w_head = tau * shared_.y_head + S(alpha);
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const int j = column(c);
    v_[c] = v[c];
    w_[c] = fused(tau, y[c], v[c] * alpha);
    x_[c] = fused(S(R(0)) - v[c], conj(w_head), x_[c]) - w_[c];
    if (j < p_.n && j % blocks_ == block_) shared_.v[j / blocks_] = v_[c], shared_.w[j / blocks_] = w_[c];
  }
}

template <class S, int L, int C>
__device__ void Tridiagonalizer<S, L, C>::store_reflector(int k, const S (&v)[C]) {
#pragma unroll
  for (int c = 0; c < C; ++c)
    if (column(c) > k && column(c) < p_.n) p_.a[column(c) + k * p_.ld] = v[c];
}

template <class S, int L, int C>
__global__ void __launch_bounds__(threads, 1)
    tridiagonalize_kernel(const __grid_constant__ TridiagonalizeArguments<S> p) {
  __shared__ TridiagonalizeShared<S, L> shared;
  Tridiagonalizer<S, L, C>(p, shared).run();
}

/// Calls f(kernel, rows of a block) for the smallest kernel that takes order n with a block for each multiprocessor.
template <class S, class F>
void with_kernel(Index n, Index processors, F&& f) {
  if (n <= largest_order / 2 && n <= 4 * processors)
    f(tridiagonalize_kernel<S, 4, 2>, 4);
  else
    f(tridiagonalize_kernel<S, largest_rows, 4>, largest_rows);
}

}  // namespace
}  // namespace kernels

namespace device {

namespace {

/// Multiprocessors of the current GPU; 0: it has no cooperative launches.
Index cooperative_processors() noexcept {
  int device = 0, processors = 0, cooperative = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
  return cooperative ? processors : 0;
}

}  // namespace

template <class T>
Index largest_tridiagonalized_at_once() {
  return std::min<Index>(kernels::largest_rows * cooperative_processors(), kernels::largest_order);
}

template <class T>
std::size_t tridiagonalize_at_once_bytes(Index n) noexcept {
  return static_cast<std::size_t>(2 * n * kernels::PairMessage<DeviceScalar<T>>::words) * sizeof(unsigned);
}

template <class T>
bool launch_tridiagonalize_at_once(cudaStream_t stream, MatrixView<T> a, RealOf<T>* d, RealOf<T>* e, T* tau,
                                   void* work) noexcept {
  using S = DeviceScalar<T>;
  kernels::TridiagonalizeArguments<S> arguments{
      static_cast<int>(a.rows), device_cast(a.data),         a.ld, d, e,
      device_cast(tau),         static_cast<unsigned*>(work)};
  cudaMemsetAsync(work, 0, tridiagonalize_at_once_bytes<T>(a.rows), stream);
  cudaError_t error = cudaSuccess;
  kernels::with_kernel<S>(a.rows, cooperative_processors(), [&](auto kernel, Index rows) {
    void* parameters[] = {&arguments};
    error = cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                        dim3(static_cast<unsigned>(ceil_div(a.rows, rows))),
                                        dim3(kernels::threads), parameters, 0, stream);
  });
  if (error != cudaSuccess) cudaGetLastError();  // the caller takes another way
  return error == cudaSuccess;
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template Index largest_tridiagonalized_at_once<T>();                                                    \
  template std::size_t tridiagonalize_at_once_bytes<T>(Index) noexcept;                                   \
  template bool launch_tridiagonalize_at_once<T>(cudaStream_t, MatrixView<T>, RealOf<T>*, RealOf<T>*, T*, \
                                                 void*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace device

}  // namespace tessera::detail
