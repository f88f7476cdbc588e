// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// NVIDIA's libraries as peers: their versions, and whether they can run.
namespace tessera::program {

/// Peer::unavailable() for a library that uses the machine's first GPU. StarPU need not use that
/// GPU.
std::string needs_first_gpu();

/// `12.0.4`; empty without CUDA.
std::string cusolver_version();
std::string cublas_version();
std::string cusparse_version();

}  // namespace tessera::program
