// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tessera/codelets/block_sparse/product/kernels/tuned_plans.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/kept_files.hpp>

namespace tessera::detail::device {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t largest_plan_file = std::size_t(16) << 20;
constexpr const char *gpu_key = "gpu", *kernel_key = "kernel", *plans_key = "plans";

OrderedJson to_json(const TunedPlan& tuned) {
  const StackPlan& plan = tuned.plan;
  return {{"type", std::string(1, tuned.shape.type)},
          {"m", tuned.shape.m},
          {"n", tuned.shape.n},
          {"k", tuned.shape.k},
          {"staged", plan.staged},
          {"parts", plan.parts},
          {"warps_m", plan.warps_m},
          {"warps_n", plan.warps_n},
          {"stages", plan.stages},
          {"slice", plan.slice},
          {"products", plan.products},
          {"blocks_per_multiprocessor", plan.blocks_per_multiprocessor},
          {"speedup", tuned.speedup}};
}

/// Small numbers are all that an entry has; the library behind the JSON would make one of anything.
int number_in(const OrderedJson& json, const char* name) {
  const OrderedJson& value = json.at(name);
  if (!value.is_number_integer() || value < 0 || value > 1000) throw Error(name);
  return value.get<int>();
}

/// @throws an exception if it is none, or not valid
TunedPlan tuned_plan_in(const OrderedJson& json) {
  TunedPlan tuned;
  const std::string type = json.at("type").get<std::string>();
  if (type != "s" && type != "d" && type != "c" && type != "z") throw Error("type");
  tuned.shape = {type.front(), number_in(json, "m"), number_in(json, "n"), number_in(json, "k")};
  for (const int size : {tuned.shape.m, tuned.shape.n, tuned.shape.k})
    if (size < 1 || size > largest_own_size) throw Error("size");
  StackPlan plan{};
  plan.staged = json.at("staged").get<bool>();
  plan.parts = number_in(json, "parts");
  plan.warps_m = number_in(json, "warps_m"), plan.warps_n = number_in(json, "warps_n");
  plan.stages = number_in(json, "stages"), plan.slice = number_in(json, "slice");
  plan.products = number_in(json, "products");
  plan.blocks_per_multiprocessor = number_in(json, "blocks_per_multiprocessor");
  tuned.plan = plan_with(plan, tuned.shape).value();
  tuned.speedup = json.at("speedup").get<double>();
  if (!std::isfinite(tuned.speedup)) throw Error("speedup");
  return tuned;
}

std::string flaw_of(const fs::path& file, const std::string& what) {
  return fmt::format("{} {}: not used", file.string(), what);
}

/// The entries of a document; what is wrong with the first bad one goes to `flaw`.
std::vector<TunedPlan> plans_in(const OrderedJson& document, std::string& flaw) {
  std::vector<TunedPlan> plans;
  for (std::size_t i = 0; const OrderedJson& entry : document.at(plans_key)) {
    ++i;
    try {
      plans.push_back(tuned_plan_in(entry));
    } catch (const std::exception& error) {
      if (flaw.empty()) flaw = fmt::format("has parameters that cannot be (entry {})", i);
    }
  }
  return plans;
}

}  // namespace

TunedPlanStore::TunedPlanStore(fs::path directory, fs::path root)
    : directory_(std::move(directory)), root_(root.empty() ? directory_ : std::move(root)) {}

TunedPlanStore TunedPlanStore::of_user() {
  try {
    const fs::path root = cache_directory();
    return TunedPlanStore(root / "stack_plans", root);
  } catch (const RuntimeError&) {
    return TunedPlanStore();
  }
}

fs::path TunedPlanStore::file(const std::string& gpu) const {
  std::string name = gpu;
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return directory_ / fmt::format("{}_{:016x}.json", name, hash_of(gpu));
}

TunedPlans TunedPlanStore::read(const std::string& gpu, const std::string& kernel) const {
  TunedPlans found;
  if (directory_.empty()) return found;
  const fs::path path = file(gpu);
  const FileContent content = read_own_file(path, root_, largest_plan_file);
  if (content.absent) return found;
  std::string flaw = content.flaw;
  try {
    if (flaw.empty()) {
      const OrderedJson document = OrderedJson::parse(content.bytes);
      if (document.at(gpu_key) != gpu)
        flaw = "is for another GPU";
      else if (document.at(kernel_key) != kernel)
        flaw = "is of another version of the kernel (tessera tune --stack makes a new one)";
      else
        found.plans = plans_in(document, flaw);
    }
  } catch (const std::exception&) {
    flaw = "is no file of tuned parameters, or damaged";
  }
  if (!flaw.empty()) found.flaw = flaw_of(path, flaw);
  return found;
}

std::vector<std::pair<std::string, TunedPlans>> TunedPlanStore::read_all(const std::string& kernel) const {
  std::vector<std::pair<std::string, TunedPlans>> all;
  std::error_code error;
  if (directory_.empty()) return all;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, error)) {
    if (entry.path().extension() != ".json") continue;
    std::string gpu = entry.path().stem().string();
    if (const FileContent content = read_own_file(entry.path(), root_, largest_plan_file);
        content.flaw.empty())
      if (const OrderedJson document = OrderedJson::parse(content.bytes, nullptr, false);
          document.is_object() && document.contains(gpu_key) && document[gpu_key].is_string())
        gpu = document[gpu_key].get<std::string>();
    TunedPlans plans =
        file(gpu) == entry.path()
            ? read(gpu, kernel)
            : TunedPlans{{}, flaw_of(entry.path(), "is no file of tuned parameters, or damaged")};
    all.emplace_back(std::move(gpu), std::move(plans));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

void TunedPlanStore::replace(const std::string& gpu, const std::string& kernel,
                             const std::vector<StackShape>& shapes,
                             const std::vector<TunedPlan>& plans) const {
  if (directory_.empty())
    throw InputError("the cache directory", 0,
                     "is nowhere: neither XDG_CACHE_HOME nor HOME names a directory");
  std::vector<TunedPlan> all = read(gpu, kernel).plans;
  std::erase_if(all, [&](const TunedPlan& tuned) {
    return std::find(shapes.begin(), shapes.end(), tuned.shape) != shapes.end();
  });
  all.insert(all.end(), plans.begin(), plans.end());
  std::sort(all.begin(), all.end(), [](const TunedPlan& a, const TunedPlan& b) { return a.shape < b.shape; });
  OrderedJson document{{gpu_key, gpu}, {kernel_key, kernel}, {plans_key, OrderedJson::array()}};
  for (const TunedPlan& tuned : all) document[plans_key].push_back(to_json(tuned));
  const fs::path path = file(gpu);
  if (const std::string failure = replace_files({{path, document.dump(2) + '\n'}}); !failure.empty())
    throw InputError(path.string(), 0, failure);
}

std::string describe_shape(const StackShape& shape) {
  return fmt::format("{} x {} x {} of type {}", shape.m, shape.n, shape.k, shape.type);
}

}  // namespace tessera::detail::device
