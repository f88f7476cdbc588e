// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/operators.hpp>
#include <tessera/runtime/sequence.hpp>

#include "process.hpp"
#include "rows_peer.hpp"

namespace tessera::program {

/// A product by an operator of our own.
template <class T>
class OperatorPeer : public RowsPeer<T> {
 public:
  OperatorPeer(Runtime& runtime, PeerTraits traits) : RowsPeer<T>(std::move(traits)), runtime_(runtime) {}
  void prepare(RowsPeerProblem<T> problem) override {
    problem_ = problem;
    if (x_.count() > 0) return;
    const SymmetricOperator<T>& a = make_operator(problem);
    x_ = BlockVectors<T>(runtime_, a.segments(), problem.columns);
    y_ = BlockVectors<T>(runtime_, a.segments(), problem.columns);
    const std::vector<T> x = from_rows(*problem.x);
    x_.set(x.data(), problem.columns, problem.columns);
  }
  double run() override {
    runtime_.barrier();
    const double start = now();
    Sequence sequence(runtime_);
    sequence.begin_stage("product");
    get_operator().apply(sequence, x_, y_, problem_.columns);
    const Status status = sequence.wait();
    const double seconds = now() - start;
    if (!status) throw Error(status.message());
    return seconds;
  }
  std::vector<T> result() override {
    if (!problem_.fetch) return {};
    std::vector<T> y(problem_.x->size());
    y_.get(y.data(), problem_.columns, problem_.columns);
    return to_rows(std::move(y));
  }
  void release() override {
    x_ = {};
    y_ = {};
    release_operator();
  }

 protected:
  virtual const SymmetricOperator<T>& make_operator(const RowsPeerProblem<T>& problem) = 0;
  virtual const SymmetricOperator<T>& get_operator() const = 0;
  virtual void release_operator() = 0;
  /// Between the order of the matrix's rows and that of the operator's.
  virtual std::vector<T> from_rows(const std::vector<T>& x) const { return x; }
  virtual std::vector<T> to_rows(std::vector<T> y) const { return y; }
  Index columns() const noexcept { return problem_.columns; }

  Runtime& runtime_;

 private:
  RowsPeerProblem<T> problem_;
  BlockVectors<T> x_, y_;
};

}  // namespace tessera::program
