// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/codelets/block_sparse/product/kernels/tuned_plans.hpp>
#include <tessera/error.hpp>

namespace tessera::test {
using namespace detail;
namespace {

namespace fs = std::filesystem;
using device::StackShape;
using device::TunedPlan;
using device::TunedPlans;
using device::TunedPlanStore;
using Json = nlohmann::ordered_json;

const std::string gpu = "NVIDIA H100 80GB HBM3", kernel = "0123456789abcdef";
const StackShape cube{'d', 23, 23, 23}, flat{'z', 5, 13, 7};

/// Number `i` of the plans near the formula.
TunedPlan tuned(const StackShape& shape, std::size_t i) {
  return {shape, device::plans_near_formula(shape, i + 1).at(i), 1.25};
}

class TunedPlansTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("tessera_tuned_plans_" + std::to_string(::getpid()));
    fs::remove_all(directory_);
    ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  }
  void TearDown() override { fs::remove_all(directory_); }
  TunedPlanStore store() const { return TunedPlanStore(directory_ / "stack_plans", directory_); }
  Json document() const { return Json::parse(std::ifstream(store().file(gpu))); }
  void write(const std::string& text) const { std::ofstream(store().file(gpu)) << text; }
  /// Nothing is read, and one line that names the file says why.
  void expect_flaw(const std::string& why, std::size_t plans = 0) const {
    const TunedPlans found = store().read(gpu, kernel);
    EXPECT_EQ(found.plans.size(), plans) << why;
    EXPECT_TRUE(found.flaw.starts_with(store().file(gpu).string())) << found.flaw;
    EXPECT_NE(found.flaw.find(why), std::string::npos) << found.flaw;
    EXPECT_EQ(found.flaw.find('\n'), std::string::npos) << found.flaw;
  }
  fs::path directory_;
};

TEST_F(TunedPlansTest, KeepsAndReplaces) {
  EXPECT_TRUE(store().read(gpu, kernel).plans.empty());
  EXPECT_EQ(store().read(gpu, kernel).flaw, "");
  store().replace(gpu, kernel, {cube, flat}, {tuned(cube, 3), tuned(flat, 5)});
  store().replace("another", kernel, {cube}, {tuned(cube, 4)});
  TunedPlans found = store().read(gpu, kernel);
  EXPECT_EQ(found.flaw, "");
  ASSERT_EQ(found.plans.size(), 2u);
  EXPECT_EQ(found.plans[0].shape, cube);
  EXPECT_EQ(found.plans[0].plan, tuned(cube, 3).plan);
  EXPECT_EQ(found.plans[0].speedup, 1.25);
  EXPECT_EQ(found.plans[1].shape, flat);
  EXPECT_EQ(found.plans[1].plan, tuned(flat, 5).plan);
  // A better one, and back to the formula.
  store().replace(gpu, kernel, {cube}, {tuned(cube, 9)});
  found = store().read(gpu, kernel);
  ASSERT_EQ(found.plans.size(), 2u);
  EXPECT_EQ(found.plans[0].plan, tuned(cube, 9).plan);
  store().replace(gpu, kernel, {cube}, {});
  found = store().read(gpu, kernel);
  ASSERT_EQ(found.plans.size(), 1u);
  EXPECT_EQ(found.plans[0].shape, flat);
  const auto all = store().read_all(kernel);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].first, gpu);
  EXPECT_EQ(all[0].second.plans.size(), 1u);
  EXPECT_EQ(all[1].first, "another");
}

TEST_F(TunedPlansTest, EveryPlanSurvivesTheFile) {
  for (const StackShape& shape : {cube, flat, StackShape{'s', 1, 2, 3}, StackShape{'c', 80, 80, 80}})
    for (const StackPlan& plan : device::plans_near_formula(shape, 30)) {
      store().replace(gpu, kernel, {shape}, {{shape, plan, 1}});
      const TunedPlans found = store().read(gpu, kernel);
      EXPECT_EQ(found.flaw, "");
      const auto at = std::find_if(found.plans.begin(), found.plans.end(),
                                   [&](const TunedPlan& one) { return one.shape == shape; });
      ASSERT_NE(at, found.plans.end());
      EXPECT_EQ(at->plan, plan) << device::describe_plan(plan);
    }
}

TEST_F(TunedPlansTest, StalePlansAreNotUsedAndReplaced) {
  store().replace(gpu, "of before", {cube, flat}, {tuned(cube, 3), tuned(flat, 5)});
  expect_flaw("another version");
  EXPECT_NE(store().read_all(kernel).at(0).second.flaw.find("another version"), std::string::npos);
  store().replace(gpu, kernel, {cube}, {tuned(cube, 2)});
  const TunedPlans found = store().read(gpu, kernel);
  EXPECT_EQ(found.flaw, "");
  ASSERT_EQ(found.plans.size(), 1u) << "the other one was stale";
  EXPECT_EQ(found.plans[0].plan, tuned(cube, 2).plan);
}

TEST_F(TunedPlansTest, AFileOfAnotherGpuUnderThisName) {
  store().replace("another", kernel, {cube}, {tuned(cube, 3)});
  fs::rename(store().file("another"), store().file(gpu));
  expect_flaw("another GPU");
}

TEST_F(TunedPlansTest, DamagedFilesAreNotUsed) {
  store().replace(gpu, kernel, {cube}, {tuned(cube, 3)});
  const std::string good = document().dump();
  for (std::size_t length = 0; length < good.size(); length += 7) {
    write(good.substr(0, length));
    expect_flaw("damaged");
  }
  for (const std::string& text :
       {std::string("[]"), std::string("{}"), std::string(200000, '['), std::string("null"),
        "{\"gpu\": \"" + gpu + "\", \"kernel\": \"" + kernel + "\"}"}) {
    write(text);
    expect_flaw("damaged");
  }
  store().replace(gpu, kernel, {cube}, {tuned(cube, 3)});
  EXPECT_EQ(store().read(gpu, kernel).plans.size(), 1u) << "replaced";
}

TEST_F(TunedPlansTest, EntriesThatCannotBeAreLeftOut) {
  store().replace(gpu, kernel, {cube, flat}, {tuned(cube, 3), tuned(flat, 5)});
  const Json good = document();
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Json>>{{"type", "x"},
                                                 {"type", "dd"},
                                                 {"type", 3},
                                                 {"m", 0},
                                                 {"m", 81},
                                                 {"k", -3},
                                                 {"n", 2.5},
                                                 {"m", 1e300},
                                                 {"staged", 1},
                                                 {"parts", 0},
                                                 {"parts", 9},
                                                 {"parts", 1ll << 40},
                                                 {"warps_m", 0},
                                                 {"warps_n", 100},
                                                 {"stages", 1},
                                                 {"slice", 0},
                                                 {"slice", 24},
                                                 {"slice", 5},
                                                 {"products", 1},
                                                 {"products", "a"},
                                                 {"speedup", "a"},
                                                 {"blocks_per_multiprocessor", 0},
                                                 {"blocks_per_multiprocessor", 32},
                                                 {"blocks_per_multiprocessor", nullptr}}) {
    Json bad = good;
    bad["plans"][0][name] = value;
    write(bad.dump());
    expect_flaw("entry 1", 1);
    EXPECT_EQ(store().read(gpu, kernel).plans[0].shape, flat) << "the good one stays";
  }
  Json bad = good;
  bad["plans"][1].erase("slice");
  write(bad.dump());
  expect_flaw("entry 2", 1);
  for (const Json& other : {Json(3), Json::array({1, 2}), Json("text"), Json()}) {
    bad = good;
    bad["plans"][0] = other;
    write(bad.dump());
    expect_flaw("entry 1", 1);
  }
}

TEST_F(TunedPlansTest, WhatOthersCanWriteIsNotUsed) {
  store().replace(gpu, kernel, {cube}, {tuned(cube, 3)});
  ASSERT_EQ(::chmod(store().file(gpu).c_str(), 0666), 0);
  expect_flaw("can be written by others");
  store().replace(gpu, kernel, {cube}, {tuned(cube, 3)});
  EXPECT_EQ(store().read(gpu, kernel).plans.size(), 1u);
}

TEST_F(TunedPlansTest, WhereNothingCanBeKept) {
  const TunedPlanStore none;
  EXPECT_TRUE(none.read(gpu, kernel).plans.empty());
  EXPECT_TRUE(none.read_all(kernel).empty());
  EXPECT_THROW(none.replace(gpu, kernel, {cube}, {tuned(cube, 1)}), InputError);
  std::ofstream(directory_ / "file") << "in the way";
  const TunedPlanStore blocked(directory_ / "file/below", directory_);
  EXPECT_THROW(blocked.replace(gpu, kernel, {cube}, {tuned(cube, 1)}), InputError);
  EXPECT_TRUE(blocked.read(gpu, kernel).plans.empty());
}

TEST_F(TunedPlansTest, FilesThatAreNone) {
  EXPECT_TRUE(store().read_all(kernel).empty());
  store().replace(gpu, kernel, {cube}, {tuned(cube, 3)});
  std::ofstream(store().directory() / "other.json") << "{";
  std::ofstream(store().directory() / "notes.txt") << "text";
  const auto all = store().read_all(kernel);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].first, gpu);
  EXPECT_EQ(all[1].first, "other");
  EXPECT_NE(all[1].second.flaw.find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace tessera::test
