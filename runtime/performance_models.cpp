// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/output_directory.hpp>
#include <tessera/runtime/output_file.hpp>
#include <tessera/runtime/performance_models.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

const std::string codelet_folder = fmt::format("codelets/{}", model_file_version);

/// The value of a variable that is set and not empty.
std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  return text;
}

/// Where StarPU keeps models by default; empty without a home directory.
fs::path default_directory() {
  for (const char* name : {"XDG_CACHE_HOME", "STARPU_HOME", "HOME"})
    if (const auto home = variable(name); home && fs::path(*home).is_absolute())
      return fs::path(*home) / ".starpu/sampling";
  return {};
}

/// Where the measurements of this user are kept: the directory that the environment names, else the one where
/// StarPU has kept them before, else the library's cache; empty: none.
fs::path directory_of_user() {
  std::error_code error;
  if (const auto named = variable("STARPU_PERF_MODEL_DIR")) return fs::absolute(*named);
  const fs::path usual = default_directory();
  if (!usual.empty() && (variable("STARPU_HOME") || fs::is_directory(usual, error))) return usual;
  try {
    return cache_directory() / "starpu";
  } catch (const RuntimeError&) {
    return {};
  }
}

/// Directories that StarPU would look into after its own.
std::vector<fs::path> further_directories(const fs::path& store) {
  std::vector<fs::path> directories;
  if (const auto list = variable("STARPU_PERF_MODEL_PATH"))
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = list->find_first_of(":,", begin);
      if (const std::string one = list->substr(begin, end - begin); !one.empty())
        directories.push_back(fs::absolute(one));
    }
  if (const fs::path usual = default_directory(); !usual.empty() && usual != store)
    directories.insert(directories.begin(), usual);
  return directories;
}

/// The models that the user has by the environment, or has measured on this host; empty: none.
fs::path models_of_user(const std::vector<std::string>& codelets, const fs::path& store) {
  for (const char* name : {"STARPU_PERF_MODEL_DIR", "STARPU_PERF_MODEL_PATH"})
    if (const auto place = variable(name)) return *place;
  const fs::path usual = default_directory();
  if (variable("STARPU_HOME") || variable("STARPU_MPI_HOSTNAMES")) return usual;
  if (std::getenv("TESSERA_PERFMODELS")) return {};
  const std::string host = starpu_host_name();
  for (const fs::path& directory : {usual, store}) {
    std::error_code error;
    if (std::any_of(codelets.begin(), codelets.end(), [&](const std::string& codelet) {
          return fs::exists(directory / codelet_folder / (codelet + '.' + host), error);
        }))
      return directory;
  }
  return {};
}

/// The installation's share/tessera/perfmodels, found from where this library lies, so that it can be moved.
fs::path installed_sets() {
  Dl_info library;
  if (!dladdr(reinterpret_cast<const void*>(&starpu_host_name), &library) || !library.dli_fname) return {};
  std::error_code error;
  const fs::path file = fs::canonical(library.dli_fname, error);
  return error ? fs::path() : (file.parent_path() / TESSERA_PERFMODELS_FROM_LIBRARY).lexically_normal();
}

std::vector<fs::path> places_of_sets() {
  if (const char* named = std::getenv("TESSERA_PERFMODELS"))
    return *named ? std::vector<fs::path>{fs::absolute(named)} : std::vector<fs::path>{};
  std::error_code error;
  const fs::path installed = installed_sets();
  if (fs::is_directory(installed, error)) return {installed};
  return {TESSERA_PERFMODELS_IN_SOURCE};
}

/// `place` itself and the directories in it, if they have a machine.json; in order of their names.
std::vector<fs::path> sets_in(const fs::path& place) {
  std::error_code error;
  std::vector<fs::path> sets;
  const auto add = [&](const fs::path& directory) {
    if (fs::exists(directory / "machine.json", error)) sets.push_back(directory);
  };
  add(place);
  for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error))
    add(entry->path());
  std::sort(sets.begin(), sets.end());
  return sets;
}

/// 0: of another machine; 1: of this GPU; 2: of this GPU and this processor, or of this processor, both
/// without a GPU.
int likeness(const ModelMachine& a, const ModelMachine& b) {
  if (a.gpu != b.gpu || (a.gpu.empty() && a.cpu.empty())) return 0;
  if (a.cpu == b.cpu) return 2;
  return a.gpu.empty() ? 0 : 1;
}

struct ModelSet {
  fs::path directory;
  int likeness = 0;
};

/// The first of the sets that are most alike.
ModelSet best_set(const ModelMachine& machine, std::vector<std::string>& warnings) {
  ModelSet best;
  for (const fs::path& place : places_of_sets()) {
    std::error_code error;
    if (!fs::is_directory(place, error) && std::getenv("TESSERA_PERFMODELS"))
      warnings.push_back(fmt::format("TESSERA_PERFMODELS: {} is not a directory", place.string()));
    for (const fs::path& directory : sets_in(place)) {
      try {
        const ModelSetDescription set = read_model_set_description(directory / "machine.json");
        if (set.model_version != model_file_version) continue;
        const int score = likeness(set.machine, machine);
        if (score > best.likeness) best = {directory, score};
      } catch (const Error& problem) {
        warnings.push_back(fmt::format("performance models ignored: {}", problem.what()));
      }
    }
  }
  return best;
}

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error)) files.push_back(entry->path());
  return files;
}

/// The directory for measurements that StarPU makes in addition to a set. Its name changes with the
/// description of the set.
fs::path directory_beside(const fs::path& set) {
  try {
    const std::uint64_t hash = hash_of(contents(set / "machine.json") + set.string());
    return cache_directory() / "perfmodels" / fmt::format("{:016x}.{}", hash, starpu_host_name());
  } catch (const RuntimeError&) {
    return {};
  }
}

}  // namespace

PerformanceModels find_performance_models(const ModelMachine& machine,
                                          const std::vector<std::string>& codelets) {
  PerformanceModels models;
  models.store = directory_of_user();
  models.others = further_directories(models.store);
  models.source = models_of_user(codelets, models.store);
  if (!models.source.empty()) {
    models.origin = ModelOrigin::user;
    return models;
  }
  const ModelSet set = best_set(machine, models.warnings);
  if (set.likeness == 0) return models;
  models.origin = ModelOrigin::shipped;
  models.source = models.set = set.directory;
  // The speed of transfers is that of the board as a whole. StarPU measures what is missing.
  models.set_has_transfers = set.likeness == 2;
  if (!models.store.empty()) models.others.insert(models.others.begin(), models.store);
  models.store = directory_beside(set.directory);
  return models;
}

ModelSetDescription read_model_set_description(const fs::path& file) {
  std::ifstream input(file);
  if (!input) throw InputError(file.string(), 0, "there is no such file");
  try {
    const auto json = nlohmann::json::parse(input);
    return {{json.at("gpu").get<std::string>(), json.at("cpu").get<std::string>()},
            json.at("starpu").get<std::string>(),
            json.at("model_version").get<int>(),
            json.at("date").get<std::string>(),
            json.at("command").get<std::string>()};
  } catch (const std::exception&) {
    throw InputError(file.string(), 0, "is not a description that `tessera calibrate` has written");
  }
}

int collect_performance_models(const fs::path& directory, const std::string& host, const fs::path& set,
                               const ModelSetDescription& description) {
  return write_directory(set, {"machine.json", "codelets", "bus"}, [&](const fs::path& draft) {
    int codelets = 0;
    fs::create_directories(draft / codelet_folder);
    fs::create_directories(draft / "bus");
    for (const fs::path& file : files_in(directory / codelet_folder)) {
      const std::string name = file.filename().string();
      if (!name.ends_with('.' + host)) continue;
      fs::copy_file(file, draft / codelet_folder / name.substr(0, name.size() - host.size() - 1));
      ++codelets;
    }
    for (const fs::path& file : files_in(directory / "bus")) {
      const std::string name = file.filename().string();
      if (name.starts_with(host + '.')) fs::copy_file(file, draft / "bus" / name.substr(host.size() + 1));
    }
    nlohmann::ordered_json json;
    json["gpu"] = description.machine.gpu;
    json["cpu"] = description.machine.cpu;
    json["starpu"] = description.starpu_version;
    json["model_version"] = description.model_version;
    json["date"] = description.date;
    json["command"] = description.command;
    write_file((draft / "machine.json").string(), json.dump(2) + '\n');
    return codelets;
  });
}

std::string model_set_name(const ModelMachine& machine) {
  const auto plain = [](const std::string& text) {
    std::string name;
    for (const char c : text) {
      if (std::isalnum(static_cast<unsigned char>(c)))
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      else if (!name.empty() && name.back() != '-')
        name += '-';
    }
    while (name.ends_with('-')) name.pop_back();
    return name;
  };
  const std::string gpu = plain(machine.gpu), cpu = plain(machine.cpu);
  if (gpu.empty()) return cpu.empty() ? "unknown" : cpu;
  return cpu.empty() ? gpu : gpu + '_' + cpu;
}

}  // namespace tessera::detail
