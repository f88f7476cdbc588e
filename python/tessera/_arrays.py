# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of NumPy and of other libraries, on the host and on GPUs."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._errors import InvalidArgument

Sizes = Union[int, Sequence[int], np.ndarray]

letters = {"f": "s", "d": "d", "F": "c", "D": "z"}
dtypes: dict[str, np.dtype] = {"s": np.dtype("f4"), "d": np.dtype("f8"), "c": np.dtype("c8"), "z": np.dtype("c16")}

_cpu, _cuda, _cuda_managed = 1, 2, 13


def scalar_type(*types: Any) -> np.dtype:
    """float32, float64, complex64 or complex128, as scipy.linalg converts the types: integers to float64."""
    common = np.result_type(*types)
    if common.kind in "biu":
        return np.dtype("f8")
    if common.kind == "f":
        return np.dtype("f4") if common.itemsize <= 4 else np.dtype("f8")
    if common.kind == "c":
        return np.dtype("c8") if common.itemsize <= 8 else np.dtype("c16")
    raise InvalidArgument(f"dtype: {common}, expected numbers", "dtype", str(common), "numbers")


def letter_of(dtype: Any) -> str:
    """s, d, c or z of a scalar type."""
    return letters[scalar_type(np.dtype(dtype)).char]


def library_of(array: Any) -> str:
    """The package that an array's class comes from."""
    name = type(array).__module__.split(".")[0]
    return "jax" if name == "jaxlib" else name


def on_device(array: Any) -> bool:
    """Whether an array is in the memory of a GPU."""
    if isinstance(array, np.ndarray):
        return False
    if hasattr(array, "__dlpack_device__"):
        return int(array.__dlpack_device__()[0]) != _cpu
    return hasattr(array, "__cuda_array_interface__")


def to_library(library: str) -> Optional[Callable[[Any], Any]]:
    """The from_dlpack of a package whose arrays were given; None for NumPy's own arrays and what it converts."""
    if library == "torch":
        return sys.modules["torch"].from_dlpack
    if library == "cupy":
        return sys.modules["cupy"].from_dlpack
    if library == "jax":
        import jax.dlpack

        return jax.dlpack.from_dlpack
    return None


def host_array(array: Any, name: str) -> np.ndarray:
    """An array of the host, without a copy where that is possible."""
    if not isinstance(array, np.ndarray) and to_library(library_of(array)) is not None:
        array = np.from_dlpack(array)
    array = np.asarray(array)
    if array.dtype.kind not in "biufc":
        raise InvalidArgument(f"{name}: dtype {array.dtype}, expected numbers", name, str(array.dtype), "numbers")
    return array


def device_array(array: Any, name: str) -> tuple[Any, str, tuple[int, ...], tuple[int, ...]]:
    """An array in the memory of a GPU: (itself or its DLPack capsule, letter, shape, strides in elements).

    What the owner's stream does is over for the legacy default stream, on which the library waits.
    """
    if hasattr(array, "__dlpack__"):
        kind = int(array.__dlpack_device__()[0])
        if kind not in (_cuda, _cuda_managed):
            raise InvalidArgument(f"{name}: DLPack device {kind}, expected a CUDA device", name, str(kind), "CUDA")
        dtype = np.dtype(str(array.dtype).replace("torch.", ""))
        strides = _strides(array, dtype)
        return array.__dlpack__(stream=1), _letter(dtype, name), tuple(array.shape), strides
    if not _core.with_cuda:
        raise InvalidArgument(
            f"{name}: an array of a GPU, but this tessera was built without CUDA", name, "GPU", "host"
        )
    interface = array.__cuda_array_interface__
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    given = interface.get("strides")
    if given is None:
        strides = tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape)))
    else:
        strides = tuple(s // dtype.itemsize for s in given)
    wrapped = _core.wrap_cuda_array(
        interface["data"][0], list(shape), list(strides), dtype.str, interface.get("stream"), array
    )
    return wrapped, _letter(dtype, name), shape, strides


def _letter(dtype: np.dtype, name: str) -> str:
    if dtype.char not in letters:
        raise InvalidArgument(
            f"{name}: dtype {dtype} on a GPU, expected float32, float64, complex64 or complex128",
            name,
            str(dtype),
            "sdcz",
        )
    return letters[dtype.char]


def _strides(array: Any, dtype: np.dtype) -> tuple[int, ...]:
    if hasattr(array, "stride") and callable(array.stride):  # torch: in elements
        return tuple(array.stride())
    if hasattr(array, "strides"):  # cupy: in bytes
        return tuple(s // dtype.itemsize for s in array.strides)
    shape = tuple(array.shape)  # jax: row-major
    return tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape)))


def block_sizes(sizes: Sizes, extent: Optional[int], name: str) -> np.ndarray:
    """Sizes of all blocks: a number stands for blocks of that size, the last one cut."""
    if np.ndim(sizes) == 0:
        size = int(sizes)  # type: ignore[arg-type]
        if extent is None:
            raise InvalidArgument(f"{name}: a number, expected the sizes of all blocks", name, str(size), "a list")
        if size < 1:
            raise InvalidArgument(f"{name}: {size}, expected at least 1", name, str(size), "at least 1")
        whole, rest = divmod(extent, size)
        return np.array([size] * whole + ([rest] if rest else []), dtype=np.int64)
    result = np.ascontiguousarray(sizes, dtype=np.int64)
    if result.ndim != 1:
        raise InvalidArgument(f"{name}: {result.ndim} dimensions, expected a list", name, str(result.ndim), "a list")
    if extent is not None and result.sum() != extent:
        text = f"{name}: sizes that add up to {result.sum()}, expected {extent}"
        raise InvalidArgument(text, name, str(result.sum()), str(extent))
    return result
