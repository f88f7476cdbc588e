// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tessera/runtime/io/hdf5_detail.hpp>

namespace tessera::hdf5 {
namespace {

constexpr std::size_t longest_text = std::size_t{1} << 20;

/// What an element can be: HDF5 allocates for the size that the file declares.
bool is_number(hid_t type, bool integer) {
  constexpr std::size_t largest = 16;
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t size = H5Tget_size(type);
  return (kind == H5T_INTEGER || (!integer && kind == H5T_FLOAT)) && size > 0 && size <= largest;
}

bool is_complex_number(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2 || H5Tget_size(type) > 32)
    return false;
  for (const char* name : {"r", "i"}) {
    const int index = H5Tget_member_index(type, name);
    if (index < 0) return false;
    const Identifier member(H5Tget_member_type(type, static_cast<unsigned>(index)), H5Tclose);
    if (member < 0 || !is_number(member, false)) return false;
  }
  return true;
}

/// How many times its size compressed data can have at most; 0: a filter that is not known here.
Index largest_ratio(hid_t properties) {
  constexpr Index of_deflate = 1032, of_szip = 16384;
  Index ratio = 1;
  for (int f = 0; f < H5Pget_nfilters(properties); ++f) {
    unsigned flags = 0;
    std::size_t values = 0;
    switch (
        H5Pget_filter2(properties, static_cast<unsigned>(f), &flags, &values, nullptr, 0, nullptr, nullptr)) {
      case H5Z_FILTER_SHUFFLE:
      case H5Z_FILTER_FLETCHER32:
        continue;
      case H5Z_FILTER_DEFLATE:
        if (ratio > 1) return 0;
        ratio = of_deflate;
        continue;
      case H5Z_FILTER_SZIP:
        if (ratio > 1) return 0;
        ratio = of_szip;
        continue;
      default:
        return 0;
    }
  }
  return ratio;
}

/// Bytes of one chunk, which HDF5 holds in memory; negative: beyond all measure.
Index chunk_bytes(hid_t properties, Index element_bytes) {
  hsize_t size[H5S_MAX_RANK] = {};
  const int rank = H5Pget_chunk(properties, H5S_MAX_RANK, size);
  Index bytes = element_bytes;
  for (int d = 0; d < rank; ++d)
    if (__builtin_mul_overflow(bytes, size[d], &bytes)) return -1;
  return rank > 0 ? bytes : -1;
}

}  // namespace

QuietErrors::QuietErrors() {
  H5Eauto_is_v2(H5E_DEFAULT, &version_);
#ifndef H5_NO_DEPRECATED_SYMBOLS
  if (version_ == 0) {
    H5Eget_auto1(&print1_, &data_);
    H5Eset_auto1(nullptr, nullptr);
    return;
  }
#endif
  H5Eget_auto2(H5E_DEFAULT, &print2_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() {
#ifndef H5_NO_DEPRECATED_SYMBOLS
  if (version_ == 0) {
    H5Eset_auto1(print1_, data_);
    return;
  }
#endif
  H5Eset_auto2(H5E_DEFAULT, print2_, data_);
}

std::string wrong_link(hid_t file, const std::string& name) {
  const std::string none = fmt::format("there is no data set '{}'", name);
  if (name.find_first_not_of('/') == std::string::npos) return none;
  for (std::size_t end = name.find_first_not_of('/'); end < name.size(); ++end) {
    end = std::min(name.find('/', end), name.size());
    const std::string part = name.substr(0, end);
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return none;
    H5L_info_t info;
    if (H5Lget_info(file, part.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
      return fmt::format("'{}' is a link to another place, not a data set of this file", part);
  }
  return {};
}

std::string wrong_type(hid_t set, ElementKind kind) {
  const Identifier type(H5Dget_type(set), H5Tclose);
  if (type < 0) return "has a damaged type";
  switch (kind) {
    case ElementKind::integer:
      return is_number(type, true) ? "" : "cannot be read as type integer";
    case ElementKind::real:
      return is_number(type, false) ? "" : "cannot be read as real numbers";
    case ElementKind::complex:
      break;
  }
  return is_complex_number(type) ? "" : "cannot be read as complex numbers";
}

std::string wrong_extents(hid_t set, Extents& extents, bool stack) {
  const std::string other = stack ? "is not a stack of matrices" : "is not a vector or matrix";
  const Identifier space(H5Dget_space(set), H5Sclose);
  extents.rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  if (stack ? extents.rank != 3 : extents.rank != 1 && extents.rank != 2) return other;
  if (H5Sget_simple_extent_type(space) != H5S_SIMPLE ||
      H5Sget_simple_extent_dims(space, extents.size, nullptr) != extents.rank)
    return other;
  constexpr Index largest_element = 32;
  Index bytes = 0;
  extents.elements = 1;
  for (int d = 0; d < extents.rank; ++d)
    if (extents.size[d] > static_cast<hsize_t>(INT64_MAX) ||
        __builtin_mul_overflow(extents.elements, extents.size[d], &extents.elements))
      return "is larger than any memory";
  if (__builtin_mul_overflow(extents.elements, largest_element, &bytes)) return "is larger than any memory";
  return {};
}

std::string wrong_storage(hid_t set, Index elements, Index file_bytes) {
  const Identifier properties(H5Dget_create_plist(set), H5Pclose);
  const Identifier type(H5Dget_type(set), H5Tclose);
  if (properties < 0 || type < 0) return "is damaged";
  if (H5Pget_external_count(properties) != 0) return "has its data in another file";
  const H5D_layout_t layout = H5Pget_layout(properties);
  if (layout == H5D_VIRTUAL) return "has its data in other data sets";
  const auto element_bytes = static_cast<Index>(H5Tget_size(type));
  Index bytes = 0;
  if (__builtin_mul_overflow(elements, element_bytes, &bytes)) return "is larger than any memory";
  if (bytes == 0) return {};
  const Index stored =
      static_cast<Index>(std::min(H5Dget_storage_size(set), static_cast<hsize_t>(INT64_MAX)));
  const std::string too_few =
      fmt::format("declares {} bytes, but the file holds {} for it", bytes, std::min(stored, file_bytes));
  if (layout != H5D_CHUNKED) return stored == bytes && stored <= file_bytes ? "" : too_few;
  const Index ratio = largest_ratio(properties);
  if (ratio == 0) return "is packed by filters other than shuffle, gzip and szip";
  Index most = 0;
  if (__builtin_mul_overflow(std::min(stored, file_bytes), ratio, &most)) most = INT64_MAX;
  const Index chunk = chunk_bytes(properties, element_bytes);
  if (bytes > most || chunk < 0 || chunk > most) return too_few;
  return {};
}

std::string read_text(hid_t attribute, std::string& text) {
  const std::string reason = "is not a text";
  const Identifier type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING) return reason;
  if (H5Sget_simple_extent_type(space) != H5S_SCALAR) return "is not one text but an array or nothing";
  if (H5Tis_variable_str(type) > 0) {  // what h5py writes
    char* value = nullptr;
    if (H5Aread(attribute, type, &value) < 0 || !value) return reason;
    const std::size_t size = strnlen(value, longest_text + 1);
    if (size <= longest_text) text.assign(value, size);
    H5free_memory(value);
    return size <= longest_text ? "" : "is longer than a megabyte";
  }
  const std::size_t size = H5Tget_size(type);
  if (size > longest_text) return "is longer than a megabyte";
  text.assign(size, '\0');
  if (size == 0 || H5Aread(attribute, type, text.data()) < 0) return reason;
  text.resize(std::min(text.find('\0'), text.size()));
  return {};
}

}  // namespace tessera::hdf5
