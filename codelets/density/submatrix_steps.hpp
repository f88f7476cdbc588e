// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/codelets/density/hermitian_steps.hpp>

/// Tasks of the submatrix method beside those of hermitian_steps.hpp: a batch of `count` principal submatrices of one
/// Hermitian block-sparse matrix, padded to a common order n, one beside the other: n x (n count). Each begins with its own
/// blocks, those whose columns are wanted. Flops in brackets (complex: x 4). S, T: scalar types.
namespace tessera::detail {

/// A block of a column of blocks of the whole matrix.
struct ColumnBlock {
  std::int32_t row;   ///< number of the block row
  std::int32_t rows;  ///< its elements along the rows
  Index element;      ///< at which it begins: column-major
};
/// A block row and column of a submatrix of the batch.
struct SubmatrixPlace {
  std::int32_t block;   ///< its number in the whole matrix
  std::int32_t first;   ///< row of the submatrix at which it begins
  std::int32_t size;    ///< its elements
  std::int32_t matrix;  ///< number of the submatrix in the batch
};
/// A submatrix of the batch.
struct SubmatrixMember {
  Index first_place, end_place;  ///< its places, by ascending block
  Index order;                   ///< without padding
};

/// The submatrices, both triangles; zero where the whole matrix stores no block, `padding` on the diagonal beyond the order.
/// | operand | mode  | shape                    | what                                                        |
/// |---------|-------|--------------------------|-------------------------------------------------------------|
/// | begins  | read  | array of Index           | for each column of blocks its first one, and the end        |
/// | blocks  | read  | array of ColumnBlock     | both triangles, by column and row                           |
/// | values  | read  | array                    | of the blocks                                               |
/// | members | read  | array of SubmatrixMember | count                                                       |
/// | places  | read  | array of SubmatrixPlace  |                                                             |
/// | x       | write | batch                    |                                                             |
template <class S, class T>
struct GatherSubmatrices {
  static constexpr const char* name = "gather_submatrices";
  Read<Array<Index>> begins;
  Read<Array<ColumnBlock>> blocks;
  Read<Array<S>> values;
  Read<Array<SubmatrixMember>> members;
  Read<Array<SubmatrixPlace>> places;
  Write<Matrix<T>> x;
  double padding = 0;
  Index count = 1;
};

/// The tridiagonal matrices of `steps` Lanczos steps, without orthogonalisation, from vectors that depend on n alone: for each
/// submatrix its diagonal, then what is below it; the last: the norm of what is left.         [2 n^2 steps count]
/// | operand     | mode    | shape           | what                        |
/// |-------------|---------|-----------------|-----------------------------|
/// | x           | read    | batch           | Hermitian, both triangles   |
/// | tridiagonal | write   | array of double | 2 steps count               |
/// | work        | scratch | array           | submatrix_lanczos_work<T>(n, count)   |
/// Source: Lanczos, J. Res. Nat. Bur. Stand. 45 (1950) 255.
template <class T>
struct SubmatrixLanczos {
  static constexpr const char* name = "submatrix_lanczos";
  Read<Matrix<T>> x;
  Write<Array<double>> tridiagonal;
  GpuScratch<Array<char>> work{};
  Index n = 0, count = 1, steps = 1;
  double flops() const noexcept {
    return 2 * flop_factor<T> * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(steps) *
           static_cast<double>(count);
  }
};

/// P := (3 Q S Q - 2 Q S Q S Q) E of Q = Z X Z, E the first `width` columns of the identity: McWeeny's step for the wanted
/// columns of a density matrix, in T, from an X and a Z of another precision.     [20 n^2 width count]
/// | operand | mode    | shape                | what                                                      |
/// |---------|---------|----------------------|-----------------------------------------------------------|
/// | s       | read    | batch                | Hermitian; absent, as z: the identity                     |
/// | x       | read    | batch                | Hermitian                                                 |
/// | z       | read    | batch                | Hermitian: the inverse square root of S, nearly           |
/// | p       | write   | n x (width count)    |                                                           |
/// | work    | scratch | array                | columns_work<F, T>(n, width, count)                       |
/// Source: McWeeny, Rev. Mod. Phys. 32 (1960) 335.
template <class F, class T>
struct DensityColumns {
  static constexpr const char* name = "density_columns";
  Read<Matrix<T>> s{};
  Read<Matrix<F>> x;
  Read<Matrix<F>> z{};
  Write<Matrix<T>> p;
  GpuScratch<Array<char>> work{};
  Index n = 0, width = 0, count = 1;
  double flops() const noexcept {
    return (z ? 20 : 6) * flop_factor<T> * static_cast<double>(n) * static_cast<double>(n) *
           static_cast<double>(width) * static_cast<double>(count);
  }
};

/// The pairs of types of a matrix and of its iterates: the same, or half the precision.
#define TESSERA_FOR_ITERATES(MACRO)                 \
  MACRO(float, float)                               \
  MACRO(double, double)                             \
  MACRO(float, double)                              \
  MACRO(std::complex<float>, std::complex<float>)   \
  MACRO(std::complex<double>, std::complex<double>) \
  MACRO(std::complex<float>, std::complex<double>)

/// Matrices of a batch that DensityColumns takes at once on a GPU.
inline constexpr Index columns_at_once = 8;
/// Work spaces on a GPU, in bytes.
template <class T>
constexpr std::size_t submatrix_lanczos_work(Index n, Index count) noexcept {
  return static_cast<std::size_t>(3 * n * count) * sizeof(T) +
         static_cast<std::size_t>(count + 1) * sizeof(double);
}
template <class F, class T>
constexpr std::size_t columns_work(Index n, Index width, Index count) noexcept {
  constexpr Index copies = std::is_same_v<F, T> ? 0 : 2;
  return static_cast<std::size_t>(std::min(columns_at_once, count) * n * (copies * n + 3 * width)) *
         sizeof(T);
}

/// Element i of the vector, of norm about sqrt(n), that SubmatrixLanczos begins with: a hash of i in [-1, 1).
TESSERA_HOST_DEVICE inline double submatrix_start(Index i) noexcept {
  std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
}

}  // namespace tessera::detail
