// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_cache.hpp>

namespace tessera::test {
using namespace detail;
namespace {

namespace fs = std::filesystem;
using device::CachedBinary;
using device::StackBinary;
using device::StackCache;
using device::StackShape;

const StackShape shape{'z', 5, 6, 7};
const StackBinary binary{"kernel", std::string("\0\1code\nmore\n\377", 13)};

class StackCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("tessera_stack_cache_" + std::to_string(::getpid()));
    fs::remove_all(directory_);
    ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  }
  void TearDown() override { fs::remove_all(directory_); }
  static std::string content(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  static void replace(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }
  /// The file exists but must not be used, and the reason must name it.
  static void expect_flaw(const StackCache& cache, const std::string& why) {
    const CachedBinary found = cache.read(shape, "key");
    EXPECT_FALSE(found.binary) << why;
    EXPECT_NE(found.flaw.find(why), std::string::npos) << found.flaw;
    EXPECT_TRUE(found.flaw.starts_with(cache.file(shape, "key").string())) << found.flaw;
  }
  StackCache cache() const { return StackCache(directory_ / "stack_kernels", directory_); }
  fs::path directory_;
};

TEST_F(StackCacheTest, KeepsBinaries) {
  const StackCache deep(directory_ / "deep/er", directory_);
  EXPECT_FALSE(deep.read(shape, "key").binary);
  EXPECT_EQ(deep.read(shape, "key").flaw, "");
  deep.write(shape, "key", binary);
  const CachedBinary found = deep.read(shape, "key");
  ASSERT_TRUE(found.binary) << found.flaw;
  EXPECT_EQ(found.binary->kernel, binary.kernel);
  EXPECT_EQ(found.binary->code, binary.code);
  EXPECT_EQ(found.flaw, "");
  EXPECT_FALSE(deep.read(shape, "other key").binary);
  EXPECT_FALSE(deep.read({'d', 2, 3, 5}, "key").binary);
  // No other file, such as a temporary one, may remain.
  EXPECT_EQ(std::distance(fs::directory_iterator(deep.directory()), fs::directory_iterator()), 1);
  struct stat status {};
  ASSERT_EQ(::stat(deep.directory().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(StackCacheTest, DamagedFilesAreNotUsed) {
  cache().write(shape, "key", binary);
  const fs::path file = cache().file(shape, "key");
  const std::string good = content(file);
  ASSERT_GT(good.size(), 40u);
  for (std::size_t length = 0; length < good.size(); ++length) {
    replace(file, good.substr(0, length));
    expect_flaw(cache(), "damaged");
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    replace(file, bad);
    EXPECT_FALSE(cache().read(shape, "key").binary) << at;
  }
  replace(file, good + "x");
  expect_flaw(cache(), "damaged");
  cache().write(shape, "key", binary);
  EXPECT_TRUE(cache().read(shape, "key").binary) << "replaced";
}

TEST_F(StackCacheTest, AFileOfAnotherKeyUnderThisName) {
  cache().write(shape, "other key", binary);
  fs::rename(cache().file(shape, "other key"), cache().file(shape, "key"));
  expect_flaw(cache(), "another key");
}

TEST_F(StackCacheTest, WhatOthersCanWriteIsNotUsed) {
  cache().write(shape, "key", binary);
  const fs::path file = cache().file(shape, "key");
  for (const mode_t mode : {0620, 0602, 0666}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    expect_flaw(cache(), "can be written by others");
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  }
  for (const fs::path& folder : {file.parent_path(), directory_}) {
    for (const mode_t mode : {0770, 0707, 0777}) {
      ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
      expect_flaw(cache(), folder.string() + ", which others can write");
    }
    ASSERT_EQ(::chmod(folder.c_str(), 01777), 0);
    EXPECT_TRUE(cache().read(shape, "key").binary) << "sticky";
    ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
  }
  // A new file replaces one that is not trusted.
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  cache().write(shape, "key", binary);
  EXPECT_TRUE(cache().read(shape, "key").binary);
}

TEST_F(StackCacheTest, WhatBelongsToOthersIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  cache().write(shape, "key", binary);
  const fs::path file = cache().file(shape, "key");
  ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  expect_flaw(cache(), "belongs to another user");
  ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  for (const fs::path& folder : {file.parent_path(), directory_}) {
    ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
    expect_flaw(cache(), folder.string() + ", which belongs to another user");
    ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
  }
  EXPECT_TRUE(cache().read(shape, "key").binary);
}

TEST_F(StackCacheTest, LinksPipesAndFoldersAreNotUsed) {
  cache().write(shape, "key", binary);
  const fs::path file = cache().file(shape, "key"), moved = directory_ / "moved";
  fs::rename(file, moved);
  fs::create_symlink(moved, file);
  expect_flaw(cache(), "is a link");
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect_flaw(cache(), "not a regular file");
  fs::remove(file);
  fs::create_directory(file);
  expect_flaw(cache(), "not a regular file");
  fs::remove(file);
  fs::rename(moved, file);
  EXPECT_TRUE(cache().read(shape, "key").binary);
  fs::rename(directory_ / "stack_kernels", directory_ / "elsewhere");
  fs::create_directory_symlink(directory_ / "elsewhere", directory_ / "stack_kernels");
  expect_flaw(cache(), "which is a link");
}

TEST_F(StackCacheTest, WhereNothingCanBeKept) {
  const StackCache none{fs::path()};
  none.write(shape, "key", binary);
  EXPECT_FALSE(none.read(shape, "key").binary);
  replace(directory_ / "file", "in the way");
  const StackCache blocked(directory_ / "file/below", directory_);
  blocked.write(shape, "key", binary);
  EXPECT_FALSE(blocked.read(shape, "key").binary);
}

}  // namespace
}  // namespace tessera::test
