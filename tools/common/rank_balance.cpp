// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "rank_balance.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace tessera::program {

namespace {

Json of_ranks(const std::vector<double>& numbers) {
  return {{"ranks", numbers}, {"max_over_mean", max_over_mean(numbers)}};
}

}  // namespace

double max_over_mean(const std::vector<double>& of_ranks) {
  const double sum = std::accumulate(of_ranks.begin(), of_ranks.end(), 0.);
  if (sum == 0) return 1;
  return *std::max_element(of_ranks.begin(), of_ranks.end()) * static_cast<double>(of_ranks.size()) / sum;
}

Json rank_balance(const Runtime& runtime, const MultiplyResult& result,
                  const std::vector<const BlockPattern*>& matrices) {
  const auto ranks = static_cast<std::size_t>(runtime.size());
  std::vector<double> products(ranks, 0), flop(ranks, 0), elements(ranks, 0);
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    products[rank] = static_cast<double>(result.ranks[rank].products);
    flop[rank] = result.ranks[rank].flop;
  }
  for (const BlockPattern* matrix : std::set<const BlockPattern*>(matrices.begin(), matrices.end()))
    for (Index panel = 0; panel < matrix->panels(); ++panel)
      elements[static_cast<std::size_t>(matrix->panel_owner(panel))] +=
          static_cast<double>(matrix->panel_elements(panel));
  return {{"products", of_ranks(products)}, {"flop", of_ranks(flop)}, {"elements", of_ranks(elements)}};
}

std::string text_of_balance(const Json& balance) {
  const auto share = [&](const char* name) { return balance[name]["max_over_mean"].get<double>(); };
  return fmt::format("{:.3f} in products, {:.3f} in flop, {:.3f} in stored elements (largest rank / mean)",
                     share("products"), share("flop"), share("elements"));
}

}  // namespace tessera::program
