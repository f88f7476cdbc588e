// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/error.hpp>
#include <tessera/runtime/error_parts.hpp>

namespace tessera::detail {

ErrorParts parts_of(const std::exception_ptr& caught, int rank) {
  try {
    std::rethrow_exception(caught);
  } catch (const InvalidArgument& error) {
    return {ErrorKind::argument, rank, 0, {error.name(), error.value(), error.expected()}};
  } catch (const InputError& error) {
    const std::string all = error.what(), before = InputError(error.file(), error.line(), "").what();
    return {ErrorKind::input, rank, error.line(), {error.file(), all.substr(before.size())}};
  } catch (const RuntimeError& error) {
    return {ErrorKind::runtime, rank, 0, {error.what()}};
  } catch (const RemoteError& error) {
    return {ErrorKind::other, error.rank(), 0, {error.message()}};
  } catch (const Error& error) {
    return {ErrorKind::error, rank, 0, {error.what()}};
  } catch (...) {
    return {ErrorKind::other, rank, 0, {text_of(caught)}};
  }
}

void throw_parts(const ErrorParts& parts) {
  const auto& [first, second, third] = parts.texts;
  switch (parts.kind) {
    case ErrorKind::argument:
      throw InvalidArgument(first, second, third);
    case ErrorKind::input:
      throw InputError(first, parts.line, second);
    case ErrorKind::runtime:
      throw RuntimeError(first);
    case ErrorKind::error:
      throw Error(first);
    case ErrorKind::other:
      break;
  }
  throw RemoteError(parts.rank, first);
}

}  // namespace tessera::detail
