// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/kept_files.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera::detail {

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

/// Why another user could exchange files in the directory; empty: no other user can.
std::string flaw_of_directory(const fs::path& directory) {
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0) return {};  // then the file does not exist, either
  if (S_ISLNK(status.st_mode)) return fmt::format("is in {}, which is a link", directory.string());
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return fmt::format("is in {}, which belongs to another user", directory.string());
  if (written_by_others(status) && !(status.st_mode & S_ISVTX))
    return fmt::format("is in {}, which others can write", directory.string());
  return {};
}

/// Like fs::create_directories, for this user alone.
bool make_directories(const fs::path& directory) {
  std::error_code error;
  if (directory.empty() || fs::is_directory(directory, error)) return true;
  if (!make_directories(directory.parent_path())) return false;
  return ::mkdir(directory.c_str(), S_IRWXU) == 0 || errno == EEXIST;
}

/// Removes a link, and a file that belongs to another user or that others can write: a replacement in its
/// place would keep its owner and mode.
void remove_foreign(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return;
  if (S_ISLNK(status.st_mode) || status.st_uid != ::geteuid() || written_by_others(status))
    ::unlink(file.c_str());
}

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
    const std::string probe = entry.path() + "/probe";
    write_file(probe, std::string(std::size_t(64) << 10, '\0'));
    ::unlink(probe.c_str());
    return entry;
  } catch (const std::system_error&) {  // the next one may do
  } catch (const InputError&) {
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
  std::string failure;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const InputError& error) {
      if (failure.empty()) failure = error.what();
    }
  };
  // All are written before the first is brought to the disk, which does in one go what it would do in many.
  std::vector<OutputFile> drafts;
  for (const NewFile& file : files)
    attempt([&] {
      make_directories(file.path.parent_path());
      remove_foreign(file.path);
      OutputFile draft(file.path.string());
      if (::fchmod(draft.descriptor(), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH) != 0) draft.fail(errno);
      draft.write(file.bytes);
      drafts.push_back(std::move(draft));
    });
  for (OutputFile& draft : drafts) attempt([&] { draft.commit(); });
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

}  // namespace tessera::detail
