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

#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/error.hpp>
#include <tessera/runtime/output_directory.hpp>
#include <tessera/runtime/output_file.hpp>
#include <tessera/runtime/performance_models.hpp>

namespace tessera {
namespace {

namespace fs = std::filesystem;

const std::string codelet_folder = fmt::format("codelets/{}", model_file_version);

/// The value of a variable that is set and not empty.
std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  return text;
}

/// Where StarPU keeps models if nobody tells it otherwise; empty where there is no home.
fs::path default_directory() {
  for (const char* name : {"XDG_CACHE_HOME", "STARPU_HOME", "HOME"})
    if (const auto home = variable(name)) return fs::path(*home) / ".starpu/sampling";
  return {};
}

/// The models that the user has by the environment, or has measured on this host; empty: none.
fs::path models_of_user(const std::vector<std::string>& codelets) {
  for (const char* name : {"STARPU_PERF_MODEL_DIR", "STARPU_PERF_MODEL_PATH"})
    if (const auto place = variable(name)) return *place;
  const fs::path directory = default_directory();
  if (variable("STARPU_HOME") || variable("STARPU_MPI_HOSTNAMES")) return directory;
  if (std::getenv("TESSERA_PERFMODELS")) return {};
  const std::string host = starpu_host_name();
  std::error_code error;
  const bool measured = std::any_of(codelets.begin(), codelets.end(), [&](const std::string& codelet) {
    return fs::exists(directory / codelet_folder / (codelet + '.' + host), error);
  });
  return measured ? directory : fs::path();
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

/// StarPU takes a file of another version, or one that is no model, for a reason to abort.
bool is_model_file(const fs::path& file) {
  std::ifstream input(file);
  std::string line;
  int version = 0;
  while (std::getline(input, line) && line.starts_with('#')) {
  }
  std::istringstream(line) >> version;
  return version == model_file_version;
}

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error)) files.push_back(entry->path());
  return files;
}

/// Copies files to `to`, each as `prefix`name`suffix`. In an installation they may be read-only; StarPU opens
/// the copies to write.
void copy_files(const std::vector<fs::path>& files, const fs::path& to, const std::string& prefix,
                const std::string& suffix) {
  fs::create_directories(to);
  for (const fs::path& file : files) {
    const fs::path copy = to / (prefix + file.filename().string() + suffix);
    fs::copy_file(file, copy);
    fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add);
  }
}

/// Copies a set to `copy` under the name of this host.
void copy_set(const ModelSet& set, const fs::path& copy, std::vector<std::string>& warnings) {
  const std::string host = starpu_host_name();
  std::vector<fs::path> models = files_in(set.directory / codelet_folder);
  std::erase_if(models, [&](const fs::path& file) {
    if (is_model_file(file)) return false;
    warnings.push_back(fmt::format("{} is not a performance model: ignored", file.string()));
    return true;
  });
  copy_files(models, copy / codelet_folder, "", '.' + host);
  // The speed of transfers is that of the board as a whole. StarPU measures what is not there.
  const bool transfers = set.likeness == 2 && fs::exists(set.directory / "bus/config");
  copy_files(transfers ? files_in(set.directory / "bus") : std::vector<fs::path>{}, copy / "bus", host + '.',
             "");
}

/// The copy of the set in the cache, made if it is not there yet. It appears under its name in one step:
/// whoever comes second finds it complete. Its name changes with the set's description.
fs::path copy_in_cache(const ModelSet& set, std::vector<std::string>& warnings) {
  const std::string host = starpu_host_name();
  const fs::path copy =
      cache_directory() / "perfmodels" /
      fmt::format("{:016x}.{}", hash_of(contents(set.directory / "machine.json") + set.directory.string()),
                  host);
  // StarPU cuts paths off at 256 characters.
  constexpr std::size_t longest_path = 255, longest_codelet = 40;
  const std::size_t longest_file =
      copy.string().size() + codelet_folder.size() + longest_codelet + host.size() + 3;
  if (longest_file > longest_path) throw RuntimeError(copy.string() + " is too long for StarPU");
  if (fs::is_directory(copy)) {
    if (::access(copy.c_str(), W_OK) != 0) throw RuntimeError(copy.string() + " cannot be written");
    return copy;
  }
  const fs::path draft = copy.string() + fmt::format(".{}", ::getpid());
  fs::remove_all(draft);
  copy_set(set, draft, warnings);
  std::error_code taken;
  fs::rename(draft, copy, taken);
  if (!taken) return copy;
  fs::remove_all(draft);
  if (!fs::is_directory(copy)) throw fs::filesystem_error("cannot be written", copy, taken);
  return copy;
}

}  // namespace

std::string starpu_host_name() {
  if (const auto forced = variable("STARPU_HOSTNAME")) return forced->substr(0, 63);
  char name[65] = {};
  gethostname(name, sizeof name - 1);
  const std::string host(name);
  return host.substr(0, host.find('.'));
}

PerformanceModels find_performance_models(const ModelMachine& machine,
                                          const std::vector<std::string>& codelets) {
  PerformanceModels models;
  models.source = models_of_user(codelets);
  if (!models.source.empty()) {
    models.origin = ModelOrigin::user;
    return models;
  }
  try {
    const ModelSet set = best_set(machine, models.warnings);
    if (set.likeness == 0) return models;
    models.directory = copy_in_cache(set, models.warnings);
    models.source = set.directory;
    models.origin = ModelOrigin::shipped;
  } catch (const std::exception& problem) {
    models.warnings.push_back(fmt::format("performance models not used: {}", problem.what()));
    models.directory.clear();
  }
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

}  // namespace tessera
