# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Communicators of mpi4py."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import tessera


@pytest.mark.parametrize("ranks", [1, 2])
def test_ranks(ranks):
    pytest.importorskip("mpi4py")
    if not tessera._core.with_mpi:
        pytest.skip("a build without MPI")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("no mpirun")
    environment = dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_mpi_yield_when_idle="1",
        OMPI_MCA_btl="self,vader",
        OMPI_MCA_btl_vader_single_copy_mechanism="none",
        OPENBLAS_NUM_THREADS="1",
        STARPU_NCPU="1",
        STARPU_MPI_NOBIND="1",
    )
    program = str(pathlib.Path(__file__).with_name("mpi_ranks.py"))
    command = [mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks), sys.executable, program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("passed") == ranks
