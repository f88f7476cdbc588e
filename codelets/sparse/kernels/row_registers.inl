// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A row of row-major vectors in the registers of one instruction set level (see dispatch.hpp).

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

#define TESSERA_ALWAYS_INLINE inline __attribute__((always_inline))

#if TESSERA_CPU_LEVEL == 4
constexpr int register_bytes = 64;
#elif TESSERA_CPU_LEVEL == 3
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

/// CALL(columns) with a constant, for 1 to 32 columns.
#define TESSERA_CASE(CALL, COLUMNS) \
  case COLUMNS:                     \
    CALL(COLUMNS)
#define TESSERA_CASES(CALL, FIRST) \
  TESSERA_CASE(CALL, FIRST)        \
  TESSERA_CASE(CALL, FIRST + 1) TESSERA_CASE(CALL, FIRST + 2) TESSERA_CASE(CALL, FIRST + 3)
#define TESSERA_FOR_COLUMNS(COLUMNS, CALL)                                                   \
  switch (COLUMNS) {                                                                         \
    TESSERA_CASES(CALL, 1)                                                                   \
    TESSERA_CASES(CALL, 5)                                                                   \
    TESSERA_CASES(CALL, 9)                                                                   \
    TESSERA_CASES(CALL, 13)                                                                  \
    TESSERA_CASES(CALL, 17)                                                                  \
    TESSERA_CASES(CALL, 21) TESSERA_CASES(CALL, 25) TESSERA_CASES(CALL, 29) default : break; \
  }

template <class T, int lanes>
struct Lanes {
  typedef T Vector __attribute__((vector_size(lanes * sizeof(T))));
  typedef T Unaligned __attribute__((vector_size(lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <class T>
struct Lanes<T, 1> {
  using Vector = T;
  using Unaligned = T;
};

/// Lanes of the next register of a row with `columns` columns left, where registers hold `before` columns
/// already: the largest that these columns fill, or the smallest that holds them and some of the columns
/// before.
template <class T>
constexpr int next_lanes(int columns, int before) noexcept {
  int lanes = register_bytes / static_cast<int>(sizeof(T));
  while (lanes / 2 >= columns) lanes /= 2;
  return lanes - columns <= before ? lanes : lanes / 2;
}

/// A row of `columns` elements in registers: whole ones, and for the rest smaller ones, so that a row needs
/// neither masks nor elements beyond its end. The last one may hold columns of the one before (11 = 8 + 4,
/// where two registers hold one column): both compute the same for these. `before`: columns in registers that
/// precede these.
template <class T, int columns, int before = 0>
struct Row {
  static constexpr int lanes = next_lanes<T>(columns, before);
  static constexpr int begin = columns < lanes ? columns - lanes : 0;  ///< below 0: columns in two registers
  using Rest = Row<T, columns - lanes - begin, before + lanes>;
  using Register = typename Lanes<T, lanes>::Vector;
  using Memory = typename Lanes<T, lanes>::Unaligned;
  Register first;
  Rest rest;

  static TESSERA_ALWAYS_INLINE Row load(const T* p) noexcept {
    return {*reinterpret_cast<const Memory*>(p + begin), Rest::load(p + lanes)};
  }
  TESSERA_ALWAYS_INLINE void store(T* p) const noexcept {
    *reinterpret_cast<Memory*>(p + begin) = first;
    rest.store(p + lanes);
  }
  /// this += v (the row at p).
  TESSERA_ALWAYS_INLINE void add_from(T v, const T* p) noexcept {
    first += *reinterpret_cast<const Memory*>(p + begin) * v;
    rest.add_from(v, p + lanes);
  }
  /// (the row at p) += v this + w other. Columns in two registers are read before they are written.
  TESSERA_ALWAYS_INLINE void add_to(T v, const Row& other, T w, T* p) const noexcept {
    auto* const to = reinterpret_cast<Memory*>(p + begin);
    const Register sum = *to + first * v + other.first * w;
    if constexpr (Rest::begin < 0) {
      auto* const last_to = reinterpret_cast<typename Rest::Memory*>(p + lanes + Rest::begin);
      const typename Rest::Register last = *last_to + rest.first * v + other.rest.first * w;
      *to = sum;
      *last_to = last;
    } else {
      *to = sum;
      rest.add_to(v, other.rest, w, p + lanes);
    }
  }
  /// (the row at p) += v this. Columns in two registers are read before they are written.
  TESSERA_ALWAYS_INLINE void add_to(T v, T* p) const noexcept {
    auto* const to = reinterpret_cast<Memory*>(p + begin);
    const Register sum = *to + first * v;
    if constexpr (Rest::begin < 0) {
      const typename Rest::Register last =
          *reinterpret_cast<typename Rest::Memory*>(p + lanes + Rest::begin) + rest.first * v;
      *to = sum;
      *reinterpret_cast<typename Rest::Memory*>(p + lanes + Rest::begin) = last;
    } else {
      *to = sum;
      rest.add_to(v, p + lanes);
    }
  }
};
template <class T, int before>
struct Row<T, 0, before> {
  static constexpr int begin = 0;
  static TESSERA_ALWAYS_INLINE Row load(const T*) noexcept { return {}; }
  TESSERA_ALWAYS_INLINE void store(T*) const noexcept {}
  TESSERA_ALWAYS_INLINE void add_from(T, const T*) noexcept {}
  TESSERA_ALWAYS_INLINE void add_to(T, T*) const noexcept {}
  TESSERA_ALWAYS_INLINE void add_to(T, const Row&, T, T*) const noexcept {}
};

}  // namespace
}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
