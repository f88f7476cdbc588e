// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/kept_files.hpp>
#include <tessera/runtime/model_store.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

const fs::path codelet_folder = fmt::format("codelets/{}", model_file_version);
const fs::path bus_folder = "bus";

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    files.push_back(entry->path());
  return files;
}

/// A directory that can be written or made.
bool can_be_written(fs::path directory) {
  std::error_code error;
  while (!directory.empty() && !fs::exists(directory, error) && directory != directory.parent_path())
    directory = directory.parent_path();
  return fs::is_directory(directory, error) && ::access(directory.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

ModelStore::ModelStore(PerformanceModels models, std::string host, fs::path work, LogSink log)
    : models_(std::move(models)), host_(std::move(host)), work_(std::move(work)), log_(std::move(log)) {
  // StarPU ends the program where it cannot make them.
  for (const fs::path& folder : {codelet_folder, bus_folder}) fs::create_directories(work_ / folder);
}

void ModelStore::say(LogLevel level, const std::string& message) const {
  if (log_) log_(level, message);
}

void ModelStore::put(const fs::path& name, const std::string& bytes) {
  std::ofstream output(work_ / name, std::ios::binary);
  output.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  output.close();
  // A part of a file would make StarPU end the program, so the part is removed.
  std::error_code ignored;
  if (!output) fs::remove(work_ / name, ignored);
  written_[name] = fs::last_write_time(work_ / name, ignored);
}

void ModelStore::set_aside(const fs::path& file, const std::string& flaw, bool may_move) {
  std::error_code error;
  if (may_move) fs::rename(file, file.string() + ".damaged", error);
  say(std::exchange(warned_, true) ? LogLevel::info : LogLevel::warning,
      fmt::format("{} {}: {}", file.string(), flaw,
                  may_move && !error ? "set aside as *.damaged, to be measured anew" : "ignored"));
}

bool ModelStore::fetch_codelet_from(const fs::path& file, const fs::path& name, bool may_move) {
  const FileContent content = read_whole_file(file, largest_model_file);
  if (content.absent) return false;
  const std::string flaw = content.flaw.empty() ? flaw_of_codelet_file(content.bytes) : content.flaw;
  if (!flaw.empty()) return set_aside(file, flaw, may_move), false;
  put(name, content.bytes);
  known_[name] = hash_of_lines(content.bytes);
  return true;
}

void ModelStore::fetch_codelet(const std::string& codelet) {
  const fs::path name = codelet_folder / (codelet + '.' + host_);
  fetched_.insert(name);
  if (!models_.store.empty() && fetch_codelet_from(models_.store / name, name, true)) return;
  if (!models_.set.empty() && fetch_codelet_from(models_.set / codelet_folder / codelet, name, false)) return;
  for (const fs::path& directory : models_.others)
    if (fetch_codelet_from(directory / name, name, true)) return;
}

fs::path ModelStore::bus_file(const std::string& what) const {
  return bus_folder / (host_ + '.' + what);
}

/// The files of one place belong together: they are taken from the first that knows the machine.
bool ModelStore::fetch_buses_from(const fs::path& folder, const std::string& prefix, bool may_move,
                                  const std::optional<BusMachine>& machine) {
  std::optional<BusNodes> nodes;
  BusFiles files;
  for (const std::string what : bus_files) {
    const fs::path file = folder / (prefix + what);
    const FileContent content = read_whole_file(file, largest_model_file);
    if (!content.absent) {
      const std::string flaw =
          content.flaw.empty() ? flaw_of_bus_file(what, content.bytes, nodes) : content.flaw;
      flaw.empty() ? (void)(files[what] = content.bytes) : set_aside(file, flaw, may_move);
    }
    if (!nodes || (machine && !fits(*nodes, *machine))) return false;
  }
  if (machine && files.size() < bus_files.size()) return false;
  // StarPU would measure anew for another number of CPUs, too, on which nothing depends.
  if (machine) files["config"] = bus_config(*machine);
  put_buses(files);
  for (const auto& [what, bytes] : files) known_[bus_file(what)] = hash_of_lines(bytes);
  return true;
}

void ModelStore::put_buses(const BusFiles& files) {
  for (const auto& [what, bytes] : files) put(bus_file(what), bytes);
}

bool ModelStore::has_buses() const {
  std::error_code error;
  return fs::exists(work_ / bus_file("config"), error);
}

std::string ModelStore::read_measured_buses(const BusMachine& machine, BusFiles& files) const {
  std::optional<BusNodes> nodes;
  std::string flaw;
  for (const std::string what : bus_files) {
    const FileContent content = read_whole_file(work_ / bus_file(what), largest_model_file);
    if (flaw.empty() && content.absent) flaw = fmt::format("it has left no file {}", what);
    if (flaw.empty())
      flaw = content.flaw.empty() ? flaw_of_bus_file(what, content.bytes, nodes) : content.flaw;
    if (flaw.empty() && !fits(*nodes, machine))
      flaw = fmt::format("it has found {} NUMA nodes and {} GPUs, where this process finds {} and {}",
                         nodes->numa, nodes->gpus, machine.numa, machine.gpus);
    files[what] = content.bytes;
  }
  std::error_code error;
  for (const std::string what : bus_files)
    if (!flaw.empty()) fs::remove(work_ / bus_file(what), error);
  return flaw;
}

bool ModelStore::fetch_buses(const std::optional<BusMachine>& machine) {
  const std::string prefix = host_ + '.';
  bool found = !models_.store.empty() && fetch_buses_from(models_.store / bus_folder, prefix, true, machine);
  if (!found && models_.set_has_transfers)
    found = fetch_buses_from(models_.set / bus_folder, "", false, machine);
  for (const fs::path& directory : models_.others)
    if (!found) found = fetch_buses_from(directory / bus_folder, prefix, true, machine);
  if (models_.store.empty() || !can_be_written(models_.store)) {
    say(LogLevel::info,
        models_.store.empty()
            ? std::string("what StarPU measures is not kept: there is no place for it")
            : fmt::format("what StarPU measures is not kept: {} cannot be written", models_.store.string()));
    told_ = true;
  }
  return found;
}

std::string ModelStore::flaw_of(const fs::path& name, const std::string& bytes) const {
  std::optional<BusNodes> any;
  if (name.parent_path() == codelet_folder) return flaw_of_codelet_file(bytes);
  return flaw_of_bus_file(name.filename().string().substr(host_.size() + 1), bytes, any);
}

void ModelStore::keep() noexcept {
  if (models_.store.empty()) return;
  try {
    std::vector<NewFile> changed;
    for (const fs::path& folder : {codelet_folder, bus_folder})
      for (const fs::path& file : files_in(work_ / folder)) {
        const fs::path name = folder / file.filename();
        std::error_code error;
        if (const auto found = written_.find(name); folder == bus_folder && found != written_.end() &&
                                                    found->second == fs::last_write_time(file, error))
          continue;
        const std::string plain = file.filename().string();
        // StarPU writes these descriptions for simulations at each start: one of them is enough.
        if (plain.find(".platform.") != std::string::npos && fs::exists(models_.store / name, error))
          continue;
        const bool of_this_host =
            folder == bus_folder ? plain.starts_with(host_ + '.') : plain.ends_with('.' + host_);
        const FileContent content = read_whole_file(file, largest_model_file);
        if (!of_this_host || !content.flaw.empty() || content.bytes.empty()) continue;
        if (folder == codelet_folder && !fetched_.contains(name)) continue;
        const std::size_t hash = hash_of_lines(content.bytes);
        if (const auto found = known_.find(name); found != known_.end() && found->second == hash) continue;
        known_[name] = hash;
        if (const std::string flaw = flaw_of(name, content.bytes); flaw.empty())
          changed.push_back({models_.store / name, content.bytes});
        else
          say(LogLevel::info, fmt::format("a performance model of StarPU is not kept: {} {}", plain, flaw));
      }
    const std::string failure = replace_files(changed);
    if (!failure.empty() && !std::exchange(told_, true))
      say(LogLevel::info, fmt::format("what StarPU has measured is not kept: {}", failure));
  } catch (const std::exception& failure) {
    // The next run measures again.
    if (!std::exchange(told_, true)) say(LogLevel::info, failure.what());
  }
}

}  // namespace tessera::detail
