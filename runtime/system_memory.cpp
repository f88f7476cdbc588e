// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include <tessera/runtime/system_memory.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

std::optional<std::size_t> number(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  std::size_t value = 0;
  const char* const first = text.data() + begin;
  if (std::from_chars(first, text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

/// The number that a file begins with; nothing for "max".
std::optional<std::size_t> number_in(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  return std::getline(stream, line) ? number(line) : std::nullopt;
}

/// The number behind a word that begins a line; nothing if there is no such line.
std::optional<std::size_t> number_behind(const fs::path& file, std::string_view word) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(word)) return number(std::string_view(line).substr(word.size()));
  return std::nullopt;
}

/// How a version of control groups calls its files.
struct GroupFiles {
  std::initializer_list<const char*> limits;
  const char* usage;
  std::initializer_list<const char*> caches;  ///< lines of memory.stat
};
const GroupFiles version_1{
    {"memory.limit_in_bytes"}, "memory.usage_in_bytes", {"total_inactive_file ", "total_active_file "}};
const GroupFiles version_2{
    {"memory.max", "memory.high"}, "memory.current", {"inactive_file ", "active_file "}};

void apply_group(const fs::path& folder, const GroupFiles& files, SystemMemory& memory) {
  std::size_t limit = SystemMemory::unlimited;
  for (const char* name : files.limits) limit = std::min(limit, number_in(folder / name).value_or(limit));
  if (limit == SystemMemory::unlimited) return;  // version 1 has a number beyond all memory instead
  std::size_t caches = 0;
  for (const char* line : files.caches) caches += number_behind(folder / "memory.stat", line).value_or(0);
  const std::size_t usage = number_in(folder / files.usage).value_or(0),
                    used = usage - std::min(usage, caches);
  memory.most = std::min(memory.most, limit);
  memory.available = std::min(memory.available, limit - std::min(limit, used));
}

/// The group at `path` below `mount` and all around it. A container may see the path of the host and the
/// files of its own group alone: missing folders are skipped.
void apply_groups(const fs::path& mount, const std::string& path, const GroupFiles& files,
                  SystemMemory& memory) {
  fs::path group = fs::path(path).lexically_normal().relative_path();
  if (!group.empty() && *group.begin() == "..") group.clear();
  for (;; group = group.parent_path()) {
    apply_group(mount / group, files, memory);
    if (group.empty()) return;
  }
}

/// A line of /proc/self/cgroup is number:controllers:path, "0::path" for version 2.
void apply_control_groups(const SystemFiles& files, SystemMemory& memory) {
  std::ifstream stream(files.proc / "self" / "cgroup");
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',',
                      path = line.substr(second + 1);
    if (controllers == ",,") {
      apply_groups(files.cgroups, path, version_2, memory);
      apply_groups(files.cgroups / "unified", path, version_2, memory);
    } else if (controllers.find(",memory,") != std::string::npos) {
      apply_groups(files.cgroups / "memory", path, version_1, memory);
    }
  }
}

void apply_address_space(const SystemFiles& files, SystemMemory& memory) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const auto page = static_cast<std::size_t>(std::max(sysconf(_SC_PAGE_SIZE), 0L));
  const std::size_t used = number_in(files.proc / "self" / "statm").value_or(0) * page;
  memory.own_most = limit.rlim_cur;
  memory.own_available = memory.own_most - std::min(memory.own_most, used);
}

}  // namespace

SystemMemory system_memory(const SystemFiles& files) {
  SystemMemory memory;
  if (const std::size_t physical = physical_memory(); physical > 0) memory.most = physical;
  if (const auto kibibytes = number_behind(files.proc / "meminfo", "MemAvailable:"))
    memory.available = *kibibytes * 1024;
  else
    memory.available = memory.most;
  apply_control_groups(files, memory);
  apply_address_space(files, memory);
  return memory;
}

std::size_t physical_memory() noexcept {
  return static_cast<std::size_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L)) *
         static_cast<std::size_t>(std::max(sysconf(_SC_PAGE_SIZE), 0L));
}

}  // namespace tessera::detail
