// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_sparse_hdf5.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/root_stream.hpp>
#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_state.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

namespace {

constexpr std::string_view state_format = "tessera density state 1";
constexpr const char *of_density = "density_", *of_factor = "inverse_factor_";

/// The members of a state that are numbers, in the file's order.
template <class T>
std::array<double*, 8> numbers_of(DensityState<T>& state) {
  return {&state.occupation,     &state.temperature,    &state.chemical_potential, &state.energy,
          &state.gap.homo.lower, &state.gap.homo.upper, &state.gap.lumo.lower,     &state.gap.lumo.upper};
}

template <class T>
void write_state(const std::string& path, DensityState<T> state) {
  Runtime& runtime = state.density.runtime();
  std::unique_ptr<Hdf5File> file;
  on_root(runtime, [&] {
    file = std::make_unique<Hdf5File>(Hdf5File::create(path));
    file->write_attribute("format", state_format);
    std::vector<double> numbers;
    for (const double* number : numbers_of(state)) numbers.push_back(*number);
    file->create_array<double>("numbers", static_cast<Index>(numbers.size()));
    file->write_elements("numbers", 0, static_cast<Index>(numbers.size()), numbers.data());
  });
  write_block_sparse(file.get(), of_density, state.density);
  const auto none = [&] {
    return BlockSparseMatrix<T>(BlockPattern::make(runtime, make_block_layout(runtime, {}, {}), {}));
  };
  write_block_sparse(file.get(), of_factor, state.inverse_factor.valid() ? state.inverse_factor : none());
  on_root(runtime, [&] { file->close(); });
}

template <class T>
void require_state(const std::string& path, const DensityState<T>& state) {
  const auto refuse = [&](std::string reason) { throw InputError(path, 0, std::move(reason)); };
  const BlockLayout& layout = state.density.layout();
  if (hermitian_layout<T>(layout).symmetry != kind_of<T>(layout.symmetry))
    refuse("its density matrix is not half-stored and Hermitian");
  if (!(state.occupation > 0) || !(state.temperature >= 0) || std::isinf(state.occupation) ||
      std::isinf(state.temperature))
    refuse(fmt::format("its occupation is {}, its temperature {}", state.occupation, state.temperature));
  if (!state.inverse_factor.valid()) return;
  const BlockLayout& of_factor_layout = state.inverse_factor.layout();
  if (of_factor_layout.symmetry != Symmetry::none || !of_factor_layout.rows->same_sizes(*layout.rows) ||
      !of_factor_layout.cols->same_sizes(*layout.rows))
    refuse("its inverse factor has other blocks than its density matrix");
}

template <class T>
DensityState<T> read_state(Runtime& runtime, const std::string& path) {
  DensityState<T> state;
  std::unique_ptr<Hdf5File> file;
  std::array<double, 8> numbers{};
  on_root(runtime, [&] {
    file = std::make_unique<Hdf5File>(Hdf5File::open(path));
    if (file->read_attribute("format") != state_format)
      throw InputError(path, 0, fmt::format("its attribute 'format' is not '{}'", state_format));
    if (const Index length = file->length("numbers"); length != static_cast<Index>(numbers.size()))
      throw InputError(path, 0, fmt::format("'numbers' has {} elements, not {}", length, numbers.size()));
    file->read_elements("numbers", 0, static_cast<Index>(numbers.size()), numbers.data());
  });
  runtime.broadcast(numbers.data(), static_cast<Index>(sizeof numbers), 0);
  std::size_t k = 0;
  for (double* number : numbers_of(state)) *number = numbers[k++];
  state.density = read_block_sparse<T>(runtime, path, file.get(), of_density);
  auto factor = read_block_sparse<T>(runtime, path, file.get(), of_factor);
  if (factor.rows() > 0) state.inverse_factor = std::move(factor);
  agree(runtime, 0, [&] { require_state(path, state); });
  return state;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

std::optional<GapBounds> narrowed(const GapBounds& gap, double change) {
  const GapBounds moved{{gap.homo.lower - change, gap.homo.upper + change},
                        {gap.lumo.lower - change, gap.lumo.upper + change}};
  if (!(moved.homo.upper < moved.lumo.lower) || std::isinf(moved.homo.upper) || std::isinf(moved.lumo.lower))
    return std::nullopt;
  return moved;
}

template <class T>
void write_density_state(const std::string& path, const DensityState<T>& state) {
  collectively(runtime_of("density", state.density), "write_density_state", shape_hash(state.density),
               [&] { write_state(path, state); });
}

template <class T>
DensityState<T> read_density_state(Runtime& runtime, const std::string& path) {
  return collectively(runtime, "read_density_state", 0, [&] { return read_state<T>(runtime, path); });
}

#define TESSERA_INSTANTIATE(T)                                                      \
  template void write_density_state<T>(const std::string&, const DensityState<T>&); \
  template DensityState<T> read_density_state<T>(Runtime&, const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
