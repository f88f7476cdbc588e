// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Molecular orbitals: H c = epsilon S c, from two Matrix Market files, with HOMO, LUMO and gap.
//
//   generalized water32_dzvp_H.mtx.gz water32_dzvp_S.mtx.gz 256
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

namespace {

/// A symmetric matrix from a file, as an array with both triangles.
std::vector<double> read_symmetric(const std::string& path, Index& n) {
  tessera::MatrixMarketReader reader(path);  // plain or gzip-compressed
  tessera::require_hermitian_header<double>(reader);
  n = reader.header().rows;
  return tessera::read_dense<double>(reader);
}

/// y := A x
std::vector<double> times(const std::vector<double>& a, Index n, const double* x) {
  std::vector<double> y(n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) y[i] += a[i + j * n] * x[j];
  return y;
}

int orbitals(const std::string& h_file, const std::string& s_file, Index electrons) {
  Index n = 0, n_overlap = 0;
  const std::vector<double> h = read_symmetric(h_file, n), s = read_symmetric(s_file, n_overlap);
  const Index occupied = electrons / 2, wanted = occupied + 1;
  if (n != n_overlap || occupied < 1 || wanted > n) {
    std::fprintf(stderr, "H and S are of different order, or too small for so many electrons\n");
    return 2;
  }
  tessera::Runtime runtime;
  std::vector<double> c(n * wanted);
  // Only the occupied orbitals and the LUMO: numbers 0, ..., occupied in ascending order. With a part of the
  // spectrum the last steps of the solve take less time.
  const auto r = tessera::eigensolve(
      runtime, {.a = {h.data(), n, n}, .b = {s.data(), n, n}, .vectors_to = {c.data(), n}},
      {.range = tessera::index_range(0, wanted)});
  if (!r) {  // for example "cholesky: ..." where S is not positive definite
    std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }
  const double homo = r.values[occupied - 1], lumo = r.values[occupied];
  double sum = 0;
  for (Index k = 0; k < occupied; ++k) sum += 2 * r.values[k];
  std::printf("HOMO %.10f, LUMO %.10f, gap %.10f, band energy %.8f\n", homo, lumo, lumo - homo, sum);

  // The residual of the HOMO, whose length is 1 in the metric of S.
  const double* x = &c[(occupied - 1) * n];
  const std::vector<double> hx = times(h, n, x), sx = times(s, n, x);
  double residual = 0, length = 0;
  for (Index i = 0; i < n; ++i)
    residual = std::max(residual, std::abs(hx[i] - homo * sx[i])), length += x[i] * sx[i];
  std::printf("HOMO: largest |H c - epsilon S c| %.1e, c^T S c - 1 = %.1e\n", residual, length - 1);
  return residual < 1e-10 && std::abs(length - 1) < 1e-11 && homo < lumo ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: generalized H.mtx S.mtx ELECTRONS\n");
    return 2;
  }
  try {
    return orbitals(argv[1], argv[2], std::atol(argv[3]));
  } catch (const tessera::Error& error) {  // a file that is missing or damaged, too little memory
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
