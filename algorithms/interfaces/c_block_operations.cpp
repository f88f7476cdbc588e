// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/block_permutation.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

template <class T>
std::span<const T> numbers_of(const void* v, Index length, std::string_view name) {
  if (length < 0) throw InvalidArgument("length", std::to_string(length), "at least 0");
  required(v, name, length);
  return {static_cast<const T*>(v), static_cast<std::size_t>(length)};
}

/// @throws InvalidArgument for an array of another length
template <class Numbers, class Out>
void give(const Numbers& numbers, Out* out, Index length) {
  if (length != static_cast<Index>(numbers.size()))
    throw InvalidArgument("length", std::to_string(length), std::to_string(numbers.size()));
  required(out, "v", length);
  std::copy(numbers.begin(), numbers.end(), out);
}

template <class T>
struct OtherPrecision;
template <>
struct OtherPrecision<float> {
  using Type = double;
};
template <>
struct OtherPrecision<double> {
  using Type = float;
};
template <class R>
struct OtherPrecision<std::complex<R>> {
  using Type = std::complex<typename OtherPrecision<R>::Type>;
};

/// A number of a matrix, which the caller has an address for. Collective.
template <class Number>
int number_of(const tessera_block_matrix* a, const Number& number) {
  return call_on(a, [&] { visit(a, "a", number); });
}

static_assert(static_cast<int>(ElementFunction::truncate) == TESSERA_ELEMENT_TRUNCATE);
static_assert(static_cast<int>(ElementFunction::artanh) == TESSERA_ELEMENT_ARTANH);

}  // namespace

int tessera_block_add(tessera_sequence* sequence, const void* alpha, tessera_block_matrix* a,
                      const void* beta, const tessera_block_matrix* b) {
  return in_sequence(sequence, a, [&](Sequence& in, auto& matrix, auto t) {
    using T = typename decltype(t)::type;
    add(in, number_at<T>(alpha), matrix, number_at<T>(beta), matrix_as<T>(b, "b"));
  });
}

int tessera_block_scale(tessera_sequence* sequence, const void* alpha, tessera_block_matrix* a) {
  return in_sequence(sequence, a, [&](Sequence& in, auto& matrix, auto t) {
    scale(in, number_at<typename decltype(t)::type>(alpha), matrix);
  });
}

int tessera_block_scale_by_vector(tessera_sequence* sequence, int side, const void* v, tessera_index length,
                                  tessera_block_matrix* a) {
  return in_sequence(sequence, a, [&](Sequence& in, auto& matrix, auto t) {
    using T = typename decltype(t)::type;
    if (side != 'L' && side != 'R') throw InvalidArgument("side", std::to_string(side), "L or R");
    scale_by_vector(in, static_cast<Side>(side), numbers_of<T>(v, length, "v"), matrix);
  });
}

int tessera_block_set_all(tessera_sequence* sequence, const void* value, tessera_block_matrix* a) {
  return in_sequence(sequence, a, [&](Sequence& in, auto& matrix, auto t) {
    set_all(in, number_at<typename decltype(t)::type>(value), matrix);
  });
}

int tessera_block_add_on_diagonal(tessera_sequence* sequence, const void* alpha, tessera_block_matrix* a) {
  return in_sequence(sequence, a, [&](Sequence& in, auto& matrix, auto t) {
    add_on_diagonal(in, number_at<typename decltype(t)::type>(alpha), matrix);
  });
}

int tessera_block_set_diagonal(tessera_sequence* sequence, const void* v, tessera_index length,
                               tessera_block_matrix* a) {
  return in_sequence(sequence, a, [&](Sequence& in, auto& matrix, auto t) {
    set_diagonal(in, numbers_of<typename decltype(t)::type>(v, length, "v"), matrix);
  });
}

int tessera_block_get_diagonal(const tessera_block_matrix* a, void* v, tessera_index length) {
  return number_of(a, [&](const auto& matrix, auto t) {
    give(get_diagonal(matrix), static_cast<typename decltype(t)::type*>(v), length);
  });
}

int tessera_block_function_of_elements(tessera_sequence* sequence, int function, const void* first,
                                       const void* second, tessera_block_matrix* a) {
  return in_sequence(sequence, a, [&](Sequence& in, auto& matrix, auto t) {
    using T = typename decltype(t)::type;
    if (function < TESSERA_ELEMENT_INVERSE || function > TESSERA_ELEMENT_TRUNCATE)
      throw InvalidArgument("function", std::to_string(function), "one of enum tessera_element_function");
    function_of_elements(in, static_cast<ElementFunction>(function), number_at<T>(first),
                         number_at<T>(second, T(0)), matrix);
  });
}

int tessera_block_copy(tessera_sequence* sequence, const tessera_block_matrix* a,
                       tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result,
                         [](Sequence& in, const auto& matrix, auto) { return copy(in, matrix); });
}

int tessera_block_convert(tessera_sequence* sequence, const tessera_block_matrix* a,
                          tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [](Sequence& in, const auto& matrix, auto t) {
    return convert<typename OtherPrecision<typename decltype(t)::type>::Type>(in, matrix);
  });
}

int tessera_block_transpose(tessera_sequence* sequence, int op, const tessera_block_matrix* a,
                            tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [&](Sequence& in, const auto& matrix, auto) {
    if (op_of(op) == Op::none) throw InvalidArgument("op", "N", "T or C");
    return transpose(in, matrix, op_of(op) == Op::adjoint);
  });
}

int tessera_block_desymmetrize(tessera_sequence* sequence, const tessera_block_matrix* a,
                               tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result,
                         [](Sequence& in, const auto& matrix, auto) { return desymmetrize(in, matrix); });
}

int tessera_block_redistribute(tessera_sequence* sequence, const tessera_block_matrix* a,
                               const tessera_block_layout* layout, tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [&](Sequence& in, const auto& matrix, auto) {
    return redistribute(in, matrix, required(layout, "layout").layout);
  });
}

int tessera_block_upper_triangle(tessera_sequence* sequence, const tessera_block_matrix* a, int cut_diagonal,
                                 tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [&](Sequence& in, const auto& matrix, auto) {
    return upper_triangle(in, matrix, cut_diagonal != 0);
  });
}

int tessera_block_diagonal(tessera_sequence* sequence, const tessera_block_matrix* a,
                           tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result,
                         [](Sequence& in, const auto& matrix, auto) { return block_diagonal(in, matrix); });
}

int tessera_block_diagonal_inverse(tessera_sequence* sequence, const tessera_block_matrix* a,
                                   tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [](Sequence& in, const auto& matrix, auto) {
    return block_diagonal_inverse(in, matrix);
  });
}

int tessera_block_diagonal_cholesky(tessera_sequence* sequence, const tessera_block_matrix* a,
                                    tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [](Sequence& in, const auto& matrix, auto) {
    return block_diagonal_cholesky(in, matrix);
  });
}

int tessera_block_diagonal_inverse_cholesky(tessera_sequence* sequence, const tessera_block_matrix* a,
                                            tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [](Sequence& in, const auto& matrix, auto) {
    return block_diagonal_inverse_cholesky(in, matrix);
  });
}

int tessera_block_hadamard(tessera_sequence* sequence, const tessera_block_matrix* a,
                           const tessera_block_matrix* b, tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [&](Sequence& in, const auto& matrix, auto t) {
    return hadamard_product(in, matrix, matrix_as<typename decltype(t)::type>(b, "b"));
  });
}

int tessera_block_permute(tessera_sequence* sequence, const tessera_block_matrix* a,
                          const tessera_index* rows, const tessera_index* cols,
                          tessera_block_matrix** result) {
  return new_in_sequence(sequence, a, result, [&](Sequence& in, const auto& matrix, auto) {
    return permute_blocks(in, matrix, numbers_of<Index>(rows, matrix.block_rows(), "rows"),
                          numbers_of<Index>(cols, matrix.block_cols(), "cols"));
  });
}

int tessera_block_filter(tessera_block_matrix* a, double eps, tessera_index* dropped) {
  return call_on(a, [&] {
    visit(a, "a", [&](auto& matrix, auto) {
      const Index number = filter(matrix, eps);
      if (dropped) *dropped = number;
    });
  });
}

int tessera_block_clear(tessera_block_matrix* a) {
  return call_on(a, [&] { visit(a, "a", [](auto& matrix, auto) { clear(matrix); }); });
}

int tessera_block_reserve(tessera_block_matrix* a, tessera_index count, const tessera_index* block_rows,
                          const tessera_index* block_cols) {
  return call_on(a, [&] {
    visit(a, "a", [&](auto& matrix, auto) {
      const auto rows = numbers_of<Index>(block_rows, count, "block_rows");
      const auto cols = numbers_of<Index>(block_cols, count, "block_cols");
      std::vector<BlockCoordinate> blocks;
      for (std::size_t k = 0; k < rows.size(); ++k) blocks.push_back({rows[k], cols[k]});
      reserve_blocks(matrix, std::span<const BlockCoordinate>(blocks));
    });
  });
}

int tessera_block_trace(const tessera_block_matrix* a, void* value) {
  return number_of(a, [&](const auto& matrix, auto t) {
    using T = typename decltype(t)::type;
    required(static_cast<T*>(value), "value") = trace(matrix);
  });
}

int tessera_block_dot(const tessera_block_matrix* a, const tessera_block_matrix* b, void* value) {
  return number_of(a, [&](const auto& matrix, auto t) {
    using T = typename decltype(t)::type;
    required(static_cast<T*>(value), "value") = dot(matrix, matrix_as<T>(b, "b"));
  });
}

int tessera_block_frobenius_norm(const tessera_block_matrix* a, double* value) {
  return number_of(a, [&](const auto& matrix, auto) { required(value, "value") = frobenius_norm(matrix); });
}

int tessera_block_max_abs_norm(const tessera_block_matrix* a, double* value) {
  return number_of(a, [&](const auto& matrix, auto) { required(value, "value") = max_abs_norm(matrix); });
}

int tessera_block_gershgorin_norm(const tessera_block_matrix* a, double* value) {
  return number_of(a, [&](const auto& matrix, auto) { required(value, "value") = gershgorin_norm(matrix); });
}

int tessera_block_column_norms(const tessera_block_matrix* a, double* values, tessera_index length) {
  return number_of(a, [&](const auto& matrix, auto) { give(column_norms(matrix), values, length); });
}

int tessera_block_checksum(const tessera_block_matrix* a, int by_position, double* value) {
  return number_of(
      a, [&](const auto& matrix, auto) { required(value, "value") = checksum(matrix, by_position != 0); });
}
