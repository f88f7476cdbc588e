// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {
namespace {

enum class ErrorKind : std::int32_t { argument, input, runtime, other };

/// What an exception of the library is made of.
struct ErrorParts {
  ErrorKind kind = ErrorKind::other;
  std::string texts[3];
  Index line = 0;
};

ErrorParts parts_of(const std::exception_ptr& caught) {
  try {
    std::rethrow_exception(caught);
  } catch (const InvalidArgument& error) {
    return {ErrorKind::argument, {error.name(), error.value(), error.expected()}};
  } catch (const InputError& error) {
    const std::string all = error.what(), before = InputError(error.file(), error.line(), "").what();
    return {ErrorKind::input, {error.file(), all.substr(before.size())}, error.line()};
  } catch (const RuntimeError& error) {
    return {ErrorKind::runtime, {error.what()}};
  } catch (const std::exception& error) {
    return {ErrorKind::other, {error.what()}};
  } catch (...) {
    return {ErrorKind::other, {"unknown failure on another rank"}};
  }
}

[[noreturn]] void throw_parts(const ErrorParts& parts) {
  const auto& [first, second, third] = parts.texts;
  switch (parts.kind) {
    case ErrorKind::argument:
      throw InvalidArgument(first, second, third);
    case ErrorKind::input:
      throw InputError(first, parts.line, second);
    case ErrorKind::runtime:
      throw RuntimeError(first);
    case ErrorKind::other:
      throw Error(first);
  }
  throw Error(first);
}

std::exception_ptr failure_of(const std::function<void()>& check) {
  try {
    check();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// The lowest rank with a failure, or size() if there is none, and whether the hashes are equal.
struct Votes {
  int failed;
  bool equal;
};

Votes vote(const Runtime& runtime, bool failed, std::uint64_t arguments) {
  const auto high = double(arguments >> 32), low = double(arguments & 0xFFFFFFFFU);
  double votes[] = {-double(failed ? runtime.rank() : runtime.size()), high, -high, low, -low};
  runtime.all_reduce_max(votes, 5);
  return {static_cast<int>(-votes[0]), votes[1] == -votes[2] && votes[3] == -votes[4]};
}

}  // namespace

void throw_everywhere(const Runtime& runtime, int root, const std::exception_ptr& caught) {
  const bool here = runtime.rank() == root;
  ErrorParts parts;
  if (here) parts = parts_of(caught);
  runtime.broadcast(&parts.kind, sizeof parts.kind, root);
  runtime.broadcast(&parts.line, sizeof parts.line, root);
  for (std::string& text : parts.texts) {
    auto size = static_cast<Index>(text.size());
    runtime.broadcast(&size, sizeof size, root);
    text.resize(static_cast<std::size_t>(size));
    runtime.broadcast(text.data(), size, root);
  }
  if (here) std::rethrow_exception(caught);
  throw_parts(parts);
}

void agree(const Runtime& runtime, std::uint64_t arguments, const std::function<void()>& check) {
  if (runtime.size() == 1) return check();
  const std::exception_ptr caught = failure_of(check);
  const Votes votes = vote(runtime, caught != nullptr, arguments);
  if (votes.failed < runtime.size()) throw_everywhere(runtime, votes.failed, caught);
  if (!votes.equal) throw InvalidArgument("arguments", "not the same on all ranks", "equal ones");
}

ComingAgreement::~ComingAgreement() {
  if (!runtime_ || runtime_->size() == 1 || std::uncaught_exceptions() <= exceptions_) return;
  const std::exception_ptr caught = caught_;
  failure_of([&] {
    agree(*runtime_, 0, [&] {
      if (caught) std::rethrow_exception(caught);
      throw RuntimeError("another rank has given up");
    });
  });
}

}  // namespace tessera
