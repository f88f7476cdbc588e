! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> tessera/c/block_matrix.h and sequences of tessera/c/runtime.h.
module tessera_block_bindings
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_double, c_char, c_funptr
  implicit none
  public
  private :: c_int, c_ptr, c_int64_t, c_double, c_char, c_funptr

  type, bind(c) :: c_block_matrix_info
    integer(c_int) :: type, symmetry
    integer(c_int64_t) :: rows, cols, block_rows, block_cols, stored_blocks
    real(c_double) :: occupation
  end type

  interface
    function c_sequence_create(runtime, sequence) bind(c, name="tessera_sequence_create") result(code)
      import
      type(c_ptr), value :: runtime
      type(c_ptr), intent(out) :: sequence
      integer(c_int) :: code
    end function
    function c_sequence_wait(sequence) bind(c, name="tessera_sequence_wait") result(code)
      import
      type(c_ptr), value :: sequence
      integer(c_int) :: code
    end function
    subroutine c_sequence_free(sequence) bind(c, name="tessera_sequence_free")
      import
      type(c_ptr), value :: sequence
    end subroutine
    function c_block_layout_create(runtime, row_blocks, row_sizes, col_blocks, col_sizes, symmetry, &
      layout) bind(c, name="tessera_block_layout_create") result(code)
      import
      type(c_ptr), value :: runtime, row_sizes, col_sizes
      integer(c_int64_t), value :: row_blocks, col_blocks
      integer(c_int), value :: symmetry
      type(c_ptr), intent(out) :: layout
      integer(c_int) :: code
    end function
    function c_block_layout_create_distributed(runtime, row_blocks, row_sizes, row_owners, col_blocks, &
      col_sizes, col_owners, grid_rows, grid_cols, column_major, symmetry, layout) bind(c, &
      name="tessera_block_layout_create_distributed") result(code)
      import
      type(c_ptr), value :: runtime, row_sizes, row_owners, col_sizes, col_owners
      integer(c_int64_t), value :: row_blocks, col_blocks
      integer(c_int), value :: grid_rows, grid_cols, column_major, symmetry
      type(c_ptr), intent(out) :: layout
      integer(c_int) :: code
    end function
    function c_block_layout_homogenized(layout, seed, homogenized) bind(c, &
      name="tessera_block_layout_homogenized") result(code)
      import
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: seed
      type(c_ptr), intent(out) :: homogenized
      integer(c_int) :: code
    end function
    function c_block_layout_owner(layout, block_row, block_col, rank) bind(c, &
      name="tessera_block_layout_owner") result(code)
      import
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: block_row, block_col
      integer(c_int), intent(inout) :: rank
      integer(c_int) :: code
    end function
    subroutine c_block_layout_free(layout) bind(c, name="tessera_block_layout_free")
      import
      type(c_ptr), value :: layout
    end subroutine
    subroutine c_block_matrix_free(matrix) bind(c, name="tessera_block_matrix_free")
      import
      type(c_ptr), value :: matrix
    end subroutine
    function c_block_builder_create(runtime, type, layout, builder) bind(c, &
      name="tessera_block_builder_create") result(code)
      import
      type(c_ptr), value :: runtime, layout
      integer(c_int), value :: type
      type(c_ptr), intent(out) :: builder
      integer(c_int) :: code
    end function
    function c_block_builder_reserve(builder, block_row, block_col) bind(c, &
      name="tessera_block_builder_reserve") result(code)
      import
      type(c_ptr), value :: builder
      integer(c_int64_t), value :: block_row, block_col
      integer(c_int) :: code
    end function
    function c_block_builder_put(builder, block_row, block_col, values, ld) bind(c, &
      name="tessera_block_builder_put") result(code)
      import
      type(c_ptr), value :: builder, values
      integer(c_int64_t), value :: block_row, block_col, ld
      integer(c_int) :: code
    end function
    function c_block_builder_add(builder, block_row, block_col, values, ld) bind(c, &
      name="tessera_block_builder_add") result(code)
      import
      type(c_ptr), value :: builder, values
      integer(c_int64_t), value :: block_row, block_col, ld
      integer(c_int) :: code
    end function
    function c_block_builder_finalize(builder, matrix) bind(c, &
      name="tessera_block_builder_finalize") result(code)
      import
      type(c_ptr), value :: builder
      type(c_ptr), intent(out) :: matrix
      integer(c_int) :: code
    end function
    subroutine c_block_builder_free(builder) bind(c, name="tessera_block_builder_free")
      import
      type(c_ptr), value :: builder
    end subroutine
    function c_block_matrix_get_info(matrix, info) bind(c, name="tessera_block_matrix_get_info") result(code)
      import
      type(c_ptr), value :: matrix
      type(c_block_matrix_info), intent(inout) :: info
      integer(c_int) :: code
    end function
    function c_block_matrix_sizes(matrix, row_sizes, col_sizes) bind(c, &
      name="tessera_block_matrix_sizes") result(code)
      import
      type(c_ptr), value :: matrix, row_sizes, col_sizes
      integer(c_int) :: code
    end function
    function c_block_matrix_layout(matrix, layout) bind(c, name="tessera_block_matrix_layout") result(code)
      import
      type(c_ptr), value :: matrix
      type(c_ptr), intent(out) :: layout
      integer(c_int) :: code
    end function
    function c_block_matrix_put(matrix, block_row, block_col, values, ld) bind(c, &
      name="tessera_block_matrix_put") result(code)
      import
      type(c_ptr), value :: matrix, values
      integer(c_int64_t), value :: block_row, block_col, ld
      integer(c_int) :: code
    end function
    function c_block_matrix_get(matrix, block_row, block_col, values, ld, stored) bind(c, &
      name="tessera_block_matrix_get") result(code)
      import
      type(c_ptr), value :: matrix, values
      integer(c_int64_t), value :: block_row, block_col, ld
      integer(c_int), intent(inout) :: stored
      integer(c_int) :: code
    end function
    function c_block_matrix_for_each(matrix, visitor, user) bind(c, &
      name="tessera_block_matrix_for_each") result(code)
      import
      type(c_ptr), value :: matrix, user
      type(c_funptr), value :: visitor
      integer(c_int) :: code
    end function
    function c_block_matrix_from_dense(runtime, type, layout, values, ld, threshold, matrix) bind(c, &
      name="tessera_block_matrix_from_dense") result(code)
      import
      type(c_ptr), value :: runtime, layout, values
      integer(c_int), value :: type
      integer(c_int64_t), value :: ld
      real(c_double), value :: threshold
      type(c_ptr), intent(out) :: matrix
      integer(c_int) :: code
    end function
    function c_block_matrix_to_dense(matrix, values, ld) bind(c, &
      name="tessera_block_matrix_to_dense") result(code)
      import
      type(c_ptr), value :: matrix, values
      integer(c_int64_t), value :: ld
      integer(c_int) :: code
    end function
    function c_block_matrix_from_csr(runtime, type, layout, rows_here, row, begin, column, values, &
      matrix) bind(c, name="tessera_block_matrix_from_csr") result(code)
      import
      type(c_ptr), value :: runtime, layout, row, begin, column, values
      integer(c_int), value :: type
      integer(c_int64_t), value :: rows_here
      type(c_ptr), intent(out) :: matrix
      integer(c_int) :: code
    end function
    function c_block_matrix_to_csr(matrix, threshold, on_root, rows_here, entries, row, begin, column, &
      values) bind(c, name="tessera_block_matrix_to_csr") result(code)
      import
      type(c_ptr), value :: matrix, row, begin, column, values
      real(c_double), value :: threshold
      integer(c_int), value :: on_root
      integer(c_int64_t), intent(inout) :: rows_here, entries
      integer(c_int) :: code
    end function
    function c_block_matrix_read_matrix_market(runtime, type, path, sizes_path, matrix) bind(c, &
      name="tessera_block_matrix_read_matrix_market") result(code)
      import
      type(c_ptr), value :: runtime, sizes_path
      integer(c_int), value :: type
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: matrix
      integer(c_int) :: code
    end function
    function c_block_matrix_read_matrix_market_in(runtime, type, path, layout, matrix) bind(c, &
      name="tessera_block_matrix_read_matrix_market_in") result(code)
      import
      type(c_ptr), value :: runtime, layout
      integer(c_int), value :: type
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: matrix
      integer(c_int) :: code
    end function
    function c_block_matrix_write_matrix_market(matrix, path, threshold) bind(c, &
      name="tessera_block_matrix_write_matrix_market") result(code)
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(in) :: path(*)
      real(c_double), value :: threshold
      integer(c_int) :: code
    end function
    function c_block_matrix_read_hdf5(runtime, type, path, matrix) bind(c, &
      name="tessera_block_matrix_read_hdf5") result(code)
      import
      type(c_ptr), value :: runtime
      integer(c_int), value :: type
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: matrix
      integer(c_int) :: code
    end function
    function c_block_matrix_read_hdf5_in(runtime, type, path, layout, matrix) bind(c, &
      name="tessera_block_matrix_read_hdf5_in") result(code)
      import
      type(c_ptr), value :: runtime, layout
      integer(c_int), value :: type
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: matrix
      integer(c_int) :: code
    end function
    function c_block_matrix_write_hdf5(matrix, path) bind(c, &
      name="tessera_block_matrix_write_hdf5") result(code)
      import
      type(c_ptr), value :: matrix
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: code
    end function
  end interface
end module
