// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>

#include <tessera/codelets/block_sparse/vectors/krylov.hpp>

namespace tessera::detail {

namespace {

template <class T>
double sum_squares(std::span<const T> w) {
  double sum = 0;
  for (const T x : w) {
    const double re = real_part(x), im = imag_part(x);
    sum += re * re + im * im;
  }
  return sum;
}

/// v^H w: real and imaginary part.
template <class T>
void inner_product(std::span<const T> v, std::span<const T> w, double* h) {
  double re = 0, im = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double vr = real_part(v[i]), vi = imag_part(v[i]), wr = real_part(w[i]), wi = imag_part(w[i]);
    re += vr * wr + vi * wi;
    im += vr * wi - vi * wr;
  }
  h[0] = re;
  h[1] = im;
}

}  // namespace

template <class T>
void run(const HostContext&, const RandomSegment<T>& task) {
  const auto w = *task.w;
  for (const RowRun& run : *task.runs)
    for (Index i = 0; i < run.count; ++i) {
      const auto number = 2 * static_cast<std::uint64_t>(run.first + i);
      const auto re = static_cast<RealOf<T>>(normal_number(task.seed, number));
      T& x = w[static_cast<std::size_t>(run.row + i)];
      if constexpr (is_complex<T>)
        x = T(re, static_cast<RealOf<T>>(normal_number(task.seed, number + 1)));
      else
        x = re;
    }
  task.square.view()[0] = sum_squares(std::span<const T>(w));
}

template <class T>
void run(const HostContext&, const ProjectSegment<T>& task) {
  double* const h = task.h.view().data();
  for (int i = 0; i < task.v.size(); ++i) inner_product(task.v[i], *task.w, h + 2 * i);
}

template <class T>
void run(const HostContext&, const SubtractSegment<T>& task) {
  const auto w = *task.w;
  const double* const h = task.h.view().data();
  // A chunk of w stays in the cache while the vectors are subtracted from it.
  constexpr std::size_t chunk = 1024;
  for (std::size_t first = 0; first < w.size(); first += chunk) {
    const std::size_t end = std::min(w.size(), first + chunk);
    for (int k = 0; k < task.v.size(); ++k) {
      const auto v = task.v[k];
      T factor;
      if constexpr (is_complex<T>)
        factor = T(RealOf<T>(h[2 * k]), RealOf<T>(h[2 * k + 1]));
      else
        factor = T(h[2 * k]);
      for (std::size_t i = first; i < end; ++i) w[i] -= factor * v[i];
    }
  }
  if (task.square) task.square.view()[0] = sum_squares(std::span<const T>(w));
}

void run(const HostContext&, const AddNumbers& task) {
  const auto sum = *task.sum;
  std::fill(sum.begin(), sum.end(), 0.0);
  for (int p = 0; p < task.parts.size(); ++p) {
    const auto part = task.parts[p];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
}

template <class T>
void run(const HostContext&, const NormaliseSegment<T>& task) {
  const auto w = *task.w;
  const auto v = *task.v;
  const double norm = std::sqrt(task.square.view()[0]);
  const auto factor = static_cast<RealOf<T>>(norm > task.least ? 1 / norm : 0.0);
  for (std::size_t i = 0; i < w.size(); ++i) v[i] = norm > task.least ? factor * w[i] : T(0);
}

#define TESSERA_DEFINE(T)                 \
  TESSERA_DEFINE_TASK(RandomSegment<T>)   \
  TESSERA_DEFINE_TASK(ProjectSegment<T>)  \
  TESSERA_DEFINE_TASK(SubtractSegment<T>) \
  TESSERA_DEFINE_TASK(NormaliseSegment<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
TESSERA_DEFINE_TASK(AddNumbers)

}  // namespace tessera::detail
