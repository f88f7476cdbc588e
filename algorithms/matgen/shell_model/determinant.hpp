// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace tessera::detail {

/// Occupied single-particle states of one kind of nucleon: a set of bits. Ordered as the number that the bits make.
class Determinant {
 public:
  /// Single-particle states that it can tell apart.
  static constexpr int max_states = 768;

  /// The lowest `count` states of those from `first` on.
  static Determinant lowest(int first, int count) noexcept {
    Determinant made;
    for (int s = first; s < first + count; ++s) made.flip(s);
    return made;
  }
  bool has(int state) const noexcept { return (word(state) >> (state % 64) & 1) != 0; }
  void flip(int state) noexcept { word(state) ^= std::uint64_t{1} << (state % 64); }
  int count() const noexcept {
    int bits = 0;
    for (const std::uint64_t word : words_) bits += std::popcount(word);
    return bits;
  }
  /// Occupied states below this one.
  int count_below(int state) const noexcept {
    int bits = std::popcount(word(state) & ((std::uint64_t{1} << (state % 64)) - 1));
    for (int w = 0; w < state / 64; ++w) bits += std::popcount(words_[static_cast<std::size_t>(w)]);
    return bits;
  }
  /// Calls visit(state) for the occupied ones, ascending.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t w = 0; w < words; ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        visit(static_cast<int>(64 * w) + std::countr_zero(rest));
  }
  /// States that are occupied here and empty there.
  Determinant without(const Determinant& other) const noexcept {
    Determinant made;
    for (std::size_t w = 0; w < words; ++w) made.words_[w] = words_[w] & ~other.words_[w];
    return made;
  }
  /// States that are occupied in one of both.
  Determinant united(const Determinant& other) const noexcept {
    Determinant made;
    for (std::size_t w = 0; w < words; ++w) made.words_[w] = words_[w] | other.words_[w];
    return made;
  }
  friend bool operator==(const Determinant&, const Determinant&) = default;
  friend std::strong_ordering operator<=>(const Determinant& a, const Determinant& b) noexcept {
    for (std::size_t w = words; w-- > 0;)
      if (a.words_[w] != b.words_[w]) return a.words_[w] <=> b.words_[w];
    return std::strong_ordering::equal;
  }
  struct Hash {
    std::size_t operator()(const Determinant& of) const noexcept {
      std::uint64_t hash = 0;
      for (const std::uint64_t word : of.words_) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
      }
      return static_cast<std::size_t>(hash);
    }
  };

 private:
  static constexpr std::size_t words = max_states / 64;
  std::uint64_t word(int state) const noexcept { return words_[static_cast<std::size_t>(state / 64)]; }
  std::uint64_t& word(int state) noexcept { return words_[static_cast<std::size_t>(state / 64)]; }
  std::array<std::uint64_t, words> words_{};
};

}  // namespace tessera::detail
