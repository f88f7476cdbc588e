// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batch_files.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/runtime/parallel_for.hpp>

#include "file_kind.hpp"
#include "machine_limits.hpp"
#include "usage_error.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Of matrices that are read at once, about.
constexpr Index elements_at_once = Index{1} << 23;

void require_batch_order(const std::string& path, Index n) {
  if (n > max_batch_order)
    throw InputError(path, 0,
                     fmt::format("is of order {}; a batch has matrices up to order {}, larger ones are for "
                                 "tessera eigen",
                                 n, max_batch_order));
}

BatchShape look_at_hdf5(const BatchFile& file) {
  require_format(file.path, FileFormat::matrix_market_or_hdf5);
  const Hdf5Shape found = Hdf5File::open(file.path).shape(file.set);
  const auto refuse = [&](const std::string& what) {
    throw InputError(file.path, 0, fmt::format("the data set '{}' {}", file.set, what));
  };
  const std::string sizes = fmt::format("{}", fmt::join(found.sizes, " x "));
  if (found.sizes.size() != 3)
    refuse(fmt::format("has {} dimension{}{}; expected 3: matrices, rows and columns", found.sizes.size(),
                       found.sizes.size() == 1 ? "" : "s", sizes.empty() ? "" : ", " + sizes));
  if (found.sizes[1] != found.sizes[2]) refuse(fmt::format("is of {}; expected square matrices", sizes));
  require_batch_order(file.path, found.sizes[1]);
  const char type = found.complex ? (found.single ? 'c' : 'z') : found.single ? 's' : 'd';
  return {found.sizes[1], found.sizes[0], type, found.single};
}

BatchShape look_at_matrix_market(const std::vector<BatchFile>& files) {
  BatchShape shape{0, std::ssize(files), 'd', false};
  for (const BatchFile& file : files) {
    require_format(file.path, FileFormat::matrix_market);
    const MatrixMarketReader reader(file.path);
    require_hermitian_header<std::complex<double>>(reader);
    const Index n = reader.header().rows;
    require_batch_order(file.path, n);
    if (&file == &files.front()) shape.n = n;
    if (n != shape.n)
      throw InputError(file.path, 0,
                       fmt::format("is of order {}, {} of order {}; a batch has one order", n,
                                   files.front().path, shape.n));
    if (reader.header().field == MatrixMarketField::complex) shape.type = 'z';
  }
  return shape;
}

template <class T>
bool is_finite(const T& x) {
  return std::isfinite(std::abs(std::complex<double>(x)));
}

/// The matrix that is stored by rows becomes one by columns, with the lower triangle in both. What is not finite in
/// the upper triangle comes into the lower one.
/// @param tolerance  of |a_ij - conj(a_ji)| relative to the largest |a_ij|
/// @return where it is not Hermitian, in words; else empty
template <class T>
std::string make_hermitian(T* a, Index n, double tolerance) {
  double most = 0;
  for (Index k = 0; k < n * n; ++k) {
    const double modulus = std::abs(std::complex<double>(a[k]));
    if (modulus > most) most = modulus;
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      const T lower = a[j + i * n], mirrored = conjugate(a[i + j * n]);
      if (std::abs(std::complex<double>(lower) - std::complex<double>(mirrored)) > tolerance * most)
        return fmt::format("element ({}, {}) is not the conjugate of ({}, {})", i, j, j, i);
      T value = is_finite(mirrored) ? lower : mirrored;
      if (i == j && is_finite(value)) value = T(real_part(value));
      a[i + j * n] = value;
      a[j + i * n] = conjugate(value);
    }
  return {};
}

/// Data of type F, the file's, into elements of type T.
template <class F, class T>
void read_matrices(Hdf5File& file, const std::string& set, Index first, Index count, Index square, T* a) {
  if constexpr (std::is_same_v<F, T>) {
    file.read_stack(set, first, count, a);
  } else {
    std::vector<F> read(static_cast<std::size_t>(count * square));
    file.read_stack(set, first, count, read.data());
    std::copy(read.begin(), read.end(), a);
  }
}

template <class T>
void read_hdf5_batch(Runtime& runtime, const BatchFile& source, const BatchShape& shape, std::vector<T>& a) {
  const Index n = shape.n, square = n * n;
  const bool real = shape.type == 's' || shape.type == 'd';
  // As precise as what is written as a_ij and conj(a_ji) after the same operations in another order.
  const double tolerance = 500 * std::max<double>(precision<T>, shape.single ? precision<float> : 0);
  Hdf5File file = Hdf5File::open(source.path);
  const Index at_once = std::max<Index>(elements_at_once / std::max<Index>(square, 1), 1);
  for (Index first = 0; first < shape.count && square > 0; first += at_once) {
    const Index count = std::min(at_once, shape.count - first);
    T* const part = a.data() + first * square;
    if (real)
      read_matrices<RealOf<T>>(file, source.set, first, count, square, part);
    else
      read_matrices<T>(file, source.set, first, count, square, part);
    parallel_for(cpu_threads(runtime), count, [&](Index k, int) {
      const std::string wrong = make_hermitian(part + k * square, n, tolerance);
      if (!wrong.empty())
        throw InputError(source.path, 0,
                         fmt::format("matrix number {} (from 0) of '{}' is not Hermitian: {}", first + k,
                                     source.set, wrong));
    });
  }
}

template <class T>
void read_matrix_market_batch(const std::vector<BatchFile>& files, const BatchShape& shape,
                              std::vector<T>& a) {
  const Index n = shape.n;
  T* one = a.data();
  for (const BatchFile& file : files) {
    MatrixMarketReader reader(file.path);
    require_hermitian_header<T>(reader);
    // The file may be another one than before.
    if (reader.header().rows != n) throw InputError(file.path, 0, fmt::format("is no longer of order {}", n));
    read_hermitian<T>(reader, [one, n](Index i, Index j) { return one + i + j * n; });
    for (Index j = 0; j < n; ++j)
      for (Index i = j + 1; i < n; ++i) one[j + i * n] = conjugate(one[i + j * n]);
    one += n * n;
  }
}

}  // namespace

BatchFile batch_file(const std::string& text) {
  std::error_code ignored;
  const std::size_t end = text.find(".h5:");
  if (end == std::string::npos || std::filesystem::exists(text, ignored))
    return {text, text.ends_with(".h5") ? usual_batch_set : ""};
  const std::string set = text.substr(end + 4);
  if (set.empty())
    throw UsageError("--matrix", text, "has no name of a data set", "FILE.h5 or FILE.h5:DATASET");
  return {text.substr(0, end + 3), set};
}

BatchShape look_at_batch(const std::vector<BatchFile>& files) {
  return files.front().hdf5() ? look_at_hdf5(files.front()) : look_at_matrix_market(files);
}

template <class T>
std::vector<T> read_batch(Runtime& runtime, const std::vector<BatchFile>& files, const BatchShape& shape) {
  std::vector<T> a(static_cast<std::size_t>(shape.n * shape.n * shape.count));
  if (files.front().hdf5())
    read_hdf5_batch(runtime, files.front(), shape, a);
  else
    read_matrix_market_batch(files, shape, a);
  return a;
}

template <class T>
void write_batch(const std::string& path, Index n, Index count, const BatchResults<T>& results) {
  using R = RealOf<T>;
  Hdf5File file = Hdf5File::create(path);
  file.write_attribute(
      "content",
      "eigenvalues (row k: matrix k) and eigenvectors (row j of matrix k belongs to value j); "
      "NaN: the matrix has failed");
  file.create_array<R>("values", n, count);
  file.write_columns("values", 0, count, results.values.data(), n);
  if (!results.vectors.empty()) {
    file.create_stack<T>("vectors", n, n, count);
    // From one failure to the next.
    Index begin = 0;
    const std::vector<T> none(static_cast<std::size_t>(n * n), T(std::numeric_limits<R>::quiet_NaN()));
    for (const BatchFailure& failure : results.failures) {
      file.write_stack("vectors", begin, failure.matrix - begin, results.vectors.data() + begin * n * n);
      file.write_stack("vectors", failure.matrix, 1, none.data());
      begin = failure.matrix + 1;
    }
    file.write_stack("vectors", begin, count - begin, results.vectors.data() + begin * n * n);
  }
  file.close();
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template std::vector<T> read_batch<T>(Runtime&, const std::vector<BatchFile>&, const BatchShape&); \
  template void write_batch<T>(const std::string&, Index, Index, const BatchResults<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
