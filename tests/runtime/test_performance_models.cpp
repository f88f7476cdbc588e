// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <starpu.h>
#include <tests/support/matrix.hpp>
#include <unistd.h>

#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/machine.hpp>
#include <tessera/runtime/performance_models.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::test {
using namespace detail;
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::map<std::string, std::string> contents_of(const fs::path& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) contents[entry.path().string()] = read(entry.path());
  return contents;
}

/// Uses a directory of this test as the user's home and unsets the variables that the search reads.
class PerformanceModelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Short, because StarPU limits the length of its paths.
    directory_ = fs::temp_directory_path() / fmt::format("tessera_{}", ::getpid());
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "home");
    for (const char* name :
         {"STARPU_HOME", "STARPU_PERF_MODEL_DIR", "STARPU_PERF_MODEL_PATH", "STARPU_HOSTNAME",
          "STARPU_MPI_HOSTNAMES", "STARPU_CALIBRATE", "XDG_CACHE_HOME", "TESSERA_PERFMODELS"})
      set(name, nullptr);
    set("HOME", home().c_str());
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    fs::remove_all(directory_);
  }

  void set(const char* name, const char* value) {
    const char* old = std::getenv(name);
    saved_.emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
    value ? setenv(name, value, 1) : unsetenv(name);
  }

  fs::path home() const { return directory_ / "home"; }
  fs::path sets() const { return directory_ / "sets"; }
  fs::path cache() const { return home() / ".cache/tessera/perfmodels"; }

  /// A set with one model that StarPU would accept, and one bus file.
  fs::path made_up_set(const std::string& name, const ModelMachine& machine) const {
    const fs::path measured = directory_ / "measured";
    write(measured / "codelets/45/gemm_d.there", "####\n# Performance Model Version\n45\n" + name);
    write(measured / "codelets/45/gemm_d.elsewhere", "not of the host that is asked for");
    write(measured / "bus/there.config", name);
    EXPECT_EQ(collect_performance_models(measured, "there", sets() / name, {.machine = machine}), 1);
    return sets() / name;
  }

  static RuntimeOptions options() { return {.cores = 2, .gpus = 0, .scheduler = "dmdas"}; }

  static void multiply_often(Runtime& runtime, Index n) {
    const Data a = upload(runtime, random_matrix<double>(n, n, 1)),
               b = upload(runtime, random_matrix<double>(n, n, 2)),
               c = upload(runtime, random_matrix<double>(n, n, 3));
    const TilePart whole{0, 0, n, n};
    Sequence sequence(runtime);
    for (int k = 0; k < 30; ++k) {
      c.forget();
      sequence.insert(
          Gemm<double>{.a = a, .b = b, .c = c, .part_a = whole, .part_b = whole, .part_c = whole});
    }
    ASSERT_TRUE(sequence.wait().ok());
  }

  fs::path directory_;
  std::map<std::string, std::optional<std::string>> saved_;
};

TEST_F(PerformanceModelsTest, AModelMeasuredOnAnotherHostIsFoundOnThisOne) {
  const fs::path measured = directory_ / "measured", set_path = sets() / "this_machine";
  set("STARPU_PERF_MODEL_DIR", measured.c_str());
  set("STARPU_HOSTNAME", "elsewhere");
  set("STARPU_CALIBRATE", "2");
  // Very short products beside other programs vary widely, and StarPU discards all samples if half
  // of them differ by more than 50 %.
  set("STARPU_HISTORY_MAX_ERROR", "1000000");
  {
    Runtime runtime(options());
    EXPECT_EQ(runtime.info().performance_models, measured);
    multiply_often(runtime, 32);
  }
  const std::string cpu = inspect_machine().cpu_model;
  EXPECT_GT(collect_performance_models(measured, "elsewhere", set_path, {.machine = {"", cpu}}), 0);
  EXPECT_TRUE(fs::exists(set_path / "codelets/45/gemm_d"));
  EXPECT_TRUE(fs::exists(set_path / "bus/config"));
  const auto as_shipped = contents_of(sets());

  set("STARPU_PERF_MODEL_DIR", nullptr);
  set("STARPU_HOSTNAME", nullptr);
  set("STARPU_CALIBRATE", nullptr);
  set("TESSERA_PERFMODELS", sets().c_str());
  for (int start = 0; start < 2; ++start) {
    Runtime runtime(options());
    EXPECT_EQ(runtime.info().performance_models, set_path);
    EXPECT_TRUE(runtime.info().shipped_performance_models);
    EXPECT_EQ(std::getenv("STARPU_PERF_MODEL_DIR"), nullptr) << "only while StarPU starts";

    // StarPU loads the model with the first task.
    multiply_often(runtime, 32);
    char path[256];
    starpu_perfmodel_get_model_path("gemm_d", path, sizeof path);
    EXPECT_EQ(fs::path(path).filename(), "gemm_d." + starpu_host_name());
    EXPECT_FALSE(fs::path(path).string().starts_with(directory_.string())) << "a directory of the run's own";
    starpu_perfmodel model{};
    model.type = STARPU_HISTORY_BASED;
    ASSERT_EQ(starpu_perfmodel_load_symbol("gemm_d", &model), 0);
    starpu_perfmodel_arch* arch = starpu_worker_get_perf_archtype(0, STARPU_NMAX_SCHED_CTXS);
    const starpu_perfmodel_per_arch* measurements = starpu_perfmodel_get_model_per_arch(&model, arch, 0);
    ASSERT_TRUE(measurements && measurements->list);
    const std::uint32_t footprint = measurements->list->entry->footprint;
    EXPECT_GE(measurements->list->entry->nsample, 10u);
    EXPECT_GT(starpu_perfmodel_history_based_expected_perf(&model, arch, footprint), 0);
    // Measurements of the first start must be available at the second.
    EXPECT_EQ(measurements->list->next != nullptr, start == 1);
    starpu_perfmodel_unload_model(&model);
    // For a size that is missing in the set, StarPU measures a model, which is kept beside the set.
    multiply_often(runtime, 48);
  }
  ASSERT_EQ(std::distance(fs::directory_iterator(cache()), fs::directory_iterator()), 1);
  EXPECT_TRUE(
      fs::exists(fs::directory_iterator(cache())->path() / "codelets/45" / ("gemm_d." + starpu_host_name())));
  EXPECT_EQ(contents_of(sets()), as_shipped);
  EXPECT_FALSE(fs::exists(home() / ".starpu/sampling/codelets")) << "would pass for the user's own";
}

TEST_F(PerformanceModelsTest, TheUsersEnvironmentWins) {
  const std::string cpu = inspect_machine().cpu_model;
  made_up_set("this_machine", {"", cpu});
  set("TESSERA_PERFMODELS", sets().c_str());
  EXPECT_EQ(find_performance_models({"", cpu}, {"gemm_d"}).origin, ModelOrigin::shipped);
  const std::string own = (directory_ / "own").string();
  for (const char* name : {"STARPU_PERF_MODEL_DIR", "STARPU_PERF_MODEL_PATH", "STARPU_HOME"}) {
    set(name, own.c_str());
    const PerformanceModels models = find_performance_models({"", cpu}, {"gemm_d"});
    EXPECT_EQ(models.origin, ModelOrigin::user) << name;
    EXPECT_TRUE(models.set.empty()) << name;
    EXPECT_TRUE(models.source.string().starts_with(own)) << models.source;
    set(name, nullptr);
  }
  set("STARPU_PERF_MODEL_DIR", own.c_str());
  Runtime runtime(options());
  EXPECT_EQ(runtime.info().performance_models, own);
  EXPECT_FALSE(runtime.info().shipped_performance_models);
}

TEST_F(PerformanceModelsTest, WhatTheUserHasMeasuredOnThisHostWins) {
  const fs::path usual = home() / ".starpu/sampling";
  write(usual / "codelets/45" / ("gemm_d." + starpu_host_name() + "x"), "another host");
  write(usual / "codelets/45" / ("other." + starpu_host_name()), "another library");
  EXPECT_NE(find_performance_models({"", "no such processor"}, {"gemm_d"}).origin, ModelOrigin::user);
  write(usual / "codelets/45" / ("gemm_d." + starpu_host_name()), "this one");
  const PerformanceModels models = find_performance_models({"", "no such processor"}, {"trsm_d", "gemm_d"});
  EXPECT_EQ(models.origin, ModelOrigin::user);
  EXPECT_EQ(models.source, usual);
}

TEST_F(PerformanceModelsTest, ABrokenDescriptionIsAWarning) {
  for (const char* text : {"{broken", "{}", "[1]", "", R"({"gpu": 1})"}) {
    write(sets() / "broken/machine.json", text);
    set("TESSERA_PERFMODELS", sets().c_str());
    std::vector<std::string> warnings;
    RuntimeOptions with_log = options();
    with_log.log = [&](LogLevel level, std::string_view message) {
      if (level == LogLevel::warning) warnings.emplace_back(message);
    };
    Runtime runtime(with_log);
    EXPECT_EQ(runtime.info().performance_models, "");
    ASSERT_EQ(warnings.size(), 1u) << text;
    EXPECT_NE(warnings.front().find("broken/machine.json"), std::string::npos) << warnings.front();
  }
}

TEST_F(PerformanceModelsTest, TheMachineThatIsMostAlike) {
  made_up_set("a", {"G", "other"});
  made_up_set("b", {"G", "C"});
  made_up_set("c", {"", "C"});
  const fs::path wrong_version = made_up_set("d", {"V", "C"});
  std::string text = read(wrong_version / "machine.json");
  text.replace(text.find("45"), 2, "46");
  write(wrong_version / "machine.json", text);
  set("TESSERA_PERFMODELS", sets().c_str());
  const auto chosen = [](const ModelMachine& machine) {
    return find_performance_models(machine, {}).source.filename().string();
  };
  EXPECT_EQ(chosen({"G", "C"}), "b");
  EXPECT_EQ(chosen({"G", "new"}), "a");
  EXPECT_EQ(chosen({"", "C"}), "c");
  EXPECT_EQ(chosen({"", "new"}), "");
  EXPECT_EQ(chosen({"H", "C"}), "");
  EXPECT_EQ(chosen({"V", "C"}), "") << "model files of another version";
  // Transfer rates depend on the whole machine, so they are taken only from a set with the same
  // processor.
  EXPECT_TRUE(find_performance_models({"G", "C"}, {}).set_has_transfers);
  EXPECT_FALSE(find_performance_models({"G", "new"}, {}).set_has_transfers);
  set("TESSERA_PERFMODELS", "");
  EXPECT_EQ(chosen({"G", "C"}), "");
}

TEST_F(PerformanceModelsTest, ADirectoryThatIsNotThereIsAWarningAndACacheIsNotNeeded) {
  set("TESSERA_PERFMODELS", (directory_ / "absent").c_str());
  EXPECT_EQ(find_performance_models({"G", "C"}, {}).warnings.size(), 1u);
  const fs::path path = made_up_set("this_machine", {"G", "C"});
  set("TESSERA_PERFMODELS", sets().c_str());
  set("HOME", nullptr);
  const PerformanceModels models = find_performance_models({"G", "C"}, {});
  EXPECT_EQ(models.source, path);
  EXPECT_EQ(models.store, fs::path());
  EXPECT_TRUE(models.warnings.empty());
}

TEST_F(PerformanceModelsTest, WhereMeasurementsAreKept) {
  const auto store = [] { return find_performance_models({"", "no such processor"}, {"gemm_d"}).store; };
  EXPECT_EQ(store(), home() / ".cache/tessera/starpu");
  fs::create_directories(home() / ".starpu/sampling");
  EXPECT_EQ(store(), home() / ".starpu/sampling") << "StarPU was here before";
  set("STARPU_HOME", "/elsewhere");
  EXPECT_EQ(store(), "/elsewhere/.starpu/sampling");
  set("STARPU_PERF_MODEL_DIR", "/there");
  EXPECT_EQ(store(), "/there");
  set("STARPU_PERF_MODEL_DIR", nullptr);
  set("STARPU_HOME", nullptr);
  for (const char* none : {"", "relative", "/proc/version"}) {
    set("HOME", none);
    EXPECT_EQ(store(), fs::path()) << none;
  }
  set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(store(), fs::path());
}

TEST_F(PerformanceModelsTest, DescriptionsAndNames) {
  const fs::path path = made_up_set("s", {"NVIDIA H200", "Intel(R) Xeon(R) Platinum 8480+"});
  const ModelSetDescription set_read = read_model_set_description(path / "machine.json");
  EXPECT_EQ(set_read.machine.gpu, "NVIDIA H200");
  EXPECT_EQ(set_read.model_version, model_file_version);
  EXPECT_THROW(read_model_set_description(path / "absent.json"), InputError);
  EXPECT_EQ(model_set_name(set_read.machine), "nvidia-h200_intel-r-xeon-r-platinum-8480");
  EXPECT_EQ(model_set_name({"", "AMD EPYC"}), "amd-epyc");
  EXPECT_EQ(model_set_name({}), "unknown");
}

}  // namespace
}  // namespace tessera::test
