// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "two_species_peer.hpp"

#include <algorithm>
#include <optional>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/shell_model.hpp>
#include <tessera/two_species_operator.hpp>
#include <tessera/version.hpp>

#include "machine_limits.hpp"
#include "process.hpp"

namespace tessera::program {
using namespace detail;

namespace {

template <class T>
class TwoSpeciesPeer final : public RowsPeer<T> {
 public:
  TwoSpeciesPeer(Runtime& runtime, bool one_precision)
      : RowsPeer<T>({"two species, not stored", TESSERA_VERSION_STRING,
                     one_precision ? "" : "--storage and --type of one precision",
                     runtime.gpus() > 0 ? 0 : cpu_threads(runtime)}),
        runtime_(runtime) {}
  void prepare(RowsPeerProblem<T> problem) override {
    problem_ = problem;
    if (a_) return;
    if (!problem.shell_model) throw InvalidArgument("--peer", "free", "a matrix by --generate shell:...");
    ShellModelProduct product;
    agree(runtime_, 0, [&] { product = shell_model_product(*problem.shell_model); });
    a_ = TwoSpeciesOperator<T>::build(runtime_, product.structure);
    rows_ = std::move(product.rows);
    x_ = BlockVectors<T>(runtime_, a_->segments(), problem.columns);
    y_ = BlockVectors<T>(runtime_, a_->segments(), problem.columns);
    std::vector<T> x(problem.x->size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      std::copy_n(row(*problem.x, rows_[i]), problem.columns, row(x, i));
    x_.set(x.data(), problem.columns, problem.columns);
  }
  /// The lists and blocks, each once.
  double matrix_bytes() const override { return a_->table_bytes(); }
  double run() override {
    runtime_.barrier();
    const double start = now();
    Sequence sequence(runtime_);
    sequence.begin_stage("two_species");
    a_->apply(sequence, x_, y_, problem_.columns);
    const Status status = sequence.wait();
    const double seconds = now() - start;
    if (!status) throw Error(status.message());
    return seconds;
  }
  std::vector<T> result() override {
    if (!problem_.fetch) return {};
    std::vector<T> given(problem_.x->size()), y(given.size());
    y_.get(given.data(), problem_.columns, problem_.columns);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      std::copy_n(row(given, i), problem_.columns, row(y, rows_[i]));
    return y;
  }
  void release() override {
    a_.reset();
    x_ = {};
    y_ = {};
  }

 private:
  template <class Vector, class Number>
  auto row(Vector& vectors, Number number) const {
    return vectors.begin() + static_cast<std::ptrdiff_t>(number) * problem_.columns;
  }

  Runtime& runtime_;
  RowsPeerProblem<T> problem_;
  std::optional<TwoSpeciesOperator<T>> a_;
  std::vector<Index> rows_;  ///< the matrix's row of each of the product's
  BlockVectors<T> x_, y_;
};

}  // namespace

template <class T>
std::unique_ptr<RowsPeer<T>> make_two_species_peer(Runtime& runtime, bool one_precision) {
  return std::make_unique<TwoSpeciesPeer<T>>(runtime, one_precision);
}

template std::unique_ptr<RowsPeer<float>> make_two_species_peer<float>(Runtime&, bool);
template std::unique_ptr<RowsPeer<double>> make_two_species_peer<double>(Runtime&, bool);

}  // namespace tessera::program
