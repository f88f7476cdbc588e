// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>

namespace {

using namespace tessera;
using namespace tessera::detail;

template <class T>
class Hdf5 : public ::testing::Test {
 protected:
  std::string path_ =
      (std::filesystem::temp_directory_path() / fmt::format("tessera_hdf5_{}.h5", ::getpid())).string();
  void TearDown() override { std::filesystem::remove(path_); }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Hdf5, Scalars);

TYPED_TEST(Hdf5, ColumnsWrittenInPartsComeBack) {
  using T = TypeParam;
  const Index rows = 5, columns = 4, ld = 6;
  std::vector<T> a(ld * columns);
  for (Index k = 0; k < ld * columns; ++k) a[k] = T(static_cast<RealOf<T>>(k) / 3);
  if constexpr (is_complex<T>)
    for (Index k = 0; k < ld * columns; ++k) a[k] += T(0, -k);
  {
    Hdf5File file = Hdf5File::create(this->path_);
    file.write_attribute("comment", "of a test");
    file.create_array<T>("vectors", rows, columns);
    file.write_columns("vectors", 0, 1, a.data(), ld);
    file.write_columns("vectors", 1, 3, a.data() + ld, ld);
    file.create_array<T>("values", rows);
    file.write_columns("values", 0, 1, a.data(), rows);
    file.create_array<T>("empty", 0, 0);
    EXPECT_THROW(file.write_columns("absent", 0, 1, a.data(), ld), InputError);
    file.close();
  }
  Hdf5File file = Hdf5File::open(this->path_);
  Index m = 0, n = 0;
  const std::vector<T> b = file.read<T>("vectors", m, n);
  ASSERT_EQ(m, rows);
  ASSERT_EQ(n, columns);
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i) EXPECT_EQ(b[i + j * rows], a[i + j * ld]);
  EXPECT_EQ(file.read<T>("values", m, n), std::vector<T>(a.begin(), a.begin() + rows));
  EXPECT_TRUE(file.read<T>("empty", m, n).empty());
  EXPECT_THROW(file.read<T>("absent", m, n), InputError);
}

TYPED_TEST(Hdf5, ElementsInPartsAndText) {
  using T = TypeParam;
  const std::vector<T> a{T(1), T(2), T(3), T(4)};
  const std::vector<Index> counts{5, Index(1) << 40, -7};
  {
    Hdf5File file = Hdf5File::create(this->path_);
    file.write_attribute("kind", "of a test");
    file.write_attribute("nothing", "");
    file.create_array<T>("a", 4);
    file.write_elements("a", 1, 3, a.data() + 1);
    file.write_elements("a", 0, 1, a.data());
    EXPECT_THROW(file.write_elements("a", 2, 3, a.data()), InputError);
    file.create_array<Index>("counts", 3);
    file.write_elements("counts", 0, 3, counts.data());
    file.create_array<T>("matrix", 2, 2);
    file.write_columns("matrix", 0, 2, a.data(), 2);
    file.close();
  }
  Hdf5File file = Hdf5File::open(this->path_);
  EXPECT_EQ(file.read_attribute("kind"), "of a test");
  EXPECT_EQ(file.read_attribute("nothing"), "");
  EXPECT_THROW(file.read_attribute("absent"), InputError);
  EXPECT_EQ(file.length("a"), 4);
  EXPECT_THROW(file.length("absent"), InputError);
  EXPECT_THROW(file.length("matrix"), InputError);
  std::vector<T> b(2);
  file.read_elements("a", 1, 2, b.data());
  EXPECT_EQ(b, (std::vector<T>{T(2), T(3)}));
  EXPECT_THROW(file.read_elements("a", 3, 2, b.data()), InputError);
  EXPECT_THROW(file.read_elements("matrix", 0, 2, b.data()), InputError);
  Index m = 0, n = 0;
  EXPECT_EQ(file.read<Index>("counts", m, n), counts);
}

TYPED_TEST(Hdf5, StacksInPartsAndShapes) {
  using T = TypeParam;
  const Index rows = 3, columns = 2, count = 4, size = rows * columns;
  std::vector<T> a(size * count);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = T(static_cast<RealOf<T>>(k) / 3);
  {
    Hdf5File file = Hdf5File::create(this->path_);
    file.create_stack<T>("stack", rows, columns, count);
    file.write_stack("stack", 1, 3, a.data() + size);
    file.write_stack("stack", 0, 1, a.data());
    EXPECT_THROW(file.write_stack("stack", 2, 3, a.data()), InputError);
    EXPECT_THROW(file.write_stack("stack", -1, 1, a.data()), InputError);
    file.create_stack<T>("empty", 5, 5, 0);
    file.write_stack("empty", 0, 0, a.data());
    file.create_array<T>("matrix", 3, 2);
    file.write_columns("matrix", 0, 2, a.data(), 3);
    file.create_array<Index>("counts", 2);
    const Index counts[] = {4, 5};
    file.write_columns("counts", 0, 1, counts, 2);
    file.close();
  }
  Hdf5File file = Hdf5File::open(this->path_);
  const Hdf5Shape shape = file.shape("stack");
  EXPECT_EQ(shape.sizes, (std::vector<Index>{count, columns, rows}));
  EXPECT_EQ(shape.complex, is_complex<T>);
  EXPECT_EQ(shape.single, sizeof(RealOf<T>) == sizeof(float));
  EXPECT_EQ(file.shape("empty").sizes, (std::vector<Index>{0, 5, 5}));
  EXPECT_EQ(file.shape("matrix").sizes, (std::vector<Index>{2, 3}));
  EXPECT_FALSE(file.shape("counts").single);
  EXPECT_THROW(file.shape("absent"), InputError);
  std::vector<T> b(2 * size);
  file.read_stack("stack", 1, 2, b.data());
  EXPECT_EQ(b, std::vector<T>(a.begin() + size, a.begin() + 3 * size));
  EXPECT_THROW(file.read_stack("stack", 3, 2, b.data()), InputError);
  EXPECT_THROW(file.read_stack("matrix", 0, 1, b.data()), InputError);
  Index m = 0, n = 0;
  EXPECT_THROW(file.read<T>("stack", m, n), InputError);
}

/// A vector of small numbers stands in the file as in memory, where place() says; another type is refused.
TEST(Hdf5Place, IsWhereTheElementsAre) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("tessera_place_{}.h5", ::getpid())).string();
  const std::vector<std::uint16_t> places{1, 2, 65535, 4};
  const std::vector<std::uint32_t> numbers{7, 4294967295u};
  const std::vector<std::uint8_t> text{'a', 0, 255};
  {
    Hdf5File file = Hdf5File::create(path);
    const auto put = [&]<class E>(const char* name, const std::vector<E>& list) {
      file.create_array<E>(name, static_cast<Index>(list.size()));
      file.write_elements(name, 0, static_cast<Index>(list.size()), list.data());
    };
    put("places", places);
    put("numbers", numbers);
    put("text", text);
    put("none", std::vector<std::uint16_t>());
    file.close();
  }
  Hdf5File file = Hdf5File::open(path);
  const auto expect = [&]<class E>(const char* name, const std::vector<E>& list) {
    const Hdf5Place place = file.place<E>(name);
    ASSERT_EQ(place.count, static_cast<Index>(list.size()));
    std::vector<E> found(list.size()), read(list.size());
    std::ifstream bytes(path, std::ios::binary);
    bytes.seekg(place.begin);
    bytes.read(reinterpret_cast<char*>(found.data()), static_cast<std::streamsize>(sizeof(E) * found.size()));
    EXPECT_EQ(found, list) << name;
    file.read_elements(name, 0, place.count, read.data());
    EXPECT_EQ(read, list) << name;
  };
  expect("places", places);
  expect("numbers", numbers);
  expect("text", text);
  EXPECT_EQ(file.place<std::uint16_t>("none").count, 0);
  EXPECT_THROW(file.place<std::uint32_t>("places"), InputError);
  EXPECT_THROW(file.place<float>("numbers"), InputError);
  EXPECT_THROW(file.place<std::uint16_t>("absent"), InputError);
  std::filesystem::remove(path);
}

TEST(Hdf5Errors, FilesThatCannotBeUsed) {
  EXPECT_THROW(Hdf5File::open("/no/such/file.h5"), InputError);
  EXPECT_THROW(Hdf5File::create("/no/such/place/file.h5"), InputError);
}

}  // namespace
