# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""The example runs, checks its numbers, and writes its figures."""

import pathlib
import subprocess
import sys

import pytest


def test_water(tmp_path):
    pytest.importorskip("matplotlib")
    script = pathlib.Path(__file__).parents[1] / "examples" / "water.py"
    command = [sys.executable, str(script), "--molecules", "27", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    figures = {path.name for path in tmp_path.iterdir()}
    assert figures == {"states.svg", "convergence.svg", "decay.svg", "filter.svg"}
    assert all((tmp_path / name).read_text(encoding="utf-8").rstrip().endswith("</svg>") for name in figures)
