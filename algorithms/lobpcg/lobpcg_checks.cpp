// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera::detail {

namespace {

void require(bool condition, std::string_view name, const std::string& value, const std::string& expected) {
  if (!condition) throw InvalidArgument(name, value, expected);
}

void check_segments(std::string_view name, const RowSegments& segments, const RowSegments& expected) {
  require(segments == expected, name,
          fmt::format("{} rows in {} segments", segments.rows(), segments.count()),
          fmt::format("the segments of A: {} rows in {} segments, of the same ranks", expected.rows(),
                      expected.count()));
}

template <class T>
void check_order(std::string_view name, const SymmetricOperator<T>& op) {
  require(op.segments()->rows() == op.order(), name,
          fmt::format("segments of {} rows for order {}", op.segments()->rows(), op.order()),
          "segments of all rows");
}

template <class T>
void check_vectors(std::string_view name, const BlockVectors<T>* vectors, Index count,
                   const RowSegments& expected) {
  require(count >= 0, name, fmt::format("{} columns", count), "at least 0");
  require(count == 0 || vectors, name, fmt::format("null, with {} columns", count), "vectors");
  if (!vectors || count == 0) return;
  require(count <= vectors->width(), name, fmt::format("{} columns of {}", count, vectors->width()),
          "at most the block's width");
  require(vectors->count() > 0, name, "released vectors", "vectors");
  check_segments(name, vectors->segments(), expected);
}

template <class T>
void check_problem(const Runtime& runtime, const LobpcgProblem<T>& problem) {
  require(problem.a != nullptr, "a", "null", "an operator");
  const RowSegments& segments = *problem.a->segments();
  check_order("a", *problem.a);
  for (Index s = 0; s < segments.count(); ++s)
    require(segments.owner(s) < runtime.size(), "a", fmt::format("a segment of rank {}", segments.owner(s)),
            fmt::format("ranks below {}", runtime.size()));
  if (problem.b) {
    check_segments("b", *problem.b->segments(), segments);
    check_order("b", *problem.b);
  }
  if (problem.preconditioner && problem.preconditioner->segments())
    check_segments("preconditioner", *problem.preconditioner->segments(), segments);
  check_vectors<T>("constraints", problem.constraints, problem.constraint_count, segments);
  check_vectors<T>("guess", problem.guess, problem.guess_count, segments);
}

/// The block's size, and whether all numbers fit.
template <class T>
void resolve(const Runtime& runtime, const LobpcgProblem<T>& problem, LobpcgOptions& o) {
  const Index n = problem.a->order();
  require(o.count >= 1, "count", fmt::format("{}", o.count), "at least 1");
  require(o.count <= n / 5, "count", fmt::format("{} of order {}", o.count, n),
          fmt::format("at most n / 5 = {}: a dense solver is right for more", n / 5));
  require(o.count <= max_block_columns, "count", fmt::format("{}", o.count),
          fmt::format("at most {}: more can be had with those found as constraints", max_block_columns));
  const Index max_block = std::min<Index>((n - problem.constraint_count) / 3, max_block_columns);
  require(o.count <= max_block, "constraint_count",
          fmt::format("{} of order {}", problem.constraint_count, n),
          fmt::format("at most {}, for a count of {}", n - 3 * o.count, o.count));
  if (o.block == 0) o.block = std::min(usual_lobpcg_block(runtime, o.count), max_block);
  require(o.block >= o.count && o.block <= max_block, "block", fmt::format("{}", o.block),
          fmt::format("{} to {}: at least count, at most {}, and 3 blocks and the constraints within n = {}",
                      o.count, max_block, max_block_columns, n));
  require(problem.guess_count <= o.block, "guess_count", fmt::format("{}", problem.guess_count),
          fmt::format("at most the block's {}", o.block));
  require(o.tolerance >= 0 && std::isfinite(o.tolerance), "tolerance", fmt::format("{}", o.tolerance),
          "at least 0, finite");
  if (o.tolerance == 0) o.tolerance = sizeof(T) == 4 ? 1e-4 : 1e-8;
  require(o.iterations >= 0, "iterations", fmt::format("{}", o.iterations), "at least 0");
}

/// GPUs may hold the vectors instead.
template <class T>
void require_vectors(const Runtime& runtime, const LobpcgProblem<T>& problem, Index block) {
  if (runtime.any_gpus()) return;
  const RowSegments& segments = *problem.a->segments();
  double rows = 0;
  for (Index s = 0; s < segments.count(); ++s)
    if (segments.owner(s) == runtime.rank()) rows += static_cast<double>(segments.size(s));
  const Index work = problem.preconditioner ? problem.preconditioner->work_blocks() : 0;
  require_host_memory(
      fmt::format("LOBPCG with blocks of {} vectors", block),
      lobpcg_memory(rows, block, problem.b != nullptr, sizeof(T)) +
          static_cast<double>(work) * static_cast<double>(block) * static_cast<double>(sizeof(T)) * rows);
}

}  // namespace

double lobpcg_memory(double rows, Index block, bool generalized, std::size_t element_bytes) noexcept {
  // X, W, P, A times these, the residuals, and B times the three.
  const double blocks = generalized ? 10 : 7;
  return blocks * static_cast<double>(block) * static_cast<double>(element_bytes) * rows;
}

Index usual_lobpcg_block(const Runtime& runtime, Index count) {
  const Index block = count + std::max<Index>(2, count / 2);
  // A GPU multiplies 9 vectors in nearly the time that 16 take.
  constexpr Index of_gpus = 8;
  return runtime.any_gpus() ? (block + of_gpus - 1) / of_gpus * of_gpus : block;
}

template <class T>
std::uint64_t problem_hash(const LobpcgProblem<T>& problem, const LobpcgOptions& options) {
  return argument_hash(options.count, options.block, options.end, options.tolerance, options.norm,
                       options.variant, options.iterations, options.lock, options.seed,
                       problem.constraint_count, problem.guess_count, problem.b == nullptr,
                       problem.preconditioner == nullptr, options.monitor == nullptr);
}

template <class T>
LobpcgOptions checked_options(const Runtime& runtime, const LobpcgProblem<T>& problem,
                              const LobpcgOptions& options) {
  LobpcgOptions resolved = options;
  check_problem(runtime, problem);
  resolve(runtime, problem, resolved);
  require_vectors(runtime, problem, resolved.block);
  return resolved;
}

template std::uint64_t problem_hash(const LobpcgProblem<float>&, const LobpcgOptions&);
template std::uint64_t problem_hash(const LobpcgProblem<double>&, const LobpcgOptions&);
template LobpcgOptions checked_options(const Runtime&, const LobpcgProblem<float>&, const LobpcgOptions&);
template LobpcgOptions checked_options(const Runtime&, const LobpcgProblem<double>&, const LobpcgOptions&);

}  // namespace tessera::detail
