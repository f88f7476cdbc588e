// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/kind_arguments.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

KindArguments::KindArguments(std::string_view text) : text_(text) {
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(':', begin);
    words_.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return;
    begin = end + 1;
  }
}

std::string_view KindArguments::rest() const noexcept {
  const std::size_t colon = text_.find(':');
  return colon == std::string::npos ? std::string_view() : std::string_view(text_).substr(colon + 1);
}

void KindArguments::require_count(Index least, Index most) const {
  if (count() >= least && count() <= most) return;
  fail(least == most ? fmt::format("{} arguments after {}", least, name())
                     : fmt::format("{} to {} arguments after {}", least, most, name()));
}

Index KindArguments::integer(Index k, std::string_view what, Index otherwise, Index least, Index most) const {
  Index value = otherwise;
  if (has(k)) {
    const std::string_view text = word(k);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail(fmt::format("an integer {}", what));
  }
  if (value < least || value > most) fail(fmt::format("{} from {} to {}", what, least, most));
  return value;
}

double KindArguments::real(Index k, std::string_view what, double otherwise) const {
  if (!has(k)) return otherwise;
  const std::string_view text = word(k);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    fail(fmt::format("a finite number {}", what));
  return value;
}

bool KindArguments::choice(Index k, std::string_view first, std::string_view second, bool otherwise) const {
  if (!has(k)) return otherwise;
  if (word(k) != first && word(k) != second) fail(fmt::format("{} or {}", first, second));
  return word(k) == second;
}

void KindArguments::fail(std::string_view expected) const {
  throw InvalidArgument("kind", text_, expected);
}

}  // namespace tessera::detail
