/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Arithmetic with block-sparse matrices. See tessera/block_operations.hpp, multiply.hpp, multiply_vectors.hpp, block_permutation.hpp
   and spectral_bounds.hpp. Matrices of one call have one scalar type; factors are given by the address of a number of that type
   (null: 1). All are collective. */
#ifndef TESSERA_C_BLOCK_OPERATIONS_H
#define TESSERA_C_BLOCK_OPERATIONS_H

#include <tessera/c/block_matrix.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A := alpha A + beta B */
int tessera_block_add(tessera_sequence* sequence, const void* alpha, tessera_block_matrix* a,
                      const void* beta, const tessera_block_matrix* b);
/** A := alpha A */
int tessera_block_scale(tessera_sequence* sequence, const void* alpha, tessera_block_matrix* a);
/** A := diag(v) A (side 'L') or A diag(v) ('R'); v has an entry for each row (column), on every rank. */
int tessera_block_scale_by_vector(tessera_sequence* sequence, int side, const void* v, tessera_index length,
                                  tessera_block_matrix* a);
/** Every element of the stored blocks := value. */
int tessera_block_set_all(tessera_sequence* sequence, const void* value, tessera_block_matrix* a);
/** A := A + alpha I */
int tessera_block_add_on_diagonal(tessera_sequence* sequence, const void* alpha, tessera_block_matrix* a);
/** The diagonal elements of stored blocks := v, and v := the diagonal; min(rows, cols) numbers, on every rank. */
int tessera_block_set_diagonal(tessera_sequence* sequence, const void* v, tessera_index length,
                               tessera_block_matrix* a);
int tessera_block_get_diagonal(const tessera_block_matrix* a, void* v, tessera_index length);
/** Every stored element := f(first element + second). */
enum tessera_element_function {
  TESSERA_ELEMENT_INVERSE = 0,
  TESSERA_ELEMENT_TANH,
  TESSERA_ELEMENT_TANH_DERIVATIVE,
  TESSERA_ELEMENT_ARTANH,
  TESSERA_ELEMENT_SIN,
  TESSERA_ELEMENT_COS,
  TESSERA_ELEMENT_ASIN,
  TESSERA_ELEMENT_SQUARE_ROOT,
  TESSERA_ELEMENT_ABSOLUTE,
  TESSERA_ELEMENT_TRUNCATE
};
int tessera_block_function_of_elements(tessera_sequence* sequence, int function, const void* first,
                                       const void* second, tessera_block_matrix* a);

/** New matrices, to be freed by the caller. */
int tessera_block_copy(tessera_sequence* sequence, const tessera_block_matrix* a,
                       tessera_block_matrix** result);
/** In the other precision of the same kind of numbers. */
int tessera_block_convert(tessera_sequence* sequence, const tessera_block_matrix* a,
                          tessera_block_matrix** result);
/** A^T, or A^H with op TESSERA_ADJOINT. */
int tessera_block_transpose(tessera_sequence* sequence, int op, const tessera_block_matrix* a,
                            tessera_block_matrix** result);
/** With both halves stored. */
int tessera_block_desymmetrize(tessera_sequence* sequence, const tessera_block_matrix* a,
                               tessera_block_matrix** result);
/** In another layout of the same block sizes. */
int tessera_block_redistribute(tessera_sequence* sequence, const tessera_block_matrix* a,
                               const tessera_block_layout* layout, tessera_block_matrix** result);
/** The blocks on and above the diagonal; with cut_diagonal zeros below the diagonal within them. */
int tessera_block_upper_triangle(tessera_sequence* sequence, const tessera_block_matrix* a, int cut_diagonal,
                                 tessera_block_matrix** result);
int tessera_block_diagonal(tessera_sequence* sequence, const tessera_block_matrix* a,
                           tessera_block_matrix** result);
int tessera_block_diagonal_inverse(tessera_sequence* sequence, const tessera_block_matrix* a,
                                   tessera_block_matrix** result);
int tessera_block_diagonal_cholesky(tessera_sequence* sequence, const tessera_block_matrix* a,
                                    tessera_block_matrix** result);
int tessera_block_diagonal_inverse_cholesky(tessera_sequence* sequence, const tessera_block_matrix* a,
                                            tessera_block_matrix** result);
/** The elementwise product. */
int tessera_block_hadamard(tessera_sequence* sequence, const tessera_block_matrix* a,
                           const tessera_block_matrix* b, tessera_block_matrix** result);
/** P A Q^T: block (i, j) becomes block (rows[i], cols[j]). */
int tessera_block_permute(tessera_sequence* sequence, const tessera_block_matrix* a,
                          const tessera_index* rows, const tessera_index* cols,
                          tessera_block_matrix** result);

/** Drops blocks with a Frobenius norm below eps. *dropped (or null) := their number on all ranks. */
int tessera_block_filter(tessera_block_matrix* a, double eps, tessera_index* dropped);
/** Drops all blocks. */
int tessera_block_clear(tessera_block_matrix* a);
/** Adds blocks, zero where new; each rank names any. */
int tessera_block_reserve(tessera_block_matrix* a, tessera_index count, const tessera_index* block_rows,
                          const tessera_index* block_cols);

/** Numbers of matrices. *value has the matrix' scalar type where it is a `void`. */
int tessera_block_trace(const tessera_block_matrix* a, void* value);
/** sum conj(A_ij) B_ij */
int tessera_block_dot(const tessera_block_matrix* a, const tessera_block_matrix* b, void* value);
int tessera_block_frobenius_norm(const tessera_block_matrix* a, double* value);
int tessera_block_max_abs_norm(const tessera_block_matrix* a, double* value);
int tessera_block_gershgorin_norm(const tessera_block_matrix* a, double* value);
/** The Euclidean norm of each column, on every rank. */
int tessera_block_column_norms(const tessera_block_matrix* a, double* values, tessera_index length);
int tessera_block_checksum(const tessera_block_matrix* a, int by_position, double* value);

/** C := alpha op(A) op(B) + beta C */
typedef struct tessera_multiply_options {
  double filter_eps;   /**< 0: none */
  int at_least;        /**< the filter may skip less than it says */
  int retain_sparsity; /**< only the blocks that C has already */
  int reuse_plan;      /**< what is found of the patterns is kept */
  int result_on_host;  /**< C's values are in host memory at the end */
  tessera_index first_row, end_row, first_col,
      end_col;                          /**< elements of C that take part; an end of -1: all */
  tessera_index first_inner, end_inner; /**< and of the inner dimension */
  tessera_index steps;                  /**< of the inner dimension, over ranks; 0: chosen */
} tessera_multiply_options;
void tessera_multiply_options_init(tessera_multiply_options* options);
typedef struct tessera_multiply_result {
  tessera_index products;          /**< of blocks */
  double flop;                     /**< 2 m n k each, complex: 8 m n k */
  tessera_index filtered_products; /**< skipped by their norms */
  tessera_index filtered_blocks;   /**< dropped after the product */
  int plan_reused;
  double seconds;
} tessera_multiply_result;
int tessera_multiply(const void* alpha, int op_a, const tessera_block_matrix* a, int op_b,
                     const tessera_block_matrix* b, const void* beta, tessera_block_matrix* c,
                     const tessera_multiply_options* options, tessera_multiply_result* result);
/** Submits. With a filter that drops blocks C becomes the product in tessera_wait. A, B and C must stay until then. */
int tessera_submit_multiply(const void* alpha, int op_a, const tessera_block_matrix* a, int op_b,
                            const tessera_block_matrix* b, const void* beta, tessera_block_matrix* c,
                            const tessera_multiply_options* options, tessera_multiply_result* result,
                            tessera_completion** completion);
/** Y := alpha op(A) X + beta Y; column-major host arrays of `width` columns that every rank has. */
int tessera_block_multiply_vectors(const void* alpha, int op, const tessera_block_matrix* a,
                                   tessera_index width, const void* x, tessera_index ldx, const void* beta,
                                   void* y, tessera_index ldy);

/** Between which all eigenvalues of a Hermitian matrix lie (Gershgorin). */
int tessera_gershgorin_bounds(const tessera_block_matrix* a, double* lower, double* upper);
typedef struct tessera_extremal_result {
  double lowest, lowest_residual, lowest_bound, lowest_safe_bound;
  double highest, highest_residual, highest_bound, highest_safe_bound;
  tessera_index products;
} tessera_extremal_result;
/** The extremal eigenvalues by Lanczos. tolerance 0: 1e-3 of the spectrum's width; max_products 0: 100. */
int tessera_extremal_eigenvalues(const tessera_block_matrix* a, double tolerance, tessera_index max_products,
                                 uint64_t seed, tessera_extremal_result* result);

#ifdef __cplusplus
}
#endif
#endif
