/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Where C has the members of its structures, for test_layouts.f90. */
#include <stddef.h>
#include <string.h>
#include <tessera.h>

typedef struct layout_entry {
  const char* name;
  size_t bytes; /* of a structure; before a member */
} layout_entry;
#define STRUCTURE(structure) \
  { #structure, sizeof(structure) }
#define MEMBER(structure, member) \
  { #structure "." #member, offsetof(structure, member) }

static const layout_entry entries[] = {
    STRUCTURE(tessera_distribution),
    MEMBER(tessera_distribution, block_rows),
    MEMBER(tessera_distribution, block_cols),
    MEMBER(tessera_distribution, grid_rows),
    MEMBER(tessera_distribution, grid_cols),
    MEMBER(tessera_distribution, column_major),
    MEMBER(tessera_distribution, first_row),
    MEMBER(tessera_distribution, first_col),
    STRUCTURE(tessera_matrix_in),
    MEMBER(tessera_matrix_in, data),
    MEMBER(tessera_matrix_in, order),
    MEMBER(tessera_matrix_in, ld),
    MEMBER(tessera_matrix_in, uplo),
    MEMBER(tessera_matrix_in, distribution),
    MEMBER(tessera_matrix_in, array_rows),
    MEMBER(tessera_matrix_in, array_cols),
    MEMBER(tessera_matrix_in, row),
    MEMBER(tessera_matrix_in, col),
    STRUCTURE(tessera_matrix_out),
    MEMBER(tessera_matrix_out, data),
    MEMBER(tessera_matrix_out, ld),
    MEMBER(tessera_matrix_out, distribution),
    MEMBER(tessera_matrix_out, array_rows),
    MEMBER(tessera_matrix_out, array_cols),
    MEMBER(tessera_matrix_out, row),
    MEMBER(tessera_matrix_out, col),
    STRUCTURE(tessera_eigen_problem),
    MEMBER(tessera_eigen_problem, type),
    MEMBER(tessera_eigen_problem, a),
    MEMBER(tessera_eigen_problem, b),
    MEMBER(tessera_eigen_problem, b_factor),
    MEMBER(tessera_eigen_problem, values),
    MEMBER(tessera_eigen_problem, vectors),
    MEMBER(tessera_eigen_problem, stream),
    MEMBER(tessera_eigen_problem, wait_event),
    MEMBER(tessera_eigen_problem, done_event),
    MEMBER(tessera_eigen_problem, use_stream),
    STRUCTURE(tessera_eigen_options),
    MEMBER(tessera_eigen_options, solver),
    MEMBER(tessera_eigen_options, range),
    MEMBER(tessera_eigen_options, lo),
    MEMBER(tessera_eigen_options, hi),
    MEMBER(tessera_eigen_options, above),
    MEMBER(tessera_eigen_options, upto),
    MEMBER(tessera_eigen_options, tile),
    MEMBER(tessera_eigen_options, band),
    MEMBER(tessera_eigen_options, update_width),
    MEMBER(tessera_eigen_options, slab_width),
    MEMBER(tessera_eigen_options, column_groups),
    MEMBER(tessera_eigen_options, split_products),
    STRUCTURE(tessera_eigen_result),
    MEMBER(tessera_eigen_result, count),
    MEMBER(tessera_eigen_result, first),
    MEMBER(tessera_eigen_result, seconds),
    MEMBER(tessera_eigen_result, used),
    STRUCTURE(tessera_batch_in),
    MEMBER(tessera_batch_in, data),
    MEMBER(tessera_batch_in, order),
    MEMBER(tessera_batch_in, count),
    MEMBER(tessera_batch_in, ld),
    MEMBER(tessera_batch_in, stride),
    MEMBER(tessera_batch_in, uplo),
    STRUCTURE(tessera_batch_out),
    MEMBER(tessera_batch_out, data),
    MEMBER(tessera_batch_out, ld),
    MEMBER(tessera_batch_out, stride),
    STRUCTURE(tessera_eigen_batch_problem),
    MEMBER(tessera_eigen_batch_problem, type),
    MEMBER(tessera_eigen_batch_problem, a),
    MEMBER(tessera_eigen_batch_problem, values),
    MEMBER(tessera_eigen_batch_problem, vectors),
    MEMBER(tessera_eigen_batch_problem, info),
    MEMBER(tessera_eigen_batch_problem, stream),
    MEMBER(tessera_eigen_batch_problem, wait_event),
    MEMBER(tessera_eigen_batch_problem, done_event),
    MEMBER(tessera_eigen_batch_problem, use_stream),
    STRUCTURE(tessera_preconditioner_options),
    MEMBER(tessera_preconditioner_options, largest),
    MEMBER(tessera_preconditioner_options, steps),
    MEMBER(tessera_preconditioner_options, degree),
    MEMBER(tessera_preconditioner_options, use_shift),
    MEMBER(tessera_preconditioner_options, shift),
    MEMBER(tessera_preconditioner_options, use_interval),
    MEMBER(tessera_preconditioner_options, interval_lower),
    MEMBER(tessera_preconditioner_options, interval_upper),
    MEMBER(tessera_preconditioner_options, b_norm),
    STRUCTURE(tessera_lobpcg_step),
    MEMBER(tessera_lobpcg_step, iteration),
    MEMBER(tessera_lobpcg_step, converged),
    MEMBER(tessera_lobpcg_step, active),
    MEMBER(tessera_lobpcg_step, largest_residual),
    MEMBER(tessera_lobpcg_step, block),
    MEMBER(tessera_lobpcg_step, values),
    MEMBER(tessera_lobpcg_step, residuals),
    MEMBER(tessera_lobpcg_step, seconds),
    STRUCTURE(tessera_lobpcg_problem),
    MEMBER(tessera_lobpcg_problem, a),
    MEMBER(tessera_lobpcg_problem, b),
    MEMBER(tessera_lobpcg_problem, preconditioner),
    MEMBER(tessera_lobpcg_problem, constraint_count),
    MEMBER(tessera_lobpcg_problem, constraints),
    MEMBER(tessera_lobpcg_problem, guess_count),
    MEMBER(tessera_lobpcg_problem, guess),
    STRUCTURE(tessera_lobpcg_options),
    MEMBER(tessera_lobpcg_options, count),
    MEMBER(tessera_lobpcg_options, method),
    MEMBER(tessera_lobpcg_options, block),
    MEMBER(tessera_lobpcg_options, basis),
    MEMBER(tessera_lobpcg_options, largest),
    MEMBER(tessera_lobpcg_options, tolerance),
    MEMBER(tessera_lobpcg_options, norm),
    MEMBER(tessera_lobpcg_options, basic),
    MEMBER(tessera_lobpcg_options, iterations),
    MEMBER(tessera_lobpcg_options, lock),
    MEMBER(tessera_lobpcg_options, seed),
    MEMBER(tessera_lobpcg_options, monitor),
    MEMBER(tessera_lobpcg_options, monitor_user),
    STRUCTURE(tessera_lobpcg_result),
    MEMBER(tessera_lobpcg_result, converged),
    MEMBER(tessera_lobpcg_result, iterations),
    MEMBER(tessera_lobpcg_result, restarts),
    MEMBER(tessera_lobpcg_result, columns_multiplied),
    MEMBER(tessera_lobpcg_result, multiplications),
    MEMBER(tessera_lobpcg_result, seconds),
};

/* -1: there is none of that name. */
long long layout_bytes(const char* name) {
  size_t k;
  for (k = 0; k < sizeof(entries) / sizeof(entries[0]); ++k)
    if (strcmp(entries[k].name, name) == 0) return (long long)entries[k].bytes;
  return -1;
}

long long layout_entries(void) {
  return (long long)(sizeof(entries) / sizeof(entries[0]));
}
