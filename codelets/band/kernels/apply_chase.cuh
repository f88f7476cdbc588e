// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include <tessera/codelets/band/kernels/apply_chase_strip.cuh>
#include <tessera/codelets/band/kernels/chase_blocks.hpp>

/// The kernel of launch_apply_chase (chase_blocks.hpp).
namespace tessera::detail::kernels::apply_chase_detail {

constexpr int warps = 8;

template <class S, int T, int M, bool Slide, bool Split>
struct Kernel {
  /// What C is in registers, and a thread's part of a tile of V or W.
  using Real = std::conditional_t<Split, float, double>;
  using Tile = std::conditional_t<Split, uint4, double2>;
  static constexpr int groups = static_cast<int>(ChaseBlocks::bundle_groups(T));
  static constexpr int window = T + 2 * groups;  ///< tiles of rows in registers
  static constexpr int v_count = static_cast<int>(ChaseBlocks::v_tiles(T, Split));
  static constexpr int w_count = static_cast<int>(ChaseBlocks::w_tiles(T, Split));
  static constexpr int v_bytes = v_count * 512, w_bytes = w_count * 512, block_bytes = v_bytes + w_bytes;
  /// Steps of the stream for a block: V and W together, or, as they are larger, one after the other.
  static constexpr int steps = Split ? 1 : 2;
  static constexpr int slot_bytes = Split ? block_bytes : w_bytes;
  /// Tiles of V and W that are loaded ahead of their use; the registers limit it.
  static constexpr int depth = T <= 8 ? 4 : Split ? 2 : 1;
  /// Rows that two windows share, and their distance from one column to the next in `Carry`.
  static constexpr int carry_rows = 16 * groups, carry_stride = carry_rows + 8;
  /// Bytes of a warp: with Slide for the new rows of the next hop, each thread's own; else see Carry.
  static constexpr int warp_bytes = Slide ? T * (M / 8) * 32 * static_cast<int>(sizeof(Pair<S>))
                                          : M * carry_stride * static_cast<int>(sizeof(Real));
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

// ---- V and W ----

/// The stream of V and W through the slots, in steps: V of the first block of an item, W, V of the next, ..; or
/// block by block.
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
    const unsigned block = step / K::steps, part = step % K::steps;
    const unsigned bytes = K::steps == 1 ? K::block_bytes : part == 0 ? K::v_bytes : K::w_bytes;
    bulk_copy(slots + to * K::slot_bytes,
              from + static_cast<Index>(block) * K::block_bytes + part * K::v_bytes, bytes, full + 8 * to);
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
  using Tile = typename K::Tile;
  static constexpr int depth = K::depth;
  static_assert(depth <= K::v_count && depth <= K::w_count);
  Stream<K>& stream;
  const unsigned char* slots;
  unsigned step = 0, slot = 0, used = 0;  ///< used: the slot of the step before
  const Tile* from = nullptr;
  Tile ring[depth];

  __device__ Tiles(Stream<K>& stream_, const unsigned char* slots_) : stream(stream_), slots(slots_) {
    open();
#pragma unroll
    for (int i = 0; i < depth; ++i) ring[i] = from[32 * i];
  }
  __device__ void open() {
    slot = stream.begin(step++);
    from = reinterpret_cast<const Tile*>(slots + slot * K::slot_bytes) + threadIdx.x % 32;
  }
  /// Returns tile i of the step of `count` tiles and loads one ahead; `place`: tiles taken since align.
  __device__ Tile take(int i, int count, int place) {
    const Tile tile = ring[place % depth];
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
    Tile old[depth];
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
  constexpr int v_count = K::v_count, w_count = K::w_count;
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

/// The same with halves: V and W are tiles of 16 x 8, one product sums over two tiles of rows of C, or over
/// all columns of W. Tensor cores round their sums towards zero: products with low parts have sums of their own,
/// and what is added to C is summed before.
template <class K, int T, int M>
__device__ inline void apply_hop(float (&c)[K::window][M / 4], Tiles<K>& tiles, int) {
  static_assert(M == 16);
  constexpr int v_count = K::v_count, count = v_count + K::w_count;
#pragma unroll
  for (int group = K::groups - 1; group >= 0; --group) {
    const int place = (K::groups - 1 - group) * count;
    float x[2][4] = {}, x_low[2][4] = {};
#pragma unroll
    for (int pair = 0; pair < v_count / 2; ++pair) {
      const uint4 v[2] = {tiles.take(2 * pair, count, place + 2 * pair),
                          tiles.take(2 * pair + 1, count, place + 2 * pair + 1)};
      const SplitOperand rows(c[2 * (group + pair)], c[2 * (group + pair) + 1], 1);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        multiply_add(x_low[i], rows.low, v[i].x, v[i].y);
        multiply_add(x[i], rows.high, v[i].x, v[i].y);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) multiply_add(x_low[i], rows.high, v[i].z, v[i].w);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i % 2][i / 2] += x_low[i % 2][i / 2];
    const SplitOperand y(x[0], x[1], static_cast<float>(ChaseBlocks::x_scale));
#pragma unroll
    for (int row = 0; row < K::w_count; ++row) {
      const uint4 w = tiles.take(v_count + row, count, place + v_count + row);
      float sum[4] = {};
      multiply_add(sum, y.low, w.x, w.y);
      multiply_add(sum, y.high, w.z, w.w);
      multiply_add(sum, y.high, w.x, w.y);
#pragma unroll
      for (int i = 0; i < 4; ++i) c[2 * group + row][i] += sum[i];
    }
    tiles.release();
  }
  tiles.align(K::groups * count);
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
  typename K::Real c[K::window][M / 4];
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
      Carry<K, T, M>{reinterpret_cast<typename K::Real*>(room)}.move(c, shift);
    }
  }
  publish(flag, static_cast<unsigned>(order), static_cast<unsigned>(hops));
}

template <class S, int T, int M, bool Slide, bool Split>
__global__ void __launch_bounds__(32 * warps, 1) apply_kernel(const __grid_constant__ ApplyShape<S> a) {
  using K = Kernel<S, T, M, Slide, Split>;
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
    stream.from = reinterpret_cast<const char*>(a.data) + a.blocks.first_block(bundle) * K::block_bytes;
    stream.steps = static_cast<unsigned>(a.blocks.hops(bundle) * K::groups * K::steps);
    if (threadIdx.x == 0) stream.fill_first();
    const Index strip = chunk * warps + warp;
    if (strip * M < a.columns)
      apply_bundle<S, K, T, M, Slide>(a, stream, memory, room, bundle, order, strip);
    else
      for (unsigned step = 0; step < stream.steps; ++step) stream.end(stream.begin(step));
  }
}

}  // namespace tessera::detail::kernels::apply_chase_detail
