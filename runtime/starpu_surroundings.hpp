// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <tessera/runtime.hpp>
#include <tessera/runtime/model_store.hpp>
#include <tessera/runtime/performance_models.hpp>
#include <tessera/runtime/temporary_files.hpp>

/// The environment of StarPU while it runs: its directory, and a process that it can run in.
namespace tessera::detail {

/// The directory of StarPU for one run. The kept measurements come into it (ModelStore), and it is removed at
/// the end. StarPU never uses the user's home, since it ends the program where it cannot write.
class StarpuSurroundings {
 public:
  /// `codelets`: whose models StarPU shall find, by the number of the codelet; empty: not that one.
  /// @throws RuntimeError where there is no place for a directory
  StarpuSurroundings(const PerformanceModels& models, const std::vector<std::string>& codelets,
                     const std::string& host, const LogSink& log);
  StarpuSurroundings(const StarpuSurroundings&) = delete;
  StarpuSurroundings& operator=(const StarpuSurroundings&) = delete;

  const std::filesystem::path& directory() const noexcept { return directory_; }
  /// Before StarPU starts.
  ModelStore& models() noexcept { return *store_; }
  /// Before a codelet's first task: StarPU then reads its model. (All of them would take as long as the rest
  /// of the start.) Any thread may call this.
  void fetch_model(int codelet) noexcept {
    if (!fetched_[static_cast<std::size_t>(codelet)].load(std::memory_order_acquire)) fetch_now(codelet);
  }
  /// Keeps the measurements of StarPU: after its start, and after its shutdown.
  void keep() noexcept;
  /// Before StarPU shuts down and writes its models: where it could not, it shall not try.
  void prepare_shutdown() noexcept;

 private:
  void fetch_now(int codelet) noexcept;
  pid_t process_;
  TemporaryEntry entry_;
  std::filesystem::path directory_;
  std::vector<std::string> codelets_;
  std::vector<std::atomic<bool>> fetched_;  ///< by the number of the codelet
  std::mutex mutex_;                        ///< of `store_`
  std::optional<ModelStore> store_;
};

/// StarPU's environment for the time of its start: all its places are in the directory.
class StarpuVariables {
 public:
  StarpuVariables(const StarpuSurroundings& surroundings, const std::string& host);
  ~StarpuVariables();
  StarpuVariables(const StarpuVariables&) = delete;
  StarpuVariables& operator=(const StarpuVariables&) = delete;

 private:
  void set(const char* name, const char* value);
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

/// The policies that use the measured times of a codelet's tasks.
bool needs_codelet_models(const std::string& scheduler);

/// The communicator is one that a Runtime can work on now, and MPI is in a state to do so.
/// @throws RuntimeError, InvalidArgument where not
void require_usable_mpi(Communicator communicator);

/// MPI has not been finalised. @throws RuntimeError
void require_unfinished_mpi();

/// @throws RuntimeError if StarPU runs already, which the library has not started
void require_stopped_starpu();

/// This is the process that `owner`, the process number kept at the start of a Runtime, stands for, and not
/// one that was forked from it: StarPU's threads are not there. @throws RuntimeError
void require_same_process(pid_t owner);

}  // namespace tessera::detail
