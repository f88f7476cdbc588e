// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/preconditioner_parts.hpp>
#include <tessera/codelets/vectors/call_preconditioner.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera {

using namespace detail;

template <class T>
UserPreconditioner<T>::UserPreconditioner(PreconditionRows<T> rows,
                                          std::function<void(std::span<const double>, Index)> prepare)
    : functions_(new PreconditionFunctions<T>{std::move(rows), {}}),
      on_device_(false),
      prepare_(std::move(prepare)) {
  if (!functions_->host) throw InvalidArgument("rows", "empty", "a function");
}

template <class T>
UserPreconditioner<T>::UserPreconditioner(Runtime& runtime, DevicePreconditionRows<T> device,
                                          PreconditionRows<T> host,
                                          std::function<void(std::span<const double>, Index)> prepare)
    : functions_(new PreconditionFunctions<T>{std::move(host), std::move(device)}),
      on_device_(functions_->device && runtime.gpus() > 0),
      prepare_(std::move(prepare)) {
  const auto check = [&] {
    if (!functions_->host && !on_device_)
      throw InvalidArgument("rows",
                            functions_->device ? "a function for GPUs, without GPUs on every rank" : "empty",
                            "a function for the host");
  };
  collectively(runtime, "UserPreconditioner", argument_hash(on_device_), check, [] {});
}

template <class T>
void UserPreconditioner<T>::prepare(Sequence&, std::span<const double> ritz_values, Index converged) {
  if (prepare_) prepare_(ritz_values, converged);
}

template <class T>
void UserPreconditioner<T>::apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
                                  Index columns) const {
  const auto check = [&] { require_blocks(r.segments(), r, w, columns); };
  collectively(sequence.runtime(), "UserPreconditioner::apply", argument_hash(columns), check, [&] {
    const auto call = [&]<WorkerKind kind>(Index s) {
      sequence.insert(CallPreconditioner<T, kind>{.r = r.segment(s),
                                                  .w = w.segment(s),
                                                  .columns = static_cast<int>(columns),
                                                  .first_row = r.segments().begin(s),
                                                  .functions = functions_.get()},
                      {.gpu = r.segments().gpu(s)});
    };
    for (Index s = 0; s < r.count(); ++s)
      if (on_device_)
        call.template operator()<WorkerKind::gpu>(s);
      else
        call.template operator()<WorkerKind::cpu>(s);
  });
}

#define TESSERA_INSTANTIATE(T) template class UserPreconditioner<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
