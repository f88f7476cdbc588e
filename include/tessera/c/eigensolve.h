/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Dense Hermitian eigenproblems A x = lambda x and A x = lambda B x. See tessera/eigensolve.hpp. */
#ifndef TESSERA_C_EIGENSOLVE_H
#define TESSERA_C_EIGENSOLVE_H

#include <tessera/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A 2-D block-cyclic distribution as ScaLAPACK has it: block (i, j) is on process row (first_row + i) mod grid_rows and process
    column (first_col + j) mod grid_cols. */
typedef struct tessera_distribution {
  tessera_index block_rows, block_cols; /**< of a block */
  int grid_rows, grid_cols; /**< of the process grid; their product is at most the number of ranks */
  int column_major; /**< ranks go down the columns of the grid (BLACS 'C'), not along its rows ('R') */
  int first_row, first_col; /**< the process that has the first block (RSRC, CSRC) */
} tessera_distribution;

/** A Hermitian matrix that is read: an array of one process, or the rank's part of a block-cyclic one. Of the host, or of a GPU
    in use (of one process). Unchanged; it must hold its contents until the solve is over. */
typedef struct tessera_matrix_in {
  const void* data;                         /**< column-major; null, and order 0: no matrix */
  tessera_index order;                      /**< rows of the matrix */
  tessera_index ld;                         /**< leading dimension of `data` */
  int uplo;                                 /**< 'L' or 'U': the triangle that counts */
  const tessera_distribution* distribution; /**< null: an array of one process */
  tessera_index array_rows, array_cols; /**< block-cyclic: of the whole array that the matrix is a part of */
  tessera_index row, col;               /**< block-cyclic: where it begins there, from 0 */
} tessera_matrix_in;
tessera_matrix_in tessera_array(const void* data, tessera_index order, tessera_index ld, int uplo);
/** The whole of a block-cyclic array. */
tessera_matrix_in tessera_block_cyclic(const void* local, tessera_index order, tessera_index ld, int uplo,
                                       const tessera_distribution* distribution);

/** Where eigenvectors go: into the first columns of a column-major array, or of a block-cyclic one from (row, col) on. It has at
    least as many columns as the range may have eigenvalues (by value: n). Only the columns of eigenvectors are written. */
typedef struct tessera_matrix_out {
  void* data;
  tessera_index ld;
  const tessera_distribution* distribution; /**< null: an array of one process */
  tessera_index array_rows, array_cols;     /**< block-cyclic: of the whole array */
  tessera_index row, col;                   /**< block-cyclic: where the vectors begin there, from 0 */
} tessera_matrix_out;
tessera_matrix_out tessera_array_out(void* data, tessera_index ld);
tessera_matrix_out tessera_block_cyclic_out(void* local, tessera_index rows, tessera_index cols,
                                            tessera_index ld, const tessera_distribution* distribution);

/** The Cholesky factor of B, kept for several problems. */
typedef struct tessera_cholesky_factor tessera_cholesky_factor;
/** Factorises B = L L^H. Collective; waits.
    @return TESSERA_NOT_POSITIVE_DEFINITE with the order of the leading minor */
int tessera_cholesky_factor_create(tessera_runtime* runtime, int type, const tessera_matrix_in* b,
                                   tessera_cholesky_factor** factor);
/** Takes a factor that the caller has: L in the lower triangle (B = L L^H), or U in the upper one (B = U^H U). */
int tessera_cholesky_factor_from(tessera_runtime* runtime, int type, const tessera_matrix_in* factored,
                                 tessera_cholesky_factor** factor);
/** Null is allowed. */
void tessera_cholesky_factor_free(tessera_cholesky_factor* factor);

/** A x = lambda x, or, with b or b_factor, A x = lambda B x. */
typedef struct tessera_eigen_problem {
  int type;                                /**< of all matrices: enum tessera_type */
  tessera_matrix_in a;                     /**< Hermitian */
  tessera_matrix_in b;                     /**< Hermitian positive definite, or none */
  const tessera_cholesky_factor* b_factor; /**< in place of b, or null */
  void* values; /**< float or double, on the host of every rank: as many as the range has (by value: n) */
  tessera_matrix_out vectors; /**< none: eigenvalues alone */
  void* stream; /**< a cudaStream_t: what was enqueued there is complete before arrays of a GPU are read */
  void* wait_event; /**< a cudaEvent_t, or null: the same of what it was recorded behind */
  void* done_event; /**< a cudaEvent_t, or null: recorded in `stream` when the results are complete */
  int use_stream;   /**< `stream` counts (null is a stream, too) */
} tessera_eigen_problem;
void tessera_eigen_problem_init(tessera_eigen_problem* problem);

enum tessera_eigen_range { TESSERA_RANGE_ALL = 0, TESSERA_RANGE_INDEX = 1, TESSERA_RANGE_VALUE = 2 };
enum tessera_solver {
  TESSERA_SOLVER_AUTOMATIC = 0,
  TESSERA_TWO_STAGE = 1,
  TESSERA_ONE_STAGE = 2,
  TESSERA_VENDOR = 3
};

/** Sizes of 0 are chosen. */
typedef struct tessera_eigen_options {
  int solver;           /**< enum tessera_solver */
  int range;            /**< enum tessera_eigen_range */
  tessera_index lo, hi; /**< by index: eigenvalues number lo to hi - 1, from 0 */
  double above, upto;   /**< by value: eigenvalues in (above, upto] */
  tessera_index tile, band, update_width, slab_width, column_groups;
  /** large products on GPUs in faster ways: of single precision from operands split into halves, of complex double by
      three real products; 1 from tessera_eigen_options_init */
  int split_products;
} tessera_eigen_options;
void tessera_eigen_options_init(tessera_eigen_options* options);

typedef struct tessera_eigen_result {
  tessera_index count;        /**< eigenvalues found */
  tessera_index first;        /**< number of the first one in the whole spectrum, from 0 */
  double seconds;             /**< from the submission to the end */
  tessera_eigen_options used; /**< with everything resolved */
} tessera_eigen_result;

/** Solves, and waits. Collective. `result` may be null. */
int tessera_eigensolve(tessera_runtime* runtime, const tessera_eigen_problem* problem,
                       const tessera_eigen_options* options, tessera_eigen_result* result);
/** Submits and returns. values, vectors and *result are complete when tessera_wait has returned, and must stay until then. */
int tessera_submit_eigensolve(tessera_runtime* runtime, const tessera_eigen_problem* problem,
                              const tessera_eigen_options* options, tessera_eigen_result* result,
                              tessera_completion** completion);

/** The fastest options, found while a program solves its own problems: tessera_eigensolve takes the options of next, and record the
    seconds that it took; when all candidates have been tried, next gives the best one. See tessera/eigensolve_tuner.hpp. */
typedef struct tessera_eigen_tuner tessera_eigen_tuner;
/** @param vectors problems with eigenvectors
    @param fixed what is not tried; null: nothing is fixed */
int tessera_eigen_tuner_create(tessera_runtime* runtime, int type, tessera_index order, int vectors,
                               const tessera_eigen_options* fixed, tessera_eigen_tuner** tuner);
int tessera_eigen_tuner_next(const tessera_eigen_tuner* tuner, tessera_eigen_options* options);
/** Collective. seconds: those of a solve with the options of next; infinity where it has failed. */
int tessera_eigen_tuner_record(tessera_eigen_tuner* tuner, double seconds);
/** The fastest so far, its seconds (infinity before the first), how many candidates there are and were tried; null: not wanted. */
int tessera_eigen_tuner_best(const tessera_eigen_tuner* tuner, tessera_eigen_options* options,
                             double* seconds, tessera_index* candidates, tessera_index* tried);
/** To a file, and on from there. Collective. */
int tessera_eigen_tuner_save(const tessera_eigen_tuner* tuner, const char* path);
int tessera_eigen_tuner_load(tessera_eigen_tuner* tuner, const char* path);
/** Null is allowed. */
void tessera_eigen_tuner_free(tessera_eigen_tuner* tuner);

#ifdef __cplusplus
}
#endif
#endif
