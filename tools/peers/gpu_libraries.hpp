// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// NVIDIA's libraries as peers: whether they can run, and which ones they are.
namespace tessera::program {

/// Peer::unavailable() of a library on the machine's first GPU, whether StarPU uses that or not.
std::string needs_first_gpu();

/// `12.0.4`; empty without CUDA.
std::string cusolver_version();
std::string cublas_version();
std::string cusparse_version();

}  // namespace tessera::program
