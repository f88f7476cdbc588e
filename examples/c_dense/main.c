/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   From C: the lowest eigenpairs of A x = lambda B x, for two A with the same B, in flight together, with B's Cholesky factor
   computed once. A = Q D1 Q^T, B = Q D2 Q^T with a known orthogonal Q (a Householder reflection), so that the eigenvalues are
   the quotients of the diagonals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera.h>

enum { n = 300, wanted = 10 };

/* a := Q diag(d) Q^T, Q = I - 2 v v^T, v = (1, ..., 1) / sqrt(n); column-major. */
static void reflect(const double* d, double* a) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += d[i];
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) a[i + j * n] = (i == j) * d[i] - 2 * (d[i] + d[j]) / n + 4 * sum / n / n;
}

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tessera_last_message());
  return 1;
}

int main(void) {
  double* memory = malloc((3 * n * n + 2 * n * wanted) * sizeof(double));
  double *a[2], *b, *z[2], d[n], w[2][n];
  if (!memory) return 1;
  a[0] = memory, a[1] = a[0] + n * n, b = a[1] + n * n, z[0] = b + n * n, z[1] = z[0] + n * wanted;
  for (int i = 0; i < n; ++i) d[i] = 2;
  reflect(d, b);
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < n; ++i) d[i] = (k + 1) * (i + 1);
    reflect(d, a[k]);
  }

  tessera_runtime* runtime = NULL;
  if (tessera_runtime_create(NULL, &runtime)) return fail("runtime");
  const tessera_matrix_in right = tessera_array(b, n, n, 'L');
  tessera_cholesky_factor* factor = NULL;
  if (tessera_cholesky_factor_create(runtime, TESSERA_DOUBLE, &right, &factor))
    return fail("Cholesky factor");

  tessera_eigen_options options;
  tessera_eigen_options_init(&options);
  options.range = TESSERA_RANGE_INDEX; /* eigenvalues number 0 to 9 */
  options.hi = wanted;
  tessera_completion* completions[2];
  for (int k = 0; k < 2; ++k) {
    tessera_eigen_problem problem;
    tessera_eigen_problem_init(&problem);
    problem.a = tessera_array(a[k], n, n, 'L');
    problem.b_factor = factor;
    problem.values = w[k];
    problem.vectors = tessera_array_out(z[k], n);
    if (tessera_submit_eigensolve(runtime, &problem, &options, NULL, &completions[k])) return fail("submit");
  }

  double error = 0;
  for (int k = 0; k < 2; ++k) {
    if (tessera_wait(completions[k])) return fail("eigensolve");
    tessera_completion_free(completions[k]);
    for (int i = 0; i < wanted; ++i) error = fmax(error, fabs(w[k][i] - (k + 1) * (i + 1) / 2.0));
    printf("A%d: lowest eigenvalues %.12f, %.12f, ...\n", k + 1, w[k][0], w[k][1]);
  }
  printf("largest error %.1e\n", error);
  tessera_cholesky_factor_free(factor);
  tessera_runtime_free(runtime);
  free(memory);
  return error < 1e-10 ? 0 : 1;
}
