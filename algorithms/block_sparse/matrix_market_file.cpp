// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/file_layout.hpp>
#include <tessera/algorithms/block_sparse/local_elements.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/row_gather.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

template <class T>
Symmetry symmetry_of(MatrixMarketSymmetry symmetry) {
  switch (symmetry) {
    case MatrixMarketSymmetry::general:
      return Symmetry::none;
    case MatrixMarketSymmetry::symmetric:
      return Symmetry::symmetric;
    case MatrixMarketSymmetry::hermitian:
      return is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
    case MatrixMarketSymmetry::skew_symmetric:
      break;
  }
  return Symmetry::antisymmetric;
}

MatrixMarketSymmetry symmetry_in_file(Symmetry symmetry, bool complex) {
  switch (symmetry) {
    case Symmetry::none:
      return MatrixMarketSymmetry::general;
    case Symmetry::symmetric:
      return MatrixMarketSymmetry::symmetric;
    case Symmetry::hermitian:
      return complex ? MatrixMarketSymmetry::hermitian : MatrixMarketSymmetry::symmetric;
    case Symmetry::antisymmetric:
      break;
  }
  return MatrixMarketSymmetry::skew_symmetric;
}

/// An entry of the file, of a half-stored matrix brought to its lower half.
template <class T>
struct Entry {
  Index row, col;
  T value;
};

/// Reads one file on rank 0 for all.
template <class T>
class Input {
 public:
  Input(Runtime& runtime, const std::string& path) : runtime_(runtime), path_(path) {
    Index head[3] = {};
    on_root(runtime, [&] {
      reader_ = std::make_unique<MatrixMarketReader>(path);
      const MatrixMarketHeader& header = reader_->header();
      if (header.field == MatrixMarketField::complex && !is_complex<T>)
        throw InputError(path, 1, fmt::format("a complex matrix cannot be read as type {}", type_letter<T>));
      head[0] = header.rows;
      head[1] = header.columns;
      head[2] = static_cast<Index>(symmetry_of<T>(header.symmetry));
    });
    runtime.broadcast(head, sizeof head, 0);
    rows_ = head[0];
    cols_ = head[1];
    symmetry_ = static_cast<Symmetry>(head[2]);
  }

  Symmetry symmetry() const noexcept { return symmetry_; }
  /// @throws InputError if the sizes are those of another matrix.
  void require_sizes(const std::string& sizes_name, Index rows, Index cols) const {
    const auto require = [&](const char* what, Index blocks, Index elements) {
      if (blocks != elements)
        throw InputError(sizes_name, 0,
                         fmt::format("the block sizes along the {} add up to {}, while {} has {} {}", what,
                                     blocks, path_, elements, what));
    };
    require("rows", rows, rows_);
    require("columns", cols, cols_);
  }

  BlockSparseMatrix<T> read(const BlockLayout& layout) {
    BlockLayout stored;
    agree(runtime_, 0, [&] {
      require_sizes(path_, layout.rows->elements(), layout.cols->elements());
      stored = layout_in_file<T>(path_, layout, symmetry_);
    });
    std::vector<BlockCoordinate> blocks;
    on_root(runtime_, [&] { blocks = blocks_in_file(stored); });
    Sequence sequence(runtime_);
    auto a = zero_matrix<T>(sequence, BlockPattern::make(runtime_, stored, blocks));
    finish(sequence);
    {
      const LocalElements<T> elements(a, HostAccess::Mode::read_write);
      stream_from_root(
          runtime_, [&](const auto& emit) { send_entries(emit); },
          [&](Bytes piece) {
            for (std::size_t at = 0; at < piece.size(); at += sizeof(Entry<T>)) {
              Entry<T> entry;
              std::memcpy(&entry, piece.data() + at, sizeof entry);
              elements.add(entry.row, entry.col, entry.value);
            }
          });
    }
    return in_layout(std::move(a), layout);
  }

 private:
  /// Calls visit(entry) for each of the file.
  template <class Visit>
  void for_each_entry(const Visit& visit) {
    reader_->for_each([&](Index i, Index j, std::complex<double> value) {
      Entry<T> entry{i, j, matrix_market_value<T>(*reader_, value)};
      if (symmetry_ != Symmetry::none && i < j) {
        std::swap(entry.row, entry.col);
        if (symmetry_ == Symmetry::hermitian) entry.value = conjugate(entry.value);
        if (symmetry_ == Symmetry::antisymmetric) entry.value = -entry.value;
      }
      visit(entry);
    });
  }

  std::vector<BlockCoordinate> blocks_in_file(const BlockLayout& layout) {
    std::unordered_set<Index> seen;
    const Index block_rows = layout.rows->blocks();
    Index last = -1;
    for_each_entry([&](const Entry<T>& entry) {
      const Index key = layout.rows->block_of(entry.row) + layout.cols->block_of(entry.col) * block_rows;
      if (key != last) seen.insert(key);
      last = key;
    });
    std::vector<BlockCoordinate> blocks;
    for (const Index key : seen) blocks.push_back({key % block_rows, key / block_rows});
    return blocks;
  }

  void send_entries(const std::function<void(Bytes)>& emit) {
    constexpr std::size_t piece = std::size_t{1} << 16;
    std::vector<Entry<T>> entries;
    const auto send = [&] {
      emit(std::as_bytes(std::span<const Entry<T>>(entries)));
      entries.clear();
    };
    for_each_entry([&](const Entry<T>& entry) {
      entries.push_back(entry);
      if (entries.size() == piece) send();
    });
    send();
  }

  Runtime& runtime_;
  std::string path_;
  std::unique_ptr<MatrixMarketReader> reader_;  // on rank 0
  Index rows_ = 0, cols_ = 0;
  Symmetry symmetry_ = Symmetry::none;
};

/// The elements that go into a file.
template <class T>
class Selection {
 public:
  Selection(const BlockSparseMatrix<T>& a, double threshold) : layout_(a.layout()), threshold_(threshold) {}

  bool contains(Index row, Index col, T value) const {
    if (layout_.symmetry == Symmetry::antisymmetric ? row <= col
                                                    : layout_.symmetry != Symmetry::none && row < col)
      return false;
    return !(std::abs(value) <= threshold_);
  }
  T shown(Index row, Index col, T value) const {
    return layout_.symmetry == Symmetry::hermitian && row == col ? T(real_part(value)) : value;
  }
  /// Of all ranks. Collective.
  Index count(const BlockSparseMatrix<T>& a) const {
    double count = 0;
    a.for_each_block([&](Index i, Index j, MatrixView<const T> values) {
      for (Index c = 0; c < values.cols; ++c)
        for (Index r = 0; r < values.rows; ++r)
          count += contains(layout_.rows->first(i) + r, layout_.cols->first(j) + c, values(r, c));
    });
    a.runtime().all_reduce_sum(&count, 1);
    return static_cast<Index>(count);
  }

 private:
  const BlockLayout& layout_;
  double threshold_;
};

template <class T>
BlockSparseMatrix<T> read_with_sizes(Runtime& runtime, const std::string& path,
                                     const std::string& sizes_path) {
  Input<T> input(runtime, path);
  BlockSizes sizes;
  on_root(runtime, [&] {
    sizes = read_block_sizes(sizes_path);
    const auto sum = [](const std::vector<Index>& list) {
      return std::accumulate(list.begin(), list.end(), Index(0));
    };
    input.require_sizes(sizes_path, sum(sizes.rows), sum(sizes.cols));
    if (input.symmetry() != Symmetry::none && sizes.rows != sizes.cols)
      throw InputError(sizes_path, 0,
                       fmt::format("columns have other block sizes than rows, while {} is symmetric", path));
  });
  sizes.rows = broadcast_list(runtime, std::move(sizes.rows));
  sizes.cols = broadcast_list(runtime, std::move(sizes.cols));
  BlockLayout layout;
  agree(runtime, 0, [&] { layout = make_block_layout(runtime, sizes.rows, sizes.cols, input.symmetry()); });
  return input.read(layout);
}

template <class T>
void write_elements(const std::string& path, const BlockSparseMatrix<T>& a, double threshold) {
  const Selection<T> selection(a, threshold);
  const MatrixMarketHeader header{
      .format = MatrixMarketFormat::coordinate,
      .field = is_complex<T> ? MatrixMarketField::complex : MatrixMarketField::real,
      .symmetry = symmetry_in_file(a.symmetry(), is_complex<T>),
      .rows = a.rows(),
      .columns = a.cols(),
      .entries = selection.count(a)};
  std::unique_ptr<MatrixMarketEntryWriter> writer;
  on_root(a.runtime(), [&] { writer = std::make_unique<MatrixMarketEntryWriter>(path, header); });
  const BlockDimension &rows = a.pattern().rows(), &cols = a.pattern().cols();
  // Row after row of elements through the blocks of one block row.
  const auto write_row = [&](std::span<const GatheredBlock<T>> blocks) {
    const Index row = blocks.front().at.row;
    for (Index r = 0; r < rows.size(row); ++r)
      for (const GatheredBlock<T>& block : blocks)
        for (Index c = 0; c < cols.size(block.at.col); ++c) {
          const Index i = rows.first(row) + r, j = cols.first(block.at.col) + c;
          const T value = block.values[r + c * rows.size(row)];
          if (selection.contains(i, j, value)) writer->append(i, j, selection.shown(i, j, value));
        }
  };
  RowGather<T>(a).run([&](std::span<const GatheredBlock<T>> blocks) {
    for (std::size_t first = 0, end = 0; first < blocks.size(); first = end) {
      while (end < blocks.size() && blocks[end].at.row == blocks[first].at.row) ++end;
      write_row(blocks.subspan(first, end - first));
    }
  });
  on_root(a.runtime(), [&] { writer->close(); });
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
BlockSparseMatrix<T> read_matrix_market(Runtime& runtime, const std::string& path,
                                        const std::string& sizes_path) {
  return collectively(runtime, "read_matrix_market with block sizes", 0,
                      [&] { return read_with_sizes<T>(runtime, path, sizes_path); });
}

template <class T>
BlockSparseMatrix<T> read_matrix_market(Runtime& runtime, const std::string& path,
                                        const BlockLayout& layout) {
  return collectively(
      runtime, "read_matrix_market", layout.hash(runtime), [&] { layout.require_valid(runtime); },
      [&] { return Input<T>(runtime, path).read(layout); });
}

template <class T>
void write_matrix_market(const std::string& path, const BlockSparseMatrix<T>& a, double threshold) {
  collectively(runtime_of("a", a), "write_matrix_market", argument_hash(threshold, shape_hash(a)),
               [&] { write_elements(path, a, threshold); });
}

#define TESSERA_INSTANTIATE(T)                                                                           \
  template BlockSparseMatrix<T> read_matrix_market<T>(Runtime&, const std::string&, const std::string&); \
  template BlockSparseMatrix<T> read_matrix_market<T>(Runtime&, const std::string&, const BlockLayout&); \
  template void write_matrix_market<T>(const std::string&, const BlockSparseMatrix<T>&, double);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
