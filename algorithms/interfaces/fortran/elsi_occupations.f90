! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Occupation numbers of the states of all spin channels and k-points, and the chemical potential.
module tessera_elsi_occupations
  use, intrinsic :: iso_c_binding, only: c_int
  use tessera_base
  use tessera_elsi_handles
  implicit none
  private
  public :: occupy, degeneracy_of

  interface
    !> Sums over the processes of a communicator; 0, or another number if this library has no MPI.
    function c_sum(communicator, values, count) bind(c, name="tessera_fortran_sum_over_ranks") result(code)
      import
      integer(c_int), value :: communicator, count
      real(dp), intent(inout) :: values(*)
      integer(c_int) :: code
    end function
    !> The processes of a communicator; 0 if this library has no MPI.
    function c_ranks(communicator) bind(c, name="tessera_fortran_ranks") result(ranks)
      import
      integer(c_int), value :: communicator
      integer(c_int) :: ranks
    end function
  end interface

contains

  !> Electrons in an occupied state.
  pure real(dp) function degeneracy_of(eh)
    type(elsi_handle), intent(in) :: eh
    degeneracy_of = merge(1.0_dp, 2.0_dp, eh%n_spin == 2)
    if (eh%spin_degeneracy > 0) degeneracy_of = eh%spin_degeneracy
  end function

  !> Finds mu from eh%eval, sets eh%occ, eh%mu and eh%entropy.
  !> @param band_energy the sum of occupations times eigenvalues, of all spin channels and k-points
  subroutine occupy(eh, band_energy)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(out) :: band_energy
    real(dp) :: lower, upper, totals(2), excess, share, states(1)
    integer :: step
    call require(eh%n_spin * eh%n_kpt == 1 .or. eh%has_comm_all, &
      "elsi_dm: several spin channels or k-points: expected elsi_set_mpi_global before")
    share = share_of(eh)
    states = degeneracy_of(eh) * eh%n_state * share
    call add_up(eh, states)
    call require(eh%n_electron <= states(1) * (1 + 1e-12_dp), "elsi_dm: there are fewer states than n_electron needs")
    lower = extreme(eh, minval(eh%eval), -1) - 50 * eh%broaden_width
    upper = extreme(eh, maxval(eh%eval), 1) + 50 * eh%broaden_width
    if (.not. allocated(eh%occ)) allocate (eh%occ(eh%n_state))
    do step = 1, 200
      eh%mu = (lower + upper) / 2
      eh%occ = degeneracy_of(eh) * occupation(eh, (eh%eval - eh%mu) / eh%broaden_width)
      totals(1) = share * sum(eh%occ)
      totals(2) = 0
      call add_up(eh, totals)
      excess = totals(1) - eh%n_electron
      if (abs(excess) <= eh%mu_tolerance) exit
      if (excess > 0) then
        upper = eh%mu
      else
        lower = eh%mu
      end if
      if (upper - lower <= 2 * epsilon(upper) * max(abs(lower), abs(upper))) exit
    end do
    totals(1) = share * sum(eh%occ * eh%eval)
    totals(2) = share * degeneracy_of(eh) * eh%broaden_width * sum(entropy(eh, (eh%eval - eh%mu) / eh%broaden_width))
    call add_up(eh, totals)
    band_energy = totals(1)
    eh%entropy = totals(2)
    eh%has_density = .true.
  end subroutine

  !> What this process adds to a sum: the processes of one problem have the same eigenvalues.
  real(dp) function share_of(eh)
    type(elsi_handle), intent(in) :: eh
    integer :: ranks
    share_of = eh%weight
    if (.not. together(eh)) return
    ranks = 1
    if (eh%mode == several_processes) ranks = int(c_ranks(int(eh%comm, c_int)))
    call require(ranks > 0, "elsi_dm: several spin channels or k-points, but this build has no MPI")
    share_of = eh%weight / ranks
  end function

  logical function together(eh)
    type(elsi_handle), intent(in) :: eh
    together = eh%n_spin * eh%n_kpt > 1
  end function

  subroutine add_up(eh, values)
    type(elsi_handle), intent(in) :: eh
    real(dp), intent(inout) :: values(:)
    if (.not. together(eh)) return
    call require(c_sum(int(eh%comm_all, c_int), values, size(values, kind=c_int)) == 0, &
      "elsi_dm: several spin channels or k-points, but this build has no MPI")
  end subroutine

  !> The smallest (side -1) or largest (side 1) number of all processes, or one beyond it, for there are sums alone.
  real(dp) function extreme(eh, value, side)
    type(elsi_handle), intent(in) :: eh
    real(dp), intent(in) :: value
    integer, intent(in) :: side
    real(dp) :: outside(1)
    extreme = value
    if (.not. together(eh)) return
    outside = abs(value)
    call add_up(eh, outside)      ! no number is farther from 0 than this sum
    extreme = side * outside(1)
  end function

  !> From 0 to 1, of x = (eigenvalue - mu) / width.
  elemental real(dp) function occupation(eh, x)
    type(elsi_handle), intent(in) :: eh
    real(dp), intent(in) :: x
    if (eh%broaden_scheme == broaden_fermi) then
      occupation = merge(1 / (1 + exp(min(x, 700.0_dp))), 0.0_dp, x < 700)
    else
      occupation = erfc(x) / 2
    end if
  end function

  elemental real(dp) function entropy(eh, x)
    type(elsi_handle), intent(in) :: eh
    real(dp), intent(in) :: x
    real(dp) :: f
    entropy = 0
    if (eh%broaden_scheme == broaden_fermi) then
      f = occupation(eh, abs(x))    ! symmetric in x
      if (f > 0) entropy = -f * log(f) - (1 - f) * log(1 - f)
    else
      entropy = exp(-x**2) / (2 * sqrt(acos(-1.0_dp)))
    end if
  end function
end module
