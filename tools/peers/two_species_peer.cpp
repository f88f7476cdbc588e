// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "two_species_peer.hpp"

#include <optional>

#include <tessera/version.hpp>

#include "machine_limits.hpp"
#include "operator_peer.hpp"
#include "shell_model_operator.hpp"

namespace tessera::program {

namespace {

template <class T>
class TwoSpeciesPeer final : public OperatorPeer<T> {
 public:
  TwoSpeciesPeer(Runtime& runtime, bool one_precision)
      : OperatorPeer<T>(runtime, {"two species, not stored", TESSERA_VERSION_STRING,
                                  one_precision ? "" : "--storage and --type of one precision",
                                  runtime.gpus() > 0 ? 0 : cpu_threads(runtime)}) {}
  /// The lists and blocks, each once.
  double matrix_bytes() const override { return a_->get().table_bytes(); }

 private:
  const SymmetricOperator<T>& make_operator(const RowsPeerProblem<T>& problem) override {
    if (!problem.shell_model) throw InvalidArgument("--peer", "free", "a matrix by --generate shell:...");
    a_.emplace(this->runtime_, *problem.shell_model);
    return a_->get();
  }
  const SymmetricOperator<T>& get_operator() const override { return a_->get(); }
  void release_operator() override { a_.reset(); }
  std::vector<T> from_rows(const std::vector<T>& x) const override {
    return a_->by_states(x, this->columns());
  }
  std::vector<T> to_rows(std::vector<T> y) const override { return a_->by_rows(y, this->columns()); }

  std::optional<ShellModelOperator<T>> a_;
};

}  // namespace

template <class T>
std::unique_ptr<RowsPeer<T>> make_two_species_peer(Runtime& runtime, bool one_precision) {
  return std::make_unique<TwoSpeciesPeer<T>>(runtime, one_precision);
}

template std::unique_ptr<RowsPeer<float>> make_two_species_peer<float>(Runtime&, bool);
template std::unique_ptr<RowsPeer<double>> make_two_species_peer<double>(Runtime&, bool);

}  // namespace tessera::program
