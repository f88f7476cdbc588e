/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Tessera for C: dense Hermitian eigenproblems, block-sparse matrices and density matrices, LOBPCG.

     tessera_eigen_problem problem;
     tessera_eigen_problem_init(&problem);
     problem.type = TESSERA_DOUBLE;
     problem.a = tessera_array(a, n, lda, 'L');
     problem.values = w;
     problem.vectors = tessera_array_out(z, ldz);
     if (tessera_eigensolve(NULL, &problem, NULL, NULL) != TESSERA_SUCCESS)
       fprintf(stderr, "%s\n", tessera_last_message());

   Every function that can fail returns a code (tessera/c/base.h); results go to where the last arguments point. A null Runtime is
   the default one. Structures are initialised by their functions *_init, which give the defaults; a null pointer to options
   stands for these. Numbers of the scalar type of a matrix (factors, elements) are given by their address. The names and meanings
   are those of the C++ headers, which say more: tessera/eigensolve.hpp stands behind tessera/c/eigensolve.h, and so on. */
#ifndef TESSERA_H
#define TESSERA_H

#include <tessera/c/base.h>
#include <tessera/c/block_matrix.h>
#include <tessera/c/block_operations.h>
#include <tessera/c/density.h>
#include <tessera/c/eigensolve.h>
#include <tessera/c/eigensolve_batch.h>
#include <tessera/c/lobpcg.h>
#include <tessera/c/matrix_functions.h>
#include <tessera/c/runtime.h>
#include <tessera/c/scalapack.h>
#include <tessera/c/scf.h>

#endif
