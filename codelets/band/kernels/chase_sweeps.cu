// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The chase by one kernel whose thread blocks take one sweep each, for matrices that have more steps than
// thread blocks fit on the GPU (chase_steps.cu).
//
// A step h of a sweep works on the b columns from r = s + 1 + h b, rows r .. r + 2b - 1: D, the lower
// triangle of the diagonal block, and B below it. It takes the reflector H(s, h), makes D := H^H D H and B :=
// B H, generates H(s, h + 1) from the first column of B and applies it to the other columns from the left. So
// each step reads and writes its columns once, and only the reflector passes to the next step.
//
// Lane l of warp w holds the rows l, l + 32, .. of the columns w, w + W, .. of D and of B: sums over rows are
// shuffles, sums over columns go through shared memory.
//
// Step h of sweep s + 1 needs step h of sweep s and the first column of its step h + 1 (with the entry that
// the second reflector of that step leaves there). Sweep s does not store that column but sends it, each
// number with a tag, and the receiver waits for the tags without fences; a counter of finished steps
// announces the rest. A block only waits for the sweep before, which a running block has taken, because
// sweeps are taken in order.
//
// The last row of a step's B is zero except in the last column, which has just been sent: the kernel never
// reads it from memory. It never reads the numbers beyond, in the room for the bulge, either.
#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/codelets/band/kernels/chase_device.cuh>

namespace tessera::detail::kernels {
namespace {

template <class S>
struct Sweeps : ChaseArguments<S> {
  unsigned* ticket;
  int* progress;
  unsigned* mail;
};

/// The shared memory of a thread block, for blocks of order B and W warps.
template <class S, int B, int W>
struct Shared {
  S partial[W][2 * B];  ///< a warp's part of the products D v and B v
  S columns[B];         ///< the part of D v from the strict upper triangle
  S first[B];           ///< first column of B
  S y[B], u[B];         ///< tau D v, tau B v
  S x[2][B];            ///< the sources of this reflector and of the next
  Real<S> q[B / 32], tail[B / 32];
  Index sweep;
};

template <class S, int B, int W, Keep keep_d, Keep keep_b>
class Chaser {
 public:
  static constexpr int K = B / 32, C = B / W;
  using R = Real<S>;

  __device__ Chaser(const Sweeps<S>& p, unsigned char* memory)
      : p_(p),
        shared_(*reinterpret_cast<Shared<S, B, W>*>(memory)),
        lane_(static_cast<int>(threadIdx.x) % 32),
        warp_(static_cast<int>(threadIdx.x) / 32) {
    if constexpr (keep_d == Keep::shared)
      d_.value = reinterpret_cast<S*>(memory + (sizeof(Shared<S, B, W>) + 15) / 16 * 16) + threadIdx.x;
  }

  __device__ void run() {
    for (;;) {
      __syncthreads();
      if (threadIdx.x == 0) shared_.sweep = p_.begin + atomicAdd(p_.ticket, 1u);
      __syncthreads();
      const Index j = shared_.sweep;
      if (j >= p_.end) return;
      sweep(j);
    }
  }

 private:
  static constexpr __device__ bool above(int k, int c) { return 32 * k + 31 < c * W; }
  __device__ unsigned* mail(Index hop, int i) const {
    return p_.mail + (hop * (p_.b + 1) + i) * mail_words<S>;
  }
  __device__ int row(int k) const { return lane_ + 32 * k; }
  __device__ int column(int c) const { return warp_ + W * c; }
  __device__ S* at(Index row, Index column) const { return p_.at(row, column); }

  __device__ void sweep(Index j);
  __device__ void start(Index j);
  __device__ void take_vector(const Reflector<S>& h);
  __device__ void keep_reflector(Index j, Index hop, const Reflector<S>& h);
  __device__ void load_columns(Index j, Index hop, Index r);
  __device__ void products();
  __device__ void sum_products();
  __device__ void update(Index j, Index hop, int rows);
  __device__ void apply_left(const Reflector<S>& h);
  __device__ void store_columns(Index r, bool last, R beta);

  const Sweeps<S>& p_;
  Shared<S, B, W>& shared_;
  const int lane_, warp_;
  int parity_ = 0;
  Index first_block_ = 0;
  Reflector<S> h_;
  S v_row_[K], v_column_[C];
  Part<S, K, C, keep_d> d_;
  Part<S, K, C, keep_b> b_;
};

/// The v of the reflector from shared_.x[parity_] and h.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::take_vector(const Reflector<S>& h) {
  const S* const x = shared_.x[parity_];
#pragma unroll
  for (int k = 0; k < K; ++k) v_row_[k] = row(k) == 0 ? S(R(1)) : x[row(k)] * h.inverse;
#pragma unroll
  for (int c = 0; c < C; ++c) v_column_[c] = column(c) == 0 ? S(R(1)) : x[column(c)] * h.inverse;
  h_ = h;
}

template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::keep_reflector(Index j, Index hop, const Reflector<S>& h) {
  if (p_.vectors == nullptr) return;
  const Index at = (first_block_ + hop) * p_.group + j % p_.group;
#pragma unroll
  for (int k = 0; k < K; ++k)
    if (warp_ == k % W && row(k) < p_.b) p_.vectors[at * p_.b + row(k)] = v_row_[k];
  if (threadIdx.x == 0) p_.taus[at] = h.tau;
}

/// The first reflector, from the sweep's own column.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::start(Index j) {
  const Index s = p_.first + j;
  const int i = static_cast<int>(threadIdx.x);
  S* const column = at(s, s);
  if (i < B) {
    S x = S(R(0));
    if (i < p_.b && s + 1 + i < p_.n) {
      if (j == p_.begin)
        x = load(column + 1 + i);
      else
        receive(mail(0, i + 1), x, static_cast<unsigned>(j));
    }
    shared_.x[parity_][i] = x;
    const R part = warp_sum(i > 0 ? norm(x) : R(0));
    if (lane_ == 0) shared_.tail[warp_] = part;
  }
  __syncthreads();
  R tail = R(0);
  for (int k = 0; k < K; ++k) tail += shared_.tail[k];
  const Reflector<S> h = generate(shared_.x[parity_], tail, p_.b);
  take_vector(h);
  if (threadIdx.x == 0) {
    store(column + 1, S(h.beta));
    if (j > p_.begin) {
      S diagonal;
      receive(mail(0, 0), diagonal, static_cast<unsigned>(j));
      store(column, diagonal);
    }
  }
}

/// Loads D and B of the step from the band, and the last column from the sweep before.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::load_columns(Index j, Index hop, Index r) {
  const int b = p_.b;
  const int rows = static_cast<int>(p_.n - r < b ? p_.n - r : b);
  const Index left = p_.n - r - b;
  const int below = static_cast<int>(left < 0 ? 0 : left < b ? left : b);
  const bool mailed = j > p_.begin && rows == b;
  if constexpr (keep_d == Keep::global) {
    d_.corner = at(r + lane_, r + warp_);
    d_.down = 32;
    d_.right = (p_.ld - 1) * W;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      d_.readable[c] = 0;
      for (int k = 0; k < K; ++k) d_.readable[c] |= (row(k) < rows && row(k) >= column(c) ? 1u : 0u) << k;
      d_.writable[c] = column(c) > 0 || j + 1 == p_.end ? d_.readable[c] : 0u;
    }
  }
  if constexpr (keep_b == Keep::global) {
    b_.corner = at(r + b + lane_, r + warp_);
    b_.down = 32;
    b_.right = (p_.ld - 1) * W;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      b_.readable[c] = 0;
      for (int k = 0; k < K; ++k) b_.readable[c] |= (row(k) < below && column(c) < rows ? 1u : 0u) << k;
      b_.writable[c] = column(c) > 0 ? b_.readable[c] : 0u;
    }
  }
  if (j > p_.begin) {
    if (lane_ == 0) wait_for_steps(p_.progress + (j - 1), static_cast<int>(hop + 1));
    __syncwarp();
  }
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const bool sent = mailed && column(c) == b - 1;
    const S* const from = at(r, r + column(c));
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (!above(k, c) && keep_d != Keep::global) {
        S x = S(R(0));
        if (row(k) < rows && row(k) >= column(c) && !sent) x = load(from + row(k));
        d_.set(k, c, x);
      }
      const bool zero = row(k) == b - 1 && column(c) < b - 1;
      if (keep_b != Keep::global) {
        S x = S(R(0));
        if (row(k) < below && column(c) < rows && !sent && !zero) x = load(from + b + row(k));
        b_.set(k, c, x);
      } else if (zero) {
        b_.set(k, c, S(R(0)));
      }
    }
  }
  if (!mailed || warp_ != (b - 1) % W) return;
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (column(c) != b - 1) continue;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      S x;
      if (!above(k, c) && row(k) == b - 1) {
        receive(mail(hop + 1, 0), x, static_cast<unsigned>(j));
        d_.set(k, c, x);
      }
      if (row(k) < below) {
        receive(mail(hop + 1, row(k) + 1), x, static_cast<unsigned>(j));
        b_.set(k, c, x);
      }
    }
  }
}

/// Each warp's part of D v (lower triangle by rows, strict upper triangle by columns) and B v.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::products() {
  S in_d[K], in_b[K], in_column[C];
#pragma unroll
  for (int k = 0; k < K; ++k) in_d[k] = in_b[k] = S(R(0));
#pragma unroll
  for (int c = 0; c < C; ++c) {
    in_column[c] = S(R(0));
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (!above(k, c)) {
        const S x = d_.get(k, c);
        in_d[k] += x * v_column_[c];
        if (row(k) > column(c)) in_column[c] += conj(x) * v_row_[k];
      }
      const S x = b_.get(k, c);
      in_b[k] += x * v_column_[c];
      if (c == 0 && warp_ == 0) shared_.first[row(k)] = x;
    }
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    shared_.partial[warp_][row(k)] = in_d[k];
    shared_.partial[warp_][B + row(k)] = in_b[k];
  }
  const S sum = warp_sums<C>(in_column, lane_);
  if (lane_ % (32 / C) == 0) shared_.columns[column(lane_ / (32 / C))] = sum;
}

/// y = tau D v, q = v^H D v, u = tau B v, and the first column of B H, the source of the next reflector. By 2
/// B threads.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::sum_products() {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= 2 * B) return;
  S sum = S(R(0));
#pragma unroll
  for (int w = 0; w < W; ++w) sum += shared_.partial[w][t];
  if (t < B) {
    sum += shared_.columns[t];
    const S v = t == 0 ? S(R(1)) : shared_.x[parity_][t] * h_.inverse;
    shared_.y[t] = h_.tau * sum;
    const R part = warp_sum(real(conj(v) * sum));
    if (lane_ == 0) shared_.q[warp_] = part;
  } else {
    const int i = t - B;
    const S u = h_.tau * sum, x = shared_.first[i] - u;
    shared_.u[i] = u;
    shared_.x[1 - parity_][i] = x;
    const R part = warp_sum(i > 0 ? norm(x) : R(0));
    if (lane_ == 0) shared_.tail[warp_ - K] = part;
  }
}

/// D -= v w^H + w v^H with w = y - |tau|^2 / 2 (v^H D v) v; its first column goes to the next sweep. B -= u
/// v^H.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::update(Index j, Index hop, int rows) {
  R q = R(0);
  for (int k = 0; k < K; ++k) q += shared_.q[k];
  const R alpha = R(-0.5) * norm(h_.tau) * q;
  S w_row[K], u_row[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    w_row[k] = shared_.y[row(k)] + alpha * v_row_[k];
    u_row[k] = shared_.u[row(k)];
  }
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const S v = conj(v_column_[c]), w = conj(shared_.y[column(c)] + alpha * v_column_[c]);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (above(k, c)) continue;
      S x = d_.get(k, c) - (v_row_[k] * w + w_row[k] * v);
      if (row(k) == column(c)) x = S(real(x));
      d_.set(k, c, x);
      if (c == 0 && warp_ == 0 && j + 1 < p_.end && row(k) < rows)
        send(mail(hop, row(k)), x, static_cast<unsigned>(j + 1));
    }
#pragma unroll
    for (int k = 0; k < K; ++k) b_.set(k, c, b_.get(k, c) - u_row[k] * v);
  }
}

/// B := H^H B with the next reflector, whose vector is in shared memory.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::apply_left(const Reflector<S>& h) {
  S dots[C];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    dots[c] = S(R(0));
#pragma unroll
    for (int k = 0; k < K; ++k) dots[c] += conj(v_row_[k]) * b_.get(k, c);
  }
  const S mine = conj(h.tau) * warp_sums<C>(dots, lane_);
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const S factor = from_lane(mine, c * (32 / C));
#pragma unroll
    for (int k = 0; k < K; ++k) b_.set(k, c, b_.get(k, c) - v_row_[k] * factor);
  }
}

/// Stores D and B to the band; the first column only in the last sweep, which has no receiver.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::store_columns(Index r, bool last, R beta) {
  const int b = p_.b;
  const int rows = static_cast<int>(p_.n - r < b ? p_.n - r : b);
  const Index left = p_.n - r - b;
  const int below = static_cast<int>(left < 0 ? 0 : left < b ? left : b);
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (column(c) == 0 && !last) continue;
    S* const to = at(r, r + column(c));
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (!above(k, c) && keep_d != Keep::global && row(k) < rows && row(k) >= column(c))
        store(to + row(k), d_.get(k, c));
      if (row(k) < below && column(c) < rows && (keep_b != Keep::global || column(c) == 0))
        store(to + b + row(k), column(c) > 0 ? b_.get(k, c) : row(k) > 0 ? S(R(0)) : S(beta));
    }
  }
}

template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::sweep(Index j) {
  const bool last = j + 1 == p_.end;
  if (p_.vectors != nullptr) first_block_ = p_.first_block(j);
  start(j);
  keep_reflector(j, 0, h_);
  Index hop = 0;
  for (Index r = p_.first + j + 1; r < p_.n; r += p_.b, ++hop) {
    load_columns(j, hop, r);
    products();
    __syncthreads();
    sum_products();
    __syncthreads();
    const bool more = r + p_.b < p_.n;
    Reflector<S> next{};
    if (more) {
      R tail = R(0);
      for (int k = 0; k < K; ++k) tail += shared_.tail[k];
      next = generate(shared_.x[1 - parity_], tail, p_.b);
    }
    update(j, hop, static_cast<int>(p_.n - r < p_.b ? p_.n - r : p_.b));
    if (more) {
      if (threadIdx.x == 0 && !last) send(mail(hop, p_.b), S(next.beta), static_cast<unsigned>(j + 1));
      parity_ = 1 - parity_;
      take_vector(next);
      apply_left(next);
    }
    store_columns(r, last, next.beta);
    if (more) keep_reflector(j, hop + 1, next);
    __syncthreads();
    if (threadIdx.x == 0) announce_steps(p_.progress + j, static_cast<int>(hop + 1));
  }
}

template <class S, int B, int W, Keep keep_d, Keep keep_b>
__global__ void __launch_bounds__(32 * W, 1) chase_kernel(const __grid_constant__ Sweeps<S> sweeps) {
  extern __shared__ __align__(16) unsigned char memory[];
  Chaser<S, B, W, keep_d, keep_b>(sweeps, memory).run();
}

template <class S, int B, int W, Keep keep_d = Keep::registers, Keep keep_b = Keep::registers>
void launch(cudaStream_t stream, const Sweeps<S>& sweeps) noexcept {
  const auto kernel = &chase_kernel<S, B, W, keep_d, keep_b>;
  const std::size_t bytes = (sizeof(Shared<S, B, W>) + 15) / 16 * 16 +
                            (keep_d == Keep::shared ? std::size_t(B) * B * sizeof(S) : 0);
  int device = 0, processors = 1, blocks = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * W, bytes);
  const Index grid = std::min<Index>(Index(processors) * std::max(blocks, 1), sweeps.end - sweeps.begin);
  kernel<<<static_cast<unsigned>(grid), 32 * W, bytes, stream>>>(sweeps);
}

constexpr std::size_t align(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}
constexpr std::size_t ticket_bytes = 64;

}  // namespace

template <class S>
void launch_chase_by_sweeps(cudaStream_t stream, const ChaseArguments<S>& arguments) noexcept {
  Sweeps<S> p{};
  static_cast<ChaseArguments<S>&>(p) = arguments;
  std::byte* const memory = arguments.workspace;
  const std::size_t counters = ticket_bytes + align(static_cast<std::size_t>(p.end) * sizeof(int));
  const auto hops = static_cast<std::size_t>(hop_count(p.n, p.b, p.first));
  cudaMemsetAsync(
      memory, 0, counters + (hops + 1) * static_cast<std::size_t>(p.b + 1) * mail_words<S> * sizeof(unsigned),
      stream);
  p.ticket = reinterpret_cast<unsigned*>(memory);
  p.progress = reinterpret_cast<int*>(memory + ticket_bytes);
  p.mail = reinterpret_cast<unsigned*>(memory + counters);
  if constexpr (sizeof(S) == 16) {
    if (p.b <= 32)
      launch<S, 32, 8>(stream, p);
    else if (p.b <= 64)
      launch<S, 64, 16>(stream, p);
    else
      launch<S, 128, 16, Keep::global, Keep::global>(stream, p);
  } else {
    if (p.b <= 32)
      launch<S, 32, 4>(stream, p);
    else if (p.b <= 64)
      launch<S, 64, 8>(stream, p);
    else if constexpr (sizeof(S) == 8)
      launch<S, 128, 16, Keep::shared>(stream, p);
    else
      launch<S, 128, 16>(stream, p);
  }
}

#define TESSERA_INSTANTIATE(S) \
  template void launch_chase_by_sweeps<S>(cudaStream_t, const ChaseArguments<S>&) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(Complex<float>)
TESSERA_INSTANTIATE(Complex<double>)

}  // namespace tessera::detail::kernels
