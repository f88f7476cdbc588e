// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// Throws what every rank throws here, since all decide by the same numbers: the Runtime stays usable.
template <class Exception>
[[noreturn]] void throw_on_all_ranks(const Runtime& runtime, Exception exception) {
  throw_agreed(runtime, std::make_exception_ptr(std::move(exception)));
}

/// For calls that have no other way to report a failure of their tasks.
/// @throws RuntimeError, on all ranks, with the status's message unless it is a success
inline void require_success(const Runtime& runtime, const Status& status) {
  if (!status.ok()) throw_on_all_ranks(runtime, RuntimeError(status.message()));
}

/// Waits for tasks that all must succeed, as Sequence::wait() does.
inline void finish(Sequence& sequence) {
  require_success(sequence.runtime(), sequence.wait());
}

}  // namespace tessera::detail
