// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase_blocks.hpp>
#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks that apply the reflectors of a chase by ChaseSweeps, a piece of them at a time. On a GPU a task
/// is as large as a GPU can take, and the CPU's side is plain loops: with GPUs no CPU runs them.
namespace tessera {

/// Flops of applying a piece's reflectors: sweep s covers n - 1 - s rows once.
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
/// | blocks     | write | doubles: kernels::chase_blocks<T>(piece).size() | V and W                   |
template <class T>
struct FormChaseT {
  static constexpr const char* name = "form_chase_t";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Array<T>> reflectors;
  Write<Array<double>> blocks;
  kernels::DeviceReflectors piece;

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
/// | workspace | scratch    | array: kernels::apply_chase_workspace bytes | for the widest C; GPUs use it |
/// | c         | read-write | n x columns                                 |                               |
/// | blocks    | read       | array of double                             | of FormChaseT                 |
/// A task takes all of a GPU with any number of columns: the more, the less the blocks are read.
template <class T>
struct ApplyChase {
  static constexpr const char* name = "apply_chase";
  static constexpr bool gpu_instead_of_cpu = true;
  Scratch<Array<char>> workspace;
  ReadWrite<Matrix<T>> c;
  Read<Array<double>> blocks;
  kernels::DeviceReflectors piece;
  Index columns = 0;

  double flops() const noexcept { return reflector_flops<T>(piece, columns); }
  std::uint32_t footprint() const noexcept {
    return footprint_of(piece.bandwidth, piece.first_sweep, piece.sweeps);
  }
};

/// The same from the reflectors themselves: kernels::apply_one_by_one, on a GPU ELPA2's kernel, for
/// bandwidths that are powers of two, at most 128.                       [4 b a reflector and column]
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

}  // namespace tessera
