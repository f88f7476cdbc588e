// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include <tessera/runtime.hpp>

namespace tessera::detail {

using Bytes = std::span<const std::byte>;

/// Rank 0 runs `produce(emit)`, which calls emit(piece) any number of times; every rank, 0 too, runs
/// consume(piece) for each, in this order. What the producer throws is thrown on every rank, after the pieces
/// before it. What a consumer throws ends the call on all ranks by its guard (agreement.hpp). Collective.
void stream_from_root(const Runtime& runtime,
                      const std::function<void(const std::function<void(Bytes)>& emit)>& produce,
                      const std::function<void(Bytes)>& consume);

/// Rank 0 does what may fail, for its input say; a failure is thrown on every rank. Collective.
void on_root(const Runtime& runtime, const std::function<void()>& work);

}  // namespace tessera::detail
