/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Self-consistent fields. See tessera/scf.hpp. */
#ifndef TESSERA_C_SCF_H
#define TESSERA_C_SCF_H

#include <tessera/c/density.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tessera_scf_method { TESSERA_SCF_SIMPLE = 0, TESSERA_SCF_LINEAR, TESSERA_SCF_PULAY, TESSERA_SCF_DIRECT };

/** The energy functional: from the density matrices of all channels (the library's; gone when it has returned) the Hamiltonian of
    each, as new matrices that the library takes over, and the energy. Called on every rank. Other than 0 ends the computation:
    TESSERA_CALLBACK_FAILED. */
typedef int (*tessera_scf_functional)(tessera_index channels, const tessera_block_matrix* const* densities,
                                      tessera_block_matrix** hamiltonians, double* energy, void* user);

typedef struct tessera_scf_channel {
  double electrons;
  double occupation;                   /**< 2 for closed shells, 1 for a spin channel */
  const tessera_block_matrix* density; /**< where it begins: one of the two, the other null */
  const tessera_block_matrix* hamiltonian;
} tessera_scf_channel;

typedef struct tessera_scf_problem {
  int type; /**< of all matrices */
  tessera_scf_functional functional;
  void* functional_user;
  const tessera_block_matrix* overlap;        /**< or null: the identity */
  tessera_index channels;                     /**< number of them */
  const tessera_scf_channel* channel;         /**< one for each */
  const tessera_block_matrix* inverse_factor; /**< of a former computation, or null */
} tessera_scf_problem;
void tessera_scf_problem_init(tessera_scf_problem* problem);

typedef struct tessera_scf_options {
  int method;            /**< enum tessera_scf_method */
  double mixing;         /**< of simple and linear */
  tessera_index history; /**< of pulay */
  tessera_index inner_steps;
  double tolerance;         /**< of the commutator */
  double energy_tolerance;  /**< for each electron */
  tessera_index iterations; /**< at most */
  tessera_density_options density;
  tessera_monitor monitor; /**< of the steps of the self-consistent field, or null */
  void* monitor_user;
} tessera_scf_options;
void tessera_scf_options_init(tessera_scf_options* options);

/** What a channel has come to. The matrices are the caller's to free. */
typedef struct tessera_scf_state {
  tessera_block_matrix* density;
  tessera_block_matrix* hamiltonian;
  tessera_block_matrix* energy_weighted; /**< or null */
  double electrons, chemical_potential, idempotency;
  tessera_gap gap;
} tessera_scf_state;

typedef struct tessera_scf_result {
  tessera_block_matrix* inverse_factor; /**< or null */
  double energy, band_energy;
  tessera_index evaluations; /**< of the functional */
  tessera_iteration_report report;
} tessera_scf_result;

/** Computes, and waits; `states`: one for each channel. Matrices are there with success, and with TESSERA_ITERATIONS_EXHAUSTED and
    TESSERA_STOPPED. Collective. */
int tessera_scf(tessera_runtime* runtime, const tessera_scf_problem* problem,
                const tessera_scf_options* options, tessera_scf_state* states, tessera_scf_result* result);

#ifdef __cplusplus
}
#endif
#endif
