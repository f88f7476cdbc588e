! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Real symmetric and complex Hermitian operators and preconditioners for LOBPCG.
!>
!> Blocks of vectors are stored with the number of the vector first: x(j, i) is component i of vector j.
module tessera_operators
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_ptr, c_null_ptr, c_loc
  use tessera_base
  use tessera_objects
  use tessera_runtimes
  use tessera_block_matrices, only: sizes_in_c
  use tessera_lobpcg_bindings
  implicit none
  private
  public :: linear_operator, preconditioner, preconditioner_options, new_operator, new_preconditioner
  public :: operator_from_csr, operator_from_coordinates, operator_from_matrix_market
  public :: preconditioner_jacobi, preconditioner_fom, preconditioner_chebyshev
  public :: device_apply_procedure, device_precondition_procedure

  abstract interface
    !> y := A x for the rows first_row to last_row, counted from 1, in the memory of a GPU: x(ldx, order) and
    !> y(ldy, last_row - first_row + 1), both with the number of the vector, 1 to columns, first. Enqueues on `stream`,
    !> a cudaStream_t of the calling thread's GPU, and returns. Called from workers: it should be recursive. A status
    !> other than 0, as which it comes, ends the solve.
    subroutine device_apply_procedure(first_row, last_row, columns, x, ldx, y, ldy, stream, status)
      import :: c_ptr
      integer, intent(in) :: first_row, last_row, columns, ldx, ldy
      type(c_ptr), intent(in) :: x, y, stream
      integer, intent(inout) :: status
    end subroutine
    !> w := T r for `rows` rows from first_row on: r(ldr, rows) and w(ldw, rows). Likewise.
    subroutine device_precondition_procedure(first_row, rows, columns, r, ldr, w, ldw, stream, status)
      import :: c_ptr
      integer, intent(in) :: first_row, rows, columns, ldr, ldw
      type(c_ptr), intent(in) :: r, w, stream
      integer, intent(inout) :: status
    end subroutine
  end interface

  !> A real symmetric operator on blocks of vectors of real(4) or real(8), or a complex Hermitian one, of complex(4) or
  !> complex(8).
  type, extends(library_object) :: linear_operator
    character :: scalar_type = " "           !< not for programs
    !< what the caller's procedure is called through; not for programs
    class(kept_object), pointer :: kept => null()
  contains
    procedure :: order => operator_order
    procedure :: free => operator_free
    final :: operator_final
  end type

  type, extends(library_object) :: preconditioner
    class(kept_object), pointer :: kept => null()      !< not for programs
  contains
    procedure :: free => preconditioner_free
    final :: preconditioner_final
  end type

  !> What is not set is the library's choice.
  type :: preconditioner_options
    logical, allocatable :: largest          !< the wanted end
    integer, allocatable :: steps            !< of fom
    integer, allocatable :: degree           !< of chebyshev
    real(dp), allocatable :: shift           !< absent: beyond the outermost Ritz value
    real(dp), allocatable :: interval(:)     !< of chebyshev: the unwanted eigenvalues lie between these two
    real(dp), allocatable :: b_norm          !< about x^H B x / x^H x
  end type

  !> operator_from_csr(a, begin, column, values, uplo, scalar_type, storage, like, runtime, status): from compressed
  !> rows, counted from 1, that every rank has: row i has the entries begin(i) to begin(i + 1) - 1. values: real(8) of a
  !> symmetric matrix, complex(8) of a Hermitian one. Collective.
  !> uplo: 'A', the default: both triangles are given; 'L' or 'U': one is.
  !> scalar_type: of vectors: 'd', the default, or 's'; of complex values 'z', the default, or 'c'.
  !> storage: of the matrix, one of the same letters; absent: as scalar_type.
  !> like: the operator whose cut of the rows this one takes (B of A x = lambda B x).
  interface operator_from_csr
    module procedure from_real_csr, from_complex_csr
  end interface
  !> operator_from_coordinates(a, order, row, column, values, uplo, scalar_type, storage, like, runtime, status): the
  !> same from coordinates, counted from 1.
  interface operator_from_coordinates
    module procedure from_real_coordinates, from_complex_coordinates
  end interface

contains

  subroutine from_real_csr(a, begin, column, values, uplo, scalar_type, storage, like, runtime, status)
    type(linear_operator), intent(inout) :: a
    integer, intent(in) :: begin(:), column(:)
    real(dp), contiguous, target, intent(in) :: values(:)
    character, optional, intent(in) :: uplo, scalar_type, storage
    type(linear_operator), optional, intent(in) :: like
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    if (.not. is_letter(scalar_type, "sd", "real", status)) return
    call from_csr(a, begin, column, c_loc(values), size(values), letter_of(scalar_type, "d"), uplo, storage, like, &
      runtime, status)
  end subroutine

  subroutine from_complex_csr(a, begin, column, values, uplo, scalar_type, storage, like, runtime, status)
    type(linear_operator), intent(inout) :: a
    integer, intent(in) :: begin(:), column(:)
    complex(dp), contiguous, target, intent(in) :: values(:)
    character, optional, intent(in) :: uplo, scalar_type, storage
    type(linear_operator), optional, intent(in) :: like
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    if (.not. is_letter(scalar_type, "cz", "complex", status)) return
    call from_csr(a, begin, column, c_loc(values), size(values), letter_of(scalar_type, "z"), uplo, storage, like, &
      runtime, status)
  end subroutine

  !> Whether the scalar type, where it is given, is that of the values.
  function is_letter(scalar_type, letters, kind_of_values, status) result(good)
    character, optional, intent(in) :: scalar_type
    character(*), intent(in) :: letters, kind_of_values
    integer, optional, intent(out) :: status
    logical :: good
    good = .true.
    if (.not. present(scalar_type)) return
    good = index("sdcz", scalar_type) == 0 .or. index(letters, scalar_type) > 0   ! others are refused anyway
    if (.not. good) call refuse("scalar_type: expected one of " // kind_of_values // " numbers, as the values are", &
      status)
  end function

  !> What the C interface takes as the precision of a matrix.
  function storage_of(storage, scalar_type) result(letter)
    character, optional, intent(in) :: storage
    character, intent(in) :: scalar_type
    integer(c_int) :: letter
    character :: given
    given = letter_of(storage, scalar_type)
    if (given == "c") given = "s"
    if (given == "z") given = "d"
    letter = iachar(given, c_int)
  end function

  !> values: the address of `count` numbers of double precision, complex ones where scalar_type is.
  subroutine from_csr(a, begin, column, values, count, scalar_type, uplo, storage, like, runtime, status)
    type(linear_operator), intent(inout) :: a
    integer, intent(in) :: begin(:), column(:), count
    type(c_ptr), intent(in) :: values
    character, intent(in) :: scalar_type
    character, optional, intent(in) :: uplo, storage
    type(linear_operator), optional, intent(in) :: like
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    integer(c_int64_t), allocatable, target :: begins(:), columns(:)
    integer :: rows
    rows = size(begin) - 1
    if (rows < 0) then
      call refuse("begin: expected one number more than there are rows", status)
      return
    end if
    if (begin(1) /= 1 .or. any(begin(:rows) > begin(2:)) .or. begin(rows + 1) - 1 > min(size(column), count)) then
      call refuse("begin: expected ascending numbers, from 1, of elements of column and values", status)
      return
    end if
    allocate (begins, source=int(begin - 1, c_int64_t))
    allocate (columns, source=sizes_in_c(column - 1))
    call new_operator(a, scalar_type)
    call finish(c_operator_from_csr(runtime_handle(runtime), iachar(a%scalar_type, c_int), &
      storage_of(storage, a%scalar_type), int(rows, c_int64_t), c_loc(begins), c_loc(columns), values, &
      iachar(letter_of(uplo, "A"), c_int), handle_of(like), a%handle), status)
  end subroutine

  subroutine from_real_coordinates(a, order, row, column, values, uplo, scalar_type, storage, like, runtime, status)
    type(linear_operator), intent(inout) :: a
    integer, intent(in) :: order, row(:), column(:)
    real(dp), contiguous, target, intent(in) :: values(:)
    character, optional, intent(in) :: uplo, scalar_type, storage
    type(linear_operator), optional, intent(in) :: like
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    if (.not. is_letter(scalar_type, "sd", "real", status)) return
    call from_coordinates(a, order, row, column, c_loc(values), size(values), letter_of(scalar_type, "d"), uplo, &
      storage, like, runtime, status)
  end subroutine

  subroutine from_complex_coordinates(a, order, row, column, values, uplo, scalar_type, storage, like, runtime, status)
    type(linear_operator), intent(inout) :: a
    integer, intent(in) :: order, row(:), column(:)
    complex(dp), contiguous, target, intent(in) :: values(:)
    character, optional, intent(in) :: uplo, scalar_type, storage
    type(linear_operator), optional, intent(in) :: like
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    if (.not. is_letter(scalar_type, "cz", "complex", status)) return
    call from_coordinates(a, order, row, column, c_loc(values), size(values), letter_of(scalar_type, "z"), uplo, &
      storage, like, runtime, status)
  end subroutine

  subroutine from_coordinates(a, order, row, column, values, count, scalar_type, uplo, storage, like, runtime, status)
    type(linear_operator), intent(inout) :: a
    integer, intent(in) :: order, row(:), column(:), count
    type(c_ptr), intent(in) :: values
    character, intent(in) :: scalar_type
    character, optional, intent(in) :: uplo, storage
    type(linear_operator), optional, intent(in) :: like
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    integer(c_int64_t), allocatable, target :: rows(:), columns(:)
    if (size(row) /= count .or. size(column) /= count) then
      call refuse("row, column: expected as many numbers as there are values", status)
      return
    end if
    allocate (rows, source=sizes_in_c(row - 1))
    allocate (columns, source=sizes_in_c(column - 1))
    call new_operator(a, scalar_type)
    call finish(c_operator_from_coordinates(runtime_handle(runtime), iachar(a%scalar_type, c_int), &
      storage_of(storage, a%scalar_type), int(order, c_int64_t), int(count, c_int64_t), c_loc(rows), c_loc(columns), &
      values, iachar(letter_of(uplo, "A"), c_int), handle_of(like), a%handle), status)
  end subroutine

  !> From a Matrix Market file, symmetric, Hermitian or general.
  !> @param scalar_type of vectors: 'd', the default, 's', 'c' or 'z'; a file of complex numbers needs one of the last
  !> two
  subroutine operator_from_matrix_market(a, path, scalar_type, storage, like, runtime, status)
    type(linear_operator), intent(inout) :: a
    character(*), intent(in) :: path
    character, optional, intent(in) :: scalar_type, storage
    type(linear_operator), optional, intent(in) :: like
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    call new_operator(a, letter_of(scalar_type, "d"))
    call finish(c_operator_from_matrix_market(runtime_handle(runtime), iachar(a%scalar_type, c_int), &
      storage_of(storage, a%scalar_type), c_text(path), handle_of(like), a%handle), status)
  end subroutine

  !> Its number of rows; with a failure 0.
  function operator_order(self, status) result(order)
    class(linear_operator), intent(in) :: self
    integer, optional, intent(out) :: status
    integer :: order
    integer(c_int64_t) :: found
    integer(c_int) :: code
    found = 0
    code = c_operator_order(self%handle, found)
    order = int(found)
    call finish(code, status)
  end function

  !> Of an operator of arrays or a file, which must outlive it: the inverse of its diagonal.
  subroutine preconditioner_jacobi(result, a, options, status)
    type(preconditioner), intent(inout) :: result
    type(linear_operator), intent(in) :: a
    type(preconditioner_options), optional, intent(in) :: options
    integer, optional, intent(out) :: status
    type(c_preconditioner_options) :: chosen
    call new_preconditioner(result)
    if (.not. in_c(options, chosen, status)) return
    call finish(c_preconditioner_jacobi(a%handle, chosen, result%handle), status)
  end subroutine

  !> Likewise: steps of the full orthogonalisation method.
  subroutine preconditioner_fom(result, a, options, status)
    type(preconditioner), intent(inout) :: result
    type(linear_operator), intent(in) :: a
    type(preconditioner_options), optional, intent(in) :: options
    integer, optional, intent(out) :: status
    type(c_preconditioner_options) :: chosen
    call new_preconditioner(result)
    if (.not. in_c(options, chosen, status)) return
    call finish(c_preconditioner_fom(a%handle, chosen, result%handle), status)
  end subroutine

  !> Of any operator, which must outlive it: a Chebyshev polynomial.
  subroutine preconditioner_chebyshev(result, a, options, status)
    type(preconditioner), intent(inout) :: result
    type(linear_operator), intent(in) :: a
    type(preconditioner_options), optional, intent(in) :: options
    integer, optional, intent(out) :: status
    type(c_preconditioner_options) :: chosen
    call new_preconditioner(result)
    if (.not. in_c(options, chosen, status)) return
    call finish(c_preconditioner_chebyshev(a%handle, chosen, result%handle), status)
  end subroutine

  function in_c(options, chosen, status) result(good)
    type(preconditioner_options), optional, intent(in) :: options
    type(c_preconditioner_options), intent(out) :: chosen
    integer, optional, intent(out) :: status
    logical :: good
    good = .true.
    call c_preconditioner_options_init(chosen)
    if (.not. present(options)) return
    call set_flag(options%largest, chosen%largest)
    if (allocated(options%steps)) chosen%steps = int(options%steps, c_int)
    if (allocated(options%degree)) chosen%degree = int(options%degree, c_int)
    if (allocated(options%shift)) then
      chosen%use_shift = 1
      chosen%shift = options%shift
    end if
    if (allocated(options%interval)) then
      good = size(options%interval) == 2
      if (.not. good) then
        call refuse("interval: expected its two ends", status)
        return
      end if
      chosen%use_interval = 1
      chosen%interval_lower = options%interval(1)
      chosen%interval_upper = options%interval(2)
    end if
    if (allocated(options%b_norm)) chosen%b_norm = options%b_norm
  end function

  !> Makes a variable ready to take a new operator.
  subroutine new_operator(a, scalar_type)
    type(linear_operator), intent(inout) :: a
    character, intent(in) :: scalar_type
    call a%own(c_operator_free)
    a%scalar_type = scalar_type
  end subroutine

  subroutine new_preconditioner(a)
    type(preconditioner), intent(inout) :: a
    call a%own(c_preconditioner_free)
  end subroutine

  character function letter_of(given, otherwise)
    character, optional, intent(in) :: given
    character, intent(in) :: otherwise
    letter_of = otherwise
    if (present(given)) letter_of = given
  end function

  function handle_of(a) result(handle)
    type(linear_operator), optional, intent(in) :: a
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(a)) handle = a%handle
  end function

  !> Frees it. Nothing happens if there is none.
  impure elemental subroutine operator_free(self)
    class(linear_operator), intent(inout) :: self
    call self%library_object%free()
    if (associated(self%kept)) deallocate (self%kept)
  end subroutine

  subroutine operator_final(self)
    type(linear_operator), intent(inout) :: self
    call self%free()
  end subroutine

  impure elemental subroutine preconditioner_free(self)
    class(preconditioner), intent(inout) :: self
    call self%library_object%free()
    if (associated(self%kept)) deallocate (self%kept)
  end subroutine

  subroutine preconditioner_final(self)
    type(preconditioner), intent(inout) :: self
    call self%free()
  end subroutine
end module
