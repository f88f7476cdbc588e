// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <exception>
#include <string>

#include <tessera/algorithms/block_sparse/root_stream.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {
namespace {

std::string broadcast_text(const Runtime& runtime, std::string text) {
  auto size = static_cast<Index>(text.size());
  runtime.broadcast(&size, sizeof size, 0);
  text.resize(static_cast<std::size_t>(size));
  runtime.broadcast(text.data(), size, 0);
  return text;
}

/// On every rank what rank 0 has caught.
[[noreturn]] void throw_everywhere(const Runtime& runtime, const std::exception_ptr& caught) {
  std::string file, message;
  Index line = -1;  // not an InputError
  if (caught) try {
      std::rethrow_exception(caught);
    } catch (const InputError& error) {
      file = error.file();
      line = error.line();
      message = std::string(error.what()).substr(std::string(InputError(file, line, "").what()).size());
    } catch (const std::exception& error) {
      message = error.what();
    } catch (...) {
      message = "unknown failure on rank 0";
    }
  file = broadcast_text(runtime, file);
  message = broadcast_text(runtime, message);
  runtime.broadcast(&line, sizeof line, 0);
  if (caught) std::rethrow_exception(caught);
  if (line >= 0) throw InputError(file, line, message);
  throw Error(message);
}

}  // namespace

void stream_from_root(const Runtime& runtime,
                      const std::function<void(const std::function<void(Bytes)>& emit)>& produce,
                      const std::function<void(Bytes)>& consume) {
  constexpr Index end = 0, failure = -1;
  Index size = end;
  if (runtime.rank() == 0) {
    std::exception_ptr caught;
    try {
      produce([&](Bytes piece) {
        size = static_cast<Index>(piece.size());
        if (size == 0) return;
        runtime.broadcast(&size, sizeof size, 0);
        runtime.broadcast(const_cast<std::byte*>(piece.data()), size, 0);  // the root's is only read
        consume(piece);
      });
    } catch (...) {
      caught = std::current_exception();
    }
    size = caught ? failure : end;
    runtime.broadcast(&size, sizeof size, 0);
    if (caught) throw_everywhere(runtime, caught);
    return;
  }
  std::vector<std::byte> piece;
  for (;;) {
    runtime.broadcast(&size, sizeof size, 0);
    if (size == end) return;
    if (size == failure) throw_everywhere(runtime, nullptr);
    piece.resize(static_cast<std::size_t>(size));
    runtime.broadcast(piece.data(), size, 0);
    consume(piece);
  }
}

void on_root(const Runtime& runtime, const std::function<void()>& work) {
  stream_from_root(
      runtime, [&](const auto&) { work(); }, [](Bytes) {});
}

}  // namespace tessera
