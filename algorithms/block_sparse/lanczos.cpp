// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/block_sparse/lanczos.hpp>
#include <tessera/codelets/block_sparse/vectors/krylov.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/multiply_vectors.hpp>
#include <tessera/runtime/blas_threads.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// The rows of a panel, in runs of consecutive ones, on the rank `owner`.
Data make_runs(Runtime& runtime, const BlockDimension& dimension, Index p, int owner) {
  std::vector<RowRun> runs;
  Index row = 0;
  for (const Index block : dimension.panel(p)) {
    const Index first = dimension.first(block), size = dimension.size(block);
    if (!runs.empty() && runs.back().first + runs.back().count == first)
      runs.back().count += size;
    else if (size > 0)
      runs.push_back({first, row, size});
    row += size;
  }
  Data data = Data::bytes(runtime, runs.size() * sizeof(RowRun), owner);
  if (!data.local()) return data;
  const HostAccess access(data, HostAccess::Mode::write);
  std::copy(runs.begin(), runs.end(), access.array<RowRun>().begin());
  return data;
}

}  // namespace

RitzEnds ritz_ends(const KrylovMatrix& h) {
  const Index k = h.size();
  std::vector<double> values(static_cast<std::size_t>(k)), vector(values.size()), work(20 * values.size());
  std::vector<int> iwork(10 * values.size() + 2);
  const OneBlasThread same_on_all_ranks;
  const auto end = [&](Index i) {
    std::vector<double> diagonal = h.diagonal, beside = h.beside;
    const int info = blas::stevr(k, diagonal.data(), beside.data(), i + 1, values.data(), vector.data(),
                                 work.data(), iwork.data());
    // Of a vector that is not found the last element is at most 1.
    return RitzEnd{values[0], h.beside.back() * (info == 0 ? std::abs(vector.back()) : 1)};
  };
  return {end(0), end(k - 1)};
}

template <class T>
Lanczos<T>::Lanczos(const BlockSparseMatrix<T>& a, double factor, double least, std::uint64_t seed)
    : a_(a),
      factor_(static_cast<RealOf<T>>(factor)),
      least_(least),
      seed_(seed),
      product_(a, Op::none),
      w_(row_vectors(a, 1)) {}

/// The vectors' segments of one panel.
template <class T>
std::vector<const Data*> Lanczos<T>::basis(Index p) const {
  std::vector<const Data*> segments;
  for (const PanelVectors<T>& v : v_) segments.push_back(&v.segment(p));
  return segments;
}

/// The sum of the segments' numbers, in the order of the segments, where all ranks can read it.
template <class T>
Data Lanczos<T>::add_up(Sequence& sequence, const std::vector<Data>& parts, Index count) const {
  Data sum = Data::bytes(sequence.runtime(), static_cast<std::size_t>(count) * sizeof(double));
  const std::vector<const Data*> pointers = pointers_to(parts);
  sequence.insert(AddNumbers{.parts = pointers, .sum = sum}, {.priority = 1});
  return sum;
}

/// V^H w.
template <class T>
Data Lanczos<T>::project(Sequence& sequence) const {
  const auto count = static_cast<Index>(2 * v_.size());
  std::vector<Data> parts;
  for (Index p = 0; p < w_.count(); ++p) {
    if (!w_.segment(p).valid()) continue;
    parts.push_back(
        Data::bytes(sequence.runtime(), static_cast<std::size_t>(count) * sizeof(double), w_.owner(p)));
    const std::vector<const Data*> v = basis(p);
    sequence.insert(ProjectSegment<T>{.v = v, .w = w_.segment(p), .h = parts.back()});
  }
  return add_up(sequence, parts, count);
}

/// w := w - V h; adds the segments' squares to a list.
template <class T>
void Lanczos<T>::subtract(Sequence& sequence, const Data& h, std::vector<Data>* squares) const {
  for (Index p = 0; p < w_.count(); ++p) {
    if (!w_.segment(p).valid()) continue;
    const std::vector<const Data*> v = basis(p);
    SubtractSegment<T> task{.v = v, .h = h, .w = w_.segment(p)};
    if (squares) {
      squares->push_back(Data::bytes(sequence.runtime(), sizeof(double), w_.owner(p)));
      task.square = squares->back();
    }
    sequence.insert(task);
  }
}

/// The next vector is w / ||w||.
template <class T>
void Lanczos<T>::normalise(Sequence& sequence, const Data& square) {
  const PanelVectors<T>& v = v_.emplace_back(row_vectors(a_, 1));
  for (Index p = 0; p < w_.count(); ++p)
    if (w_.segment(p).valid())
      sequence.insert(
          NormaliseSegment<T>{.w = w_.segment(p), .square = square, .v = v.segment(p), .least = least_});
}

template <class T>
void Lanczos<T>::start(Sequence& sequence, std::uint64_t seed) {
  std::vector<Data> squares;
  for (Index p = 0; p < w_.count(); ++p) {
    if (!w_.segment(p).valid()) continue;
    squares.push_back(Data::bytes(sequence.runtime(), sizeof(double), w_.owner(p)));
    const Data runs = make_runs(sequence.runtime(), w_.dimension(), p, w_.owner(p));
    sequence.insert(
        RandomSegment<T>{.runs = runs, .w = w_.segment(p), .square = squares.back(), .seed = seed});
  }
  normalise(sequence, add_up(sequence, squares, 1));
}

/// Classical Gram-Schmidt, twice: orthogonal to rounding (Giraud, Langou, Rozloznik, van den Eshof, Numer. Math.
/// 101 (2005) 87).
template <class T>
void Lanczos<T>::step(Sequence& sequence) {
  product_.submit(sequence, factor_, v_.back(), T(0), w_);
  Step step;
  step.first = project(sequence);
  subtract(sequence, step.first, nullptr);
  step.second = project(sequence);
  std::vector<Data> squares;
  subtract(sequence, step.second, &squares);
  step.square = add_up(sequence, squares, 1);
  normalise(sequence, step.square);
  steps_.push_back(std::move(step));
}

/// The coefficients of a step, equal on all ranks.
template <class T>
void Lanczos<T>::read(const Step& step) {
  double numbers[2] = {};
  if (step.square.local()) {
    const HostAccess first(step.first, HostAccess::Mode::read), second(step.second, HostAccess::Mode::read),
        square(step.square, HostAccess::Mode::read);
    const std::size_t last = first.array<const double>().size() - 2;
    numbers[0] = first.array<const double>()[last] + second.array<const double>()[last];
    numbers[1] = std::sqrt(square.array<const double>()[0]);
  }
  a_.runtime().broadcast(numbers, sizeof numbers, step.square.owner());
  matrix_.diagonal.push_back(numbers[0]);
  matrix_.beside.push_back(numbers[1]);
}

template <class T>
Status Lanczos<T>::extend(Index steps) {
  Sequence sequence(a_.runtime());
  sequence.begin_stage("lanczos");
  if (v_.empty()) start(sequence, seed_);
  for (Index i = 0; i < steps; ++i) step(sequence);
  // Whether to go on is decided by the coefficients.
  const Status status = sequence.wait();
  if (status.ok())
    for (const Step& step : steps_) read(step);
  steps_.clear();
  return status;
}

template class Lanczos<float>;
template class Lanczos<double>;
template class Lanczos<std::complex<float>>;
template class Lanczos<std::complex<double>>;

}  // namespace tessera::detail
