// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/kept_files.hpp>
#include <tessera/runtime/model_files.hpp>
#include <tessera/runtime/model_store.hpp>

/// Validity and storage of StarPU's performance models and bus files.
namespace tessera::test {
using namespace detail;
namespace {

namespace fs = std::filesystem;

const std::string measurement =
    "6b1fbc79\t229248         \t4.915200e+04   \t7.205000e-01   \t2.750000e-02   \t1.441000e+00   "
    "\t1.039753e+00   \t2\n48b849b0\t229248         \tnan            \t1.183939e+01   \t2.554296e+00   "
    "\t3.046276e+04   \t3.774480e+05   \t2573\n";

/// A model in the format of StarPU 1.4; `name` makes texts differ.
std::string codelet_text(const std::string& name = "") {
  return "##################\n# Performance Model Version\n45\n\n####################\n# COMBs " + name +
         "\n# number of combinations\n1\n####################\n# COMB_1\n# number of types devices\n1\n"
         "####################\n# DEV_0\n# device type (CPU - 0, CUDA - 1)\n0\n# device id \n0\n"
         "# number of cores \n1\n##########\n# number of implementations\n1\n#####\n# Model for cpu0_impl0\n"
         "# number of entries\n2\n# sumlnx\tsumlnx2\n"
         "0.000000e+00   \t0.000000e+00   \t0.000000e+00   \t0.000000e+00   \tnan            \tnan           "
         " "
         "\t0\t0              \t0              \n# a\t\tb\t\tc\nnan            \tnan            \tnan        "
         "    \n"
         "# not multiple-regression-base\n0\n# hash\t\tsize\n" +
         measurement + "\n";
}

const std::string config_text =
    "# Current configuration\n16 # Number of CPUs\n1 # Number of NUMA nodes\n2 # Number of CUDA nodes\n"
    "0 # Number of OpenCL nodes\n0 # Number of FPGA nodes\n0 # Number of Disk nodes\n"
    "0 # Number of MPI_MS nodes\n0 # Number of TCPIP_MS nodes\n0 # Number of HIP nodes\n";
const std::string platform_text = "<?xml version='1.0'?>\n<platform version=\"4\">\n</platform>\n";
const std::string affinity_text = "# GPU\tNUMA0\t\n0\t0\t\n1\t0\t\n";

std::string matrix_text(int used = 3, int all = 16) {
  std::string text = "# to NUMA 0\tto CUDA 0\tto CUDA 1\t\n";
  for (int row = 0; row < all; ++row)
    for (int column = 0; column < all; ++column)
      text += fmt::format("{}{}",
                          row >= used || column >= used ? "nan"
                          : row == column               ? "0.000000e+00"
                                                        : "5.4e+04",
                          column + 1 == all ? '\n' : '\t');
  return text;
}

std::string replaced(std::string text, const std::string& old, const std::string& now) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), now);
}

TEST(ModelFiles, WhatStarpuWritesIsSound) {
  EXPECT_EQ(flaw_of_codelet_file(codelet_text()), "");
  EXPECT_EQ(flaw_of_codelet_file("45\n\n# COMBs\n0\n"), "");
  BusNodes nodes;
  EXPECT_EQ(flaw_of_bus_config(config_text, nodes), "");
  EXPECT_EQ(nodes.numa, 1u);
  EXPECT_EQ(nodes.devices, 2u);
  EXPECT_EQ(nodes.gpus, 2u);
  EXPECT_EQ(flaw_of_bus_affinity(affinity_text, nodes), "");
  EXPECT_EQ(flaw_of_bus_affinity("# GPU\tNUMA0\tNUMA1\t\n0\t1\t0\t\n0\t0\t1\t\n", BusNodes{2, 2, 2}), "");
  EXPECT_EQ(flaw_of_bus_matrix(matrix_text(), nodes), "");
  EXPECT_EQ(flaw_of_bus_matrix(matrix_text(3, 32), nodes), "") << "a StarPU with room for more nodes";
}

/// Every set shipped with Tessera must be a valid StarPU file set.
TEST(ModelFiles, ShippedSetsAreSound) {
  const char* data = std::getenv("TESSERA_TEST_DATA");
  if (!data) GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  int files = 0;
  const fs::path sets = fs::path(data) / "../../perfmodels";
  for (const auto& entry : fs::recursive_directory_iterator(sets)) {
    if (entry.path().parent_path().filename() != "45") continue;
    const FileContent content = read_whole_file(entry.path(), largest_model_file);
    EXPECT_EQ(content.flaw, "") << entry.path();
    EXPECT_EQ(flaw_of_codelet_file(content.bytes), "") << entry.path();
    ++files;
  }
  EXPECT_GT(files, 100);
}

TEST(ModelFiles, CutAnywhereIsDamaged) {
  const std::string good = codelet_text();
  // The last line is empty, so its removal is not damage.
  for (std::size_t length = 0; length + 1 < good.size(); ++length)
    EXPECT_NE(flaw_of_codelet_file(good.substr(0, length)), "") << length;
  BusNodes nodes;
  for (std::size_t length = 0; length < config_text.size(); ++length)
    EXPECT_NE(flaw_of_bus_config(config_text.substr(0, length), nodes), "") << length;
  const BusNodes right{1, 2, 2};
  for (std::size_t length = 0; length < affinity_text.size(); ++length)
    EXPECT_NE(flaw_of_bus_affinity(affinity_text.substr(0, length), right), "") << length;
  for (std::size_t length = 0; length < matrix_text().size(); ++length)
    EXPECT_NE(flaw_of_bus_matrix(matrix_text().substr(0, length), right), "") << length;
}

TEST(ModelFiles, WrongNumbersInACodeletFile) {
  const std::string good = codelet_text();
  const std::pair<const char*, const char*> wrong[] = {
      {"\n45\n", "\n44\n"},
      {"\n45\n", "\n45 x\n"},
      {"combinations\n1", "combinations\n-1"},
      {"combinations\n1", "combinations\n2"},
      {"combinations\n1", "combinations\n99999999999999999999"},
      {"types devices\n1", "types devices\n0"},
      {"types devices\n1", "types devices\n2000000000"},
      {"CUDA - 1)\n0", "CUDA - 1)\n3"},
      {"CUDA - 1)\n0", "CUDA - 1)\n-1"},
      {"device id \n0", "device id \n-2"},
      {"implementations\n1", "implementations\n0"},
      {"implementations\n1", "implementations\n9"},
      {"entries\n2", "entries\n1"},
      {"entries\n2", "entries\n3"},
      {"entries\n2", "entries\n4294967295"},
      {"base\n0", "base\n1"},
      {"base\n0", "base\n4000000000"},
      {"7.205000e-01", "-7.205000e-01"},
      {"7.205000e-01", "nan"},
      {"7.205000e-01", "inf"},
      {"7.205000e-01", "1e999"},
      {"7.205000e-01", "7.2x"},
      {"4.915200e+04", "-1"},
      {"6b1fbc79", "6b1fbc79f"},
      {"6b1fbc79", "6b1fbg79"},
      {"\t2573\n", "\t2573\t1\n"},
      {"\t2573\n", "\t-2573\n"},
      {"\t2573\n", "\n"},
      {"229248", "-229248"},
      {"# a\t\tb", "a\t\tb"}};
  for (const auto& [old, now] : wrong)
    EXPECT_NE(flaw_of_codelet_file(replaced(good, old, now)), "") << old << " " << now;
  EXPECT_NE(flaw_of_codelet_file(good + "garbage\n"), "");
  EXPECT_NE(flaw_of_codelet_file(good + "1\n"), "");
  EXPECT_NE(flaw_of_codelet_file(std::string(good.size(), '\0')), "");
  EXPECT_NE(flaw_of_codelet_file(replaced(good, "229248", std::string(300, '1'))), "");
  EXPECT_NE(flaw_of_codelet_file(
                replaced(good, "\tnan            \t1.18", std::string("\tn\0n           \t1.18", 19))),
            "");
}

TEST(ModelFiles, WrongNumbersInFilesOfBuses) {
  BusNodes nodes;
  for (const auto& [old, now] :
       {std::pair("16 #", "-16 #"), std::pair("16 #", "0 #"), std::pair("2 #", "99999 #"),
        std::pair("1 #", "0 #"), std::pair("1 #", "1 1 #"), std::pair("2 #", "x #")})
    EXPECT_NE(flaw_of_bus_config(replaced(config_text, old, now), nodes), "") << now;
  EXPECT_NE(flaw_of_bus_config(config_text + "0\n", nodes), "");
  const BusNodes right{1, 2, 2};
  for (const auto& [old, now] :
       {std::pair("# GPU", "GPU"), std::pair("\n1\t0", "\n2\t0"), std::pair("\n1\t0", "\n1\t1"),
        std::pair("\n1\t0", "\n1"), std::pair("\n0\t0", "\n0\t-1"), std::pair("\n1\t0", "\n1\t0\t0")})
    EXPECT_NE(flaw_of_bus_affinity(replaced(affinity_text, old, now), right), "") << now;
  EXPECT_NE(flaw_of_bus_affinity(affinity_text, BusNodes{1, 1, 1}), "");
  EXPECT_NE(flaw_of_bus_affinity(affinity_text, BusNodes{2, 2, 2}), "");
  for (const auto& [old, now] :
       {std::pair("5.4e+04", "-5.4e+04"), std::pair("5.4e+04", "nan"), std::pair("5.4e+04", "5.4e"),
        std::pair("5.4e+04\t", ""), std::pair("nan\n", "nan\tnan\n"), std::pair("5.4e+04", "")})
    EXPECT_NE(flaw_of_bus_matrix(replaced(matrix_text(), old, now), right), "") << now;
  EXPECT_NE(flaw_of_bus_matrix(matrix_text(3, 3), BusNodes{1, 3, 3}), "");
  EXPECT_NE(flaw_of_bus_matrix(matrix_text(17, 17), right), "") << "more nodes than StarPU has room for";
}

TEST(ModelFiles, TheOrderOfLinesDoesNotMatter) {
  EXPECT_EQ(hash_of_lines("a\nb\nc\n"), hash_of_lines("c\na\nb\n"));
  EXPECT_NE(hash_of_lines("a\nb\nc\n"), hash_of_lines("a\nb\nd\n"));
  EXPECT_NE(hash_of_lines("a\nb\n"), hash_of_lines("a\nb\nb\n"));
}

/// Creates directories for a store and for StarPU.
class ModelStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / fmt::format("tessera_store_{}", ::getpid());
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "work");
  }
  void TearDown() override { fs::remove_all(directory_); }
  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  fs::path store() const { return directory_ / "store"; }
  fs::path work() const { return directory_ / "work"; }
  fs::path codelet(const fs::path& where, const std::string& name) const {
    return where / "codelets/45" / name;
  }
  ModelStore model_store(PerformanceModels models) {
    return ModelStore(std::move(models), "host", work(), [this](LogLevel level, std::string_view message) {
      messages_.emplace_back(level, message);
    });
  }
  int warnings() const {
    return static_cast<int>(std::count_if(messages_.begin(), messages_.end(), [](const auto& message) {
      return message.first == LogLevel::warning;
    }));
  }
  fs::path directory_;
  std::vector<std::pair<LogLevel, std::string>> messages_;
};

TEST_F(ModelStoreTest, SoundFilesComeAndChangedOnesAreKept) {
  write(codelet(store(), "known.host"), codelet_text());
  write(codelet(store(), "known.other"), codelet_text());
  write(codelet(store(), "unknown.host"), codelet_text());
  for (const auto& [what, text] :
       {std::pair("config", config_text), std::pair("affinity", affinity_text),
        std::pair("latency", matrix_text()), std::pair("bandwidth", matrix_text()),
        std::pair("platform.xml", platform_text), std::pair("platform.v4.xml", platform_text)})
    write(store() / "bus" / fmt::format("host.{}", what), text);
  fs::remove(store() / "bus/host.platform.xml");
  EXPECT_FALSE(model_store({.store = store()}).fetch_buses(BusMachine{16, 1, 2})) << "one is missing";
  ModelStore models = model_store({.store = store()});
  EXPECT_TRUE(models.fetch_buses(std::nullopt)) << "for a simulation";
  for (const char* name : {"known", "new"}) models.fetch_codelet(name);
  EXPECT_EQ(read(codelet(work(), "known.host")), codelet_text());
  EXPECT_EQ(std::distance(fs::directory_iterator(work() / "codelets/45"), fs::directory_iterator()), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(work() / "bus"), fs::directory_iterator()), 5);

  write(codelet(work(), "new.host"), codelet_text("new"));
  write(codelet(work(), "empty.host"), "");
  write(codelet(work(), "torn.host"), codelet_text().substr(0, 200));
  write(work() / "bus/host.platform.xml", "<?xml version='1.0'?>\n </platform>\n");
  // The same measurements in another order must count as equal.
  const std::size_t split = measurement.find('\n') + 1;
  const std::string turned =
      replaced(codelet_text(), measurement, measurement.substr(split) + measurement.substr(0, split));
  write(codelet(work(), "known.host"), turned);
  models.keep();
  EXPECT_EQ(read(codelet(store(), "new.host")), codelet_text("new"));
  EXPECT_EQ(read(codelet(store(), "known.host")), codelet_text());
  EXPECT_FALSE(fs::exists(codelet(store(), "empty.host")));
  EXPECT_FALSE(fs::exists(codelet(store(), "torn.host")));
  EXPECT_TRUE(fs::exists(store() / "bus/host.platform.xml"));
  EXPECT_EQ(warnings(), 0);
}

TEST_F(ModelStoreTest, DamagedFilesAreSetAsideWithOneWarning) {
  write(codelet(store(), "a.host"), codelet_text().substr(0, 300));
  write(codelet(store(), "b.host"), "garbage");
  fs::create_directories(codelet(store(), "c.host"));
  ASSERT_EQ(::mkfifo(codelet(store(), "d.host").c_str(), 0600), 0);
  write(store() / "bus/host.config", config_text);
  write(store() / "bus/host.affinity", "# GPU\tNUMA0\t\n0\t0\t\n");
  write(store() / "bus/host.latency", matrix_text());
  ModelStore models = model_store({.store = store()});
  EXPECT_FALSE(models.fetch_buses(BusMachine{16, 1, 2}));
  for (const char* name : {"a", "b", "c", "d"}) models.fetch_codelet(name);
  ASSERT_EQ(warnings(), 1);
  EXPECT_EQ(messages_.size(), 5u);
  EXPECT_NE(messages_.front().second.find("host.affinity"), std::string::npos) << messages_.front().second;
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_FALSE(fs::exists(codelet(store(), fmt::format("{}.host", name)))) << name;
    EXPECT_TRUE(fs::exists(codelet(store(), fmt::format("{}.host.damaged", name)))) << name;
    EXPECT_FALSE(fs::exists(codelet(work(), fmt::format("{}.host", name)))) << name;
  }
  EXPECT_TRUE(fs::exists(store() / "bus/host.affinity.damaged"));
  EXPECT_FALSE(models.has_buses()) << "those that are left do not do";
}

TEST_F(ModelStoreTest, ASetComesAfterTheStoreAndIsLeftAlone) {
  const fs::path set = directory_ / "set";
  write(codelet(set, "both"), codelet_text("set"));
  write(codelet(set, "set"), codelet_text("set"));
  write(codelet(set, "broken"), "44\n");
  for (const auto& [what, text] : nominal_bus_files({16, 1, 2})) write(set / "bus" / what, text);
  write(codelet(store(), "both.host"), codelet_text("store"));
  ModelStore models = model_store({.set = set, .set_has_transfers = true, .store = store()});
  EXPECT_TRUE(models.fetch_buses(BusMachine{16, 1, 2}));
  for (const char* name : {"both", "set", "broken"}) models.fetch_codelet(name);
  EXPECT_EQ(read(codelet(work(), "both.host")), codelet_text("store"));
  EXPECT_EQ(read(codelet(work(), "set.host")), codelet_text("set"));
  EXPECT_EQ(read(work() / "bus/host.config"), bus_config({16, 1, 2}));
  EXPECT_FALSE(fs::exists(codelet(work(), "broken.host")));
  EXPECT_TRUE(fs::exists(codelet(set, "broken")));
  EXPECT_EQ(warnings(), 1);
  models.keep();
  EXPECT_FALSE(fs::exists(codelet(store(), "set.host"))) << "nothing new";
}

TEST_F(ModelStoreTest, WhereNothingCanBeKeptOneLineSaysSo) {
  write(directory_ / "file", "in the way");
  for (const fs::path& place : {fs::path(), directory_ / "file/below"}) {
    messages_.clear();
    ModelStore models = model_store({.store = place});
    models.fetch_buses(BusMachine{16, 1, 2});
    models.fetch_codelet("new");
    write(codelet(work(), "new.host"), codelet_text());
    models.keep();
    ASSERT_EQ(messages_.size(), 1u) << place;
    EXPECT_EQ(messages_.front().first, LogLevel::info);
    EXPECT_NE(messages_.front().second.find("not kept"), std::string::npos) << messages_.front().second;
  }
}

/// Readers must always find complete files while two processes write.
TEST_F(ModelStoreTest, ProcessesThatKeepAtTheSameTime) {
  constexpr int processes = 6, files = 40;
  std::vector<pid_t> children;
  for (int k = 0; k < processes; ++k) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool good = true;
      for (int round = 0; round < 5; ++round) {
        std::vector<NewFile> changed;
        for (int file = 0; file < files; ++file)
          changed.push_back({codelet(store(), fmt::format("c{}.host", file)),
                             codelet_text(std::string(static_cast<std::size_t>(100 * k + round), 'x'))});
        const std::string failure = replace_files(changed);
        if (!failure.empty()) fmt::print(stderr, "{}\n", failure);
        good = good && failure.empty();
        for (int file = 0; file < files; ++file)
          good = good && flaw_of_codelet_file(read(codelet(store(), fmt::format("c{}.host", file)))).empty();
      }
      ::_exit(good ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(store() / "codelets/45"), fs::directory_iterator()), files);
}

}  // namespace
}  // namespace tessera::test
