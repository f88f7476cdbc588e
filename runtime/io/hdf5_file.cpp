// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/hdf5_detail.hpp>
#include <tessera/runtime/io/hdf5_driver.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera::detail {

namespace {

using hdf5::ElementKind;
using hdf5::Extents;
using hdf5::Identifier;
using hdf5::QuietErrors;

hid_t real_type(float) {
  return H5Tcopy(H5T_NATIVE_FLOAT);
}
hid_t real_type(double) {
  return H5Tcopy(H5T_NATIVE_DOUBLE);
}

hid_t real_type(Index) {
  return H5Tcopy(H5T_NATIVE_INT64);
}
hid_t real_type(std::uint8_t) {
  return H5Tcopy(H5T_NATIVE_UINT8);
}
hid_t real_type(std::uint16_t) {
  return H5Tcopy(H5T_NATIVE_UINT16);
}
hid_t real_type(std::uint32_t) {
  return H5Tcopy(H5T_NATIVE_UINT32);
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

/// Without locks: several ranks read a file at once, where HDF5's locks of readers may be in each other's way. Who
/// writes a file replaces it as a whole (output_file.hpp).
hid_t read_access() {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access, false, true);
#endif
  return access;
}

template <class T>
std::string type_name() {
  if constexpr (std::is_integral_v<T>)
    return "integer";
  else
    return std::string(1, type_letter<T>);
}

template <class T>
constexpr ElementKind kind_of() {
  if constexpr (std::is_integral_v<T>) return ElementKind::integer;
  return is_complex<T> ? ElementKind::complex : ElementKind::real;
}

}  // namespace

struct Hdf5File::Detail {
  std::string path;
  hid_t file = -1;
  Index file_bytes = 0;              ///< of one that is read
  std::optional<OutputFile> output;  ///< of one that is written
  std::shared_ptr<hdf5::WrittenDescriptor> written;

  ~Detail() {
    const QuietErrors quiet;
    if (written) written->descriptor = -1;
    if (file >= 0) H5Fclose(file);
  }
  void check(bool good, std::string_view what) const {
    if (!good) throw InputError(path, 0, what);
  }
  /// `reason`: of a data set, from hdf5_detail.hpp.
  void check_set(const std::string& name, const std::string& reason) const {
    if (!reason.empty()) throw InputError(path, 0, fmt::format("the data set '{}' {}", name, reason));
  }
  /// Checks the result of a call of HDF5 that writes, and the error of its descriptor.
  void check_written(bool good) const {
    check(written != nullptr, "is open to be read, not written");
    if (written->error != 0) output->fail(written->error);
    if (!good) output->fail("HDF5 has failed");
  }
  hid_t open_set(const std::string& name) const {
    const std::string link = hdf5::wrong_link(file, name);
    check(link.empty(), link);
    const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    check(set >= 0, fmt::format("there is no data set '{}'", name));
    return set;
  }
  /// Opens a data set to read it, and checks all that the file declares about it.
  template <class Work>
  void with_set(const std::string& name, std::optional<ElementKind> kind, const Work& work,
                bool stack = false) const {
    const Identifier set(open_set(name), H5Dclose);
    Extents extents;
    check_set(name, hdf5::wrong_extents(set, extents, stack));
    if (kind) check_set(name, hdf5::wrong_type(set, *kind));
    if (!output) check_set(name, hdf5::wrong_storage(set, extents.elements, file_bytes));
    work(set, extents);
  }
  template <class Work>
  void with_vector(const std::string& name, std::optional<ElementKind> kind, const Work& work) const {
    with_set(name, kind, [&](const Identifier& set, const Extents& extents) {
      check(extents.rank == 1, fmt::format("the data set '{}' is not a vector", name));
      work(set, extents.elements);
    });
  }
  /// Opens elements [first, first + count) of a vector, or matrices of a stack, and calls transfer(data set, memory
  /// space, file space) on them.
  template <class Transfer>
  void with_part(const std::string& name, ElementKind kind, bool stack, Index first, Index count,
                 const Transfer& transfer) const {
    const auto work = [&](const Identifier& set, const Extents& extents) {
      check(stack || extents.rank == 1, fmt::format("the data set '{}' is not a vector", name));
      Index end = 0;
      check(first >= 0 && count >= 0 && !__builtin_add_overflow(first, count, &end) &&
                end <= static_cast<Index>(extents.size[0]),
            fmt::format("the data set '{}' has less than {} + {} {}", name, first, count,
                        stack ? "matrices" : "elements"));
      if (count == 0 || extents.elements == 0) return;
      const std::array<hsize_t, 3> start{static_cast<hsize_t>(first), 0, 0},
          size{static_cast<hsize_t>(count), extents.size[1], extents.size[2]};
      const Identifier memory(H5Screate_simple(extents.rank, size.data(), nullptr), H5Sclose);
      const Identifier space(H5Dget_space(set), H5Sclose);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
      transfer(set, memory, space);
    };
    with_set(name, kind, work, stack);
  }
  template <class T>
  void write_part(const std::string& name, bool stack, Index first, Index count, const T* a) const {
    const QuietErrors quiet;
    const Identifier type(element_type<T>(), H5Tclose);
    with_part(name, kind_of<T>(), stack, first, count, [&](const Identifier& set, hid_t memory, hid_t space) {
      check_written(H5Dwrite(set, type, memory, space, H5P_DEFAULT, a) >= 0);
      close_written(set);
    });
  }
  template <class T>
  void read_part(const std::string& name, bool stack, Index first, Index count, T* a) const {
    const QuietErrors quiet;
    const Identifier type(element_type<T>(), H5Tclose);
    with_part(name, kind_of<T>(), stack, first, count, [&](const Identifier& set, hid_t memory, hid_t space) {
      check(H5Dread(set, type, memory, space, H5P_DEFAULT, a) >= 0,
            fmt::format("the data set '{}' cannot be read as type {}", name, type_name<T>()));
    });
  }
  /// Makes a data set of these sizes, as HDF5 has them.
  template <class T>
  void create_set(const std::string& name, const std::vector<hsize_t>& sizes) const {
    const Identifier space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
    const Identifier type(element_type<T>(), H5Tclose);
    const Identifier properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties, false);  // the same content makes the same file
    const Identifier set(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                         H5Dclose);
    check_written(set >= 0);
    close_written(set);
  }
  /// A data set that was written to; closing it writes what HDF5 has kept back.
  void close_written(const Identifier& set) const { check_written(const_cast<Identifier&>(set).close()); }
};

Hdf5File::Hdf5File(std::unique_ptr<Detail> detail) : detail_(std::move(detail)) {}
Hdf5File::~Hdf5File() = default;
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;

Hdf5File Hdf5File::create(const std::string& path) {
  const QuietErrors quiet;
  auto detail = std::make_unique<Detail>();
  detail->path = path;
  detail->output.emplace(path);
  if (!detail->output->regular()) detail->output->fail("HDF5 needs a regular file");
  detail->written = std::make_shared<hdf5::WrittenDescriptor>();
  detail->written->descriptor = detail->output->descriptor();
  detail->file = hdf5::create_file(detail->written);
  detail->check_written(detail->file >= 0);
  return Hdf5File(std::move(detail));
}

Hdf5File Hdf5File::open(const std::string& path) {
  const QuietErrors quiet;
  auto detail = std::make_unique<Detail>();
  detail->path = path;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw InputError(path, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  detail->check(S_ISREG(status.st_mode), "is not a regular file, as HDF5 needs");
  detail->file_bytes = static_cast<Index>(status.st_size);
  const Identifier access(read_access(), H5Pclose);
  detail->file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  detail->check(detail->file >= 0, "cannot be read, or is not an HDF5 file");
  return Hdf5File(std::move(detail));
}

void Hdf5File::close() {
  const QuietErrors quiet;
  Detail& detail = *detail_;
  if (detail.output) detail.check_written(H5Fflush(detail.file, H5F_SCOPE_GLOBAL) >= 0);
  const bool closed = H5Fclose(std::exchange(detail.file, -1)) >= 0;
  if (!detail.output) return;
  detail.check_written(closed);
  detail.written->descriptor = -1;
  detail.output->commit();
}

void Hdf5File::write_attribute(std::string_view name, std::string_view value) {
  const QuietErrors quiet;
  const Identifier type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, value.empty() ? 1 : value.size());
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Identifier space(H5Screate(H5S_SCALAR), H5Sclose);
  const std::string text = value.empty() ? std::string(1, '\0') : std::string(value);
  Identifier attribute(
      H5Acreate2(detail_->file, std::string(name).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  detail_->check_written(attribute >= 0 && H5Awrite(attribute, type, text.data()) >= 0);
  detail_->check_written(attribute.close());
}

std::string Hdf5File::read_attribute(std::string_view name) {
  const QuietErrors quiet;
  const Identifier attribute(H5Aopen(detail_->file, std::string(name).c_str(), H5P_DEFAULT), H5Aclose);
  detail_->check(attribute >= 0, fmt::format("there is no attribute '{}'", name));
  std::string value;
  const std::string reason = hdf5::read_text(attribute, value);
  detail_->check(reason.empty(), fmt::format("the attribute '{}' {}", name, reason));
  return value;
}

template <class T>
void Hdf5File::create_array(const std::string& name, Index rows, Index columns) {
  const QuietErrors quiet;
  std::vector<hsize_t> sizes{static_cast<hsize_t>(rows)};
  if (columns >= 0) sizes.insert(sizes.begin(), static_cast<hsize_t>(columns));
  detail_->create_set<T>(name, sizes);
}

template <class T>
void Hdf5File::create_stack(const std::string& name, Index rows, Index columns, Index count) {
  const QuietErrors quiet;
  detail_->create_set<T>(
      name, {static_cast<hsize_t>(count), static_cast<hsize_t>(columns), static_cast<hsize_t>(rows)});
}

template <class T>
void Hdf5File::write_columns(const std::string& name, Index first, Index columns, const T* a, Index ld) {
  const QuietErrors quiet;
  detail_->with_set(name, kind_of<T>(), [&](const Identifier& set, const Extents& extents) {
    const hsize_t rows = extents.rank == 1 ? extents.size[0] : extents.size[1];
    if (rows == 0 || columns == 0) return;
    const Identifier type(element_type<T>(), H5Tclose), space(H5Dget_space(set), H5Sclose);
    // Memory is (columns, ld) of which the first `rows` of each row are taken.
    const std::array<hsize_t, 2> memory_shape{static_cast<hsize_t>(columns),
                                              std::max(rows, static_cast<hsize_t>(ld))};
    const std::array<hsize_t, 2> count{static_cast<hsize_t>(columns), rows}, origin{0, 0};
    const std::array<hsize_t, 2> start{static_cast<hsize_t>(first), 0};
    // The last column need not have ld elements, but HDF5 touches only the selected ones.
    const Identifier memory(H5Screate_simple(2, memory_shape.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, origin.data(), nullptr, count.data(), nullptr);
    if (extents.rank == 2)
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    detail_->check_written(H5Dwrite(set, type, memory, space, H5P_DEFAULT, a) >= 0);
    detail_->close_written(set);
  });
}

template <class T>
std::vector<T> Hdf5File::read(const std::string& name, Index& rows, Index& columns) {
  const QuietErrors quiet;
  std::vector<T> a;
  detail_->with_set(name, kind_of<T>(), [&](const Identifier& set, const Extents& extents) {
    rows = static_cast<Index>(extents.rank == 1 ? extents.size[0] : extents.size[1]);
    columns = extents.rank == 1 ? 1 : static_cast<Index>(extents.size[0]);
    a.resize(static_cast<std::size_t>(extents.elements));
    const Identifier type(element_type<T>(), H5Tclose);
    detail_->check(a.empty() || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, a.data()) >= 0,
                   fmt::format("the data set '{}' cannot be read as type {}", name, type_name<T>()));
  });
  return a;
}

template <class T>
void Hdf5File::write_elements(const std::string& name, Index first, Index count, const T* a) {
  detail_->write_part(name, false, first, count, a);
}

template <class T>
void Hdf5File::read_elements(const std::string& name, Index first, Index count, T* a) {
  detail_->read_part(name, false, first, count, a);
}

template <class T>
void Hdf5File::write_stack(const std::string& name, Index first, Index count, const T* a) {
  detail_->write_part(name, true, first, count, a);
}

template <class T>
void Hdf5File::read_stack(const std::string& name, Index first, Index count, T* a) {
  detail_->read_part(name, true, first, count, a);
}

Hdf5Shape Hdf5File::shape(const std::string& name) {
  const QuietErrors quiet;
  const Identifier set(detail_->open_set(name), H5Dclose);
  const Identifier space(H5Dget_space(set), H5Sclose), type(H5Dget_type(set), H5Tclose);
  Hdf5Shape shape;
  shape.complex = hdf5::wrong_type(set, ElementKind::complex).empty();
  if (!shape.complex) detail_->check_set(name, hdf5::wrong_type(set, ElementKind::real));
  const Identifier real(shape.complex ? H5Tget_member_type(type, 0) : H5Tcopy(type), H5Tclose);
  shape.single = H5Tget_class(real) == H5T_FLOAT && H5Tget_size(real) <= sizeof(float);
  const int rank = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  for (const hsize_t size : sizes)
    shape.sizes.push_back(static_cast<Index>(std::min(size, static_cast<hsize_t>(INT64_MAX))));
  return shape;
}

Index Hdf5File::length(const std::string& name) {
  const QuietErrors quiet;
  Index length = 0;
  detail_->with_vector(name, std::nullopt, [&](const Identifier&, Index elements) { length = elements; });
  return length;
}

template <class T>
Hdf5Place Hdf5File::place(const std::string& name) {
  const QuietErrors quiet;
  Hdf5Place place;
  detail_->with_vector(name, kind_of<T>(), [&](const Identifier& set, Index elements) {
    const Identifier type(H5Dget_type(set), H5Tclose), wanted(element_type<T>(), H5Tclose),
        properties(H5Dget_create_plist(set), H5Pclose);
    if (H5Tequal(type, wanted) <= 0)
      detail_->check_set(
          name, fmt::format("has other elements than {} bytes each, in this machine's order", sizeof(T)));
    if (elements == 0) return;
    const haddr_t begin = H5Dget_offset(set);
    if (H5Pget_layout(properties) != H5D_CONTIGUOUS || begin == HADDR_UNDEF)
      detail_->check_set(name, "is packed, or in chunks, which no file that Tessera writes is");
    const Index bytes = elements * static_cast<Index>(sizeof(T));
    if (bytes > detail_->file_bytes || begin > static_cast<haddr_t>(detail_->file_bytes - bytes))
      detail_->check_set(name, "goes on behind the end of the file");
    place = {static_cast<Index>(begin), elements};
  });
  return place;
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template void Hdf5File::create_array<T>(const std::string&, Index, Index);                   \
  template void Hdf5File::write_columns<T>(const std::string&, Index, Index, const T*, Index); \
  template void Hdf5File::write_elements<T>(const std::string&, Index, Index, const T*);       \
  template void Hdf5File::read_elements<T>(const std::string&, Index, Index, T*);              \
  template void Hdf5File::create_stack<T>(const std::string&, Index, Index, Index);            \
  template void Hdf5File::write_stack<T>(const std::string&, Index, Index, const T*);          \
  template void Hdf5File::read_stack<T>(const std::string&, Index, Index, T*);                 \
  template std::vector<T> Hdf5File::read<T>(const std::string&, Index&, Index&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
TESSERA_INSTANTIATE(Index)
#undef TESSERA_INSTANTIATE

#define TESSERA_INSTANTIATE(T)                                                           \
  template void Hdf5File::create_array<T>(const std::string&, Index, Index);             \
  template void Hdf5File::write_elements<T>(const std::string&, Index, Index, const T*); \
  template void Hdf5File::read_elements<T>(const std::string&, Index, Index, T*);        \
  template Hdf5Place Hdf5File::place<T>(const std::string&);
TESSERA_INSTANTIATE(std::uint8_t)
TESSERA_INSTANTIATE(std::uint16_t)
TESSERA_INSTANTIATE(std::uint32_t)
#undef TESSERA_INSTANTIATE
#define TESSERA_INSTANTIATE(T) template Hdf5Place Hdf5File::place<T>(const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

void leave_hdf5_open_at_exit() noexcept {
  H5dont_atexit();
}

}  // namespace tessera::detail
