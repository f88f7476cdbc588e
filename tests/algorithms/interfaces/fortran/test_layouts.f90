! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The types of the bindings have their components where C has the members of its structures.
program test_layouts
  use, intrinsic :: iso_c_binding, only: c_char, c_null_char, c_long_long, c_intptr_t, c_ptr, c_loc, c_sizeof
  use checks
  use tessera_eigen_bindings
  use tessera_batch_bindings
  use tessera_lobpcg_bindings
  implicit none
  integer :: seen = 0

  interface
    function layout_bytes(name) bind(c) result(bytes)
      import :: c_char, c_long_long
      character(kind=c_char), intent(in) :: name(*)
      integer(c_long_long) :: bytes
    end function
    function layout_entries() bind(c) result(count)
      import :: c_long_long
      integer(c_long_long) :: count
    end function
  end interface

  call test_dense()
  call test_batches()
  call test_lobpcg()
  call check(seen == layout_entries(), "each structure and member of layouts.c was looked at")
  call end_checks()

contains

  !> @param bytes the size of a structure, or where a member begins
  subroutine same(name, bytes)
    character(*), intent(in) :: name
    integer(c_intptr_t), intent(in) :: bytes
    seen = seen + 1
    call check(bytes == layout_bytes(name // c_null_char), name)
  end subroutine

  integer(c_intptr_t) function distance(from, to)
    type(c_ptr), intent(in) :: from, to
    distance = transfer(to, distance) - transfer(from, distance)
  end function

  subroutine test_dense()
    type(c_distribution), target :: distribution
    type(c_matrix_in), target :: matrix_in
    type(c_matrix_out), target :: matrix_out
    type(c_problem), target :: eigen_problem
    type(c_options), target :: eigen_options
    type(c_result), target :: eigen_result
    call same("tessera_distribution", int(c_sizeof(distribution), c_intptr_t))
    call same("tessera_distribution.block_rows", distance(c_loc(distribution), c_loc(distribution%block_rows)))
    call same("tessera_distribution.block_cols", distance(c_loc(distribution), c_loc(distribution%block_cols)))
    call same("tessera_distribution.grid_rows", distance(c_loc(distribution), c_loc(distribution%grid_rows)))
    call same("tessera_distribution.grid_cols", distance(c_loc(distribution), c_loc(distribution%grid_cols)))
    call same("tessera_distribution.column_major", distance(c_loc(distribution), c_loc(distribution%column_major)))
    call same("tessera_distribution.first_row", distance(c_loc(distribution), c_loc(distribution%first_row)))
    call same("tessera_distribution.first_col", distance(c_loc(distribution), c_loc(distribution%first_col)))
    call same("tessera_matrix_in", int(c_sizeof(matrix_in), c_intptr_t))
    call same("tessera_matrix_in.data", distance(c_loc(matrix_in), c_loc(matrix_in%data)))
    call same("tessera_matrix_in.order", distance(c_loc(matrix_in), c_loc(matrix_in%order)))
    call same("tessera_matrix_in.ld", distance(c_loc(matrix_in), c_loc(matrix_in%ld)))
    call same("tessera_matrix_in.uplo", distance(c_loc(matrix_in), c_loc(matrix_in%uplo)))
    call same("tessera_matrix_in.distribution", distance(c_loc(matrix_in), c_loc(matrix_in%distribution)))
    call same("tessera_matrix_in.array_rows", distance(c_loc(matrix_in), c_loc(matrix_in%array_rows)))
    call same("tessera_matrix_in.array_cols", distance(c_loc(matrix_in), c_loc(matrix_in%array_cols)))
    call same("tessera_matrix_in.row", distance(c_loc(matrix_in), c_loc(matrix_in%row)))
    call same("tessera_matrix_in.col", distance(c_loc(matrix_in), c_loc(matrix_in%col)))
    call same("tessera_matrix_out", int(c_sizeof(matrix_out), c_intptr_t))
    call same("tessera_matrix_out.data", distance(c_loc(matrix_out), c_loc(matrix_out%data)))
    call same("tessera_matrix_out.ld", distance(c_loc(matrix_out), c_loc(matrix_out%ld)))
    call same("tessera_matrix_out.distribution", distance(c_loc(matrix_out), c_loc(matrix_out%distribution)))
    call same("tessera_matrix_out.array_rows", distance(c_loc(matrix_out), c_loc(matrix_out%array_rows)))
    call same("tessera_matrix_out.array_cols", distance(c_loc(matrix_out), c_loc(matrix_out%array_cols)))
    call same("tessera_matrix_out.row", distance(c_loc(matrix_out), c_loc(matrix_out%row)))
    call same("tessera_matrix_out.col", distance(c_loc(matrix_out), c_loc(matrix_out%col)))
    call same("tessera_eigen_problem", int(c_sizeof(eigen_problem), c_intptr_t))
    call same("tessera_eigen_problem.type", distance(c_loc(eigen_problem), c_loc(eigen_problem%type)))
    call same("tessera_eigen_problem.a", distance(c_loc(eigen_problem), c_loc(eigen_problem%a)))
    call same("tessera_eigen_problem.b", distance(c_loc(eigen_problem), c_loc(eigen_problem%b)))
    call same("tessera_eigen_problem.b_factor", distance(c_loc(eigen_problem), c_loc(eigen_problem%b_factor)))
    call same("tessera_eigen_problem.values", distance(c_loc(eigen_problem), c_loc(eigen_problem%values)))
    call same("tessera_eigen_problem.vectors", distance(c_loc(eigen_problem), c_loc(eigen_problem%vectors)))
    call same("tessera_eigen_problem.stream", distance(c_loc(eigen_problem), c_loc(eigen_problem%stream)))
    call same("tessera_eigen_problem.wait_event", distance(c_loc(eigen_problem), c_loc(eigen_problem%wait_event)))
    call same("tessera_eigen_problem.done_event", distance(c_loc(eigen_problem), c_loc(eigen_problem%done_event)))
    call same("tessera_eigen_problem.use_stream", distance(c_loc(eigen_problem), c_loc(eigen_problem%use_stream)))
    call same("tessera_eigen_options", int(c_sizeof(eigen_options), c_intptr_t))
    call same("tessera_eigen_options.solver", distance(c_loc(eigen_options), c_loc(eigen_options%solver)))
    call same("tessera_eigen_options.range", distance(c_loc(eigen_options), c_loc(eigen_options%range)))
    call same("tessera_eigen_options.lo", distance(c_loc(eigen_options), c_loc(eigen_options%lo)))
    call same("tessera_eigen_options.hi", distance(c_loc(eigen_options), c_loc(eigen_options%hi)))
    call same("tessera_eigen_options.above", distance(c_loc(eigen_options), c_loc(eigen_options%above)))
    call same("tessera_eigen_options.upto", distance(c_loc(eigen_options), c_loc(eigen_options%upto)))
    call same("tessera_eigen_options.tile", distance(c_loc(eigen_options), c_loc(eigen_options%tile)))
    call same("tessera_eigen_options.band", distance(c_loc(eigen_options), c_loc(eigen_options%band)))
    call same("tessera_eigen_options.update_width", distance(c_loc(eigen_options), c_loc(eigen_options%update_width)))
    call same("tessera_eigen_options.slab_width", distance(c_loc(eigen_options), c_loc(eigen_options%slab_width)))
    call same("tessera_eigen_options.column_groups", distance(c_loc(eigen_options), c_loc(eigen_options%column_groups)))
    call same("tessera_eigen_options.split_products", distance(c_loc(eigen_options), c_loc(eigen_options%split_products)))
    call same("tessera_eigen_result", int(c_sizeof(eigen_result), c_intptr_t))
    call same("tessera_eigen_result.count", distance(c_loc(eigen_result), c_loc(eigen_result%count)))
    call same("tessera_eigen_result.first", distance(c_loc(eigen_result), c_loc(eigen_result%first)))
    call same("tessera_eigen_result.seconds", distance(c_loc(eigen_result), c_loc(eigen_result%seconds)))
    call same("tessera_eigen_result.used", distance(c_loc(eigen_result), c_loc(eigen_result%used)))
  end subroutine

  subroutine test_batches()
    type(c_batch_in), target :: batch_in
    type(c_batch_out), target :: batch_out
    type(c_batch_problem), target :: eigen_batch_problem
    call same("tessera_batch_in", int(c_sizeof(batch_in), c_intptr_t))
    call same("tessera_batch_in.data", distance(c_loc(batch_in), c_loc(batch_in%data)))
    call same("tessera_batch_in.order", distance(c_loc(batch_in), c_loc(batch_in%order)))
    call same("tessera_batch_in.count", distance(c_loc(batch_in), c_loc(batch_in%count)))
    call same("tessera_batch_in.ld", distance(c_loc(batch_in), c_loc(batch_in%ld)))
    call same("tessera_batch_in.stride", distance(c_loc(batch_in), c_loc(batch_in%stride)))
    call same("tessera_batch_in.uplo", distance(c_loc(batch_in), c_loc(batch_in%uplo)))
    call same("tessera_batch_out", int(c_sizeof(batch_out), c_intptr_t))
    call same("tessera_batch_out.data", distance(c_loc(batch_out), c_loc(batch_out%data)))
    call same("tessera_batch_out.ld", distance(c_loc(batch_out), c_loc(batch_out%ld)))
    call same("tessera_batch_out.stride", distance(c_loc(batch_out), c_loc(batch_out%stride)))
    call same("tessera_eigen_batch_problem", int(c_sizeof(eigen_batch_problem), c_intptr_t))
    call same("tessera_eigen_batch_problem.type", distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%type)))
    call same("tessera_eigen_batch_problem.a", distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%a)))
    call same("tessera_eigen_batch_problem.values", &
      distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%values)))
    call same("tessera_eigen_batch_problem.vectors", &
      distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%vectors)))
    call same("tessera_eigen_batch_problem.info", distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%info)))
    call same("tessera_eigen_batch_problem.stream", &
      distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%stream)))
    call same("tessera_eigen_batch_problem.wait_event", &
      distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%wait_event)))
    call same("tessera_eigen_batch_problem.done_event", &
      distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%done_event)))
    call same("tessera_eigen_batch_problem.use_stream", &
      distance(c_loc(eigen_batch_problem), c_loc(eigen_batch_problem%use_stream)))
  end subroutine

  subroutine test_lobpcg()
    type(c_preconditioner_options), target :: preconditioner_options
    type(c_lobpcg_step), target :: lobpcg_step
    type(c_lobpcg_problem), target :: lobpcg_problem
    type(c_lobpcg_options), target :: lobpcg_options
    type(c_lobpcg_result), target :: lobpcg_result
    call same("tessera_preconditioner_options", int(c_sizeof(preconditioner_options), c_intptr_t))
    call same("tessera_preconditioner_options.largest", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%largest)))
    call same("tessera_preconditioner_options.steps", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%steps)))
    call same("tessera_preconditioner_options.degree", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%degree)))
    call same("tessera_preconditioner_options.use_shift", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%use_shift)))
    call same("tessera_preconditioner_options.shift", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%shift)))
    call same("tessera_preconditioner_options.use_interval", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%use_interval)))
    call same("tessera_preconditioner_options.interval_lower", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%interval_lower)))
    call same("tessera_preconditioner_options.interval_upper", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%interval_upper)))
    call same("tessera_preconditioner_options.b_norm", &
      distance(c_loc(preconditioner_options), c_loc(preconditioner_options%b_norm)))
    call same("tessera_lobpcg_step", int(c_sizeof(lobpcg_step), c_intptr_t))
    call same("tessera_lobpcg_step.iteration", distance(c_loc(lobpcg_step), c_loc(lobpcg_step%iteration)))
    call same("tessera_lobpcg_step.converged", distance(c_loc(lobpcg_step), c_loc(lobpcg_step%converged)))
    call same("tessera_lobpcg_step.active", distance(c_loc(lobpcg_step), c_loc(lobpcg_step%active)))
    call same("tessera_lobpcg_step.largest_residual", distance(c_loc(lobpcg_step), c_loc(lobpcg_step%largest_residual)))
    call same("tessera_lobpcg_step.block", distance(c_loc(lobpcg_step), c_loc(lobpcg_step%block)))
    call same("tessera_lobpcg_step.values", distance(c_loc(lobpcg_step), c_loc(lobpcg_step%values)))
    call same("tessera_lobpcg_step.residuals", distance(c_loc(lobpcg_step), c_loc(lobpcg_step%residuals)))
    call same("tessera_lobpcg_step.seconds", distance(c_loc(lobpcg_step), c_loc(lobpcg_step%seconds)))
    call same("tessera_lobpcg_problem", int(c_sizeof(lobpcg_problem), c_intptr_t))
    call same("tessera_lobpcg_problem.a", distance(c_loc(lobpcg_problem), c_loc(lobpcg_problem%a)))
    call same("tessera_lobpcg_problem.b", distance(c_loc(lobpcg_problem), c_loc(lobpcg_problem%b)))
    call same("tessera_lobpcg_problem.preconditioner", &
      distance(c_loc(lobpcg_problem), c_loc(lobpcg_problem%preconditioner)))
    call same("tessera_lobpcg_problem.constraint_count", &
      distance(c_loc(lobpcg_problem), c_loc(lobpcg_problem%constraint_count)))
    call same("tessera_lobpcg_problem.constraints", distance(c_loc(lobpcg_problem), c_loc(lobpcg_problem%constraints)))
    call same("tessera_lobpcg_problem.guess_count", distance(c_loc(lobpcg_problem), c_loc(lobpcg_problem%guess_count)))
    call same("tessera_lobpcg_problem.guess", distance(c_loc(lobpcg_problem), c_loc(lobpcg_problem%guess)))
    call same("tessera_lobpcg_options", int(c_sizeof(lobpcg_options), c_intptr_t))
    call same("tessera_lobpcg_options.count", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%count)))
    call same("tessera_lobpcg_options.method", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%method)))
    call same("tessera_lobpcg_options.block", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%block)))
    call same("tessera_lobpcg_options.basis", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%basis)))
    call same("tessera_lobpcg_options.largest", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%largest)))
    call same("tessera_lobpcg_options.tolerance", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%tolerance)))
    call same("tessera_lobpcg_options.norm", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%norm)))
    call same("tessera_lobpcg_options.basic", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%basic)))
    call same("tessera_lobpcg_options.iterations", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%iterations)))
    call same("tessera_lobpcg_options.lock", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%lock)))
    call same("tessera_lobpcg_options.seed", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%seed)))
    call same("tessera_lobpcg_options.monitor", distance(c_loc(lobpcg_options), c_loc(lobpcg_options%monitor)))
    call same("tessera_lobpcg_options.monitor_user", &
      distance(c_loc(lobpcg_options), c_loc(lobpcg_options%monitor_user)))
    call same("tessera_lobpcg_options.checkpoint", &
      distance(c_loc(lobpcg_options), c_loc(lobpcg_options%checkpoint)))
    call same("tessera_lobpcg_options.checkpoint_iterations", &
      distance(c_loc(lobpcg_options), c_loc(lobpcg_options%checkpoint_iterations)))
    call same("tessera_lobpcg_options.checkpoint_seconds", &
      distance(c_loc(lobpcg_options), c_loc(lobpcg_options%checkpoint_seconds)))
    call same("tessera_lobpcg_options.checkpoint_label", &
      distance(c_loc(lobpcg_options), c_loc(lobpcg_options%checkpoint_label)))
    call same("tessera_lobpcg_options.resume", &
      distance(c_loc(lobpcg_options), c_loc(lobpcg_options%resume)))
    call same("tessera_lobpcg_result", int(c_sizeof(lobpcg_result), c_intptr_t))
    call same("tessera_lobpcg_result.converged", distance(c_loc(lobpcg_result), c_loc(lobpcg_result%converged)))
    call same("tessera_lobpcg_result.iterations", distance(c_loc(lobpcg_result), c_loc(lobpcg_result%iterations)))
    call same("tessera_lobpcg_result.restarts", distance(c_loc(lobpcg_result), c_loc(lobpcg_result%restarts)))
    call same("tessera_lobpcg_result.columns_multiplied", &
      distance(c_loc(lobpcg_result), c_loc(lobpcg_result%columns_multiplied)))
    call same("tessera_lobpcg_result.multiplications", &
      distance(c_loc(lobpcg_result), c_loc(lobpcg_result%multiplications)))
    call same("tessera_lobpcg_result.seconds", distance(c_loc(lobpcg_result), c_loc(lobpcg_result%seconds)))
    call same("tessera_lobpcg_result.iterations_before", &
      distance(c_loc(lobpcg_result), c_loc(lobpcg_result%iterations_before)))
    call same("tessera_lobpcg_result.checkpoints", &
      distance(c_loc(lobpcg_result), c_loc(lobpcg_result%checkpoints)))
    call same("tessera_lobpcg_result.checkpoint_failed", &
      distance(c_loc(lobpcg_result), c_loc(lobpcg_result%checkpoint_failed)))
  end subroutine
end program
