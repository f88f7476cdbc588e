// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <new>

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/version.hpp>

namespace tessera::c_interface {

namespace {

/// Of the calling thread's last failure.
struct LastFailure {
  std::string message, stage;
  Index index = 0;
  int callback_code = 0;
};
thread_local LastFailure last;

/// Never throws: without memory for the words the code alone must do.
int remember(int code, const std::string& message, const std::string& stage = {}, Index index = 0,
             int callback_code = 0) noexcept {
  try {
    last = {message, stage, index, callback_code};
  } catch (...) {
    last.message.clear();
  }
  return code;
}

}  // namespace

CallbackFailed::CallbackFailed(std::string_view function, int code)
    : std::runtime_error(std::string(function) + " has returned " + std::to_string(code)), code_(code) {}

int code_of(const Status& status) noexcept {
  if (status.ok()) return TESSERA_SUCCESS;
  try {
    return remember(static_cast<int>(status.code), status.message(), status.stage, status.index);
  } catch (...) {
    return static_cast<int>(status.code);
  }
}

int code_of_exception() noexcept {
  try {
    throw;
  } catch (const CallbackFailed& error) {
    return remember(TESSERA_CALLBACK_FAILED, error.what(), {}, 0, error.code());
  } catch (const InvalidArgument& error) {
    return remember(TESSERA_INVALID_ARGUMENT, error.what());
  } catch (const InputError& error) {
    return remember(TESSERA_INPUT_ERROR, error.what());
  } catch (const RuntimeError& error) {
    return remember(TESSERA_RUNTIME_ERROR, error.what());
  } catch (const RemoteError& error) {
    return remember(TESSERA_REMOTE_ERROR, error.what());
  } catch (const std::bad_alloc&) {
    return remember(TESSERA_OUT_OF_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return remember(TESSERA_OTHER_ERROR, error.what());
  } catch (...) {
    return remember(TESSERA_OTHER_ERROR, "something was thrown that is no exception");
  }
}

Runtime& runtime_of(const tessera_block_matrix* matrix) {
  if (!matrix) return default_runtime();
  return std::visit(
      [](const auto& typed) -> Runtime& { return typed.valid() ? typed.runtime() : default_runtime(); },
      matrix->matrix);
}

void refuse_type(int type, std::string_view expected) {
  throw InvalidArgument("type", std::to_string(type), expected);
}

namespace {

std::string shown(int letter) {
  return letter > ' ' && letter < 127 ? std::string(1, static_cast<char>(letter)) : std::to_string(letter);
}

}  // namespace

Op op_of(int letter, std::string_view name) {
  switch (letter) {
    case 'N':
      return Op::none;
    case 'T':
      return Op::transpose;
    case 'C':
      return Op::adjoint;
  }
  throw InvalidArgument(name, shown(letter), "N, T or C");
}

Symmetry symmetry_of(int letter) {
  switch (letter) {
    case 'N':
      return Symmetry::none;
    case 'S':
      return Symmetry::symmetric;
    case 'A':
      return Symmetry::antisymmetric;
    case 'H':
      return Symmetry::hermitian;
  }
  throw InvalidArgument("symmetry", shown(letter), "N, S, A or H");
}

Uplo uplo_of(int letter, bool general) {
  switch (letter) {
    case 'L':
    case 'l':
      return Uplo::lower;
    case 'U':
    case 'u':
      return Uplo::upper;
    case 'A':
      if (general) return Uplo::general;
  }
  throw InvalidArgument("uplo", shown(letter), general ? "L, U or A" : "L or U");
}

}  // namespace tessera::c_interface

using namespace tessera;
using namespace tessera::c_interface;

const char* tessera_code_name(int code) {
  switch (code) {
    case TESSERA_INVALID_ARGUMENT:
      return "invalid_argument";
    case TESSERA_INPUT_ERROR:
      return "input_error";
    case TESSERA_RUNTIME_ERROR:
      return "runtime_error";
    case TESSERA_OUT_OF_MEMORY:
      return "out_of_memory";
    case TESSERA_REMOTE_ERROR:
      return "remote_error";
    case TESSERA_CALLBACK_FAILED:
      return "callback_failed";
    case TESSERA_OTHER_ERROR:
      return "other_error";
  }
  return code >= 0 && code <= TESSERA_NO_GAP ? to_string(static_cast<StatusCode>(code)) : "unknown";
}

const char* tessera_last_message(void) {
  return last.message.c_str();
}
const char* tessera_last_stage(void) {
  return last.stage.c_str();
}
tessera_index tessera_last_index(void) {
  return last.index;
}
int tessera_last_callback_code(void) {
  return last.callback_code;
}

const char* tessera_version(void) {
  return TESSERA_VERSION_STRING;
}
const char* tessera_commit(void) {
  return TESSERA_VERSION_COMMIT;
}
int tessera_version_number(void) {
  return 1000000 * TESSERA_VERSION_MAJOR + 1000 * TESSERA_VERSION_MINOR + TESSERA_VERSION_PATCH;
}

size_t tessera_type_bytes(int type) {
  switch (type) {
    case TESSERA_FLOAT:
      return 4;
    case TESSERA_DOUBLE:
    case TESSERA_COMPLEX_FLOAT:
      return 8;
    case TESSERA_COMPLEX_DOUBLE:
      return 16;
  }
  return 0;
}

int tessera_test(const tessera_completion* completion, int* done) {
  return call([&] { required(done, "done") = required(completion, "completion").ready(); });
}

int tessera_wait(tessera_completion* completion) {
  return call([&] { return required(completion, "completion").wait(); });
}

void tessera_completion_free(tessera_completion* completion) {
  delete completion;
}
