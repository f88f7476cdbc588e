! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> What test_gpu.f90 calls of CUDA's runtime, and cuBLAS's product of matrices.
module cuda
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_funptr, c_size_t, c_double
  implicit none
  public
  integer(c_int), parameter :: to_device = 1, to_host = 2, on_device = 3     ! enum cudaMemcpyKind
  integer(c_int), parameter :: non_blocking = 1, without_timing = 2          ! flags of a stream and an event
  integer(c_int), parameter :: not_ready = 600                               ! cudaErrorNotReady

  interface
    function cuda_malloc(memory, bytes) bind(c, name="cudaMalloc") result(error)
      import
      type(c_ptr), intent(out) :: memory
      integer(c_size_t), value :: bytes
      integer(c_int) :: error
    end function
    function cuda_malloc_host(memory, bytes) bind(c, name="cudaMallocHost") result(error)
      import
      type(c_ptr), intent(out) :: memory
      integer(c_size_t), value :: bytes
      integer(c_int) :: error
    end function
    function cuda_free(memory) bind(c, name="cudaFree") result(error)
      import
      type(c_ptr), value :: memory
      integer(c_int) :: error
    end function
    function cuda_free_host(memory) bind(c, name="cudaFreeHost") result(error)
      import
      type(c_ptr), value :: memory
      integer(c_int) :: error
    end function
    function cuda_memset(memory, value, bytes) bind(c, name="cudaMemset") result(error)
      import
      type(c_ptr), value :: memory
      integer(c_int), value :: value
      integer(c_size_t), value :: bytes
      integer(c_int) :: error
    end function
    function cuda_memcpy(to, from, bytes, kind) bind(c, name="cudaMemcpy") result(error)
      import
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
      integer(c_int), value :: kind
      integer(c_int) :: error
    end function
    function cuda_memcpy_async(to, from, bytes, kind, stream) bind(c, name="cudaMemcpyAsync") result(error)
      import
      type(c_ptr), value :: to, from, stream
      integer(c_size_t), value :: bytes
      integer(c_int), value :: kind
      integer(c_int) :: error
    end function
    function cuda_memcpy_2d_async(to, pitch_to, from, pitch_from, width, height, kind, stream) &
      bind(c, name="cudaMemcpy2DAsync") result(error)
      import
      type(c_ptr), value :: to, from, stream
      integer(c_size_t), value :: pitch_to, pitch_from, width, height
      integer(c_int), value :: kind
      integer(c_int) :: error
    end function
    function cuda_launch_host_func(stream, work, user) bind(c, name="cudaLaunchHostFunc") result(error)
      import
      type(c_ptr), value :: stream, user
      type(c_funptr), value :: work
      integer(c_int) :: error
    end function
    function cuda_stream_create(stream, flags) bind(c, name="cudaStreamCreateWithFlags") result(error)
      import
      type(c_ptr), intent(out) :: stream
      integer(c_int), value :: flags
      integer(c_int) :: error
    end function
    function cuda_stream_query(stream) bind(c, name="cudaStreamQuery") result(error)
      import
      type(c_ptr), value :: stream
      integer(c_int) :: error
    end function
    function cuda_stream_wait_event(stream, event, flags) bind(c, name="cudaStreamWaitEvent") result(error)
      import
      type(c_ptr), value :: stream, event
      integer(c_int), value :: flags
      integer(c_int) :: error
    end function
    function cuda_stream_synchronize(stream) bind(c, name="cudaStreamSynchronize") result(error)
      import
      type(c_ptr), value :: stream
      integer(c_int) :: error
    end function
    function cuda_stream_destroy(stream) bind(c, name="cudaStreamDestroy") result(error)
      import
      type(c_ptr), value :: stream
      integer(c_int) :: error
    end function
    function cuda_event_create(event, flags) bind(c, name="cudaEventCreateWithFlags") result(error)
      import
      type(c_ptr), intent(out) :: event
      integer(c_int), value :: flags
      integer(c_int) :: error
    end function
    function cuda_event_record(event, stream) bind(c, name="cudaEventRecord") result(error)
      import
      type(c_ptr), value :: event, stream
      integer(c_int) :: error
    end function
    function cuda_event_destroy(event) bind(c, name="cudaEventDestroy") result(error)
      import
      type(c_ptr), value :: event
      integer(c_int) :: error
    end function
    function cublas_create(handle) bind(c, name="cublasCreate_v2") result(error)
      import
      type(c_ptr), intent(out) :: handle
      integer(c_int) :: error
    end function
    function cublas_set_stream(handle, stream) bind(c, name="cublasSetStream_v2") result(error)
      import
      type(c_ptr), value :: handle, stream
      integer(c_int) :: error
    end function
    function cublas_dgemm(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) &
      bind(c, name="cublasDgemm_v2") result(error)
      import
      type(c_ptr), value :: handle, a, b, c
      integer(c_int), value :: op_a, op_b, m, n, k, lda, ldb, ldc
      real(c_double), intent(in) :: alpha, beta
      integer(c_int) :: error
    end function
    function cublas_destroy(handle) bind(c, name="cublasDestroy_v2") result(error)
      import
      type(c_ptr), value :: handle
      integer(c_int) :: error
    end function
    function sleep_microseconds(count) bind(c, name="usleep") result(error)
      import
      integer(c_int), value :: count
      integer(c_int) :: error
    end function
  end interface
end module
