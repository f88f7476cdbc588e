/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Block-sparse matrices: layouts, blocks, other formats, files. See tessera/block_layout.hpp, block_sparse_matrix.hpp,
   block_operations.hpp and block_sparse_files.hpp. */
#ifndef TESSERA_C_BLOCK_MATRIX_H
#define TESSERA_C_BLOCK_MATRIX_H

#include <tessera/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Block sizes and distribution. Matrices share it: it may be freed before them. */
typedef struct tessera_block_layout tessera_block_layout;
/** On the most square grid of all ranks. col_sizes null (and col_blocks 0): those of the rows. Collective.
    @param symmetry enum tessera_symmetry */
int tessera_block_layout_create(tessera_runtime* runtime, tessera_index row_blocks,
                                const tessera_index* row_sizes, tessera_index col_blocks,
                                const tessera_index* col_sizes, int symmetry, tessera_block_layout** layout);
/** With owners: row_owners has for each block row a row of the grid, col_owners for each block column a column. */
int tessera_block_layout_create_distributed(tessera_runtime* runtime, tessera_index row_blocks,
                                            const tessera_index* row_sizes, const int* row_owners,
                                            tessera_index col_blocks, const tessera_index* col_sizes,
                                            const int* col_owners, int grid_rows, int grid_cols,
                                            int column_major, int symmetry, tessera_block_layout** layout);
/** The same shape, the blocks dealt to the ranks at random. */
int tessera_block_layout_homogenized(const tessera_block_layout* layout, uint64_t seed,
                                     tessera_block_layout** homogenized);
/** The rank of a block. */
int tessera_block_layout_owner(const tessera_block_layout* layout, tessera_index block_row,
                               tessera_index block_col, int* rank);
void tessera_block_layout_free(tessera_block_layout* layout);

/** A matrix of which only some blocks are stored, of one scalar type. */
typedef struct tessera_block_matrix tessera_block_matrix;
void tessera_block_matrix_free(tessera_block_matrix* matrix);

/** Collects blocks, then makes a matrix of them: each rank gives blocks that it owns, column-major with leading dimension ld. */
typedef struct tessera_block_builder tessera_block_builder;
int tessera_block_builder_create(tessera_runtime* runtime, int type, const tessera_block_layout* layout,
                                 tessera_block_builder** builder);
/** A block of zeros. */
int tessera_block_builder_reserve(tessera_block_builder* builder, tessera_index block_row,
                                  tessera_index block_col);
int tessera_block_builder_put(tessera_block_builder* builder, tessera_index block_row,
                              tessera_index block_col, const void* values, tessera_index ld);
/** The same, added to what was put before. */
int tessera_block_builder_add(tessera_block_builder* builder, tessera_index block_row,
                              tessera_index block_col, const void* values, tessera_index ld);
/** The matrix of all ranks' blocks. Collective. The builder is empty then. */
int tessera_block_builder_finalize(tessera_block_builder* builder, tessera_block_matrix** matrix);
void tessera_block_builder_free(tessera_block_builder* builder);

typedef struct tessera_block_matrix_info {
  int type;
  int symmetry;
  tessera_index rows, cols;             /**< elements */
  tessera_index block_rows, block_cols; /**< blocks */
  tessera_index stored_blocks;          /**< of all ranks */
  double occupation;                    /**< elements of stored blocks (both halves) over elements */
} tessera_block_matrix_info;
int tessera_block_matrix_get_info(const tessera_block_matrix* matrix, tessera_block_matrix_info* info);
/** Sizes of the block rows and columns; null: not wanted. */
int tessera_block_matrix_sizes(const tessera_block_matrix* matrix, tessera_index* row_sizes,
                               tessera_index* col_sizes);
/** Its layout, to be freed. */
int tessera_block_matrix_layout(const tessera_block_matrix* matrix, tessera_block_layout** layout);

/** Replaces the values of a stored block of this rank. */
int tessera_block_matrix_put(tessera_block_matrix* matrix, tessera_index block_row, tessera_index block_col,
                             const void* values, tessera_index ld);
/** Copies a stored block of this rank out. *stored := whether there is one; values are written only then. */
int tessera_block_matrix_get(const tessera_block_matrix* matrix, tessera_index block_row,
                             tessera_index block_col, void* values, tessera_index ld, int* stored);
/** Called for each stored block of this rank; other than 0 ends the visit and is the cause of TESSERA_CALLBACK_FAILED. */
typedef int (*tessera_block_visitor)(tessera_index block_row, tessera_index block_col, tessera_index rows,
                                     tessera_index cols, const void* values, tessera_index ld, void* user);
int tessera_block_matrix_for_each(const tessera_block_matrix* matrix, tessera_block_visitor visitor,
                                  void* user);

/** The blocks of a dense column-major matrix, given on every rank, that have an element above `threshold` (all: negative). */
int tessera_block_matrix_from_dense(tessera_runtime* runtime, int type, const tessera_block_layout* layout,
                                    const void* values, tessera_index ld, double threshold,
                                    tessera_block_matrix** matrix);
/** The whole matrix, both halves, column-major on every rank. */
int tessera_block_matrix_to_dense(const tessera_block_matrix* matrix, void* values, tessera_index ld);
/** From compressed rows, counted from 0: row row[i] has the entries begin[i] to begin[i + 1] - 1. Each rank gives any rows; entries
    given twice are added. Into a half-stored layout only those on and below the diagonal. Collective. */
int tessera_block_matrix_from_csr(tessera_runtime* runtime, int type, const tessera_block_layout* layout,
                                  tessera_index rows_here, const tessera_index* row,
                                  const tessera_index* begin, const tessera_index* column, const void* values,
                                  tessera_block_matrix** matrix);
/** Compressed rows of the elements above `threshold`, both halves, all on rank 0 or, with on_root 0, block row i on rank i mod
    size. First call with null arrays: *rows_here and *entries are their lengths (begin has one more than rows_here). Collective. */
int tessera_block_matrix_to_csr(const tessera_block_matrix* matrix, double threshold, int on_root,
                                tessera_index* rows_here, tessera_index* entries, tessera_index* row,
                                tessera_index* begin, tessera_index* column, void* values);

/** Matrix Market (block sizes in a text file, or a layout) and HDF5 files. Collective. */
int tessera_block_matrix_read_matrix_market(tessera_runtime* runtime, int type, const char* path,
                                            const char* sizes_path, tessera_block_matrix** matrix);
int tessera_block_matrix_read_matrix_market_in(tessera_runtime* runtime, int type, const char* path,
                                               const tessera_block_layout* layout,
                                               tessera_block_matrix** matrix);
int tessera_block_matrix_write_matrix_market(const tessera_block_matrix* matrix, const char* path,
                                             double threshold);
int tessera_block_matrix_read_hdf5(tessera_runtime* runtime, int type, const char* path,
                                   tessera_block_matrix** matrix);
int tessera_block_matrix_read_hdf5_in(tessera_runtime* runtime, int type, const char* path,
                                      const tessera_block_layout* layout, tessera_block_matrix** matrix);
int tessera_block_matrix_write_hdf5(const tessera_block_matrix* matrix, const char* path);

#ifdef __cplusplus
}
#endif
#endif
