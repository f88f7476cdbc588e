/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Many small dense Hermitian eigenproblems of one order at once. See tessera/eigensolve_batch.hpp. */
#ifndef TESSERA_C_EIGENSOLVE_BATCH_H
#define TESSERA_C_EIGENSOLVE_BATCH_H

#include <tessera/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The largest order of the matrices of a batch: larger ones are for tessera_eigensolve. */
#define TESSERA_MAX_BATCH_ORDER 2048

/** Hermitian matrices of one order that are read: matrix number k is column-major from element k stride of `data` on.
    Of the host, or of a GPU in use. Unchanged; they must hold their contents until the solve is over. */
typedef struct tessera_batch_in {
  const void* data;
  tessera_index order;  /**< rows of a matrix, at most TESSERA_MAX_BATCH_ORDER */
  tessera_index count;  /**< matrices */
  tessera_index ld;     /**< elements from one column to the next */
  tessera_index stride; /**< elements from one matrix to the next, at least (order - 1) ld + order */
  int uplo;             /**< 'L' or 'U': the triangle that counts */
} tessera_batch_in;
/** One matrix directly after the other. */
tessera_batch_in tessera_batch_array(const void* data, tessera_index order, tessera_index count, int uplo);

/** Where the eigenvectors of a batch go, those of each matrix as order x order entries. Either ld is the order, and
    stride at least its square, or stride is order ld: nothing but vectors is written. Of the host, or of a GPU in use;
    none of the input's memory. */
typedef struct tessera_batch_out {
  void* data;
  tessera_index ld;     /**< elements from one column to the next */
  tessera_index stride; /**< elements from one matrix to the next */
} tessera_batch_out;
/** One matrix directly after the other. */
tessera_batch_out tessera_batch_array_out(void* data, tessera_index order);

/** A_k x = lambda x for each matrix of a batch. */
typedef struct tessera_eigen_batch_problem {
  int type;           /**< of all matrices: enum tessera_type */
  tessera_batch_in a; /**< Hermitian */
  /** float or double, of the host or of a GPU in use: as many of each matrix as its order, ascending, those of one
      matrix directly after the other's; NaN of a matrix that has failed */
  void* values;
  tessera_batch_out vectors; /**< none: eigenvalues alone. Of a matrix that has failed they have no meaning */
  /** Of the host, one number of each matrix, or null: 0; -j: column j, from 1, has a NaN or an infinity; +j: eigenvalue
      number j, from 1, has not converged */
  int* info;
  void* stream; /**< a cudaStream_t: what was enqueued there is complete before arrays of a GPU are read */
  void* wait_event; /**< a cudaEvent_t, or null: the same of what it was recorded behind */
  void* done_event; /**< a cudaEvent_t, or null: recorded in `stream` when the results are complete */
  int use_stream;   /**< `stream` counts (null is a stream, too) */
} tessera_eigen_batch_problem;
void tessera_eigen_batch_problem_init(tessera_eigen_batch_problem* problem);

typedef struct tessera_eigen_batch_options {
  tessera_index chunk; /**< matrices that one task solves; 0: chosen */
} tessera_eigen_batch_options;
void tessera_eigen_batch_options_init(tessera_eigen_batch_options* options);

typedef struct tessera_eigen_batch_result {
  tessera_index failed; /**< matrices that have failed */
  double seconds;       /**< from the submission to the end */
} tessera_eigen_batch_result;

/** Solves, and waits. For a process of one rank. `result` may be null.
    @return TESSERA_NOT_FINITE or TESSERA_NO_CONVERGENCE where matrices have failed: that of the first one, whose
    number, from 1, is tessera_last_index(). The others have their results all the same. With other failures than these
    `info` says nothing. */
int tessera_eigensolve_batch(tessera_runtime* runtime, const tessera_eigen_batch_problem* problem,
                             const tessera_eigen_batch_options* options, tessera_eigen_batch_result* result);
/** Submits and returns. values, vectors, info and *result are complete when tessera_wait has returned, and must stay
    until then. */
int tessera_submit_eigensolve_batch(tessera_runtime* runtime, const tessera_eigen_batch_problem* problem,
                                    const tessera_eigen_batch_options* options,
                                    tessera_eigen_batch_result* result, tessera_completion** completion);

#ifdef __cplusplus
}
#endif
#endif
