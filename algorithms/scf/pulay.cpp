// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/algorithms/density_matrix/curvy_steps.hpp>
#include <tessera/algorithms/scf/pulay.hpp>

namespace tessera::detail {

std::optional<std::vector<double>> pulay_coefficients(const std::vector<std::vector<double>>& products) {
  // With c_last = 1 - the others: least squares in the differences d_j = e_j - e_last, <d_j, d_k> c = -<d_j,
  // e_last>, by a Cholesky factorisation; it is better conditioned than the bordered system.
  const std::size_t last = products.size() - 1;
  const auto of_differences = [&](std::size_t j, std::size_t k) {
    return products[j][k] - products[j][last] - products[last][k] + products[last][last];
  };
  std::vector<double> scale(last), c(last + 1), l(last * last);
  for (std::size_t j = 0; j < last; ++j) {
    const double square = of_differences(j, j);
    if (!(square > 0)) return std::nullopt;
    scale[j] = 1 / std::sqrt(square);
  }
  constexpr double least_pivot = 1e-12;
  for (std::size_t j = 0; j < last; ++j) {
    for (std::size_t i = j; i < last; ++i) {
      double sum = scale[i] * scale[j] * of_differences(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= l[i + k * last] * l[j + k * last];
      if (i == j && !(sum > least_pivot)) return std::nullopt;
      l[i + j * last] = i == j ? std::sqrt(sum) : sum / l[j + j * last];
    }
    c[j] = -scale[j] * (products[j][last] - products[last][last]);
  }
  for (std::size_t j = 0; j < last; ++j) {
    for (std::size_t k = 0; k < j; ++k) c[j] -= l[j + k * last] * c[k];
    c[j] /= l[j + j * last];
  }
  c[last] = 1;
  for (std::size_t j = last; j-- > 0;) {
    for (std::size_t k = j + 1; k < last; ++k) c[j] -= l[k + j * last] * c[k];
    c[j] /= l[j + j * last];
  }
  for (std::size_t j = 0; j < last; ++j) {
    c[j] *= scale[j];
    c[last] -= c[j];
  }
  return c;
}

template <class T>
void PulayHistory<T>::drop_oldest() {
  entries_.pop_front();
  for (Entry& entry : entries_) entry.products.erase(entry.products.begin());
}

template <class T>
void PulayHistory<T>::add(Matrices hamiltonians, Matrices errors) {
  if (static_cast<Index>(entries_.size()) == most_) drop_oldest();
  entries_.push_back({std::move(hamiltonians), std::move(errors), {}});
  Entry& added = entries_.back();
  for (const Entry& entry : entries_) {
    double sum = 0;
    for (std::size_t s = 0; s < added.errors.size(); ++s)
      sum += inner_product(entry.errors[s], added.errors[s]);
    added.products.push_back(sum);
  }
}

template <class T>
std::vector<std::vector<double>> PulayHistory<T>::products() const {
  std::vector<std::vector<double>> all(entries_.size(), std::vector<double>(entries_.size()));
  for (std::size_t j = 0; j < entries_.size(); ++j)
    for (std::size_t k = 0; k <= j; ++k) all[j][k] = all[k][j] = entries_[j].products[k];
  return all;
}

template <class T>
std::vector<BlockSparseMatrix<T>> PulayHistory<T>::combined(BlockAlgebra<T>& algebra) {
  auto c = pulay_coefficients(products());
  if (!c && entries_.size() > 2) {
    while (entries_.size() > 2) drop_oldest();
    c = pulay_coefficients(products());
  }
  // Two errors that do not differ: the last Hamiltonian itself.
  while (!c) {
    drop_oldest();
    c = pulay_coefficients(products());
  }
  Matrices result;
  for (std::size_t s = 0; s < entries_.front().hamiltonians.size(); ++s) {
    auto sum = algebra.sum({{c->front(), &entries_.front().hamiltonians[s]}});
    for (std::size_t j = 1; j < entries_.size(); ++j)
      algebra.add(1, sum, (*c)[j], entries_[j].hamiltonians[s]);
    result.push_back(std::move(sum));
  }
  return result;
}

#define TESSERA_INSTANTIATE(T) template class PulayHistory<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
