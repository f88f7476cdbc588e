// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tessera/shell_model.hpp>

#include "eigen_output.hpp"
#include "report.hpp"

namespace tessera::program {

/// `J 2  T 0  +`: rounded to halves where they are that close, else with three decimals.
std::string quantum_numbers(const ShellModelState& state);

/// A table of the nucleons in each orbit (of many orbits in the twelve that have most, and in all others), a line for
/// each state and kind, with the lines' names.
std::vector<std::pair<std::string, std::string>> occupation_lines(const ShellModelStates& states);

/// `orbits`, and for each state `j`, `t`, `parity` (1, -1; 0: a mixture), `protons` and `neutrons`.
Json json_of(const ShellModelStates& states);

/// For the HDF5 file of eigenpairs, state k in column k (by HDF5's order in row k): `quantum_numbers` of three rows J,
/// T, parity, `protons` and `neutrons` of a row for each orbit.
std::vector<NamedMatrix> matrices_of(const ShellModelStates& states);

/// The levels as a text that readers of other programs' files know: energies in MeV, ascending.
/// - a file name that ends in .res: the table of BIGSTICK's results, `State E Ex J T par`
/// - another one: the section `Energy levels` of KSHELL's summary, with the states of each J and parity numbered; J
///   that is no half of an integer, and that of a mixture of both parities, is -1, as there
/// @param calculation  what names the calculation in KSHELL's last column; blanks become _
std::string levels_text(const std::string& file, const std::vector<double>& energies,
                        const ShellModelStates& states, const std::string& calculation);

}  // namespace tessera::program
