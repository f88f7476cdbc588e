// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::detail {

/// The text NAME:ARGUMENT:ARGUMENT... of a kind of matrix. What does not fit is an InvalidArgument named
/// "kind".
class KindArguments {
 public:
  explicit KindArguments(std::string_view text);
  const std::string& text() const noexcept { return text_; }
  std::string_view name() const noexcept { return words_[0]; }
  /// All after the first colon.
  std::string_view rest() const noexcept;
  /// Arguments are numbered from 1.
  Index count() const noexcept { return static_cast<Index>(words_.size()) - 1; }
  bool has(Index k) const noexcept { return k <= count(); }
  void require_count(Index least, Index most) const;
  std::string_view word(Index k) const { return words_[static_cast<std::size_t>(k)]; }

  /// Argument number k, or `otherwise` if it is missing.
  Index integer(Index k, std::string_view what, Index otherwise, Index least, Index most) const;
  double real(Index k, std::string_view what, double otherwise) const;
  /// Whether the word is the second of the two.
  bool choice(Index k, std::string_view first, std::string_view second, bool otherwise) const;
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  std::string text_;
  std::vector<std::string> words_;
};

}  // namespace tessera::detail
