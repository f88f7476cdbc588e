// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <tessera/runtime/error.hpp>
#include <tessera/runtime/kept_files.hpp>

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }
  /// Closes now. @return false: what was written may not be there
  bool close() noexcept { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool written_by_others(const struct stat& status) {
  return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

std::string read_all(int descriptor, std::size_t most, bool own, std::string& bytes) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (own && status.st_uid != ::geteuid()) return "belongs to another user";
  if (own && written_by_others(status)) return "can be written by others";
  if (static_cast<std::size_t>(status.st_size) > most) return "is too large";
  bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t read = 0;
  while (read < bytes.size()) {
    const ssize_t count = ::read(descriptor, bytes.data() + read, bytes.size() - read);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::strerror(errno);
    if (count == 0) break;
    read += static_cast<std::size_t>(count);
  }
  bytes.resize(read);
  return {};
}

FileContent content_of(const fs::path& file, bool own, std::size_t most) {
  FileContent content;
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (own ? O_NOFOLLOW : 0);
  const Descriptor input(::open(file.c_str(), flags));
  if (input.number() < 0) {
    content.absent = errno == ENOENT || errno == ENOTDIR || (errno == EACCES && !own);
    content.flaw = errno == ELOOP && own ? "is a link" : std::strerror(errno);
    return content;
  }
  content.flaw = read_all(input.number(), most, own, content.bytes);
  return content;
}

/// Why somebody else could exchange what is in the directory; empty: nobody can.
std::string flaw_of_directory(const fs::path& directory) {
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0) return {};  // the file is not there, either
  if (S_ISLNK(status.st_mode)) return fmt::format("is in {}, which is a link", directory.string());
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return fmt::format("is in {}, which belongs to another user", directory.string());
  if (written_by_others(status) && !(status.st_mode & S_ISVTX))
    return fmt::format("is in {}, which others can write", directory.string());
  return {};
}

/// Writes a file that was not there before.
bool write_all(const fs::path& file, const std::string& bytes, mode_t mode) {
  Descriptor output(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (output.number() < 0) return false;
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = ::write(output.number(), bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return output.close();
}

bool synchronize(const fs::path& file) {
  const Descriptor output(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return output.number() >= 0 && ::fsync(output.number()) == 0;
}

/// Like fs::create_directories, for this user alone.
bool make_directories(const fs::path& directory) {
  std::error_code error;
  if (directory.empty() || fs::is_directory(directory, error)) return true;
  if (!make_directories(directory.parent_path())) return false;
  return ::mkdir(directory.c_str(), S_IRWXU) == 0 || errno == EEXIST;
}

constexpr const char* draft_mark = ".tessera-draft.";

/// What a process that was killed has left beside files of ours.
void remove_old_drafts(const fs::path& directory) {
  constexpr auto long_ago = std::chrono::hours(1);
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().filename().string().starts_with(draft_mark) &&
        now - entry->last_write_time(ignored) > long_ago && !ignored)
      fs::remove(entry->path(), ignored);
  }
}

/// One file on its way to its place.
struct Draft {
  const NewFile* file;
  fs::path path;
};

/// @return nothing if the directory cannot be used
TemporaryEntry private_directory_in(const char* base, std::size_t bytes) {
  constexpr std::size_t longest_base = 100;  // StarPU cuts paths off at 256 characters
  struct statvfs space {};
  struct stat status {};
  if (!base || *base != '/' || std::strlen(base) > longest_base) return {};
  if (::stat(base, &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  if (::statvfs(base, &space) != 0 || space.f_bavail < bytes / std::max(space.f_frsize, 1ul)) return {};
  try {
    TemporaryEntry entry = TemporaryEntry::directory(base);
    // A quota shows only when something is written.
    const fs::path probe = fs::path(entry.path()) / "probe";
    const bool good = write_all(probe, std::string(std::size_t(64) << 10, '\0'), S_IRUSR | S_IWUSR);
    ::unlink(probe.c_str());
    if (good) return entry;
  } catch (const std::system_error&) {  // the next one may do
  }
  return {};
}

}  // namespace

FileContent read_whole_file(const fs::path& file, std::size_t most) {
  return content_of(file, false, most);
}

FileContent read_own_file(const fs::path& file, const fs::path& root, std::size_t most) {
  FileContent content;
  const fs::path below = file.parent_path().lexically_relative(root);
  fs::path directory = root;
  content.flaw = flaw_of_directory(directory);
  for (const fs::path& part : below) {
    if (!content.flaw.empty()) return content;
    if (part == ".") continue;
    content.flaw = flaw_of_directory(directory /= part);
  }
  if (!content.flaw.empty()) return content;
  return content_of(file, true, most);
}

std::string replace_files(const std::vector<NewFile>& files) {
  static std::atomic<unsigned> count = 0;
  std::string failure;
  const auto failed = [&](const fs::path& path) {
    if (failure.empty()) failure = fmt::format("{}: {}", path.string(), std::strerror(errno));
  };
  // All drafts first, then all to the disk: the disk does in one go what it would do in many.
  std::vector<Draft> drafts;
  for (const NewFile& file : files) {
    if (!make_directories(file.path.parent_path())) {
      failed(file.path.parent_path());
      continue;
    }
    if (drafts.empty() || drafts.back().file->path.parent_path() != file.path.parent_path())
      remove_old_drafts(file.path.parent_path());
    const fs::path draft = file.path.parent_path() / fmt::format("{}{}.{}.{}", draft_mark, ::getpid(),
                                                                 count++, file.path.filename().string());
    drafts.push_back({&file, draft});
    if (write_all(draft, file.bytes, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH)) continue;
    failed(file.path);
    ::unlink(draft.c_str());
    drafts.pop_back();
  }
  for (const Draft& draft : drafts) {
    if (synchronize(draft.path) && ::rename(draft.path.c_str(), draft.file->path.c_str()) == 0) continue;
    failed(draft.file->path);
    ::unlink(draft.path.c_str());
  }
  return failure;
}

TemporaryEntry make_private_directory(std::size_t bytes) {
  for (const char* base : {static_cast<const char*>(std::getenv("XDG_RUNTIME_DIR")),
                           static_cast<const char*>(std::getenv("TMPDIR")), "/tmp", "/dev/shm"})
    if (TemporaryEntry found = private_directory_in(base, bytes)) return found;
  throw RuntimeError(fmt::format(
      "StarPU needs a directory for its files: none of XDG_RUNTIME_DIR, TMPDIR, /tmp and /dev/shm "
      "can be written and has {} MiB free",
      bytes >> 20));
}

}  // namespace tessera
