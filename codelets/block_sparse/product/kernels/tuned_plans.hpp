// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/codelets/block_sparse/product/kernels/stack_choice.hpp>

/// Plans that `tessera tune --stack` has found faster than the formula's, on disk, one JSON file for each
/// model of GPU; no CUDA here.
namespace tessera::detail::device {

struct TunedPlan {
  StackShape shape{};
  StackPlan plan{};
  double speedup = 1;  ///< the formula's time over this one's
};

/// What a file has for a model.
struct TunedPlans {
  std::vector<TunedPlan> plans{};
  std::string flaw{};  ///< why the file, or its first bad entry, is not used; empty: all is well
};

/// The files of a directory. They are trusted as machine code is (read_own_file), and every plan is looked at
/// (is_valid_plan): a bad one is left out. Any number of processes may use one directory at once.
class TunedPlanStore {
 public:
  /// An empty `directory` has nothing. The user must own the directories from `root` down; an empty `root`
  /// means the directory alone.
  explicit TunedPlanStore(std::filesystem::path directory = {}, std::filesystem::path root = {});
  /// The user's own; one that has nothing where the user has no cache directory.
  static TunedPlanStore of_user();

  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::filesystem::path file(const std::string& gpu) const;
  /// The plans for a model of GPU and a version of the kernel; those for another version are stale, which is
  /// a flaw.
  TunedPlans read(const std::string& gpu, const std::string& kernel) const;
  /// The same with the model, for all files.
  std::vector<std::pair<std::string, TunedPlans>> read_all(const std::string& kernel) const;
  /// Keeps the plans in place of what there was for `shapes`; all others of this version stay.
  /// @throws InputError if that cannot be written
  void replace(const std::string& gpu, const std::string& kernel, const std::vector<StackShape>& shapes,
               const std::vector<TunedPlan>& plans) const;

 private:
  std::filesystem::path directory_, root_;
};

/// `23 x 23 x 23 of type d`
std::string describe_shape(const StackShape& shape);

}  // namespace tessera::detail::device
