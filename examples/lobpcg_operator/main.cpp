// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// LOBPCG with an operator that no matrix stands for, and a preconditioner of one's own: the Laplacian in a
// box whose grid is fine along x (as in a boundary layer), by finite differences:
//
//   (A u)(x, y, z) = sum over the directions d of c_d (2 u - u(d - 1) - u(d + 1)), zero outside.
//
// Its eigenvalues are the sums over the directions of c_d (2 - 2 cos(k_d pi / (n_d + 1))).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

namespace {

constexpr Index nx = 24, ny = 20, nz = 16, plane = nx * ny, n = plane * nz;
constexpr double cx = 40, cy = 1, cz = 1;

/// y := A x for some rows and all columns of a block of vectors. Elements of one row are neighbours.
void laplacian(Index first_row, Index end_row, Index columns, const double* x, Index ldx, double* y,
               Index ldy) {
  for (Index i = first_row; i < end_row; ++i) {
    const Index ix = i % nx, iy = i / nx % ny, iz = i / plane;
    for (Index j = 0; j < columns; ++j) {
      const auto at = [&](bool inside, Index row) { return inside ? x[row * ldx + j] : 0.0; };
      y[(i - first_row) * ldy + j] = 2 * (cx + cy + cz) * x[i * ldx + j] -
                                     cx * (at(ix > 0, i - 1) + at(ix + 1 < nx, i + 1)) -
                                     cy * (at(iy > 0, i - nx) + at(iy + 1 < ny, i + nx)) -
                                     cz * (at(iz > 0, i - plane) + at(iz + 1 < nz, i + plane));
    }
  }
}

/// w := T r: on each line along x the strongly coupled part of A is solved for, by elimination. Segments hold
/// whole lines, so that a segment needs no other.
void solve_lines(Index, Index rows, Index columns, const double* r, Index ldr, double* w, Index ldw) {
  constexpr double diagonal = 2 * (cx + cy + cz);
  double pivot[nx];
  pivot[0] = diagonal;
  for (Index i = 1; i < nx; ++i) pivot[i] = diagonal - cx * cx / pivot[i - 1];
  for (Index line = 0; line < rows; line += nx)
    for (Index j = 0; j < columns; ++j) {
      const double* in = r + line * ldr + j;
      double* out = w + line * ldw + j;
      out[0] = in[0];
      for (Index i = 1; i < nx; ++i) out[i * ldw] = in[i * ldr] + cx / pivot[i - 1] * out[(i - 1) * ldw];
      out[(nx - 1) * ldw] /= pivot[nx - 1];
      for (Index i = nx - 2; i >= 0; --i) out[i * ldw] = (out[i * ldw] + cx * out[(i + 1) * ldw]) / pivot[i];
    }
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  // Segments of rows are what tasks work on: four here, of whole planes, dealt to the ranks.
  std::vector<Index> begins;
  std::vector<int> owners;
  for (int s = 0; s < 4; ++s) begins.push_back(nz / 4 * s * plane), owners.push_back(s * runtime.size() / 4);
  begins.push_back(n);
  const auto segments = std::make_shared<const tessera::RowSegments>(begins, owners);
  const tessera::UserOperator<double> a(runtime, segments, laplacian, 4 * (cx + cy + cz));  // norm: at most
  tessera::UserPreconditioner<double> lines(solve_lines);

  const Index count = 6;
  const tessera::LobpcgOptions options{.count = count};
  const auto plain = tessera::lobpcg(runtime, {.a = &a}, options);
  const auto r = tessera::lobpcg(runtime, {.a = &a, .preconditioner = &lines}, options);
  if (!plain || !r) {
    std::fprintf(stderr, "%s; %s\n", plain.status().message().c_str(), r.status().message().c_str());
    return 1;
  }
  std::vector<double> exact;
  const auto part = [](double c, Index k, Index m) {
    return c * (2 - 2 * std::cos(k * std::numbers::pi / (m + 1)));
  };
  for (Index k = 0; k < n; ++k)
    exact.push_back(part(cx, k % nx + 1, nx) + part(cy, k / nx % ny + 1, ny) + part(cz, k / plane + 1, nz));
  std::sort(exact.begin(), exact.end());
  double error = 0, excess = 0;
  for (Index k = 0; k < count; ++k) {
    error = std::max(error, std::abs(r.values[k] - exact[k]));
    // An eigenvalue lies within the residual of each value.
    excess = std::max(excess, std::abs(r.values[k] - exact[k]) - r.residuals[k]);
  }
  std::printf("iterations: %ld with lines, %ld without a preconditioner\n", static_cast<long>(r.iterations),
              static_cast<long>(plain.iterations));
  std::printf("lowest %.10f, largest error %.1e, largest residual %.1e\n", r.values[0], error,
              *std::max_element(r.residuals.begin(), r.residuals.end()));
  return error < 1e-7 && excess < 1e-11 && r.converged == count ? 0 : 1;
}
