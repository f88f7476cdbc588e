/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   The Runtime, and sequences of tasks. */
#ifndef TESSERA_C_RUNTIME_H
#define TESSERA_C_RUNTIME_H

#include <tessera/c/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Owns StarPU while it lives: one at a time in a process. Calls on it come from one thread at a time. Every function that takes
    a Runtime takes a null pointer, too: for the one that is alive, or else one of this process alone with default options, which
    ends with the process or by tessera_end_default_runtime(). */
typedef struct tessera_runtime tessera_runtime;

/** How much a message matters: 0 debug, 1 information, 2 warning, 3 error. */
typedef void (*tessera_log_function)(int level, const char* message, void* user);

typedef struct tessera_runtime_options {
  int cores;                   /**< CPU workers; -1: chosen */
  int gpus;                    /**< GPUs; -1: all visible ones, 0: none; more than there are is an error */
  int hybrid;                  /**< CPUs run, too, what GPUs can */
  int synchronous;             /**< debugging: every task runs to its end at insertion */
  int bind;                    /**< workers are bound to cores */
  const char* scheduler;       /**< a policy of StarPU; null: chosen */
  const char* trace_directory; /**< null: no trace */
  tessera_log_function log;    /**< null: the library prints nothing */
  void* log_user;
} tessera_runtime_options;
void tessera_runtime_options_init(tessera_runtime_options* options);

/** Starts StarPU in this process alone. */
int tessera_runtime_create(const tessera_runtime_options* options, tessera_runtime** runtime);
/** On the ranks of a communicator, given by its Fortran handle: MPI_Comm_c2f(communicator). Collective. It may be freed afterwards.
    MPI must have been initialised with MPI_THREAD_MULTIPLE where there are several ranks. */
int tessera_runtime_create_on(int fortran_communicator, const tessera_runtime_options* options,
                              tessera_runtime** runtime);
/** Ends it; collective. What belongs to it (matrices, completions) must have been freed. Null is allowed. */
void tessera_runtime_free(tessera_runtime* runtime);
/** Ends the default Runtime, if there is one. */
void tessera_end_default_runtime(void);

/** Of this process among the ranks, and their number. */
int tessera_runtime_rank(tessera_runtime* runtime, int* rank, int* size);
/** Workers of this rank: CPUs and GPUs. */
int tessera_runtime_workers(tessera_runtime* runtime, int* cpu_workers, int* gpu_workers);
/** What was found and decided, as text: "version", "commit", "starpu_version", "mpi_version", "blas", "scheduler", "host",
    "cpu_model", "gpu_model", "performance_models". Valid while the Runtime lives. */
int tessera_runtime_text(tessera_runtime* runtime, const char* what, const char** text);
/** A rank has failed where the others could not know it, or a GPU: every call fails. */
int tessera_runtime_poisoned(tessera_runtime* runtime, int* poisoned);

/** Operations on block-sparse matrices that are submitted one after the other, without waiting. A function that takes a sequence
    takes a null pointer, too: then it waits for its own tasks, and returns how they have ended. */
typedef struct tessera_sequence tessera_sequence;
int tessera_sequence_create(tessera_runtime* runtime, tessera_sequence** sequence);
/** Waits for all operations so far, and returns how they have ended. The sequence is over then: only tessera_sequence_free may
    follow. Collective. */
int tessera_sequence_wait(tessera_sequence* sequence);
/** Waits if that was not done, and frees. Null is allowed. */
void tessera_sequence_free(tessera_sequence* sequence);

#ifdef __cplusplus
}
#endif
#endif
