// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/runtime/temporary_files.hpp>

namespace {

using namespace tessera;
using namespace tessera::detail;

/// Valid HDF5 files in which `a` or the attribute `text` is not what a reader expects.
class HostileHdf5 : public ::testing::Test {
 protected:
  const TemporaryDirectory work_;
  std::string path_ = (work_.path() / "file.h5").string();

  void make(const std::function<void(hid_t)>& fill) const {
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    fill(file);
    ASSERT_GE(H5Fclose(file), 0);
  }
  void expect(const std::string& reason, const std::function<void(Hdf5File&)>& read) const {
    try {
      Hdf5File file = Hdf5File::open(path_);
      read(file);
      ADD_FAILURE() << "accepted: " << reason;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }
  void expect_text(const std::string& reason) const {
    expect(reason, [](Hdf5File& file) { file.read_attribute("text"); });
  }
  template <class T = double>
  void expect_set(const std::string& reason) const {
    expect(reason, [](Hdf5File& file) {
      Index rows = 0, columns = 0;
      file.read<T>("a", rows, columns);
    });
    expect(reason, [](Hdf5File& file) {
      const Index length = file.length("a");
      ASSERT_LE(length, 1 << 20);
      std::vector<T> a(static_cast<std::size_t>(length));
      file.read_elements("a", 0, length, a.data());
    });
  }
  static void attribute(hid_t file, hid_t type, hid_t space, const void* value) {
    const hid_t made = H5Acreate2(file, "text", type, space, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(made, 0);
    if (value) H5Awrite(made, type, value);
    H5Aclose(made);
  }
  static hid_t text_type(std::size_t size) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    return type;
  }
  static void set(hid_t file, hid_t type, std::vector<hsize_t> shape, hid_t properties, const void* values,
                  const char* name = "a") {
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t made = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ASSERT_GE(made, 0);
    if (values) H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(made);
    H5Sclose(space);
  }
};

TEST_F(HostileHdf5, Attributes) {
  const hsize_t many = 100;
  const hid_t scalar = H5Screate(H5S_SCALAR), array = H5Screate_simple(1, &many, nullptr),
              null = H5Screate(H5S_NULL);
  const std::string text(100 * 8, 'x');
  make([&](hid_t file) { attribute(file, text_type(8), array, text.data()); });
  expect_text("the attribute 'text' is not one text but an array");
  std::vector<const char*> pointers(100, "words");
  make([&](hid_t file) { attribute(file, text_type(H5T_VARIABLE), array, pointers.data()); });
  expect_text("is not one text but an array");
  make([&](hid_t file) { attribute(file, text_type(8), null, nullptr); });
  expect_text("is not one text");
  make([&](hid_t file) { attribute(file, H5T_NATIVE_DOUBLE, scalar, text.data()); });
  expect_text("the attribute 'text' is not a text");
  const std::string huge(3 << 20, 'y');
  const char* pointer = huge.c_str();
  make([&](hid_t file) { attribute(file, text_type(H5T_VARIABLE), scalar, &pointer); });
  expect_text("is longer than a megabyte");
  const char* words = "of variable length";
  make([&](hid_t file) { attribute(file, text_type(H5T_VARIABLE), scalar, &words); });
  EXPECT_EQ(Hdf5File::open(path_).read_attribute("text"), words);
}

TEST_F(HostileHdf5, TypesAndShapes) {
  const std::vector<double> x(64, 2.5);
  make([&](hid_t file) { set(file, H5T_NATIVE_DOUBLE, {2, 2, 2}, H5P_DEFAULT, x.data()); });
  expect_set("is not a vector or matrix");
  make([&](hid_t file) { set(file, text_type(8), {4}, H5P_DEFAULT, x.data()); });
  expect_set("cannot be read as real numbers");
  make([&](hid_t file) { set(file, H5T_NATIVE_DOUBLE, {4}, H5P_DEFAULT, x.data()); });
  expect_set<Index>("cannot be read as type integer");  // 2.5 would be truncated to 2
  expect_set<std::complex<double>>("cannot be read as complex numbers");
  const hid_t opaque = H5Tcreate(H5T_OPAQUE, 400);
  make([&](hid_t file) { set(file, opaque, {1}, H5P_DEFAULT, x.data()); });
  expect_set("cannot be read as real numbers");
  const hid_t inner = H5Tcreate(H5T_COMPOUND, 24);
  for (const char* name : {"r", "i", "more"})
    H5Tinsert(inner, name, name[0] == 'r' ? 0u : name[0] == 'i' ? 8u : 16u, H5T_NATIVE_DOUBLE);
  make([&](hid_t file) { set(file, inner, {2}, H5P_DEFAULT, x.data()); });
  expect_set<std::complex<double>>("cannot be read as complex numbers");
  make([&](hid_t file) { H5Gclose(H5Gcreate2(file, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); });
  expect_set("there is no data set 'a'");
}

TEST_F(HostileHdf5, DeclaredSizes) {
  const hsize_t million = 1000000, chunk = 1 << 10;
  // The file declares data of which it stores no byte.
  make([&](hid_t file) { set(file, H5T_NATIVE_DOUBLE, {million * million}, H5P_DEFAULT, nullptr); });
  expect_set("declares 8000000000000 bytes, but the file holds 0");
  make([&](hid_t file) {
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(chunked, 1, &chunk);
    set(file, H5T_NATIVE_DOUBLE, {million * million}, chunked, nullptr);
  });
  expect_set("declares 8000000000000 bytes");
  make([&](hid_t file) {
    const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t square[2] = {1000, 1000};
    H5Pset_chunk(packed, 2, square);
    H5Pset_deflate(packed, 1);
    set(file, H5T_NATIVE_DOUBLE, {hsize_t(1) << 33, hsize_t(1) << 33}, packed, nullptr);
  });
  expect_set("is larger than any memory");
  // Compressed data that are complete must be read.
  std::vector<double> zeros(1 << 17, 0);
  make([&](hid_t file) {
    const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t all = zeros.size();
    H5Pset_chunk(packed, 1, &all);
    H5Pset_shuffle(packed);
    H5Pset_deflate(packed, 9);
    set(file, H5T_NATIVE_DOUBLE, {all}, packed, zeros.data());
  });
  Index rows = 0, columns = 0;
  EXPECT_EQ(Hdf5File::open(path_).read<double>("a", rows, columns), zeros);
  // Several filters in sequence have no limit on the compression ratio.
  make([&](hid_t file) {
    const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t all = zeros.size();
    H5Pset_chunk(packed, 1, &all);
    H5Pset_deflate(packed, 9);
    H5Pset_deflate(packed, 9);
    set(file, H5T_NATIVE_DOUBLE, {all}, packed, zeros.data());
  });
  expect_set("filters");
}

TEST_F(HostileHdf5, Stacks) {
  const std::vector<double> x(64, 2.5);
  const auto expect_stack = [&](const std::string& reason) {
    expect(reason, [](Hdf5File& file) {
      std::array<double, 64> a{};
      file.read_stack("a", 0, 1, a.data());
    });
  };
  make([&](hid_t file) { set(file, H5T_NATIVE_DOUBLE, {2, 2}, H5P_DEFAULT, x.data()); });
  expect_stack("is not a stack of matrices");
  make([&](hid_t file) { set(file, H5T_NATIVE_DOUBLE, {2, 2, 2, 2}, H5P_DEFAULT, x.data()); });
  expect_stack("is not a stack of matrices");
  make([&](hid_t file) { set(file, H5T_NATIVE_DOUBLE, {1000000, 2000, 2000}, H5P_DEFAULT, nullptr); });
  expect_stack("declares 32000000000000 bytes, but the file holds 0");
  make([&](hid_t file) {
    const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t cube[3] = {10, 100, 100};
    H5Pset_chunk(packed, 3, cube);
    H5Pset_deflate(packed, 1);
    set(file, H5T_NATIVE_DOUBLE, {hsize_t(1) << 22, hsize_t(1) << 22, hsize_t(1) << 22}, packed, nullptr);
  });
  expect_stack("is larger than any memory");
  make([&](hid_t file) { set(file, text_type(8), {2, 2, 2}, H5P_DEFAULT, x.data()); });
  expect_stack("cannot be read as real numbers");
  expect("cannot be read as real numbers", [](Hdf5File& file) { file.shape("a"); });
}

TEST_F(HostileHdf5, DataElsewhere) {
  const std::vector<double> x(4, 1);
  const std::string other = (work_.path() / "other.h5").string(), own = path_;
  path_ = other;
  make([&](hid_t file) { set(file, H5T_NATIVE_DOUBLE, {4}, H5P_DEFAULT, x.data()); });
  path_ = own;
  make([&](hid_t file) {
    set(file, H5T_NATIVE_DOUBLE, {4}, H5P_DEFAULT, x.data(), "b");
    H5Lcreate_soft("/b", file, "a", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_set("'a' is a link to another place");
  make([&](hid_t file) { H5Lcreate_external(other.c_str(), "/a", file, "a", H5P_DEFAULT, H5P_DEFAULT); });
  expect_set("'a' is a link to another place");
  // So may be a group on the way.
  make([&](hid_t file) { H5Lcreate_external(other.c_str(), "/", file, "g", H5P_DEFAULT, H5P_DEFAULT); });
  for (const char* name : {"g/a", "/g/a", "g//a"})
    expect("g' is a link to another place", [name](Hdf5File& file) { file.shape(name); });
  for (const char* name : {"", "/", "//", "none/a"})
    expect("there is no data set", [name](Hdf5File& file) { file.shape(name); });
  make([&](hid_t file) {
    const hid_t external = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(external, "/etc/passwd", 0, 32);
    set(file, H5T_NATIVE_DOUBLE, {4}, external, nullptr);
  });
  expect_set("has its data in another file");
  make([&](hid_t file) {
    const hid_t mapped = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t size = 4;
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    H5Pset_virtual(mapped, space, other.c_str(), "/a", space);
    set(file, H5T_NATIVE_DOUBLE, {4}, mapped, nullptr);
  });
  expect_set("has its data in other data sets");
  path_ = (work_.path() / "pipe.h5").string();
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_set("is not a regular file");
}

herr_t count_errors(hid_t, void* count) {
  ++*static_cast<int*>(count);
  return 0;
}

TEST_F(HostileHdf5, TheHostsErrorSettings) {
  H5E_auto2_t before = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  int count = 0;
  H5Eset_auto2(H5E_DEFAULT, count_errors, &count);
  {
    Hdf5File file = Hdf5File::create(path_);
    file.write_attribute("text", "x");
    EXPECT_THROW(file.write_elements<double>("a", 0, 1, nullptr), InputError);
    file.close();
  }
  expect_set("there is no data set");
  EXPECT_THROW(Hdf5File::open("/etc/hostname"), InputError);
  EXPECT_EQ(count, 0);
  H5E_auto2_t now = nullptr;
  void* now_data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &now, &now_data);
  EXPECT_EQ(now, count_errors);
  EXPECT_EQ(now_data, &count);
  EXPECT_LT(H5Fopen("/no/such", H5F_ACC_RDONLY, H5P_DEFAULT), 0);
  EXPECT_GT(count, 0);
  H5Eset_auto2(H5E_DEFAULT, before, data);
}

TEST_F(HostileHdf5, PartsOutside) {
  const std::vector<double> x(4, 1);
  make([&](hid_t file) { set(file, H5T_NATIVE_DOUBLE, {4}, H5P_DEFAULT, x.data()); });
  for (const auto& [first, count] :
       {std::pair<Index, Index>{-1, 2}, {3, 2}, {INT64_MAX, 1}, {1, INT64_MAX}, {0, -1}})
    expect("has less than", [&, f = first, c = count](Hdf5File& file) {
      std::array<double, 4> a{};
      file.read_elements("a", f, c, a.data());
    });
}

}  // namespace
