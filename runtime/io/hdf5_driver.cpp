// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>

#include <hdf5.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <tessera/runtime/io/hdf5_driver.hpp>

namespace tessera::hdf5 {
namespace {

/// What HDF5 knows as the file; its own part comes first.
struct DriverFile {
  H5FD_t base{};
  std::shared_ptr<WrittenDescriptor> target;
  haddr_t end_of_allocation = 0, end = 0;
};

DriverFile& of(H5FD_t* file) {
  return *reinterpret_cast<DriverFile*>(file);
}
const DriverFile& of(const H5FD_t* file) {
  return *reinterpret_cast<const DriverFile*>(file);
}

/// What the property list of a file carries. create_file keeps the pointer valid while the file is opened.
struct DriverInfo {
  const std::shared_ptr<WrittenDescriptor>* target;
};

bool usable(const WrittenDescriptor& target) {
  return target.error == 0 && target.descriptor >= 0;
}

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (!info) return nullptr;
  auto* file = new (std::nothrow) DriverFile;
  if (!file) return nullptr;
  file->target = *info->target;
  return &file->base;
}

herr_t close_file(H5FD_t* file) {
  delete &of(file);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t) {
  return of(file).end_of_allocation;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  of(file).end_of_allocation = address;
  return 0;
}

haddr_t get_end(const H5FD_t* file, H5FD_mem_t) {
  return of(file).end;
}

herr_t read_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  WrittenDescriptor& target = *of(file).target;
  auto* at = static_cast<char*>(buffer);
  while (size > 0 && usable(target)) {
    const ssize_t count = ::pread(target.descriptor, at, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) target.error = errno;
    if (count <= 0) break;
    at += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  std::memset(at, 0, size);  // behind the end
  return 0;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer) {
  of(file).end = std::max(of(file).end, address + size);
  WrittenDescriptor& target = *of(file).target;
  const auto* at = static_cast<const char*>(buffer);
  while (size > 0 && usable(target)) {
    const ssize_t count = ::pwrite(target.descriptor, at, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      target.error = errno;
      break;
    }
    at += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  return 0;
}

herr_t truncate_file(H5FD_t* file, hid_t, hbool_t) {
  DriverFile& opened = of(file);
  WrittenDescriptor& target = *opened.target;
  if (opened.end_of_allocation == opened.end) return 0;
  opened.end = opened.end_of_allocation;
  if (usable(target) && ::ftruncate(target.descriptor, static_cast<off_t>(opened.end)) != 0)
    target.error = errno;
  return 0;
}

H5FD_class_t driver() {
  H5FD_class_t result{};
#if H5_VERSION_GE(1, 13, 0)
  result.version = H5FD_CLASS_VERSION;
  result.value = static_cast<H5FD_class_value_t>(600);
#endif
  result.name = "tessera";
  result.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  result.fc_degree = H5F_CLOSE_STRONG;
  result.fapl_size = sizeof(DriverInfo);
  result.open = open_file;
  result.close = close_file;
  result.query = query;
  result.get_eoa = get_end_of_allocation;
  result.set_eoa = set_end_of_allocation;
  result.get_eof = get_end;
  result.read = read_bytes;
  result.write = write_bytes;
  result.truncate = truncate_file;
  constexpr H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), result.fl_map);
  return result;
}

}  // namespace

hid_t create_file(const std::shared_ptr<WrittenDescriptor>& target) {
  static const H5FD_class_t our_driver = driver();
  // Registered for each file: the program may have closed HDF5 since the last.
  const hid_t number = H5FDregister(&our_driver);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const DriverInfo info{&target};
  hid_t file = -1;
  if (number >= 0 && access >= 0 && H5Pset_driver(access, number, &info) >= 0)
    file = H5Fcreate("tessera", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (access >= 0) H5Pclose(access);
  if (number >= 0) H5FDunregister(number);
  return file;
}

}  // namespace tessera::hdf5
