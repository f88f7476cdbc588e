! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> From Fortran: the density matrix of a ring of atoms with alternating couplings, block-sparse, without
!> diagonalisation; the program's monitor prints the steps. The energy is known: -2 sum_k sqrt(1 + t^2 + 2 t cos k), k
!> = 2 pi j / cells.
program fortran_density
  use tessera
  implicit none
  integer, parameter :: cells = 400, dp = kind(1.0d0)
  real(dp), parameter :: inner = -1, outer = -0.4_dp
  type(block_layout) :: layout
  type(block_builder) :: builder
  type(block_matrix), target :: hamiltonian
  type(density_problem) :: problem
  type(density_options) :: options
  type(density_result) :: result
  real(dp) :: cell(2, 2), down(2, 2), around(2, 2), exact, electrons
  integer :: i

  cell = reshape([0.0_dp, inner, inner, 0.0_dp], [2, 2])
  down = reshape([0.0_dp, 0.0_dp, outer, 0.0_dp], [2, 2])
  around = transpose(down)
  call layout%create([(2, i=1, cells)], symmetry="S")      ! a block for each cell of two atoms; the lower half is given
  call builder%create("d", layout)
  do i = 1, cells
    call block_builder_put(builder, i, i, cell)
    if (i < cells) call block_builder_put(builder, i + 1, i, down)
  end do
  call block_builder_put(builder, cells, 1, around)
  call builder%finalize(hamiltonian)

  problem%hamiltonian => hamiltonian
  problem%electrons = 2 * cells                            ! half filling
  options%filter_eps = 1e-7_dp
  options%monitor => print_step
  call density_matrix(problem, result, options)
  call block_trace(result%density, electrons)

  exact = -2 * sum([(sqrt(inner**2 + outer**2 + 2 * inner * outer * cos(2 * acos(-1.0_dp) * i / cells)), i=1, cells)])
  print '(2a, f0.9, a, f0.9, a, f0.6)', density_method_name(result%method), ": energy ", result%energy, ", exact ", &
    exact, &
    ", electrons ", electrons
  if (abs(result%energy - exact) > 1e-6_dp) error stop 1
  call result%free()
  call hamiltonian%free()
  call tessera_end_default_runtime()

contains

  !> Called after each step; stop=.true. would end the iteration.
  subroutine print_step(step, stop)
    type(iteration_step), intent(in) :: step
    logical, intent(inout) :: stop
    print '(a, i4, a, es8.1, a, f6.3)', step%stage, step%iteration, "  convergence ", step%convergence, &
      "  occupation ", step%occupation
    stop = stop .or. step%iteration > 100
  end subroutine
end program
