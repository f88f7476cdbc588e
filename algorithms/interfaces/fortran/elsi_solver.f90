! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Eigenvectors and density matrices with the routines and argument lists of ELSI's Fortran interface: a program that
!> says "use elsi" says "use tessera_elsi".
module tessera_elsi
  use tessera_elsi_handles, only: elsi_handle, elsi_init, elsi_reinit, elsi_finalize, elsi_set_mpi, &
    elsi_set_mpi_global, &
    elsi_set_blacs, elsi_set_csc, elsi_set_csc_blk, elsi_set_spin, elsi_set_kpoint, elsi_set_spin_degeneracy, &
    elsi_set_unit_ovlp, elsi_set_output, elsi_set_output_unit, elsi_set_output_log, elsi_set_save_ovlp, &
    elsi_set_zero_def, elsi_set_illcond_check, elsi_set_illcond_tol, elsi_set_mu_broaden_scheme, &
    elsi_set_mu_broaden_width, elsi_set_mu_tol, elsi_get_initialized, elsi_get_mu, elsi_get_entropy, &
    elsi_get_n_illcond, elsi_get_ovlp_ev_min, elsi_get_ovlp_ev_max, elsi_get_eval, elsi_get_occ
  use tessera_elsi_real, only: elsi_ev_real => ev, elsi_dm_real => dm, elsi_get_edm_real => edm
  use tessera_elsi_complex, only: elsi_ev_complex => ev, elsi_dm_complex => dm, elsi_get_edm_complex => edm
  use tessera_elsi_sparse
  implicit none
  public
end module
