// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks that find the blocks of C = A B and count its products from packed patterns (packed_pattern.hpp),
/// where the operands are: on GPUs, and with the same results on CPUs.
namespace tessera::detail {

/// Products that are left out whatever their norms.
struct ProductMask {
  bool only_old = false;      ///< those for blocks that C does not have
  bool lower = false;         ///< those for blocks above the diagonal
  bool zero_columns = false;  ///< C has block columns without elements
  TESSERA_HOST_DEVICE constexpr bool any() const noexcept { return only_old || lower || zero_columns; }
};

/// The numbers that find_products makes for a panel of C, one after the other. Classes of products: (size
/// class of the rows, of the columns, of the inner blocks), numbered in this order. The inner panels of a
/// panel of C are walked from number (row panel + column panel) modulo their number on, and `together` of
/// them are a set, which makes one stack.
struct TotalsLayout {
  std::int32_t inner_panels, together, sets, classes;
  static constexpr std::int32_t blocks = 0, elements = 1;  ///< of C after the product
  static constexpr std::int32_t identity = 2;              ///< two sums, for C's identity
  /// Of them those whose row and column have the same number.
  static constexpr std::int32_t diagonal_blocks = 4, diagonal_elements = 5;
  static constexpr std::int32_t common = 6;  ///< so many numbers that all such tasks have
  /// Products and runs (blocks of C with products) of one inner panel.
  TESSERA_HOST_DEVICE constexpr std::int64_t products(std::int32_t inner,
                                                      std::int32_t number) const noexcept {
    return common + 2 * (std::int64_t(inner) * classes + number);
  }
  TESSERA_HOST_DEVICE constexpr std::int64_t runs(std::int32_t inner, std::int32_t number) const noexcept {
    return products(inner, number) + 1;
  }
  /// Runs of a set: of all its inner panels together.
  TESSERA_HOST_DEVICE constexpr std::int64_t set_runs(std::int32_t set, std::int32_t number) const noexcept {
    return common + 2 * std::int64_t(inner_panels) * classes + std::int64_t(set) * classes + number;
  }
  TESSERA_HOST_DEVICE constexpr std::int64_t size() const noexcept {
    return common + (2 * std::int64_t(inner_panels) + sets) * classes;
  }
};

/// What both tasks take beside their operands.
struct PanelsOfC {
  std::int32_t count;         ///< panels that are looked at
  std::int32_t most_rows;     ///< blocks along the rows of the largest
  std::int32_t most_columns;  ///< along the columns
  std::int32_t col_classes;   ///< size classes of the columns
  ProductMask mask;
};

/// Counts the blocks of C after the product and the products, panel by panel and class by class.
/// | operand    | mode  | shape                                           | what                               |
/// |------------|-------|-------------------------------------------------|------------------------------------|
/// | a, b, c    | read  | packed patterns                                 | A's, B's, C's before               |
/// | panels     | read  | panels.count numbers                            | the panels of C that are looked at |
/// | totals     | write | panels.count times layout.size() 64-bit numbers | sums for each panel                |
/// | row_counts | write | panels.count x most_rows x 2 numbers            | blocks and elements of each row    |
/// Row by row with bits for the columns of a panel: a warp takes a row and goes along the rows of B that the
/// row of A names. No flops; the number of products predicts the time.
/// Source: F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
/// transposition (1978).
struct FindProducts {
  static constexpr const char* name = "find_products";
  Read<Array<std::int32_t>> a, b, c, panels;
  Write<Array<std::int64_t>> totals;
  Write<Array<std::int32_t>> row_counts;
  PanelsOfC of_c;
  TotalsLayout layout;
  double products;  ///< about
  double seconds(WorkerKind kind, double) const noexcept {
    return kind == WorkerKind::gpu ? 1e-5 + 1e-11 * products : 1e-5 + 2e-9 * products;
  }
};

/// C's packed pattern after the product; panels that are not looked at get no blocks.
/// | operand    | mode       | shape                                 | what                                    |
/// |------------|------------|---------------------------------------|-----------------------------------------|
/// | a, b, c    | read       | packed patterns                       | as above                                |
/// | panels     | read       | as above                              | as above                                |
/// | totals     | read       | as above                              | from find_products                      |
/// | row_counts | read-write | as above                              | from find_products; sums over rows then |
/// | result     | write      | the words that the blocks and C need  | the packed pattern                      |
struct WriteProductPattern {
  static constexpr const char* name = "write_product_pattern";
  Read<Array<std::int32_t>> a, b, c, panels;
  Read<Array<std::int64_t>> totals;
  ReadWrite<Array<std::int32_t>> row_counts;
  Write<Array<std::int32_t>> result;
  PanelsOfC of_c;
  std::int64_t totals_size;  ///< numbers for each panel
  double products;           ///< about
  double seconds(WorkerKind kind, double) const noexcept {
    return kind == WorkerKind::gpu ? 1e-5 + 1e-11 * products : 1e-5 + 1e-9 * products;
  }
};

}  // namespace tessera::detail
