// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>
#include <tessera/runtime/buses.hpp>
#include <tessera/runtime/model_files.hpp>
#include <tessera/runtime/performance_models.hpp>

namespace tessera::detail {

/// Brings performance models from where they are kept to the directory that StarPU works in, and back.
///
/// StarPU ends the program on a damaged file, rewrites files in place and ignores errors of writing. So it
/// gets copies of files that have been read whole, and the files that it leaves are read whole before they
/// replace the kept ones in one step. A damaged file is renamed to NAME.damaged if possible, and StarPU
/// measures again.
class ModelStore {
 public:
  /// `host`: the name under which StarPU keeps its files. `log` gets one warning about a damaged file, and
  /// reports of further ones that are no warnings.
  ModelStore(PerformanceModels models, std::string host, std::filesystem::path work, LogSink log);

  /// Copies what is known about the buses into the directory, from the first place that has all files of such
  /// a machine. Without one: whatever there is, for a simulation.
  /// @return StarPU finds all that it looks for
  bool fetch_buses(const std::optional<BusMachine>& machine);
  /// Puts these into the directory; they are not kept.
  void put_buses(const BusFiles& files);
  /// StarPU finds files about the buses.
  bool has_buses() const;
  /// Reads what StarPU has measured in the directory, and removes it if it cannot be used for the machine.
  /// @return why it cannot; empty: `files` has all
  std::string read_measured_buses(const BusMachine& machine, BusFiles& files) const;
  /// The same for a codelet. Nothing is kept of a codelet that has not been fetched.
  void fetch_codelet(const std::string& codelet);
  /// Keeps the new measurements of StarPU. A failed write is reported and ignored.
  void keep() noexcept;

 private:
  bool fetch_codelet_from(const std::filesystem::path& file, const std::filesystem::path& name,
                          bool may_move);
  bool fetch_buses_from(const std::filesystem::path& folder, const std::string& prefix, bool may_move,
                        const std::optional<BusMachine>& machine);
  std::filesystem::path bus_file(const std::string& what) const;
  void set_aside(const std::filesystem::path& file, const std::string& flaw, bool may_move);
  void put(const std::filesystem::path& name, const std::string& bytes);
  std::string flaw_of(const std::filesystem::path& name, const std::string& bytes) const;
  void say(LogLevel level, const std::string& message) const;

  PerformanceModels models_;
  std::string host_;
  std::filesystem::path work_;
  LogSink log_;
  std::map<std::filesystem::path, std::size_t> known_;  ///< hash_of_lines of what is kept, by name in `work`
  bool warned_ = false;                                 ///< of a damaged file
  std::map<std::filesystem::path, std::filesystem::file_time_type> written_;  ///< when, by name in `work`
  std::set<std::filesystem::path> fetched_;                                   ///< codelets' files
  bool told_ = false;                                                         ///< that nothing can be kept
};

}  // namespace tessera::detail
