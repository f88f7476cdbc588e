/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   From C: the density matrix of a ring of atoms with alternating couplings, block-sparse, without diagonalisation; the caller's
   monitor prints the steps. The energy is known: -2 sum_k sqrt(1 + t^2 + 2 t cos k), k = 2 pi j / cells. */
#include <math.h>
#include <stdio.h>
#include <tessera.h>

enum { cells = 400 };
static const double inner = -1, outer = -0.4;

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tessera_last_message());
  return 1;
}

/* Called after each step; other than 0 would stop the iteration. */
static int print_step(const tessera_iteration_step* step, void* user) {
  (void)user;
  printf("%-15s %3ld  convergence %.1e  occupation %.3f\n", step->stage, (long)step->iteration,
         step->convergence, step->occupation);
  return 0;
}

int main(void) {
  tessera_index sizes[cells];
  for (int i = 0; i < cells; ++i) sizes[i] = 2; /* a block for each cell of two atoms */
  tessera_block_layout* layout = NULL;
  tessera_block_builder* builder = NULL;
  tessera_block_matrix* hamiltonian = NULL;
  /* A null Runtime is the default one; the matrix is symmetric: blocks on and below the diagonal are given. */
  if (tessera_block_layout_create(NULL, cells, sizes, 0, NULL, TESSERA_SYMMETRIC, &layout))
    return fail("layout");
  if (tessera_block_builder_create(NULL, TESSERA_DOUBLE, layout, &builder)) return fail("builder");
  for (int i = 0; i < cells; ++i) {
    const double cell[4] = {0, inner, inner, 0}, down[4] = {0, 0, outer, 0}, around[4] = {0, outer, 0, 0};
    if (tessera_block_builder_put(builder, i, i, cell, 2)) return fail("block");
    if (i + 1 < cells && tessera_block_builder_put(builder, i + 1, i, around, 2)) return fail("block");
    if (i + 1 == cells && tessera_block_builder_put(builder, i, 0, down, 2)) return fail("block");
  }
  if (tessera_block_builder_finalize(builder, &hamiltonian)) return fail("matrix");
  tessera_block_builder_free(builder);

  tessera_density_problem problem;
  tessera_density_options options;
  tessera_density_result result;
  tessera_density_problem_init(&problem);
  tessera_density_options_init(&options);
  problem.hamiltonian = hamiltonian;
  problem.electrons = 2 * cells; /* half filling */
  options.filter_eps = 1e-7;
  options.monitor = print_step;
  if (tessera_density_matrix(&problem, &options, &result)) return fail("density matrix");

  double exact = 0;
  for (int j = 0; j < cells; ++j)
    exact -= 2 * sqrt(inner * inner + outer * outer + 2 * inner * outer * cos(2 * acos(-1.0) * j / cells));
  printf("%s: energy %.9f, exact %.9f, %ld products\n", tessera_density_method_name(result.method),
         result.energy, exact, (long)result.report.products);
  const int right = fabs(result.energy - exact) < 1e-6;
  tessera_density_result_free(&result);
  tessera_block_matrix_free(hamiltonian);
  tessera_block_layout_free(layout);
  tessera_end_default_runtime();
  return right ? 0 : 1;
}
