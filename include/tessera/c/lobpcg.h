/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   A few of the smallest or largest eigenvalues of a sparse real symmetric or complex Hermitian matrix. See
   tessera/lobpcg.hpp, sparse_matrix.hpp, operators.hpp and preconditioners.hpp. Types are TESSERA_FLOAT and TESSERA_DOUBLE of
   symmetric matrices, TESSERA_COMPLEX_FLOAT and TESSERA_COMPLEX_DOUBLE of Hermitian ones; eigenvalues are real. */
#ifndef TESSERA_C_LOBPCG_H
#define TESSERA_C_LOBPCG_H

#include <tessera/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A real symmetric or complex Hermitian operator on blocks of vectors. */
typedef struct tessera_operator tessera_operator;
/** From compressed rows, counted from 0, on every rank. uplo: 'L' or 'U' if one triangle is given, 'A' for both. Values in double,
    of a complex `type` two for each, its real and its imaginary part (that of the diagonal is 0); stored in the precision
    `storage` (TESSERA_FLOAT or TESSERA_DOUBLE, also of complex ones), vectors in `type`. `like`: the operator whose cut of the rows this one
    takes (B of A x = lambda B x), or null. Collective. */
int tessera_operator_from_csr(tessera_runtime* runtime, int type, int storage, tessera_index order,
                              const tessera_index* begins, const tessera_index* columns, const void* values,
                              int uplo, const tessera_operator* like, tessera_operator** result);
/** The same from coordinates. */
int tessera_operator_from_coordinates(tessera_runtime* runtime, int type, int storage, tessera_index order,
                                      tessera_index entries, const tessera_index* rows,
                                      const tessera_index* columns, const void* values, int uplo,
                                      const tessera_operator* like, tessera_operator** result);
/** From a Matrix Market file, symmetric, Hermitian or general; a file of complex numbers needs a complex `type`. */
int tessera_operator_from_matrix_market(tessera_runtime* runtime, int type, int storage, const char* path,
                                        const tessera_operator* like, tessera_operator** result);
/** y := A x for rows first_row to end_row - 1 of y, from all of x; row-major, element j of row i of x at x[i ldx + j], of y at
    y[(i - first_row) ldy + j]. Called from workers, of several segments at once. Other than 0 ends the solve. */
typedef int (*tessera_apply)(tessera_index first_row, tessera_index end_row, tessera_index columns,
                             const void* x, tessera_index ldx, void* y, tessera_index ldy, void* user);
/** The same with device pointers: enqueues on `stream`, a cudaStream_t, and returns. */
typedef int (*tessera_apply_on_device)(tessera_index first_row, tessera_index end_row, tessera_index columns,
                                       const void* x, tessera_index ldx, void* y, tessera_index ldy,
                                       void* stream, void* user);
/** An operator of the caller's. segments: of the rows, dealt to the ranks (1 is right on one rank). host or device may be null, not
    both. norm_bound: of the largest |eigenvalue|; 0: unknown. */
int tessera_operator_create(tessera_runtime* runtime, int type, tessera_index order, tessera_index segments,
                            tessera_apply host, tessera_apply_on_device device, void* user, double norm_bound,
                            tessera_operator** result);
int tessera_operator_order(const tessera_operator* a, tessera_index* order);
/** y(:, 0:columns) := A x on row-major host arrays that every rank has. Collective; waits. */
int tessera_operator_apply(const tessera_operator* a, tessera_index columns, const void* x, tessera_index ldx,
                           void* y, tessera_index ldy);
void tessera_operator_free(tessera_operator* a);

typedef struct tessera_preconditioner tessera_preconditioner;
typedef struct tessera_preconditioner_options {
  int largest;   /**< the wanted end */
  int steps;     /**< of fom; 0: chosen */
  int degree;    /**< of chebyshev; 0: chosen */
  int use_shift; /**< `shift` counts; else it lies beyond the outermost Ritz value */
  double shift;
  int use_interval; /**< of chebyshev: the unwanted eigenvalues lie in (interval_lower, interval_upper) */
  double interval_lower, interval_upper;
  double b_norm; /**< about x^H B x / x^H x */
} tessera_preconditioner_options;
void tessera_preconditioner_options_init(tessera_preconditioner_options* options);
/** `a` is of arrays or a file, and must outlive it. */
int tessera_preconditioner_jacobi(const tessera_operator* a, const tessera_preconditioner_options* options,
                                  tessera_preconditioner** result);
int tessera_preconditioner_fom(const tessera_operator* a, const tessera_preconditioner_options* options,
                               tessera_preconditioner** result);
/** Of any operator, which must outlive it. */
int tessera_preconditioner_chebyshev(const tessera_operator* a, const tessera_preconditioner_options* options,
                                     tessera_preconditioner** result);
/** The caller's: rows first_row, ... of w := T r; both row-major, their own first row at [0]. */
typedef int (*tessera_precondition)(tessera_index first_row, tessera_index rows, tessera_index columns,
                                    const void* r, tessera_index ldr, void* w, tessera_index ldw, void* user);
typedef int (*tessera_precondition_on_device)(tessera_index first_row, tessera_index rows,
                                              tessera_index columns, const void* r, tessera_index ldr,
                                              void* w, tessera_index ldw, void* stream, void* user);
int tessera_preconditioner_create(tessera_runtime* runtime, int type, tessera_precondition host,
                                  tessera_precondition_on_device device, void* user,
                                  tessera_preconditioner** result);
void tessera_preconditioner_free(tessera_preconditioner* preconditioner);

typedef struct tessera_lobpcg_step {
  tessera_index iteration, converged, active;
  double largest_residual; /**< over the tolerance */
  tessera_index block;     /**< length of values and residuals */
  const double* values;    /**< Ritz values; valid during the call */
  const double* residuals;
  double seconds; /**< since the start */
} tessera_lobpcg_step;
/** After each iteration, on every rank; other than 0 stops. */
typedef int (*tessera_lobpcg_monitor)(const tessera_lobpcg_step* step, void* user);

/** How the space grows; see EigenMethod of tessera/lobpcg.hpp. */
enum tessera_eigen_method {
  TESSERA_METHOD_LOBPCG = 0,
  TESSERA_METHOD_GENERALIZED_DAVIDSON = 1,
  TESSERA_METHOD_AUTOMATIC = 2,
  TESSERA_METHOD_LANCZOS = 3 /**< neither B nor a preconditioner */
};
enum tessera_lobpcg_norm { TESSERA_NORM_BACKWARD = 0, TESSERA_NORM_RELATIVE = 1, TESSERA_NORM_ABSOLUTE = 2 };

typedef struct tessera_lobpcg_problem {
  const tessera_operator* a;
  const tessera_operator* b;              /**< or null: the identity */
  tessera_preconditioner* preconditioner; /**< or null */
  tessera_index constraint_count;
  const void* constraints; /**< row-major n x constraint_count, of the operators' type, on every rank */
  tessera_index guess_count;
  const void* guess; /**< row-major n x guess_count */
} tessera_lobpcg_problem;
void tessera_lobpcg_problem_init(tessera_lobpcg_problem* problem);

typedef struct tessera_lobpcg_options {
  tessera_index
      count;  /**< wanted eigenpairs; more than 32 are found in groups, not by Lanczos (lobpcg.hpp) */
  int method; /**< enum tessera_eigen_method */
  tessera_index block;      /**< 0: chosen */
  tessera_index basis;      /**< not LOBPCG: columns of the basis; 0: chosen */
  int largest;              /**< the wanted end */
  double tolerance;         /**< 0: chosen */
  int norm;                 /**< enum tessera_lobpcg_norm */
  int basic;                /**< the basic variant, not the orthonormal one */
  tessera_index iterations; /**< at most */
  int lock;
  uint64_t seed;
  tessera_lobpcg_monitor monitor;
  void* monitor_user;
  const char* checkpoint;              /**< file (HDF5) to go on from later (LobpcgCheckpoint); null: none */
  tessera_index checkpoint_iterations; /**< written after so many; 0: by time alone */
  double checkpoint_seconds;           /**< or after so many; 0: by iterations alone */
  const char* checkpoint_label;        /**< must be equal when the file is read; null: empty */
  const char* resume;                  /**< checkpoint of the same problem to go on from; null: none */
} tessera_lobpcg_options;
void tessera_lobpcg_options_init(tessera_lobpcg_options* options);

typedef struct tessera_lobpcg_result {
  tessera_index converged, iterations, restarts, columns_multiplied, multiplications;
  double seconds;
  tessera_index iterations_before; /**< of the iterations, those before the checkpoint that was resumed */
  tessera_index checkpoints;       /**< written */
  int checkpoint_failed;           /**< the last one could not be written: the log has the reason */
} tessera_lobpcg_result;

/** values: `count` doubles; residuals: `count`, or null; vectors: row-major n x count of the operators' type, ld at least count, on
    every rank, or null. Also without convergence they are the best there are; of more than 32 pairs those that were not come to are NaN
    then, their vectors untouched. Collective; waits. */
int tessera_lobpcg(const tessera_lobpcg_problem* problem, const tessera_lobpcg_options* options,
                   double* values, double* residuals, void* vectors, tessera_index ldv,
                   tessera_lobpcg_result* result);
/** Submits; everything is filled in by tessera_wait. */
int tessera_submit_lobpcg(const tessera_lobpcg_problem* problem, const tessera_lobpcg_options* options,
                          double* values, double* residuals, void* vectors, tessera_index ldv,
                          tessera_lobpcg_result* result, tessera_completion** completion);

#ifdef __cplusplus
}
#endif
#endif
