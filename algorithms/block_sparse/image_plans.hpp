// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/algorithms/block_sparse/image_moves.hpp>
#include <tessera/sequence.hpp>

/// What images of the operands of products need beside values: found once for products of the same patterns.
namespace tessera::detail {

/// An image of a matrix A, but for its values and a factor.
struct ImageShape {
  BlockPatternPointer source;  ///< A's
  ImageWay way;                ///< of A's stored blocks
  BlockLayout layout;          ///< of the image, without symmetry
  ElementWindow window;        ///< of the image: zero outside
  /// The same blocks of A, at the same places of the image.
  bool operator==(const ImageShape& other) const;
};

/// It is both halves of a half-stored A, or A transposed, and tasks find and make it: with GPUs in one process.
bool mirrors(const ImageShape& shape) noexcept;

/// Moves into a panel of an image that one task makes.
struct ImageGather {
  std::vector<Index> sources;  ///< panels of A
  Data moves;                  ///< the list, on the owner of the image's panel; elsewhere something to name
};

/// The blocks of an image, and how its panels come about. Made from patterns alone, it serves all matrices of
/// the pattern.
class ImagePlan {
 public:
  /// How a panel of the image comes about.
  struct Panel {
    bool stored = false;    ///< A's panel of the same number, element by element, going A's way; no gathers
    bool complete = false;  ///< the moves reach every element
    std::vector<ImageGather> gathers;
  };

  /// Where tasks find the image's blocks (mirrored), it waits for how many there are.
  explicit ImagePlan(const ImageShape& shape);
  const ImageShape& shape() const noexcept { return shape_; }
  /// The image's blocks.
  const BlockPatternPointer& pattern() const noexcept { return pattern_; }
  const Panel& panel(Index panel) const noexcept { return panels_[static_cast<std::size_t>(panel)]; }
  /// The panels that are not stored are made by MirrorPanel, and not of gathers.
  bool mirrored() const noexcept { return mirrored_; }
  /// Bytes of lists on this rank.
  double list_bytes() const noexcept { return list_bytes_; }
  /// Bytes of lists and pattern on a rank, about; the same number on all ranks.
  double bytes() const noexcept { return bytes_; }

 private:
  BlockPatternPointer mirror_images();
  void find_stored();
  void find_gathers();
  const ImageShape shape_;
  bool mirrored_ = false;
  std::shared_ptr<Sequence> writing_;  ///< of a pattern of mirror images
  BlockPatternPointer pattern_;
  std::vector<Panel> panels_;
  double list_bytes_ = 0, bytes_ = 0;
};

/// The plans of the last images of a Runtime, which end with it.
class ImagePlans {
 public:
  static ImagePlans& of(Runtime& runtime);

  /// A plan, and whether an earlier product has made it.
  struct Found {
    std::shared_ptr<const ImagePlan> plan;
    bool reused = false;
  };
  /// The plan for such images; without `reuse` a new one that is not kept. All ranks ask alike.
  Found find(const ImageShape& shape, bool reuse);
  /// Kept plans.
  std::size_t count() const noexcept { return plans_.size(); }
  /// Of these, ImagePlan::bytes.
  double bytes() const noexcept;

  static constexpr std::size_t most_plans = 32;
  /// Of the plans together, on a rank; the last two stay in any case.
  static constexpr double most_bytes = 512 << 20;

 private:
  std::vector<std::shared_ptr<const ImagePlan>> plans_;  // the last used first
};

}  // namespace tessera::detail
