// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tessera/algorithms/lobpcg/vector_tasks.hpp>
#include <tessera/lobpcg.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>

/// Files of LobpcgCheckpoint. HDF5, with the attributes
///   format    "tessera eigenpairs checkpoint 1"
///   type      of the vectors: s, d, c or z
///   label     LobpcgCheckpoint::label
///   checksum  CRC-32 of these two and of the tables, 8 hexadecimal digits
/// the data sets of CheckpointTables under their names, and the vectors: vectors_0, vectors_1, ... by 32 of those
/// found, the last one those of ritz_values; elements row after row.
namespace tessera::detail {

/// What a checkpoint holds beside vectors.
struct CheckpointTables {
  // clang-format off
  enum Count { order, wanted, largest, generalized, constraints, iteration, restarts, columns_multiplied,
               multiplications, random_fills, before_last_group, count_count };
  enum Number { a_norm, b_norm, a_norm_seen, tolerance, number_count };
  // clang-format on
  std::vector<Index> counts = std::vector<Index>(count_count);
  std::vector<double> numbers =
      std::vector<double>(number_count);  ///< norms: the operators' bounds; what X has shown
  std::vector<double> ritz_values;        ///< of the block
  std::vector<double> found_values, found_residuals, found_scaled;
  std::vector<Index> checksums;  ///< CRC-32 of each part of the vectors (rows_of_part), set after set

  template <class Tables, class Visit>
  static void for_all(Tables& tables, const Visit& visit) {
    visit("counts", tables.counts);
    visit("numbers", tables.numbers);
    visit("ritz_values", tables.ritz_values);
    visit("found_values", tables.found_values);
    visit("found_residuals", tables.found_residuals);
    visit("found_scaled", tables.found_scaled);
    visit("checksums", tables.checksums);
  }
  /// For share_result().
  template <class Visit>
  void each_field(const Visit& visit) {
    for_all(*this, [&](const char*, auto& values) { visit(values); });
  }
  /// Of the sets of vectors.
  std::vector<Index> columns() const;
  std::uint32_t checksum(const std::string& type, const std::string& label) const;
};

/// Whether the options of a checkpoint fit, and the file can be written.
/// @throws InvalidArgument
void check_checkpoint(const Runtime& runtime, const LobpcgCheckpoint& checkpoint);

/// Writes a checkpoint. Collective.
/// @param tables  all but the checksums
/// @param sets  vectors, with as many columns as tables.columns() says
/// @throws InputError, on every rank: the file before is still there
template <class T>
void write_checkpoint(Runtime& runtime, const LobpcgCheckpoint& checkpoint, CheckpointTables tables,
                      std::span<const BlockColumns<T>> sets);

/// A checkpoint that is read, by rank 0 for all. Collective, also the constructor.
template <class T>
class CheckpointReader {
 public:
  /// @throws InputError, on every rank: not a checkpoint of this scalar type, or a damaged one
  CheckpointReader(Runtime& runtime, const std::string& path);

  const CheckpointTables& tables() const { return tables_; }
  const std::string& label() const { return label_; }  ///< on rank 0

  /// The first columns of a set become the first ones of `to`; its others become zero.
  /// @throws InputError, on every rank: damaged vectors
  void read(Index set, Index columns, const BlockVectors<T>& to);

 private:
  void open();
  void check_tables() const;
  [[noreturn]] void fail(const std::string& reason) const;

  Runtime& runtime_;
  std::string path_, label_;
  std::unique_ptr<Hdf5File> file_;  ///< on rank 0
  CheckpointTables tables_;
};

}  // namespace tessera::detail
