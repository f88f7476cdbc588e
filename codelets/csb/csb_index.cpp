// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <vector>

#include <tessera/codelets/csb/csb_index.hpp>

namespace tessera {
namespace {

using Runs = std::vector<std::uint32_t>;

/// The positions of a block's entries in the order of its columns, rows ascending in a column; without those
/// on the diagonal of a piece on the diagonal.
template <class V>
class ColumnOrder {
 public:
  const std::vector<std::uint16_t>& of(const CsbPieceView<V>& piece, const CsbBlock& block) {
    const std::uint16_t *const rows = piece.rows + block.first_entry, *const columns =
                                                                          piece.columns + block.first_entry;
    const auto counts = [&](std::uint32_t e) {
      return !piece.on_diagonal || block.first_row + rows[e] != block.first_column + columns[e];
    };
    positions_.clear();
    if (std::uint32_t(block.last_column) < 4 * block.entries) {
      begins_.assign(std::size_t(block.last_column) + 2, 0);
      for (std::uint32_t e = 0; e < block.entries; ++e)
        if (counts(e)) ++begins_[std::size_t(columns[e]) + 1];
      for (std::size_t c = 1; c < begins_.size(); ++c) begins_[c] += begins_[c - 1];
      positions_.resize(begins_.back());
      for (std::uint32_t e = 0; e < block.entries; ++e)
        if (counts(e)) positions_[begins_[columns[e]]++] = static_cast<std::uint16_t>(e);
    } else {  // few entries: no array as long as the block is wide
      for (std::uint32_t e = 0; e < block.entries; ++e)
        if (counts(e)) positions_.push_back(static_cast<std::uint16_t>(e));
      std::stable_sort(positions_.begin(), positions_.end(),
                       [&](std::uint16_t p, std::uint16_t q) { return columns[p] < columns[q]; });
    }
    return positions_;
  }

 private:
  std::vector<std::uint16_t> positions_;
  std::vector<std::uint32_t> begins_;
};

/// Cuts `count` entries with ascending rows base + row(e) of Y into chunks: emit(strip, first entry, entries,
/// runs).
template <class Row, class Emit>
void cut_into_chunks(std::int64_t base, std::int64_t count, const Row& row, Runs& runs, const Emit& emit) {
  std::int64_t strip = 0, begin = 0;
  runs.clear();
  const auto close = [&](std::int64_t end) {
    if (runs.empty()) return;
    std::stable_sort(runs.begin(), runs.end(),
                     [](std::uint32_t a, std::uint32_t b) { return csb_run_length(a) > csb_run_length(b); });
    emit(strip, begin, end - begin, runs);
    runs.clear();
  };
  for (std::int64_t e = 0; e < count;) {
    std::int64_t end = e + 1;
    while (end < count && row(end) == row(e)) ++end;
    const std::int64_t to = base + row(e), its_strip = to / csb_strip_rows;
    while (e < end) {  // a run longer than a chunk goes on in the next one
      if (its_strip != strip || end - begin > csb_chunk_entries) {
        close(e);
        strip = its_strip;
        begin = e;
      }
      const std::int64_t length = std::min(end - e, csb_chunk_entries);
      runs.push_back(csb_run(e - begin, length, to - strip * csb_strip_rows));
      e += length;
    }
  }
  close(count);
}

/// Goes through all chunks, in the order of their blocks: emit(strip, chunk, runs) with chunk.first_run not
/// yet known, and order(block, positions) once for each block.
template <class V, class Emit, class Order>
void for_chunks(const CsbPieceView<V>& piece, std::int64_t rows, const Emit& emit, const Order& order) {
  ColumnOrder<V> column_order;
  Runs runs;
  const std::int64_t first_strip[2] = {0, piece.on_diagonal ? 0 : csb_strips(rows)};
  for (std::int64_t b = 0; b < piece.block_count; ++b) {
    const CsbBlock& block = piece.blocks[b];
    const auto emit_side = [&](int side, std::uint32_t gather) {
      return [&emit, &block, &first_strip, side, gather](std::int64_t strip, std::int64_t begin,
                                                         std::int64_t entries, const Runs& chunk_runs) {
        const auto is_long = [](std::uint32_t run) { return csb_run_length(run) >= csb_long_run; };
        const auto long_runs = std::count_if(chunk_runs.begin(), chunk_runs.end(), is_long);
        emit(first_strip[side] + strip,
             CsbChunk{block.first_entry + begin, block.first_entry, 0, gather,
                      static_cast<std::uint16_t>(entries), static_cast<std::uint16_t>(chunk_runs.size()),
                      static_cast<std::uint16_t>(long_runs), static_cast<std::uint16_t>(side)},
             chunk_runs);
      };
    };
    const std::uint16_t *const local_rows = piece.rows + block.first_entry, *const local_columns =
                                                                                piece.columns +
                                                                                block.first_entry;
    cut_into_chunks(
        block.first_row, block.entries, [&](std::int64_t e) { return local_rows[e]; }, runs,
        emit_side(0, block.first_column));
    const auto& positions = column_order.of(piece, block);
    order(block, positions);
    cut_into_chunks(
        block.first_column, static_cast<std::int64_t>(positions.size()),
        [&](std::int64_t e) { return local_columns[positions[static_cast<std::size_t>(e)]]; }, runs,
        emit_side(1, block.first_row));
  }
}

/// Where the parts lie.
CsbIndexHeader make_header(std::int64_t strips, std::int64_t chunks, std::int64_t runs, std::int64_t entries,
                           CsbOrder order, std::int64_t value_bytes) {
  CsbIndexHeader h{};
  h.strip_count = strips;
  h.chunk_count = chunks;
  h.run_count = runs;
  std::int64_t end = csb_aligned(sizeof(CsbIndexHeader));
  const auto place = [&end](std::int64_t bytes) {
    const std::int64_t at = end;
    end += csb_aligned(bytes);
    return at;
  };
  h.strips_offset = place(strips * std::int64_t(sizeof(CsbStrip)));
  h.chunks_offset = place(chunks * std::int64_t(sizeof(CsbChunk)));
  h.runs_offset = place(runs * 4);
  h.rows_offset = place(entries * 2);
  if (order == CsbOrder::positions)
    h.positions_offset = place(entries * 2);
  else
    h.values_offset = place(entries * value_bytes);
  h.total = end;
  return h;
}

template <class V>
std::int64_t strips_of(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns) {
  return csb_strips(rows) + (piece.on_diagonal ? 0 : csb_strips(columns));
}

}  // namespace

template <class V>
std::int64_t csb_index_bytes(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns,
                             CsbOrder order) {
  std::int64_t chunks = 0, runs = 0;
  for_chunks(
      piece, rows,
      [&](std::int64_t, const CsbChunk&, const Runs& chunk_runs) {
        ++chunks;
        runs += static_cast<std::int64_t>(chunk_runs.size());
      },
      [](const CsbBlock&, const std::vector<std::uint16_t>&) {});
  return make_header(strips_of(piece, rows, columns), chunks, runs, piece.entry_count, order, sizeof(V))
      .total;
}

template <class V>
void build_csb_index(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns, CsbOrder order,
                     void* index) {
  const std::int64_t strip_count = strips_of(piece, rows, columns), row_strips = csb_strips(rows);
  std::vector<CsbStrip> strips(static_cast<std::size_t>(strip_count));
  for (std::int64_t s = 0; s < strip_count; ++s) {
    const bool side = s >= row_strips;
    const std::int64_t first = (s - (side ? row_strips : 0)) * csb_strip_rows;
    strips[static_cast<std::size_t>(s)] = {
        static_cast<std::uint32_t>(first),
        static_cast<std::uint16_t>(std::min((side ? columns : rows) - first, csb_strip_rows)),
        static_cast<std::uint16_t>(side), 0, 0};
  }
  std::int64_t chunk_count = 0, run_count = 0;
  std::vector<std::int64_t> entries(strips.size(), 0);
  for_chunks(
      piece, rows,
      [&](std::int64_t s, const CsbChunk& chunk, const Runs& chunk_runs) {
        ++chunk_count;
        ++strips[static_cast<std::size_t>(s)].chunks;
        entries[static_cast<std::size_t>(s)] += chunk.entries;
        run_count += static_cast<std::int64_t>(chunk_runs.size());
      },
      [](const CsbBlock&, const std::vector<std::uint16_t>&) {});

  const CsbIndexHeader header =
      make_header(strip_count, chunk_count, run_count, piece.entry_count, order, sizeof(V));
  char* const memory = static_cast<char*>(index);
  std::memcpy(memory, &header, sizeof(header));
  auto* const chunks = reinterpret_cast<CsbChunk*>(memory + header.chunks_offset);
  auto* const runs = reinterpret_cast<std::uint32_t*>(memory + header.runs_offset);
  auto* const ordered_rows = reinterpret_cast<std::uint16_t*>(memory + header.rows_offset);
  auto* const ordered_positions = reinterpret_cast<std::uint16_t*>(memory + header.positions_offset);
  auto* const ordered_values = reinterpret_cast<V*>(memory + header.values_offset);

  std::vector<std::uint32_t> next(strips.size());
  std::uint32_t first_chunk = 0;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    strips[s].first_chunk = next[s] = first_chunk;
    first_chunk += strips[s].chunks;
  }
  std::int64_t first_run = 0;
  for_chunks(
      piece, rows,
      [&](std::int64_t s, const CsbChunk& chunk, const Runs& chunk_runs) {
        CsbChunk& to = chunks[next[static_cast<std::size_t>(s)]++];
        to = chunk;
        to.first_run = first_run;
        std::copy(chunk_runs.begin(), chunk_runs.end(), runs + first_run);
        first_run += static_cast<std::int64_t>(chunk_runs.size());
      },
      [&](const CsbBlock& block, const std::vector<std::uint16_t>& positions) {
        for (std::size_t e = 0; e < block.entries; ++e) {
          // Places that the diagonal leaves free repeat the first position, so that all bytes are defined.
          const std::size_t place = static_cast<std::size_t>(block.first_entry) + e;
          const std::uint16_t position = e < positions.size() ? positions[e] : std::uint16_t(0);
          ordered_rows[place] = piece.rows[block.first_entry + position];
          if (order == CsbOrder::positions)
            ordered_positions[place] = position;
          else
            ordered_values[place] = piece.values[block.first_entry + position];
        }
      });

  // Those with most work begin first.
  std::vector<std::uint32_t> by_work(strips.size());
  for (std::size_t s = 0; s < strips.size(); ++s) by_work[s] = static_cast<std::uint32_t>(s);
  std::stable_sort(by_work.begin(), by_work.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return entries[a] > entries[b]; });
  auto* const sorted_strips = reinterpret_cast<CsbStrip*>(memory + header.strips_offset);
  for (std::size_t s = 0; s < strips.size(); ++s) sorted_strips[s] = strips[by_work[s]];
}

#define TESSERA_INSTANTIATE(V)                                                                            \
  template std::int64_t csb_index_bytes<V>(const CsbPieceView<V>&, std::int64_t, std::int64_t, CsbOrder); \
  template void build_csb_index<V>(const CsbPieceView<V>&, std::int64_t, std::int64_t, CsbOrder, void*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)

}  // namespace tessera
