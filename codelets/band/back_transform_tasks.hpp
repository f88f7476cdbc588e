// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase_blocks.hpp>
#include <tessera/codelets/band/kernels/wy_blocks.hpp>
#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks that apply the reflectors of a chase to the eigenvectors of the tridiagonal matrix: FormChaseT,
/// ApplyChase and ApplyOneByOne after ChaseSweeps, a piece of the sweeps at a time; FormWy and ApplyWy after
/// ChaseTile. The first three fill a GPU, and their bodies for CPUs are plain loops: with GPUs no CPU runs
/// them. The last two run on CPUs alone.
namespace tessera::detail {

/// The flops of applying a piece's reflectors: those of sweep s cover n - 1 - s rows once.
template <class T>
double reflector_flops(const kernels::DeviceReflectors& piece, Index columns) noexcept {
  const auto sweeps = static_cast<double>(piece.sweeps);
  const double lengths = sweeps * (static_cast<double>(piece.n - 1 - piece.first_sweep) - (sweeps - 1) / 2);
  return flop_factor<T> * 4 * lengths * static_cast<double>(columns);
}

/// The WY blocks of a piece of reflectors: kernels::form_chase_t.    [2 g^2 (b + g) a block of g sweeps]
/// | operand    | mode  | shape                                           | what                      |
/// |------------|-------|-------------------------------------------------|---------------------------|
/// | reflectors | read  | array: piece.size()                             | as ChaseSweeps keeps them |
/// | blocks     | write | doubles: chase_blocks<T>(piece, split).size()   | V and W                   |
template <class T>
struct FormChaseT {
  static constexpr const char* name = "form_chase_t";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Array<T>> reflectors;
  Write<Array<double>> blocks;
  kernels::DeviceReflectors piece;
  bool split = false;  ///< for products of split operands, on a GPU only

  double flops() const noexcept {
    const double g = static_cast<double>(kernels::chase_blocks<T>(piece).group_sweeps());
    const double count =
        static_cast<double>(kernels::hop_sum(piece.n, piece.bandwidth, piece.first_sweep, 1, piece.sweeps));
    return flop_factor<T> * 2 * g * (static_cast<double>(piece.bandwidth) + g) * count;
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(piece.bandwidth, piece.first_sweep, piece.sweeps);
  }
};

/// C := (product of a piece's reflectors) C by their WY blocks: kernels::apply_chase.
///                                                                        [4 b a reflector and column]
/// | operand   | mode       | shape                                       | what                          |
/// |-----------|------------|---------------------------------------------|-------------------------------|
/// | workspace | scratch    | array: kernels::apply_chase_workspace bytes | for the widest C, on GPUs     |
/// | c         | read-write | n x columns                                 |                               |
/// | blocks    | read       | array of double                             | of FormChaseT                 |
/// A task fills a GPU with any number of columns; more columns reuse the blocks more often.
template <class T>
struct ApplyChase {
  static constexpr const char* name = "apply_chase";
  static constexpr bool gpu_instead_of_cpu = true;
  GpuScratch<Array<char>> workspace{};
  ReadWrite<Matrix<T>> c;
  Read<Array<double>> blocks;
  kernels::DeviceReflectors piece;
  Index columns = 0;
  bool split = false;  ///< as FormChaseT's

  double flops() const noexcept { return reflector_flops<T>(piece, columns); }
  std::uint32_t footprint() const noexcept {
    return footprint_of(piece.bandwidth, piece.first_sweep, piece.sweeps, split);
  }
};

/// The same from the reflectors themselves: kernels::apply_one_by_one, on a GPU ELPA2's kernel. The bandwidth
/// is a power of two, at most 128.                                       [4 b a reflector and column]
/// | operand    | mode       | shape               | what                      |
/// |------------|------------|---------------------|---------------------------|
/// | c          | read-write | n x columns         |                           |
/// | reflectors | read       | array: piece.size() | as ChaseSweeps keeps them |
template <class T>
struct ApplyOneByOne {
  static constexpr const char* name = "apply_one_by_one";
  static constexpr bool gpu_instead_of_cpu = true;
  ReadWrite<Matrix<T>> c;
  Read<Array<T>> reflectors;
  kernels::DeviceReflectors piece;
  Index columns = 0;

  double flops() const noexcept { return reflector_flops<T>(piece, columns); }
  std::uint32_t footprint() const noexcept {
    return footprint_of(piece.bandwidth, piece.first_sweep, piece.sweeps);
  }
};

/// The most pieces of reflectors that one FormWy takes.
inline constexpr Index max_form_pieces = 64;

/// The blocks first_hop .. last_hop - 1 of a group of g sweeps: kernels::form_wy.  [3 g^2 (b + g) a hop]
/// | operand   | mode         | shape                        | what                                       |
/// |-----------|--------------|------------------------------|--------------------------------------------|
/// | workspace | scratch      | reals: kernels::wy_workspace |                                            |
/// | blocks    | write or add | array: kernels::WyLayout     | those of the group; its other blocks stay  |
/// | kept      | read         | arrays                       | the reflectors, as `pieces` describes them |
template <class T>
struct FormWy {
  static constexpr const char* name = "form_wy";
  Scratch<Array<RealOf<T>>> workspace;
  WriteOrAdd<Array<T>> blocks;
  ReadAll<Array<T>> kept;
  Index n = 0, bandwidth = 1, first_sweep = 0, sweeps = 0, first_hop = 0, last_hop = 0;
  std::array<kernels::Reflectors<T>, max_form_pieces> pieces{};

  double flops() const noexcept {
    const double hops = static_cast<double>(last_hop - first_hop), g = static_cast<double>(sweeps);
    return flop_factor<T> * 3 * g * g * (static_cast<double>(bandwidth) + g) * hops;
  }
  std::uint32_t footprint() const noexcept { return footprint_of(bandwidth, sweeps, last_hop - first_hop); }
};

/// C := (product of all blocks of some groups) C: kernels::apply_wy.  [4 b a reflector and column]
/// | operand   | mode       | shape                        | what                                          |
/// |-----------|------------|------------------------------|-----------------------------------------------|
/// | workspace | scratch    | reals: kernels::wy_workspace |                                               |
/// | c         | read-write | n x columns                  |                                               |
/// | blocks    | read       | arrays: kernels::WyLayout    | group i: from sweep first_sweep + i sweeps on |
template <class T>
struct ApplyWy {
  static constexpr const char* name = "apply_wy";
  static constexpr int max_groups = 16;
  Scratch<Array<RealOf<T>>> workspace;
  ReadWrite<Matrix<T>> c;
  ReadAll<Array<T>> blocks;
  Index n = 0, bandwidth = 1, first_sweep = 0, sweeps = 0;
  Index last_sweeps = 0;  ///< sweeps of the last group
  Index columns = 0;

  double flops() const noexcept {
    const Index count = (blocks.size() - 1) * sweeps + last_sweeps;
    // The reflectors of a sweep cover its rows once.
    double lengths = 0;
    for (Index s = first_sweep; s < first_sweep + count; ++s) lengths += static_cast<double>(n - 1 - s);
    return flop_factor<T> * 4 * lengths * static_cast<double>(columns);
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(bandwidth, sweeps, kernels::hop_count(n, bandwidth, first_sweep));
  }
};

}  // namespace tessera::detail
