// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/band/kernels/apply_chase_instructions.cuh>
#include <tessera/codelets/band/kernels/chase_blocks.hpp>

/// The kernel of launch_apply_chase (chase_blocks.hpp).
namespace tessera::detail::kernels::apply_chase_detail {

constexpr int warps = 8;

template <class S>
struct ApplyShape {
  ChaseBlocks blocks;
  const double* data;  ///< V and W
  S* c;
  Index ld, rows, columns;  ///< rows and ld in reals
  unsigned* counter;        ///< of items, zero at first
  unsigned* flags;          ///< see flag_of; zero at first
  Index strips;
  Index panel_chunks, items;
  int zero;    ///< 0, see Operand
  bool pairs;  ///< rows 2 i and 2 i + 1 are aligned as a pair
};

template <class S, int T, int M, bool Slide>
struct Kernel {
  static constexpr int groups = static_cast<int>(ChaseBlocks::bundle_groups(T));
  static constexpr int window = T + 2 * groups;  ///< tiles of rows in registers
  static constexpr int v_bytes = 2 * (T + 1) * 512, w_bytes = (2 * T + 3) * 512;
  static constexpr int slot_bytes = w_bytes;
  /// Tiles of V and W that are loaded ahead of their use; the registers limit it.
  static constexpr int depth = T <= 8 ? 4 : 1;
  /// Rows that two windows share, and their distance from one column to the next in `Carry`.
  static constexpr int carry_rows = 16 * groups, carry_stride = carry_rows + 8;
  /// Bytes of a warp: with Slide for the new rows of the next hop, each thread's own; else see Carry.
  static constexpr int warp_bytes =
      Slide ? T * (M / 8) * 32 * static_cast<int>(sizeof(Pair<S>)) : M * carry_stride * 8;
  static constexpr int free_bytes = 226 * 1024 - warps * warp_bytes;
  static constexpr int slots = free_bytes / slot_bytes < 16 ? free_bytes / slot_bytes : 16;
  static_assert(slots >= 4);
  /// A slot is filled again two steps after its use, when most likely all warps have left it.
  static constexpr int ahead = slots - 2;
  static constexpr int shared_bytes = slots * slot_bytes + warps * warp_bytes + 2 * slots * 8;
};

// ---- flags ----

/// The flag of bundle `order` (in the order of application) for a strip: (order + 1) 2^16 + the hops whose
/// rows it has retired. Bundles in progress, at most one for each thread block, have different places.
template <class S>
__device__ inline unsigned* flag_of(const ApplyShape<S>& a, Index order, Index strip) {
  return a.flags + order % chase_flag_ring * a.strips + strip;
}
/// The progress of the bundle before a warp's own, as far as the warp has read it.
struct Before {
  const unsigned* flag;  ///< null: there is none
  unsigned start, seen = 0;
  int hops;

  template <class S>
  __device__ Before(const ApplyShape<S>& a, Index bundle, Index order, Index strip)
      : flag(order > 0 ? flag_of(a, order - 1, strip) : nullptr),
        start(static_cast<unsigned>(order << 16)),
        hops(order > 0 ? static_cast<int>(a.blocks.hops(bundle + 1)) : 0) {}
  /// Waits until that bundle has retired `needed_hops` hops, or all of its hops.
  __device__ void await(int needed_hops) {
    const unsigned needed = start + static_cast<unsigned>(min(needed_hops, hops));
    if (flag == nullptr || seen >= needed) return;
    // Every lane acquires for its own loads.
    while ((seen = __reduce_min_sync(0xffffffffu, load_acquire(flag))) < needed) __nanosleep(100);
  }
};
/// Makes the rows that the warp has written visible to others: what the lanes wrote before they met is released
/// with the flag.
__device__ inline void publish(unsigned* flag, unsigned order, unsigned hops) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) store_release(flag, ((order + 1) << 16) + hops);
}

// ---- C ----

/// A thread's rows of C: in the columns `lane / 4` and, with M = 16, `lane / 4 + 8` of the strip the rows
/// 2 (lane % 4) and 2 (lane % 4) + 1 of each tile.
template <class S, int M>
struct Strip {
  S* column[M / 8];
  int limit[M / 8];  ///< rows; 0 if the column does not exist
  bool pairs;
  bool whole;  ///< all columns exist, and pairs

  __device__ Strip(const ApplyShape<S>& a, Index first)
      : pairs(a.pairs), whole(a.pairs && first + M <= a.columns) {
#pragma unroll
    for (int m = 0; m < M / 8; ++m) {
      const Index j = first + threadIdx.x % 32 / 4 + 8 * m;
      limit[m] = j < a.columns ? static_cast<int>(a.rows) : 0;
      column[m] = a.c + min(j, a.columns - 1) * a.ld;
    }
  }
  __device__ static int row_of(int first, int tile) {
    return first + 8 * tile + 2 * (threadIdx.x % 4);
  }
  /// Rows `end` and more of the window count as zero.
  __device__ void load(double (&x)[M / 4], int first, int tile, int end) const {
    const int row = row_of(first, tile);
#pragma unroll
    for (int m = 0; m < M / 8; ++m) {
      const int stop = min(limit[m], end);
      const S* const p = column[m] + row;
      if (pairs && row + 1 < stop) {
        const Pair<S> value = load_fresh_pair(p);
        x[2 * m] = value.x, x[2 * m + 1] = value.y;
      } else {
        x[2 * m] = row < stop ? load_fresh(p) : 0.;
        x[2 * m + 1] = row + 1 < stop ? load_fresh(p + 1) : 0.;
      }
    }
  }
  __device__ void store(const double (&x)[M / 4], int first, int tile, int end) const {
    const int row = row_of(first, tile);
#pragma unroll
    for (int m = 0; m < M / 8; ++m) {
      const int stop = min(limit[m], end);
      S* const p = column[m] + row;
      if (pairs && row + 1 < stop) {
        Pair<S> value;
        value.x = static_cast<S>(x[2 * m]), value.y = static_cast<S>(x[2 * m + 1]);
        *reinterpret_cast<Pair<S>*>(p) = value;
      } else {
        if (row < stop) p[0] = static_cast<S>(x[2 * m]);
        if (row + 1 < stop) p[1] = static_cast<S>(x[2 * m + 1]);
      }
    }
  }
  /// Stores the first T tiles of the window.
  template <int T>
  __device__ void store_tiles(const double (*x)[M / 4], int first) const {
    if (whole && first + 8 * T <= limit[0]) {
#pragma unroll
      for (int m = 0; m < M / 8; ++m) {
        S* const p = column[m] + row_of(first, 0);
#pragma unroll
        for (int tile = 0; tile < T; ++tile) {
          Pair<S> value;
          value.x = static_cast<S>(x[tile][2 * m]), value.y = static_cast<S>(x[tile][2 * m + 1]);
          *reinterpret_cast<Pair<S>*>(p + 8 * tile) = value;
        }
      }
      return;
    }
#pragma unroll
    for (int tile = 0; tile < T; ++tile) store(x[tile], first, tile, first + 8 * T);
  }
  /// Starts copying T tiles from row `first` on to the thread's places in `copies`.
  template <int T>
  __device__ void start_copy(Pair<S>* copies, int first) const {
    if (whole && first + 8 * T <= limit[0]) {
      constexpr int size = 2 * sizeof(S);
      const unsigned to = shared_address(copies + threadIdx.x % 32);
#pragma unroll
      for (int m = 0; m < M / 8; ++m) {
        const S* const p = column[m] + row_of(first, 0);
#pragma unroll
        for (int tile = 0; tile < T; ++tile)
          thread_copy<size>(to + (tile * (M / 8) + m) * 32 * size, p + 8 * tile, size);
      }
      return;
    }
#pragma unroll
    for (int tile = 0; tile < T; ++tile) {
      const int row = row_of(first, tile);
#pragma unroll
      for (int m = 0; m < M / 8; ++m) {
        const unsigned to = shared_address(copies + (tile * (M / 8) + m) * 32 + threadIdx.x % 32);
        const int valid = max(0, min(2, limit[m] - row));
        const S* const p = column[m] + (valid > 0 ? row : 0);
        constexpr int size = sizeof(S);
        if (pairs) {
          thread_copy<2 * size>(to, p, valid * size);
        } else {
          thread_copy<size>(to, p, min(valid, 1) * size);
          thread_copy<size>(to + size, valid > 1 ? p + 1 : p, max(valid - 1, 0) * size);
        }
      }
    }
  }
  __device__ static void take_copy(double (&x)[M / 4], const Pair<S>* copies, int tile) {
#pragma unroll
    for (int m = 0; m < M / 8; ++m) {
      const Pair<S> value = copies[(tile * (M / 8) + m) * 32 + threadIdx.x % 32];
      x[2 * m] = value.x, x[2 * m + 1] = value.y;
    }
  }
};

/// Moves the rows that the next window shares with this one from registers to registers through the warp's
/// shared memory, for bandwidths that are not a whole number of tiles. A warp writes rows of C only when it
/// retires them, and never reads them again.
template <class K, int T, int M>
struct Carry {
  double* memory;

  __device__ double* at(int column, int row) const {
    return memory + (threadIdx.x % 32 / 4 + 8 * column) * K::carry_stride + row;
  }
  /// The window moves by `shift` rows, 4 T < shift <= 8 T (or T = 2).
  __device__ void move(double (&c)[K::window][M / 4], int shift) const {
    __syncwarp();
#pragma unroll
    for (int t = T > 2 ? T / 2 : 0; t < K::window; ++t) {
      const int row = 8 * t + 2 * (threadIdx.x % 4) - shift;
#pragma unroll
      for (int i = 0; i < M / 4; ++i)
        if (row + i % 2 >= 0 && row + i % 2 < K::carry_rows) *at(i / 2, row + i % 2) = c[t][i];
    }
    __syncwarp();
#pragma unroll
    for (int t = 0; t < 2 * K::groups; ++t)
#pragma unroll
      for (int m = 0; m < M / 8; ++m) {
        const double2 rows = *reinterpret_cast<const double2*>(at(m, 8 * t + 2 * (threadIdx.x % 4)));
        c[t][2 * m] = rows.x, c[t][2 * m + 1] = rows.y;
      }
  }
};

// ---- V and W ----

/// The stream of V and W through the slots, in steps: V of the first block of an item, W, V of the next, ..
template <class K>
struct Stream {
  unsigned slots, full, empty;  ///< addresses in shared memory
  const char* from;             ///< first block of the item
  unsigned steps = 0;           ///< of the item
  /// Of the next step. The slots are filled in turn, also over the ends of items.
  unsigned slot = 0, turn = 0;

  /// Fills a slot with a step of the item.
  __device__ void fill(unsigned step, unsigned to, unsigned its_turn) const {
    if (its_turn > 0) barrier_wait(empty + 8 * to, (its_turn - 1) & 1);
    const char* const source = from + static_cast<Index>(step / 2) * (K::v_bytes + K::w_bytes);
    if (step % 2 == 0)
      bulk_copy(slots + to * K::slot_bytes, source, K::v_bytes, full + 8 * to);
    else
      bulk_copy(slots + to * K::slot_bytes, source + K::v_bytes, K::w_bytes, full + 8 * to);
  }
  /// The first steps of an item, by one thread.
  __device__ void fill_first() const {
    unsigned to = slot, its_turn = turn;
    for (unsigned step = 0; step < min(steps, static_cast<unsigned>(K::ahead)); ++step) {
      fill(step, to, its_turn);
      if (++to == K::slots) to = 0, ++its_turn;
    }
  }
  /// Waits for a step's slot and returns its number. The warps fill the slots in turn.
  __device__ unsigned begin(unsigned step) {
    static_assert(K::ahead + 2 == K::slots);
    const unsigned now = slot, its_turn = turn;
    if (threadIdx.x == step % warps * 32 && step + K::ahead < steps) {
      if (now < 2)
        fill(step + K::ahead, now + K::ahead, its_turn);
      else
        fill(step + K::ahead, now - 2, its_turn + 1);
    }
    if (++slot == K::slots) slot = 0, ++turn;
    barrier_wait(full + 8 * now, its_turn & 1);
    return now;
  }
  /// Every lane signals that it has left the slot. One lane for its warp, behind __syncwarp, would suffice
  /// and be slightly faster, but compute-sanitizer's racecheck does not see that order.
  __device__ void end(unsigned slot) const { barrier_arrive(empty + 8 * slot); }
};

/// The loads of V and W from shared memory to registers. `depth` tiles are loaded ahead of their use, across
/// the ends of steps, so that neither barriers nor loads delay the tensor cores. A slot is released when all
/// of its tiles have been used, because a pending load must not meet the next contents of the slot.
template <class K>
struct Tiles {
  static constexpr int depth = K::depth;
  static constexpr int v_count = K::v_bytes / 512, w_count = K::w_bytes / 512;
  Stream<K>& stream;
  const unsigned char* slots;
  unsigned step = 0, slot = 0, used = 0;  ///< used: the slot of the step before
  const double2* from = nullptr;
  double2 ring[depth];

  __device__ Tiles(Stream<K>& stream_, const unsigned char* slots_) : stream(stream_), slots(slots_) {
    open();
#pragma unroll
    for (int i = 0; i < depth; ++i) ring[i] = from[32 * i];
  }
  __device__ void open() {
    slot = stream.begin(step++);
    from = reinterpret_cast<const double2*>(slots + slot * K::slot_bytes) + threadIdx.x % 32;
  }
  /// Returns tile i of the step of `count` tiles and loads one ahead; `place`: tiles taken since align.
  __device__ double2 take(int i, int count, int place) {
    const double2 tile = ring[place % depth];
    if (i + depth == count) {
      used = slot;
      if (step < stream.steps) open();
    }
    if (i + depth < count)
      ring[place % depth] = from[32 * (i + depth)];
    else
      ring[place % depth] = from[32 * (i + depth - count)];  // stale but harmless behind the last step
    return tile;
  }
  /// Called after the last tile of a step.
  __device__ void release() {
    stream.end(used);
  }
  /// Called after `taken` tiles: moves the next tile to place 0.
  __device__ void align(int taken) {
    double2 old[depth];
#pragma unroll
    for (int i = 0; i < depth; ++i) old[i] = ring[i];
#pragma unroll
    for (int i = 0; i < depth; ++i) ring[i] = old[(taken + i) % depth];
  }
};

/// Applies all groups of a bundle at one hop, from the last to the first. The two column tiles of V
/// alternate.
template <class K, int T, int M>
__device__ inline void apply_hop(double (&c)[K::window][M / 4], Tiles<K>& tiles, int zero) {
  constexpr int v_count = Tiles<K>::v_count, w_count = Tiles<K>::w_count;
#pragma unroll
  for (int group = K::groups - 1; group >= 0; --group) {
    const int place = (K::groups - 1 - group) * (v_count + w_count);
    double x[2][M / 4] = {};
    multiply_add(x[0], Operand<M>(c[2 * group], zero), tiles.take(0, v_count, place));
#pragma unroll
    for (int r = 1; r < T + 2; ++r) {
      const Operand<M> rows(c[2 * group + r], zero);
      multiply_add(x[1], rows, tiles.take(2 * r - 1, v_count, place + 2 * r - 1));
      if (r <= T) multiply_add(x[0], rows, tiles.take(2 * r, v_count, place + 2 * r));
    }
    tiles.release();
    const Operand<M> y[2] = {Operand<M>(x[0], zero), Operand<M>(x[1], zero)};
#pragma unroll
    for (int i = 0; i < w_count; ++i) {
      const int column = i > T, row = i - column * (T + 1);
      multiply_add(c[2 * group + row], y[column], tiles.take(i, w_count, place + v_count + i));
    }
    tiles.release();
  }
  tiles.align(K::groups * (v_count + w_count));
}

/// Applies one bundle to one strip. `order`: the bundle's number in the order of application; `room`: the
/// warp's shared memory.
template <class S, class K, int T, int M, bool Slide>
__device__ inline void apply_bundle(const ApplyShape<S>& a, Stream<K>& stream, const unsigned char* slots,
                                    unsigned char* room, Index bundle, Index order, Index strip) {
  const int hops = static_cast<int>(a.blocks.hops(bundle));
  Before before(a, bundle, order, strip);
  const int shift = Slide ? 8 * T : static_cast<int>(a.blocks.reals * a.blocks.bandwidth);
  const int rows = static_cast<int>(a.rows);
  const Strip<S, M> mine(a, strip * M);
  Pair<S>* const copies = reinterpret_cast<Pair<S>*>(room);
  unsigned* const flag = flag_of(a, order, strip);
  int first = static_cast<int>(a.blocks.reals * a.blocks.bundle_sweep(bundle));
  double c[K::window][M / 4];
  Tiles<K> tiles(stream, slots);
  if constexpr (Slide) {
    before.await(1);
    mine.template start_copy<T>(copies, first + K::carry_rows);
  }
  // No bundle before this one has touched these rows.
#pragma unroll
  for (int t = 0; t < 2 * K::groups; ++t) mine.load(c[t], first, t, rows);
  for (int hop = 0; hop < hops; ++hop, first += shift) {
    const bool last = hop + 1 == hops;
    if constexpr (Slide) {
      thread_copy_wait();
#pragma unroll
      for (int t = 0; t < T; ++t) Strip<S, M>::take_copy(c[2 * K::groups + t], copies, t);
      if (!last) {
        before.await(hop + 2);
        mine.template start_copy<T>(copies, first + shift + K::carry_rows);
      }
    } else {
      before.await(hop + 1);
#pragma unroll
      for (int t = 2 * K::groups; t < K::window; ++t)
        mine.load(c[t], first, t, first + shift + K::carry_rows);
    }
    apply_hop<K, T, M>(c, tiles, a.zero);
    // For every other hop only: a release waits for the memory system, however long ago the rows were written.
    if (hop > 0 && hop % 2 == 0) publish(flag, static_cast<unsigned>(order), static_cast<unsigned>(hop));
    if (Slide && !last) {
      mine.template store_tiles<T>(c, first);
    } else {
      const int stop = last ? first + shift + K::carry_rows : first + shift;
#pragma unroll
      for (int t = 0; t < K::window; ++t)
        if (t < T || last) mine.store(c[t], first, t, stop);
    }
    if constexpr (Slide) {
#pragma unroll
      for (int t = 0; t < 2 * K::groups; ++t)
#pragma unroll
        for (int i = 0; i < M / 4; ++i) c[t][i] = c[t + T][i];
    } else if (!last) {
      Carry<K, T, M>{reinterpret_cast<double*>(room)}.move(c, shift);
    }
  }
  publish(flag, static_cast<unsigned>(order), static_cast<unsigned>(hops));
}

template <class S, int T, int M, bool Slide>
__global__ void __launch_bounds__(32 * warps, 1) apply_kernel(const __grid_constant__ ApplyShape<S> a) {
  using K = Kernel<S, T, M, Slide>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ unsigned item_shared;
  const int warp = threadIdx.x / 32;
  unsigned char* const room = memory + K::slots * K::slot_bytes + warp * K::warp_bytes;
  Stream<K> stream;
  stream.slots = shared_address(memory);
  stream.full = stream.slots + K::slots * K::slot_bytes + warps * K::warp_bytes;
  stream.empty = stream.full + 8 * K::slots;
  if (threadIdx.x == 0) {
    for (int i = 0; i < K::slots; ++i) {
      barrier_init(stream.full + 8 * i, 1);
      barrier_init(stream.empty + 8 * i, 32 * warps);
    }
    barriers_ready();
  }
  const Index bundles = a.blocks.bundles(), panel_items = a.panel_chunks * bundles;
  for (;;) {
    if (threadIdx.x == 0) item_shared = atomicAdd(a.counter, 1u);
    __syncthreads();
    const Index item = item_shared;
    __syncthreads();
    if (item >= a.items) return;
    const Index panel = item / panel_items, rest = item % panel_items, order = rest / a.panel_chunks;
    const Index chunk = panel * a.panel_chunks + rest % a.panel_chunks, bundle = bundles - 1 - order;
    if (chunk * warps * M >= a.columns) continue;
    stream.from =
        reinterpret_cast<const char*>(a.data + a.blocks.first_block(bundle) * a.blocks.block_size());
    stream.steps = static_cast<unsigned>(a.blocks.hops(bundle) * K::groups * 2);
    if (threadIdx.x == 0) stream.fill_first();
    const Index strip = chunk * warps + warp;
    if (strip * M < a.columns)
      apply_bundle<S, K, T, M, Slide>(a, stream, memory, room, bundle, order, strip);
    else
      for (unsigned step = 0; step < stream.steps; ++step) stream.end(stream.begin(step));
  }
}

}  // namespace tessera::detail::kernels::apply_chase_detail
