// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Bulge chasing by one kernel whose thread blocks take a sweep each.
//
// A step h of a sweep works on the b columns from r = s + 1 + h b, rows r .. r + 2b - 1: D, the lower
// triangle of the diagonal block, and B below it. With the reflector H(s, h) in hand it makes D := H^H D H
// and B := B H, generates H(s, h + 1) from the first column of B and applies it to the others from the left.
// So each step reads and writes its columns once, and only the reflector passes to the next step.
//
// A block has W working warps and two more: the receiver, which waits for the sweep before, and the
// announcer, which waits until the stored columns are visible and counts the step. The products of D and B
// with the reflector are formed without the last column, which is added when it has come.
//
// Lane l of working warp w holds the rows l, l + 32, .. of the columns w, w + W, .. of D and of B: sums over
// rows are shuffles, sums over columns go through shared memory.
//
// Step h of sweep s + 1 needs, of sweep s, step h and the first column of step h + 1 (with the entry that its
// second reflector leaves there). That column is not stored but sent, as numbers with a tag each, for which
// the receiver waits without fences; the rest is announced by a counter of finished steps. Waiting is always
// for the sweep before, which a running block has taken: sweeps are taken in order.
//
// The last row of a step's B is zero but in the last column, which has just been sent: it is never read from
// memory. What is left in the bulge's room beyond is never read either.
#include <type_traits>

#include <tessera/codelets/band/chase_sweeps_cuda.hpp>
#include <tessera/codelets/device_scalar.cuh>

namespace tessera::kernels {
namespace {

using device::Complex;
using device::conj;
using device::imag;
using device::norm;
using device::real;
using device::Real;

/// Where a warp keeps its part of D or B between the passes of a step.
enum class Keep { registers, shared, global };

template <class S>
struct Sweeps {
  Index n, ld;
  int b;
  Index first, count, group;
  S* band;  ///< the element (0, 0)
  S* vectors;
  S* taus;
  unsigned* ticket;
  int* progress;
  unsigned* mail;
};

// ---- numbers with tags ------------------------------------------------------------------------------------

/// Words of a scalar in the mail: each of its words is followed by the tag, so that halves of a number cannot
/// be mixed with older ones whatever the width of the memory's transactions (8 bytes at least).
template <class S>
constexpr int mail_words = 2 * static_cast<int>(sizeof(S) / 4);

__device__ inline void send(unsigned* to, float x, unsigned tag) {
  asm volatile("st.volatile.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(__float_as_uint(x)), "r"(tag)
               : "memory");
}
__device__ inline void send(unsigned* to, double x, unsigned tag) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(to), "r"(__double2loint(x)),
               "r"(tag), "r"(__double2hiint(x))
               : "memory");
}
template <class R>
__device__ inline void send(unsigned* to, Complex<R> x, unsigned tag) {
  send(to, x.re, tag);
  send(to + mail_words<R>, x.im, tag);
}
__device__ inline void receive(const unsigned* from, float& x, unsigned tag) {
  unsigned value, seen;
  do {
    asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(value), "=r"(seen)
                 : "l"(from)
                 : "memory");
  } while (seen != tag);
  x = __uint_as_float(value);
}
__device__ inline void receive(const unsigned* from, double& x, unsigned tag) {
  unsigned low, high, seen, also;
  do {
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(low), "=r"(seen), "=r"(high), "=r"(also)
                 : "l"(from)
                 : "memory");
  } while (seen != tag || also != tag);
  x = __hiloint2double(static_cast<int>(high), static_cast<int>(low));
}
template <class R>
__device__ inline void receive(const unsigned* from, Complex<R>& x, unsigned tag) {
  receive(from, x.re, tag);
  receive(from + mail_words<R>, x.im, tag);
}

__device__ inline void wait_for_steps(const int* progress, int steps) {
  int done;
  do {
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(done) : "l"(progress) : "memory");
  } while (done < steps);
}
__device__ inline void announce_steps(int* progress, int steps) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(progress), "r"(steps) : "memory");
}

// ---- the warps of a block ---------------------------------------------------------------------------------

/// Barriers of a block: among the working warps; the step's columns are there (workers, receiver); the mail
/// is there and the step before announced (all); the step is stored (workers, announcer).
enum BarrierName { workers = 1, columns_there = 2, mail_there = 3, stored = 4 };
template <int name, int warps>
__device__ inline void wait_at() {
  asm volatile("bar.sync %0, %1;" ::"n"(name), "n"(32 * warps) : "memory");
}
template <int name, int warps>
__device__ inline void pass() {
  asm volatile("bar.arrive %0, %1;" ::"n"(name), "n"(32 * warps) : "memory");
}
template <int W>
__device__ inline void sync_workers() {
  wait_at<workers, W>();
}

// ---- memory without the first-level cache, which is not coherent ------------------------------------------

__device__ inline float load(const float* p) {
  return __ldcg(p);
}
__device__ inline double load(const double* p) {
  return __ldcg(p);
}
__device__ inline Complex<float> load(const Complex<float>* p) {
  const float2 x = __ldcg(reinterpret_cast<const float2*>(p));
  return {x.x, x.y};
}
__device__ inline Complex<double> load(const Complex<double>* p) {
  const double2 x = __ldcg(reinterpret_cast<const double2*>(p));
  return {x.x, x.y};
}
__device__ inline void store(float* p, float x) {
  __stcg(p, x);
}
__device__ inline void store(double* p, double x) {
  __stcg(p, x);
}
__device__ inline void store(Complex<float>* p, Complex<float> x) {
  __stcg(reinterpret_cast<float2*>(p), make_float2(x.re, x.im));
}
__device__ inline void store(Complex<double>* p, Complex<double> x) {
  __stcg(reinterpret_cast<double2*>(p), make_double2(x.re, x.im));
}

// ---- sums over a warp -------------------------------------------------------------------------------------

__device__ inline float exchange(float x, int mask) {
  return __shfl_xor_sync(~0u, x, mask);
}
__device__ inline double exchange(double x, int mask) {
  return __shfl_xor_sync(~0u, x, mask);
}
template <class R>
__device__ inline Complex<R> exchange(Complex<R> x, int mask) {
  return {exchange(x.re, mask), exchange(x.im, mask)};
}
template <class R>
__device__ inline R from_lane(R x, int lane) {
  return __shfl_sync(~0u, x, lane);
}
template <class R>
__device__ inline Complex<R> from_lane(Complex<R> x, int lane) {
  return {from_lane(x.re, lane), from_lane(x.im, lane)};
}
template <class S>
__device__ inline S warp_sum(S x) {
  for (int mask = 16; mask > 0; mask /= 2) x += exchange(x, mask);
  return x;
}
/// The sums over a warp of C numbers each: lane l gets that of number l / (32 / C).
template <int C, class S>
__device__ inline S warp_sums(S (&x)[C], int lane) {
  int mask = 16;
#pragma unroll
  for (int half = C / 2; half > 0; half /= 2, mask /= 2) {
    const bool upper = lane & mask;
#pragma unroll
    for (int c = 0; c < half; ++c) {
      const S kept = upper ? x[c + half] : x[c], sent = upper ? x[c] : x[c + half];
      x[c] = kept + exchange(sent, mask);
    }
  }
  for (; mask > 0; mask /= 2) x[0] += exchange(x[0], mask);
  return x[0];
}

// ---- reflectors -------------------------------------------------------------------------------------------

/// H = I - tau v v^H with v = x inverse but v(0) = 1, and the number beta that it leaves.
template <class S>
struct Reflector {
  S tau, inverse;
  Real<S> beta;
};

__device__ inline float larger(float x, float scale) {
  return fabsf(x) > scale ? fabsf(x) : scale;
}
__device__ inline double larger(double x, double scale) {
  return fabs(x) > scale ? fabs(x) : scale;
}

/// LAPACK's larfg for x (b numbers in shared memory, of which tail is the sum of squares without the first);
/// by all working warps. Where squares over- or underflow, x is scaled.
template <int W, class S>
__device__ Reflector<S> generate(S* x, Real<S> tail, int b) {
  using R = Real<S>;
  constexpr R tiny = sizeof(R) == 4 ? R(1e-26) : R(1e-270), huge = sizeof(R) == 4 ? R(1e34) : R(1e300);
  S head = x[0];
  R scale = R(1);
  const R total = tail + norm(head);
  if (!(total > tiny && total < huge)) {
    scale = R(0);
    for (int i = 0; i < b; ++i) scale = larger(imag(x[i]), larger(real(x[i]), scale));
    sync_workers<W>();
    if (scale > R(0))
      for (int i = threadIdx.x; i < b; i += 32 * W) x[i] = x[i] / scale;
    sync_workers<W>();
    head = x[0];
    tail = R(0);
    for (int i = 1; i < b; ++i) tail += norm(x[i]);
  }
  const R re = real(head), im = imag(head);
  if (tail == R(0) && (im == R(0) || scale == R(0))) return {S(R(0)), S(R(0)), re * scale};
  const R length = sqrt(norm(head) + tail);
  const R beta = re > R(0) ? -length : length, d = re - beta;
  if constexpr (device::is_complex_scalar<S>) {
    const R square = d * d + im * im;
    return {S((beta - re) / beta, -im / beta), S(d / square, -im / square), beta * scale};
  } else {
    return {(beta - re) / beta, R(1) / d, beta * scale};
  }
}

/// Sum of floor((slope k + start) / divisor) over 0 <= k < count.
__device__ inline Index floor_sum(Index count, Index divisor, Index slope, Index start) {
  Index sum = 0;
  while (count > 0) {
    sum += count * (count - 1) / 2 * (slope / divisor) + count * (start / divisor);
    slope %= divisor;
    start %= divisor;
    const Index last = slope * count + start;
    if (last < divisor) break;
    count = last / divisor;
    start = last % divisor;
    const Index former = divisor;
    divisor = slope;
    slope = former;
  }
  return sum;
}

#ifdef CHASE_PROFILE
__device__ unsigned long long chase_cycles[16];
#define TICK(i)                      \
  do {                               \
    const long long now = clock64(); \
    cycles[i] += now - mark;         \
    mark = now;                      \
  } while (0)
#else
#define TICK(i)
#endif
// ---- the kernel -------------------------------------------------------------------------------------------

/// What a block shares, for blocks of order B and W warps.
template <class S, int B, int W>
struct Shared {
  S partial[W][2 * B];  ///< a warp's part of the products D v and B v
  S columns[B];         ///< the part of D v from the strict upper triangle
  S first[B];           ///< first column of B
  S v[W][B / W];        ///< a warp's columns of the present reflector's vector
  S y[B], u[B];         ///< tau D v, tau B v
  S x[2][B];            ///< what the present and the next reflector are generated from
  S mail[2][B + 1];     ///< the column from the sweep before, in even and in odd steps
  Real<S> q[B / 32], tail[B / 32];
  Index sweep;
};

/// A thread's elements of D or B (number (k, c): row lane + 32 k, column warp + W c).
template <class S, int K, int C, int W, Keep keep>
struct Part;
template <class S, int K, int C, int W>
struct Part<S, K, C, W, Keep::registers> {
  S value[K][C];
  __device__ S get(int k, int c) const { return value[k][c]; }
  __device__ void set(int k, int c, S x) { value[k][c] = x; }
};
template <class S, int K, int C, int W>
struct Part<S, K, C, W, Keep::shared> {
  S* value;
  __device__ S get(int k, int c) const { return value[(k * C + c) * W * 32]; }
  __device__ void set(int k, int c, S x) { value[(k * C + c) * W * 32] = x; }
};
/// In the band itself, as far as an element exists; the column that is sent is not written.
template <class S, int K, int C, int W>
struct Part<S, K, C, W, Keep::global> {
  S* corner;  ///< the thread's element (0, 0), were it in the band
  Index down, right;
  unsigned readable[C], writable[C];
  __device__ S get(int k, int c) const {
    return readable[c] >> k & 1 ? load(corner + k * down + c * right) : S(Real<S>(0));
  }
  __device__ void set(int k, int c, S x) {
    if (writable[c] >> k & 1) store(corner + k * down + c * right, x);
  }
};

template <class S, int B, int W, Keep keep_d, Keep keep_b>
class Chaser {
 public:
  static constexpr int K = B / 32, C = B / W;
  using R = Real<S>;

  static constexpr int threads = 32 * (W + 2);
  /// The larger numbers need the registers for D and B.
  static constexpr bool v_in_registers = sizeof(S) < 16;
  static constexpr std::size_t shared_bytes = (sizeof(Shared<S, B, W>) + 127) / 128 * 128;
  /// With D behind it, if kept there.
  static constexpr std::size_t all_shared_bytes =
      shared_bytes + (keep_d == Keep::shared ? std::size_t(B) * B * sizeof(S) : 0);

  __device__ Chaser(const Sweeps<S>& p, unsigned char* memory)
      : p_(p),
        shared_(*reinterpret_cast<Shared<S, B, W>*>(memory)),
        lane_(static_cast<int>(threadIdx.x) % 32),
        warp_(static_cast<int>(threadIdx.x) / 32) {
    if constexpr (keep_d == Keep::shared)
      d_.value = reinterpret_cast<S*>(memory + shared_bytes) + threadIdx.x;
  }

  __device__ void run() {
    for (;;) {
      __syncthreads();
      if (threadIdx.x == 0) {
        shared_.sweep = atomicAdd(p_.ticket, 1u);
      }
      __syncthreads();
      const Index j = shared_.sweep;
      if (j >= p_.count) return;
      if (warp_ < W)
        sweep(j);
      else if (warp_ == W)
        announce(j);
      else
        receive_columns(j);
    }
  }

 private:
  static constexpr __device__ bool above(int k, int c) { return 32 * k + 31 < c * W; }
  __device__ unsigned* mail(Index hop, int i) const {
    return p_.mail + (hop * (p_.b + 1) + i) * mail_words<S>;
  }
  __device__ S v_column(int c) const {
    if constexpr (v_in_registers)
      return v_column_[c];
    else
      return shared_.v[warp_][c];
  }
  __device__ int row(int k) const { return lane_ + 32 * k; }
  __device__ int column(int c) const { return warp_ + W * c; }
  __device__ S* at(Index row, Index column) const { return p_.band + column * p_.ld + (row - column); }

  __device__ void sweep(Index j);
  __device__ void start(Index j);
  __device__ void take_vector(const Reflector<S>& h);
  __device__ void keep_reflector(Index j, Index hop, const Reflector<S>& h);
  __device__ void announce(Index j);
  __device__ void receive_columns(Index j);
  __device__ void take_mail(Index hop, Index r);
  __device__ void load_columns(Index j, Index r);
  __device__ void products();
  __device__ void sum_products(Index hop, bool mailed, int below);
  __device__ Reflector<S> update(Index j, Index hop, Index r);
  __device__ void apply_left(const Reflector<S>& h);
  __device__ void store_below(Index r, bool last, R beta);

  const Sweeps<S>& p_;
  Shared<S, B, W>& shared_;
  const int lane_, warp_;
  int parity_ = 0;
  Index first_block_ = 0;
  Reflector<S> h_;
  S v_row_[K];
  S v_column_[v_in_registers ? C : 1];
  Part<S, K, C, W, keep_d> d_;
  Part<S, K, C, W, keep_b> b_;
};

/// v of the reflector that shared_.x[parity_] and h give.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::take_vector(const Reflector<S>& h) {
  const S* const x = shared_.x[parity_];
#pragma unroll
  for (int k = 0; k < K; ++k) v_row_[k] = row(k) == 0 ? S(R(1)) : x[row(k)] * h.inverse;
  if constexpr (v_in_registers) {
#pragma unroll
    for (int c = 0; c < C; ++c) v_column_[c] = column(c) == 0 ? S(R(1)) : x[column(c)] * h.inverse;
  } else {
    __syncwarp();
    if (lane_ < C) shared_.v[warp_][lane_] = column(lane_) == 0 ? S(R(1)) : x[column(lane_)] * h.inverse;
    __syncwarp();
  }
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
      if (j == 0)
        x = load(column + 1 + i);
      else
        receive(mail(0, i + 1), x, static_cast<unsigned>(j));
    }
    shared_.x[parity_][i] = x;
    const R part = warp_sum(i > 0 ? norm(x) : R(0));
    if (lane_ == 0) shared_.tail[warp_] = part;
  }
  sync_workers<W>();
  R tail = R(0);
  for (int k = 0; k < K; ++k) tail += shared_.tail[k];
  const Reflector<S> h = generate<W>(shared_.x[parity_], tail, p_.b);
  take_vector(h);
  if (threadIdx.x == 0) {
    store(column + 1, S(h.beta));
    if (j > 0) {
      S diagonal;
      receive(mail(0, 0), diagonal, static_cast<unsigned>(j));
      store(column, diagonal);
    }
  }
}

template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::announce(Index j) {
  int hop = 0;
  for (Index r = p_.first + j + 1; r < p_.n; r += p_.b, ++hop) {
    wait_at<mail_there, W + 2>();
    wait_at<stored, W + 1>();
    if (lane_ == 0) announce_steps(p_.progress + j, hop + 1);
    __syncwarp();
  }
}

/// Waits for each step's columns, and brings the last one; the first sweep of all finds it in the band.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::receive_columns(Index j) {
  const int b = p_.b;
  int hop = 0;
  for (Index r = p_.first + j + 1; r < p_.n; r += b, ++hop) {
    if (j > 0 && lane_ == 0) wait_for_steps(p_.progress + (j - 1), hop + 1);
    __syncwarp();
    wait_at<columns_there, W + 1>();
    // Rows b - 1 .. 2 b - 1 of the step's last column, if there are so many.
    for (int i = lane_; i <= b && r + b - 1 + i < p_.n; i += 32) {
      S x;
      if (j == 0)
        x = load(at(r + b - 1 + i, r + b - 1));
      else
        receive(mail(hop + 1, i), x, static_cast<unsigned>(j));
      shared_.mail[hop % 2][i] = x;
    }
    wait_at<mail_there, W + 2>();
  }
}

/// The column that was in the mail: until now only its part in the products has been wanted.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::take_mail(Index hop, Index r) {
  const int b = p_.b;
  const int below = static_cast<int>(p_.n - r - b < b ? p_.n - r - b : b);
  if (warp_ != (b - 1) % W) return;
  const S* const mail = shared_.mail[hop % 2];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (column(c) != b - 1) continue;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if constexpr (keep_d == Keep::global) d_.readable[c] = d_.writable[c] = row(k) == b - 1 ? 1u << k : 0u;
      if constexpr (keep_b == Keep::global) b_.readable[c] = b_.writable[c] |= row(k) < below ? 1u << k : 0u;
      if (!above(k, c) && row(k) == b - 1) d_.set(k, c, mail[0]);
      if (row(k) < below) b_.set(k, c, mail[row(k) + 1]);
    }
  }
}

/// D and B of the step from the band, with zeros for the last column, which is in the mail.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::load_columns(Index j, Index r) {
  const int b = p_.b;
  const int rows = static_cast<int>(p_.n - r < b ? p_.n - r : b);
  const Index left = p_.n - r - b;
  const int below = static_cast<int>(left < 0 ? 0 : left < b ? left : b);
  const int columns = rows == b ? b - 1 : rows;
  if constexpr (keep_d == Keep::global) {
    d_.corner = at(r + lane_, r + warp_);
    d_.down = 32;
    d_.right = (p_.ld - 1) * W;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      d_.readable[c] = 0;
      for (int k = 0; k < K; ++k)
        d_.readable[c] |= (column(c) < columns && row(k) < rows && row(k) >= column(c) ? 1u : 0u) << k;
      d_.writable[c] = column(c) > 0 || j + 1 == p_.count ? d_.readable[c] : 0u;
    }
  }
  if constexpr (keep_b == Keep::global) {
    b_.corner = at(r + b + lane_, r + warp_);
    b_.down = 32;
    b_.right = (p_.ld - 1) * W;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      b_.readable[c] = 0;
      for (int k = 0; k < K; ++k) b_.readable[c] |= (row(k) < below && column(c) < columns ? 1u : 0u) << k;
      b_.writable[c] = column(c) > 0 ? b_.readable[c] : 0u;
    }
  }
  wait_at<columns_there, W + 1>();
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const bool there = column(c) < columns;
    const S* const from = at(r, r + column(c));
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (!above(k, c) && keep_d != Keep::global) {
        S x = S(R(0));
        if (there && row(k) < rows && row(k) >= column(c)) x = load(from + row(k));
        d_.set(k, c, x);
      }
      if (keep_b != Keep::global) {
        S x = S(R(0));
        if (there && row(k) < below && row(k) != b - 1) x = load(from + b + row(k));
        b_.set(k, c, x);
      } else if (row(k) == b - 1) {
        b_.set(k, c, S(R(0)));
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
        in_d[k] += x * v_column(c);
        if (row(k) > column(c)) in_column[c] += conj(x) * v_row_[k];
      }
      const S x = b_.get(k, c);
      in_b[k] += x * v_column(c);
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

/// y = tau D v, q = v^H D v, u = tau B v, and what the next reflector is generated from: the first column of
/// B H. By 2 B threads. `mailed`: the last column, down to the row `below` - 1 of B, is in the mail and not
/// in the products yet.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::sum_products(Index hop, bool mailed, int below) {
  const int t = static_cast<int>(threadIdx.x), b = p_.b;
  if (t >= 2 * B) {
    wait_at<mail_there, W + 2>();
    return;
  }
  const S *const x = shared_.x[parity_], *const mail = shared_.mail[hop % 2];
  S sum = S(R(0));
#pragma unroll
  for (int w = 0; w < W; ++w) sum += shared_.partial[w][t];
  const S last_v = b == 1 ? S(R(1)) : x[b - 1] * h_.inverse;
  wait_at<mail_there, W + 2>();
  if (t < B) {
    sum += shared_.columns[t];
    const S v = t == 0 ? S(R(1)) : x[t] * h_.inverse;
    if (mailed && t == b - 1) sum += mail[0] * last_v;
    shared_.y[t] = h_.tau * sum;
    const R part = warp_sum(real(conj(v) * sum));
    if (lane_ == 0) shared_.q[warp_] = part;
  } else {
    const int i = t - B;
    S first = shared_.first[i];
    if (mailed && i < below) {
      sum += mail[i + 1] * last_v;
      if (b == 1) first = mail[i + 1];
    }
    const S u = h_.tau * sum, next = first - u;
    shared_.u[i] = u;
    shared_.x[1 - parity_][i] = next;
    const R part = warp_sum(i > 0 ? norm(next) : R(0));
    if (lane_ == 0) shared_.tail[warp_ - K] = part;
  }
}

/// D -= v w^H + w v^H with w = y - |tau|^2 / 2 (v^H D v) v; its first column goes to the next sweep, the
/// others to the band. B -= u v^H. Returns the next reflector, whose beta goes to the next sweep too.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ Reflector<S> Chaser<S, B, W, keep_d, keep_b>::update(Index j, Index hop, Index r) {
  const int rows = static_cast<int>(p_.n - r < p_.b ? p_.n - r : p_.b);
  const bool last = j + 1 == p_.count, more = r + p_.b < p_.n;
  const unsigned tag = static_cast<unsigned>(j + 1);
  R q = R(0);
  for (int k = 0; k < K; ++k) q += shared_.q[k];
  const R alpha = R(-0.5) * norm(h_.tau) * q;
  S w_row[K];
#pragma unroll
  for (int k = 0; k < K; ++k) w_row[k] = shared_.y[row(k)] + alpha * v_row_[k];
  const auto update_column = [&](int c) {
    const S v = conj(v_column(c)), w = conj(shared_.y[column(c)] + alpha * v_column(c));
    S* const to = at(r, r + column(c));
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (above(k, c)) continue;
      S x = d_.get(k, c) - (v_row_[k] * w + w_row[k] * v);
      if (row(k) == column(c)) x = S(real(x));
      if (row(k) >= rows || row(k) < column(c)) continue;
      if (c == 0 && warp_ == 0 && !last)
        send(mail(hop, row(k)), x, tag);
      else
        store(to + row(k), x);
    }
  };
  // First what the next sweep waits for.
  update_column(0);
  Reflector<S> next{};
  if (more) {
    R tail = R(0);
    for (int k = 0; k < K; ++k) tail += shared_.tail[k];
    next = generate<W>(shared_.x[1 - parity_], tail, p_.b);
    if (threadIdx.x == 0 && !last) send(mail(hop, p_.b), S(next.beta), tag);
  }
#pragma unroll
  for (int c = 1; c < C; ++c) update_column(c);
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const S u = shared_.u[row(k)];
#pragma unroll
    for (int c = 0; c < C; ++c) b_.set(k, c, b_.get(k, c) - u * conj(v_column(c)));
  }
  return next;
}

/// B := H^H B for the next reflector, whose vector is in place.
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

/// B back to the band; its first column only in the last sweep, for no other one is there to receive it.
template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::store_below(Index r, bool last, R beta) {
  const int b = p_.b;
  const Index left = p_.n - r - b;
  const int below = static_cast<int>(left < b ? left : b);
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const bool first = column(c) == 0;
    if (column(c) >= b || (first ? !last : keep_b == Keep::global)) continue;
    S* const to = at(r + b, r + column(c));
#pragma unroll
    for (int k = 0; k < K; ++k)
      if (row(k) < below) store(to + row(k), !first ? b_.get(k, c) : row(k) > 0 ? S(R(0)) : S(beta));
  }
}

template <class S, int B, int W, Keep keep_d, Keep keep_b>
__device__ void Chaser<S, B, W, keep_d, keep_b>::sweep(Index j) {
  const bool last = j + 1 == p_.count;
  if (p_.vectors != nullptr) {
    const Index before = j / p_.group;
    const Index start = p_.n - 2 - p_.first + p_.b - (before - 1) * p_.group;
    first_block_ = before == 0 ? 0 : floor_sum(before, p_.b, p_.group, start);
  }
#ifdef CHASE_PROFILE
  long long cycles[8] = {}, mark = clock64();
#endif
  start(j);
  keep_reflector(j, 0, h_);
  Index hop = 0;
  TICK(0);
  for (Index r = p_.first + j + 1; r < p_.n; r += p_.b, ++hop) {
    load_columns(j, r);
    TICK(1);
    products();
    sync_workers<W>();
    TICK(2);
    const bool mailed = p_.n - r >= p_.b;
    sum_products(hop, mailed, static_cast<int>(p_.n - r < 2 * p_.b ? p_.n - r - p_.b : p_.b));
    sync_workers<W>();
    if (mailed) take_mail(hop, r);
    TICK(3);
    const Reflector<S> next = update(j, hop, r);
    TICK(4);
    if (r + p_.b < p_.n) {
      parity_ = 1 - parity_;
      take_vector(next);
      apply_left(next);
      TICK(5);
      store_below(r, last, next.beta);
      pass<stored, W + 1>();
      keep_reflector(j, hop + 1, next);
    } else {
      pass<stored, W + 1>();
    }
    TICK(6);
  }
#ifdef CHASE_PROFILE
  if (threadIdx.x == 0) {
    for (int i = 0; i < 8; ++i) atomicAdd(&chase_cycles[i], cycles[i]);
    atomicAdd(&chase_cycles[8], hop);
  }
#endif
}

template <class S, int B, int W, Keep keep_d, Keep keep_b>
__global__ void __launch_bounds__((Chaser<S, B, W, keep_d, keep_b>::threads),
                                  (B == 32 && sizeof(S) < 16 ? 2 : 1))
    chase_kernel(const __grid_constant__ Sweeps<S> sweeps) {
  extern __shared__ __align__(128) unsigned char memory[];
  Chaser<S, B, W, keep_d, keep_b>(sweeps, memory).run();
}

template <class S, int B, int W, Keep keep_d = Keep::registers, Keep keep_b = Keep::registers>
void launch(cudaStream_t stream, const Sweeps<S>& sweeps) noexcept {
  using Kernel = Chaser<S, B, W, keep_d, keep_b>;
  const auto kernel = &chase_kernel<S, B, W, keep_d, keep_b>;
  constexpr std::size_t bytes = Kernel::all_shared_bytes;
  int device = 0, processors = 1, blocks = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, Kernel::threads, bytes);
  const Index grid = std::min<Index>(Index(processors) * std::max(blocks, 1), sweeps.count);
  kernel<<<static_cast<unsigned>(grid), Kernel::threads, bytes, stream>>>(sweeps);
}

constexpr std::size_t align(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}
constexpr std::size_t ticket_bytes = 64;

}  // namespace

template <class T>
void launch_chase_sweeps(cudaStream_t stream, const DeviceReflectors& shape, T* segment, T* kept,
                         void* workspace) noexcept {
  using S = device::DeviceScalar<T>;
  if (shape.sweeps <= 0) return;
  cudaMemsetAsync(workspace, 0, chase_sweeps_workspace<T>(shape.n, shape.bandwidth, shape.sweeps), stream);
  Sweeps<S> p{};
  p.n = shape.n;
  p.b = static_cast<int>(shape.bandwidth);
  p.ld = BandLayout<T>::leading_dimension(shape.bandwidth);
  p.first = shape.first_sweep;
  p.count = shape.sweeps;
  p.group = shape.group;
  p.band = device::device_cast(segment) + BandLayout<T>::front();
  if (kept != nullptr) {
    // Zeros where a reflector does not exist.
    cudaMemsetAsync(kept, 0, static_cast<std::size_t>(shape.size()) * sizeof(T), stream);
    p.vectors = device::device_cast(kept);
    p.taus = p.vectors + shape.tau_offset(0, 0);
  }
  auto* const memory = static_cast<unsigned char*>(workspace);
  p.ticket = reinterpret_cast<unsigned*>(memory);
  p.progress = reinterpret_cast<int*>(memory + ticket_bytes);
  p.mail = reinterpret_cast<unsigned*>(memory + ticket_bytes +
                                       align(static_cast<std::size_t>(shape.sweeps) * sizeof(int)));
  if constexpr (sizeof(S) == 16) {
    if (p.b <= 32)
      launch<S, 32, 4>(stream, p);
    else if (p.b <= 64)
      launch<S, 64, 8>(stream, p);
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

#define TESSERA_INSTANTIATE(T) \
  template void launch_chase_sweeps<T>(cudaStream_t, const DeviceReflectors&, T*, T*, void*) noexcept;
#ifdef TESSERA_ONLY_DOUBLE
TESSERA_INSTANTIATE(double)
#else
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#endif

}  // namespace tessera::kernels
#ifdef CHASE_PROFILE
void read_profile(unsigned long long* to) {
  cudaMemcpyFromSymbol(to, tessera::kernels::chase_cycles, 16 * 8);
  unsigned long long zero[16] = {};
  cudaMemcpyToSymbol(tessera::kernels::chase_cycles, zero, 16 * 8);
}
#endif
