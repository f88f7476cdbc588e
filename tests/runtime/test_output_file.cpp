// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/runtime/output_directory.hpp>
#include <tessera/runtime/output_file.hpp>

namespace {

using namespace tessera;
using namespace tessera::detail;
namespace fs = std::filesystem;

class Output : public ::testing::Test {
 protected:
  const TemporaryDirectory work_;
  std::string path(const std::string& name) const { return (work_.path() / name).string(); }
  static std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  /// Number of files in the directory other than the named ones.
  std::size_t others(const std::vector<std::string>& names) const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(work_.path()))
      count += std::find(names.begin(), names.end(), entry.path().filename()) == names.end();
    return count;
  }
  static std::string reason(const std::function<void()>& work) {
    try {
      work();
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing thrown";
  }
};

TEST_F(Output, AppearsWithCommitOnly) {
  write_file(path("a"), "old");
  {
    OutputFile file(path("a"));
    file.write("new");
    EXPECT_EQ(contents(path("a")), "old");
    EXPECT_EQ(others({"a"}), 1u);
  }
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(others({"a"}), 0u);
  OutputFile file(path("a"));
  file.write("ne");
  file.write("w");
  file.commit();
  EXPECT_EQ(contents(path("a")), "new");
  EXPECT_EQ(others({"a"}), 0u);
  EXPECT_THROW(file.commit(), InputError);
}

TEST_F(Output, KeepsModeAndLink) {
  const mode_t mask = ::umask(027);
  write_file(path("a"), "1");
  ::umask(mask);
  EXPECT_EQ(static_cast<int>(fs::status(path("a")).permissions()), 0640);
  fs::permissions(path("a"), fs::perms(0604));
  fs::create_symlink("a", path("link"));
  fs::create_symlink("b", path("dangling"));
  write_file(path("link"), "2");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("a")), "2");
  EXPECT_EQ(static_cast<int>(fs::status(path("a")).permissions()), 0604);
  write_file(path("dangling"), "3");
  EXPECT_EQ(contents(path("b")), "3");
  EXPECT_TRUE(fs::is_symlink(path("dangling")));
}

TEST_F(Output, RefusesAtOnce) {
  fs::create_directory(path("directory"));
  EXPECT_EQ(reason([&] { OutputFile file(path("directory")); }),
            path("directory") + ": cannot be written: Is a directory");
  EXPECT_EQ(reason([&] { OutputFile file(path("no/such")); }),
            path("no/such") + ": cannot be written: No such file or directory");
  EXPECT_EQ(reason([&] { OutputFile file(path(std::string(300, 'x'))); }),
            path(std::string(300, 'x')) + ": cannot be written: File name too long");
  EXPECT_EQ(others({"directory"}), 0u);
}

TEST_F(Output, Streams) {
  EXPECT_EQ(reason([] { write_file("/dev/full", "text"); }),
            "/dev/full: cannot be written: No space left on device");
  write_file("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = contents(path("pipe")); });
  const std::string text(300000, 'y');
  write_file(path("pipe"), text);
  reader.join();
  EXPECT_EQ(read, text);
  EXPECT_EQ(reason([&] { Hdf5File::create(path("pipe")); }),
            path("pipe") + ": cannot be written: HDF5 needs a regular file");
  // If the reader closes the pipe, writing must give an error and not end the process.
  std::thread leaver([&] { ::close(::open(path("pipe").c_str(), O_RDONLY)); });
  const std::string what = reason([&] { write_file(path("pipe"), std::string(3000000, 'y')); });
  leaver.join();
  EXPECT_EQ(what, path("pipe") + ": cannot be written: Broken pipe");
}

TEST_F(Output, ASetIsAllOrNothing) {
  write_file(path("a"), "old a");
  write_file(path("b"), "old b");
  const auto attempt = [&](bool spoil) {
    OutputFile a(path("a")), b(path("b"));
    a.write("new a");
    b.write("new b");
    if (spoil) {  // a path that can no longer be replaced
      fs::remove(path("b"));
      fs::create_directory(path("b"));
    }
    OutputFile* const set[] = {&a, &b};
    OutputFile::commit_together(set);
  };
  EXPECT_NE(reason([&] { attempt(true); }).find(path("b") + ": cannot be written: "), std::string::npos);
  EXPECT_EQ(contents(path("a")), "old a");
  EXPECT_EQ(others({"a", "b"}), 0u);
  fs::remove(path("b"));
  attempt(false);
  EXPECT_EQ(contents(path("a")), "new a");
  EXPECT_EQ(contents(path("b")), "new b");
  EXPECT_EQ(others({"a", "b"}), 0u);
}

/// With a limit on file sizes, each writer must fail and leave the old file unchanged.
TEST_F(Output, EveryWriterFailsWhole) {
  const std::vector<double> a(200 * 200, 0.123456789);
  const auto hdf5 = [&](const std::string& file) {
    Hdf5File output = Hdf5File::create(file);
    output.create_array<double>("a", 200, 200);
    output.write_columns("a", 0, 200, a.data(), 200);
    output.close();
  };
  const auto market = [&](const std::string& file) { write_matrix_market(file, 200, 200, a.data(), 200); };
  std::vector<double> noise(200 * 200);
  for (std::size_t i = 0; i < noise.size(); ++i)
    noise[i] = static_cast<double>((i * 2654435761u) % 4294967291u) / 3;
  const auto packed = [&](const std::string& file) {
    write_matrix_market(file, 200, 200, noise.data(), 200);
  };
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const std::pair<std::string, std::function<void(const std::string&)>> writers[] = {
      {"a.h5", hdf5}, {"a.mtx", market}, {"a.mtx.gz", packed}};
  for (const auto& [name, writer] : writers) {
    write_file(path(name), "old");
    for (const rlim_t limit : {1, 100, 3000, 70000}) {
      const rlimit small{limit, before.rlim_max};
      ::setrlimit(RLIMIT_FSIZE, &small);
      const std::string what = reason([&, &write = writer, &file = name] { write(path(file)); });
      ::setrlimit(RLIMIT_FSIZE, &before);
      EXPECT_EQ(what, path(name) + ": cannot be written: File too large") << limit;
      EXPECT_EQ(contents(path(name)), "old");
    }
    writer(path(name));
    EXPECT_GT(contents(path(name)).size(), 70000u) << name;
  }
  EXPECT_EQ(others({"a.h5", "a.mtx", "a.mtx.gz"}), 0u);
}

/// The next write removes temporary files of killed processes and keeps those of running ones.
TEST_F(Output, LeftFilesOfTheDead) {
  const pid_t child = ::fork();
  if (child == 0) {
    OutputFile file(path("a"));
    file.write("half");
    const TemporaryDirectory directory(work_.path());
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(others({}), 2u);
  OutputFile alive(path("b"));
  EXPECT_EQ(others({}), 1u);
  write_file(path("a"), "whole");
  EXPECT_EQ(others({"a"}), 1u);
  alive.commit();
  EXPECT_EQ(others({"a", "b"}), 0u);
}

TEST_F(Output, DirectoryAtOnce) {
  const std::string set = path("set");
  const auto fill = [](const std::string& text) {
    return [text](const fs::path& draft) {
      write_file((draft / "part").string(), text);
      if (text == "bad") throw Error("stopped");
      return 3;
    };
  };
  EXPECT_EQ(refusal_to_write_directory(set), "");
  EXPECT_EQ(write_directory(set, {"part", "gone"}, fill("1")), 3);
  write_file(set + "/other", "stays");
  write_file(set + "/gone", "goes");
  EXPECT_THROW(write_directory(set, {"part", "gone"}, fill("bad")), Error);
  EXPECT_EQ(contents(set + "/part") + contents(set + "/gone"), "1goes");
  write_directory(set, {"part", "gone"}, fill("2"));
  EXPECT_EQ(contents(set + "/part") + contents(set + "/other"), "2stays");
  EXPECT_FALSE(fs::exists(set + "/gone"));
  EXPECT_EQ(others({"set"}), 0u);
}

}  // namespace
