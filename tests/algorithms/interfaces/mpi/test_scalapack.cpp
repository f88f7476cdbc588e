// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The eigensolvers in ScaLAPACK's manner, against ScaLAPACK on the same
// distributed matrices, and LAPACK.
#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>
#include <tessera.h>
#include <tests/support/eigen_problem.hpp>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridmap(int* context, int* map, int ld, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void pssyevd_(const char* jobz, const char* uplo, const int* n, float* a, const int* ia, const int* ja,
              const int* desca, float* w, float* z, const int* iz, const int* jz, const int* descz,
              float* work, const int* lwork, int* iwork, const int* liwork, int* info);
void pdsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* ia, const int* ja,
              const int* desca, double* w, double* z, const int* iz, const int* jz, const int* descz,
              double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void pcheevd_(const char* jobz, const char* uplo, const int* n, std::complex<float>* a, const int* ia,
              const int* ja, const int* desca, float* w, std::complex<float>* z, const int* iz, const int* jz,
              const int* descz, std::complex<float>* work, const int* lwork, float* rwork, const int* lrwork,
              int* iwork, const int* liwork, int* info);
void pzheevd_(const char* jobz, const char* uplo, const int* n, std::complex<double>* a, const int* ia,
              const int* ja, const int* desca, double* w, std::complex<double>* z, const int* iz,
              const int* jz, const int* descz, std::complex<double>* work, const int* lwork, double* rwork,
              const int* lrwork, int* iwork, const int* liwork, int* info);
}

namespace tessera::test {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// MPI as a program has it; the library's Runtime ends with it.
class MpiEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    ASSERT_EQ(provided, MPI_THREAD_MULTIPLE);
  }
  void TearDown() override { MPI_Finalize(); }
};
const auto* const environment = ::testing::AddGlobalTestEnvironment(new MpiEnvironment);

/// A BLACS context of all processes; order R or C, or X for a map in reverse
/// order.
class Grid {
 public:
  Grid(int rows, int cols, char order) : rows_(rows), cols_(cols) {
    Cblacs_get(-1, 0, &context_);
    if (order == 'X') {
      std::vector<int> map;
      for (int p = rows * cols; p-- > 0;) map.push_back(p);
      Cblacs_gridmap(&context_, map.data(), rows, rows, cols);
    } else {
      Cblacs_gridinit(&context_, &order, rows, cols);
    }
    int r = 0, c = 0;
    Cblacs_gridinfo(context_, &r, &c, &row_, &col_);
  }
  ~Grid() {
    if (row_ >= 0) Cblacs_gridexit(context_);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  int context() const { return context_; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int row() const { return row_; }
  int col() const { return col_; }

 private:
  int context_ = -1, rows_, cols_, row_ = -1, col_ = -1;
};

/// A block-cyclic array, of which the n x n matrix from (row, col) on, from 0,
/// counts; other elements are `outside`.
template <class T>
class Distributed {
 public:
  struct Shape {
    int n, row, col, block_rows, block_cols, first_row, first_col;
    int margin = 2;  ///< rows and columns of the array behind the matrix
  };
  static constexpr T outside = T(-77);
  Distributed(const Grid& grid, const Shape& shape) : grid_(grid), shape_(shape) {
    const int rows = shape.n + shape.row + shape.margin, cols = shape.n + shape.col + shape.margin;
    for (int i = 0; i < rows; ++i)
      if ((i / shape.block_rows + shape.first_row) % grid.rows() == grid.row()) row_numbers_.push_back(i);
    for (int j = 0; j < cols; ++j)
      if ((j / shape.block_cols + shape.first_col) % grid.cols() == grid.col()) col_numbers_.push_back(j);
    ld_ = std::max<int>(1, static_cast<int>(row_numbers_.size()) + (shape.margin > 0));
    values_.assign(static_cast<std::size_t>(
                       std::max<std::size_t>(1, static_cast<std::size_t>(ld_) * col_numbers_.size())),
                   outside);
    const int descriptor[9] = {
        1,  grid.context(), rows, cols, shape.block_rows, shape.block_cols, shape.first_row, shape.first_col,
        ld_};
    std::copy_n(descriptor, 9, descriptor_);
  }
  template <class Element>
  void fill(const Element& element) {
    for_each([&](Index i, Index j, T& x) { x = element(i, j); });
  }
  /// The matrix on every process.
  Matrix<T> gathered() {
    Matrix<T> whole(shape_.n, shape_.n);
    for_each([&](Index i, Index j, T& x) { whole(i, j) = x; });
    MPI_Allreduce(MPI_IN_PLACE, whole.data(),
                  static_cast<int>(shape_.n * shape_.n * sizeof(T) / sizeof(RealOf<T>)),
                  sizeof(RealOf<T>) == 4 ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return whole;
  }
  /// No element outside the first `columns` of the matrix has been touched.
  bool only_matrix_touched(Index columns) const {
    for (std::size_t c = 0; c < col_numbers_.size(); ++c)
      for (int r = 0; r < ld_; ++r) {
        const bool padding = static_cast<std::size_t>(r) >= row_numbers_.size();
        const Index i = padding ? -1 : row_numbers_[static_cast<std::size_t>(r)] - shape_.row,
                    j = col_numbers_[c] - shape_.col;
        const bool inside = !padding && i >= 0 && i < shape_.n && j >= 0 && j < columns;
        if (!inside && values_[static_cast<std::size_t>(r) + c * static_cast<std::size_t>(ld_)] != outside)
          return false;
      }
    return true;
  }
  T* data() { return values_.data(); }
  const std::vector<T>& values() const { return values_; }
  const int* descriptor() const { return descriptor_; }
  int row() const { return shape_.row + 1; }
  int col() const { return shape_.col + 1; }

 private:
  template <class Work>
  void for_each(const Work& work) {
    for (std::size_t c = 0; c < col_numbers_.size(); ++c)
      for (std::size_t r = 0; r < row_numbers_.size(); ++r) {
        const Index i = row_numbers_[r] - shape_.row, j = col_numbers_[c] - shape_.col;
        if (i >= 0 && i < shape_.n && j >= 0 && j < shape_.n)
          work(i, j, values_[r + c * static_cast<std::size_t>(ld_)]);
      }
  }
  const Grid& grid_;
  Shape shape_;
  std::vector<int> row_numbers_, col_numbers_;
  int ld_ = 1;
  std::vector<T> values_;
  int descriptor_[9];
};

/// Tessera's and ScaLAPACK's routines of a type.
template <class T>
struct Routines;
#define TESSERA_ROUTINES(T, P, S)                                                                   \
  template <>                                                                                       \
  struct Routines<T> {                                                                              \
    static constexpr auto evd = tessera_##P##S##evd;                                                \
    static constexpr auto evd_partial = tessera_##P##S##evd_partial_spectrum;                       \
    static constexpr auto gvd = tessera_##P##S##gvd;                                                \
    static constexpr auto gvd_partial = tessera_##P##S##gvd_partial_spectrum;                       \
    static constexpr auto gvd_factorized = tessera_##P##S##gvd_factorized;                          \
    static constexpr auto gvd_partial_factorized = tessera_##P##S##gvd_partial_spectrum_factorized; \
    static constexpr auto scalapack = P##S##evd_;                                                   \
  };
TESSERA_ROUTINES(float, ps, sy)
TESSERA_ROUTINES(double, pd, sy)
TESSERA_ROUTINES(std::complex<float>, pc, he)
TESSERA_ROUTINES(std::complex<double>, pz, he)

/// ScaLAPACK's eigenvalues of the lower triangle. It wants square blocks, and
/// its matrices in the same distribution.
template <class T>
std::vector<RealOf<T>> scalapack_eigenvalues(Distributed<T> a, Distributed<T> z, int n) {
  using R = RealOf<T>;
  std::vector<R> w(static_cast<std::size_t>(n));
  const char vectors = 'V', lower = 'L';
  const int one_a = a.row(), one_ja = a.col(), one_z = z.row(), one_jz = z.col();
  std::vector<T> work(1);
  std::vector<R> rwork(1);
  std::vector<int> iwork(1);
  int lwork = -1, lrwork = -1, liwork = -1, info = 0;
  for (int call = 0; call < 2; ++call) {
    if constexpr (is_complex<T>)
      Routines<T>::scalapack(&vectors, &lower, &n, a.data(), &one_a, &one_ja, a.descriptor(), w.data(),
                             z.data(), &one_z, &one_jz, z.descriptor(), work.data(), &lwork, rwork.data(),
                             &lrwork, iwork.data(), &liwork, &info);
    else
      Routines<T>::scalapack(&vectors, &lower, &n, a.data(), &one_a, &one_ja, a.descriptor(), w.data(),
                             z.data(), &one_z, &one_jz, z.descriptor(), work.data(), &lwork, iwork.data(),
                             &liwork, &info);
    lwork = static_cast<int>(real_part(work[0])) + 1000;
    lrwork = static_cast<int>(rwork[0]) + 1000;
    liwork = iwork[0] + 1000;
    work.resize(static_cast<std::size_t>(lwork));
    rwork.resize(static_cast<std::size_t>(lrwork));
    iwork.resize(static_cast<std::size_t>(liwork));
  }
  EXPECT_EQ(info, 0);
  return w;
}

/// The grids of all processes.
std::vector<std::pair<int, int>> grids() {
  std::vector<std::pair<int, int>> shapes;
  for (int rows = 1; rows <= world_size(); ++rows)
    if (world_size() % rows == 0) shapes.emplace_back(rows, world_size() / rows);
  return shapes;
}

template <class T>
class Scalapack : public ::testing::Test {};
TYPED_TEST_SUITE(Scalapack, Scalars);

template <class T>
void expect_accurate(const Matrix<T>& a, const Matrix<T>* b, const std::vector<RealOf<T>>& w,
                     const Matrix<T>& z, const std::vector<RealOf<T>>& reference, Index first) {
  const Matrix<T> vectors = z.block(0, 0, a.rows(), static_cast<Index>(w.size()));
  const EigenErrors errors = eigen_errors(a, b, w, &vectors, reference, first);
  EXPECT_LT(errors.residual, 30);
  EXPECT_LT(errors.orthogonality, 30);
  EXPECT_LT(errors.values, 30);
}

/// Every grid in each order: the eigenvalues are ScaLAPACK's, the eigenvectors
/// are where they belong, and nothing else is touched.
TYPED_TEST(Scalapack, AgreesOnEveryGrid) {
  using T = TypeParam;
  for (const auto& [rows, cols] : grids())
    for (const char order : {'R', 'C', 'X'}) {
      const Grid grid(rows, cols, order);
      const int n = 37;
      const typename Distributed<T>::Shape shape{n, 0, 0, 5, 5, 0, 0, 0};  // ScaLAPACK wants whole arrays
      Distributed<T> a(grid, shape), z(grid, shape);
      const auto whole = random_hermitian<T>(n, 3);
      a.fill([&](Index i, Index j) { return i >= j ? whole(i, j) : not_a_number<T>(); });
      const auto before = a.values();
      const auto reference = scalapack_eigenvalues(a, z, n);
      std::vector<RealOf<T>> w(static_cast<std::size_t>(n));
      int info = 99;
      Routines<T>::evd('L', n, a.data(), 1, 1, a.descriptor(), w.data(), z.data(), 1, 1, z.descriptor(),
                       &info);
      ASSERT_EQ(info, 0) << rows << 'x' << cols << order << ' ' << tessera_last_message();
      EXPECT_EQ(std::memcmp(before.data(), a.values().data(), before.size() * sizeof(T)), 0)
          << "A has changed";
      EXPECT_TRUE(z.only_matrix_touched(n));
      expect_accurate<T>(whole, nullptr, w, z.gathered(), reference, 0);
    }
}

/// Submatrices that begin within blocks, blocks that are not square and differ,
/// and any first process.
TYPED_TEST(Scalapack, SubmatricesAndSourceOffsets) {
  using T = TypeParam;
  for (const auto& [rows, cols] : grids()) {
    const Grid grid(rows, cols, 'R');
    const int n = 29;
    Distributed<T> a(grid, {n, 3, 4, 4, 3, rows - 1, 0}), b(grid, {n, 0, 2, 7, 7, 0, cols - 1}),
        z(grid, {n, 5, 1, 3, 8, rows / 2, cols - 1});
    const auto whole = random_hermitian<T>(n, 5), right = random_hermitian<T>(n, 6, 2.0 * n);
    a.fill([&](Index i, Index j) { return i <= j ? whole(i, j) : not_a_number<T>(); });
    b.fill([&](Index i, Index j) { return i <= j ? right(i, j) : not_a_number<T>(); });
    std::vector<RealOf<T>> w(static_cast<std::size_t>(n));
    int info = 99;
    Routines<T>::gvd('U', n, a.data(), a.row(), a.col(), a.descriptor(), b.data(), b.row(), b.col(),
                     b.descriptor(), w.data(), z.data(), z.row(), z.col(), z.descriptor(), &info);
    ASSERT_EQ(info, 0) << rows << 'x' << cols << ' ' << tessera_last_message();
    EXPECT_TRUE(z.only_matrix_touched(n));
    expect_accurate<T>(whole, &right, w, z.gathered(), lapack_eigenvalues(whole, right), 0);
  }
}

TYPED_TEST(Scalapack, PartialSpectraAndFactors) {
  using T = TypeParam;
  const auto [rows, cols] = grids()[grids().size() / 2];
  const Grid grid(rows, cols, 'C');
  const int n = 33, first = 4, last = 13, count = 10;
  const typename Distributed<T>::Shape shape{n, 0, 0, 6, 6, 0, 0};
  Distributed<T> a(grid, shape), b(grid, shape), factor(grid, shape);
  const auto whole = random_hermitian<T>(n, 7);
  // B = L L^H with a known L.
  Matrix<T> lower(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < n; ++i)
      lower(i, j) = i == j ? T(RealOf<T>(2 + 0.1 * double(i))) : random_scalar<T>(8, i, j) * RealOf<T>(0.2);
  const auto right = multiply(Op::none, lower, Op::adjoint, lower);
  a.fill([&](Index i, Index j) { return whole(i, j); });
  b.fill([&](Index i, Index j) { return right(i, j); });
  factor.fill([&](Index i, Index j) { return i >= j ? lower(i, j) : not_a_number<T>(); });
  const auto reference = lapack_eigenvalues(whole, right);
  std::vector<RealOf<T>> w(static_cast<std::size_t>(n));
  int info = 99;
  {
    Distributed<T> z(grid, shape);
    Routines<T>::evd_partial('L', n, a.data(), 1, 1, a.descriptor(), w.data(), z.data(), 1, 1, z.descriptor(),
                             first, last, &info);
    ASSERT_EQ(info, 0) << tessera_last_message();
    EXPECT_TRUE(z.only_matrix_touched(count));
    expect_accurate<T>(whole, nullptr, {w.begin(), w.begin() + count}, z.gathered(),
                       lapack_eigenvalues(whole), first - 1);
  }
  {
    Distributed<T> z(grid, shape);
    Routines<T>::gvd_partial('L', n, a.data(), 1, 1, a.descriptor(), b.data(), 1, 1, b.descriptor(), w.data(),
                             z.data(), 1, 1, z.descriptor(), first, last, &info);
    ASSERT_EQ(info, 0) << tessera_last_message();
    expect_accurate<T>(whole, &right, {w.begin(), w.begin() + count}, z.gathered(), reference, first - 1);
  }
  {
    Distributed<T> z(grid, shape);
    Routines<T>::gvd_factorized('L', n, a.data(), 1, 1, a.descriptor(), factor.data(), 1, 1,
                                factor.descriptor(), w.data(), z.data(), 1, 1, z.descriptor(), &info);
    ASSERT_EQ(info, 0) << tessera_last_message();
    expect_accurate<T>(whole, &right, w, z.gathered(), reference, 0);
  }
  {
    Distributed<T> z(grid, shape);
    Routines<T>::gvd_partial_factorized('L', n, a.data(), 1, 1, a.descriptor(), factor.data(), 1, 1,
                                        factor.descriptor(), w.data(), z.data(), 1, 1, z.descriptor(), first,
                                        last, &info);
    ASSERT_EQ(info, 0) << tessera_last_message();
    expect_accurate<T>(whole, &right, {w.begin(), w.begin() + count}, z.gathered(), reference, first - 1);
  }
}

/// What is wrong on one process is told by the same info on all.
TYPED_TEST(Scalapack, BadArguments) {
  using T = TypeParam;
  const Grid grid(1, world_size(), 'R');
  const int n = 12;
  const typename Distributed<T>::Shape shape{n, 0, 0, 3, 3, 0, 0};
  Distributed<T> a(grid, shape), z(grid, shape), b(grid, shape);
  a.fill([](Index i, Index j) { return T(i == j ? 1 : 0); });
  b.fill([](Index i, Index j) { return T(i == j ? (i == 6 ? -1 : 1) : 0); });
  std::vector<RealOf<T>> w(n);
  const auto info_of = [&](char uplo, int order, int ia, const int* desca, Index first, Index last) {
    int info = 99;
    Routines<T>::evd_partial(uplo, order, a.data(), ia, 1, desca, w.data(), z.data(), 1, 1, z.descriptor(),
                             first, last, &info);
    return info;
  };
  EXPECT_EQ(info_of('L', n, 1, a.descriptor(), 1, n), 0);
  EXPECT_EQ(info_of('x', n, 1, a.descriptor(), 1, n), -1);
  EXPECT_EQ(info_of(world_rank() == world_size() - 1 ? 'x' : 'L', n, 1, a.descriptor(), 1, n), -1);
  EXPECT_EQ(info_of('L', -1, 1, a.descriptor(), 1, n), -2);
  EXPECT_EQ(info_of('L', n, 0, a.descriptor(), 1, n), -4);
  EXPECT_EQ(info_of('L', n, 4, a.descriptor(), 1, n), -4);
  EXPECT_EQ(info_of('L', n, 1, a.descriptor(), 0, n), -12);
  EXPECT_EQ(info_of('L', n, 1, a.descriptor(), 5, n + 1), -13);
  EXPECT_EQ(info_of('L', 0, 1, a.descriptor(), 1, 0), 0);
  int descriptor[9];
  std::copy_n(a.descriptor(), 9, descriptor);
  descriptor[4] = 0;
  EXPECT_EQ(info_of('L', n, 1, descriptor, 1, n), -605);
  int info = 99;
  Routines<T>::gvd('L', n, a.data(), 1, 1, a.descriptor(), b.data(), 1, 1, b.descriptor(), w.data(), z.data(),
                   1, 1, z.descriptor(), &info);
  EXPECT_EQ(info, n + 7) << "the leading minor of order 7 of B is not positive";
}

/// Contexts of other processes follow each other where all of the former ones
/// take part.
TEST(ScalapackRuntime, FollowsTheContext) {
  const int n = 10;
  const auto whole = random_hermitian<double>(n, 9);
  const auto reference = lapack_eigenvalues(whole);
  const auto solve = [&](const Grid& grid) {
    const Distributed<double>::Shape shape{n, 0, 0, 4, 4, 0, 0};
    Distributed<double> a(grid, shape), z(grid, shape);
    a.fill([&](Index i, Index j) { return whole(i, j); });
    std::vector<double> w(n);
    int info = 99;
    tessera_pdsyevd('L', n, a.data(), 1, 1, a.descriptor(), w.data(), z.data(), 1, 1, z.descriptor(), &info);
    EXPECT_EQ(info, 0) << tessera_last_message();
    for (std::size_t k = 0; k < n; ++k) EXPECT_NEAR(w[k], reference[k], 1e-12);
  };
  {
    const Grid all(world_size(), 1, 'C');
    solve(all);
  }
  if (world_size() == 1) return;
  // A part of the processes would have to end what the others still have.
  const Grid some(1, world_size() - 1, 'R');
  if (some.row() >= 0) {
    const Distributed<double>::Shape shape{n, 0, 0, 4, 4, 0, 0};
    Distributed<double> a(some, shape), z(some, shape);
    std::vector<double> w(n);
    int info = 0;
    tessera_pdsyevd('L', n, a.data(), 1, 1, a.descriptor(), w.data(), z.data(), 1, 1, z.descriptor(), &info);
    EXPECT_EQ(info, -1000);
    EXPECT_NE(std::string(tessera_last_message()).find("tessera_end_default_runtime"), std::string::npos);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  tessera_end_default_runtime();
  if (some.row() >= 0) solve(some);
  MPI_Barrier(MPI_COMM_WORLD);
  if (some.row() >= 0) tessera_end_default_runtime();
  const Grid again(1, world_size(), 'R');
  solve(again);
}

}  // namespace
}  // namespace tessera::test
