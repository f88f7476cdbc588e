// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include <tessera/algorithms/sparse/symmetric_operator.hpp>
#include <tessera/codelets/vectors/call_preconditioner.hpp>

namespace tessera {

/// w := what a function of the user's makes of r, segment by segment, on the CPUs or a GPU of the segment's
/// owner. Calls for several segments may run at the same time. Cost: the function's.
template <class T>
class UserPreconditioner final : public Preconditioner<T> {
 public:
  /// @param prepare what the solver knows in an iteration; may be empty
  explicit UserPreconditioner(
      PreconditionRows<T> rows,
      std::function<void(std::span<const double> ritz_values, Index converged)> prepare = {});
  /// With a function for GPUs, which is used where the ranks have some. `host` may be empty then.
  /// @throws InvalidArgument if there are no GPUs and no function for the host
  UserPreconditioner(Runtime& runtime, DevicePreconditionRows<T> device, PreconditionRows<T> host,
                     std::function<void(std::span<const double> ritz_values, Index converged)> prepare = {});
  const char* name() const override { return "user"; }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override;
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override;

 private:
  PreconditionFunctions<T> functions_;
  bool on_device_;
  std::function<void(std::span<const double>, Index)> prepare_;
};

}  // namespace tessera
