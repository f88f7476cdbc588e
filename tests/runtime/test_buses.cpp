// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>
#include <tests/support/variables.hpp>
#include <unistd.h>

#include <tessera/runtime/bus_measurement.hpp>
#include <tessera/runtime/model_store.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/starpu_environment.hpp>

namespace tessera::test {
using namespace detail;
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder for the files of one test, and programs in it.
class Buses : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("tessera_buses_{}", ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "work");
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path program(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << text << '\n';
    fs::permissions(folder_ / name, fs::perms::owner_all);
    return folder_ / name;
  }
  std::string run(const fs::path& program, int limit = 20000) const {
    return run_measuring_program(program, folder_ / "report", std::chrono::milliseconds(limit));
  }
  void write_buses(const fs::path& where, const std::string& prefix, const BusMachine& machine) const {
    fs::create_directories(where / "bus");
    for (const auto& [what, text] : nominal_bus_files(machine))
      std::ofstream(where / "bus" / (prefix + what)) << text;
  }
  /// Of a Runtime whose buses are to be measured by `program`; what it has logged.
  std::vector<std::pair<LogLevel, std::string>> start_with(const fs::path& program) {
    Variables variables;
    variables.set("TESSERA_MEASURE_BUSES", program.c_str());
    variables.set("STARPU_BUS_CALIBRATE", "1");
    variables.set("STARPU_PERF_MODEL_DIR", (folder_ / "store").c_str());
    variables.set("STARPU_HOME", (folder_ / "home").c_str());  // where nothing is known
    std::vector<std::pair<LogLevel, std::string>> messages;
    Runtime runtime({.cores = 2, .gpus = 0, .log = [&](LogLevel level, std::string_view text) {
                       messages.emplace_back(level, text);
                     }});
    Sequence sequence(runtime);
    EXPECT_TRUE(sequence.wait().ok());
    return messages;
  }
  fs::path store_file(const std::string& what) const {
    return folder_ / "store/bus" / fmt::format("{}.{}", starpu_host_name(), what);
  }
  fs::path folder_;
};

TEST_F(Buses, NominalFilesAreWhatStarpuReads) {
  for (const BusMachine machine : {BusMachine{16, 1, 0}, BusMachine{128, 2, 8}, BusMachine{3, 2, 1}}) {
    std::optional<BusNodes> nodes;
    const BusFiles files = nominal_bus_files(machine);
    for (const char* what : bus_files) EXPECT_EQ(flaw_of_bus_file(what, files.at(what), nodes), "") << what;
    EXPECT_TRUE(fits(*nodes, machine));
    EXPECT_FALSE(fits(*nodes, {machine.cpus, machine.numa, machine.gpus + 1}));
    EXPECT_FALSE(fits(*nodes, {machine.cpus, machine.numa + 1, machine.gpus}));
    EXPECT_TRUE(fits(*nodes, {machine.cpus + 1, machine.numa, machine.gpus}));
  }
  const std::string bandwidth = nominal_bus_files({4, 1, 1}).at("bandwidth");
  EXPECT_NE(bandwidth.find("\n0.000000e+00\t2.500000e+04\tnan\t"), std::string::npos) << bandwidth;
  EXPECT_NE(bandwidth.find("\n2.500000e+04\t0.000000e+00\tnan\t"), std::string::npos) << bandwidth;
}

/// StarPU measures in this process where it counts otherwise.
TEST_F(Buses, TheMachineIsCountedAsStarpuDoes) {
  const fs::path measure = measuring_program();
  ASSERT_FALSE(measure.empty());
  Variables variables;
  variables.set("STARPU_PERF_MODEL_DIR", (folder_ / "work").c_str());
  variables.set("STARPU_HOSTNAME", "here");
  ASSERT_EQ(run(measure), "");
  const auto numbers = [](const std::string& config) {
    std::string found;
    for (std::size_t at = 0; at < config.size(); at = config.find('\n', at) + 1)
      found += config.substr(at, config.find_first_of("#\n", at) - at) + ',';
    return found;
  };
  const std::string by_starpu = read(folder_ / "work/bus/here.config");
  EXPECT_EQ(numbers(bus_config(inspect_buses())), numbers(by_starpu)) << by_starpu;
}

TEST_F(Buses, FilesOfTheMachineAreTakenWhateverItsCpus) {
  const BusMachine two_gpus{16, 1, 2};
  write_buses(folder_ / "store", "host.", two_gpus);
  write_buses(folder_ / "set", "", {64, 1, 1});
  const auto models = [&](const char* work) {
    fs::create_directories(folder_ / work);
    return ModelStore({.set = folder_ / "set", .set_has_transfers = true, .store = folder_ / "store"}, "host",
                      folder_ / work, {});
  };
  EXPECT_TRUE(models("a").fetch_buses(BusMachine{32, 1, 2}));
  EXPECT_EQ(read(folder_ / "a/bus/host.config"), bus_config({32, 1, 2}));
  EXPECT_EQ(read(folder_ / "a/bus/host.bandwidth"), nominal_bus_files(two_gpus).at("bandwidth"));
  EXPECT_TRUE(models("b").fetch_buses(BusMachine{8, 1, 1})) << "the set";
  EXPECT_EQ(read(folder_ / "b/bus/host.config"), bus_config({8, 1, 1}));
  EXPECT_FALSE(models("c").fetch_buses(BusMachine{16, 1, 4}));
  EXPECT_FALSE(models("c").fetch_buses(BusMachine{16, 2, 2}));
  fs::remove(folder_ / "store/bus/host.platform.xml");
  EXPECT_FALSE(models("c").fetch_buses(two_gpus)) << "StarPU would measure for it";
  EXPECT_TRUE(fs::is_empty(folder_ / "c/bus"));
}

TEST_F(Buses, AProgramThatFailsSaysWhy) {
  EXPECT_EQ(run(program("good", "exit 0")), "");
  EXPECT_EQ(run(program("bad", "echo first >&2; echo 'no such GPU' >&2; exit 3")),
            "its exit code is 3: no such GPU");
  EXPECT_EQ(run(program("killed", "kill -9 $$")), "it was ended by signal 9");
  EXPECT_EQ(run(folder_ / "absent"), "it cannot be run (No such file or directory)");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run(program("slow", "exec sleep 30"), 300), "it has not ended within 0.3 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(Buses, TheHostsSignalsAndFilesAreLeftAlone) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);  // the kernel takes the status away then
  EXPECT_EQ(run(program("good", "exit 0")), "");
  std::signal(SIGCHLD, before);
  const int file = ::dup(STDERR_FILENO);  // inherited by what this process starts
  EXPECT_EQ(run(program("files", fmt::format("test ! -e /proc/self/fd/{}", file))), "");
  ::close(file);
}

TEST_F(Buses, AnotherProcessMeasures) {
  const fs::path measure = measuring_program();
  const auto messages = start_with(program(
      "noted", fmt::format("echo $PPID >'{0}/parent'; exec '{1}'", folder_.string(), measure.string())));
  EXPECT_EQ(read(folder_ / "parent"), fmt::format("{}\n", ::getpid()));
  const auto told = std::find_if(messages.begin(), messages.end(), [](const auto& message) {
    return message.second.find("another process has measured the buses") != std::string::npos;
  });
  ASSERT_NE(told, messages.end());
  EXPECT_EQ(told->first, LogLevel::info);
  for (const char* what : bus_files) EXPECT_TRUE(fs::exists(store_file(what))) << what;
}

TEST_F(Buses, WhereThatFailsTheyAreNominalWithAWarning) {
  const auto messages = start_with(
      program("torn", "echo '2 # of' >$STARPU_PERF_MODEL_DIR/bus/$STARPU_HOSTNAME.config; exit 5"));
  const auto told = std::find_if(messages.begin(), messages.end(),
                                 [](const auto& message) { return message.first == LogLevel::warning; });
  ASSERT_NE(told, messages.end());
  EXPECT_NE(told->second.find("the buses cannot be measured"), std::string::npos) << told->second;
  EXPECT_NE(told->second.find("its exit code is 5"), std::string::npos) << told->second;
  EXPECT_FALSE(fs::exists(store_file("bandwidth"))) << "guesses are not kept";
  // It is not tried again.
  const auto again = start_with(folder_ / "torn");
  EXPECT_TRUE(std::any_of(again.begin(), again.end(), [](const auto& message) {
    return message.second.find("has failed in this process before") != std::string::npos;
  }));
}

TEST_F(Buses, WithoutGpusNothingIsMeasured) {
  Variables variables;
  variables.set("TESSERA_MEASURE_BUSES", program("never", "exit 9").c_str());
  variables.set("STARPU_PERF_MODEL_DIR", (folder_ / "store").c_str());
  std::vector<std::string> messages;
  const Runtime runtime(
      {.cores = 1, .gpus = 0, .log = [&](LogLevel, std::string_view text) { messages.emplace_back(text); }});
  for (const std::string& message : messages) EXPECT_EQ(message.find("buses"), std::string::npos) << message;
}

}  // namespace
}  // namespace tessera::test
