// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Whether StarPU can take a file of performance models. StarPU ends the program on most of what is wrong in
/// one: every file is read whole here first.
namespace tessera::detail {

/// Version of StarPU 1.4's model files. StarPU ends the program when it meets another one under this name.
inline constexpr int model_file_version = 45;

/// Larger ones are not read: StarPU's own have some hundred kilobytes at most.
inline constexpr std::size_t largest_model_file = std::size_t(64) << 20;

/// What is wrong with a file codelets/45/NAME, in words; empty: nothing.
std::string flaw_of_codelet_file(std::string_view text);

/// The nodes in a file of buses, from bus/HOST.config.
struct BusNodes {
  unsigned numa = 0, devices = 0;
  unsigned gpus = 0;  ///< CUDA's, of the devices
};
/// @return empty: nothing is wrong, and `nodes` is set
std::string flaw_of_bus_config(std::string_view text, BusNodes& nodes);
/// bus/HOST.affinity. `nodes`: if given, the file must have exactly these.
std::string flaw_of_bus_affinity(std::string_view text, const std::optional<BusNodes>& nodes);
/// bus/HOST.latency and bus/HOST.bandwidth: a square of numbers.
std::string flaw_of_bus_matrix(std::string_view text, const std::optional<BusNodes>& nodes);

/// Equal for two texts with the same lines in any order: StarPU turns the order of a model's measurements
/// around each time it writes them.
std::size_t hash_of_lines(std::string_view text) noexcept;

}  // namespace tessera::detail
