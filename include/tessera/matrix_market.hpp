// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

/// Matrix Market files (NIST, https://math.nist.gov/MatrixMarket/formats.html), gzip-compressed or not.
/// A reader streams: one call per stored entry, so that each process keeps only its own part. All sizes are
/// 64 bits.
namespace tessera {

namespace detail {
class OutputFile;
}

/// Whether entries have coordinates.
enum class MatrixMarketFormat { coordinate, array };
/// What the entries are.
enum class MatrixMarketField { real, integer, complex, pattern };
/// What the stored half tells about the other.
enum class MatrixMarketSymmetry { general, symmetric, hermitian, skew_symmetric };

/// The name in the file.
std::string_view to_string(MatrixMarketFormat format) noexcept;
/// The name in the file.
std::string_view to_string(MatrixMarketField field) noexcept;
/// The name in the file.
std::string_view to_string(MatrixMarketSymmetry symmetry) noexcept;

/// What the first lines of a file say.
struct MatrixMarketHeader {
  /// Whether entries have coordinates.
  MatrixMarketFormat format = MatrixMarketFormat::coordinate;
  /// What they are.
  MatrixMarketField field = MatrixMarketField::real;
  /// What the stored half tells about the other.
  MatrixMarketSymmetry symmetry = MatrixMarketSymmetry::general;
  Index rows = 0;     ///< of the matrix
  Index columns = 0;  ///< of the matrix
  Index entries = 0;  ///< stored in the file: one triangle only unless `symmetry` is general
};

/// Reads one file. Every error is an InputError that names the file, the line and the reason: missing or
/// unreadable file, not a regular file, not Matrix Market, truncated, damaged compression, more or fewer
/// entries than announced, an index out of range or not a number, NaN or infinity, an entry given twice, a
/// diagonal entry that contradicts the symmetry.
///
/// A plain file must end with a newline: of a file that was cut within its last number (12345 to 12) nothing
/// else tells. A compressed file needs none, since its checksum tells that it is whole. A header that
/// announces more entries than the file has room for is refused at once; rows and columns may be any.
class MatrixMarketReader {
 public:
  /// Opens the file and reads the header and the sizes.
  explicit MatrixMarketReader(const std::string& path);
  ~MatrixMarketReader();
  /// Takes over the file.
  MatrixMarketReader(MatrixMarketReader&&) noexcept;
  /// Takes over the file.
  MatrixMarketReader& operator=(MatrixMarketReader&&) noexcept;

  /// The file's name.
  const std::string& path() const noexcept;
  /// What its first lines say.
  const MatrixMarketHeader& header() const noexcept;

  /// The line that is being read, from 1: for the messages of a visitor.
  Index line() const noexcept;

  /// Indices from 0; the value of a pattern file is 1.
  using Visitor = std::function<void(Index row, Index column, std::complex<double> value)>;

  /// Calls `visit` once per entry of the file, in the file's order, without the mirrored entries of a
  /// symmetric matrix. May be called again: it then reads the file from the start. Entries that are given
  /// twice are noticed at the end, for nothing where the entries are sorted by columns or rows; otherwise by
  /// a second pass with one bit per matrix element or 8 bytes per stored entry, whichever is less.
  void for_each(const Visitor& visit);

  struct Detail;

 private:
  std::unique_ptr<Detail> detail_;
};

/// The value that a reader hands out, in type T. Throws an InputError where it is complex and T is not, or
/// where it overflows.
template <class T>
T matrix_market_value(const MatrixMarketReader& reader, std::complex<double> value);

/// Throws an InputError unless the matrix is square, and unless its header allows it to be Hermitian in type
/// T: not skew-symmetric, not complex in a real type.
template <class T>
void require_hermitian_header(const MatrixMarketReader& reader);

/// Reads a Hermitian matrix into memory that the caller provides, element by element.
///
/// `slot(i, j)`, i >= j, is the address of the element A(i, j) of the lower triangle, or null where this
/// process does not keep it; the memory is zero on entry, and an element's address does not change. An upper
/// entry of a symmetric or Hermitian file stands for its mirror image. A general file must hold a Hermitian
/// matrix: |a_ij - conj(a_ji)| <= tolerance * max|a| for all entries that this process keeps; of a general
/// file the lower triangle is stored. Throws an InputError that names the first offending entry otherwise,
/// and where a value overflows in type T. A general coordinate file is read twice; nothing but the caller's
/// memory is needed.
template <class T>
void read_hermitian(MatrixMarketReader& reader, const std::function<T*(Index, Index)>& slot,
                    double tolerance = 1e-13);

/// The whole matrix, column-major with leading dimension max(1, rows), with both triangles filled. A complex
/// file in a real type is an InputError; a matrix that does not fit into memory is a RuntimeError.
template <class T>
std::vector<T> read_dense(MatrixMarketReader& reader);

/// Writes a Matrix Market array (general, real or complex as T is) column after column: 9 digits in single
/// precision, 17 in double, so that the numbers survive. Compressed if the name ends in `.gz`. The file
/// appears, or is replaced, when close() has succeeded. Throws an InputError where it
/// cannot be written.
class MatrixMarketWriter {
 public:
  /// Begins a file; a comment is one line.
  MatrixMarketWriter(const std::string& path, Index rows, Index columns, bool complex,
                     std::string_view comment = {});
  /// Into a file that the caller commits after close(), with others that belong to it.
  MatrixMarketWriter(detail::OutputFile& file, Index rows, Index columns, bool complex,
                     std::string_view comment = {});
  ~MatrixMarketWriter();
  MatrixMarketWriter(const MatrixMarketWriter&) = delete;
  MatrixMarketWriter& operator=(const MatrixMarketWriter&) = delete;

  /// The next `columns` columns; T is real if and only if the file is.
  template <class T>
  void append(const T* a, Index columns, Index ld);
  /// Completes the file; all columns must have been written.
  void close();

  struct Detail;

 private:
  std::unique_ptr<Detail> detail_;
};

/// Writes a Matrix Market coordinate file, entry after entry, with the digits of MatrixMarketWriter, whole or
/// not at all as it does.
class MatrixMarketEntryWriter {
 public:
  /// The header's format is coordinate, its field real or complex.
  MatrixMarketEntryWriter(const std::string& path, const MatrixMarketHeader& header,
                          std::string_view comment = {});
  ~MatrixMarketEntryWriter();
  MatrixMarketEntryWriter(const MatrixMarketEntryWriter&) = delete;
  MatrixMarketEntryWriter& operator=(const MatrixMarketEntryWriter&) = delete;

  /// Indices from 0; T is real if and only if the file is.
  template <class T>
  void append(Index row, Index column, T value);
  /// Completes the file; as many entries as announced must have been written.
  void close();

  struct Detail;

 private:
  std::unique_ptr<Detail> detail_;
};

/// The whole array at once.
template <class T>
void write_matrix_market(const std::string& path, Index rows, Index columns, const T* a, Index ld,
                         std::string_view comment = {});

}  // namespace tessera
