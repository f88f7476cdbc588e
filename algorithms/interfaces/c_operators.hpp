// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/lobpcg.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/sparse_matrix.hpp>

/// What the handles of operators and preconditioners hold.
namespace tessera::c_interface {

/// T's number with parts of R.
template <class T, class R>
using WithParts = std::conditional_t<is_complex<T>, std::complex<R>, R>;

/// An operator on vectors of T. Matrices know their diagonals and how to make an operator's FOM preconditioner.
template <class T>
struct TypedOperator {
  std::shared_ptr<SymmetricOperator<T>> linear{};
  std::shared_ptr<const SymmetricRows> rows{};  ///< of a matrix: for `like`
  std::shared_ptr<CsbMatrix<WithParts<T, float>, T>> stored_float{};
  std::shared_ptr<CsbMatrix<WithParts<T, double>, T>>
      stored_double{};  ///< not of vectors in single precision
};

}  // namespace tessera::c_interface

struct tessera_operator {
  std::variant<tessera::c_interface::TypedOperator<float>, tessera::c_interface::TypedOperator<double>,
               tessera::c_interface::TypedOperator<std::complex<float>>,
               tessera::c_interface::TypedOperator<std::complex<double>>>
      typed;
  tessera::Runtime* runtime;
};
struct tessera_preconditioner {
  std::variant<std::shared_ptr<tessera::Preconditioner<float>>,
               std::shared_ptr<tessera::Preconditioner<double>>,
               std::shared_ptr<tessera::Preconditioner<std::complex<float>>>,
               std::shared_ptr<tessera::Preconditioner<std::complex<double>>>>
      typed;
};

namespace tessera::c_interface {

/// Calls work(typed operator, std::type_identity<T>{}).
template <class Work>
decltype(auto) with_operator(const tessera_operator* a, std::string_view name, const Work& work) {
  return std::visit(
      [&]<class T>(const TypedOperator<T>& typed) { return work(typed, std::type_identity<T>{}); },
      required(a, name).typed);
}

}  // namespace tessera::c_interface
