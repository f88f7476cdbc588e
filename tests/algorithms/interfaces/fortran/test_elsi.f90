! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The routines with ELSI's argument lists, on one process, against LAPACK.
program test_elsi
  use, intrinsic :: iso_c_binding, only: dp => c_double
  use checks
  use tessera, only: tessera_end_default_runtime
  use tessera_elsi
  implicit none
  integer, parameter :: n = 40, states = 30
  real(dp), parameter :: electrons = 26, width = 0.15_dp
  real(dp) :: h(n, n), s(n, n), w(n), x(n, n), f(states)
  complex(dp) :: phases(n)
  integer :: i

  call repeat_random_numbers()
  call random_number(h)
  h = h + transpose(h)
  call random_number(s)
  s = 0.1_dp * matmul(s, transpose(s))
  do i = 1, n
    s(i, i) = s(i, i) + 1
    phases(i) = exp(cmplx(0, 0.7_dp * i, dp))
  end do
  call by_lapack(h, s)
  call test_eigenvectors()
  call test_density(1)
  call test_density(0)
  call test_complex()
  call test_unit_overlap()
  call test_insulator()
  call test_sparse(1)
  call test_sparse(2)
  call tessera_end_default_runtime()
  call end_checks()

contains

  subroutine by_lapack(a, b)
    real(dp), intent(in) :: a(n, n), b(n, n)
    real(dp) :: copy(n, n), work(1 + 6 * n + 2 * n * n)
    integer :: iwork(3 + 5 * n), info
    external :: dsygvd
    x = a
    copy = b
    call dsygvd(1, "V", "L", n, x, n, copy, n, w, work, size(work), iwork, size(iwork), info)
    if (info /= 0) error stop 7
  end subroutine

  !> Occupations by bisection: Fermi's or Gaussian ones.
  subroutine occupy(scheme, degeneracy, mu)
    integer, intent(in) :: scheme
    real(dp), intent(in) :: degeneracy
    real(dp), intent(out) :: mu
    real(dp) :: lower, upper
    integer :: step
    lower = w(1) - 10
    upper = w(n) + 10
    do step = 1, 100
      mu = (lower + upper) / 2
      if (scheme == 1) f = degeneracy / (1 + exp((w(:states) - mu) / width))
      if (scheme == 0) f = degeneracy / 2 * erfc((w(:states) - mu) / width)
      if (sum(f) < electrons) then
        lower = mu
      else
        upper = mu
      end if
    end do
  end subroutine

  function weighted(factor) result(p)
    real(dp), intent(in) :: factor(states)
    real(dp) :: p(n, n)
    p = matmul(x(:, :states) * spread(factor, 1, n), transpose(x(:, :states)))
  end function

  subroutine start(eh, matrix_format)
    type(elsi_handle), intent(out) :: eh
    integer, intent(in) :: matrix_format
    integer :: initialized
    call elsi_init(eh, 1, 0, matrix_format, n, electrons, states)
    call elsi_set_output(eh, 2)
    call elsi_set_illcond_tol(eh, 1e-7_dp)
    call elsi_set_mu_broaden_width(eh, width)
    call elsi_get_initialized(eh, initialized)
    call check(initialized == 1, "initialized")
  end subroutine

  subroutine test_eigenvectors()
    type(elsi_handle) :: eh
    real(dp) :: a(n, n), b(n, n), values(n), vectors(n, n), lowest
    complex(dp) :: c(n, n), d(n, n), complex_vectors(n, n)
    call start(eh, 0)
    call elsi_set_illcond_check(eh, 1)
    a = h
    b = s
    call elsi_ev_real(eh, a, b, values, vectors)
    call check(maxval(abs(values(:states) - w(:states))) < 1e-10_dp, "eigenvalues")
    call check(maxval(abs(matmul(h, vectors(:, :states)) - matmul(s, vectors(:, :states)) * &
      spread(values(:states), 1, n))) < 1e-10_dp, "eigenvectors")
    call check(maxval(abs(a - h)) <= 0 .and. maxval(abs(b - s)) <= 0, "H and S stay")
    call elsi_get_ovlp_ev_min(eh, lowest)
    call check(lowest > 1 .and. lowest < 1.5_dp, "lowest eigenvalue of S")
    call elsi_set_illcond_check(eh, 0)
    c = spread(phases, 2, n) * h * spread(conjg(phases), 1, n)
    d = spread(phases, 2, n) * s * spread(conjg(phases), 1, n)
    values = 0
    call elsi_ev_complex(eh, c, d, values, complex_vectors)
    call check(maxval(abs(values(:states) - w(:states))) < 1e-10_dp, "complex eigenvalues")
    call check(maxval(abs(matmul(c, complex_vectors(:, :states)) - matmul(d, complex_vectors(:, :states)) * &
      spread(values(:states), 1, n))) < 1e-10_dp, "complex eigenvectors")
    call elsi_finalize(eh)
  end subroutine

  subroutine test_density(scheme)
    integer, intent(in) :: scheme
    type(elsi_handle) :: eh
    real(dp) :: a(n, n), b(n, n), p(n, n), energy, mu, expected_mu, entropy, values(states), occ(states), g(states)
    integer :: again
    call start(eh, 0)
    call elsi_set_mu_broaden_scheme(eh, scheme)
    call occupy(scheme, 2.0_dp, expected_mu)
    do again = 1, 2
      a = h
      b = s
      call elsi_dm_real(eh, a, b, p, energy)
      call check(maxval(abs(p - weighted(f))) < 1e-9_dp, "density")
      call check(abs(energy - sum(f * w(:states))) < 1e-9_dp, "band energy")
      call elsi_get_mu(eh, mu)
      call check(abs(mu - expected_mu) < 1e-9_dp, "mu")
      call elsi_get_entropy(eh, entropy)
      g = f / 2
      if (scheme == 1) then
        call check(abs(entropy + 2 * width * sum(g * log(g) + (1 - g) * log(1 - g), mask=g > 1e-14_dp .and. &
          g < 1 - 1e-14_dp)) < 1e-9_dp, "entropy of Fermi's")
      else
        call check(abs(entropy - width / sqrt(acos(-1.0_dp)) * sum(exp(-((w(:states) - mu) / width)**2))) < 1e-9_dp, &
          "entropy of Gaussian")
      end if
      call elsi_get_edm_real(eh, p)
      call check(maxval(abs(p - weighted(f * w(:states)))) < 1e-9_dp, "energy-weighted density")
      call elsi_get_eval(eh, values)
      call elsi_get_occ(eh, occ)
      call check(maxval(abs(values - w(:states))) < 1e-10_dp .and. maxval(abs(occ - f)) < 1e-9_dp, "states")
      call elsi_reinit(eh)
    end do
    call elsi_set_spin_degeneracy(eh, 1.0_dp)
    call occupy(scheme, 1.0_dp, expected_mu)
    call elsi_dm_real(eh, a, b, p, energy)
    call check(maxval(abs(p - weighted(f))) < 1e-9_dp, "degeneracy 1")
    call elsi_finalize(eh)
  end subroutine

  subroutine test_complex()
    type(elsi_handle) :: eh
    complex(dp) :: a(n, n), b(n, n), p(n, n)
    real(dp) :: energy, mu
    call start(eh, 0)
    call elsi_set_mu_broaden_scheme(eh, 1)
    call occupy(1, 2.0_dp, mu)
    a = spread(phases, 2, n) * h * spread(conjg(phases), 1, n)
    b = spread(phases, 2, n) * s * spread(conjg(phases), 1, n)
    call elsi_dm_complex(eh, a, b, p, energy)
    call check(maxval(abs(p - spread(phases, 2, n) * weighted(f) * spread(conjg(phases), 1, n))) < 1e-9_dp, &
      "complex density")
    call elsi_get_edm_complex(eh, p)
    call check(maxval(abs(p - spread(phases, 2, n) * weighted(f * w(:states)) * spread(conjg(phases), 1, &
      n))) < 1e-9_dp, &
      "complex energy-weighted density")
    call elsi_finalize(eh)
  end subroutine

  subroutine test_unit_overlap()
    type(elsi_handle) :: eh
    real(dp) :: a(n, n), b(n, n), p(n, n), unit(n, n), energy, mu
    unit = 0
    do i = 1, n
      unit(i, i) = 1
    end do
    call by_lapack(h, unit)
    call start(eh, 0)
    call elsi_set_unit_ovlp(eh, 1)
    call elsi_set_mu_broaden_scheme(eh, 1)
    call occupy(1, 2.0_dp, mu)
    a = h
    b = 7          ! not looked at
    call elsi_dm_real(eh, a, b, p, energy)
    call check(maxval(abs(p - weighted(f))) < 1e-9_dp, "unit overlap")
    call elsi_finalize(eh)
    call by_lapack(h, s)
  end subroutine

  !> mu lies in the gap, and occupations are 0 and 2.
  subroutine test_insulator()
    type(elsi_handle) :: eh
    real(dp) :: a(n, n), b(n, n), p(n, n), energy, mu
    a = h
    b = s
    call start(eh, 0)
    call elsi_set_mu_broaden_width(eh, 1e-6_dp)
    call elsi_dm_real(eh, a, b, p, energy)
    call elsi_get_mu(eh, mu)
    call check(mu > w(13) .and. mu < w(14), "mu in the gap")
    call check(abs(energy - 2 * sum(w(:13))) < 1e-9_dp .and. abs(sum(p * s) - electrons) < 1e-9_dp, "insulator")
    call elsi_finalize(eh)
  end subroutine

  !> All of a matrix, and a pattern with holes where H and S have zeros.
  subroutine test_sparse(matrix_format)
    integer, intent(in) :: matrix_format
    type(elsi_handle) :: eh
    real(dp) :: a(n, n), b(n, n), full(n, n), energy, mu, entropy, other
    real(dp), allocatable :: ham(:), ovlp(:), p(:), q(:)
    integer, allocatable :: row_ind(:)
    integer :: col_ptr(n + 1), j
    logical :: mask(n, n)
    do j = 1, n
      mask(:, j) = [(abs(i - j) <= 6 .or. abs(i - j) > 30, i=1, n)]
    end do
    a = merge(h, 0.0_dp, mask)
    b = merge(0.05_dp * s, 0.0_dp, mask)      ! positive definite
    do j = 1, n
      b(j, j) = s(j, j)
    end do
    col_ptr = [1, (count(mask(:, :j)) + 1, j=1, n)]
    row_ind = pack(spread([(i, i=1, n)], 2, n), mask)
    ham = pack(a, mask)
    ovlp = pack(b, mask)
    allocate (p(size(ham)), q(size(ham)))
    call elsi_init(eh, 1, 0, matrix_format, n, electrons, n)
    call elsi_set_csc(eh, size(ham), size(ham), n, row_ind, col_ptr)
    call elsi_set_csc_blk(eh, 5)
    call elsi_set_mu_broaden_scheme(eh, 1)
    call elsi_set_mu_broaden_width(eh, width)
    call elsi_dm_real_sparse(eh, ham, ovlp, p, energy)
    call elsi_get_mu(eh, mu)
    call elsi_get_entropy(eh, entropy)
    call elsi_get_edm_real_sparse(eh, q)
    call elsi_finalize(eh)
    ! the same with dense matrices
    call elsi_init(eh, 1, 0, 0, n, electrons, n)
    call elsi_set_mu_broaden_scheme(eh, 1)
    call elsi_set_mu_broaden_width(eh, width)
    call elsi_dm_real(eh, a, b, full, other)
    call check(abs(energy - other) < 1e-8_dp, "energy of compressed columns")
    call check(maxval(abs(p - pack(full, mask))) < 1e-8_dp, "density in compressed columns")
    call elsi_get_edm_real(eh, full)
    call check(maxval(abs(q - pack(full, mask))) < 1e-8_dp, "energy-weighted in compressed columns")
    call elsi_get_mu(eh, other)
    call check(abs(mu - other) < 1e-8_dp, "mu of compressed columns")
    call elsi_get_entropy(eh, other)
    call check(abs(entropy - other) < 1e-8_dp, "entropy of compressed columns")
    call elsi_finalize(eh)
  end subroutine
end program
