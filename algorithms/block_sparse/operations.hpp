// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What is computed with one or two block-sparse matrices, products apart. The names follow the libraries of
/// the field.
#include <tessera/algorithms/block_sparse/operations_arithmetic.hpp>
#include <tessera/algorithms/block_sparse/operations_copy.hpp>
#include <tessera/algorithms/block_sparse/reductions.hpp>
