// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/runtime/blacs_grid.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

/// The info of a bad argument.
struct BadArgument {
  int info;
};

/// Entries of a descriptor, from 0.
enum DescriptorEntry { dtype, context, rows, cols, block_rows, block_cols, first_row, first_col, leading };

/// A matrix as ScaLAPACK's routines take it, and the numbers of its arguments.
template <class T>
struct Described {
  T* local;
  int row, col;  ///< from 1
  const int* descriptor;
  int first_argument;  ///< number of `local`; those of row, col and the
                       ///< descriptor follow

  /// @throws BadArgument for a descriptor that does not describe an array with
  /// an n x n matrix at (row, col) on this grid
  void check(int n, const ProcessGrid& grid) const {
    const auto entry = [&](DescriptorEntry e, bool good) {
      if (!good) throw BadArgument{-(100 * (first_argument + 3) + e + 1)};
    };
    entry(dtype, descriptor[dtype] == 1);
    entry(rows, descriptor[rows] >= 0);
    entry(cols, descriptor[cols] >= 0);
    entry(block_rows, descriptor[block_rows] >= 1);
    entry(block_cols, descriptor[block_cols] >= 1);
    entry(first_row, descriptor[first_row] >= 0 && descriptor[first_row] < grid.rows);
    entry(first_col, descriptor[first_col] >= 0 && descriptor[first_col] < grid.cols);
    if (n == 0) return;
    if (row < 1 || Index(row) + n - 1 > descriptor[rows]) throw BadArgument{-(first_argument + 1)};
    if (col < 1 || Index(col) + n - 1 > descriptor[cols]) throw BadArgument{-(first_argument + 2)};
  }
  TileLayout layout(const ProcessGrid& grid, Uplo uplo) const {
    return {.rows = descriptor[rows],
            .cols = descriptor[cols],
            .tile_rows = descriptor[block_rows],
            .tile_cols = descriptor[block_cols],
            .grid = grid,
            .uplo = uplo,
            .first_row = descriptor[first_row],
            .first_col = descriptor[first_col]};
  }
  MatrixInput<T> input(int n, const ProcessGrid& grid, Uplo uplo) const {
    return {local, descriptor[leading], layout(grid, uplo), row - 1, col - 1, n};
  }
  MatrixOutput<T> output(const ProcessGrid& grid) const {
    return {local, descriptor[leading], layout(grid, Uplo::general), row - 1, col - 1};
  }
};

enum class RightHand { none, matrix, factor };

/// One call.
template <class T>
struct Call {
  char uplo;
  int n;
  Described<T> a, b, z;
  RightHand right_hand;
  RealOf<T>* w;
  Index first, last;   ///< eigenvalues, from 1
  int first_argument;  ///< number of `first`

  /// @throws BadArgument
  void check(const ProcessGrid& grid) const {
    if (std::string_view("LlUu").find(uplo) == std::string_view::npos) throw BadArgument{-1};
    if (n < 0) throw BadArgument{-2};
    a.check(n, grid);
    if (right_hand != RightHand::none) b.check(n, grid);
    z.check(n, grid);
    if (n == 0) return;
    if (first < 1 || first > n) throw BadArgument{-first_argument};
    if (last < first || last > n) throw BadArgument{-(first_argument + 1)};
  }
};

constexpr int other_error = -1000;

template <class T>
int info_of(const Status& status, int n) {
  if (status.ok()) return 0;
  code_of(status);
  return status.code == StatusCode::not_positive_definite ? n + static_cast<int>(status.index)
                                                          : static_cast<int>(status.code);
}

/// The lowest info of a bad argument of any rank; 0: there is none.
template <class T>
int agreed_check(Runtime& runtime, const Call<T>& call, const ProcessGrid& grid) {
  double bad = 0;
  try {
    call.check(grid);
  } catch (const BadArgument& argument) {
    bad = -argument.info;
  }
  runtime.all_reduce_max(&bad, 1);
  return -static_cast<int>(bad);
}

template <class T>
int solve(const Call<T>& call) {
  const int context_number = call.a.descriptor[context];
  for (const Described<T>* matrix : {&call.b, &call.z})
    if (matrix->descriptor && matrix->descriptor[context] != context_number)
      return -(100 * (matrix->first_argument + 3) + context + 1);
  const detail::BlacsRuntime on = detail::blacs_runtime(context_number);
  const ProcessGrid grid{on.rows, on.cols, on.column_major};
  if (const int bad = agreed_check(on.runtime, call, grid); bad != 0) return bad;
  if (call.n == 0) return 0;
  const Uplo uplo = uplo_of(call.uplo);
  EigenProblem<T> problem{.a = call.a.input(call.n, grid, uplo), .vectors_to = call.z.output(grid)};
  if (call.right_hand == RightHand::matrix) problem.b = call.b.input(call.n, grid, uplo);
  if (call.right_hand == RightHand::factor) {
    const auto factor =
        cholesky_factor<T>(on.runtime, {.b = call.b.input(call.n, grid, uplo), .factorized = true});
    if (!factor) return info_of<T>(factor.status(), call.n);
    problem.b_factor = factor.factor;
  }
  EigensolveOptions options;
  if (call.first > 1 || call.last < call.n) options.range = index_range(call.first - 1, call.last);
  const EigenResult<T> found = eigensolve<T>(on.runtime, problem, options);
  std::copy(found.values.begin(), found.values.end(), call.w);
  return info_of<T>(found.status(), call.n);
}

template <class T>
void answer(const Call<T>& call, int* info) noexcept {
  int result = other_error;
  const int code = c_interface::call([&] { result = solve(call); });
  if (info) *info = code == TESSERA_SUCCESS ? result : other_error;
}

template <class T>
void standard(char uplo, int n, T* a, int ia, int ja, const int* desca, RealOf<T>* w, T* z, int iz, int jz,
              const int* descz, Index first, Index last, int* info) noexcept {
  answer(Call<T>{.uplo = uplo,
                 .n = n,
                 .a = {a, ia, ja, desca, 3},
                 .b = {nullptr, 1, 1, nullptr, 0},
                 .z = {z, iz, jz, descz, 8},
                 .right_hand = RightHand::none,
                 .w = w,
                 .first = first,
                 .last = last,
                 .first_argument = 12},
         info);
}

template <class T>
void generalized(RightHand right_hand, char uplo, int n, T* a, int ia, int ja, const int* desca, T* b, int ib,
                 int jb, const int* descb, RealOf<T>* w, T* z, int iz, int jz, const int* descz, Index first,
                 Index last, int* info) noexcept {
  answer(Call<T>{.uplo = uplo,
                 .n = n,
                 .a = {a, ia, ja, desca, 3},
                 .b = {b, ib, jb, descb, 7},
                 .z = {z, iz, jz, descz, 12},
                 .right_hand = right_hand,
                 .w = w,
                 .first = first,
                 .last = last,
                 .first_argument = 16},
         info);
}

}  // namespace

// T: the elements, A: as the C interface declares them, R: their real type, P
// and S: the name's beginning and end.
#define TESSERA_DEFINE(T, A, R, P, S)                                                                      \
  void tessera_##P##S##evd(char uplo, int n, A* a, int ia, int ja, const int desca[9], R* w, A* z, int iz, \
                           int jz, const int descz[9], int* info) {                                        \
    standard<T>(uplo, n, static_cast<T*>(a), ia, ja, desca, w, static_cast<T*>(z), iz, jz, descz, 1, n,    \
                info);                                                                                     \
  }                                                                                                        \
  void tessera_##P##S##evd_partial_spectrum(char uplo, int n, A* a, int ia, int ja, const int desca[9],    \
                                            R* w, A* z, int iz, int jz, const int descz[9], int64_t first, \
                                            int64_t last, int* info) {                                     \
    standard<T>(uplo, n, static_cast<T*>(a), ia, ja, desca, w, static_cast<T*>(z), iz, jz, descz, first,   \
                last, info);                                                                               \
  }                                                                                                        \
  TESSERA_DEFINE_GENERALIZED(T, A, R, P##S##gvd, matrix)                                                   \
  TESSERA_DEFINE_GENERALIZED_PARTIAL(T, A, R, P##S##gvd_partial_spectrum, matrix)                          \
  TESSERA_DEFINE_GENERALIZED(T, A, R, P##S##gvd_factorized, factor)                                        \
  TESSERA_DEFINE_GENERALIZED_PARTIAL(T, A, R, P##S##gvd_partial_spectrum_factorized, factor)
#define TESSERA_DEFINE_GENERALIZED(T, A, R, name, right_hand)                                             \
  void tessera_##name(char uplo, int n, A* a, int ia, int ja, const int desca[9], A* b, int ib, int jb,   \
                      const int descb[9], R* w, A* z, int iz, int jz, const int descz[9], int* info) {    \
    generalized<T>(RightHand::right_hand, uplo, n, static_cast<T*>(a), ia, ja, desca, static_cast<T*>(b), \
                   ib, jb, descb, w, static_cast<T*>(z), iz, jz, descz, 1, n, info);                      \
  }
#define TESSERA_DEFINE_GENERALIZED_PARTIAL(T, A, R, name, right_hand)                                     \
  void tessera_##name(char uplo, int n, A* a, int ia, int ja, const int desca[9], A* b, int ib, int jb,   \
                      const int descb[9], R* w, A* z, int iz, int jz, const int descz[9], int64_t first,  \
                      int64_t last, int* info) {                                                          \
    generalized<T>(RightHand::right_hand, uplo, n, static_cast<T*>(a), ia, ja, desca, static_cast<T*>(b), \
                   ib, jb, descb, w, static_cast<T*>(z), iz, jz, descz, first, last, info);               \
  }
TESSERA_DEFINE(float, float, float, ps, sy)
TESSERA_DEFINE(double, double, double, pd, sy)
TESSERA_DEFINE(std::complex<float>, void, float, pc, he)
TESSERA_DEFINE(std::complex<double>, void, double, pz, he)
