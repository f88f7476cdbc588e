// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <tessera/algorithms/density_matrix/hermitian_tiles.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/purification_control.hpp>
#include <tessera/algorithms/density_matrix/standard_form.hpp>
#include <tessera/algorithms/density_matrix/tiled_purification.hpp>
#include <tessera/algorithms/density_matrix/tiled_spectrum.hpp>

namespace tessera::detail {

namespace {

/// Trace-correcting purification of X_0 = (upper - H') / width.
template <class T, class F>
class TiledPurification {
 public:
  TiledPurification(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem, const DensityOptions& options,
                    const SpectralInterval& spectrum)
      : algebra_(algebra),
        problem_(problem),
        states_(std::round(problem.electrons / problem.occupation)),
        control_({.stage = "purification",
                  .spectrum = spectrum,
                  .states = states_,
                  .precision = static_cast<double>(precision<F>),
                  .tolerance = idempotency_tolerance<T>(options),
                  .iterations = options.iterations}),
        choice_(spectrum, problem.gap),
        spectrum_(spectrum) {}

  /// W, both triangles of its tiles on the diagonal: the projector is W^2.
  HermitianTiles<T> run(Sequence& sequence, const TiledMatrix<F>& h) {
    const double width = spectrum_.upper - spectrum_.lower;
    const TileLayout layout = aligned(sequence.runtime(), h.layout());
    HermitianTiles<F> x(sequence.runtime(), layout), y(sequence.runtime(), layout);
    x.assign(sequence, spectrum_.upper / width, -1 / width, h);
    Traces before = traces(x.sums());
    y.multiply(sequence, x, x);
    for (double v = 1;;) {
      const StretchedStep step = choice_.next(before, states_);
      const StepPolynomial polynomial = step.polynomial();
      x.combine(sequence, polynomial[0], polynomial[1], polynomial[2], y);
      // Far from the end the next product does not wait for the host.
      const bool ahead = v > 0.05;
      if (ahead) y.multiply(sequence, x, x);
      const HermitianSums sums = x.sums();
      const Traces after = traces(sums);
      const Idempotency found = control_.idempotency_before(before, polynomial, after, sums.dot, layout.rows);
      v = found.v();
      const double norm = std::sqrt(before.square);
      before = after;
      algebra_.count_product(flop_of_product());
      end_step(found, polynomial, norm, before, step.stretch == 1);
      // McWeeny's step, which that asks about, leaves three times the square, the last one here four times.
      if (control_.nearly_idempotent(before, found, 2 * std::sqrt(4.0 / 3), 3) &&
          std::abs(before.trace - states_) < 0.5)
        return last_factor(sequence, h.layout(), x, found);
      control_.expect_next_step(before, found);
      if (!ahead) y.multiply(sequence, x, x);
    }
  }

  GapBounds gap() const {
    const double order = static_cast<double>(problem_.hamiltonian.rows());
    return control_.gap(static_cast<double>(precision<F>) * std::sqrt(order), problem_.hamiltonian.rows());
  }
  double chemical_potential() const { return control_.chemical_potential(); }
  /// ||X^2 - X||_F / ||X||_F that the last step leaves.
  double idempotency() const { return idempotency_; }

 private:
  /// Products of half numbers are several times as fast where the columns of the one tile begin at multiples of 16 bytes:
  /// it gets rows and columns of zeros, states of no occupation.
  static TileLayout aligned(const Runtime& runtime, TileLayout layout) {
    if (runtime.gpus() == 0 || layout.row_tiles() != 1) return layout;
    layout.rows = layout.cols = layout.tile_rows = layout.tile_cols = ceil_div(layout.rows, 8) * 8;
    return layout;
  }
  static Traces traces(const HermitianSums& sums) { return {sums.trace, sums.square}; }
  double flop_of_product() const {
    return flop_factor<T> * std::pow(static_cast<double>(problem_.hamiltonian.rows()), 3);
  }
  void end_step(const Idempotency& found, const StepPolynomial& polynomial, double norm, const Traces& after,
                bool keeps_order) {
    control_.add(found, polynomial, keeps_order);
    algebra_.end_step({.stage = "purification",
                       .iteration = control_.iteration(),
                       .convergence = norm > 0 ? found.v() / norm : 0,
                       .occupation = 1,
                       .electrons = problem_.occupation * after.trace,
                       .energy = std::numeric_limits<double>::quiet_NaN()});
  }
  /// W = 2 X - X^2 in T. The projector (2 X - X^2)^2 is idempotent to four times the square of what X lacks, as
  /// 3 X^2 - 2 X^3 to three times; but L^{-H} W (L^{-H} W)^H takes a product less than that and two substitutions.
  HermitianTiles<T> last_factor(Sequence& sequence, const TileLayout& layout, const HermitianTiles<F>& rough,
                                const Idempotency& found) {
    HermitianTiles<T> w(sequence.runtime(), layout), product(sequence.runtime(), layout);
    w.assign(sequence, 0, 1, rough.tiles());
    product.multiply(sequence, w, w);
    w.combine(sequence, 0, 2, -1, product);
    const double states = w.sums().square, norm_squared = std::max(states, 1e-300);
    for (int k = 0; k < 2; ++k) algebra_.count_product(flop_of_product());
    algebra_.end_step({.stage = "last_step",
                       .iteration = 1,
                       .convergence = std::sqrt(std::max(0.0, found.v_squared) / norm_squared),
                       .occupation = 1,
                       .electrons = problem_.occupation * states,
                       .energy = std::numeric_limits<double>::quiet_NaN()});
    control_.expect_result({states, states}, found);
    idempotency_ = 4 * std::max(0.0, found.v_squared) / norm_squared;
    return w;
  }

  BlockAlgebra<T>& algebra_;
  const DensityProblem<T>& problem_;
  const double states_;
  PurificationControl control_;
  StepChoice choice_;
  const SpectralInterval spectrum_;
  double idempotency_ = 0;
};

/// Waits for its tasks.
/// @throws IterationEnded if one has failed
void end_sequence(Sequence& sequence) {
  const Status status = sequence.wait();
  if (!status.ok()) throw IterationEnded{status};
}

template <class T, class F>
BlockSparseMatrix<T> purify_as(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                               const DensityOptions& options, DensityResult<T>& result) {
  Runtime& runtime = algebra.runtime();
  const BlockSparseMatrix<T>& h = problem.hamiltonian;
  const TileLayout layout = tile_layout_for(h, tile_for_products<T>(runtime, h.rows()));
  const StandardForm<T, F> standard(runtime, problem, layout);
  TiledPurification<T, F> purification(algebra, problem, options,
                                       spectrum_of_tiles(runtime, standard.hamiltonian()));
  Sequence sequence(runtime);
  std::optional<HermitianTiles<T>> w;

  try {
    w = purification.run(sequence, standard.hamiltonian().tiles());
  } catch (const IterationEnded&) {
    end_sequence(sequence);  // a failed task is the reason for strange numbers
    throw;
  }
  result.chemical_potential = purification.chemical_potential();
  result.gap = purification.gap();
  result.error = purification.idempotency();

  const TiledMatrix<T> y = standard.from_standard(sequence, *w);

  HermitianTiles<T> p(runtime, layout);
  p.square(sequence, y);

  auto density = from_tiled(sequence, p.tiles(), h.layout(), options.filter_eps);
  end_sequence(sequence);
  return density;
}

}  // namespace

template <class T>
BlockSparseMatrix<T> purify_in_tiles(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                                     const DensityOptions& options, DensityResult<T>& result) {
  const bool mixed = options.mixed_precision.value_or(options.filter_eps >= 1e-7);
  if (mixed && iterates_in_single<T>(algebra.runtime()))
    return purify_as<T, Single<T>>(algebra, problem, options, result);
  return purify_as<T, T>(algebra, problem, options, result);
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template BlockSparseMatrix<T> purify_in_tiles<T>(BlockAlgebra<T>&, const DensityProblem<T>&, \
                                                   const DensityOptions&, DensityResult<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
