// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/multiply.hpp>
#include <tessera/multiply_vectors.hpp>
#include <tessera/panel_vectors.hpp>
#include <tessera/spectral_bounds.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

constexpr Index no_end = std::numeric_limits<Index>::max();

MultiplyOptions options_of(const tessera_multiply_options* given) {
  if (!given) return {};
  const auto end = [](Index e) { return e == -1 ? no_end : e; };
  MultiplyOptions options;
  options.filter_eps = given->filter_eps;
  options.filter = given->at_least ? ProductFilterRule::at_least : ProductFilterRule::exact;
  options.retain_sparsity = given->retain_sparsity != 0;
  options.reuse_plan = given->reuse_plan != 0;
  options.result_on_host = given->result_on_host != 0;
  options.limits = {given->first_row,    end(given->end_row), given->first_col,
                    end(given->end_col), given->first_inner,  end(given->end_inner)};
  options.steps = given->steps;
  return options;
}

int multiply_into(const void* alpha, int op_a, const tessera_block_matrix* a, int op_b,
                  const tessera_block_matrix* b, const void* beta, tessera_block_matrix* c,
                  const tessera_multiply_options* options, tessera_multiply_result* result,
                  tessera_completion** completion) {
  return visit(c, "c", [&](auto& product, auto t) {
    using T = typename decltype(t)::type;
    const ProductProblem<T> problem{.alpha = number_at<T>(alpha),
                                    .a = {matrix_as<T>(a, "a"), op_of(op_a, "op_a")},
                                    .b = {matrix_as<T>(b, "b"), op_of(op_b, "op_b")},
                                    .beta = number_at<T>(beta, T(0)),
                                    .c = product};
    return deliver(submit_multiply<T>(product.runtime(), problem, options_of(options)), completion,
                   [result](Completion<MultiplyResult>& done) {
                     const MultiplyResult& did = done.result();
                     if (result)
                       *result = {.products = did.products,
                                  .flop = did.flop,
                                  .filtered_products = did.filtered_products,
                                  .filtered_blocks = did.filtered_blocks,
                                  .plan_reused = did.plan_reused,
                                  .seconds = did.seconds};
                     return code_of(done.status());
                   });
  });
}

}  // namespace

void tessera_multiply_options_init(tessera_multiply_options* options) {
  if (!options) return;
  *options = {};
  options->reuse_plan = 1;
  options->end_row = options->end_col = options->end_inner = -1;
}

int tessera_multiply(const void* alpha, int op_a, const tessera_block_matrix* a, int op_b,
                     const tessera_block_matrix* b, const void* beta, tessera_block_matrix* c,
                     const tessera_multiply_options* options, tessera_multiply_result* result) {
  return call_on(c,
                 [&] { return multiply_into(alpha, op_a, a, op_b, b, beta, c, options, result, nullptr); });
}

int tessera_submit_multiply(const void* alpha, int op_a, const tessera_block_matrix* a, int op_b,
                            const tessera_block_matrix* b, const void* beta, tessera_block_matrix* c,
                            const tessera_multiply_options* options, tessera_multiply_result* result,
                            tessera_completion** completion) {
  return call_on(c, [&] {
    required(completion, "completion") = nullptr;
    return multiply_into(alpha, op_a, a, op_b, b, beta, c, options, result, completion);
  });
}

int tessera_block_multiply_vectors(const void* alpha, int op, const tessera_block_matrix* a,
                                   tessera_index width, const void* x, tessera_index ldx, const void* beta,
                                   void* y, tessera_index ldy) {
  return call_on(a, [&] {
    return visit(a, "a", [&](const auto& matrix, auto t) {
      using T = typename decltype(t)::type;
      const bool straight = op_of(op) == Op::none;
      const auto from = straight ? column_vectors(matrix, width) : row_vectors(matrix, width);
      const auto to = straight ? row_vectors(matrix, width) : column_vectors(matrix, width);
      const T factor = number_at<T>(beta, T(0));
      from.set(static_cast<const T*>(x), ldx);
      if (factor != T(0)) to.set(static_cast<const T*>(y), ldy);
      Sequence sequence(matrix.runtime());
      multiply_vectors(sequence, number_at<T>(alpha), matrix, op_of(op), from, factor, to);
      const Status status = sequence.wait();
      if (status) to.get(static_cast<T*>(y), ldy);
      return code_of(status);
    });
  });
}

int tessera_gershgorin_bounds(const tessera_block_matrix* a, double* lower, double* upper) {
  return call_on(a, [&] {
    visit(a, "a", [&](const auto& matrix, auto) {
      const SpectralInterval bounds = gershgorin_bounds(matrix);
      required(lower, "lower") = bounds.lower;
      required(upper, "upper") = bounds.upper;
    });
  });
}

int tessera_extremal_eigenvalues(const tessera_block_matrix* a, double tolerance, tessera_index max_products,
                                 uint64_t seed, tessera_extremal_result* result) {
  return call_on(a, [&] {
    return visit(a, "a", [&](const auto& matrix, auto t) {
      ExtremalOptions options{.seed = seed};
      if (tolerance != 0) options.tolerance = tolerance;
      if (max_products != 0) options.max_products = max_products;
      const ExtremalResult found = extremal_eigenvalues<typename decltype(t)::type>({.a = matrix}, options);
      const SpectralEnd &low = found.lowest, &high = found.highest;
      required(result, "result") = {low.value,     low.residual, low.bound,       low.safe_bound, high.value,
                                    high.residual, high.bound,   high.safe_bound, found.products};
      return code_of(found.status());
    });
  });
}
