! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Block-sparse matrices: layouts, builders, matrices, files. What has arrays of numbers is in block_arrays.
!>
!> Blocks are counted from 1. A scalar type is a letter: 's' real(4), 'd' real(8), 'c' complex(4), 'z' complex(8). A
!> symmetry is one: 'N' none, 'S' symmetric, 'A' antisymmetric, 'H' Hermitian; other than 'N' only the blocks on and
!> below the diagonal are given and stored.
module tessera_block_matrices
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_char, c_null_ptr, c_loc, c_double
  use tessera_base
  use tessera_objects
  use tessera_runtimes
  use tessera_block_bindings
  implicit none
  private
  public :: block_layout, block_builder, block_matrix, block_matrix_info, task_sequence, sequence_handle, sizes_in_c
  public :: block_matrix_read_matrix_market, block_matrix_write_matrix_market
  public :: block_matrix_read_hdf5, block_matrix_write_hdf5, new_matrix, known_type, fits_block, &
    fits_block_of, fits

  !> What arrays of blocks are checked against.
  type :: block_sizes
    integer, allocatable :: rows(:), cols(:)
  end type

  !> Block sizes and distribution. Matrices share it: it may be freed before them.
  type, extends(library_object) :: block_layout
    type(block_sizes) :: sizes             !< not for programs
  contains
    procedure :: create => layout_create
    procedure :: create_homogenized => layout_create_homogenized
    procedure :: create_of => layout_create_of
    procedure :: owner => layout_owner
  end type

  !> Collects blocks, then makes a matrix of them: each rank gives blocks that it owns. block_builder_put and
  !> block_builder_add take the blocks.
  type, extends(library_object) :: block_builder
    type(block_sizes) :: block             !< not for programs
    character :: scalar_type = " "         !< not for programs
  contains
    procedure :: create => builder_create
    procedure :: reserve => builder_reserve
    procedure :: finalize => builder_finalize
  end type

  !> A matrix of which only some blocks are stored, of one scalar type.
  type, extends(library_object) :: block_matrix
    character :: scalar_type = " "                     !< not for programs
    type(block_sizes), pointer :: block => null()      !< not for programs; found when they are first asked for
  contains
    procedure :: info => matrix_info
    procedure :: sizes => matrix_sizes
    final :: matrix_final
  end type

  type :: block_matrix_info
    character :: scalar_type = " ", symmetry = " "
    integer(tessera_index) :: rows = 0, cols = 0                  !< elements
    integer(tessera_index) :: block_rows = 0, block_cols = 0      !< blocks
    integer(tessera_index) :: stored_blocks = 0                   !< of all ranks
    real(dp) :: occupation = 0      !< elements of stored blocks (both halves) over elements
  end type

  !> Operations that are submitted one after the other, without waiting. A procedure that takes a sequence may be
  !> called without one: then it waits for its own tasks.
  type, extends(library_object) :: task_sequence
  contains
    procedure :: create => sequence_create
    procedure :: wait => sequence_wait
  end type

contains

  !> Makes a layout of block sizes, on the most square grid of all ranks, or with owners. Collective.
  !> @param col_sizes absent: those of the rows
  !> @param symmetry 'N', the default, 'S', 'A' or 'H'
  !> @param row_owners for each block row a row of the grid, from 0; with it col_owners, grid_rows and grid_cols
  !> @param column_major ranks go down the columns of the grid, not along its rows
  subroutine layout_create(self, row_sizes, col_sizes, symmetry, row_owners, col_owners, grid_rows, grid_cols, &
    column_major, runtime, status)
    class(block_layout), intent(inout) :: self
    integer, intent(in) :: row_sizes(:)
    integer, optional, intent(in) :: col_sizes(:), row_owners(:), col_owners(:), grid_rows, grid_cols
    character, optional, intent(in) :: symmetry
    logical, optional, intent(in) :: column_major
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    integer(c_int64_t), allocatable, target :: rows(:), cols(:)
    integer(c_int), allocatable, target :: of_rows(:), of_cols(:)
    integer(c_int) :: relation, down
    relation = iachar("N")
    if (present(symmetry)) relation = iachar(symmetry)
    allocate (rows, source=sizes_in_c(row_sizes))
    if (present(col_sizes)) then
      allocate (cols, source=sizes_in_c(col_sizes))
    else
      allocate (cols, source=rows)
    end if
    call self%own(c_block_layout_free)
    self%sizes%rows = row_sizes
    self%sizes%cols = row_sizes
    if (present(col_sizes)) self%sizes%cols = col_sizes
    if (present(row_owners) .neqv. (present(col_owners) .and. present(grid_rows) .and. present(grid_cols))) then
      call refuse("row_owners, col_owners, grid_rows, grid_cols: expected all or none of them", status)
    else if (.not. present(row_owners)) then
      call finish(c_block_layout_create(runtime_handle(runtime), size(row_sizes, kind=c_int64_t), c_loc(rows), &
        merge(size(cols, kind=c_int64_t) - 1, 0_c_int64_t, present(col_sizes)), &
        merge(c_loc(cols), c_null_ptr, present(col_sizes)), relation, self%handle), status)
    else if (size(row_owners) /= size(rows) - 1 .or. size(col_owners) /= size(cols) - 1) then
      call refuse("row_owners, col_owners: expected an owner for each block row and block column", status)
    else
      allocate (of_rows, source=[int(row_owners, c_int), 0_c_int])
      allocate (of_cols, source=[int(col_owners, c_int), 0_c_int])
      down = 0
      if (present(column_major)) down = merge(1_c_int, 0_c_int, column_major)
      call finish(c_block_layout_create_distributed(runtime_handle(runtime), size(row_sizes, kind=c_int64_t), &
        c_loc(rows), c_loc(of_rows), merge(size(cols, kind=c_int64_t) - 1, 0_c_int64_t, present(col_sizes)), &
        merge(c_loc(cols), c_null_ptr, present(col_sizes)), c_loc(of_cols), int(grid_rows, c_int), &
        int(grid_cols, c_int), down, relation, self%handle), status)
    end if
  end subroutine

  !> The shape of another layout, the blocks dealt to the ranks at random.
  subroutine layout_create_homogenized(self, layout, seed, status)
    class(block_layout), intent(inout) :: self
    type(block_layout), intent(in) :: layout
    integer(tessera_index), intent(in) :: seed
    integer, optional, intent(out) :: status
    call self%own(c_block_layout_free)
    self%sizes = layout%sizes
    call finish(c_block_layout_homogenized(layout%handle, seed, self%handle), status)
  end subroutine

  !> The layout of a matrix.
  subroutine layout_create_of(self, matrix, status)
    class(block_layout), intent(inout) :: self
    class(block_matrix), intent(in) :: matrix
    integer, optional, intent(out) :: status
    integer(c_int) :: code
    call self%own(c_block_layout_free)
    code = c_block_matrix_layout(matrix%handle, self%handle)
    if (code == 0) call matrix%sizes(self%sizes%rows, self%sizes%cols)
    call finish(code, status)
  end subroutine

  !> The rank of a block; with a failure -1.
  function layout_owner(self, block_row, block_col, status) result(rank)
    class(block_layout), intent(in) :: self
    integer, intent(in) :: block_row, block_col
    integer, optional, intent(out) :: status
    integer :: rank
    integer(c_int) :: found, code
    found = -1
    code = c_block_layout_owner(self%handle, int(block_row, c_int64_t) - 1, int(block_col, c_int64_t) - 1, found)
    rank = int(found)
    call finish(code, status)
  end function

  !> @param scalar_type 's', 'd', 'c' or 'z'
  subroutine builder_create(self, scalar_type, layout, runtime, status)
    class(block_builder), intent(inout) :: self
    character, intent(in) :: scalar_type
    type(block_layout), intent(in) :: layout
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    call self%own(c_block_builder_free)
    self%scalar_type = scalar_type
    self%block = layout%sizes
    call finish(c_block_builder_create(runtime_handle(runtime), iachar(scalar_type, c_int), layout%handle, &
      self%handle), status)
  end subroutine

  !> A block of zeros.
  subroutine builder_reserve(self, block_row, block_col, status)
    class(block_builder), intent(inout) :: self
    integer, intent(in) :: block_row, block_col
    integer, optional, intent(out) :: status
    call finish(c_block_builder_reserve(self%handle, int(block_row, c_int64_t) - 1, int(block_col, c_int64_t) - 1), &
      status)
  end subroutine

  !> The matrix of all ranks' blocks. Collective. The builder is empty then.
  subroutine builder_finalize(self, matrix, status)
    class(block_builder), intent(inout) :: self
    type(block_matrix), intent(inout) :: matrix
    integer, optional, intent(out) :: status
    call new_matrix(matrix, self%scalar_type)
    call finish(c_block_builder_finalize(self%handle, matrix%handle), status)
  end subroutine

  function matrix_info(self, status) result(info)
    class(block_matrix), intent(in) :: self
    integer, optional, intent(out) :: status
    type(block_matrix_info) :: info
    type(c_block_matrix_info) :: found
    integer(c_int) :: code
    found = c_block_matrix_info(0, 0, 0, 0, 0, 0, 0, 0.0_c_double)
    code = c_block_matrix_get_info(self%handle, found)
    if (code == 0) info = block_matrix_info(achar(found%type), achar(found%symmetry), found%rows, found%cols, &
      found%block_rows, found%block_cols, found%stored_blocks, found%occupation)
    call finish(code, status)
  end function

  !> Sizes of the block rows and of the block columns.
  subroutine matrix_sizes(self, row_sizes, col_sizes, status)
    class(block_matrix), intent(in) :: self
    integer, allocatable, intent(out) :: row_sizes(:)
    integer, allocatable, optional, intent(out) :: col_sizes(:)
    integer, optional, intent(out) :: status
    integer(c_int64_t), allocatable, target :: rows(:), cols(:)
    type(c_block_matrix_info) :: found
    integer(c_int) :: code
    found = c_block_matrix_info(0, 0, 0, 0, 0, 0, 0, 0.0_c_double)
    code = c_block_matrix_get_info(self%handle, found)
    allocate (rows(found%block_rows + 1), cols(found%block_cols + 1))
    if (code == 0) code = c_block_matrix_sizes(self%handle, c_loc(rows), c_loc(cols))
    if (code == 0) then
      row_sizes = int(rows(:found%block_rows))
      if (present(col_sizes)) col_sizes = int(cols(:found%block_cols))
    end if
    call finish(code, status)
  end subroutine

  !> Reads a Matrix Market file, which may be compressed by gzip. Collective.
  !> @param sizes a text file of the block sizes, or @param layout: one of the two
  subroutine block_matrix_read_matrix_market(matrix, scalar_type, path, sizes, layout, runtime, status)
    type(block_matrix), intent(inout) :: matrix
    character, intent(in) :: scalar_type
    character(*), intent(in) :: path
    character(*), optional, intent(in) :: sizes
    type(block_layout), optional, intent(in) :: layout
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    character(kind=c_char), allocatable, target :: sizes_path(:)
    call new_matrix(matrix, scalar_type)
    if (present(sizes) .eqv. present(layout)) then
      call refuse("sizes, layout: expected one of the two", status)
    else if (present(layout)) then
      call finish(c_block_matrix_read_matrix_market_in(runtime_handle(runtime), iachar(scalar_type, c_int), &
        c_text(path), layout%handle, matrix%handle), status)
    else
      allocate (sizes_path, source=c_text(sizes))
      call finish(c_block_matrix_read_matrix_market(runtime_handle(runtime), iachar(scalar_type, c_int), &
        c_text(path), c_loc(sizes_path), matrix%handle), status)
    end if
  end subroutine

  !> Writes the elements above `threshold`; absent: all of the stored blocks. Collective.
  subroutine block_matrix_write_matrix_market(matrix, path, threshold, status)
    type(block_matrix), intent(in) :: matrix
    character(*), intent(in) :: path
    real(dp), optional, intent(in) :: threshold
    integer, optional, intent(out) :: status
    real(c_double) :: above
    above = -1
    if (present(threshold)) above = threshold
    call finish(c_block_matrix_write_matrix_market(matrix%handle, c_text(path), above), status)
  end subroutine

  !> Reads an HDF5 file, in its own layout or in another one of the same block sizes. Collective.
  subroutine block_matrix_read_hdf5(matrix, scalar_type, path, layout, runtime, status)
    type(block_matrix), intent(inout) :: matrix
    character, intent(in) :: scalar_type
    character(*), intent(in) :: path
    type(block_layout), optional, intent(in) :: layout
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    call new_matrix(matrix, scalar_type)
    if (present(layout)) then
      call finish(c_block_matrix_read_hdf5_in(runtime_handle(runtime), iachar(scalar_type, c_int), c_text(path), &
        layout%handle, matrix%handle), status)
    else
      call finish(c_block_matrix_read_hdf5(runtime_handle(runtime), iachar(scalar_type, c_int), c_text(path), &
        matrix%handle), status)
    end if
  end subroutine

  subroutine block_matrix_write_hdf5(matrix, path, status)
    type(block_matrix), intent(in) :: matrix
    character(*), intent(in) :: path
    integer, optional, intent(out) :: status
    call finish(c_block_matrix_write_hdf5(matrix%handle, c_text(path)), status)
  end subroutine

  !> Starts a sequence.
  subroutine sequence_create(self, runtime, status)
    class(task_sequence), intent(inout) :: self
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    call self%own(c_sequence_free)
    call finish(c_sequence_create(runtime_handle(runtime), self%handle), status)
  end subroutine

  !> Waits for all operations so far; `status` is how they have ended. The sequence is over then. Collective.
  subroutine sequence_wait(self, status)
    class(task_sequence), intent(inout) :: self
    integer, optional, intent(out) :: status
    call finish(c_sequence_wait(self%handle), status)
  end subroutine

  !> What the C interface takes: a null pointer for an absent sequence.
  function sequence_handle(sequence) result(handle)
    type(task_sequence), optional, intent(in) :: sequence
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(sequence)) handle = sequence%handle
  end function

  !> Makes a variable ready to take a new matrix of a scalar type.
  subroutine new_matrix(matrix, scalar_type)
    type(block_matrix), intent(inout) :: matrix
    character, intent(in) :: scalar_type
    call matrix%own(c_block_matrix_free)
    matrix%scalar_type = scalar_type
    if (associated(matrix%block)) deallocate (matrix%block)
    allocate (matrix%block)
  end subroutine

  impure elemental subroutine matrix_final(self)
    type(block_matrix), intent(inout) :: self
    if (associated(self%block)) deallocate (self%block)
  end subroutine

  !> Whether an array is large enough for a block; what block numbers are wrong is for the library to find.
  function fits_block(sizes, block_row, block_col, extents, status) result(good)
    type(block_sizes), intent(in) :: sizes
    integer, intent(in) :: block_row, block_col, extents(2)
    integer, optional, intent(out) :: status
    logical :: good
    good = .true.
    if (.not. (allocated(sizes%rows) .and. allocated(sizes%cols))) return
    if (min(block_row, block_col) < 1 .or. block_row > size(sizes%rows) .or. block_col > size(sizes%cols)) return
    good = extents(1) >= sizes%rows(block_row) .and. extents(2) >= sizes%cols(block_col)
    if (.not. good) call refuse("values: expected an array as large as the block", status)
  end function

  !> The same for a block of a matrix.
  function fits_block_of(matrix, block_row, block_col, extents, status) result(good)
    type(block_matrix), intent(in) :: matrix
    integer, intent(in) :: block_row, block_col, extents(2)
    integer, optional, intent(out) :: status
    logical :: good
    integer :: code
    good = .true.
    if (.not. (matrix%exists() .and. associated(matrix%block))) return
    if (.not. allocated(matrix%block%rows)) call matrix%sizes(matrix%block%rows, matrix%block%cols, code)
    good = fits_block(matrix%block, block_row, block_col, extents, status)
  end function

  !> Whether an array is large enough for what has so many rows and columns.
  function fits(extents, rows, cols, name, status) result(good)
    integer, intent(in) :: extents(:)
    integer(tessera_index), intent(in) :: rows, cols
    character(*), intent(in) :: name
    integer, optional, intent(out) :: status
    logical :: good
    good = extents(1) >= rows .and. extents(2) >= cols
    if (.not. good) call refuse(name // ": expected more rows or columns", status)
  end function

  !> Whether a matrix has the scalar type of an argument; says what is wrong.
  function known_type(matrix_type, scalar_type, name, status) result(good)
    character, intent(in) :: matrix_type, scalar_type
    character(*), intent(in) :: name
    integer, optional, intent(out) :: status
    logical :: good
    good = matrix_type == scalar_type
    if (.not. good) call refuse(name // ": has the scalar type '" // scalar_type // &
      "', expected that of the matrix, '" &
      // matrix_type // "'", status)
  end function

  !> Integers of C; one more, so that there is an address.
  function sizes_in_c(sizes) result(in_c)
    integer, intent(in) :: sizes(:)
    integer(c_int64_t), allocatable :: in_c(:)
    in_c = [int(sizes, c_int64_t), 0_c_int64_t]
  end function
end module
