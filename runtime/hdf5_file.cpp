// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <fmt/format.h>
#include <hdf5.h>

#include <tessera/runtime/error.hpp>
#include <tessera/runtime/hdf5_file.hpp>

namespace tessera {

namespace {

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

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

hid_t real_type(float) {
  return H5Tcopy(H5T_NATIVE_FLOAT);
}
hid_t real_type(double) {
  return H5Tcopy(H5T_NATIVE_DOUBLE);
}

hid_t real_type(Index) {
  return H5Tcopy(H5T_NATIVE_INT64);
}

template <class T>
hid_t element_type() {
  if constexpr (is_complex<T>) {
    using Real = RealOf<T>;
    const Identifier part(real_type(Real()), H5Tclose);
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(T));
    H5Tinsert(type, "r", 0, part);
    H5Tinsert(type, "i", sizeof(Real), part);
    return type;
  } else {
    return real_type(T());
  }
}

template <class T>
std::string type_name() {
  if constexpr (std::is_same_v<T, Index>)
    return "integer";
  else
    return std::string(1, type_letter<T>);
}

}  // namespace

struct Hdf5File::Detail {
  std::string path;
  hid_t file = -1;
  ~Detail() {
    if (file >= 0) H5Fclose(file);
  }
  void check(bool good, std::string_view what) const {
    if (!good) throw InputError(path, 0, what);
  }
  /// Opens a vector and calls work(data set, file space, elements) on it.
  template <class Work>
  void with_vector(const std::string& name, const Work& work) const {
    const Identifier set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    check(set >= 0, fmt::format("there is no data set '{}'", name));
    const Identifier space(H5Dget_space(set), H5Sclose);
    check(H5Sget_simple_extent_ndims(space) == 1, fmt::format("the data set '{}' is not a vector", name));
    work(set, space, static_cast<Index>(H5Sget_simple_extent_npoints(space)));
  }
  /// Opens a part of a vector and calls transfer(data set, memory space, file space) on it.
  template <class Transfer>
  void with_elements(const std::string& name, Index first, Index count, const Transfer& transfer) const {
    with_vector(name, [&](hid_t set, hid_t space, Index elements) {
      check(first + count <= elements,
            fmt::format("the data set '{}' has less than {} elements", name, first + count));
      if (count == 0) return;
      const auto start = static_cast<hsize_t>(first), size = static_cast<hsize_t>(count);
      const Identifier memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &size, nullptr);
      transfer(set, memory, space);
    });
  }
};

Hdf5File::Hdf5File(std::unique_ptr<Detail> detail) : detail_(std::move(detail)) {}
Hdf5File::~Hdf5File() = default;
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;

Hdf5File Hdf5File::create(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are exceptions here, not text on stderr
  auto detail = std::make_unique<Detail>();
  detail->path = path;
  detail->file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  detail->check(detail->file >= 0, "cannot be written");
  return Hdf5File(std::move(detail));
}

Hdf5File Hdf5File::open(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  auto detail = std::make_unique<Detail>();
  detail->path = path;
  detail->file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  detail->check(detail->file >= 0, "is not there, or is not an HDF5 file");
  return Hdf5File(std::move(detail));
}

void Hdf5File::write_attribute(std::string_view name, std::string_view value) {
  const Identifier type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, value.empty() ? 1 : value.size());
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Identifier space(H5Screate(H5S_SCALAR), H5Sclose);
  const std::string text = value.empty() ? std::string(1, '\0') : std::string(value);
  const Identifier attribute(
      H5Acreate2(detail_->file, std::string(name).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  detail_->check(attribute >= 0 && H5Awrite(attribute, type, text.data()) >= 0,
                 fmt::format("the attribute '{}' cannot be written", name));
}

std::string Hdf5File::read_attribute(std::string_view name) {
  const Identifier attribute(H5Aopen(detail_->file, std::string(name).c_str(), H5P_DEFAULT), H5Aclose);
  detail_->check(attribute >= 0, fmt::format("there is no attribute '{}'", name));
  const Identifier type(H5Aget_type(attribute), H5Tclose);
  const std::string reason = fmt::format("the attribute '{}' is not a text", name);
  detail_->check(H5Tget_class(type) == H5T_STRING, reason);
  if (H5Tis_variable_str(type) > 0) {  // what h5py writes
    char* text = nullptr;
    detail_->check(H5Aread(attribute, type, &text) >= 0 && text, reason);
    std::string value(text);
    H5free_memory(text);
    return value;
  }
  std::string value(H5Tget_size(type), '\0');
  detail_->check(H5Aread(attribute, type, value.data()) >= 0, reason);
  value.resize(std::min(value.find('\0'), value.size()));
  return value;
}

template <class T>
void Hdf5File::create_array(const std::string& name, Index rows, Index columns) {
  const bool vector = columns < 0;
  const std::array<hsize_t, 2> shape{static_cast<hsize_t>(vector ? rows : columns),
                                     static_cast<hsize_t>(rows)};
  const Identifier space(H5Screate_simple(vector ? 1 : 2, shape.data(), nullptr), H5Sclose);
  const Identifier type(element_type<T>(), H5Tclose);
  const Identifier set(
      H5Dcreate2(detail_->file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
  detail_->check(set >= 0, fmt::format("the data set '{}' cannot be made", name));
}

template <class T>
void Hdf5File::write_columns(const std::string& name, Index first, Index columns, const T* a, Index ld) {
  const Identifier set(H5Dopen2(detail_->file, name.c_str(), H5P_DEFAULT), H5Dclose);
  detail_->check(set >= 0, fmt::format("there is no data set '{}'", name));
  const Identifier space(H5Dget_space(set), H5Sclose);
  std::array<hsize_t, 2> shape{};
  const int rank = H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  const hsize_t rows = rank == 1 ? shape[0] : shape[1];
  if (rows == 0 || columns == 0) return;
  const Identifier type(element_type<T>(), H5Tclose);
  // Memory is (columns, ld) of which the first `rows` of each row are taken.
  const std::array<hsize_t, 2> memory_shape{static_cast<hsize_t>(columns),
                                            std::max(rows, static_cast<hsize_t>(ld))};
  const std::array<hsize_t, 2> count{static_cast<hsize_t>(columns), rows}, origin{0, 0};
  const std::array<hsize_t, 2> start{static_cast<hsize_t>(first), 0};
  // The last column need not have ld elements, but HDF5 touches only the selected ones.
  const Identifier memory(H5Screate_simple(2, memory_shape.data(), nullptr), H5Sclose);
  H5Sselect_hyperslab(memory, H5S_SELECT_SET, origin.data(), nullptr, count.data(), nullptr);
  if (rank == 2) H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  detail_->check(H5Dwrite(set, type, memory, space, H5P_DEFAULT, a) >= 0,
                 fmt::format("the data set '{}' cannot be written", name));
}

template <class T>
std::vector<T> Hdf5File::read(const std::string& name, Index& rows, Index& columns) {
  const Identifier set(H5Dopen2(detail_->file, name.c_str(), H5P_DEFAULT), H5Dclose);
  detail_->check(set >= 0, fmt::format("there is no data set '{}'", name));
  const Identifier space(H5Dget_space(set), H5Sclose);
  std::array<hsize_t, 2> shape{};
  const int rank = H5Sget_simple_extent_ndims(space);
  detail_->check(rank == 1 || rank == 2, fmt::format("the data set '{}' is not a vector or matrix", name));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  rows = static_cast<Index>(rank == 1 ? shape[0] : shape[1]);
  columns = rank == 1 ? 1 : static_cast<Index>(shape[0]);
  std::vector<T> a(static_cast<std::size_t>(rows * columns));
  const Identifier type(element_type<T>(), H5Tclose);
  detail_->check(a.empty() || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, a.data()) >= 0,
                 fmt::format("the data set '{}' cannot be read as type {}", name, type_name<T>()));
  return a;
}

template <class T>
void Hdf5File::write_elements(const std::string& name, Index first, Index count, const T* a) {
  const Identifier type(element_type<T>(), H5Tclose);
  detail_->with_elements(name, first, count, [&](hid_t set, hid_t memory, hid_t space) {
    detail_->check(H5Dwrite(set, type, memory, space, H5P_DEFAULT, a) >= 0,
                   fmt::format("the data set '{}' cannot be written", name));
  });
}

template <class T>
void Hdf5File::read_elements(const std::string& name, Index first, Index count, T* a) {
  const Identifier type(element_type<T>(), H5Tclose);
  detail_->with_elements(name, first, count, [&](hid_t set, hid_t memory, hid_t space) {
    detail_->check(H5Dread(set, type, memory, space, H5P_DEFAULT, a) >= 0,
                   fmt::format("the data set '{}' cannot be read as type {}", name, type_name<T>()));
  });
}

Index Hdf5File::length(const std::string& name) {
  Index length = 0;
  detail_->with_vector(name, [&](hid_t, hid_t, Index elements) { length = elements; });
  return length;
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template void Hdf5File::create_array<T>(const std::string&, Index, Index);                   \
  template void Hdf5File::write_columns<T>(const std::string&, Index, Index, const T*, Index); \
  template void Hdf5File::write_elements<T>(const std::string&, Index, Index, const T*);       \
  template void Hdf5File::read_elements<T>(const std::string&, Index, Index, T*);              \
  template std::vector<T> Hdf5File::read<T>(const std::string&, Index&, Index&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
TESSERA_INSTANTIATE(Index)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
