// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

struct SystemFailure {
  int error;
};

[[noreturn]] void fail_now() {
  throw SystemFailure{errno};
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The file that a chain of symbolic links ends at, whether it exists or not. Empty if the chain passes
/// through /proc: then it names an open file of a process, as /dev/stdout does.
std::string resolve(std::string path) {
  std::array<char, PATH_MAX> text{};
  for (int links = 0; links < 40; ++links) {
    if (!::realpath(folder_of(path).c_str(), text.data())) fail_now();
    path = fmt::format("{}/{}", text.data(), path.substr(path.rfind('/') + 1));
    const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
    if (size < 0) return path;
    if (path.starts_with("/proc/")) return {};
    const std::string link(text.data(), static_cast<std::size_t>(size));
    path = link.starts_with('/') ? link : folder_of(path) + '/' + link;
  }
  throw SystemFailure{ELOOP};
}

/// A rename cannot replace a file that another is mounted on.
bool is_mount_point(const std::string& path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx status {};
  return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &status) == 0 &&
         (status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
         (status.stx_attributes & STATX_ATTR_MOUNT_ROOT);
#else
  return false;
#endif
}

/// Checks the errors that a rename would give only when all is written.
void require_replaceable(const std::string& path, const struct stat& file) {
  const int opened = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened < 0) fail_now();
  ::close(opened);
  if (is_mount_point(path)) throw SystemFailure{EBUSY};
  struct stat folder {};
  const uid_t user = ::geteuid();
  if (::stat(folder_of(path).c_str(), &folder) == 0 && (folder.st_mode & S_ISVTX) && user != 0 &&
      user != folder.st_uid && user != file.st_uid)
    throw SystemFailure{EPERM};
}

/// A file without a name, which goes with the process whatever ends it.
int unnamed_file() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) throw SystemFailure{error.value()};
  std::string name = (folder / ".tessera-XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail_now();
  ::unlink(name.c_str());
  return descriptor;
}

void write_all(int descriptor, const char* at, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_now();
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

void close_checked(int& descriptor) {
  if (::close(std::exchange(descriptor, -1)) != 0 && errno != EINTR) fail_now();
}

/// The reader of a pipe that goes away is an error, not the end of the process.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pending;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigpending(&pending);
    pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec now{};
    if (!pending_)
      while (sigtimedwait(&pipe_, nullptr, &now) == -1 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool pending_;
};

/// The names in a folder on the disk, where the file system and the rights allow it.
void sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && error != EINVAL && error != ENOTSUP) throw SystemFailure{error};
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : given_(path) {
  try {
    open_temporary(path);
  } catch (const SystemFailure& failure) {
    fail(failure.error);
  } catch (const std::system_error& failure) {
    fail(failure.code().value());
  }
}

void OutputFile::open_temporary(const std::string& path) {
  if (path.empty()) throw SystemFailure{ENOENT};
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (!there && errno != ENOENT) fail_now();
  if ((there && S_ISDIR(status.st_mode)) || path.ends_with('/')) throw SystemFailure{EISDIR};
  if (there && S_ISSOCK(status.st_mode)) throw SystemFailure{ENXIO};
  resolved_ = resolve(path);
  stream_ = there && (!S_ISREG(status.st_mode) || resolved_.empty());
  if (stream_) {
    // To open a pipe would wait for its reader.
    if (::access(path.c_str(), W_OK) != 0) fail_now();
    descriptor_ = unnamed_file();
    name_ = fmt::format("/proc/self/fd/{}", descriptor_);
    return;
  }
  if (there) require_replaceable(resolved_, status);
  // Until the new file has the mode of the old one, other users cannot read it.
  entry_ = TemporaryEntry::file(folder_of(resolved_), there ? 0600 : 0666);
  descriptor_ = ::fcntl(entry_.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor_ < 0) fail_now();
  name_ = entry_.path();
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : given_(std::move(other.given_)),
      resolved_(std::move(other.resolved_)),
      name_(std::move(other.name_)),
      entry_(std::move(other.entry_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      stream_(other.stream_),
      failed_(other.failed_),
      committed_(other.committed_) {}

void OutputFile::fail(std::string_view reason) const {
  throw InputError(given_, 0, fmt::format("cannot be written: {}", reason));
}

void OutputFile::fail(int error) const {
  fail(error == 0 ? "unknown reason" : std::strerror(error));
}

void OutputFile::write(std::string_view bytes) {
  try {
    write_all(descriptor_, bytes.data(), bytes.size());
  } catch (const SystemFailure& failure) {
    failed_ = true;
    fail(failure.error);
  }
}

/// All that comes before the rename.
void OutputFile::complete() {
  if (failed_ || committed_ || descriptor_ < 0) fail("an earlier step has failed");
  try {
    if (stream_) return copy_to_target();
    struct stat old {};
    if (::stat(resolved_.c_str(), &old) == 0) {
      // Who may not give the file away keeps it.
      if (::fchown(descriptor_, old.st_uid, old.st_gid) != 0) errno = 0;
      if (::fchmod(descriptor_, old.st_mode & 07777) != 0) fail_now();
    }
    if (::fsync(descriptor_) != 0) fail_now();
    close_checked(descriptor_);
  } catch (const SystemFailure& failure) {
    failed_ = true;
    fail(failure.error);
  }
}

void OutputFile::copy_to_target() const {
  const NoPipeSignal quiet;
  int target = ::open(given_.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  if (target < 0) fail_now();
  try {
    std::vector<char> piece(std::size_t{1} << 16);
    for (off_t at = 0;;) {
      const ssize_t size = ::pread(descriptor_, piece.data(), piece.size(), at);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) fail_now();
      if (size == 0) break;
      write_all(target, piece.data(), static_cast<std::size_t>(size));
      at += size;
    }
  } catch (const SystemFailure&) {
    ::close(target);
    throw;
  }
  close_checked(target);
}

/// Renames that are taken back unless all of them succeed.
class Commit {
 public:
  ~Commit() {
    if (!done_)
      for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) take_back(*step);
    for (Step& step : steps_) drop(step.old);
  }
  void rename(OutputFile& file) {
    steps_.reserve(steps_.size() + 1);
    Step step{&file, {}, {}};
    step.replaces = keep_old(file.resolved_, step.old);
    if (::rename(file.entry_.path().c_str(), file.resolved_.c_str()) != 0) {
      const int error = errno;
      drop(step.old);
      file.fail(error);
    }
    file.entry_.forget_locked();
    steps_.push_back(std::move(step));
    try {
      sync_folder(folder_of(file.resolved_));
    } catch (const SystemFailure& failure) {
      file.fail(failure.error);
    }
  }
  void conclude() noexcept {
    done_ = true;
    for (Step& step : steps_) step.file->committed_ = true;
  }

 private:
  struct Step {
    OutputFile* file;
    TemporaryEntry old;
    bool replaces;
  };
  /// Gives the old file a second name, unless the file system has no hard links. False: there is no old file.
  static bool keep_old(const std::string& path, TemporaryEntry& old) {
    struct stat status {};
    while (::lstat(path.c_str(), &status) == 0) {
      try {
        old = TemporaryEntry::link_to(path);
        return true;
      } catch (const std::system_error& failure) {
        const int error = failure.code().value();
        if (error == EPERM || error == ENOTSUP || error == ENOSYS || error == EMLINK) return true;
        // Another process has replaced the file just now: a file that has lost its last name gets no new one.
        if (error != ENOENT) throw SystemFailure{error};
      }
    }
    return false;
  }
  static void drop(TemporaryEntry& old) noexcept {
    if (!old) return;
    ::unlink(old.path().c_str());
    old.forget_locked();
  }
  static void take_back(Step& step) noexcept {
    const std::string& target = step.file->resolved_;
    if (!step.replaces) {
      ::unlink(target.c_str());
    } else if (step.old && ::rename(step.old.path().c_str(), target.c_str()) == 0) {
      step.old.forget_locked();
    }
  }
  std::vector<Step> steps_;
  bool done_ = false;
};

void OutputFile::commit() {
  OutputFile* const self = this;
  commit_together({&self, 1});
}

void OutputFile::commit_together(std::span<OutputFile* const> files) {
  for (OutputFile* const file : files) file->complete();
  const auto lock = lock_temporaries();
  Commit commit;
  for (OutputFile* const file : files) {
    if (file->stream_) continue;
    try {
      commit.rename(*file);
    } catch (const SystemFailure& failure) {
      file->fail(failure.error);
    }
  }
  commit.conclude();
}

std::string refusal_to_write(const std::string& path, bool& regular) {
  try {
    regular = OutputFile(path).regular();
    return {};
  } catch (const InputError& error) {
    const std::string text = error.what(), before = fmt::format("{}: cannot be written: ", path);
    return text.substr(std::min(text.size(), before.size()));
  }
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

std::string new_stamp() {
  std::random_device random;
  return fmt::format("solve {:08x}{:08x}", random(), random());
}

}  // namespace tessera::detail
