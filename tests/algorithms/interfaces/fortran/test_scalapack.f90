! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The routines in ScaLAPACK's manner, from Fortran, against ScaLAPACK's own p?syevd and p?heevd and by residuals.
program test_scalapack
  use, intrinsic :: iso_c_binding, only: sp => c_float, dp => c_double, c_int64_t
  use mpi
  use checks
  use tessera
  implicit none
  integer, parameter :: n = 53, block = 8
  integer :: provided, ierr, rank, ranks, context, grid_rows, grid_cols, my_row, my_col, local_rows, local_cols
  integer :: desc(9)
  integer, external :: numroc
  external :: blacs_get, blacs_gridinit, blacs_gridinfo, blacs_gridexit, descinit

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  grid_rows = merge(2, 1, ranks == 4)
  grid_cols = ranks / grid_rows
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, "R", grid_rows, grid_cols)
  call blacs_gridinfo(context, grid_rows, grid_cols, my_row, my_col)
  local_rows = max(1, numroc(n, block, my_row, 0, grid_rows))
  local_cols = max(1, numroc(n, block, my_col, 0, grid_cols))
  call descinit(desc, n, n, block, block, 0, 0, context, local_rows, ierr)
  call test_s()
  call test_d()
  call test_c()
  call test_z()
  call tessera_end_default_runtime()
  call blacs_gridexit(context)
  call MPI_Finalize(ierr)
  call end_checks()

contains

  !> Element (i, j) of the matrix of the tests.
  complex(dp) function element(i, j, with_imaginary)
    integer, intent(in) :: i, j
    logical, intent(in) :: with_imaginary
    element = cmplx(1 / (1 + abs(real(i - j, dp))) + merge(0.1_dp * i, 0.0_dp, i == j), 0, dp)
    if (with_imaginary) element = element + cmplx(0, 0.3_dp * sin(real(i - j, dp)) / (i + j), dp)
  end function

  !> Number of the local row or column `local` of a process in the whole matrix.
  integer function whole(local, process, processes)
    integer, intent(in) :: local, process, processes
    whole = ((local - 1) / block * processes + process) * block + mod(local - 1, block) + 1
  end function

  subroutine test_s()
    real(sp), allocatable :: a(:, :), b(:, :), z(:, :), y(:, :), copy(:, :), work(:)
    real(sp), allocatable :: w(:), expected(:), few(:)
    integer, allocatable :: iwork(:)
    integer :: i, j, li, lj, lwork, liwork, info
    real(sp) :: largest
    external :: pssyevd, psgemm, pspotrf
    allocate (a(local_rows, local_cols), b(local_rows, local_cols), z(local_rows, local_cols), y(local_rows, &
      local_cols))
    allocate (w(n), expected(n), few(n))
    a = 0
    b = 0
    do lj = 1, numroc(n, block, my_col, 0, grid_cols)
      j = whole(lj, my_col, grid_cols)
      do li = 1, numroc(n, block, my_row, 0, grid_rows)
        i = whole(li, my_row, grid_rows)
        a(li, lj) = real(element(i, j, .false.), sp)
        if (i == j) b(li, lj) = 4
      end do
    end do
    copy = a
    lwork = -1
    allocate (work(1), iwork(1))
    call pssyevd("V", "L", n, copy, 1, 1, desc, expected, y, 1, 1, desc, work, lwork, iwork, lwork, info)
    lwork = max(int(work(1)), 4 * n * n + 10 * n)
    liwork = max(iwork(1), 10 * n)
    deallocate (work, iwork)
    allocate (work(lwork), iwork(liwork))
    call pssyevd("V", "L", n, copy, 1, 1, desc, expected, y, 1, 1, desc, work, lwork, iwork, liwork, info)
    call check(info == 0, "pssyevd of ScaLAPACK")
    call tessera_pssyevd("L", n, a, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(w - expected) < 2e-4), "pssyevd")
    copy = a
    call psgemm("N", "N", n, n, n, 1.0_sp, a, 1, 1, desc, z, 1, 1, desc, 0.0_sp, copy, 1, 1, desc)
    largest = 0
    do lj = 1, numroc(n, block, my_col, 0, grid_cols)
      j = whole(lj, my_col, grid_cols)
      li = numroc(n, block, my_row, 0, grid_rows)
      largest = max(largest, maxval(abs(copy(:li, lj) - w(j) * z(:li, lj))))
    end do
    call check(largest < 2e-4, "pssyevd: residual")
    call tessera_pssyevd_partial_spectrum("U", n, a, 1, 1, desc, few, z, 1, 1, desc, 2_c_int64_t, 6_c_int64_t, info)
    call check(info == 0 .and. all(abs(few(:5) - expected(2:6)) < 2e-4), "pssyevd_partial_spectrum")
    call tessera_pssygvd("L", n, a, 1, 1, desc, b, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(4 * w - expected) < 2e-4), "pssygvd")
    call tessera_pssygvd_partial_spectrum("L", n, a, 1, 1, desc, b, 1, 1, desc, few, z, 1, 1, desc, 1_c_int64_t, &
      3_c_int64_t, info)
    call check(info == 0 .and. all(abs(4 * few(:3) - expected(:3)) < 2e-4), "pssygvd_partial_spectrum")
    copy = b
    call pspotrf("L", n, copy, 1, 1, desc, info)
    call tessera_pssygvd_factorized("L", n, a, 1, 1, desc, copy, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(4 * w - expected) < 2e-4), "pssygvd_factorized")
    call tessera_pssygvd_partial_spectrum_factorized("L", n, a, 1, 1, desc, copy, 1, 1, desc, few, z, 1, 1, desc, &
      1_c_int64_t, 3_c_int64_t, info)
    call check(info == 0 .and. all(abs(4 * few(:3) - expected(:3)) < 2e-4), "pssygvd_partial_spectrum_factorized")
    b = -b
    call tessera_pssygvd("L", n, a, 1, 1, desc, b, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == n + 1, "pssygvd: not positive definite")
    call tessera_pssyevd("x", n, a, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == -1 , "pssyevd: uplo")
  end subroutine

  subroutine test_d()
    real(dp), allocatable :: a(:, :), b(:, :), z(:, :), y(:, :), copy(:, :), work(:)
    real(dp), allocatable :: w(:), expected(:), few(:)
    integer, allocatable :: iwork(:)
    integer :: i, j, li, lj, lwork, liwork, info
    real(dp) :: largest
    external :: pdsyevd, pdgemm, pdpotrf
    allocate (a(local_rows, local_cols), b(local_rows, local_cols), z(local_rows, local_cols), y(local_rows, &
      local_cols))
    allocate (w(n), expected(n), few(n))
    a = 0
    b = 0
    do lj = 1, numroc(n, block, my_col, 0, grid_cols)
      j = whole(lj, my_col, grid_cols)
      do li = 1, numroc(n, block, my_row, 0, grid_rows)
        i = whole(li, my_row, grid_rows)
        a(li, lj) = real(element(i, j, .false.), dp)
        if (i == j) b(li, lj) = 4
      end do
    end do
    copy = a
    lwork = -1
    allocate (work(1), iwork(1))
    call pdsyevd("V", "L", n, copy, 1, 1, desc, expected, y, 1, 1, desc, work, lwork, iwork, lwork, info)
    lwork = max(int(work(1)), 4 * n * n + 10 * n)
    liwork = max(iwork(1), 10 * n)
    deallocate (work, iwork)
    allocate (work(lwork), iwork(liwork))
    call pdsyevd("V", "L", n, copy, 1, 1, desc, expected, y, 1, 1, desc, work, lwork, iwork, liwork, info)
    call check(info == 0, "pdsyevd of ScaLAPACK")
    call tessera_pdsyevd("L", n, a, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(w - expected) < 1e-10), "pdsyevd")
    copy = a
    call pdgemm("N", "N", n, n, n, 1.0_dp, a, 1, 1, desc, z, 1, 1, desc, 0.0_dp, copy, 1, 1, desc)
    largest = 0
    do lj = 1, numroc(n, block, my_col, 0, grid_cols)
      j = whole(lj, my_col, grid_cols)
      li = numroc(n, block, my_row, 0, grid_rows)
      largest = max(largest, maxval(abs(copy(:li, lj) - w(j) * z(:li, lj))))
    end do
    call check(largest < 1e-10, "pdsyevd: residual")
    call tessera_pdsyevd_partial_spectrum("U", n, a, 1, 1, desc, few, z, 1, 1, desc, 2_c_int64_t, 6_c_int64_t, info)
    call check(info == 0 .and. all(abs(few(:5) - expected(2:6)) < 1e-10), "pdsyevd_partial_spectrum")
    call tessera_pdsygvd("L", n, a, 1, 1, desc, b, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(4 * w - expected) < 1e-10), "pdsygvd")
    call tessera_pdsygvd_partial_spectrum("L", n, a, 1, 1, desc, b, 1, 1, desc, few, z, 1, 1, desc, 1_c_int64_t, &
      3_c_int64_t, info)
    call check(info == 0 .and. all(abs(4 * few(:3) - expected(:3)) < 1e-10), "pdsygvd_partial_spectrum")
    copy = b
    call pdpotrf("L", n, copy, 1, 1, desc, info)
    call tessera_pdsygvd_factorized("L", n, a, 1, 1, desc, copy, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(4 * w - expected) < 1e-10), "pdsygvd_factorized")
    call tessera_pdsygvd_partial_spectrum_factorized("L", n, a, 1, 1, desc, copy, 1, 1, desc, few, z, 1, 1, desc, &
      1_c_int64_t, 3_c_int64_t, info)
    call check(info == 0 .and. all(abs(4 * few(:3) - expected(:3)) < 1e-10), "pdsygvd_partial_spectrum_factorized")
    b = -b
    call tessera_pdsygvd("L", n, a, 1, 1, desc, b, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == n + 1, "pdsygvd: not positive definite")
    call tessera_pdsyevd("x", n, a, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == -1 , "pdsyevd: uplo")
  end subroutine

  subroutine test_c()
    complex(sp), allocatable :: a(:, :), b(:, :), z(:, :), y(:, :), copy(:, :), work(:)
    real(sp), allocatable :: w(:), expected(:), few(:), rwork(:)
    integer, allocatable :: iwork(:)
    integer :: i, j, li, lj, lwork, liwork, lrwork, info
    real(sp) :: largest
    external :: pcheevd, pcgemm, pcpotrf
    allocate (a(local_rows, local_cols), b(local_rows, local_cols), z(local_rows, local_cols), y(local_rows, &
      local_cols))
    allocate (w(n), expected(n), few(n))
    a = 0
    b = 0
    do lj = 1, numroc(n, block, my_col, 0, grid_cols)
      j = whole(lj, my_col, grid_cols)
      do li = 1, numroc(n, block, my_row, 0, grid_rows)
        i = whole(li, my_row, grid_rows)
        a(li, lj) = cmplx(element(i, j, .true.), kind=sp)
        if (i == j) b(li, lj) = 4
      end do
    end do
    copy = a
    lwork = -1
    allocate (work(1), rwork(1), iwork(1))
    call pcheevd("V", "L", n, copy, 1, 1, desc, expected, y, 1, 1, desc, work, lwork, rwork, lwork, iwork, lwork, info)
    lwork = int(work(1))
    lrwork = max(int(rwork(1)), 4 * n + 4 * n * n)
    liwork = max(iwork(1), 10 * n)
    deallocate (work, rwork, iwork)
    allocate (work(lwork), rwork(lrwork), iwork(liwork))
    call pcheevd("V", "L", n, copy, 1, 1, desc, expected, y, 1, 1, desc, work, lwork, rwork, lrwork, iwork, liwork, &
      info)
    call check(info == 0, "pcheevd of ScaLAPACK")
    call tessera_pcheevd("L", n, a, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(w - expected) < 2e-4), "pcheevd")
    copy = a
    call pcgemm("N", "N", n, n, n, (1.0_sp, 0.0_sp), a, 1, 1, desc, z, 1, 1, desc, (0.0_sp, 0.0_sp), copy, 1, 1, desc)
    largest = 0
    do lj = 1, numroc(n, block, my_col, 0, grid_cols)
      j = whole(lj, my_col, grid_cols)
      li = numroc(n, block, my_row, 0, grid_rows)
      largest = max(largest, maxval(abs(copy(:li, lj) - w(j) * z(:li, lj))))
    end do
    call check(largest < 2e-4, "pcheevd: residual")
    call tessera_pcheevd_partial_spectrum("U", n, a, 1, 1, desc, few, z, 1, 1, desc, 2_c_int64_t, 6_c_int64_t, info)
    call check(info == 0 .and. all(abs(few(:5) - expected(2:6)) < 2e-4), "pcheevd_partial_spectrum")
    call tessera_pchegvd("L", n, a, 1, 1, desc, b, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(4 * w - expected) < 2e-4), "pchegvd")
    call tessera_pchegvd_partial_spectrum("L", n, a, 1, 1, desc, b, 1, 1, desc, few, z, 1, 1, desc, 1_c_int64_t, &
      3_c_int64_t, info)
    call check(info == 0 .and. all(abs(4 * few(:3) - expected(:3)) < 2e-4), "pchegvd_partial_spectrum")
    copy = b
    call pcpotrf("L", n, copy, 1, 1, desc, info)
    call tessera_pchegvd_factorized("L", n, a, 1, 1, desc, copy, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(4 * w - expected) < 2e-4), "pchegvd_factorized")
    call tessera_pchegvd_partial_spectrum_factorized("L", n, a, 1, 1, desc, copy, 1, 1, desc, few, z, 1, 1, desc, &
      1_c_int64_t, 3_c_int64_t, info)
    call check(info == 0 .and. all(abs(4 * few(:3) - expected(:3)) < 2e-4), "pchegvd_partial_spectrum_factorized")
    b = -b
    call tessera_pchegvd("L", n, a, 1, 1, desc, b, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == n + 1, "pchegvd: not positive definite")
    call tessera_pcheevd("x", n, a, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == -1 , "pcheevd: uplo")
  end subroutine

  subroutine test_z()
    complex(dp), allocatable :: a(:, :), b(:, :), z(:, :), y(:, :), copy(:, :), work(:)
    real(dp), allocatable :: w(:), expected(:), few(:), rwork(:)
    integer, allocatable :: iwork(:)
    integer :: i, j, li, lj, lwork, liwork, lrwork, info
    real(dp) :: largest
    external :: pzheevd, pzgemm, pzpotrf
    allocate (a(local_rows, local_cols), b(local_rows, local_cols), z(local_rows, local_cols), y(local_rows, &
      local_cols))
    allocate (w(n), expected(n), few(n))
    a = 0
    b = 0
    do lj = 1, numroc(n, block, my_col, 0, grid_cols)
      j = whole(lj, my_col, grid_cols)
      do li = 1, numroc(n, block, my_row, 0, grid_rows)
        i = whole(li, my_row, grid_rows)
        a(li, lj) = cmplx(element(i, j, .true.), kind=dp)
        if (i == j) b(li, lj) = 4
      end do
    end do
    copy = a
    lwork = -1
    allocate (work(1), rwork(1), iwork(1))
    call pzheevd("V", "L", n, copy, 1, 1, desc, expected, y, 1, 1, desc, work, lwork, rwork, lwork, iwork, lwork, info)
    lwork = int(work(1))
    lrwork = max(int(rwork(1)), 4 * n + 4 * n * n)
    liwork = max(iwork(1), 10 * n)
    deallocate (work, rwork, iwork)
    allocate (work(lwork), rwork(lrwork), iwork(liwork))
    call pzheevd("V", "L", n, copy, 1, 1, desc, expected, y, 1, 1, desc, work, lwork, rwork, lrwork, iwork, liwork, &
      info)
    call check(info == 0, "pzheevd of ScaLAPACK")
    call tessera_pzheevd("L", n, a, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(w - expected) < 1e-10), "pzheevd")
    copy = a
    call pzgemm("N", "N", n, n, n, (1.0_dp, 0.0_dp), a, 1, 1, desc, z, 1, 1, desc, (0.0_dp, 0.0_dp), copy, 1, 1, desc)
    largest = 0
    do lj = 1, numroc(n, block, my_col, 0, grid_cols)
      j = whole(lj, my_col, grid_cols)
      li = numroc(n, block, my_row, 0, grid_rows)
      largest = max(largest, maxval(abs(copy(:li, lj) - w(j) * z(:li, lj))))
    end do
    call check(largest < 1e-10, "pzheevd: residual")
    call tessera_pzheevd_partial_spectrum("U", n, a, 1, 1, desc, few, z, 1, 1, desc, 2_c_int64_t, 6_c_int64_t, info)
    call check(info == 0 .and. all(abs(few(:5) - expected(2:6)) < 1e-10), "pzheevd_partial_spectrum")
    call tessera_pzhegvd("L", n, a, 1, 1, desc, b, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(4 * w - expected) < 1e-10), "pzhegvd")
    call tessera_pzhegvd_partial_spectrum("L", n, a, 1, 1, desc, b, 1, 1, desc, few, z, 1, 1, desc, 1_c_int64_t, &
      3_c_int64_t, info)
    call check(info == 0 .and. all(abs(4 * few(:3) - expected(:3)) < 1e-10), "pzhegvd_partial_spectrum")
    copy = b
    call pzpotrf("L", n, copy, 1, 1, desc, info)
    call tessera_pzhegvd_factorized("L", n, a, 1, 1, desc, copy, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == 0 .and. all(abs(4 * w - expected) < 1e-10), "pzhegvd_factorized")
    call tessera_pzhegvd_partial_spectrum_factorized("L", n, a, 1, 1, desc, copy, 1, 1, desc, few, z, 1, 1, desc, &
      1_c_int64_t, 3_c_int64_t, info)
    call check(info == 0 .and. all(abs(4 * few(:3) - expected(:3)) < 1e-10), "pzhegvd_partial_spectrum_factorized")
    b = -b
    call tessera_pzhegvd("L", n, a, 1, 1, desc, b, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == n + 1, "pzhegvd: not positive definite")
    call tessera_pzheevd("x", n, a, 1, 1, desc, w, z, 1, 1, desc, info)
    call check(info == -1 , "pzheevd: uplo")
  end subroutine
end program
