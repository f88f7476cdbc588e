// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <set>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/temporary_files.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

struct Registry {
  std::mutex mutex;
  std::set<std::string> paths;
};

/// Never destroyed: objects that outlive main still remove what they made.
Registry& registry() {
  static Registry* const all = new Registry;
  return *all;
}

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

/// The same for all processes of a host, so that locks show which processes live.
std::string name_prefix() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return fmt::format(".tessera-{:08x}-", static_cast<std::uint32_t>(hash_of(host)));
}

std::string new_path(const std::string& folder) {
  std::random_device random;
  return fmt::format("{}/{}{:08x}{:08x}", folder, name_prefix(), random(), random());
}

/// Still under its name? Another process may have taken it for one that was left, before it was locked.
bool is_in_place(const std::string& path, int descriptor) {
  struct stat named {
  }, open{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/// Removes one that a killed process has left.
void remove_if_left(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid()) return;
  const bool directory = S_ISDIR(status.st_mode);
  if (!directory && !S_ISREG(status.st_mode)) return;
  const int descriptor = ::open(
      path.c_str(), O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (directory ? O_RDONLY | O_DIRECTORY : O_RDWR));
  if (descriptor < 0) return;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_in_place(path, descriptor)) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  ::close(descriptor);
}

void remove_left(const std::string& folder) {
  DIR* const entries = ::opendir(folder.c_str());
  if (!entries) return;
  const std::string prefix = name_prefix();
  // To read a folder with more entries at every write would take too long.
  constexpr int most = 10000;
  const dirent* entry = nullptr;
  for (int seen = 0; seen < most && (entry = ::readdir(entries)); ++seen)
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) == 0)
      remove_if_left(folder + '/' + entry->d_name);
  ::closedir(entries);
}

}  // namespace

TemporaryEntry::TemporaryEntry(TemporaryEntry&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      owner_(other.owner_) {}

TemporaryEntry& TemporaryEntry::operator=(TemporaryEntry&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(owner_, other.owner_);
  return *this;
}

TemporaryEntry::~TemporaryEntry() {
  if (!path_.empty() && owner_ == ::getpid()) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    const auto lock = lock_temporaries();
    registry().paths.erase(path_);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TemporaryEntry::forget_locked() noexcept {
  registry().paths.erase(path_);
  path_.clear();
}

TemporaryEntry TemporaryEntry::file(const std::string& folder, mode_t mode) {
  remove_left(folder);
  for (;;) {
    TemporaryEntry entry;
    const auto lock = lock_temporaries();
    const std::string path = new_path(folder);
    entry.descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (entry.descriptor_ < 0) {
      if (errno == EEXIST) continue;
      fail(path);
    }
    ::flock(entry.descriptor_, LOCK_EX);
    if (!is_in_place(path, entry.descriptor_)) continue;
    entry.path_ = path;
    entry.owner_ = ::getpid();
    registry().paths.insert(path);
    return entry;
  }
}

TemporaryEntry TemporaryEntry::directory(const std::string& folder) {
  remove_left(folder);
  for (;;) {
    TemporaryEntry entry;
    const auto lock = lock_temporaries();
    const std::string path = new_path(folder);
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      fail(path);
    }
    entry.descriptor_ = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (entry.descriptor_ >= 0) ::flock(entry.descriptor_, LOCK_EX);
    if (entry.descriptor_ >= 0 && !is_in_place(path, entry.descriptor_)) continue;
    entry.path_ = path;
    entry.owner_ = ::getpid();
    registry().paths.insert(path);
    return entry;
  }
}

TemporaryEntry TemporaryEntry::link_to(const std::string& path) {
  TemporaryEntry entry;
  // The lock comes before the name that others could take for one that was left.
  entry.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (entry.descriptor_ >= 0) ::flock(entry.descriptor_, LOCK_SH | LOCK_NB);
  const std::string link = new_path(fs::path(path).parent_path().string());
  registry().paths.insert(link);
  if (::link(path.c_str(), link.c_str()) != 0) {
    const int error = errno;
    registry().paths.erase(link);
    errno = error;
    fail(link);
  }
  entry.path_ = link;
  entry.owner_ = ::getpid();
  return entry;
}

TemporaryDirectory::TemporaryDirectory(const fs::path& folder) {
  std::error_code error;
  const fs::path parent = folder.empty() ? fs::temp_directory_path(error) : folder;
  if (error) {
    const char* const named = std::getenv("TMPDIR");
    throw InputError(named ? named : "/tmp", 0,
                     fmt::format("is not a directory for temporary files: {}", error.message()));
  }
  try {
    entry_ = TemporaryEntry::directory(fs::absolute(parent).string());
  } catch (const std::system_error& failure) {
    throw InputError(parent.string(), 0,
                     fmt::format("no directory can be made in it: {}", failure.code().message()));
  }
  path_ = entry_.path();
}

std::unique_lock<std::mutex> lock_temporaries() {
  return std::unique_lock(registry().mutex);
}

void abandon_temporaries() noexcept {
  static std::atomic<bool> done = false;
  if (done.exchange(true)) return;
  registry().mutex.lock();  // for ever
  for (const std::string& path : registry().paths) {
    std::error_code error;
    // Others may still write into a directory that is being removed.
    for (int attempt = 0; attempt < 5; ++attempt) {
      fs::remove_all(path, error);
      if (!error) break;
    }
  }
}

}  // namespace tessera::detail
