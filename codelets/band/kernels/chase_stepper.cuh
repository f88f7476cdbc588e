// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The chase by one kernel whose thread blocks take one step each, of all sweeps: the band stays on the chip.
//
// Step h of sweep s works on the b columns from r = s + 1 + h b: D, the diagonal block, and B below it (see
// chase_sweeps.cu). From one sweep to the next the window moves by one column and one row. So the thread block
// of step h keeps D and B, and only passes on what leaves: its first column goes to step h - 1, whose last
// column it becomes; the reflector that it generates goes to step h + 1. Row 0 of B becomes the last row of D.
//
// A number in the row and column (i, j) of the matrix has the place (i mod b, j mod b), so that nothing moves
// inside a block either: what arrives takes the place of what has left. D is kept whole: a product with it is
// a sum over rows alone.
//
// Thread block 0 generates the first reflector of each sweep from the first column of step 0; block h + 1
// takes step h. Each waits for its neighbours alone, and all are on the GPU together (a cooperative launch).
// Numbers travel with the number of their sweep as a tag, so that nobody needs a fence. A place for a number
// is free for the next sweep when it is written: the reflector of sweep s + 1 depends on the column that its
// receiver sends after it has read that of sweep s, and the other way round.
//
// The chain of dependent work, which bounds the whole chase, has two messages a sweep: reflector and column.
// Both are sent as soon as they are known; the updates follow while they are on their way.
#include <tessera/codelets/band/kernels/chase_device.cuh>

namespace tessera::detail::kernels {
namespace {

/// The shared memory of a thread block, for blocks of order B and W warps. Vectors are by places.
template <class S, int B, int W>
struct StepShared {
  S partial[W][2 * B];       ///< a warp's part of the products D v and B v
  S v[B];                    ///< the reflector
  S arrived[B];              ///< the new last column: the diagonal element of D, the others of B
  S first_d[B], first_b[B];  ///< first column of D and B
  S y[B], u[B];              ///< tau D v, tau B v
  S x[B];                    ///< the source of the next reflector
  S row[B];                  ///< the first row of B
  Real<S> q[B / 32], tail[B / 32];
  S tau, beta;
};

template <class S, int B, int W, Keep keep_b>
inline constexpr std::size_t step_shared_bytes = (sizeof(StepShared<S, B, W>) + 15) / 16 * 16 +
                                                 (keep_b == Keep::shared ? std::size_t(B) * B * sizeof(S)
                                                                         : 0);

template <class S, int B, int W, Keep keep_b>
class Stepper {
 public:
  static constexpr int K = B / 32, C = B / W;
  using R = Real<S>;

  __device__ Stepper(const ChaseArguments<S>& p, unsigned char* memory)
      : p_(p),
        shared_(*reinterpret_cast<StepShared<S, B, W>*>(memory)),
        thread_(static_cast<int>(threadIdx.x)),
        lane_(thread_ % 32),
        warp_(thread_ / 32),
        first_(static_cast<int>((p.first + p.begin + 1) % p.b)) {
    if constexpr (keep_b == Keep::shared)
      b_.value = reinterpret_cast<S*>(memory + step_shared_bytes<S, B, W, Keep::registers>) + threadIdx.x;
  }

  __device__ void run() {
    if (blockIdx.x == 0)
      head();
    else
      body(static_cast<Index>(blockIdx.x) - 1);
  }

 private:
  /// The place of the reflector that step `hop` receives, b numbers and tau, and of the first column of D and
  /// the first element of B that it sends.
  __device__ unsigned* reflector(Index hop) const { return mail(2 * hop); }
  __device__ unsigned* column_of(Index hop) const { return mail(2 * hop + 1); }
  __device__ unsigned* mail(Index number) const {
    return reinterpret_cast<unsigned*>(p_.workspace) + number * (p_.b + 1) * mail_words<S>;
  }
  __device__ unsigned tag(Index j) const { return static_cast<unsigned>(j + 1); }
  __device__ int row(int k) const { return lane_ + 32 * k; }
  __device__ int column(int c) const { return warp_ + W * c; }
  /// The number of a place in the window.
  __device__ int number(int place) const { return place >= first_ ? place - first_ : place - first_ + p_.b; }
  __device__ int last() const { return first_ > 0 ? first_ - 1 : p_.b - 1; }
  __device__ void advance() { first_ = first_ + 1 < p_.b ? first_ + 1 : 0; }
  /// v of a reflector, from its source in shared memory.
  __device__ S element(const Reflector<S>& h, int place) const {
    return place == first_ ? S(R(1)) : shared_.x[place] * h.inverse;
  }

  __device__ void head();
  __device__ void body(Index hop);
  __device__ void load_window(Index r);
  __device__ void receive_messages(Index j, Index hop, bool mailed);
  __device__ void take_messages(bool mailed);
  __device__ void products();
  __device__ void sum_products();
  __device__ void send_column(Index j, Index hop);
  __device__ void send_reflector(Index j, Index hop, const Reflector<S>& next);
  __device__ R tail() const {
    R sum = R(0);
#pragma unroll
    for (int k = 0; k < K; ++k) sum += shared_.tail[k];
    return sum;
  }
  __device__ R alpha() const {
    R q = R(0);
#pragma unroll
    for (int k = 0; k < K; ++k) q += shared_.q[k];
    return R(-0.5) * norm(tau_) * q;
  }
  __device__ void update_diagonal();
  __device__ void update_below(bool more, const Reflector<S>& next);
  __device__ void keep_reflector(Index j, Index hop);
  __device__ void move_window();
  __device__ void store_window(Index r, R beta);

  const ChaseArguments<S>& p_;
  StepShared<S, B, W>& shared_;
  const int thread_, lane_, warp_;
  int first_;              ///< the place of the window's first column
  Index first_block_ = 0;  ///< of the sweep's group of reflectors that are kept
  Index in_group_ = 0;     ///< the sweep's number there
  S tau_ = S(R(0));
  S d_[K][C];
  Part<S, K, C, keep_b> b_;
};

/// The first reflector of each sweep. Its column is the first of the sweep before, or lies in the band.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::head() {
  const int b = p_.b;
  for (Index j = p_.begin; j < p_.end; ++j, advance()) {
    const Index s = p_.first + j;
    const bool from_band = j == p_.begin;
    if (thread_ < B) {
      S x = S(R(0)), diagonal = S(R(0));
      if (thread_ < b) {
        if (from_band) {
          if (s + 1 + number(thread_) < p_.n) x = load(p_.at(s + 1 + number(thread_), s));
        } else {
          receive(column_of(0) + thread_ * mail_words<S>, x, tag(j - 1));
          if (thread_ == last()) {
            diagonal = x;
            receive(column_of(0) + b * mail_words<S>, x, tag(j - 1));
          }
        }
      }
      shared_.x[thread_] = x;
      const R part = warp_sum(thread_ != first_ ? norm(x) : R(0));
      if (lane_ == 0) shared_.tail[warp_] = part;
      if (!from_band && thread_ == last()) store(p_.at(s, s), diagonal);
    }
    __syncthreads();
    const Reflector<S> h = generate(shared_.x, tail(), b, first_);
    send_reflector(j, -1, h);
    if (thread_ == 0) store(p_.at(s + 1, s), S(h.beta));
    __syncthreads();
  }
}

template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::load_window(Index r) {
  const Index b = p_.b, rows = p_.n - r < b ? p_.n - r : b, below = p_.n - r - b;
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int k = 0; k < K; ++k) {
      d_[k][c] = S(R(0));
      b_.set(k, c, S(R(0)));
      if (row(k) >= b || column(c) >= b) continue;
      const Index i = number(row(k)), j = number(column(c));
      if (i < rows && j < rows)
        d_[k][c] = i >= j ? load(p_.at(r + i, r + j)) : conj(load(p_.at(r + j, r + i)));
      // The last row but its last element has not been reached; the band's memory may hold anything there.
      if (i < below && j < rows && (i < b - 1 || j == b - 1)) b_.set(k, c, load(p_.at(r + b + i, r + j)));
    }
}

/// The reflector, by the first B threads, and the new last column, by the next B.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::receive_messages(Index j, Index hop, bool mailed) {
  constexpr int words = mail_words<S>;
  const int b = p_.b;
  if (thread_ < B) {
    S x = S(R(0));
    if (thread_ < b) receive(reflector(hop) + thread_ * words, x, tag(j));
    shared_.v[thread_] = x;
  } else if (thread_ < 2 * B) {
    S x = S(R(0));
    if (mailed && thread_ - B < b) receive(column_of(hop + 1) + (thread_ - B) * words, x, tag(j - 1));
    shared_.arrived[thread_ - B] = x;
  } else if (thread_ == 2 * B) {
    receive(reflector(hop) + b * words, shared_.tau, tag(j));
  } else if (thread_ == 2 * B + 32) {
    if (mailed) receive(column_of(hop + 1) + b * words, shared_.beta, tag(j - 1));
  }
}

template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::take_messages(bool mailed) {
  tau_ = shared_.tau;
  if (!mailed || warp_ != last() % W) return;
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (column(c) != last()) continue;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const S x = shared_.arrived[row(k)];
      const bool corner = row(k) == last();
      if (corner) d_[k][c] = x;
      b_.set(k, c, corner ? shared_.beta : x);
    }
  }
}

/// Each warp's part of D v and B v, and the first columns.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::products() {
  S in_d[K], in_b[K];
#pragma unroll
  for (int k = 0; k < K; ++k) in_d[k] = in_b[k] = S(R(0));
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const S v = shared_.v[column(c)];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      in_d[k] = fused(d_[k][c], v, in_d[k]);
      in_b[k] = fused(b_.get(k, c), v, in_b[k]);
    }
  }
  if (warp_ == first_ % W) {
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (column(c) != first_) continue;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        shared_.first_d[row(k)] = d_[k][c];
        shared_.first_b[row(k)] = b_.get(k, c);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    shared_.partial[warp_][row(k)] = in_d[k];
    shared_.partial[warp_][B + row(k)] = in_b[k];
  }
}

/// y = tau D v, q = v^H D v, u = tau B v, and the first column of B H, the source of the next reflector, by 2 B
/// threads.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::sum_products() {
  if (thread_ >= 2 * B) return;
  // Two chains of additions take half the time of one.
  S sum = shared_.partial[0][thread_], other = shared_.partial[1][thread_];
#pragma unroll
  for (int w = 2; w < W; w += 2) {
    sum += shared_.partial[w][thread_];
    other += shared_.partial[w + 1][thread_];
  }
  sum += other;
  if (thread_ < B) {
    shared_.y[thread_] = tau_ * sum;
    const R part = warp_sum(real(conj(shared_.v[thread_]) * sum));
    if (lane_ == 0) shared_.q[warp_] = part;
  } else {
    const int i = thread_ - B;
    const S u = tau_ * sum, x = shared_.first_b[i] - u;
    shared_.u[i] = u;
    shared_.x[i] = x;
    const R part = warp_sum(i != first_ ? norm(x) : R(0));
    if (lane_ == 0) shared_.tail[warp_ - K] = part;
  }
}

/// The first column of D - v w^H - w v^H, as update_diagonal() has it, to the step before, by the first B threads.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::send_column(Index j, Index hop) {
  if (thread_ >= p_.b) return;
  const S v = shared_.v[thread_], v_first = shared_.v[first_], w = fused(S(alpha()), v, shared_.y[thread_]),
          w_first = fused(S(alpha()), v_first, shared_.y[first_]);
  S x = shared_.first_d[thread_] - rank_two(v, w, v_first, w_first);
  if (thread_ == first_) x = S(real(x));
  send(column_of(hop) + thread_ * mail_words<S>, x, tag(j));
}

/// To the step behind `hop`, by the threads from B on.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::send_reflector(Index j, Index hop, const Reflector<S>& next) {
  const int i = thread_ - B;
  if (i >= 0 && i < p_.b) send(reflector(hop + 1) + i * mail_words<S>, element(next, i), tag(j));
  if (thread_ == 2 * B) send(reflector(hop + 1) + p_.b * mail_words<S>, next.tau, tag(j));
}

/// D -= v w^H + w v^H with w = y - |tau|^2 / 2 (v^H D v) v.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::update_diagonal() {
  S v_row[K], w_row[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    v_row[k] = shared_.v[row(k)];
    w_row[k] = fused(S(alpha()), v_row[k], shared_.y[row(k)]);
  }
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const S v = shared_.v[column(c)], w = fused(S(alpha()), v, shared_.y[column(c)]);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      d_[k][c] -= rank_two(v_row[k], w_row[k], v, w);
      if (row(k) == column(c)) d_[k][c] = S(real(d_[k][c]));
    }
  }
}

/// B -= u v^H, then B := H^H B with the next reflector, if there is one. What lies in shared memory is read and
/// written once, as many columns at a time as there are registers for.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::update_below(bool more, const Reflector<S>& next) {
  constexpr int columns = keep_b == Keep::shared ? C / 4 : C;
  S u[K], x[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    u[k] = -shared_.u[row(k)];
    x[k] = more ? element(next, row(k)) : S(R(0));
  }
#pragma unroll
  for (int first = 0; first < C; first += columns) {
    S b[K][columns], dots[columns];
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const S v = conj(shared_.v[column(first + c)]);
      dots[c] = S(R(0));
#pragma unroll
      for (int k = 0; k < K; ++k) {
        b[k][c] = fused(u[k], v, b_.get(k, first + c));
        dots[c] = fused(conj(x[k]), b[k][c], dots[c]);
      }
    }
    if (more) {
      const S mine = -conj(next.tau) * warp_sums<columns>(dots, lane_);
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        const S factor = from_lane(mine, c * (32 / columns));
#pragma unroll
        for (int k = 0; k < K; ++k) b[k][c] = fused(x[k], factor, b[k][c]);
      }
    }
#pragma unroll
    for (int c = 0; c < columns; ++c)
#pragma unroll
      for (int k = 0; k < K; ++k) b_.set(k, first + c, b[k][c]);
  }
}

template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::keep_reflector(Index j, Index hop) {
  if (p_.vectors == nullptr) return;
  const Index at = (first_block_ + hop) * p_.group + in_group_;
  if (thread_ < p_.b) p_.vectors[at * p_.b + number(thread_)] = shared_.v[thread_];
  if (thread_ == 0) p_.taus[at] = tau_;
  if (++in_group_ < p_.group) return;
  in_group_ = 0;
  first_block_ = p_.first_block(j + 1);
}

/// The window of the next sweep, but for what arrives. With all threads.
template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::move_window() {
  if (lane_ == first_ % 32) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (row(k) != first_) continue;
#pragma unroll
      for (int c = 0; c < C; ++c) {
        shared_.row[column(c)] = d_[k][c] = b_.get(k, c);
        b_.set(k, c, S(R(0)));
      }
    }
  }
  __syncthreads();
  if (warp_ != first_ % W) return;
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (column(c) != first_) continue;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      d_[k][c] = row(k) == first_ ? S(R(0)) : conj(shared_.row[row(k)]);
      b_.set(k, c, S(R(0)));
    }
  }
}

template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::store_window(Index r, R beta) {
  const Index b = p_.b, rows = p_.n - r < b ? p_.n - r : b, below = p_.n - r - b;
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (row(k) >= b || column(c) >= b) continue;
      const Index i = number(row(k)), j = number(column(c));
      if (i < rows && i >= j) store(p_.at(r + i, r + j), d_[k][c]);
      if (i < below && j < rows)
        store(p_.at(r + b + i, r + j), j > 0 ? b_.get(k, c) : i > 0 ? S(R(0)) : S(beta));
    }
}

template <class S, int B, int W, Keep keep_b>
__device__ void Stepper<S, B, W, keep_b>::body(Index hop) {
  Index r = p_.first + p_.begin + 1 + hop * p_.b;
  if (r >= p_.n) return;
  load_window(r);
  in_group_ = p_.begin % p_.group;
  if (p_.vectors != nullptr) first_block_ = p_.first_block(p_.begin);
  for (Index j = p_.begin; j < p_.end && r < p_.n; ++j, ++r, advance()) {
    const bool last = j + 1 == p_.end, more = r + p_.b<p_.n, mailed = j> p_.begin && r + p_.b <= p_.n;
    receive_messages(j, hop, mailed);
    __syncthreads();
    take_messages(mailed);
    products();
    __syncthreads();
    sum_products();
    __syncthreads();
    if (!last) send_column(j, hop);
    Reflector<S> next{};
    if (more) {
      next = generate(shared_.x, tail(), p_.b, first_);
      send_reflector(j, hop, next);
    }
    if (!last && thread_ == 0) send(column_of(hop) + p_.b * mail_words<S>, S(next.beta), tag(j));
    update_diagonal();
    update_below(more, next);
    keep_reflector(j, hop);
    if (last)
      store_window(r, next.beta);
    else
      move_window();
  }
}

}  // namespace
}  // namespace tessera::detail::kernels
