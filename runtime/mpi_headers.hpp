// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// StarPU's and MPI's headers, or what stands for them in a build without MPI; included by runtime/*.cpp
/// only.
#include <starpu.h>
#if TESSERA_WITH_MPI
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <starpu_mpi.h>
#else
#include <tessera/runtime/single_process.hpp>
#endif
