! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Arrays on a GPU through the Fortran module, with streams and events; procedures for GPUs of an operator and a
!> preconditioner. What is solved there is compared with arrays of the host.
program test_gpu
  use, intrinsic :: iso_c_binding, only: sp => c_float, dp => c_double, c_int, c_size_t, c_intptr_t, c_ptr, &
    c_null_ptr, c_loc, c_funloc, c_f_pointer, c_associated
  use checks
  use cuda
  use tessera
  implicit none
  integer, parameter :: n = 300
  integer(c_size_t), parameter :: matrix_bytes = 8_c_size_t * n * n
  type(tessera_runtime) :: runtime
  type(c_ptr) :: stream, before, after, pinned
  type(c_ptr), save :: cublas, operator_on_device      ! what is not saved would need an executable stack below
  integer, save :: applied = 0, preconditioned = 0

  call repeat_random_numbers()
  call runtime%create(cores=2, gpus=1)
  call good(cuda_stream_create(stream, non_blocking), "a stream")
  call good(cuda_event_create(before, without_timing), "an event")
  call good(cuda_event_create(after, without_timing), "another event")
  call good(cuda_malloc_host(pinned, matrix_bytes), "pinned memory")
  call test_dense()
  call test_generalized()
  call test_batch()
  call test_lobpcg()
  call good(cuda_free_host(pinned), "freeing pinned memory")
  call good(cuda_event_destroy(before), "the end of an event")
  call good(cuda_event_destroy(after), "the end of another event")
  call good(cuda_stream_destroy(stream), "the end of the stream")
  call runtime%free()
  call end_checks()

contains

  subroutine good(error, what)
    integer(c_int), intent(in) :: error
    character(*), intent(in) :: what
    call check(error == 0, "CUDA: " // what)
  end subroutine

  !> Memory of the GPU, in which every number is NaN.
  function device_memory(bytes) result(memory)
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: memory
    call good(cuda_malloc(memory, bytes), "memory")
    call good(cuda_memset(memory, 255_c_int, bytes), "NaN everywhere")
  end function

  function on_gpu(a) result(memory)
    real(dp), contiguous, target, intent(in) :: a(:, :)
    type(c_ptr) :: memory
    memory = device_memory(8_c_size_t * size(a, kind=c_size_t))
    call good(cuda_memcpy(memory, c_loc(a), 8_c_size_t * size(a, kind=c_size_t), to_device), "to the GPU")
  end function

  recursive subroutine sleep(user) bind(c)
    type(c_ptr), value :: user
    integer(c_int) :: ignored
    if (.not. c_associated(user)) ignored = sleep_microseconds(500000_c_int)
  end subroutine

  !> Half a second after this call the stream writes the matrix.
  subroutine write_late(to, from)
    type(c_ptr), intent(in) :: to
    real(dp), intent(in) :: from(:, :)
    real(dp), pointer, contiguous :: copy(:, :)
    call c_f_pointer(pinned, copy, shape(from))     ! from other memory the copy would wait in this call
    copy = from
    call good(cuda_launch_host_func(stream, c_funloc(sleep), c_null_ptr), "sleep")
    call good(cuda_memcpy_async(to, pinned, 8_c_size_t * size(from, kind=c_size_t), to_device, stream), "a late copy")
    call check(cuda_stream_query(stream) == not_ready, "the copy has not happened yet")
  end subroutine

  subroutine random_symmetric(a)
    real(dp), intent(out) :: a(:, :)
    call random_number(a)
    a = a + transpose(a)
  end subroutine

  subroutine check_pairs(a, w, z, expected, what)
    real(dp), intent(in) :: a(:, :), w(:), z(:, :), expected(:)
    character(*), intent(in) :: what
    call check(all(abs(w - expected) < 1e-10_dp), what // ": values")
    call check(maxval(abs(matmul(a, z) - z * spread(w, 1, size(a, 1)))) < 1e-10_dp, what // ": residual")
    call check(all(abs(sum(z**2, 1) - 1) < 1e-12_dp), what // ": length of vectors")
  end subroutine

  !> The stream still writes the matrix when it is given; vectors are copied behind the event.
  subroutine test_dense()
    real(dp), target :: a(n, n), z(n, n), w(n), expected(n)
    type(c_ptr) :: a_there, z_there, theirs
    type(completion) :: done
    call random_symmetric(a)
    call eigensolve(a, expected, runtime=runtime)
    a_there = device_memory(matrix_bytes)
    z_there = device_memory(matrix_bytes)
    call write_late(a_there, a)
    call eigensolve("d", n, a_there, w, z_there, runtime=runtime, stream=stream, done_event=after)
    call good(cuda_memcpy(c_loc(z), z_there, matrix_bytes, to_host), "vectors")
    call check_pairs(a, w, z, expected, "waits for a stream")

    call good(cuda_stream_create(theirs, non_blocking), "another stream")
    call good(cuda_memset(a_there, 255_c_int, matrix_bytes), "NaN everywhere")
    call good(cuda_memset(z_there, 255_c_int, matrix_bytes), "NaN everywhere")
    w = 0
    call write_late(a_there, a)
    call good(cuda_event_record(before, stream), "an event behind the copy")
    call submit_eigensolve(done, "d", n, a_there, w, z_there, runtime=runtime, stream=theirs, wait_event=before, &
      done_event=after)
    call done%wait()
    call good(cuda_stream_wait_event(stream, after, 0_c_int), "an event in the stream")
    call good(cuda_memcpy_async(pinned, z_there, matrix_bytes, to_host, stream), "vectors behind the event")
    call good(cuda_stream_synchronize(stream), "the end of the copy")
    call take_pinned(z)
    call check_pairs(a, w, z, expected, "waits for an event")
    call done%free()
    call good(cuda_stream_destroy(theirs), "the end of another stream")
    call good(cuda_free(a_there), "freeing")
    call good(cuda_free(z_there), "freeing")
  end subroutine

  subroutine take_pinned(z)
    real(dp), intent(out) :: z(:, :)
    real(dp), pointer, contiguous :: copy(:, :)
    call c_f_pointer(pinned, copy, shape(z))
    z = copy
  end subroutine

  !> B, and its factor, on the GPU.
  subroutine test_generalized()
    real(dp), target :: a(n, n), b(n, n), w(n), expected(n)
    type(c_ptr) :: a_there, b_there
    type(cholesky_factor) :: factor
    integer :: i
    call random_symmetric(a)
    call random_symmetric(b)
    do i = 1, n
      b(i, i) = 3 * n
    end do
    call eigensolve(a, expected, b=b, runtime=runtime)
    a_there = on_gpu(a)
    b_there = on_gpu(b)
    call eigensolve("d", n, a_there, w, b=b_there, uplo="U", runtime=runtime)
    call check(all(abs(w - expected) < 1e-12_dp), "generalized")
    w = 0
    call factor%create("d", n, b_there, runtime=runtime)
    call eigensolve("d", n, a_there, w, factor=factor, runtime=runtime)
    call check(all(abs(w - expected) < 1e-12_dp), "a factor on a GPU")
    call factor%free()
    call good(cuda_free(a_there), "freeing")
    call good(cuda_free(b_there), "freeing")
  end subroutine

  subroutine test_batch()
    integer, parameter :: order = 40, count = 20
    real(dp), target :: a(order, order * count), z(order, order, count), w(order, count), expected(order)
    type(c_ptr) :: a_there, z_there, w_there
    type(completion) :: done
    integer :: info(count), k
    do k = 1, count
      call random_symmetric(a(:, (k - 1) * order + 1:k * order))
    end do
    a_there = device_memory(8_c_size_t * size(a))
    z_there = device_memory(8_c_size_t * size(a))
    w_there = device_memory(8_c_size_t * size(w))
    info = -77
    call write_late(a_there, a)
    call submit_eigensolve_batch(done, "d", order, count, a_there, w_there, z_there, info=info, runtime=runtime, &
      stream=stream, done_event=after)
    call done%wait()
    call good(cuda_memcpy(c_loc(z), z_there, 8_c_size_t * size(z), to_host), "vectors")
    call good(cuda_memcpy(c_loc(w), w_there, 8_c_size_t * size(w), to_host), "values")
    call check(all(info == 0), "info of a batch")
    do k = 1, count
      call eigensolve(a(:, (k - 1) * order + 1:k * order), expected, runtime=runtime)
      call check_pairs(a(:, (k - 1) * order + 1:k * order), w(:, k), z(:, :, k), expected, "a batch")
    end do
    call done%free()
    call good(cuda_free(a_there), "freeing")
    call good(cuda_free(z_there), "freeing")
    call good(cuda_free(w_there), "freeing")
  end subroutine

  !> A = diag(1, ..., n) + 1/n, a matrix on the GPU that cuBLAS multiplies by.
  subroutine test_lobpcg()
    type(linear_operator) :: a
    type(preconditioner) :: own
    type(lobpcg_options) :: options
    real(dp), target :: matrix(n, n), expected(n)
    real(dp) :: values(3), vectors(3, n), product(3, n)
    integer :: i
    matrix = 1.0_dp / n
    do i = 1, n
      matrix(i, i) = matrix(i, i) + i
    end do
    call eigensolve(matrix, expected, runtime=runtime)
    operator_on_device = on_gpu(matrix)
    call good(cublas_create(cublas), "cuBLAS")
    call operator_create(a, n, norm_bound=2.0_dp * n, runtime=runtime, on_device=apply_matrix)
    call random_number(vectors)
    call operator_apply(a, vectors, product)
    call check(maxval(abs(product - matmul(vectors, matrix))) < 1e-9_dp, "an operator on a GPU")
    call preconditioner_create(own, runtime=runtime, on_device=copy_residuals)
    options%iterations = 2000
    call lobpcg(a, values, vectors, precondition=own, options=options)
    call check(all(abs(values - expected(:3)) < 1e-6_dp), "LOBPCG on a GPU")
    call check(applied > 0 .and. preconditioned > 0, "the procedures were called")
    call operator_create(a, n, runtime=runtime, on_device=failing)
    call lobpcg(a, values, vectors, options=options, status=i)
    call check(i == tessera_callback_failed .and. tessera_callback_code() == 13, "a failing operator")
    call own%free()
    call a%free()
    call good(cublas_destroy(cublas), "the end of cuBLAS")
    call good(cuda_free(operator_on_device), "freeing")
  end subroutine

  !> x and y have a vector in each row, A is symmetric: y = x A(:, first_row:last_row).
  recursive subroutine apply_matrix(first_row, last_row, columns, x, ldx, y, ldy, stream, status)
    integer, intent(in) :: first_row, last_row, columns, ldx, ldy
    type(c_ptr), intent(in) :: x, y, stream
    integer, intent(inout) :: status
    integer(c_intptr_t) :: address
    applied = applied + 1
    address = transfer(operator_on_device, address) + 8_c_intptr_t * n * (first_row - 1)
    status = cublas_set_stream(cublas, stream)
    if (status == 0) status = cublas_dgemm(cublas, 0_c_int, 0_c_int, columns, last_row - first_row + 1, n, 1.0_dp, x, &
      ldx, transfer(address, c_null_ptr), n, 0.0_dp, y, ldy)
  end subroutine

  recursive subroutine copy_residuals(first_row, rows, columns, r, ldr, w, ldw, stream, status)
    integer, intent(in) :: first_row, rows, columns, ldr, ldw
    type(c_ptr), intent(in) :: r, w, stream
    integer, intent(inout) :: status
    preconditioned = preconditioned + 1
    status = cuda_memcpy_2d_async(w, 8_c_size_t * ldw, r, 8_c_size_t * ldr, 8_c_size_t * columns, &
      int(rows, c_size_t), on_device, stream)
    if (first_row < 1) status = 1
  end subroutine

  recursive subroutine failing(first_row, last_row, columns, x, ldx, y, ldy, stream, status)
    integer, intent(in) :: first_row, last_row, columns, ldx, ldy
    type(c_ptr), intent(in) :: x, y, stream
    integer, intent(inout) :: status
    call apply_matrix(first_row, last_row, columns, x, ldx, y, ldy, stream, status)
    status = 13
  end subroutine
end program
