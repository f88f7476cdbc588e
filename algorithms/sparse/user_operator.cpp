// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/sparse/vector_checks.hpp>
#include <tessera/codelets/vectors/user_function.hpp>
#include <tessera/operators.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

std::shared_ptr<const RowSegments> one_segment(const Runtime& runtime, Index order) {
  std::shared_ptr<const RowSegments> segments;
  collectively(
      runtime, "UserOperator in one segment", argument_hash(order),
      [&] { segments = RowSegments::even(runtime, order, 1); }, [] {});
  return segments;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
UserOperator<T>::UserOperator(Runtime& runtime, std::shared_ptr<const RowSegments> segments,
                              UserDeviceFunction<T> device, UserFunction<T> host, double norm_bound)
    : segments_(std::move(segments)), on_device_(device && runtime.gpus() > 0), norm_bound_(norm_bound) {
  const auto check = [&] {
    if (!segments_) throw InvalidArgument("segments", "null", "a cut of the rows");
    if (!host && !on_device_)
      throw InvalidArgument("function", device ? "one for GPUs, without GPUs on every rank" : "empty",
                            "a function for the host");
    functions_ =
        std::make_shared<const UserFunctions<T>>(UserFunctions<T>{std::move(host), std::move(device)});
  };
  const std::uint64_t hash = argument_hash(segments_ ? segments_->hash() : 0, on_device_, norm_bound_);
  collectively(runtime, "UserOperator", hash, check, [&] {
    if (segments_->count() > 1)
      gathered_ = Data::scratch(runtime, sizeof(T) * static_cast<std::size_t>(segments_->rows()) *
                                             static_cast<std::size_t>(max_block_columns));
  });
}

template <class T>
UserOperator<T>::UserOperator(Runtime& runtime, std::shared_ptr<const RowSegments> segments,
                              UserFunction<T> function, double norm_bound)
    : UserOperator(runtime, std::move(segments), UserDeviceFunction<T>(), std::move(function), norm_bound) {}

template <class T>
UserOperator<T>::UserOperator(Runtime& runtime, Index order,
                              std::function<void(Index, Index, const T*, Index, T*, Index)> function,
                              double norm_bound)
    : UserOperator(runtime, one_segment(runtime, order),
                   function
                       ? UserFunction<T>([f = std::move(function)](Index first, Index end, Index columns,
                                                                   const T* x, Index ldx, T* y, Index ldy) {
                           f(end - first, columns, x, ldx, y, ldy);
                         })
                       : UserFunction<T>(),
                   norm_bound) {}

template <class T>
void UserOperator<T>::apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                            Index columns) const {
  collectively(
      sequence.runtime(), "UserOperator::apply", argument_hash(columns),
      [&] { check_operands(*segments_, x, y, columns); }, [&] { submit(sequence, x, y, columns); });
}

template <class T>
void UserOperator<T>::submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                             Index columns) const {
  sequence.keep(std::const_pointer_cast<UserFunctions<T>>(functions_));
  std::vector<const Data*> all;
  for (Index s = 0; s < x.count(); ++s) all.push_back(&x.segment(s));
  const auto call = [&]<WorkerKind kind>(Index s) {
    sequence.insert(CallUserFunction<T, kind>{.x = all,
                                              .y = y.segment(s),
                                              .gathered = all.size() > 1 ? &gathered_ : nullptr,
                                              .functions = functions_.get(),
                                              .first_row = segments_->begin(s),
                                              .end_row = segments_->end(s),
                                              .columns = columns},
                    {.gpu = segments_->gpu(s)});
  };
  for (Index s = 0; s < y.count(); ++s)
    if (on_device_)
      call.template operator()<WorkerKind::gpu>(s);
    else
      call.template operator()<WorkerKind::cpu>(s);
  // Messages bring x to other ranks for this product alone.
  for (const Data* segment : all) segment->flush_remote_copies();
}

#define TESSERA_INSTANTIATE(T) template class UserOperator<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
