/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   What the Fortran modules need of MPI, by the Fortran handles of communicators. */
#if TESSERA_WITH_MPI
#include <mpi.h>
#endif

int tessera_fortran_sum_over_ranks(int communicator, double* values, int count);
int tessera_fortran_ranks(int communicator);

/* values := their sums over the processes. Collective. Other than 0: this build has no MPI. */
int tessera_fortran_sum_over_ranks(int communicator, double* values, int count) {
#if TESSERA_WITH_MPI
  return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_Comm_f2c(communicator));
#else
  (void)communicator;
  (void)values;
  (void)count;
  return 1;
#endif
}

/* The number of processes; 0 without MPI. */
int tessera_fortran_ranks(int communicator) {
#if TESSERA_WITH_MPI
  int size = 0;
  return MPI_Comm_size(MPI_Comm_f2c(communicator), &size) == MPI_SUCCESS ? size : 0;
#else
  (void)communicator;
  return 0;
#endif
}
