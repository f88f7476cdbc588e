// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/block_sparse/root_stream.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

void stream_from_root(const Runtime& runtime,
                      const std::function<void(const std::function<void(Bytes)>& emit)>& produce,
                      const std::function<void(Bytes)>& consume) {
  constexpr Index end = 0, failure = -1;
  Index size = end;
  if (runtime.rank() == 0) {
    std::exception_ptr caught;
    bool sending = false;
    try {
      produce([&](Bytes piece) {
        size = static_cast<Index>(piece.size());
        if (size == 0) return;
        sending = true;
        runtime.broadcast(&size, sizeof size, 0);
        runtime.broadcast(const_cast<std::byte*>(piece.data()), size, 0);  // the root's is only read
        sending = false;
        consume(piece);
      });
    } catch (...) {
      if (sending) throw;  // the others wait for that message and poll the alarm
      caught = std::current_exception();
    }
    size = caught ? failure : end;
    runtime.broadcast(&size, sizeof size, 0);
    if (caught) throw_everywhere(runtime, 0, caught);
    return;
  }
  std::vector<std::byte> piece;
  for (;;) {
    runtime.broadcast(&size, sizeof size, 0);
    if (size == end) return;
    if (size == failure) throw_everywhere(runtime, 0, nullptr);
    piece.resize(static_cast<std::size_t>(size));
    runtime.broadcast(piece.data(), size, 0);
    consume(piece);
  }
}

void on_root(const Runtime& runtime, const std::function<void()>& work) {
  stream_from_root(
      runtime, [&](const auto&) { work(); }, [](Bytes) {});
}

}  // namespace tessera::detail
