// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/image_panels.hpp>

/// What of an image, a matrix op(A) in another layout, follows from patterns alone.
namespace tessera::detail {

/// What is done to the stored blocks of A in op(A). Those of a half-stored A are not transposed: their mirror
/// images are.
ImageWay image_way(Symmetry symmetry, Op op, bool is_complex);

/// What is done to the mirror images of a half-stored A, where stored blocks go this way.
ImageWay mirrored(Symmetry symmetry, ImageWay way) noexcept;

/// The blocks in `layout` that an image of A has there, as image_pattern. Collective.
BlockPatternPointer image_pattern(const BlockPatternPointer& a, const BlockLayout& layout, bool transposed,
                                  const ElementWindow& window);

/// What goes one way from a panel of A to one of its image.
struct ImageMovesOfPanels {
  Index source, destination;
  ImageWay way;
  /// On the owner of the destination alone; the other ranks only know that there are some.
  const std::vector<BlockMove>& moves;
};

/// Calls visit(moves) for the panels of A in their order, and each of its image that gets something from it.
/// Collective.
/// @param way of the stored blocks; mirror images of half-stored ones follow
void for_each_image_move(const BlockPattern& a, const BlockPattern& image, const ImageWay& way,
                         const ElementWindow& window,
                         const std::function<void(const ImageMovesOfPanels&)>& visit);

}  // namespace tessera::detail
