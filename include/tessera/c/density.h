/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Density matrices. See tessera/density_matrix.hpp and density_state.hpp. Energies are in the unit of H. */
#ifndef TESSERA_C_DENSITY_H
#define TESSERA_C_DENSITY_H

#include <tessera/c/matrix_functions.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tessera_density_method {
  TESSERA_DENSITY_AUTOMATIC = 0,
  TESSERA_DENSITY_SIGN,
  TESSERA_DENSITY_TRS4,
  TESSERA_DENSITY_TC2,
  TESSERA_DENSITY_SP2,
  TESSERA_DENSITY_PURIFICATION,
  TESSERA_DENSITY_SUBMATRIX,
  TESSERA_DENSITY_FERMI,
  TESSERA_DENSITY_CURVY,
  TESSERA_DENSITY_DENSE
};
/** "trs4", ...; null for what is no method. */
const char* tessera_density_method_name(int method);

/** Intervals in which the highest occupied and the lowest unoccupied state lie. NaN: not known. */
typedef struct tessera_gap {
  double homo_lower, homo_upper, lumo_lower, lumo_upper;
} tessera_gap;

/** What is given by address stays until the computation is over. */
typedef struct tessera_density_problem {
  const tessera_block_matrix* hamiltonian; /**< half-stored Hermitian (real: symmetric) */
  const tessera_block_matrix* overlap;     /**< likewise, positive definite; null: the identity */
  double electrons;                        /**< from 0 to occupation n */
  double occupation;                       /**< electrons in an occupied state: 2 or 1 */
  double temperature;                      /**< kT */
  int use_chemical_potential;              /**< chemical_potential counts, not electrons */
  double chemical_potential;
  const tessera_block_matrix* inverse_factor; /**< Z of a former computation, or null */
  const tessera_block_matrix* density;        /**< P of a former computation, where curvy begins, or null */
  const tessera_gap* gap;                     /**< of a former computation, or null */
} tessera_density_problem;
void tessera_density_problem_init(tessera_density_problem* problem);

typedef struct tessera_density_options {
  int method;               /**< enum tessera_density_method */
  double filter_eps;        /**< of all products */
  double tolerance;         /**< of the idempotency; 0: chosen */
  tessera_index iterations; /**< of each iteration, at most */
  int sign_order;
  int factor_order;
  int scaled;
  int mixed_precision;       /**< -1: chosen; 0; 1 */
  tessera_index group_order; /**< of submatrix; 0: chosen */
  double electron_tolerance; /**< 0: chosen */
  int energy_weighted;       /**< W, too */
  int check;                 /**< idempotency and commutator are measured */
  tessera_monitor monitor;   /**< or null */
  void* monitor_user;
} tessera_density_options;
void tessera_density_options_init(tessera_density_options* options);

/** Matrices are the caller's to free (tessera_density_result_free frees them all); null where there is none. */
typedef struct tessera_density_result {
  tessera_block_matrix* density;         /**< P */
  tessera_block_matrix* energy_weighted; /**< W, if it was asked for */
  tessera_block_matrix* inverse_factor;  /**< Z, to begin the next computation with */
  int method;                            /**< that was used */
  double chemical_potential, energy, electrons, entropy, free_energy;
  tessera_gap gap;
  double idempotency, commutator;
  tessera_iteration_report report;
} tessera_density_result;
void tessera_density_result_free(tessera_density_result* result);

/** Computes, and waits. Collective, on H's Runtime. */
int tessera_density_matrix(const tessera_density_problem* problem, const tessera_density_options* options,
                           tessera_density_result* result);
/** Submits; *result is filled in by tessera_wait. On one rank many may be in flight: spin channels, k-points. */
int tessera_submit_density_matrix(const tessera_density_problem* problem,
                                  const tessera_density_options* options, tessera_density_result* result,
                                  tessera_completion** completion);
/** Problems of k-points and spin channels, in flight together; results: `count` of them. weights null: 1 each. *sum (or null) := the
    weighted sums; with a common chemical potential (at a temperature) that is one for all. */
typedef struct tessera_density_sums {
  double energy, electrons, entropy, free_energy, chemical_potential;
  tessera_gap gap;
} tessera_density_sums;
int tessera_density_matrices(tessera_index count, const tessera_density_problem* problems,
                             const double* weights, int common_chemical_potential,
                             const tessera_density_options* options, tessera_density_result* results,
                             tessera_density_sums* sums);

/** Writes an HDF5 file of what the next computation can begin with, and reads it: matrices, occupation (of `problem`, too),
    temperature, chemical potential, energy and gap. Collective. */
int tessera_density_write_state(const char* path, const tessera_density_problem* problem,
                                const tessera_density_result* result);
int tessera_density_read_state(tessera_runtime* runtime, int type, const char* path, double* occupation,
                               double* temperature, tessera_density_result* result);

#ifdef __cplusplus
}
#endif
#endif
