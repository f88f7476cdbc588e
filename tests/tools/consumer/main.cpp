// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program as a user of an installed Tessera writes it. It computes the eigenvalues of the second
// difference matrix, which are 2 - 2 cos(k pi / (n + 1)), with a dense solver and with LOBPCG, and
// the square of a block-sparse matrix. all_headers.hpp includes every installed header.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "all_headers.hpp"

namespace {

constexpr tessera::Index n = 60;

double exact(tessera::Index k) {
  return 2 - 2 * std::cos(static_cast<double>(k + 1) * std::numbers::pi / (n + 1));
}

template <class Values>
double largest_error(const Values& values, tessera::Index first) {
  double largest = 0;
  for (std::size_t k = 0; k < values.size(); ++k)
    largest = std::fmax(largest, std::fabs(values[k] - exact(first + static_cast<tessera::Index>(k))));
  return largest;
}

std::vector<double> second_difference() {
  std::vector<double> a(n * n);
  for (tessera::Index i = 0; i < n; ++i) {
    a[i + i * n] = 2;
    if (i + 1 < n) a[i + 1 + i * n] = -1;
  }
  return a;
}

/// Residual A z = z diag(values) for the columns of z.
double residual(const std::vector<double>& values, const std::vector<double>& z) {
  double largest = 0;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (tessera::Index i = 0; i < n; ++i) {
      const auto at = [&](tessera::Index row) { return row < 0 || row >= n ? 0 : z[row + k * n]; };
      largest = std::fmax(largest, std::fabs(2 * at(i) - at(i - 1) - at(i + 1) - values[k] * at(i)));
    }
  return largest;
}

/// All eigenvalues with an explicit Runtime, and some generalized ones with vectors in an array.
int dense(tessera::Runtime& runtime) {
  const std::vector<double> a = second_difference();
  const auto all = tessera::eigensolve(runtime, {.a = {a.data(), n, n}}, {.vectors = false});
  if (!all || all.values.size() != n || largest_error(all.values, 0) > 1e-13) return 10;

  std::vector<double> b(n * n), z(n * 20);
  for (tessera::Index i = 0; i < n; ++i) b[i + i * n] = 1;
  auto some = tessera::submit_eigensolve(
      runtime, {.a = {a.data(), n, n}, .b = {b.data(), n, n}, .vectors_to = {z.data(), n}},
      {.range = tessera::index_range(5, 25)});
  while (!some.ready()) {
  }
  if (!some.wait()) return 11;
  const tessera::EigenResult<double> r = std::move(some).result();
  if (r.first != 5 || r.values.size() != 20 || largest_error(r.values, 5) > 1e-13) return 12;
  if (residual(r.values, z) > 1e-12) return 13;

  std::vector<double> bad = a;
  bad[3 + 2 * n] = NAN;
  const auto failed = tessera::eigensolve(runtime, {.a = {bad.data(), n, n}});
  if (failed || failed.status().code != tessera::StatusCode::not_finite || failed.status().index != 3)
    return 14;
  return 0;
}

int sparse(tessera::Runtime& runtime) {
  std::vector<tessera::Index> rows, columns;
  std::vector<double> values;
  for (tessera::Index i = 0; i < n; ++i) {
    rows.push_back(i), columns.push_back(i), values.push_back(2);
    if (i > 0) rows.push_back(i), columns.push_back(i - 1), values.push_back(-1);
  }
  const auto entries = tessera::CoordinateRows::from_coordinates(n, rows, columns, values);
  const auto a = tessera::CsbMatrix<double, double>::build(runtime, entries);
  const auto r = tessera::lobpcg(runtime, {.a = &a}, {.count = 2, .tolerance = 1e-10});
  if (!r || r.values.size() != 2 || largest_error(r.values, 0) > 1e-9) return 20;
  return 0;
}

/// C := 2 A A^T for a matrix with blocks on the diagonal.
int products(tessera::Runtime& runtime) {
  const std::vector<tessera::Index> sizes{2, 3, 1};
  const auto layout = tessera::make_block_layout(runtime, sizes, sizes);
  tessera::BlockSparseBuilder<double> builder(runtime, layout);
  const double one[] = {1, 2, 3, 4}, two[] = {5};
  builder.put(0, 0, {one, 2, 2, 2});
  builder.put(2, 2, {two, 1, 1, 1});
  const auto a = builder.finalize();
  auto c = tessera::BlockSparseBuilder<double>(runtime, layout).finalize();
  const auto r =
      tessera::multiply({.alpha = 2.0, .a = a, .b = {a, tessera::Op::transpose}, .beta = 0.0, .c = c});
  if (!r || r.products != 2) return 30;
  const std::vector<double> dense = tessera::to_dense(c);
  const double expected[] = {20, 28, 28, 40};  // 2 [1 3; 2 4] [1 2; 3 4]
  if (dense[0] != expected[0] || dense[1] != expected[1] || dense[6] != expected[2] ||
      dense[7] != expected[3] || dense[35] != 50)
    return 31;
  return 0;
}

}  // namespace

int main() {
  {
    tessera::RuntimeOptions options;
    options.cores = 1;
    options.gpus = 0;
    tessera::Runtime runtime(options);
    std::printf("tessera %s on StarPU %s, %d worker\n", runtime.info().version.c_str(),
                runtime.info().starpu_version.c_str(), runtime.workers());
    if (runtime.info().version != TESSERA_VERSION_STRING || runtime.workers() != 1) return 1;
    for (const auto part : {dense, sparse, products})
      if (const int failure = part(runtime)) return failure;
  }
  // Without an explicit Runtime.
  const std::vector<double> a = second_difference();
  const auto r = tessera::eigensolve({.a = {a.data(), n, n}}, {.range = tessera::index_range(0, 3)});
  if (!r || r.values.size() != 3 || largest_error(r.values, 0) > 1e-13) return 2;
  std::printf("largest error of an eigenvalue: %.2e\n", largest_error(r.values, 0));
  return 0;
}
