// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/output_directory.hpp>
#include <tessera/runtime/temporary_files.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw InputError(path.string(), 0, fmt::format("cannot be written: {}", reason));
}

/// Where it is or will be, without links and without a slash at the end.
fs::path place_of(const fs::path& directory) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(fs::absolute(directory), error);
  if (error) fail(directory, error.message());
  return place.has_filename() ? place : place.parent_path();
}

/// The nearest folder above it that exists.
fs::path folder_there(const fs::path& place) {
  fs::path folder = place.parent_path();
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

/// All that was written below a directory, on the disk.
void sync_file_system(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail(directory, std::strerror(errno));
  const int error = ::syncfs(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0) fail(directory, std::strerror(error));
}

/// One step where the file system can exchange two names.
void swap_in(const fs::path& draft, const fs::path& place, bool replaces) {
  const auto lock = lock_temporaries();
  if (!replaces) {
    if (::rename(draft.c_str(), place.c_str()) != 0) fail(place, std::strerror(errno));
    return;
  }
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) fail(place, std::strerror(errno));
  const fs::path old = draft.parent_path() / "old";
  if (::rename(place.c_str(), old.c_str()) != 0) fail(place, std::strerror(errno));
  if (::rename(draft.c_str(), place.c_str()) != 0) {
    const int error = errno;
    if (::rename(old.c_str(), place.c_str()) != 0) fail(place, "the old one is lost");
    fail(place, std::strerror(error));
  }
  if (::rename(old.c_str(), draft.c_str()) != 0) errno = 0;
}

/// Keeps the other entries of the old directory in the new one: links to the same files.
void keep_others(const fs::path& old, const fs::path& draft, const std::vector<std::string>& parts) {
  for (const fs::directory_entry& entry : fs::directory_iterator(old)) {
    const fs::path name = entry.path().filename();
    if (std::find(parts.begin(), parts.end(), name.string()) == parts.end())
      fs::copy(entry.path(), draft / name,
               fs::copy_options::recursive | fs::copy_options::copy_symlinks |
                   fs::copy_options::create_hard_links);
  }
}

}  // namespace

std::string refusal_to_write_directory(const fs::path& directory) {
  try {
    std::error_code error;
    const fs::path place = place_of(directory);
    if (fs::exists(place, error) && !fs::is_directory(place)) return std::strerror(ENOTDIR);
    const fs::path folder = folder_there(place);
    const TemporaryDirectory attempt(folder);
    struct stat here {
    }, above{};
    if (!fs::is_directory(place, error)) return {};
    if (::access(place.c_str(), W_OK | X_OK) != 0) return std::strerror(errno);
    if (::stat(place.c_str(), &here) == 0 && ::stat(folder.c_str(), &above) == 0 &&
        here.st_dev != above.st_dev)
      return "it is a file system of its own, which cannot be replaced; name a directory in it";
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

int write_directory(const fs::path& directory, const std::vector<std::string>& parts,
                    const std::function<int(const fs::path& draft)>& fill) {
  try {
    const fs::path place = place_of(directory);
    fs::create_directories(place.parent_path());
    const TemporaryDirectory beside(place.parent_path());
    const fs::path draft = beside.path() / "new";
    fs::create_directory(draft);  // with the rights that the umask gives
    const int result = fill(draft);
    struct stat old {};
    const bool replaces = ::stat(place.c_str(), &old) == 0;
    if (replaces && ::chmod(draft.c_str(), old.st_mode & 07777) != 0) fail(place, std::strerror(errno));
    if (replaces) keep_others(place, draft, parts);
    sync_file_system(draft);
    swap_in(draft, place, replaces);
    return result;
  } catch (const fs::filesystem_error& error) {
    fail(directory, error.code().message());
  }
}

}  // namespace tessera::detail
