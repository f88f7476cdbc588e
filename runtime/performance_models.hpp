// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/runtime/model_files.hpp>
#include <tessera/runtime/starpu_environment.hpp>

/// Sets of StarPU performance models that come with Tessera, and how a run uses them.
///
/// StarPU keeps one file for each codelet, `codelets/45/<codelet>.<host>`, and a few for the transfers,
/// `bus/<host>.<what>`. In a set the same files have no host name (`codelets/45/<codelet>`, `bus/<what>`),
/// and `machine.json` says what they were measured on. A run works in a directory of its own with copies of
/// the files (model_store.hpp).
namespace tessera::detail {

/// What decides whether models of one machine hold on another.
struct ModelMachine {
  std::string gpu{};  ///< CUDA's name of the GPUs; empty: none used, or several kinds
  std::string cpu{};  ///< hwloc's name of the processor
};

/// The content of machine.json.
struct ModelSetDescription {
  ModelMachine machine{};
  std::string starpu_version{};
  int model_version = model_file_version;
  std::string date{};     ///< of the measurement, UTC
  std::string command{};  ///< that measured
};

enum class ModelOrigin {
  none,    ///< StarPU starts from nothing
  user,    ///< what the user's environment names, or has left in StarPU's default directory for this host
  shipped  ///< a set
};

struct PerformanceModels {
  ModelOrigin origin = ModelOrigin::none;
  std::filesystem::path source{};  ///< where they come from; empty: none
  std::filesystem::path set{};     ///< of a set that came with Tessera; empty: none is used
  bool set_has_transfers = false;
  /// Directory of the measurements of StarPU, which come before the set; empty: none.
  std::filesystem::path store{};
  std::vector<std::filesystem::path> others{};  ///< directories of StarPU's that are read after them
  std::vector<std::string> warnings{};          ///< faults of the sets that were read
};

/// Finds models for this machine. The user's come first: STARPU_PERF_MODEL_DIR, STARPU_PERF_MODEL_PATH,
/// STARPU_HOME or STARPU_MPI_HOSTNAMES set, or a file for one of `codelets` on this host in StarPU's default
/// directory or in the library's own (unless TESSERA_PERFMODELS names sets). Then a set measured on this GPU,
/// best on this processor too; without a GPU one measured on this processor without a GPU. Sets are the
/// directories with a machine.json in TESSERA_PERFMODELS (a set itself or a folder of sets; empty: no set is
/// used), else in the installation's share/tessera/perfmodels, else in the source tree. Any number of
/// processes may call this at once. A fault of a set is a warning, never an error.
PerformanceModels find_performance_models(const ModelMachine& machine,
                                          const std::vector<std::string>& codelets);

/// Makes a set of the measurements of StarPU for `host` in `directory`: replaces `set`/codelets, `set`/bus
/// and `set`/machine.json, all at once or not at all (output_directory.hpp). @return the number of codelets.
/// @throws InputError where a file cannot be written
int collect_performance_models(const std::filesystem::path& directory, const std::string& host,
                               const std::filesystem::path& set, const ModelSetDescription& description);

/// @throws InputError: there is no such file, or it does not describe a set
ModelSetDescription read_model_set_description(const std::filesystem::path& file);

/// Name of a set's directory: `nvidia-h200_intel-xeon-platinum-8468`.
std::string model_set_name(const ModelMachine& machine);

}  // namespace tessera::detail
