// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Measures the buses with StarPU, in a process of its own since StarPU resets the GPUs in doing so, and leaves
// the files in the directory that the environment gives to StarPU (runtime/bus_measurement.hpp).
#include <csignal>
#include <cstdlib>

#include <starpu.h>
#include <sys/prctl.h>

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the figures then
  setenv("STARPU_SILENT", "1", 1);
  setenv("STARPU_WORKERS_NOBIND", "1", 1);
  setenv("STARPU_FXT_TRACE", "0", 1);
  for (const char* report : {"STARPU_BUS_STATS", "STARPU_BUS_STATS_FILE", "STARPU_WORKER_STATS",
                             "STARPU_WORKER_STATS_FILE", "STARPU_STATS", "STARPU_SCHED_LIB"})
    unsetenv(report);
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.precedence_over_environment_variables = 1;
  conf.catch_signals = 0;
  conf.bus_calibrate = 1;  // of all memories that there are, whatever the workers
  conf.ncpus = 1;
  conf.ncuda = 0;
  conf.nopencl = 0;
  conf.sched_policy_name = "eager";
  if (starpu_init(&conf) != 0) return 1;
  starpu_shutdown();
  return 0;
}
