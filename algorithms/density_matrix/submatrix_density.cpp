// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/column_assembly.hpp>
#include <tessera/algorithms/density_matrix/hermitian_tiles.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/submatrix_density.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

/// How large the environments are: the estimate of ||P_ij|| at which they end. The energy's error falls with its fourth to
/// fifth power, and is to fall as that of a filter: with its square.
double least_estimate(double filter_eps) {
  return 0.45 * std::sqrt(filter_eps);
}
/// What the columns of P may be off by from Hermitian, as a share of the estimate.
constexpr double most_asymmetry = 0.5;

/// Submatrices of the groups, owners by their work, neighbours on one rank.
template <class Environment>
std::vector<Submatrix> submatrices_of(const Runtime& runtime, const BlockGraph& graph,
                                      const std::vector<std::vector<Index>>& groups,
                                      const Environment& environment) {
  std::vector<Submatrix> submatrices(groups.size());
  const int threads = host_threads(runtime);
  std::vector<std::unique_ptr<GraphSearch>> searches(static_cast<std::size_t>(std::max(threads, 1)));
  parallel_for(threads, static_cast<Index>(groups.size()), [&](Index k, int thread) {
    auto& search = searches[static_cast<std::size_t>(thread)];
    if (!search) search = std::make_unique<GraphSearch>(graph);
    const auto& group = groups[static_cast<std::size_t>(k)];
    Submatrix& submatrix = submatrices[static_cast<std::size_t>(k)];
    submatrix.blocks = environment(*search, group);
    submatrix.own_blocks = static_cast<Index>(group.size());
    for (std::size_t b = 0; b < submatrix.blocks.size(); ++b) {
      const Index size = graph.sizes[static_cast<std::size_t>(submatrix.blocks[b])];
      submatrix.order += size;
      if (b < group.size()) submatrix.own_order += size;
    }
  });
  double work = 0, before = 0;
  const auto work_of = [](const Submatrix& s) { return std::pow(static_cast<double>(s.order), 3) + 1; };
  for (const Submatrix& s : submatrices) work += work_of(s);
  for (Submatrix& s : submatrices) {
    s.owner =
        std::min(runtime.size() - 1, static_cast<int>(runtime.size() * (before + work_of(s) / 2) / work));
    before += work_of(s);
  }
  return submatrices;
}

/// The blocks of this rank's submatrices.
std::vector<char> wanted_blocks(const Runtime& runtime, const BlockGraph& graph,
                                const std::vector<Submatrix>& submatrices) {
  std::vector<char> wanted(static_cast<std::size_t>(graph.blocks()), 0);
  for (const Submatrix& s : submatrices)
    if (s.owner == runtime.rank())
      for (const Index block : s.blocks) wanted[static_cast<std::size_t>(block)] = 1;
  return wanted;
}

/// Spectra of the submatrices of all groups, in small environments: those of larger ones reach a little further.
struct SmallSpectra {
  SpectralInterval overlap, hamiltonian;
};
SpectralInterval united(const SpectralInterval& a, const SpectralInterval& b, double margin) {
  const SpectralInterval both{std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
  const double beyond = margin * (both.upper - both.lower);
  return {both.lower - beyond, both.upper + beyond};
}

/// Trace-correcting purification of all submatrices in step.
template <class T, class F>
class SubmatrixPurification {
 public:
  SubmatrixPurification(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                        const DensityOptions& options, const char* stage, SubmatrixBatches<T, F>& batches,
                        const std::optional<GapBounds>& gap, const std::optional<SmallSpectra>& small)
      : algebra_(algebra),
        problem_(problem),
        options_(options),
        stage_(stage),
        batches_(batches),
        gap_(gap),
        small_(small),
        states_(std::round(problem.electrons / problem.occupation)) {}

  /// X of all is nearly idempotent then.
  void run() {
    constexpr double margin = 0.02;
    SpectralInterval overlap = batches_.overlap_spectrum(), spectrum;
    if (small_) {
      const SpectralInterval wide = united(overlap, small_->overlap, 4 * margin);
      overlap = {std::max(wide.lower, overlap.lower / 2), wide.upper};
    }
    if constexpr (!std::is_same_v<F, T>) require_well_conditioned(overlap);
    spectrum = batches_.orthonormalise(overlap);
    spectra_ = {overlap, spectrum};
    if (small_) spectrum = united(spectrum, small_->hamiltonian, margin);
    const double width = spectrum.upper - spectrum.lower;
    StepChoice choice(spectrum, gap_);
    control_.emplace(PurificationStart{.stage = stage_,
                                       .spectrum = spectrum,
                                       .states = states_,
                                       .precision = static_cast<double>(precision<F>),
                                       .tolerance = idempotency_tolerance<T>(options_),
                                       .iterations = options_.iterations});
    batches_.shift(spectrum.upper / width, -1 / width);
    HermitianSums sums = batches_.sums();
    Traces before{sums.trace, sums.square};
    for (;;) {
      const StretchedStep step = choice.next(before, states_);
      const StepPolynomial polynomial = step.polynomial();
      batches_.step(polynomial);
      sums = batches_.sums();
      const Traces after{sums.trace, sums.square};
      const Idempotency found =
          control_->idempotency_before(before, polynomial, after, sums.dot, problem_.hamiltonian.rows());
      const double norm = std::sqrt(before.square);
      control_->add(found, polynomial, step.stretch == 1);
      before = after;
      algebra_.count_product(batches_.flop_of_products());
      algebra_.end_step({.stage = stage_,
                         .iteration = control_->iteration(),
                         .convergence = norm > 0 ? found.v() / norm : 0,
                         .occupation = 1,
                         .electrons = problem_.occupation * before.trace,
                         .energy = std::numeric_limits<double>::quiet_NaN()});
      if (control_->nearly_idempotent(before, found, 2, 3) && std::abs(before.trace - states_) < 0.5) {
        control_->expect_result(before, found);
        return;
      }
      control_->expect_next_step(before, found);
    }
  }
  double chemical_potential() const { return control_->chemical_potential(); }
  const SmallSpectra& spectra() const noexcept { return spectra_; }
  /// If the local spectra are those of H by an error of `moved`.
  GapBounds gap(double moved) const { return control_->gap(moved, problem_.hamiltonian.rows()); }

 private:
  BlockAlgebra<T>& algebra_;
  const DensityProblem<T>& problem_;
  const DensityOptions& options_;
  const char* const stage_;
  SubmatrixBatches<T, F>& batches_;
  const std::optional<GapBounds> gap_;
  const std::optional<SmallSpectra> small_;
  SmallSpectra spectra_;
  const double states_;
  std::optional<PurificationControl> control_;
};

template <class T>
class SubmatrixDensity {
 public:
  SubmatrixDensity(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem, const DensityOptions& options,
                   DensityResult<T>& result, const BlockSparseMatrix<T>* overlap)
      : algebra_(algebra),
        problem_(problem),
        options_(options),
        result_(result),
        runtime_(algebra.runtime()),
        scaled_(problem.hamiltonian, overlap),
        has_overlap_(overlap != nullptr) {}

  template <class F>
  std::optional<BlockSparseMatrix<T>> run() {
    if (one_is_best()) return std::nullopt;
    GapBounds near{};                                                         // no gap
    if (problem_.gap && problem_.gap->homo.upper < problem_.gap->lumo.lower)  // both are known
      near = *problem_.gap;
    else
      near = gap_of_small_environments<F>();
    constexpr int most_tries = 3;
    double least = least_estimate(options_.filter_eps);
    const double bar = most_asymmetry * least;
    for (int attempt = 1;; ++attempt) {
      auto solved = solve<F>(near, least);
      if (!solved) return std::nullopt;
      AssembledDensity<T>& found = *solved;
      if (found.asymmetry <= bar || all_is_one_) {
        result_.error = found.norm > 0 ? found.asymmetry_norm / found.norm : 0;
        return std::move(found.p);
      }
      if (attempt == most_tries)
        throw IterationEnded{
            {StatusCode::iterations_exhausted, "submatrix", attempt,
             fmt::format("with environments of up to {:.0f} % of all functions the columns of P "
                         "are off from Hermitian by {:.1e}, with {:.1e} allowed",
                         100 * largest_share_, found.asymmetry, bar)}};
      // The estimate was too low by about this factor.
      least *= 0.7 * bar / found.asymmetry;
      near = result_.gap.homo.upper < result_.gap.lumo.lower ? result_.gap : near;
    }
  }

 private:
  /// So few functions that one submatrix of all is less work than any groups.
  bool one_is_best() const noexcept {
    return options_.group_order == 0 && problem_.hamiltonian.rows() <= 1600;
  }
  /// In one process it is the same for all submatrices.
  const SubmatrixSource& source_for(const BlockGraph& graph, const std::vector<Submatrix>& submatrices) {
    if (!source_ || runtime_.size() > 1)
      source_ = scaled_.source(wanted_blocks(runtime_, graph, submatrices));
    return *source_;
  }

  /// Where the gap is, nearly: from the submatrices of small groups with their nearest neighbours.
  template <class F>
  GapBounds gap_of_small_environments() {
    constexpr Index own = 48, order = 96;
    const BlockGraph graph = scaled_.graph(scaled_.mean_energy());
    double largest = 0;
    for (const BlockGraph::Edge& edge : graph.edges)
      largest = std::max(largest, static_cast<double>(edge.coupling));
    const auto groups = groups_of_blocks(graph, own);
    for (Index factor = 1;; factor *= 3) {
      const auto submatrices =
          submatrices_of(runtime_, graph, groups, [&](GraphSearch& search, const auto& group) {
            Index own_order = 0;
            for (const Index block : group) own_order += graph.sizes[static_cast<std::size_t>(block)];
            const double scale = largest > 0 ? 0.9 / largest : 0;
            return search.environment(group, scale, 1e-30, factor * std::max(order, 2 * own_order));
          });
      const SubmatrixSource& source = source_for(graph, submatrices);
      SubmatrixBatches<T, F> batches(runtime_, source, submatrices, *problem_.hamiltonian.layout().rows);
      SubmatrixPurification<T, F> purification(algebra_, problem_, options_, "environments", batches,
                                               std::nullopt, std::nullopt);
      try {
        purification.run();
        batches.finish();
        small_ = purification.spectra();
        const GapBounds gap = purification.gap(0);
        if (gap.homo.upper < gap.lumo.lower) return gap;
        const double mu = purification.chemical_potential();
        return {{mu, mu}, {mu, mu}};
      } catch (const IterationEnded& ended) {
        batches.finish();
        // Cut out of their surroundings they may have no gap where the whole has one.
        if (ended.status.code != StatusCode::no_gap || factor > 3) throw;
      }
    }
  }

  /// Groups of that order for which the submatrices are the least work, judged by some of them.
  Index order_of_groups(const BlockGraph& graph, double scale, double least) const {
    constexpr Index samples = 6;
    const std::vector<char> free(static_cast<std::size_t>(graph.blocks()), 1);
    std::vector<GraphSearch> searches(samples, GraphSearch(graph));
    const auto elements = [&](const std::vector<Index>& blocks) {
      Index sum = 0;
      for (const Index block : blocks) sum += graph.sizes[static_cast<std::size_t>(block)];
      return sum;
    };
    const Index all = problem_.hamiltonian.rows();
    double best = std::numeric_limits<double>::infinity();
    Index best_order = all;
    for (Index order = 16; order < 2 * all; order = order * 3 / 2) {
      std::array<double, samples> of_work{}, of_own{};
      parallel_for(std::min<int>(host_threads(runtime_), samples), samples, [&](Index k, int) {
        const auto s = static_cast<std::size_t>(k);
        const auto group = searches[s].grow((2 * k + 1) * graph.blocks() / (2 * samples), order, free);
        of_own[s] = static_cast<double>(elements(group));
        of_work[s] =
            std::pow(static_cast<double>(elements(searches[s].environment(group, scale, least, all))), 3);
      });
      const double work = std::accumulate(of_work.begin(), of_work.end(), 0.0),
                   own = std::accumulate(of_own.begin(), of_own.end(), 0.0);
      if (own > 0 && work / own < best) best = work / own, best_order = order;
      // Larger groups are more work, until one of all is the least.
      if (work > 1.5 * own * best) break;
    }
    const double n = static_cast<double>(all);
    return n * n < best ? all : best_order;
  }

  template <class F>
  std::optional<AssembledDensity<T>> solve(const GapBounds& near, double least) {
    const double mu = (near.homo.upper + near.lumo.lower) / 2, gap = near.lumo.lower - near.homo.upper;
    const BlockGraph graph = scaled_.graph(mu);
    // Without a gap that is known every block to which couplings lead belongs to the environment.
    const double scale = gap > 0 ? 1 / gap : std::numeric_limits<double>::max();
    const Index order =
        options_.group_order > 0 ? options_.group_order : order_of_groups(graph, scale, least);
    if (options_.group_order == 0 && order >= problem_.hamiltonian.rows()) return std::nullopt;
    const auto groups = groups_of_blocks(graph, order);
    const auto submatrices =
        submatrices_of(runtime_, graph, groups, [&](GraphSearch& search, const auto& group) {
          return search.environment(group, scale, least, std::numeric_limits<Index>::max());
        });
    all_is_one_ = std::all_of(submatrices.begin(), submatrices.end(), [&](const Submatrix& s) {
      return static_cast<Index>(s.blocks.size()) == graph.blocks();
    });
    const SubmatrixSource& source = source_for(graph, submatrices);
    constexpr std::size_t sample = 8;
    SubmatrixBatches<T, F> batches(runtime_, source, submatrices, *problem_.hamiltonian.layout().rows,
                                   small_ ? sample : 1);
    SubmatrixPurification<T, F> purification(algebra_, problem_, options_, "submatrices", batches,
                                             gap > 0 ? std::optional(near) : std::nullopt, small_);
    std::vector<Data> columns;
    try {
      purification.run();
      columns = batches.columns();
    } catch (const IterationEnded&) {
      batches.finish();  // a failed task is the reason for strange numbers
      throw;
    } catch (const IllConditioned&) {
      batches.finish();
      throw;
    }
    batches.finish();
    auto found = assemble_columns<T>(problem_.hamiltonian.layout(), scaled_, has_overlap_, submatrices,
                                     batches.batches(), columns, runtime_, options_.filter_eps);
    result_.chemical_potential = purification.chemical_potential();
    result_.gap = purification.gap(static_cast<double>(precision<F>) * std::sqrt(static_cast<double>(order)) +
                                   found.asymmetry);
    double largest = 0;
    for (const Submatrix& s : submatrices) largest = std::max(largest, static_cast<double>(s.order));
    algebra_.end_step(
        {.stage = "columns",
         .iteration = 1,
         .convergence = found.asymmetry,
         .occupation = largest / std::max(1.0, static_cast<double>(problem_.hamiltonian.rows())),
         .electrons = std::numeric_limits<double>::quiet_NaN(),
         .energy = std::numeric_limits<double>::quiet_NaN()});
    return found;
  }

  BlockAlgebra<T>& algebra_;
  const DensityProblem<T>& problem_;
  const DensityOptions& options_;
  DensityResult<T>& result_;
  Runtime& runtime_;
  const ScaledBlocks<T> scaled_;
  const bool has_overlap_;
  std::optional<SubmatrixSource> source_;
  std::optional<SmallSpectra> small_;
  bool all_is_one_ = false;   ///< each environment is everything
  double largest_share_ = 0;  ///< of all functions in an environment
};

}  // namespace

template <class T>
std::optional<BlockSparseMatrix<T>> density_of_submatrices(BlockAlgebra<T>& algebra,
                                                           const DensityProblem<T>& problem,
                                                           const DensityOptions& options,
                                                           DensityResult<T>& result) {
  std::optional<BlockSparseMatrix<T>> moved;
  const BlockSparseMatrix<T>* overlap = problem.overlap;
  if (overlap && !(overlap->layout() == problem.hamiltonian.layout())) {
    moved = algebra.in_layout(*overlap, problem.hamiltonian.layout());
    algebra.finish();
    overlap = &*moved;
  }
  SubmatrixDensity<T> density(algebra, problem, options, result, overlap);
  const bool mixed = options.mixed_precision.value_or(options.filter_eps >= 1e-7);
  if (mixed && iterates_in_single<T>(algebra.runtime())) {
    try {
      return density.template run<Single<T>>();
    } catch (const IllConditioned&) {  // on all ranks
    }
  }
  return density.template run<T>();
}

#define TESSERA_INSTANTIATE(T)                                            \
  template std::optional<BlockSparseMatrix<T>> density_of_submatrices<T>( \
      BlockAlgebra<T>&, const DensityProblem<T>&, const DensityOptions&, DensityResult<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
