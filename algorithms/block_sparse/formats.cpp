// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/local_elements.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// Largest number of elements that a rank sends at a time.
constexpr Index piece = Index(1) << 16;

/// A block, and where it is by symmetry, in a column-major matrix.
template <class T>
void place(const BlockLayout& layout, BlockCoordinate block, const T* values, T* dense) {
  const Index ld = layout.rows->elements();
  const bool mirror = layout.symmetry != Symmetry::none && block.row != block.col;
  for (Index j = layout.cols->first(block.col); j < layout.cols->first(block.col + 1); ++j)
    for (Index i = layout.rows->first(block.row); i < layout.rows->first(block.row + 1); ++i) {
      const T x = *values++;
      dense[i + j * ld] = x;
      if (mirror) dense[j + i * ld] = mirrored(layout.symmetry, x);
    }
}

/// The coordinates of the blocks of a panel, from its owner. Collective.
std::vector<BlockCoordinate> shared_coordinates(const BlockPattern& pattern, Index p) {
  std::vector<BlockCoordinate> coordinates(static_cast<std::size_t>(pattern.panel_blocks(p)));
  if (pattern.panel_local(p)) coordinates = pattern.coordinates(p);
  pattern.runtime().broadcast(coordinates.data(),
                              static_cast<Index>(coordinates.size() * sizeof(BlockCoordinate)),
                              pattern.panel_owner(p));
  return coordinates;
}

template <class T>
std::vector<T> dense_of(const BlockSparseMatrix<T>& a) {
  const BlockPattern& pattern = a.pattern();
  require_memory(a.runtime(), "to_dense",
                 sizeof(T) * static_cast<double>(a.rows()) * static_cast<double>(a.cols()));
  std::vector<T> dense(static_cast<std::size_t>(a.rows() * a.cols()));
  std::vector<T> values;
  for (Index p = 0; p < pattern.panels(); ++p) {
    const Index elements = pattern.panel_elements(p);
    if (elements == 0) continue;
    values.resize(static_cast<std::size_t>(elements));
    if (pattern.panel_local(p)) {
      const HostAccess access(a.panel(p), HostAccess::Mode::read);
      const auto array = access.array<const T>();
      std::copy(array.begin(), array.begin() + elements, values.begin());
    }
    a.runtime().broadcast(values.data(), elements * static_cast<Index>(sizeof(T)), pattern.panel_owner(p));
    const T* next = values.data();
    for (const BlockCoordinate block : shared_coordinates(pattern, p)) {
      place(pattern.layout(), block, next, dense.data());
      next += pattern.rows().size(block.row) * pattern.cols().size(block.col);
    }
  }
  return dense;
}

}  // namespace

namespace {

/// Whole rows on their ranks, without symmetry.
template <class T>
BlockSparseMatrix<T> by_rows(const BlockSparseMatrix<T>& a, bool on_root) {
  const BlockPattern& pattern = a.pattern();
  const int ranks = on_root ? 1 : a.runtime().size();
  std::vector<int> owners;
  for (Index i = 0; i < a.block_rows(); ++i) owners.push_back(static_cast<int>(i % ranks));
  const auto sizes = [](const BlockDimension& d) {
    return std::vector<Index>(d.sizes().begin(), d.sizes().end());
  };
  const BlockLayout layout{BlockDimension::make(sizes(pattern.rows()), ranks, owners),
                           BlockDimension::make(sizes(pattern.cols())),
                           {.rows = ranks}};
  Sequence sequence(a.runtime());
  auto image = make_image(sequence, T(1), a, layout);
  finish(sequence);
  return image;
}

template <class T>
CompressedRows<T> rows_of(const BlockSparseMatrix<T>& a, double threshold, bool on_root) {
  const BlockSparseMatrix<T> image = by_rows(a, on_root);
  const BlockPattern& pattern = image.pattern();
  const LocalElements<T> elements(image, HostAccess::Mode::read);
  CompressedRows<T> result{a.rows(), a.cols(), {}, {0}, {}, {}};
  struct Block {
    Index first_col, cols;
    const T* values;
  };
  std::vector<Block> blocks;
  for (Index i = 0; i < image.block_rows(); ++i) {
    const Index p = pattern.rows().panel_of(i), rows = pattern.rows().size(i);
    if (image.layout().grid.rank(pattern.rows().panel_owner(p), 0) != a.runtime().rank()) continue;
    blocks.clear();
    const auto position = static_cast<std::size_t>(pattern.rows().position(i));
    for (Index q = 0; q < pattern.col_panels(); ++q) {
      const Index panel = pattern.panel(p, q);
      if (pattern.panel_blocks(panel) == 0) continue;
      const PanelIndex& index = pattern.index(panel);
      for (Index b = index.row_begin[position]; b < index.row_begin[position + 1]; ++b) {
        const auto col = static_cast<std::size_t>(index.column[static_cast<std::size_t>(b)]);
        const Index j = pattern.cols().panel(q)[col];
        blocks.push_back({pattern.cols().first(j), pattern.cols().size(j), elements.values({panel, b})});
      }
    }
    for (Index r = 0; r < rows; ++r) {
      for (const Block& block : blocks)
        for (Index c = 0; c < block.cols; ++c) {
          const T x = block.values[r + c * rows];
          if (std::abs(x) <= threshold) continue;
          result.column.push_back(block.first_col + c);
          result.value.push_back(x);
        }
      result.row.push_back(pattern.rows().first(i) + r);
      result.row_begin.push_back(static_cast<Index>(result.column.size()));
    }
  }
  return result;
}

}  // namespace

namespace {

template <class T>
void require_fitting(const CompressedRows<T>& rows, const BlockLayout& layout) {
  const auto require = [](bool good, const char* name, Index value, const std::string& expected) {
    if (!good) throw InvalidArgument(name, fmt::to_string(value), expected);
  };
  const auto below = [&](const char* name, Index value, Index count) {
    require(value >= 0 && value < count, name, value, fmt::format("0 to {}", count - 1));
  };
  require(rows.rows == layout.rows->elements(), "rows", rows.rows, fmt::to_string(layout.rows->elements()));
  require(rows.cols == layout.cols->elements(), "cols", rows.cols, fmt::to_string(layout.cols->elements()));
  const auto held = static_cast<Index>(rows.row.size()), count = static_cast<Index>(rows.column.size());
  const auto begins = static_cast<Index>(rows.row_begin.size());
  require(begins == held + 1 || (held == 0 && begins == 0), "row_begin", begins,
          fmt::format("{} of them", held + 1));
  require(static_cast<Index>(rows.value.size()) == count, "value", static_cast<Index>(rows.value.size()),
          fmt::format("{} of them, as of column", count));
  if (begins > 0) require(rows.row_begin.front() == 0, "row_begin", rows.row_begin.front(), "0 first");
  require((begins > 0 ? rows.row_begin.back() : 0) == count, "row_begin", begins,
          fmt::format("{} as the last one", count));
  for (std::size_t r = 0; r < rows.row.size(); ++r) {
    below("row", rows.row[r], rows.rows);
    require(rows.row_begin[r] <= rows.row_begin[r + 1] && rows.row_begin[r + 1] <= count, "row_begin",
            rows.row_begin[r + 1], "ascending numbers");
    for (Index e = rows.row_begin[r]; e < rows.row_begin[r + 1]; ++e) {
      const Index column = rows.column[static_cast<std::size_t>(e)];
      below("column", column, rows.cols);
      require(layout.symmetry == Symmetry::none || column <= rows.row[r], "column", column,
              fmt::format("at most the row, {}, of a half-stored layout", rows.row[r]));
    }
  }
}

template <class T>
struct Element {
  Index row, col;
  T value;
};

template <class T>
BlockSparseMatrix<T> matrix_of(Runtime& runtime, const CompressedRows<T>& rows, const BlockLayout& layout) {
  std::set<BlockCoordinate> blocks;
  for (std::size_t r = 0; r < rows.row.size(); ++r)
    for (Index e = rows.row_begin[r]; e < rows.row_begin[r + 1]; ++e)
      blocks.insert({layout.rows->block_of(rows.row[r]),
                     layout.cols->block_of(rows.column[static_cast<std::size_t>(e)])});
  const std::vector<BlockCoordinate> named(blocks.begin(), blocks.end());
  Sequence sequence(runtime);
  auto a = zero_matrix<T>(sequence, BlockPattern::make(runtime, layout, named));
  finish(sequence);
  const LocalElements<T> elements(a, HostAccess::Mode::read_write);
  auto rounds = static_cast<double>(ceil_div(static_cast<Index>(rows.column.size()), piece));
  runtime.all_reduce_max(&rounds, 1);
  std::size_t r = 0, e = 0;
  std::vector<Element<T>> mine;
  for (double round = 0; round < rounds; ++round) {
    mine.clear();
    for (; e < rows.column.size() && static_cast<Index>(mine.size()) < piece; ++e) {
      while (static_cast<Index>(e) >= rows.row_begin[r + 1]) ++r;
      mine.push_back({rows.row[r], rows.column[e], rows.value[e]});
    }
    for (const auto& bytes : runtime.all_gather(std::as_bytes(std::span<const Element<T>>(mine))))
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(Element<T>)) {
        Element<T> element;
        std::memcpy(&element, bytes.data() + at, sizeof element);
        elements.add(element.row, element.col, element.value);
      }
  }
  return a;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
std::vector<T> to_dense(const BlockSparseMatrix<T>& a) {
  return collectively(runtime_of("a", a), "to_dense", shape_hash(a), [&] { return dense_of(a); });
}

template <class T>
BlockSparseMatrix<T> from_dense(Runtime& runtime, MatrixView<const T> dense, const BlockLayout& layout,
                                double threshold) {
  const auto check = [&] {
    layout.require_valid(runtime);
    if (dense.rows != layout.rows->elements() || dense.cols != layout.cols->elements())
      throw InvalidArgument("dense", fmt::format("{} x {}", dense.rows, dense.cols),
                            fmt::format("{} x {}", layout.rows->elements(), layout.cols->elements()));
  };
  const std::uint64_t hash = argument_hash(threshold, layout.hash(runtime));
  return collectively(runtime, "from_dense", hash, check, [&] {
    BlockSparseBuilder<T> builder(runtime, layout);
    const auto matters = [&](MatrixView<const T> block) {
      for (Index j = 0; j < block.cols; ++j)
        for (Index i = 0; i < block.rows; ++i)
          if (!(std::abs(block(i, j)) <= threshold)) return true;  // NaN does, too
      return threshold < 0;
    };
    for (Index j = 0; j < layout.cols->blocks(); ++j)
      for (Index i = 0; i < layout.rows->blocks(); ++i) {
        if (!layout.stores(i, j) || builder.owner(i, j) != runtime.rank()) continue;
        const auto block = dense.block(layout.rows->first(i), layout.cols->first(j), layout.rows->size(i),
                                       layout.cols->size(j));
        if (matters(block)) builder.put(i, j, block);
      }
    return builder.finalize();
  });
}

template <class T>
CompressedRows<T> to_compressed_rows(const BlockSparseMatrix<T>& a, double threshold, bool on_root) {
  return collectively(runtime_of("a", a), "to_compressed_rows",
                      argument_hash(threshold, on_root, shape_hash(a)),
                      [&] { return rows_of(a, threshold, on_root); });
}

template <class T>
BlockSparseMatrix<T> from_compressed_rows(Runtime& runtime, const CompressedRows<T>& rows,
                                          const BlockLayout& layout) {
  const auto check = [&] {
    layout.require_valid(runtime);
    require_fitting(rows, layout);
  };
  return collectively(runtime, "from_compressed_rows", layout.hash(runtime), check,
                      [&] { return matrix_of(runtime, rows, layout); });
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template std::vector<T> to_dense<T>(const BlockSparseMatrix<T>&);                                       \
  template BlockSparseMatrix<T> from_dense<T>(Runtime&, MatrixView<const T>, const BlockLayout&, double); \
  template CompressedRows<T> to_compressed_rows<T>(const BlockSparseMatrix<T>&, double, bool);            \
  template BlockSparseMatrix<T> from_compressed_rows<T>(Runtime&, const CompressedRows<T>&,               \
                                                        const BlockLayout&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
