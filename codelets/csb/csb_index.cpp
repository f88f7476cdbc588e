// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include <tessera/codelets/csb/csb_index.hpp>

namespace tessera {
namespace {

/// Entries of a strip in a window, for each of its rows. With 8 and with 24 of them the product of 48Cr and
/// eight double vectors takes equally long on an H200; longer windows have fewer places without entries.
constexpr std::int64_t window_entries_of_row = 16;
/// Windows begin and end at multiples of this.
constexpr std::int64_t bin_rows = 256;
constexpr std::int64_t most_bins = 65536 / bin_rows - 1;

/// Both triangles by rows of Y: those of Y_I, then those of Y_J.
template <class V>
struct PieceRows {
  std::vector<std::int64_t> begins;
  std::vector<std::uint32_t> x;  ///< rows of X_J, or of X_I, ascending in a row of Y
  std::vector<V> values;

  PieceRows(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns) {
    const std::int64_t second = piece.on_diagonal ? 0 : rows;
    begins.assign(static_cast<std::size_t>(second + columns) + 1, 0);
    for_entries(piece, 0, [&](std::int64_t i, std::int64_t, V) { ++begins[std::size_t(i) + 1]; });
    for_entries(piece, 1, [&](std::int64_t i, std::int64_t, V) { ++begins[std::size_t(second + i) + 1]; });
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    x.resize(static_cast<std::size_t>(begins.back()));
    values.resize(x.size());
    std::vector<std::int64_t> next(begins.begin(), begins.end() - 1);
    const auto put = [&](std::int64_t i, std::int64_t j, V value) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++);
      x[at] = static_cast<std::uint32_t>(j);
      values[at] = value;
    };
    for_entries(piece, 0, put);
    for_entries(piece, 1, [&](std::int64_t i, std::int64_t j, V value) { put(second + i, j, value); });
    sort_rows();
  }

 private:
  /// visit(row of Y, row of X, value): side 0, Y_I += A X_J, or side 1, Y_J += A^T X_I without what is on the
  /// diagonal.
  template <class Visit>
  static void for_entries(const CsbPieceView<V>& piece, int side, const Visit& visit) {
    for (std::int64_t b = 0; b < piece.block_count; ++b) {
      const CsbBlock& block = piece.blocks[b];
      for (std::int64_t e = block.first_entry; e < block.first_entry + block.entries; ++e) {
        const std::int64_t row = std::int64_t(block.first_row) + piece.rows[e],
                           column = std::int64_t(block.first_column) + piece.columns[e];
        if (side == 0)
          visit(row, column, piece.values[e]);
        else if (!piece.on_diagonal || row != column)
          visit(column, row, piece.values[e]);
      }
    }
  }
  void sort_rows() {
    std::vector<std::pair<std::uint32_t, V>> sorted;
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
      const auto begin = static_cast<std::size_t>(begins[i]), end = static_cast<std::size_t>(begins[i + 1]);
      if (std::is_sorted(x.begin() + begins[i], x.begin() + begins[i + 1])) continue;
      sorted.clear();
      for (std::size_t e = begin; e < end; ++e) sorted.emplace_back(x[e], values[e]);
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t e = begin; e < end; ++e) std::tie(x[e], values[e]) = sorted[e - begin];
    }
  }
};

/// A strip, cut into windows.
struct StripPlan {
  CsbStrip strip;
  std::int64_t warps = 0;
  std::int64_t first = 0;  ///< its first row in PieceRows
  std::int64_t entries = 0;
  std::vector<std::uint32_t> begins;  ///< of its windows, rows of X
  std::vector<CsbWarpSteps> steps;    ///< `warps` for each window
};

template <class V>
class StripPlanner {
 public:
  StripPlanner(const PieceRows<V>& rows, std::int64_t x_rows)
      : rows_(rows), bins_(static_cast<std::size_t>(x_rows / bin_rows + 1)) {}

  void operator()(StripPlan& plan) {
    const std::int64_t begin = rows_.begins[static_cast<std::size_t>(plan.first)],
                       end = rows_.begins[static_cast<std::size_t>(plan.first + plan.strip.rows)];
    plan.entries = end - begin;
    cut(plan, begin, end);
    count_steps(plan);
    plan.strip.windows = static_cast<std::uint32_t>(plan.begins.size());
  }

 private:
  void cut(StripPlan& plan, std::int64_t begin, std::int64_t end) {
    std::fill(bins_.begin(), bins_.end(), 0);
    for (std::int64_t e = begin; e < end; ++e) ++bins_[rows_.x[static_cast<std::size_t>(e)] / bin_rows];
    const std::int64_t most = window_entries_of_row * plan.strip.rows;
    std::int64_t entries = 0;
    std::size_t first = 0;
    for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
      if (bins_[bin] == 0) continue;
      if (entries == 0 || entries + bins_[bin] > most || bin - first >= most_bins) {
        plan.begins.push_back(static_cast<std::uint32_t>(static_cast<std::int64_t>(bin) * bin_rows));
        first = bin;
        entries = 0;
      }
      entries += bins_[bin];
    }
  }

  void count_steps(StripPlan& plan) const {
    plan.steps.assign(plan.begins.size() * static_cast<std::size_t>(plan.warps), CsbWarpSteps{});
    for (std::int64_t r = 0; r < plan.strip.rows; ++r)
      for_parts(rows_, plan, r, [&](std::size_t window, std::int64_t begin, std::int64_t end) {
        std::uint16_t& steps = plan.steps[window * static_cast<std::size_t>(plan.warps) +
                                          static_cast<std::size_t>(r / csb_warp_rows)]
                                   .of_slice[r % csb_warp_rows / csb_slice_rows];
        steps = std::max(steps, static_cast<std::uint16_t>(end - begin));
      });
  }

 public:
  /// visit(window, begin, end) for the windows that a row of the strip has entries in.
  template <class Visit>
  static void for_parts(const PieceRows<V>& rows, const StripPlan& plan, std::int64_t row,
                        const Visit& visit) {
    const std::int64_t last = rows.begins[static_cast<std::size_t>(plan.first + row) + 1];
    std::size_t window = 0;
    for (std::int64_t e = rows.begins[static_cast<std::size_t>(plan.first + row)]; e < last;) {
      const auto at = [&](std::int64_t k) { return rows.x[static_cast<std::size_t>(k)]; };
      while (window + 1 < plan.begins.size() && plan.begins[window + 1] <= at(e)) ++window;
      std::int64_t end = e + 1;
      while (end < last && (window + 1 == plan.begins.size() || at(end) < plan.begins[window + 1])) ++end;
      visit(window, e, end);
      e = end;
    }
  }

 private:
  const PieceRows<V>& rows_;
  std::vector<std::int64_t> bins_;
};

/// All strips, those with most entries first.
template <class V>
std::vector<StripPlan> plan_strips(const PieceRows<V>& piece_rows, bool on_diagonal, std::int64_t rows,
                                   std::int64_t columns) {
  std::vector<StripPlan> plans;
  StripPlanner<V> planner(piece_rows, std::max(rows, columns));
  const std::int64_t warps = csb_strip_warps(rows + (on_diagonal ? 0 : columns)),
                     strip_rows = warps * csb_warp_rows;
  for (int side = 0; side < (on_diagonal ? 1 : 2); ++side) {
    const std::int64_t count = side ? columns : rows;
    for (std::int64_t first = 0; first < count; first += strip_rows) {
      StripPlan& plan = plans.emplace_back();
      plan.strip = {static_cast<std::uint32_t>(first),
                    static_cast<std::uint16_t>(std::min(count - first, strip_rows)),
                    static_cast<std::uint16_t>(side), 0, 0};
      plan.warps = warps;
      plan.first = (side ? rows : 0) + first;
      planner(plan);
    }
  }
  std::stable_sort(plans.begin(), plans.end(),
                   [](const StripPlan& a, const StripPlan& b) { return a.entries > b.entries; });
  std::uint32_t window = 0;
  for (StripPlan& plan : plans) {
    plan.strip.first_window = window;
    window += plan.strip.windows;
  }
  return plans;
}

/// Groups of coordinates of a slice.
constexpr std::int64_t coordinate_groups(std::int64_t steps) noexcept {
  return (steps + csb_coordinate_steps - 1) / csb_coordinate_steps;
}

/// Where the parts lie.
CsbIndexHeader make_header(const std::vector<StripPlan>& plans, std::int64_t value_bytes) {
  CsbIndexHeader h{};
  h.strip_count = static_cast<std::int64_t>(plans.size());
  h.strip_warps = plans.empty() ? 0 : plans.front().warps;
  for (const StripPlan& plan : plans) {
    h.window_count += plan.strip.windows;
    for (const CsbWarpSteps& steps : plan.steps)
      for (const std::uint16_t count : steps.of_slice) {
        h.step_count += count;
        h.coordinate_count += coordinate_groups(count);
      }
  }
  std::int64_t end = csb_aligned(sizeof(CsbIndexHeader));
  const auto place = [&end](std::int64_t bytes) {
    const std::int64_t at = end;
    end += csb_aligned(bytes);
    return at;
  };
  h.strips_offset = place(h.strip_count * std::int64_t(sizeof(CsbStrip)));
  h.starts_offset = place(h.strip_count * h.strip_warps * std::int64_t(sizeof(CsbWarpStart)));
  h.windows_offset = place(h.window_count * 4);
  h.steps_offset = place(h.window_count * h.strip_warps * std::int64_t(sizeof(CsbWarpSteps)));
  h.values_offset = place(h.step_count * csb_slice_rows * value_bytes);
  h.coordinates_offset = place(h.coordinate_count * csb_slice_rows * csb_coordinate_steps * 2);
  h.total = csb_aligned(end + csb_read_ahead * csb_slice_rows * value_bytes);
  return h;
}

/// A strip's steps: values and coordinates from `start` on; on return `start` is behind them.
template <class V>
void write_strip(const PieceRows<V>& rows, const StripPlan& plan, CsbWarpStart* starts, CsbWarpStart& start,
                 V* values, std::uint16_t* coordinates) {
  const std::size_t windows = plan.begins.size();
  std::vector<CsbWarpStart> places(windows * csb_warp_slices);
  for (std::int64_t warp = 0; warp < plan.warps; ++warp) {
    starts[warp] = start;
    for (std::size_t w = 0; w < windows; ++w)
      for (std::int64_t q = 0; q < csb_warp_slices; ++q) {
        const std::int64_t steps =
            plan.steps[w * static_cast<std::size_t>(plan.warps) + static_cast<std::size_t>(warp)].of_slice[q];
        const std::int64_t groups = coordinate_groups(steps);
        places[w * csb_warp_slices + static_cast<std::size_t>(q)] = start;
        std::fill_n(values + start.step * csb_slice_rows, steps * csb_slice_rows, V(0));
        start.step += steps;
        start.coordinates += groups;
      }
    const std::int64_t first = warp * csb_warp_rows;
    for (std::int64_t r = first; r < std::min<std::int64_t>(first + csb_warp_rows, plan.strip.rows); ++r) {
      const std::int64_t q = (r - first) / csb_slice_rows, place = r % csb_slice_rows;
      StripPlanner<V>::for_parts(rows, plan, r, [&](std::size_t w, std::int64_t begin, std::int64_t end) {
        const CsbWarpStart& at = places[w * csb_warp_slices + static_cast<std::size_t>(q)];
        for (std::int64_t k = 0; k < end - begin; ++k) {
          const auto e = static_cast<std::size_t>(begin + k);
          values[(at.step + k) * csb_slice_rows + place] = rows.values[e];
          coordinates[((at.coordinates + k / csb_coordinate_steps) * csb_slice_rows + place) *
                          csb_coordinate_steps +
                      k % csb_coordinate_steps] = static_cast<std::uint16_t>(rows.x[e] - plan.begins[w]);
        }
      });
    }
  }
}

}  // namespace

template <class V>
std::int64_t csb_index_bytes(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns) {
  return make_header(plan_strips(PieceRows<V>(piece, rows, columns), piece.on_diagonal, rows, columns),
                     sizeof(V))
      .total;
}

template <class V>
void build_csb_index(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns, void* index) {
  const PieceRows<V> piece_rows(piece, rows, columns);
  const std::vector<StripPlan> plans = plan_strips(piece_rows, piece.on_diagonal, rows, columns);
  const CsbIndexHeader header = make_header(plans, sizeof(V));
  char* const memory = static_cast<char*>(index);
  std::memcpy(memory, &header, sizeof(header));
  auto* const strips = reinterpret_cast<CsbStrip*>(memory + header.strips_offset);
  auto* const starts = reinterpret_cast<CsbWarpStart*>(memory + header.starts_offset);
  auto* const windows = reinterpret_cast<std::uint32_t*>(memory + header.windows_offset);
  auto* const steps = reinterpret_cast<CsbWarpSteps*>(memory + header.steps_offset);
  std::memset(memory + header.coordinates_offset, 0xff,
              static_cast<std::size_t>(header.total - header.coordinates_offset));  // places without entries
  CsbWarpStart start{0, 0};
  for (std::size_t s = 0; s < plans.size(); ++s) {
    const StripPlan& plan = plans[s];
    strips[s] = plan.strip;
    std::copy(plan.begins.begin(), plan.begins.end(), windows + plan.strip.first_window);
    std::copy(plan.steps.begin(), plan.steps.end(),
              steps + std::int64_t(plan.strip.first_window) * plan.warps);
    write_strip(piece_rows, plan, starts + static_cast<std::int64_t>(s) * plan.warps, start,
                reinterpret_cast<V*>(memory + header.values_offset),
                reinterpret_cast<std::uint16_t*>(memory + header.coordinates_offset));
  }
}

#define TESSERA_INSTANTIATE(V)                                                                  \
  template std::int64_t csb_index_bytes<V>(const CsbPieceView<V>&, std::int64_t, std::int64_t); \
  template void build_csb_index<V>(const CsbPieceView<V>&, std::int64_t, std::int64_t, void*);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)

}  // namespace tessera
