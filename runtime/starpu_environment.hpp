// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// StarPU's environment variables, read before StarPU reads them: it ends the program where a number is none.
namespace tessera::detail {

/// Every STARPU_ variable that StarPU 1.4 reads as a number, a list of numbers, a name or a place has a value
/// that it can take. Those that are not known here pass.
/// @throws InvalidArgument that names the variable, its value and what was expected
void require_sound_starpu_environment();

/// @throws InvalidArgument if StarPU has no such policy; `name`: of the option or variable that names it
void require_scheduler(const char* name, const std::string& scheduler);

/// The name under which StarPU files what it measures on this host. `rank`: in MPI_COMM_WORLD, for
/// STARPU_MPI_HOSTNAMES. @throws InvalidArgument where a variable gives a name that cannot be part of a
/// file's
std::string starpu_host_name(int rank = 0);

}  // namespace tessera::detail
