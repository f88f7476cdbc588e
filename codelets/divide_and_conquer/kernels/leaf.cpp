// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/divide_and_conquer/kernels/deflate.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail::kernels {

using divide_and_conquer::MergeRecord;
using divide_and_conquer::NodeSpectrum;

template <class R>
Index scale_and_cut(Index n, const R* d, const R* e, Index leaf, double* scaled_d, double* scaled_e,
                    int* exponent) noexcept {
  double largest = 0;
  Index bad = 0;
  for (Index i = 0; i < n && bad == 0; ++i) {
    const double off_diagonal = i + 1 < n ? std::abs(static_cast<double>(e[i])) : 0.0;
    const double diagonal = std::abs(static_cast<double>(d[i]));
    if (!std::isfinite(diagonal) || !std::isfinite(off_diagonal)) bad = i + 1;
    largest = std::max({largest, diagonal, off_diagonal});
  }
  *exponent = 0;
  if (bad == 0 && largest > 0) std::frexp(largest, exponent);
  for (Index i = 0; i < n; ++i) scaled_d[i] = bad ? 0.0 : std::ldexp(static_cast<double>(d[i]), -*exponent);
  for (Index i = 0; i + 1 < n; ++i)
    scaled_e[i] = bad ? 0.0 : std::ldexp(static_cast<double>(e[i]), -*exponent);
  for (Index cut = leaf; cut < n; cut += leaf) {
    scaled_d[cut - 1] -= std::abs(scaled_e[cut - 1]);
    scaled_d[cut] -= std::abs(scaled_e[cut - 1]);
  }
  return bad;
}

template <class R>
void unscale_values(const double* values, Index begin, Index end, int exponent, R* w) noexcept {
  for (Index i = begin; i < end; ++i) w[i - begin] = static_cast<R>(std::ldexp(values[i], exponent));
}

template <class R>
int leaf_eigenvectors(Index m, const double* d, const double* e, NodeSpectrum spectrum, R* q, Index ldq,
                      double* real_scratch, int* integer_scratch) noexcept {
  double* z = real_scratch;
  double* off_diagonal = z + m * m;
  double* work = off_diagonal + m;
  std::copy_n(d, m, spectrum.value);
  std::copy_n(e, m - 1, off_diagonal);
  const Index lwork = leaf_real_scratch(m) - m * m - m;
  const int info = blas::stedc('I', m, spectrum.value, off_diagonal, z, m, work, lwork, integer_scratch,
                               leaf_integer_scratch(m));
  if (info != 0) {
    std::fill_n(spectrum.value, m, 0.0);
    std::fill_n(z, m * m, 0.0);
  }
  for (Index j = 0; j < m; ++j) {
    spectrum.first_row[j] = z[j * m];
    spectrum.last_row[j] = z[j * m + m - 1];
    for (Index i = 0; i < m; ++i) q[j * ldq + i] = static_cast<R>(z[j * m + i]);
  }
  return info;
}

namespace {

constexpr Index smallest_piece = 32;

/// Scratch of the recursion, in the order of the buffer.
struct SubtreeScratch {
  double* d;        ///< the diagonal, cut
  double* spectra;  ///< node spectra of every other level
  double* reals;    ///< deflate's, a piece's, or the weights
  Index* integers;  ///< deflate's
  void* record;

  SubtreeScratch(void* buffer, Index m) noexcept {
    d = static_cast<double*>(buffer);
    spectra = d + m;
    reals = spectra + NodeSpectrum::doubles(m);
    integers = reinterpret_cast<Index*>(reals + real_count(m));
    record = integers + deflate_index_scratch(m);
  }
  static Index real_count(Index m) noexcept {
    return std::max(deflate_real_scratch(m), smallest_piece * smallest_piece + 3 * smallest_piece);
  }
  static std::size_t bytes(Index m) noexcept {
    return static_cast<std::size_t>(m + NodeSpectrum::doubles(m) + real_count(m) + deflate_index_scratch(m)) *
               8 +
           MergeRecord::bytes(m);
  }
};

/// Eigenvalues and boundary rows of at most `smallest_piece` rows.
int solve_piece(Index m, const double* d, const double* e, NodeSpectrum spectrum, double* work) noexcept {
  double* z = work;
  double* off_diagonal = z + m * m;
  std::copy_n(d, m, spectrum.value);
  std::copy_n(e, m - 1, off_diagonal);
  const int info = blas::steqr('I', m, spectrum.value, off_diagonal, z, m, off_diagonal + m);
  for (Index j = 0; j < m; ++j) {
    spectrum.first_row[j] = z[j * m];
    spectrum.last_row[j] = z[j * m + m - 1];
  }
  return info;
}

/// Solves rows [start, start + m). The result goes to out + 3 start, the children's results to other + 3
/// start.
int solve_subtree(Index start, Index m, const double* e, double epsilon, bool rows, double* out,
                  double* other, SubtreeScratch& scratch) noexcept {
  const NodeSpectrum spectrum(out + 3 * start, m);
  if (m <= smallest_piece) return solve_piece(m, scratch.d + start, e + start, spectrum, scratch.reals);
  const Index m1 = m / 2, m2 = m - m1, cut = start + m1;
  scratch.d[cut - 1] -= std::abs(e[cut - 1]);
  scratch.d[cut] -= std::abs(e[cut - 1]);
  if (const int info = solve_subtree(start, m1, e, epsilon, true, other, out, scratch)) return info;
  if (const int info = solve_subtree(cut, m2, e, epsilon, true, other, out, scratch)) return info;
  MergeRecord record(scratch.record, m);
  deflate(NodeSpectrum(other + 3 * start, m1), m1, NodeSpectrum(other + 3 * cut, m2), m2, e[cut - 1], epsilon,
          record, scratch.reals, scratch.integers);
  const Index poles = record.poles();
  secular_roots(record, 0, poles, record.base, record.offset);
  if (rows) {
    secular_weights(record, 0, poles, scratch.reals);
    place_weights(scratch.reals, record);
    secular_rows(record, 0, poles, record.root_first, record.root_last);
  }
  order_spectrum(record, rows, spectrum);
  return static_cast<int>(record.header->status);
}

}  // namespace

std::size_t subtree_scratch_bytes(Index m) noexcept {
  return SubtreeScratch::bytes(m);
}

int subtree_values(Index m, const double* d, const double* e, double epsilon, bool rows,
                   NodeSpectrum spectrum, void* buffer) noexcept {
  SubtreeScratch scratch(buffer, m);
  std::copy_n(d, m, scratch.d);
  return solve_subtree(0, m, e, epsilon, rows, spectrum.value, scratch.spectra, scratch);
}

#define TESSERA_INSTANTIATE(R)                                                                          \
  template Index scale_and_cut(Index, const R*, const R*, Index, double*, double*, int*) noexcept;      \
  template void unscale_values(const double*, Index, Index, int, R*) noexcept;                          \
  template int leaf_eigenvectors(Index, const double*, const double*, NodeSpectrum, R*, Index, double*, \
                                 int*) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
