// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::detail {

/// What a data set of numbers declares.
struct Hdf5Shape {
  std::vector<Index> sizes;  ///< as in HDF5: the last one is contiguous
  bool complex = false;
  bool single = false;  ///< floating-point numbers that float holds
};

/// Where the elements of a vector stand in its file, one after the other.
struct Hdf5Place {
  Index begin = 0;  ///< byte of the file; 0 for a vector without elements
  Index count = 0;  ///< elements
};

/// An HDF5 file of dense arrays of scalars or of Index (64-bit integers); vectors may have unsigned integers of 8,
/// 16 and 32 bits, too. A rows x columns matrix is a data
/// set of shape (columns, rows): HDF5 is row-major, so that each column of ours is contiguous, and
/// `file["name"][k]` in h5py is column k. A complex number is the compound {double r, i} (float in single
/// precision) that h5py and NumPy read as complex. Errors are InputErrors.
///
/// A file that is written appears, or replaces the old one, when close() has succeeded (output_file.hpp);
/// without it the old one stays. A file that is read is not trusted: types, shapes and sizes are checked
/// before anything is read, data sets whose data are not all in the file itself (external or virtual storage,
/// links, fewer bytes than declared) are refused. The process's settings for errors of HDF5 are the same
/// after each call as before.
class Hdf5File {
 public:
  /// Begins a file that will be there, or replaced, after close().
  static Hdf5File create(const std::string& path);
  static Hdf5File open(const std::string& path);
  ~Hdf5File();
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  /// Completes a file that was written; no other call may follow.
  void close();

  /// Text, of the file as a whole.
  void write_attribute(std::string_view name, std::string_view value);
  std::string read_attribute(std::string_view name);
  /// A vector: columns < 0.
  template <class T>
  void create_array(const std::string& name, Index rows, Index columns = -1);
  /// Columns [first, first + columns) of a matrix made by create_array (a vector is one column).
  template <class T>
  void write_columns(const std::string& name, Index first, Index columns, const T* a, Index ld);
  /// Whole data set, column-major; its shape is returned through rows and columns (1 for a vector).
  template <class T>
  std::vector<T> read(const std::string& name, Index& rows, Index& columns);
  /// Elements [first, first + count) of a vector.
  template <class T>
  void write_elements(const std::string& name, Index first, Index count, const T* a);
  template <class T>
  void read_elements(const std::string& name, Index first, Index count, T* a);
  /// Elements of a vector.
  Index length(const std::string& name);
  /// Of a vector that stands in the file as it would in memory, so that it can be read without HDF5 (which has
  /// one thread at a time).
  /// @throws InputError for elements of another type than T, for packed data and data in chunks
  template <class T>
  Hdf5Place place(const std::string& name);
  /// A stack of rows x columns matrices: a data set of shape (count, columns, rows), so that
  /// `file["name"][k][j]` in h5py is column j of matrix k.
  template <class T>
  void create_stack(const std::string& name, Index rows, Index columns, Index count);
  /// Matrices [first, first + count), column-major, one directly after the other.
  template <class T>
  void write_stack(const std::string& name, Index first, Index count, const T* a);
  template <class T>
  void read_stack(const std::string& name, Index first, Index count, T* a);
  /// Of a data set of any number of dimensions, 0 for one without elements.
  Hdf5Shape shape(const std::string& name);

  struct Detail;

 private:
  explicit Hdf5File(std::unique_ptr<Detail> detail);
  std::unique_ptr<Detail> detail_;
};

/// For a program, before its first file: HDF5 does not close what is open at exit. Of a damaged file it keeps objects that
/// it cannot close, and would say so on stderr. The files of this class are closed with their objects.
void leave_hdf5_open_at_exit() noexcept;

}  // namespace tessera::detail
