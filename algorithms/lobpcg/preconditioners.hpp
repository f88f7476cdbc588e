// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/lobpcg/chebyshev_preconditioner.hpp>
#include <tessera/algorithms/lobpcg/fom_preconditioner.hpp>
#include <tessera/algorithms/lobpcg/jacobi_preconditioner.hpp>
#include <tessera/algorithms/lobpcg/user_preconditioner.hpp>

/// Preconditioners of lobpcg(): approximate inverses of A - sigma I with one shift sigma for all columns.
/// (With a shift at each column's own Ritz value the inverse returns little more than the vector that is
/// already there.) By default sigma lies beyond the outermost Ritz value. So A - sigma I is definite once
/// that value is near its eigenvalue; in the first iterations Ritz values lie inside the spectrum, and it may
/// be indefinite.
///
/// All this is about A alone. The Ritz values of A x = theta B x are those of another operator: options have
/// b_norm, an estimate of x^T B x / x^T x, and theta b_norm stands for theta. It is exact for B a multiple of
/// the identity. Otherwise ||B|| keeps the shift outside for a wanted end beyond zero (theta < 0 at the
/// smallest end); with theta of the other sign it may put the shift into A's spectrum, and a smaller estimate
/// is better.
