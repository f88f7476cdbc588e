// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/function_call.hpp>

namespace tessera::detail {

namespace {

void require_positive(const char* name, double value) {
  if (!(value >= 0) || std::isinf(value))
    throw InvalidArgument(name, fmt::to_string(value), "a number of at least 0");
}

void require_between(const char* name, Index value, Index least, Index most) {
  if (value < least || value > most)
    throw InvalidArgument(name, fmt::to_string(value), fmt::format("{} to {}", least, most));
}

}  // namespace

void require_options(const MatrixFunctionOptions& options, const FunctionNeeds& needs) {
  require_positive("filter_eps", options.filter_eps);
  require_positive("tolerance", options.tolerance);
  if (options.order != 0) require_between("order", options.order, needs.least_order, needs.most_order);
  require_between("root", options.root, 1, 16);
  require_between("iterations", options.iterations, 1, std::numeric_limits<Index>::max());
}

std::uint64_t options_hash(const MatrixFunctionOptions& options) {
  return argument_hash(options.filter_eps, options.order, options.tolerance, options.iterations,
                       options.scaled, options.check, options.root, options.monitor == nullptr);
}

}  // namespace tessera::detail
