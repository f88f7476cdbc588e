// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include <hdf5.h>

#include <tessera/types.hpp>

/// What the HDF5 files share; not installed for users.
namespace tessera::hdf5 {

/// While it lives, HDF5 prints no errors; then the host's settings hold again.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  unsigned version_ = 2;
  H5E_auto2_t print2_ = nullptr;
#ifndef H5_NO_DEPRECATED_SYMBOLS
  H5E_auto1_t print1_ = nullptr;
#endif
  void* data_ = nullptr;
};

/// An HDF5 identifier with the function that closes it.
class Identifier {
 public:
  Identifier(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Identifier() {
    if (id_ >= 0) close_(id_);
  }
  Identifier(const Identifier&) = delete;
  Identifier& operator=(const Identifier&) = delete;
  operator hid_t() const noexcept { return id_; }
  /// Closing a data set may be what writes it. @return success
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// The type of the elements that a data set is read into.
enum class ElementKind { integer, real, complex };

/// The extents of a data set; the product of all is in `elements`, and its bytes fit into Index.
struct Extents {
  int rank = 0;
  hsize_t size[3] = {0, 0, 0};
  Index elements = 0;
};

/// Checks of the declarations in a file of unknown origin, before anything is read or allocated. Every
/// function returns the reason to refuse the data set, or an empty text.
std::string wrong_type(hid_t set, ElementKind kind);
/// @param stack  of matrices: three extents; else one or two
std::string wrong_extents(hid_t set, Extents& extents, bool stack = false);
/// The data are in the file itself, all of them, and not many more than it can hold.
std::string wrong_storage(hid_t set, Index elements, Index file_bytes);
/// The name stands for an object of this file, not for a link to somewhere else; and so does each group on the
/// way to it.
std::string wrong_link(hid_t file, const std::string& name);

/// The text of an attribute that is one string of at most a megabyte. @return the reason against it
std::string read_text(hid_t attribute, std::string& text);

}  // namespace tessera::hdf5
