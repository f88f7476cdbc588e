# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Liquid water, four ways: a notebook as a script, in cells (# %%).

    python python/examples/water.py [--molecules N] [--output DIR] [--format svg|png]

It writes four figures, prints the numbers behind them, and checks them against each other and against NumPy.
"""

# %% What is needed
import argparse
import pathlib
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import tessera

parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
parser.add_argument("--molecules", type=int, default=64)
parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
parser.add_argument("--format", choices=["svg", "png"], default="svg")
options = parser.parse_args()
options.output.mkdir(parents=True, exist_ok=True)


def save(figure, name):
    path = options.output / f"{name}.{options.format}"
    figure.savefig(path, bbox_inches="tight")
    plt.close(figure)
    print("wrote", path)


# %% A Hamiltonian H and an overlap S: one oxygen and two hydrogen atoms a molecule, blocks of 4, 1 and 1 functions
water = tessera.matgen.water(options.molecules, blocks=[4, 1, 1])
H, S = water.hamiltonian, water.overlap
print(H)
print(f"{water.electrons} electrons, occupation of H {H.occupation:.2f}")

# %% The dense way: all eigenpairs of H c = e S c
begin = time.perf_counter()
e, c = tessera.eigh(H.to_dense(), S.to_dense())
seconds = time.perf_counter() - begin
occupied = water.electrons // 2
homo, lumo = e[occupied - 1], e[occupied]
band_energy = 2 * e[:occupied].sum()
print(f"eigh: {seconds:.2f} s, HOMO {homo:.4f}, LUMO {lumo:.4f}, band energy {band_energy:.8f}")

figure, axes = plt.subplots(figsize=(6, 3.5))
width = 0.01
grid = np.linspace(e[0] - 0.1, e[-1] + 0.1, 1500)
states = np.exp(-((grid[:, None] - e) ** 2) / (2 * width**2)).sum(1) / (width * np.sqrt(2 * np.pi))
axes.fill_between(grid, states, where=grid < water.mu, alpha=0.6, label="occupied")
axes.fill_between(grid, states, where=grid >= water.mu, alpha=0.3, label="unoccupied")
axes.axvline(water.mu, color="black", linewidth=0.8, linestyle="--")
axes.set(xlabel="energy / hartree", ylabel="states / hartree", title="Density of states")
axes.legend()
save(figure, "states")

# %% Without eigenvectors: the density matrix by a purification
r = tessera.density(H, S, n_electrons=water.electrons, filter=1e-6)
print(r)
print(f"energy off by {abs(r.energy - band_energy):.1e} hartree, HOMO in {r.homo}, LUMO in {r.lumo}")
assert abs(r.energy - band_energy) < 1e-6 * options.molecules
assert homo < r.mu < lumo

figure, axes = plt.subplots(figsize=(6, 3.5))
for stage in dict.fromkeys(step.stage for step in r.iterations):
    steps = [(k, step.convergence) for k, step in enumerate(r.iterations, 1) if step.stage == stage]
    axes.semilogy(*zip(*steps), "o-", label=stage)
axes.set(xlabel="step", ylabel="convergence", title=f"Method {r.method}")
axes.legend()
save(figure, "convergence")

# %% Why it works: blocks of P decay with the distance between molecules
distances, norms = [], []
for i, j, block in r.P.blocks():
    d = water.unit_positions[water.unit_of_block[i]] - water.unit_positions[water.unit_of_block[j]]
    d -= water.cell_length * np.round(d / water.cell_length)
    distances.append(np.linalg.norm(d))
    norms.append(np.linalg.norm(block))
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.semilogy(distances, norms, ".", markersize=2)
axes.set(xlabel="distance of the molecules / angstrom", ylabel="norm of a block of P", title="Nearsightedness")
save(figure, "decay")

# %% The filter: error of the energy
filters = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7]
errors, shares = [], []
for eps in filters:
    trial = tessera.density(H, S, n_electrons=water.electrons, filter=eps)
    errors.append(abs(trial.energy - band_energy) / options.molecules)
    shares.append(trial.P.occupation)
    print(f"filter {eps:.0e}: error {errors[-1]:.1e} hartree a molecule, occupation of P {shares[-1]:.2f}")
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.loglog(filters, errors, "o-")
axes.set(xlabel="filter", ylabel="error / hartree a molecule", title="What the filter costs")
save(figure, "filter")

# %% A few states at the end of the spectrum, by an operator: only products with H and S are needed
h, s = H.to_scipy(), S.to_scipy()
w, v = tessera.eigsh(h, 4, B=s, tol=1e-9)
print("lowest energies by LOBPCG:", np.array2string(w, precision=6), "off by", f"{np.abs(w - e[:4]).max():.1e}")
assert np.abs(w - e[:4]).max() < 1e-6
