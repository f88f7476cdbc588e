// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A row of row-major vectors in the registers of one instruction set level (see dispatch.hpp).

namespace tessera::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
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
#define TESSERA_FOR_COLUMNS(COLUMNS, CALL)                                                        \
  switch (COLUMNS) {                                                                              \
    TESSERA_CASES(CALL, 1)                                                                        \
    TESSERA_CASES(CALL, 5) TESSERA_CASES(CALL, 9) TESSERA_CASES(CALL, 13) TESSERA_CASES(CALL, 17) \
        TESSERA_CASES(CALL, 21) TESSERA_CASES(CALL, 25) TESSERA_CASES(CALL, 29) default : break;  \
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

/// The largest register that a row of so many elements fills.
template <class T>
constexpr int first_lanes(int columns) noexcept {
  int lanes = register_bytes / static_cast<int>(sizeof(T));
  while (lanes > columns) lanes /= 2;
  return lanes;
}

/// A row of `columns` elements in registers: whole ones, and for the rest smaller and smaller ones, so that a
/// row needs neither masks nor elements beyond its end.
template <class T, int columns>
struct Row {
  static constexpr int lanes = first_lanes<T>(columns);
  using Rest = Row<T, columns - lanes>;
  typename Lanes<T, lanes>::Vector first;
  Rest rest;

  static TESSERA_ALWAYS_INLINE Row zero() noexcept {
    return {typename Lanes<T, lanes>::Vector{}, Rest::zero()};
  }
  static TESSERA_ALWAYS_INLINE Row load(const T* p) noexcept {
    return {*reinterpret_cast<const typename Lanes<T, lanes>::Unaligned*>(p), Rest::load(p + lanes)};
  }
  TESSERA_ALWAYS_INLINE void store(T* p) const noexcept {
    *reinterpret_cast<typename Lanes<T, lanes>::Unaligned*>(p) = first;
    rest.store(p + lanes);
  }
  /// this += v (the row at p).
  TESSERA_ALWAYS_INLINE void add_from(T v, const T* p) noexcept {
    first += *reinterpret_cast<const typename Lanes<T, lanes>::Unaligned*>(p) * v;
    rest.add_from(v, p + lanes);
  }
  /// (the row at p) += v this.
  TESSERA_ALWAYS_INLINE void add_to(T v, T* p) const noexcept {
    auto* const to = reinterpret_cast<typename Lanes<T, lanes>::Unaligned*>(p);
    *to = *to + first * v;
    rest.add_to(v, p + lanes);
  }
};
template <class T>
struct Row<T, 0> {
  static TESSERA_ALWAYS_INLINE Row zero() noexcept { return {}; }
  static TESSERA_ALWAYS_INLINE Row load(const T*) noexcept { return {}; }
  TESSERA_ALWAYS_INLINE void store(T*) const noexcept {}
  TESSERA_ALWAYS_INLINE void add_from(T, const T*) noexcept {}
  TESSERA_ALWAYS_INLINE void add_to(T, T*) const noexcept {}
};

}  // namespace
}  // namespace tessera::kernels::TESSERA_CPU_LEVEL_NAMESPACE
