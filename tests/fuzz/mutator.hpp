// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace tessera::fuzz {

/// Damages files and texts in ways that occur in practice or that break parsers: flipped bits,
/// truncation, parts of other files, repeated or lost lines, extreme numbers, bytes that are not
/// text. The same seed gives the same damage.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}
  /// Makes one to four changes. `other` is a valid input of the same kind.
  std::string mutate(const std::string& input, const std::string& other);
  std::size_t below(std::size_t bound);

 private:
  void change(std::string& text, const std::string& other);
  void replace_number(std::string& text);
  void change_line(std::string& text);
  std::mt19937_64 random_;
};

}  // namespace tessera::fuzz
