/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Functions of block-sparse matrices by iterations of filtered products. See tessera/matrix_functions.hpp. */
#ifndef TESSERA_C_MATRIX_FUNCTIONS_H
#define TESSERA_C_MATRIX_FUNCTIONS_H

#include <tessera/c/block_matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One line of an iteration's table. */
typedef struct tessera_iteration_step {
  const char* stage;       /**< which iteration; valid during the call */
  tessera_index iteration; /**< from 1 */
  double convergence;      /**< what the stop compares */
  double occupation;       /**< of the iterate */
  double threshold;        /**< eps of the filter */
  double seconds;          /**< of this step */
  tessera_index products;  /**< of matrices, in this step */
  double flop;             /**< of these */
  double gpu_bytes;        /**< held in the memories of this rank's GPUs */
  double electrons;        /**< density matrices only */
  double energy;           /**< density matrices only */
} tessera_iteration_step;
/** Called after each step, on every rank; other than 0 on any stops (TESSERA_STOPPED). */
typedef int (*tessera_monitor)(const tessera_iteration_step* step, void* user);

typedef struct tessera_iteration_report {
  double error;           /**< reached; each function says of what */
  tessera_index steps;    /**< lines of the table */
  tessera_index products; /**< of matrices */
  double flop;            /**< of these, all ranks together */
  double seconds;         /**< all */
} tessera_iteration_report;

typedef struct tessera_function_options {
  double filter_eps;        /**< of all products; 0: none */
  int order;                /**< of the polynomial of a step; 0: chosen */
  double tolerance;         /**< 0: chosen */
  tessera_index iterations; /**< at most */
  int scaled;               /**< each step scales the iterate */
  int check;                /**< the reached error is measured at the end */
  int root;                 /**< p of the inverse p-th root */
  tessera_monitor monitor;  /**< or null */
  void* monitor_user;
} tessera_function_options;
void tessera_function_options_init(tessera_function_options* options);

/** The result is to be freed by the caller; it is made with success alone. `report` may be null. */
int tessera_matrix_sign(const tessera_block_matrix* a, const tessera_function_options* options,
                        tessera_iteration_report* report, tessera_block_matrix** result);
/** Z with Z^H A Z = I; `start`: a former Z of a matrix nearby, or null. */
int tessera_inverse_factor(const tessera_block_matrix* a, const tessera_block_matrix* start,
                           const tessera_function_options* options, tessera_iteration_report* report,
                           tessera_block_matrix** result);
/** A^{-1}; `start`: an approximation, or null. */
int tessera_matrix_inverse(const tessera_block_matrix* a, const tessera_block_matrix* start,
                           const tessera_function_options* options, tessera_iteration_report* report,
                           tessera_block_matrix** result);
/** A^{1/2} and A^{-1/2} */
int tessera_matrix_square_roots(const tessera_block_matrix* a, const tessera_function_options* options,
                                tessera_iteration_report* report, tessera_block_matrix** root,
                                tessera_block_matrix** inverse_root);
/** A^{-1/p}, p = options->root */
int tessera_matrix_inverse_root(const tessera_block_matrix* a, const tessera_function_options* options,
                                tessera_iteration_report* report, tessera_block_matrix** result);
int tessera_matrix_exponential(const tessera_block_matrix* a, const tessera_function_options* options,
                               tessera_iteration_report* report, tessera_block_matrix** result);
/** log det A */
int tessera_log_determinant(const tessera_block_matrix* a, const tessera_function_options* options,
                            tessera_iteration_report* report, double* value);
/** McWeeny's purification of a density matrix in the metric of S (null: the identity). */
int tessera_purify(const tessera_block_matrix* density, const tessera_block_matrix* overlap,
                   const tessera_function_options* options, tessera_iteration_report* report,
                   tessera_block_matrix** result);

#ifdef __cplusplus
}
#endif
#endif
