// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/values/panel_values.hpp>

/// A panel of a matrix that is made of blocks of many panels of another one.
namespace tessera::detail {

/// What is done to a block on its way.
struct ImageWay {
  bool transposed = false, conjugated = false, negated = false;
  /// The same way.
  bool operator==(const ImageWay&) const = default;
};

/// A move of a block, or a part of it, from one of several panels.
struct ImageMove {
  BlockMove move;
  std::int32_t source;  ///< number of the panel among those that the task reads
  ImageWay way;
};

/// For each move, destination := factor (its way)(source). No two moves reach the same element. With a way
/// that negates, the factor is negated, not the product.
/// | operand     | mode         | shape              | what                                     |
/// |-------------|--------------|--------------------|------------------------------------------|
/// | moves       | read         | array of ImageMove | the moves from these panels              |
/// | destination | write or add | array              | values of a panel                        |
/// | sources     | read         | arrays             | values of panels, at most `most_sources` |
/// What no move reaches stays; where the task writes, it becomes zero.
template <class T>
struct MakeImagePanel {
  static constexpr const char* name = "make_image_panel";
  static constexpr int most_sources = 64;
  Read<Array<ImageMove>> moves;
  WriteOrAdd<Array<T>> destination;
  ReadAll<Array<T>> sources;
  T factor;
  bool complete = false;  ///< the moves reach every element of the destination: none needs to become zero
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// A panel of both halves of a half-stored matrix: blocks that it stores there, and mirror images of those that it stores in
/// the panel on the other side of the diagonal; or of a transposed matrix, the mirror images alone.
/// | operand     | mode  | shape           | what                                                              |
/// |-------------|-------|-----------------|-------------------------------------------------------------------|
/// | half        | read  | packed pattern  | the matrix'; its rows and columns have the same panels            |
/// | whole       | read  | packed pattern  | of what is made (find_mirrored.hpp)                               |
/// | stored      | read  | array           | values of the matrix' panel of the same place; absent: none        |
/// | mirror      | read  | array           | values of the panel across the diagonal; absent: none             |
/// | destination | write | array           | values of the panel                                               |
template <class T>
struct MirrorPanel {
  static constexpr const char* name = "mirror_panel";
  Read<Array<std::int32_t>> half, whole;
  Read<Array<T>> stored{}, mirror{};
  Write<Array<T>> destination;
  std::int32_t row_panel, col_panel;
  T factor;
  ImageWay way;         ///< of stored blocks: not transposed
  ImageWay mirror_way;  ///< of mirror images: transposed
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::detail
