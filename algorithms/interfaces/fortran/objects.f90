! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> What all handles of the C interface have in common: they are freed by free or with the variable's scope, and not
!> copied.
module tessera_objects
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_associated
  use tessera_base
  implicit none
  private
  public :: library_object, kept_object

  !> What must stay until a computation is over, or as long as an object: types extend this one.
  type :: kept_object
  end type

  type :: library_object
    type(c_ptr) :: handle = c_null_ptr                                        !< the library's own; not for programs
    procedure(free_handle), pointer, nopass, private :: release => null()
  contains
    procedure :: free => object_free
    procedure :: own => object_own                                             !< not for programs
    procedure :: exists => object_exists
    procedure, private :: object_assign
    generic :: assignment(=) => object_assign
    final :: object_final
  end type

  abstract interface
    subroutine free_handle(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
  end interface

contains

  !> Frees it. Nothing happens if there is none.
  impure elemental subroutine object_free(self)
    class(library_object), intent(inout) :: self
    if (c_associated(self%handle) .and. associated(self%release)) call self%release(self%handle)
    self%handle = c_null_ptr
  end subroutine

  !> Frees what was there, and says how the next one is freed.
  subroutine object_own(self, release)
    class(library_object), intent(inout) :: self
    procedure(free_handle) :: release
    call self%free()
    self%release => release
  end subroutine

  !> Whether there is one.
  elemental logical function object_exists(self)
    class(library_object), intent(in) :: self
    object_exists = c_associated(self%handle)
  end function

  impure elemental subroutine object_final(self)
    type(library_object), intent(inout) :: self
    call self%free()
  end subroutine

  subroutine object_assign(self, other)
    class(library_object), intent(inout) :: self
    class(library_object), intent(in) :: other
    if (c_associated(self%handle) .or. c_associated(other%handle)) &
      call refuse("matrices, layouts and other objects of the library cannot be copied by assignment")
  end subroutine
end module
