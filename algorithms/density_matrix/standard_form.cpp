// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/cholesky.hpp>
#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/algorithms/density_matrix/standard_form.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/density/triangular_steps.hpp>

namespace tessera::detail {

template <class T, class F>
StandardForm<T, F>::StandardForm(Runtime& runtime, const DensityProblem<T>& problem, const TileLayout& layout)
    : h_(runtime, layout) {
  Sequence sequence(runtime);
  const auto h = to_tiled(sequence, problem.hamiltonian, layout);
  if (problem.overlap) {
    factor_ = to_tiled(sequence, *problem.overlap, layout);
    cholesky(sequence, factor_);
    if (runtime.size() == 1 && runtime.any_gpus() && layout.row_tiles() == 1)
      reduce_whole(sequence, h);
    else
      to_standard(sequence, h, factor_);
  }
  h_.assign(sequence, 0, 1, h);
  const Status status = sequence.wait();
  if (!status.ok()) throw IterationEnded{status};
}

/// H := Z H Z^H, Z = L^{-1}, in the lower triangle.
template <class T, class F>
void StandardForm<T, F>::reduce_whole(Sequence& sequence, const TiledMatrix<T>& h) {
  Runtime& runtime = sequence.runtime();
  const Index n = h.rows();
  inverse_ = TiledMatrix<T>(runtime, h.layout());
  const TiledMatrix<T> product(runtime, h.layout());
  const Data work = Data::scratch(runtime, static_cast<std::size_t>(inverse_work(n)) * sizeof(T));
  const Data& z = inverse_.tile(0, 0);
  sequence.insert(InvertTriangle<T>{.l = factor_.tile(0, 0), .z = z, .work = work, .n = n});
  factor_.release();
  sequence.insert(TriangularProduct<T>{.z = z, .b = h.tile(0, 0), .c = product.tile(0, 0), .n = n});
  sequence.insert(LowerTriangularProduct<T>{.z = z, .b = product.tile(0, 0), .c = h.tile(0, 0), .n = n});
}

template <class T, class F>
TiledMatrix<T> StandardForm<T, F>::from_standard(Sequence& sequence, HermitianTiles<T>& x) const {
  TiledMatrix<T> y = x.taken_in_full(sequence);
  if (inverse_.valid()) {
    TiledMatrix<T> product(sequence.runtime(), y.layout());
    sequence.insert(TriangularProduct<T>{.z = inverse_.tile(0, 0),
                                         .b = y.tile(0, 0),
                                         .c = product.tile(0, 0),
                                         .op = Op::adjoint,
                                         .n = y.rows()});
    return product;
  }
  if (factor_.valid()) substitute_adjoint(sequence, factor_, y);
  return y;
}

template class StandardForm<float, float>;
template class StandardForm<double, double>;
template class StandardForm<double, float>;
template class StandardForm<std::complex<float>, std::complex<float>>;
template class StandardForm<std::complex<double>, std::complex<double>>;
template class StandardForm<std::complex<double>, std::complex<float>>;

}  // namespace tessera::detail
