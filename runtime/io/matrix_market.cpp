// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera::detail {

namespace {

/// Throws where the file is complex and T is not.
template <class T>
void require_type_of_field(const MatrixMarketReader& reader) {
  if (!is_complex<T> && reader.header().field == MatrixMarketField::complex)
    throw InputError(
        reader.path(), 1,
        "a complex matrix was given where a real one is needed (types c and z take complex matrices)");
}

std::string shown(std::complex<double> value) {
  return value.imag() == 0 ? fmt::format("{:.17g}", value.real())
                           : fmt::format("({:.17g}, {:.17g})", value.real(), value.imag());
}

[[noreturn]] void fail_not_hermitian(const MatrixMarketReader& reader, Index line, Index i, Index j,
                                     std::complex<double> lower, std::complex<double> upper) {
  const bool complex = reader.header().field == MatrixMarketField::complex;
  throw InputError(reader.path(), line,
                   fmt::format("the matrix is not {}: entry ({}, {}) is {}, entry ({}, {}) is {}",
                               complex ? "Hermitian" : "symmetric", i + 1, j + 1, shown(lower), j + 1, i + 1,
                               shown(upper)));
}

}  // namespace

namespace {

/// One Hermitian matrix on its way into the caller's memory.
template <class T>
class HermitianInput {
 public:
  HermitianInput(MatrixMarketReader& reader, const std::function<T*(Index, Index)>& slot, double tolerance)
      : reader_(reader), slot_(slot), tolerance_(tolerance) {}

  void read() {
    const MatrixMarketHeader& header = reader_.header();
    const bool general = header.symmetry == MatrixMarketSymmetry::general;
    // An array is stored by columns: an element of its upper triangle comes after its mirror image.
    const bool compare_at_once = general && header.format == MatrixMarketFormat::array;
    double worst = 0;
    reader_.for_each([&](Index i, Index j, std::complex<double> value) {
      check_real(i, j, value);
      T* address = i >= j ? slot_(i, j) : slot_(j, i);
      if (!address) return;
      largest_ = std::max(largest_, std::abs(value));
      if (i >= j)
        *address = matrix_market_value<T>(reader_, value);
      else if (!general)
        *address = conjugate(matrix_market_value<T>(reader_, value));
      else if (compare_at_once)
        worst = std::max(worst, difference(*address, value));
    });
    if (general && !(compare_at_once && worst <= tolerance_ * largest_)) compare_triangles();
  }

 private:
  double difference(T lower, std::complex<double> upper) const {
    return static_cast<double>(std::abs(lower - conjugate(matrix_market_value<T>(reader_, upper))));
  }
  bool matters(T lower) const { return static_cast<double>(std::abs(lower)) > tolerance_ * largest_; }

  void check_real(Index i, Index j, std::complex<double> value) const {
    if (value.imag() == 0) return;
    if (i == j)
      throw InputError(reader_.path(), reader_.line(),
                       fmt::format("the matrix is not Hermitian: the diagonal entry {} is not real", i + 1));
    if (reader_.header().symmetry == MatrixMarketSymmetry::symmetric)
      throw InputError(reader_.path(), reader_.line(),
                       fmt::format("the matrix is symmetric, not Hermitian: the entry ({}, {}) is not real",
                                   i + 1, j + 1));
  }

  /// Second pass of a general matrix: the lower triangle is there, each upper entry is compared with it.
  void compare_triangles() {
    Index below = 0, above = 0;
    reader_.for_each([&](Index i, Index j, std::complex<double> value) {
      T* address = i >= j ? slot_(i, j) : slot_(j, i);
      if (!address || i == j) return;
      if (i > j) {
        below += matters(*address);
        return;
      }
      above += matters(*address);
      if (difference(*address, value) > tolerance_ * largest_)
        fail_not_hermitian(reader_, reader_.line(), j, i, *address, value);
    });
    if (below != above) find_missing_upper_entry();
  }

  void find_missing_upper_entry() {
    const Index n = reader_.header().rows;
    std::vector<Index> upper;
    reader_.for_each([&](Index i, Index j, std::complex<double>) {
      if (i < j && slot_(j, i)) upper.push_back(i * n + j);
    });
    std::sort(upper.begin(), upper.end());
    reader_.for_each([&](Index i, Index j, std::complex<double>) {
      if (i <= j) return;
      const T* address = slot_(i, j);
      if (address && matters(*address) && !std::binary_search(upper.begin(), upper.end(), j * n + i))
        fail_not_hermitian(reader_, reader_.line(), i, j, *address, 0);
    });
  }

  MatrixMarketReader& reader_;
  const std::function<T*(Index, Index)>& slot_;
  double tolerance_;
  double largest_ = 0;
};

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
T matrix_market_value(const MatrixMarketReader& reader, std::complex<double> value) {
  require_type_of_field<T>(reader);
  using Real = RealOf<T>;
  if constexpr (sizeof(Real) < sizeof(double)) {
    constexpr double largest = std::numeric_limits<Real>::max();
    if (std::abs(value.real()) > largest || std::abs(value.imag()) > largest)
      throw InputError(reader.path(), reader.line(),
                       fmt::format("the value {} is too large for single precision", shown(value)));
  }
  if constexpr (is_complex<T>)
    return T(static_cast<Real>(value.real()), static_cast<Real>(value.imag()));
  else
    return static_cast<T>(value.real());
}

template <class T>
void require_hermitian_header(const MatrixMarketReader& reader) {
  const MatrixMarketHeader& header = reader.header();
  if (header.rows != header.columns)
    throw InputError(
        reader.path(), 0,
        fmt::format("a square matrix is needed, this one is {} x {}", header.rows, header.columns));
  require_type_of_field<T>(reader);
  if (header.symmetry == MatrixMarketSymmetry::skew_symmetric)
    throw InputError(reader.path(), 1,
                     "a symmetric or Hermitian matrix is needed, this one is skew-symmetric");
}

template <class T>
void read_hermitian(MatrixMarketReader& reader, const std::function<T*(Index, Index)>& slot,
                    double tolerance) {
  require_hermitian_header<T>(reader);
  const double rounding = static_cast<double>(precision<T>);
  HermitianInput<T>(reader, slot, std::max(tolerance, rounding)).read();
}

template <class T>
std::vector<T> read_dense(MatrixMarketReader& reader) {
  const MatrixMarketHeader& header = reader.header();
  require_type_of_field<T>(reader);
  require_host_memory(
      fmt::format("{}: a dense matrix of {} x {}", reader.path(), header.rows, header.columns),
      static_cast<double>(header.rows) * static_cast<double>(header.columns) *
          static_cast<double>(sizeof(T)));
  std::vector<T> a(static_cast<std::size_t>(header.rows * header.columns));
  const Index ld = header.rows;
  reader.for_each([&](Index i, Index j, std::complex<double> value) {
    const T element = matrix_market_value<T>(reader, value);
    a[static_cast<std::size_t>(i + j * ld)] = element;
    if (i == j) return;
    T& mirrored = a[static_cast<std::size_t>(header.symmetry == MatrixMarketSymmetry::general ? i + j * ld
                                                                                              : j + i * ld)];
    switch (header.symmetry) {
      case MatrixMarketSymmetry::general:
        break;
      case MatrixMarketSymmetry::symmetric:
        mirrored = element;
        break;
      case MatrixMarketSymmetry::hermitian:
        mirrored = conjugate(element);
        break;
      case MatrixMarketSymmetry::skew_symmetric:
        mirrored = -element;
        break;
    }
  });
  return a;
}

#define TESSERA_INSTANTIATE(T)                                                                          \
  template T matrix_market_value<T>(const MatrixMarketReader&, std::complex<double>);                   \
  template void require_hermitian_header<T>(const MatrixMarketReader&);                                 \
  template void read_hermitian<T>(MatrixMarketReader&, const std::function<T*(Index, Index)>&, double); \
  template std::vector<T> read_dense<T>(MatrixMarketReader&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
