// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/checkpoint_file.hpp>
#include <tessera/algorithms/lobpcg/davidson.hpp>
#include <tessera/algorithms/lobpcg/lanczos.hpp>
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

Index most_block(Index n, Index constraints) {
  return std::min<Index>((n - constraints) / 3, max_block_columns);
}

/// The default size of LOBPCG's block.
Index usual_lobpcg_block(const Runtime& runtime, Index count) {
  const Index block = count + std::max<Index>(2, count / 2);
  // A GPU multiplies 9 vectors in nearly the time that 16 take.
  constexpr Index of_gpus = 8;
  return runtime.any_gpus() ? (block + of_gpus - 1) / of_gpus * of_gpus : block;
}

/// More columns in an iteration save fewer iterations than they cost, and a longer basis fewer products.
constexpr Index usual_davidson_block = 8, usual_basis = 64;

/// Columns of a basis, with their products, that half of the memory of the GPUs holds: at least one a rank.
Index columns_in_memory(const Runtime& runtime, const ProblemSizes& problem) {
  if (!runtime.any_gpus()) return max_basis_columns;
  const double bytes = static_cast<double>(runtime.info().gpu_memory_bytes) * runtime.size(),
               columns =
                   bytes / 2 / (2 * static_cast<double>(problem.wide_bytes) * static_cast<double>(problem.n));
  return columns > 0 && columns < max_basis_columns ? static_cast<Index>(columns) : max_basis_columns;
}

/// Whether EigenMethod::automatic is generalized Davidson, or LOBPCG (lobpcg.hpp).
bool deep_basis_pays(const Runtime& runtime, const ProblemSizes& problem, const LobpcgOptions& o) {
  if (o.variant == LobpcgVariant::basic) return false;
  if (o.basis > 0 || (o.block > 0 && o.block < o.count)) return true;
  if (problem.stored_entries == 0) return true;
  // There a product of the few columns that are left costs as much as one of a whole block.
  if (runtime.any_gpus()) return false;
  const double product = 4 * static_cast<double>(problem.stored_entries) / static_cast<double>(problem.n);
  const auto flat = static_cast<double>(o.block > 0 ? o.block : usual_lobpcg_block(runtime, o.count));
  const auto vectors = static_cast<double>(std::max(o.count, o.block));
  return vectors * (10. * static_cast<double>(usual_basis) + product) < flat * (36 * flat + product);
}

void choose_method(const Runtime& runtime, const ProblemSizes& problem, LobpcgOptions& options) {
  if (options.method != EigenMethod::automatic) return;
  const bool has_checkpoints = !options.checkpoint.path.empty() || !options.resume.empty();
  if (problem.plain && !has_checkpoints && options.count > max_block_columns &&
      options.variant == LobpcgVariant::orthonormal && lanczos_fits(runtime, problem, options)) {
    options.method = EigenMethod::lanczos;
    return;
  }
  LobpcgOptions of_group = options;
  of_group.count = pairs_of_group(options);
  options.method =
      deep_basis_pays(runtime, problem, of_group) ? EigenMethod::generalized_davidson : EigenMethod::lobpcg;
}

/// Block and basis for the pairs of a group, with the method chosen. @param several there are several groups
void choose_group_sizes(const Runtime& runtime, const ProblemSizes& problem, bool several,
                        LobpcgOptions& options) {
  if (options.method == EigenMethod::lanczos) return choose_lanczos_sizes(runtime, problem, options);
  const Index n = problem.n, constraints = problem.constraints;
  const Index most = most_block(n, constraints);
  if (options.method == EigenMethod::lobpcg) {
    if (options.block == 0) options.block = std::min(usual_lobpcg_block(runtime, options.count), most);
    return;
  }
  if (options.block == 0) options.block = std::min({options.count, usual_davidson_block, most});
  if (options.basis > 0) return;
  const Index vectors = davidson_vectors(options.count, options.block, several);
  const Index useful = std::max(usual_basis, 3 * vectors);
  options.basis = std::max(least_davidson_basis(vectors, options.block),
                           std::min({useful, n - constraints, columns_in_memory(runtime, problem)}));
}

template <class T>
ProblemSizes sizes_of(const LobpcgProblem<T>& problem) {
  return {.n = problem.a->order(),
          .stored_entries = problem.a->stored_entries(),
          .constraints = problem.constraint_count,
          .wide_bytes = sizeof(WideOf<T>),
          .plain = !problem.b && !problem.preconditioner};
}

void check_basis(Index n, Index constraints, bool several, const LobpcgOptions& o) {
  if (o.method == EigenMethod::lobpcg) {
    require(o.basis == 0, "basis", fmt::format("{}", o.basis), "0 with LOBPCG, whose basis is three blocks");
    return;
  }
  require(o.variant == LobpcgVariant::orthonormal, "variant", "basic", "orthonormal, except with LOBPCG");
  const Index least = least_davidson_basis(davidson_vectors(o.count, o.block, several), o.block);
  const Index most = std::min(n - constraints, max_basis_columns);
  require(o.basis >= least && o.basis <= most, "basis", fmt::format("{}", o.basis),
          fmt::format("{} to {}: at least the vectors that are looked at and two blocks, at most {}, and "
                      "with the constraints "
                      "within n = {}",
                      least, most, max_basis_columns, n));
}

/// Block Lanczos: neither inv(B) nor a preconditioner has a place in it.
template <class T>
void resolve_lanczos(const Runtime& runtime, const LobpcgProblem<T>& problem, LobpcgOptions& o) {
  require(!problem.b, "method", "lanczos, with B",
          "generalized_davidson or lobpcg for a generalized problem");
  require(o.checkpoint.path.empty() && o.resume.empty(), "method", "lanczos, with a checkpoint",
          "generalized_davidson or lobpcg: block Lanczos writes none");
  require(!problem.preconditioner, "method", "lanczos, with a preconditioner",
          "generalized_davidson or lobpcg with a preconditioner");
  require(o.variant == LobpcgVariant::orthonormal, "variant", "basic", "orthonormal, except with LOBPCG");
  const ProblemSizes sizes = sizes_of(problem);
  require(o.count <= (sizes.n - sizes.constraints) / 3, "constraint_count",
          fmt::format("{} of order {}", sizes.constraints, sizes.n),
          fmt::format("at most {}: the constraints and three times the wanted pairs must fit",
                      std::max<Index>(sizes.n - 3 * o.count, 0)));
  choose_lanczos_sizes(runtime, sizes, o);
  check_lanczos_sizes(sizes, o);
}

/// The method and sizes of a group, with so many constraints, and whether all fit.
template <class T>
void resolve_sizes(const Runtime& runtime, const LobpcgProblem<T>& problem, Index constraints, bool several,
                   LobpcgOptions& o) {
  const Index n = problem.a->order();
  if (o.method == EigenMethod::lanczos) return resolve_lanczos(runtime, problem, o);
  const Index max_block = most_block(n, constraints);
  require(o.count <= max_block, "constraint_count",
          fmt::format("{} of order {}", problem.constraint_count, n),
          fmt::format("at most {}: the constraints, the wanted pairs and three blocks must fit",
                      std::max<Index>(n - 3 * o.count - (constraints - problem.constraint_count), 0)));
  ProblemSizes sizes = sizes_of(problem);
  sizes.constraints = constraints;
  choose_group_sizes(runtime, sizes, several, o);
  const Index least_block = o.method == EigenMethod::lobpcg ? o.count : 1;
  require(o.block >= least_block && o.block <= max_block, "block", fmt::format("{}", o.block),
          fmt::format("{} to {}: at least {}, at most {}, and 3 blocks and the constraints within n = {}",
                      least_block, max_block, least_block > 1 ? "count" : "1", max_block_columns, n));
  check_basis(n, constraints, several, o);
}

/// All that is left to choose, and whether all numbers fit.
template <class T>
void resolve(const Runtime& runtime, const LobpcgProblem<T>& problem, LobpcgOptions& o) {
  const Index n = problem.a->order();
  require(o.count >= 1, "count", fmt::format("{}", o.count), "at least 1");
  require(o.count <= n / 5, "count", fmt::format("{} of order {}", o.count, n),
          fmt::format("at most n / 5 = {}: a dense solver is right for more", n / 5));
  // The last group has all others as constraints, and may be small.
  choose_method(runtime, sizes_of(problem), o);
  const Index count = o.count, pairs = pairs_of_group(o);
  o.count = pairs;
  resolve_sizes(runtime, problem, problem.constraint_count + (pairs < count ? count : 0), pairs < count, o);
  o.count = count;
  const Index vectors = std::max(o.block, o.count);
  require(problem.guess_count <= vectors, "guess_count", fmt::format("{}", problem.guess_count),
          fmt::format("at most the block's {}", vectors));
  require(o.tolerance >= 0 && std::isfinite(o.tolerance), "tolerance", fmt::format("{}", o.tolerance),
          "at least 0, finite");
  if (o.tolerance == 0) o.tolerance = sizeof(RealOf<T>) == 4 ? 1e-4 : 1e-8;
  require(o.iterations >= 0, "iterations", fmt::format("{}", o.iterations), "at least 0");
}

/// GPUs may hold the vectors instead.
template <class T>
void require_vectors(const Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& o) {
  if (runtime.any_gpus()) return;
  const RowSegments& segments = *problem.a->segments();
  double rows = 0;
  for (Index s = 0; s < segments.count(); ++s)
    if (segments.owner(s) == runtime.rank()) rows += static_cast<double>(segments.size(s));
  const Index work = problem.preconditioner ? problem.preconditioner->work_blocks() : 0;
  require_host_memory(
      o.method == EigenMethod::lobpcg ? fmt::format("LOBPCG with blocks of {} vectors", o.block)
                                      : fmt::format("a basis of {} vectors", o.basis),
      lobpcg_memory(rows, o, problem.b != nullptr, sizeof(T)) +
          static_cast<double>(work) * static_cast<double>(o.block) * static_cast<double>(sizeof(T)) * rows);
}

}  // namespace

bool has_groups(const LobpcgOptions& options) noexcept {
  return options.count > max_block_columns && options.method != EigenMethod::lanczos;
}

Index pairs_of_group(const LobpcgOptions& options) noexcept {
  if (!has_groups(options)) return options.count;
  // A basis goes on from a group to the next one, of blocks the guard vectors alone.
  constexpr Index of_basis = 8, of_blocks = 21;
  if (options.method == EigenMethod::generalized_davidson) {
    const Index least = least_davidson_basis(davidson_vectors(of_basis, options.block, true), options.block);
    return options.basis == 0 || options.basis >= least
               ? of_basis
               : std::clamp<Index>(options.basis - 3 * options.block, 1, of_basis);
  }
  return options.block > 0 ? std::clamp<Index>((2 * options.block + 2) / 3, 1, of_blocks) : of_blocks;
}

double lobpcg_memory(double rows, const LobpcgOptions& sized, bool generalized,
                     std::size_t element_bytes) noexcept {
  if (sized.method == EigenMethod::lanczos)
    return static_cast<double>(lanczos_columns(sized)) * static_cast<double>(element_bytes) * rows;
  // Each with its products with A and B.
  const Index products = generalized ? 3 : 2;
  // X, W and P, and the residuals; or the basis, X, W and the residuals.
  Index columns = (3 * products + 1) * sized.block;
  if (sized.method != EigenMethod::lobpcg)
    columns = products * sized.basis +
              (2 * products + 1) * davidson_vectors(pairs_of_group(sized), sized.block, has_groups(sized));
  // Those found, with B times them, and the result.
  constexpr Index more = 24 + max_block_columns;
  if (has_groups(sized)) columns += (products - 1) * (sized.count + more) + sized.count;
  return static_cast<double>(columns) * static_cast<double>(element_bytes) * rows;
}

void choose_sizes(const Runtime& runtime, const ProblemSizes& problem, LobpcgOptions& options) {
  choose_method(runtime, problem, options);
  const Index count = options.count;
  options.count = pairs_of_group(options);
  choose_group_sizes(runtime, problem, options.count < count, options);
  options.count = count;
}

template <class T>
std::uint64_t problem_hash(const LobpcgProblem<T>& problem, const LobpcgOptions& options) {
  return argument_hash(options.count, options.method, options.block, options.basis, options.end,
                       options.tolerance, options.norm, options.variant, options.iterations, options.lock,
                       options.seed, problem.constraint_count, problem.guess_count, problem.b == nullptr,
                       problem.preconditioner == nullptr, options.monitor == nullptr,
                       options.checkpoint.path.empty(), options.checkpoint.iterations,
                       options.checkpoint.seconds, options.resume.empty());
}

template <class T>
LobpcgOptions checked_options(const Runtime& runtime, const LobpcgProblem<T>& problem,
                              const LobpcgOptions& options) {
  LobpcgOptions resolved = options;
  check_problem(runtime, problem);
  resolve(runtime, problem, resolved);
  require_vectors(runtime, problem, resolved);
  check_checkpoint(runtime, resolved.checkpoint);
  require(resolved.resume.empty() || problem.guess_count == 0, "guess_count",
          fmt::format("{}", problem.guess_count),
          "0 with a checkpoint to go on from, which has the start vectors");
  return resolved;
}

#define TESSERA_INSTANTIATE(T)                                                        \
  template std::uint64_t problem_hash(const LobpcgProblem<T>&, const LobpcgOptions&); \
  template LobpcgOptions checked_options(const Runtime&, const LobpcgProblem<T>&, const LobpcgOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
