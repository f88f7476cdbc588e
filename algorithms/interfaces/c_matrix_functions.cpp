// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/interfaces/c_iterations.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

MatrixFunctionOptions options_of(const tessera_function_options* given) {
  if (!given) return {};
  return {.filter_eps = given->filter_eps,
          .order = given->order,
          .tolerance = given->tolerance,
          .iterations = given->iterations,
          .scaled = given->scaled != 0,
          .check = given->check != 0,
          .root = given->root,
          .monitor = monitor_of(given->monitor, given->monitor_user)};
}

/// A function whose value is a matrix: function(runtime, matrix, type) gives its result.
template <class Function>
int function_of(const tessera_block_matrix* a, tessera_iteration_report* report,
                tessera_block_matrix** result, const Function& function) {
  return call_on(a, [&] {
    required(result, "result") = nullptr;
    return visit(a, "a", [&](const auto& matrix, auto t) {
      auto found = function(matrix.runtime(), matrix, t);
      if (report) *report = report_of(found);
      if (found) *result = handle_of(std::move(found.value));
      return code_of(found.status());
    });
  });
}

}  // namespace

void tessera_function_options_init(tessera_function_options* options) {
  if (!options) return;
  const MatrixFunctionOptions chosen;
  *options = {.filter_eps = chosen.filter_eps,
              .order = chosen.order,
              .tolerance = chosen.tolerance,
              .iterations = chosen.iterations,
              .scaled = chosen.scaled,
              .check = chosen.check,
              .root = chosen.root,
              .monitor = nullptr,
              .monitor_user = nullptr};
}

int tessera_matrix_sign(const tessera_block_matrix* a, const tessera_function_options* options,
                        tessera_iteration_report* report, tessera_block_matrix** result) {
  return function_of(a, report, result, [&](Runtime& on, const auto& matrix, auto t) {
    return matrix_sign<typename decltype(t)::type>(on, {.a = matrix}, options_of(options));
  });
}

int tessera_inverse_factor(const tessera_block_matrix* a, const tessera_block_matrix* start,
                           const tessera_function_options* options, tessera_iteration_report* report,
                           tessera_block_matrix** result) {
  return function_of(a, report, result, [&](Runtime& on, const auto& matrix, auto t) {
    using T = typename decltype(t)::type;
    return inverse_factor<T>(on, {.a = matrix, .start = optional_matrix<T>(start, "start")},
                             options_of(options));
  });
}

int tessera_matrix_inverse(const tessera_block_matrix* a, const tessera_block_matrix* start,
                           const tessera_function_options* options, tessera_iteration_report* report,
                           tessera_block_matrix** result) {
  return function_of(a, report, result, [&](Runtime& on, const auto& matrix, auto t) {
    using T = typename decltype(t)::type;
    return matrix_inverse<T>(on, {.a = matrix, .start = optional_matrix<T>(start, "start")},
                             options_of(options));
  });
}

int tessera_matrix_square_roots(const tessera_block_matrix* a, const tessera_function_options* options,
                                tessera_iteration_report* report, tessera_block_matrix** root,
                                tessera_block_matrix** inverse_root) {
  return call_on(a, [&] {
    required(root, "root") = nullptr;
    required(inverse_root, "inverse_root") = nullptr;
    return visit(a, "a", [&](const auto& matrix, auto t) {
      auto found = matrix_square_roots<typename decltype(t)::type>(matrix.runtime(), {.a = matrix},
                                                                   options_of(options));
      if (report) *report = report_of(found);
      if (found) {
        *root = handle_of(std::move(found.root));
        *inverse_root = handle_of(std::move(found.inverse_root));
      }
      return code_of(found.status());
    });
  });
}

int tessera_matrix_inverse_root(const tessera_block_matrix* a, const tessera_function_options* options,
                                tessera_iteration_report* report, tessera_block_matrix** result) {
  return function_of(a, report, result, [&](Runtime& on, const auto& matrix, auto t) {
    return matrix_inverse_root<typename decltype(t)::type>(on, {.a = matrix}, options_of(options));
  });
}

int tessera_matrix_exponential(const tessera_block_matrix* a, const tessera_function_options* options,
                               tessera_iteration_report* report, tessera_block_matrix** result) {
  return function_of(a, report, result, [&](Runtime& on, const auto& matrix, auto t) {
    return matrix_exponential<typename decltype(t)::type>(on, {.a = matrix}, options_of(options));
  });
}

int tessera_log_determinant(const tessera_block_matrix* a, const tessera_function_options* options,
                            tessera_iteration_report* report, double* value) {
  return call_on(a, [&] {
    return visit(a, "a", [&](const auto& matrix, auto t) {
      const LogDeterminantResult found =
          log_determinant<typename decltype(t)::type>(matrix.runtime(), {.a = matrix}, options_of(options));
      if (report) *report = report_of(found);
      required(value, "value") = found.value;
      return code_of(found.status());
    });
  });
}

int tessera_purify(const tessera_block_matrix* density, const tessera_block_matrix* overlap,
                   const tessera_function_options* options, tessera_iteration_report* report,
                   tessera_block_matrix** result) {
  return function_of(density, report, result, [&](Runtime& on, const auto& matrix, auto t) {
    using T = typename decltype(t)::type;
    return purify<T>(on, {.density = matrix, .overlap = optional_matrix<T>(overlap, "overlap")},
                     options_of(options));
  });
}
