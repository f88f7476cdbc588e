/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   A program in C alone: the header is C99, and its structures are what the library takes them for. */
#include <math.h>
#include <stdio.h>
#include <tessera.h>

static int failures = 0;

static void expect(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s: %s\n", what, tessera_last_message());
  ++failures;
}

/* 2 on the diagonal, -1 beside it: 2 - 2 cos(pi k / 4). */
static void solve_three(tessera_runtime* runtime) {
  const double a[9] = {2, -1, 0, -1, 2, -1, 0, -1, 2};
  double w[3], z[9];
  tessera_eigen_problem problem;
  tessera_eigen_options options;
  tessera_eigen_result result;
  int k;
  tessera_eigen_problem_init(&problem);
  tessera_eigen_options_init(&options);
  problem.a = tessera_array(a, 3, 3, 'L');
  problem.values = w;
  problem.vectors = tessera_array_out(z, 3);
  expect(tessera_eigensolve(runtime, &problem, &options, &result) == TESSERA_SUCCESS, "eigensolve");
  expect(result.count == 3, "three eigenvalues");
  for (k = 0; k < 3; ++k)
    expect(fabs(w[k] - (2 - 2 * cos((k + 1) * acos(-1.0) / 4))) < 1e-14, "the eigenvalues of a path");
  expect(fabs(fabs(z[1]) - sqrt(0.5)) < 1e-14, "the middle of the lowest eigenvector");
}

/* Matrices of order 2 with the diagonal d and 1 beside it: d - 1 and d + 1; the last one is not finite. */
static void solve_batch(tessera_runtime* runtime) {
  double a[12] = {1, 1, 1, 1, 2, 1, 1, 2, 3, 1, 1, 3};
  double w[6], z[12];
  int info[3], k;
  tessera_eigen_batch_problem problem;
  tessera_eigen_batch_options options;
  tessera_eigen_batch_result result;
  tessera_eigen_batch_problem_init(&problem);
  tessera_eigen_batch_options_init(&options);
  problem.a = tessera_batch_array(a, 2, 3, 'L');
  problem.values = w;
  problem.vectors = tessera_batch_array_out(z, 2);
  problem.info = info;
  expect(tessera_eigensolve_batch(runtime, &problem, &options, &result) == TESSERA_SUCCESS,
         "eigensolve_batch");
  for (k = 0; k < 3; ++k) {
    expect(fabs(w[2 * k] - k) < 1e-14 && fabs(w[2 * k + 1] - k - 2) < 1e-14, "eigenvalues of a batch");
    expect(fabs(z[4 * k] + z[4 * k + 1]) < 1e-14, "the lowest eigenvector of each matrix");
    expect(info[k] == 0, "no matrix has failed");
  }
  a[9] = HUGE_VAL;
  expect(tessera_eigensolve_batch(runtime, &problem, NULL, &result) == TESSERA_NOT_FINITE, "not finite");
  expect(result.failed == 1 && info[2] == -1 && tessera_last_index() == 3, "the third matrix has failed");
}

/* The square of a matrix of two blocks. */
static void multiply_blocks(tessera_runtime* runtime) {
  const tessera_index sizes[2] = {1, 2};
  const double a[9] = {1, 0, 0, 0, 2, 3, 0, 4, 5};
  const double expected[9] = {1, 0, 0, 0, 16, 21, 0, 28, 37};
  double c[9];
  int k;
  tessera_block_layout* layout = NULL;
  tessera_block_matrix *matrix = NULL, *product = NULL;
  expect(!tessera_block_layout_create(runtime, 2, sizes, 0, NULL, TESSERA_NO_SYMMETRY, &layout), "layout");
  expect(!tessera_block_matrix_from_dense(runtime, TESSERA_DOUBLE, layout, a, 3, 0, &matrix), "from dense");
  expect(!tessera_block_copy(NULL, matrix, &product), "copy");
  expect(!tessera_multiply(NULL, TESSERA_AS_IS, matrix, TESSERA_AS_IS, matrix, NULL, product, NULL, NULL),
         "multiply");
  expect(!tessera_block_matrix_to_dense(product, c, 3), "to dense");
  for (k = 0; k < 9; ++k) expect(c[k] == expected[k], "an element of the square");
  tessera_block_matrix_free(product);
  tessera_block_matrix_free(matrix);
  tessera_block_layout_free(layout);
}

int main(void) {
  tessera_runtime_options options;
  tessera_runtime* runtime = NULL;
  tessera_runtime_options_init(&options);
  options.cores = 1;
  options.gpus = 0;
  expect(tessera_runtime_create(&options, &runtime) == TESSERA_SUCCESS, "runtime");
  if (runtime) {
    solve_three(runtime);
    solve_batch(runtime);
    multiply_blocks(runtime);
  }
  tessera_runtime_free(runtime);
  return failures != 0;
}
