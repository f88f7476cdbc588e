// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/block_layout.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/block_pattern.hpp>
#include <tessera/block_permutation.hpp>
#include <tessera/block_sparse_files.hpp>
#include <tessera/block_sparse_matrix.hpp>
#include <tessera/block_vectors.hpp>
#include <tessera/cholesky_factor.hpp>
#include <tessera/column_slabs.hpp>
#include <tessera/completion.hpp>
#include <tessera/data.hpp>
#include <tessera/density_matrices.hpp>
#include <tessera/density_matrix.hpp>
#include <tessera/density_state.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/eigensolve_batch.hpp>
#include <tessera/eigensolve_tuner.hpp>
#include <tessera/error.hpp>
#include <tessera/interior.hpp>
#include <tessera/lobpcg.hpp>
#include <tessera/matrix_arguments.hpp>
#include <tessera/matrix_functions.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/multiply.hpp>
#include <tessera/multiply_vectors.hpp>
#include <tessera/operators.hpp>
#include <tessera/panel_vectors.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/runtime.hpp>
#include <tessera/saved_rows.hpp>
#include <tessera/scf.hpp>
#include <tessera/sequence.hpp>
#include <tessera/sparse_matrix.hpp>
#include <tessera/spectral_bounds.hpp>
#include <tessera/statistics.hpp>
#include <tessera/status.hpp>
#include <tessera/submatrices.hpp>
#include <tessera/tiled_matrix.hpp>
#include <tessera/two_species_operator.hpp>
#include <tessera/types.hpp>
#include <tessera/user_functions.hpp>
#include <tessera/version.hpp>

/// @file
/// The whole library, but for its test matrices (matgen.hpp, shell_model.hpp).
