// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/lobpcg/user_operator.hpp>
#include <tessera/algorithms/lobpcg/vector_checks.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {

template <class T>
UserOperator<T>::UserOperator(Runtime& runtime, std::shared_ptr<const RowSegments> segments,
                              UserDeviceFunction<T> device, UserFunction<T> host, double norm_bound)
    : segments_(std::move(segments)), on_device_(device && runtime.gpus() > 0), norm_bound_(norm_bound) {
  if (!segments_) throw InvalidArgument("segments", "null", "a cut of the rows");
  if (!host && !on_device_)
    throw InvalidArgument("function", device ? "one for GPUs, without GPUs on every rank" : "empty",
                          "a function for the host");
  functions_ = std::make_shared<const UserFunctions<T>>(UserFunctions<T>{std::move(host), std::move(device)});
  if (segments_->count() > 1)
    gathered_ = Data::scratch(runtime, sizeof(T) * static_cast<std::size_t>(segments_->rows()) *
                                           static_cast<std::size_t>(most_block_columns));
}

template <class T>
UserOperator<T>::UserOperator(Runtime& runtime, std::shared_ptr<const RowSegments> segments,
                              UserFunction<T> function, double norm_bound)
    : UserOperator(runtime, std::move(segments), UserDeviceFunction<T>(), std::move(function), norm_bound) {}

template <class T>
UserOperator<T>::UserOperator(Runtime& runtime, Index order,
                              std::function<void(Index, Index, const T*, Index, T*, Index)> function,
                              double norm_bound)
    : UserOperator(runtime, RowSegments::even(runtime, order, 1),
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
  check_operands(*segments_, x, y, columns);
  sequence.keep(std::const_pointer_cast<UserFunctions<T>>(functions_));
  std::vector<const Data*> all;
  for (Index s = 0; s < x.count(); ++s) all.push_back(&x.segment(s));
  for (Index s = 0; s < y.count(); ++s)
    insert_user_function<T>(sequence, 0, {functions_.get(), segments_->begin(s), segments_->end(s), columns},
                            on_device_, all, y.segment(s), gathered_, segments_->gpu(s));
  // Messages bring x to other ranks for this product alone.
  for (const Data* segment : all) segment->flush_remote_copies();
}

template class UserOperator<float>;
template class UserOperator<double>;

}  // namespace tessera
