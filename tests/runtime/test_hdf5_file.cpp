// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tessera/runtime/error.hpp>
#include <tessera/runtime/hdf5_file.hpp>

namespace {

using namespace tessera;

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

TEST(Hdf5Errors, FilesThatCannotBeUsed) {
  EXPECT_THROW(Hdf5File::open("/no/such/file.h5"), InputError);
  EXPECT_THROW(Hdf5File::create("/no/such/place/file.h5"), InputError);
}

}  // namespace
