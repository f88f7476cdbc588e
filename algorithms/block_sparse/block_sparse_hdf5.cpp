// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_sparse_hdf5.hpp>
#include <tessera/algorithms/block_sparse/file_layout.hpp>
#include <tessera/algorithms/block_sparse/local_elements.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/row_gather.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>

namespace tessera::detail {

namespace {

constexpr std::string_view format_name = "tessera block-sparse matrix 1";
constexpr std::pair<Symmetry, std::string_view> symmetry_names[] = {
    {Symmetry::none, "none"},
    {Symmetry::symmetric, "symmetric"},
    {Symmetry::antisymmetric, "antisymmetric"},
    {Symmetry::hermitian, "hermitian"}};

std::vector<Index> list(std::span<const Index> values) {
  return {values.begin(), values.end()};
}

/// Reads one matrix on rank 0 for all.
template <class T>
class Input {
 public:
  /// @param file on rank 0  @param prefix of the names of the matrix's arrays
  Input(Runtime& runtime, const std::string& path, Hdf5File* file, std::string prefix)
      : runtime_(runtime), path_(path), file_(file), prefix_(std::move(prefix)) {
    std::vector<Index> symmetry;
    on_root(runtime, [&] {
      symmetry.push_back(static_cast<Index>(read_symmetry()));
      sizes_.rows = read_integers("row_block_sizes");
      sizes_.cols = read_integers("col_block_sizes");
      read_blocks();
    });
    symmetry_ = static_cast<Symmetry>(broadcast_list(runtime, std::move(symmetry)).front());
    sizes_.rows = broadcast_list(runtime, std::move(sizes_.rows));
    sizes_.cols = broadcast_list(runtime, std::move(sizes_.cols));
  }

  const BlockSizes& sizes() const noexcept { return sizes_; }
  Symmetry symmetry() const noexcept { return symmetry_; }

  BlockSparseMatrix<T> read(const BlockLayout& layout) {
    BlockLayout stored;
    agree(runtime_, 0, [&] {
      if (list(layout.rows->sizes()) != sizes_.rows || list(layout.cols->sizes()) != sizes_.cols)
        throw InputError(path_, 0, "its block sizes are not those of the layout to read it into");
      stored = layout_in_file<T>(path_, layout, symmetry_);
    });
    BlockSparseMatrix<T> a(BlockPattern::make(runtime_, stored, blocks_));
    {
      const LocalElements<T> elements(a, HostAccess::Mode::write);
      stream_from_root(
          runtime_, [&](const auto& emit) { send_blocks(emit); },
          [&](Bytes piece) { take_blocks(a.pattern(), elements, piece); });
    }
    return in_layout(std::move(a), layout);
  }

 private:
  Symmetry read_symmetry() {
    const std::string text = file_->read_attribute(prefix_ + "symmetry");
    for (const auto& [symmetry, name] : symmetry_names)
      if (name == text) return symmetry;
    throw InputError(path_, 0, fmt::format("unknown symmetry '{}'", text.substr(0, 24)));
  }

  std::vector<Index> read_integers(const std::string& name) {
    std::vector<Index> values(static_cast<std::size_t>(file_->length(prefix_ + name)));
    file_->read_elements(prefix_ + name, 0, static_cast<Index>(values.size()), values.data());
    return values;
  }

  /// The blocks' numbers, and whether the values are as many as they need.
  void read_blocks() {
    constexpr Index most = std::numeric_limits<std::int32_t>::max();
    for (const auto* sizes : {&sizes_.rows, &sizes_.cols}) {
      Index sum = 0;
      for (const Index size : *sizes) {
        if (size < 0 || size > most)
          throw InputError(path_, 0, fmt::format("the block size {} is outside 0..{}", size, most));
        require_sum(__builtin_add_overflow(sum, size, &sum));
      }
    }
    const Symmetry symmetry = read_symmetry();
    if (symmetry != Symmetry::none && sizes_.rows != sizes_.cols)
      throw InputError(path_, 0, "it is half of a square matrix, but its columns have other block sizes");
    const std::vector<Index> row = read_integers("block_row"), col = read_integers("block_col");
    if (row.size() != col.size())
      throw InputError(path_, 0,
                       fmt::format("'{0}block_row' has {1} elements, '{0}block_col' {2}", prefix_, row.size(),
                                   col.size()));
    Index elements = 0;
    for (std::size_t b = 0; b < row.size(); ++b) {
      const bool inside = row[b] >= 0 && row[b] < static_cast<Index>(sizes_.rows.size()) && col[b] >= 0 &&
                          col[b] < static_cast<Index>(sizes_.cols.size());
      if (!inside || (symmetry != Symmetry::none && row[b] < col[b]))
        throw InputError(path_, 0,
                         fmt::format("block {}, ({}, {}), is outside the {}", b, row[b], col[b],
                                     inside ? "lower half" : "matrix"));
      blocks_.push_back({row[b], col[b]});
      require_sum(__builtin_add_overflow(elements, size_of(blocks_.back()), &elements));
    }
    auto sorted = blocks_;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      throw InputError(path_, 0, fmt::format("the block ({}, {}) is given twice", twice->row, twice->col));
    if (const Index length = file_->length(prefix_ + "values"); length != elements)
      throw InputError(
          path_, 0, fmt::format("'{}values' has {} elements, the blocks have {}", prefix_, length, elements));
  }

  void require_sum(bool overflow) const {
    if (overflow) throw InputError(path_, 0, "its block sizes add up to more than 64 bits hold");
  }

  /// At most 2^62.
  Index size_of(BlockCoordinate block) const {
    return sizes_.rows[static_cast<std::size_t>(block.row)] *
           sizes_.cols[static_cast<std::size_t>(block.col)];
  }

  /// Pieces of whole blocks: their number, their coordinates, their values.
  void send_blocks(const std::function<void(Bytes)>& emit) {
    constexpr Index enough = Index(1) << 18;  // elements and blocks
    Index offset = 0;
    std::vector<std::byte> piece;
    for (std::size_t first = 0, end = 0; first < blocks_.size(); first = end) {
      Index elements = 0;
      for (; end < blocks_.size() && elements + static_cast<Index>(end - first) < enough; ++end)
        elements += size_of(blocks_[end]);
      const std::size_t count = end - first, coordinates = count * sizeof(BlockCoordinate);
      piece.resize(sizeof count + coordinates + static_cast<std::size_t>(elements) * sizeof(T));
      std::memcpy(piece.data(), &count, sizeof count);
      std::memcpy(piece.data() + sizeof count, blocks_.data() + first, coordinates);
      file_->read_elements(prefix_ + "values", offset, elements,
                           reinterpret_cast<T*>(piece.data() + sizeof count + coordinates));
      offset += elements;
      emit(piece);
    }
  }

  void take_blocks(const BlockPattern& pattern, const LocalElements<T>& elements, Bytes piece) const {
    std::size_t count = 0;
    std::memcpy(&count, piece.data(), sizeof count);
    const std::byte* at = piece.data() + sizeof count;
    const std::byte* values = at + count * sizeof(BlockCoordinate);
    for (std::size_t b = 0; b < count; ++b, at += sizeof(BlockCoordinate)) {
      BlockCoordinate block;
      std::memcpy(&block, at, sizeof block);
      const std::size_t bytes = static_cast<std::size_t>(size_of(block)) * sizeof(T);
      if (pattern.layout().owner(block.row, block.col) == runtime_.rank() && bytes > 0)
        std::memcpy(static_cast<void*>(elements.values(*pattern.find(block.row, block.col))), values, bytes);
      values += bytes;
    }
  }

  Runtime& runtime_;
  std::string path_;
  Hdf5File* file_;  // on rank 0
  std::string prefix_;
  BlockSizes sizes_;
  Symmetry symmetry_ = Symmetry::none;
  std::vector<BlockCoordinate> blocks_;  // on rank 0, in the file's order
};

/// A file of one matrix, open on rank 0.
std::unique_ptr<Hdf5File> open_matrix(Runtime& runtime, const std::string& path) {
  std::unique_ptr<Hdf5File> file;
  on_root(runtime, [&] {
    file = std::make_unique<Hdf5File>(Hdf5File::open(path));
    if (file->read_attribute("format") != format_name)
      throw InputError(path, 0, fmt::format("its attribute 'format' is not '{}'", format_name));
  });
  return file;
}

}  // namespace

template <class T>
void write_block_sparse(Hdf5File* file, const std::string& prefix, const BlockSparseMatrix<T>& a) {
  const BlockPattern& pattern = a.pattern();
  on_root(a.runtime(), [&] {
    for (const auto& [symmetry, name] : symmetry_names)
      if (symmetry == a.symmetry()) file->write_attribute(prefix + "symmetry", name);
    const auto write = [&](const std::string& name, std::span<const Index> values) {
      file->create_array<Index>(prefix + name, static_cast<Index>(values.size()));
      file->write_elements(prefix + name, 0, static_cast<Index>(values.size()), values.data());
    };
    write("row_block_sizes", pattern.rows().sizes());
    write("col_block_sizes", pattern.cols().sizes());
    file->create_array<Index>(prefix + "block_row", pattern.blocks());
    file->create_array<Index>(prefix + "block_col", pattern.blocks());
    file->create_array<T>(prefix + "values", pattern.elements());
  });
  Index block = 0, element = 0;
  std::vector<Index> row, col;
  std::vector<T> values;
  RowGather<T>(a).run([&](std::span<const GatheredBlock<T>> blocks) {
    row.clear();
    col.clear();
    values.clear();
    for (const GatheredBlock<T>& b : blocks) {
      row.push_back(b.at.row);
      col.push_back(b.at.col);
      values.insert(values.end(), b.values, b.values + b.elements);
    }
    const auto blocks_here = static_cast<Index>(row.size()), elements = static_cast<Index>(values.size());
    file->write_elements(prefix + "block_row", block, blocks_here, row.data());
    file->write_elements(prefix + "block_col", block, blocks_here, col.data());
    file->write_elements(prefix + "values", element, elements, values.data());
    block += blocks_here;
    element += elements;
  });
}

template <class T>
BlockSparseMatrix<T> read_block_sparse(Runtime& runtime, const std::string& path, Hdf5File* file,
                                       const std::string& prefix) {
  Input<T> input(runtime, path, file, prefix);
  BlockLayout layout;
  agree(runtime, 0, [&] {
    layout = make_block_layout(runtime, input.sizes().rows, input.sizes().cols, input.symmetry());
  });
  return input.read(layout);
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template void write_block_sparse<T>(Hdf5File*, const std::string&, const BlockSparseMatrix<T>&); \
  template BlockSparseMatrix<T> read_block_sparse<T>(Runtime&, const std::string&, Hdf5File*,      \
                                                     const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
BlockSparseMatrix<T> read_hdf5(Runtime& runtime, const std::string& path) {
  return collectively(runtime, "read_hdf5", 0, [&] {
    const auto file = open_matrix(runtime, path);
    return read_block_sparse<T>(runtime, path, file.get(), "");
  });
}

template <class T>
BlockSparseMatrix<T> read_hdf5(Runtime& runtime, const std::string& path, const BlockLayout& layout) {
  return collectively(
      runtime, "read_hdf5 in a layout", layout.hash(runtime), [&] { layout.require_valid(runtime); },
      [&] {
        const auto file = open_matrix(runtime, path);
        return Input<T>(runtime, path, file.get(), "").read(layout);
      });
}

template <class T>
void write_hdf5(const std::string& path, const BlockSparseMatrix<T>& a) {
  collectively(runtime_of("a", a), "write_hdf5", shape_hash(a), [&] {
    std::unique_ptr<Hdf5File> file;
    on_root(a.runtime(), [&] {
      file = std::make_unique<Hdf5File>(Hdf5File::create(path));
      file->write_attribute("format", format_name);
    });
    write_block_sparse(file.get(), "", a);
    on_root(a.runtime(), [&] { file->close(); });
  });
}

#define TESSERA_INSTANTIATE(T)                                                                  \
  template BlockSparseMatrix<T> read_hdf5<T>(Runtime&, const std::string&);                     \
  template BlockSparseMatrix<T> read_hdf5<T>(Runtime&, const std::string&, const BlockLayout&); \
  template void write_hdf5<T>(const std::string&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
