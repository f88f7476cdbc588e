// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/block_sparse/panel_lanczos.hpp>
#include <tessera/algorithms/block_sparse/product_operands.hpp>
#include <tessera/codelets/linalg/krylov_basis.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/require_success.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

template <class T>
WholeOperand<T>::WholeOperand(const BlockSparseMatrix<T>& a) {
  Sequence making(a.runtime());
  whole_ = both_halves(making, a);
  finish(making);
  if (!whole_.valid()) return;
  const BlockPattern& pattern = whole_.pattern();
  which_.panels = word_of(pattern.panels());
  which_.row_panels = word_of(pattern.row_panels());
  for (Index p = 0; p < pattern.row_panels(); ++p)
    which_.most_rows =
        std::max(which_.most_rows, word_of(static_cast<Index>(pattern.rows().panel(p).size())));
  for (Index p = 0; p < pattern.panels(); ++p)
    if (whole_.panel(p).valid()) which_.numbers.push_back(word_of(p));
}

template <class T>
std::vector<const Data*> WholeOperand<T>::panels() const {
  std::vector<const Data*> panels;
  for (const std::int32_t p : which_.numbers) panels.push_back(&whole_.panel(p));
  return panels;
}

template <class T>
typename WholeOperand<T>::Rows WholeOperand<T>::row_moduli() const {
  const auto n = static_cast<std::size_t>(whole_.rows());
  Runtime& runtime = whole_.runtime();
  const Data sums = Data::bytes(runtime, 2 * n * sizeof(double));
  Sequence sequence(runtime);
  const std::vector<const Data*> values = panels();
  sequence.insert(RowModuli<T>{.pattern = pattern(), .sums = sums, .panels = values, .which = &which_});
  finish(sequence);
  const HostAccess access(sums, HostAccess::Mode::read);
  const auto numbers = access.array<const double>();
  return {{numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n)},
          {numbers.begin() + static_cast<std::ptrdiff_t>(n), numbers.end()}};
}

template <class T>
PanelLanczos<T>::PanelLanczos(std::shared_ptr<const WholeOperand<T>> a, Runtime& runtime, Index n, Index most,
                              double factor, std::uint64_t seed)
    : a_(std::move(a)),
      runtime_(runtime),
      n_(n),
      factor_(factor),
      seed_(seed),
      basis_(Data::matrix(runtime, n, most + 1, sizeof(T))) {}

template <class T>
Status PanelLanczos<T>::extend(Index steps) {
  const Index first = matrix_.size();
  const Data coefficients = Data::bytes(runtime_, static_cast<std::size_t>(2 * steps) * sizeof(double));
  const Data work =
      Data::scratch(runtime_, static_cast<std::size_t>(lanczos_work(first + steps)) * sizeof(T));
  const std::vector<const Data*> panels = a_->panels();
  Sequence sequence(runtime_);
  sequence.begin_stage("lanczos");
  sequence.insert(ExtendKrylov<T>{.pattern = a_->pattern(),
                                  .basis = first == 0 ? overwrite(basis_) : add_to(basis_),
                                  .coefficients = coefficients,
                                  .work = work,
                                  .panels = panels,
                                  .which = &a_->which(),
                                  .n = n_,
                                  .first = first,
                                  .steps = steps,
                                  .factor = static_cast<RealOf<T>>(factor_),
                                  .seed = seed_,
                                  .elements = a_->elements()});
  const Status status = sequence.wait();
  if (!status.ok()) return status;
  const HostAccess access(coefficients, HostAccess::Mode::read);
  const auto numbers = access.array<const double>();
  for (Index k = 0; k < steps; ++k) {
    matrix_.diagonal.push_back(numbers[static_cast<std::size_t>(2 * k)]);
    matrix_.beside.push_back(numbers[static_cast<std::size_t>(2 * k + 1)]);
  }
  return status;
}

#define TESSERA_INSTANTIATE(T)    \
  template class WholeOperand<T>; \
  template class PanelLanczos<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
