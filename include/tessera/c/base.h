/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Codes, scalar types and small enumerations of the C interface. */
#ifndef TESSERA_C_BASE_H
#define TESSERA_C_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Rows, columns, counts. */
typedef int64_t tessera_index;

/** What a call returns: 0; above 0 a numerical failure (the codes of tessera/status.hpp), after which results are as the C++
    headers say; below 0 an error, before which nothing has begun unless it says otherwise. tessera_last_message() has the words. */
enum tessera_code {
  TESSERA_SUCCESS = 0,
  TESSERA_NOT_POSITIVE_DEFINITE = 1,       /**< index: order of the leading minor, from 1 */
  TESSERA_NOT_FINITE = 2,                  /**< NaN or infinity; index: column of the input, from 1, or 0 */
  TESSERA_NO_CONVERGENCE = 3,              /**< of an iteration within a direct method */
  TESSERA_TASK_FAILED = 4,                 /**< a task could not be carried out */
  TESSERA_ITERATIONS_EXHAUSTED = 5,        /**< an iterative method has used all iterations that it may */
  TESSERA_STAGNATED = 6,                   /**< its residuals do not fall any more */
  TESSERA_BREAKDOWN = 7,                   /**< it has no usable direction left */
  TESSERA_STOPPED = 8,                     /**< the caller's monitor has stopped it */
  TESSERA_BLOCK_NOT_POSITIVE_DEFINITE = 9, /**< index: number of the diagonal block, from 1 */
  TESSERA_BLOCK_SINGULAR = 10,             /**< index: number of the diagonal block, from 1 */
  TESSERA_NO_GAP = 11,                     /**< the wanted states cannot be told from the others */
  TESSERA_INVALID_ARGUMENT = -1, /**< the message names the argument, its value and what was expected */
  TESSERA_INPUT_ERROR = -2,      /**< a file cannot be read as asked */
  TESSERA_RUNTIME_ERROR = -3,    /**< the Runtime cannot start or cannot run a task */
  TESSERA_OUT_OF_MEMORY = -4,    /**< the C++ library has found no memory */
  TESSERA_REMOTE_ERROR = -5,     /**< on another rank a callback has failed, or no error of the library */
  TESSERA_CALLBACK_FAILED = -6,  /**< a function of the caller's has returned a code other than 0 */
  TESSERA_OTHER_ERROR = -7       /**< anything else */
};

/** The name of a code: "success", "not_positive_definite", "invalid_argument", ... Never null. */
const char* tessera_code_name(int code);
/** The last failure of the calling thread as one line for a person; "" if there was none. Valid until its next call. */
const char* tessera_last_message(void);
/** After a numerical failure: the stage ("cholesky") and the index that belongs to the code; "" and 0 else. */
const char* tessera_last_stage(void);
tessera_index tessera_last_index(void);
/** After TESSERA_CALLBACK_FAILED: what the caller's function has returned; else 0. */
int tessera_last_callback_code(void);

/** The version of the library, "0.1.0", and the commit of its sources. */
const char* tessera_version(void);
const char* tessera_commit(void);
/** 1000000 major + 1000 minor + patch. Until 1.0 the interface may change with each minor number, and the library's name with it. */
int tessera_version_number(void);

/** Scalar types. */
enum tessera_type {
  TESSERA_FLOAT = 's',
  TESSERA_DOUBLE = 'd',
  TESSERA_COMPLEX_FLOAT = 'c', /**< two floats, as float complex */
  TESSERA_COMPLEX_DOUBLE = 'z' /**< two doubles, as double complex */
};
/** Bytes of a number; 0 for what is no type. */
size_t tessera_type_bytes(int type);

/** What a matrix is before it is multiplied. */
enum tessera_op { TESSERA_AS_IS = 'N', TESSERA_TRANSPOSE = 'T', TESSERA_ADJOINT = 'C' };
/** What half of a matrix tells about the other; other than TESSERA_NO_SYMMETRY only one half is stored. */
enum tessera_symmetry {
  TESSERA_NO_SYMMETRY = 'N',
  TESSERA_SYMMETRIC = 'S',
  TESSERA_ANTISYMMETRIC = 'A',
  TESSERA_HERMITIAN = 'H'
};

/** A computation that was submitted. */
typedef struct tessera_completion tessera_completion;
/** *done := whether the computation is over on this rank; asks without waiting. */
int tessera_test(const tessera_completion* completion, int* done);
/** Waits, fills in the results that the submitting call was given, and returns how it has ended; again the same afterwards.
    Collective over the ranks. */
int tessera_wait(tessera_completion* completion);
/** Waits, if that was not done, and frees. Null is allowed. Results that were not waited for are not filled in. */
void tessera_completion_free(tessera_completion* completion);

#ifdef __cplusplus
}
#endif
#endif
