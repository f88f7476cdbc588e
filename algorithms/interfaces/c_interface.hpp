// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <tessera.h>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/completion.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime.hpp>
#include <tessera/sequence.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

/// @file
/// What the functions of the C interface are written with: handles, failures as codes, scalar types at run time.

/// What the handles of the C interface stand for.
struct tessera_runtime {
  std::unique_ptr<tessera::Runtime> runtime;
};
struct tessera_sequence {
  std::unique_ptr<tessera::Sequence> sequence;
};
struct tessera_block_layout {
  tessera::Runtime* runtime;
  tessera::BlockLayout layout;
};
struct tessera_block_matrix {
  std::variant<tessera::BlockSparseMatrix<float>, tessera::BlockSparseMatrix<double>,
               tessera::BlockSparseMatrix<std::complex<float>>,
               tessera::BlockSparseMatrix<std::complex<double>>>
      matrix;
};
struct tessera_completion {
  virtual ~tessera_completion() = default;
  virtual bool ready() const = 0;
  /// Waits, and fills in the results. @return the code of how it has ended
  virtual int wait() = 0;
};

namespace tessera::c_interface {

/// A function of the caller's has returned a code other than 0. No Error of the library, so that other ranks throw a
/// RemoteError, as for what functions of C++ callers throw.
class CallbackFailed : public std::runtime_error {
 public:
  CallbackFailed(std::string_view function, int code);
  int code() const noexcept { return code_; }

 private:
  int code_;
};
/// @throws CallbackFailed for another code than 0
inline void require_callback(std::string_view function, int code) {
  if (code != 0) throw CallbackFailed(function, code);
}

/// Remembers how a computation has ended for tessera_last_message. @return the code
int code_of(const Status& status) noexcept;
/// The same of the exception that is being handled.
int code_of_exception() noexcept;

/// Does `work`, which returns nothing or a code. @return the code of what it has thrown, else that
template <class Work>
int call(const Work& work) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(work())>)
      work();
    else
      return work();
    return TESSERA_SUCCESS;
  } catch (...) {
    return code_of_exception();
  }
}

/// @throws InvalidArgument for a null pointer
template <class Object>
Object& required(Object* object, std::string_view name) {
  if (!object) throw InvalidArgument(name, "null", "an address");
  return *object;
}
inline void required(const void* object, std::string_view name, Index count) {
  if (!object && count > 0) throw InvalidArgument(name, "null", "an address");
}
inline std::string required(const char* text, std::string_view name) {
  if (!text) throw InvalidArgument(name, "null", "a text");
  return text;
}

inline Runtime& runtime_of(tessera_runtime* runtime) {
  return runtime ? *runtime->runtime : default_runtime();
}
/// Where a matrix lives; of none where others may wait for this rank.
Runtime& runtime_of(const tessera_block_matrix* matrix);
/// The same of an operator.
Runtime& runtime_of(const tessera_operator* a);

/// `call` of what all ranks do together: whatever it throws on a rank, no other rank waits for that one.
template <class Where, class Work>
int call_on(const Where& where, const Work& work) noexcept {
  return call([&] { return guarded(runtime_of(where), work); });
}

/// @throws InvalidArgument for what is no scalar type
[[noreturn]] void refuse_type(int type, std::string_view expected);
/// Calls work(std::type_identity<T>{}), T of the number.
template <class Work>
decltype(auto) for_type(int type, const Work& work) {
  switch (type) {
    case TESSERA_FLOAT:
      return work(std::type_identity<float>{});
    case TESSERA_DOUBLE:
      return work(std::type_identity<double>{});
    case TESSERA_COMPLEX_FLOAT:
      return work(std::type_identity<std::complex<float>>{});
    case TESSERA_COMPLEX_DOUBLE:
      return work(std::type_identity<std::complex<double>>{});
  }
  refuse_type(type, "one of TESSERA_FLOAT, TESSERA_DOUBLE, TESSERA_COMPLEX_FLOAT and TESSERA_COMPLEX_DOUBLE");
}
/// The same for real types.
template <class Work>
decltype(auto) for_real_type(int type, const Work& work) {
  switch (type) {
    case TESSERA_FLOAT:
      return work(std::type_identity<float>{});
    case TESSERA_DOUBLE:
      return work(std::type_identity<double>{});
  }
  refuse_type(type, "TESSERA_FLOAT or TESSERA_DOUBLE");
}

/// The number at an address of the caller's; `absent` for a null pointer.
template <class T>
T number_at(const void* address, T absent = T(1)) {
  return address ? *static_cast<const T*>(address) : absent;
}

/// @throws InvalidArgument for other letters
Op op_of(int letter, std::string_view name = "op");
Symmetry symmetry_of(int letter);
Uplo uplo_of(int letter, bool general = false);

// Block-sparse matrices.

template <class T>
const BlockSparseMatrix<T>& matrix_as(const tessera_block_matrix* matrix, std::string_view name) {
  const auto* typed = std::get_if<BlockSparseMatrix<T>>(&required(matrix, name).matrix);
  if (!typed) throw InvalidArgument(name, "of another scalar type", "all matrices of one type");
  return *typed;
}
template <class T>
BlockSparseMatrix<T>& matrix_as(tessera_block_matrix* matrix, std::string_view name) {
  return const_cast<BlockSparseMatrix<T>&>(
      matrix_as<T>(static_cast<const tessera_block_matrix*>(matrix), name));
}
/// Null for a null pointer.
template <class T>
const BlockSparseMatrix<T>* optional_matrix(const tessera_block_matrix* matrix, std::string_view name) {
  return matrix ? &matrix_as<T>(matrix, name) : nullptr;
}
/// Calls work(matrix, std::type_identity<T>{}), T its scalar type.
template <class Matrix, class Work>
decltype(auto) visit(Matrix* matrix, std::string_view name, const Work& work) {
  return std::visit(
      [&]<class Typed>(Typed& typed) {
        return [&]<class T>(const BlockSparseMatrix<T>*) {
          return work(typed, std::type_identity<T>{});
        }(&typed);
      },
      required(matrix, name).matrix);
}
/// A handle of its own.
template <class T>
tessera_block_matrix* handle_of(BlockSparseMatrix<T>&& matrix) {
  return new tessera_block_matrix{std::move(matrix)};
}
/// The same of one that may not have been made: null then.
template <class T>
tessera_block_matrix* optional_handle(BlockSparseMatrix<T>&& matrix) {
  return matrix.valid() ? handle_of(std::move(matrix)) : nullptr;
}

/// A matrix that shares another one's values.
template <class T>
BlockSparseMatrix<T> sharing(const BlockSparseMatrix<T>& matrix) {
  std::vector<std::shared_ptr<const Data>> panels;
  for (Index p = 0; p < matrix.pattern().panels(); ++p) panels.push_back(matrix.shared_panel(p));
  return BlockSparseMatrix<T>(matrix.pattern_pointer(), std::move(panels));
}

/// Submits to the caller's sequence, or to one of its own on A's Runtime, which it waits for: work(sequence, a, type).
template <class Matrix, class Work>
int in_sequence(tessera_sequence* sequence, Matrix* a, const Work& work) noexcept {
  return call_on(a, [&] {
    return visit(a, "a", [&](auto& matrix, auto type) {
      if (sequence) {
        work(*sequence->sequence, matrix, type);
        return static_cast<int>(TESSERA_SUCCESS);
      }
      Sequence own(matrix.runtime());
      work(own, matrix, type);
      return code_of(own.wait());
    });
  });
}
/// The same of an operation that gives a matrix, which becomes the caller's.
template <class Work>
int new_in_sequence(tessera_sequence* sequence, const tessera_block_matrix* a, tessera_block_matrix** result,
                    const Work& work) noexcept {
  const int code = in_sequence(sequence, a, [&](Sequence& in, const auto& matrix, auto type) {
    required(result, "result") = nullptr;
    *result = handle_of(work(in, matrix, type));
  });
  if (code != TESSERA_SUCCESS && result) delete std::exchange(*result, nullptr);
  return code;
}

/// A completion that holds what the submitting call has returned; `deliver(result)` fills in the caller's.
template <class Result, class Deliver>
class DeliveredCompletion final : public tessera_completion {
 public:
  DeliveredCompletion(Completion<Result> completion, Deliver deliver)
      : completion_(std::move(completion)), deliver_(std::move(deliver)) {}
  bool ready() const override { return delivered_ || completion_.ready(); }
  int wait() override {
    if (!delivered_) {
      code_ = call([&] {
        completion_.wait();
        return deliver_(completion_);
      });
      delivered_ = true;
    }
    return code_;
  }

 private:
  Completion<Result> completion_;
  Deliver deliver_;
  bool delivered_ = false;
  int code_ = 0;
};

/// Gives the caller a completion, or waits where `out` is null.
template <class Result, class Deliver>
int deliver(Completion<Result> completion, tessera_completion** out, Deliver fill_in) {
  auto own =
      std::make_unique<DeliveredCompletion<Result, Deliver>>(std::move(completion), std::move(fill_in));
  if (!out) return own->wait();
  *out = own.release();
  return TESSERA_SUCCESS;
}

}  // namespace tessera::c_interface
