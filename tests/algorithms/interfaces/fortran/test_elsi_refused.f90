! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> What the routines with ELSI's argument lists refuse: each ends the program, so that its name is the argument.
program test_elsi_refused
  use, intrinsic :: iso_c_binding, only: dp => c_double
  use tessera_elsi
  implicit none
  type(elsi_handle) :: eh, none
  character(40) :: name
  real(dp) :: a(4, 4), b(4, 4), c(4, 4), values(4), energy
  integer :: i
  call get_command_argument(1, name)
  call elsi_init(eh, 1, 0, 0, 4, 4.0_dp, 4)
  a = 0
  b = 0
  do i = 1, 4
    a(i, i) = i
    b(i, i) = 10.0_dp**(-4 * (i - 1))
  end do
  select case (name)
  case ("handle")
    call elsi_set_output(none, 1)
  case ("format")
    call elsi_init(eh, 1, 0, 3, 4, 4.0_dp, 4)
  case ("states")
    call elsi_init(eh, 1, 0, 0, 4, 4.0_dp, 5)
  case ("broadening")
    call elsi_set_mu_broaden_scheme(eh, 2)
  case ("spin")
    call elsi_set_spin(eh, 2, 1)
    call elsi_dm_real(eh, a, b, c, energy)
  case ("electrons")
    call elsi_init(eh, 1, 0, 0, 4, 9.0_dp, 4)
    call elsi_dm_real(eh, a, b, c, energy)
  case ("overlap")
    b(3, 3) = -1
    call elsi_ev_real(eh, a, b, values, c)
  case ("ill-conditioned")
    call elsi_set_illcond_check(eh, 1)
    call elsi_ev_real(eh, a, b, values, c)
  case ("mu")
    call elsi_get_mu(eh, energy)
  case ("edm")
    call elsi_get_edm_real(eh, c)
  case ("blacs")
    call elsi_init(eh, 1, 1, 0, 4, 4.0_dp, 4)
    call elsi_ev_real(eh, a, b, values, c)
  case ("columns")
    call elsi_init(eh, 1, 0, 1, 4, 4.0_dp, 4)
    call elsi_set_csc(eh, 4, 4, 4, [1, 2, 3, 7], [1, 2, 3, 4, 5])
  case ("context")
    call elsi_init(eh, 1, 1, 0, 4, 4.0_dp, 4)
    call elsi_set_blacs(eh, 0, 2)
  end select
  stop 0     ! nothing was refused
end program
