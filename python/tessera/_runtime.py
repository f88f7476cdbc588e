# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""The runtime: which cores and GPUs compute."""

from __future__ import annotations

import atexit
import logging
from typing import Any, Callable, Optional, Union

from . import _core

LogFunction = Callable[[str, str], Any]


def _log_function(log: Union[None, LogFunction, logging.Logger]) -> Optional[LogFunction]:
    if isinstance(log, logging.Logger):
        return lambda level, message: log.log(getattr(logging, level.upper()), message)
    if log is not None and not callable(log):
        raise TypeError("log must be a logging.Logger or a function of a level and a message")
    return log


def _handle(communicator: Any) -> Optional[int]:
    if communicator is None:
        return None
    if not _core.with_mpi:
        raise ValueError("this tessera was built without MPI: build it with -Ccmake.define.TESSERA_WITH_MPI=ON")
    if hasattr(communicator, "py2f"):
        return int(communicator.py2f())
    if isinstance(communicator, int):
        return communicator
    raise TypeError("communicator must be a communicator of mpi4py or MPI's Fortran handle")


class Runtime:
    """Workers for all calls, from when it is made to `close`.

    One Runtime is open at a time. Without one, the first call starts an implicit one with default options, which ends
    with the process or by `tessera.close`. Matrices belong to the Runtime under which they were made, and are gone
    with it.

    Parameters
    ----------
    cores : int, optional
        CPU workers; -1: every physical core that this process may use.
    gpus : int, optional
        GPUs; -1: all visible ones, if the library was built with CUDA; 0: none.
    log : callable or logging.Logger, optional
        Gets warnings of the library: ``log(level, message)``, level ``debug``, ``info``, ``warning`` or ``error``.
    communicator : mpi4py.MPI.Comm or int, optional
        The ranks that compute together, or MPI's Fortran handle of it. Making and closing are collective then. None:
        this process alone.
    hybrid : bool, optional
        CPUs also run what has a CUDA implementation.
    scheduler : str, optional
        StarPU's policy; empty: chosen.
    synchronous : bool, optional
        Every task runs to its end when it is submitted: to look for errors.
    bind : bool, optional
        Workers stay on their cores. Off where several programs share the cores.

    Raises
    ------
    RuntimeFailure
        If StarPU cannot start as asked, a Runtime is open, or matrices of the implicit one are alive.

    Examples
    --------
    >>> with tessera.Runtime(cores=4, gpus=0) as runtime:
    ...     w, v = tessera.eigh(a)
    """

    def __init__(
        self,
        cores: int = -1,
        gpus: int = -1,
        *,
        log: Union[None, LogFunction, logging.Logger] = None,
        communicator: Any = None,
        hybrid: bool = False,
        scheduler: str = "",
        synchronous: bool = False,
        bind: bool = True,
    ) -> None:
        self._open = False
        _core.start_runtime(
            int(cores), int(gpus), hybrid, scheduler, synchronous, _log_function(log), _handle(communicator), bind
        )
        self._open = True

    def close(self) -> None:
        """Ends it; matrices that were made under it are gone. Nothing if it is closed."""
        if self._open:
            self._open = False
            _core.close_runtime()

    @property
    def is_open(self) -> bool:
        """Whether it runs."""
        return self._open and _core.own_runtime_is_open()

    @property
    def info(self) -> dict[str, Any]:
        """What was found and decided: versions, workers, GPUs, memory, scheduler, rank and size."""
        if not self.is_open:
            raise RuntimeError("the Runtime is closed")
        return _core.runtime_info()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self.is_open:
            return "<tessera.Runtime, closed>"
        info = self.info
        return f"<tessera.Runtime, {info['cpu_workers']} CPU and {info['cuda_workers']} CUDA workers>"


def info() -> dict[str, Any]:
    """What the present Runtime has found and decided; starts the implicit one if there is none.

    Returns
    -------
    dict
        ``version``, ``starpu_version``, ``mpi_version``, ``blas``, ``scheduler``, ``cpu_workers``, ``cuda_workers``,
        ``memory_bytes``, ``gpu_model``, ``rank``, ``size`` and others.
    """
    return _core.runtime_info()


def close() -> None:
    """Ends the present Runtime, also the implicit one; its matrices are gone. The next call starts a new one."""
    _core.close_runtime()


atexit.register(close)
