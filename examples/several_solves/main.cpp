// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Several solves in flight: an electron on a ring of n sites in a magnetic flux. For each flux the
// Hamiltonian is a complex Hermitian matrix, with the energies -2 cos((2 pi m + flux) / n), m = 0 ... n - 1.
// The solves are submitted at once; StarPU takes their tasks as workers become free.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <thread>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;
using Complex = std::complex<double>;

namespace {

constexpr Index n = 250, solves = 4;

double flux(Index k) {
  return 0.4 * static_cast<double>(k);
}

std::vector<Complex> hamiltonian(double phi) {
  std::vector<Complex> h(n * n);  // the lower triangle
  for (Index i = 0; i + 1 < n; ++i) h[i + 1 + i * n] = -std::polar(1.0, phi / n);
  h[n - 1] = -std::polar(1.0, -phi / n);  // from the last site to the first
  return h;
}

std::vector<double> energies(double phi) {
  std::vector<double> e;
  for (Index m = 0; m < n; ++m) e.push_back(-2 * std::cos((2 * std::numbers::pi * m + phi) / n));
  std::sort(e.begin(), e.end());
  return e;
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  // The arrays must stay, unchanged, until their solve is over.
  std::vector<std::vector<Complex>> matrices;
  for (Index k = 0; k < solves; ++k) matrices.push_back(hamiltonian(flux(k)));
  std::vector<tessera::Completion<tessera::EigenResult<Complex>>> in_flight;
  for (Index k = 0; k < solves; ++k)
    in_flight.push_back(
        tessera::submit_eigensolve(runtime, {.a = {matrices[k].data(), n, n}}, {.vectors = false}));

  // The program is free for other things; ready() asks without waiting.
  Index looks = 0;
  while (!std::all_of(in_flight.begin(), in_flight.end(), [](const auto& c) { return c.ready(); })) {
    ++looks;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  double worst = 0;
  for (Index k = 0; k < solves; ++k) {
    // wait() gives the status; result() waits, too.
    if (!in_flight[k].wait()) {
      std::fprintf(stderr, "%s\n", in_flight[k].status().message().c_str());
      return 1;
    }
    const tessera::EigenResult<Complex>& r = in_flight[k].result();
    const std::vector<double> exact = energies(flux(k));
    double error = 0;
    for (Index m = 0; m < n; ++m) error = std::max(error, std::abs(r.values[m] - exact[m]));
    std::printf("flux %.1f: lowest energy %.10f, error %.1e, %ld tasks\n", flux(k), r.values[0], error,
                static_cast<long>(in_flight[k].statistics().tasks));
    worst = std::max(worst, error);
  }
  std::printf("all ready after %ld looks\n", static_cast<long>(looks));
  return worst < 1e-11 ? 0 : 1;
}
