// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/codelets/sparse/csb_index.hpp>
#include <tessera/codelets/sparse/csb_piece_rows.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

/// The entries of a row of a strip in a stage. A run of length 0 fills up a slice.
struct Run {
  std::uint32_t row, length;
  std::int64_t begin;  ///< entry of PieceRows
  std::int32_t even;   ///< entries in even slots, less those in odd ones
};
/// Runs that a warp computes together.
struct Slice {
  std::array<Run, csb_slice_rows> runs;
  std::int64_t steps = 0;  ///< of the longest run
  std::int64_t quads() const noexcept { return (steps + csb_quad_steps - 1) / csb_quad_steps; }
};
/// Rows of X that are in shared memory together, and the slices of each warp.
struct Stage {
  std::vector<std::uint32_t> x;  ///< places in PieceRows
  std::vector<Run> runs;
  std::array<std::vector<Slice>, csb_strip_warps> slices;
};

/// A wavefront reads the runs of a slice that are two places apart: one should use an even slot, the other an
/// odd one.
constexpr unsigned parity_of_place(std::size_t place) noexcept {
  return place / 2 % 2;
}

/// Takes runs of about the same length for a slice from two lists, runs of even and of odd rows, each sorted
/// by length. It alternates between the lists while both have runs, and puts a run with most entries in odd
/// slots beside one with most entries in even slots.
Slice take_slice(std::span<const Run> (&left)[2], std::uint32_t spare_row) {
  constexpr std::size_t half = csb_slice_rows / 2;
  std::array<Run, half> taken[2];
  for (std::size_t k = 0; k < csb_slice_rows; ++k) {
    unsigned parity = k % 2;
    if (left[parity].empty()) parity = 1 - parity;
    Run& run = taken[k % 2][k / 2] = {spare_row + static_cast<std::uint32_t>(k), 0, 0, 0};
    if (left[parity].empty()) continue;
    run = left[parity].front();
    left[parity] = left[parity].subspan(1);
  }
  const auto more_even = [](const Run& a, const Run& b) { return a.even > b.even; };
  std::stable_sort(taken[0].begin(), taken[0].end(), more_even);
  std::stable_sort(taken[1].rbegin(), taken[1].rend(), more_even);
  Slice slice;
  for (std::size_t pair = 0; pair < half; ++pair)
    for (std::size_t of = 0; of < 2; ++of) {
      const Run& run = slice.runs[pair / 2 * 4 + pair % 2 + 2 * of] = taken[of][pair];
      slice.steps = std::max<std::int64_t>(slice.steps, run.length);
    }
  return slice;
}

/// Deals slices to the warps so that all have about the same number of steps.
void make_slices(Stage& stage, std::uint32_t spare_row) {
  std::stable_sort(stage.runs.begin(), stage.runs.end(),
                   [](const Run& a, const Run& b) { return a.length > b.length; });
  const auto odd = std::stable_partition(stage.runs.begin(), stage.runs.end(),
                                         [](const Run& run) { return run.row % 2 == 0; });
  std::span<const Run> left[2] = {{stage.runs.begin(), odd}, {odd, stage.runs.end()}};
  constexpr std::int64_t steps_of_ending = 2;  // cost of adding the sums of a slice's runs to Y
  std::array<std::int64_t, csb_strip_warps> work{};
  while (!left[0].empty() || !left[1].empty()) {
    const auto least = std::min_element(work.begin(), work.end()) - work.begin();
    std::vector<Slice>& slices = stage.slices[static_cast<std::size_t>(least)];
    slices.push_back(take_slice(left, spare_row));
    work[static_cast<std::size_t>(least)] += slices.back().steps + steps_of_ending;
  }
}

/// Cuts strips into stages.
template <class V>
class StripPlanner {
 public:
  StripPlanner(const PieceRows<V>& rows, std::int64_t x_rows, std::int64_t strip_rows)
      : rows_(rows),
        spare_row_(static_cast<std::uint32_t>(strip_rows)),
        places_(static_cast<std::size_t>(x_rows)),
        met_(static_cast<std::size_t>(x_rows / 64 + 1)) {}

  /// `strip`: rows of PieceRows.
  const std::vector<Stage>& operator()(std::span<const std::uint32_t> strip, int pass) {
    place_rows_of_x(strip, pass);
    for (std::size_t r = 0; r < strip.size(); ++r) {
      const auto [begin, end] = rows_.range(strip[r], pass);
      for (std::int64_t e = begin; e < end;) {
        const std::uint32_t stage = place(e).stage;
        Run run{static_cast<std::uint32_t>(r), 0, e, 0};
        for (; e < end && place(e).stage == stage; ++e, ++run.length)
          run.even += place(e).slot % 2 == 0 ? 1 : -1;
        stages_[stage].runs.push_back(run);
      }
    }
    for (Stage& stage : stages_) make_slices(stage, spare_row_);
    return stages_;
  }
  /// The slot of an entry of the strip that was planned last.
  std::uint32_t slot(std::int64_t entry) const { return place(entry).slot; }

 private:
  struct Place {
    std::uint32_t stage, slot;
  };
  const Place& place(std::int64_t entry) const { return places_[rows_.x[static_cast<std::size_t>(entry)]]; }

  /// The rows of X that the strip meets, ascending, in stages of about equal size.
  void place_rows_of_x(std::span<const std::uint32_t> strip, int pass) {
    std::size_t first = met_.size(), last = 0, count = 0;
    for (const std::uint32_t row : strip) {
      const auto [begin, end] = rows_.range(row, pass);
      for (std::int64_t e = begin; e < end; ++e) {
        const std::uint32_t x = rows_.x[static_cast<std::size_t>(e)];
        std::uint64_t& word = met_[x / 64];
        const std::uint64_t bit = std::uint64_t(1) << x % 64;
        count += (word & bit) == 0;
        word |= bit;
        first = std::min<std::size_t>(first, x / 64);
        last = std::max<std::size_t>(last, x / 64);
      }
    }
    constexpr std::size_t most = csb_stage_slots - 1;
    stages_.assign((count + most - 1) / most, Stage{});
    std::size_t stage = 0, met = 0;
    for (std::size_t word = first; word <= last && word < met_.size(); ++word) {
      for (std::uint64_t bits = met_[word]; bits != 0; bits &= bits - 1) {
        if (met++ == count * (stage + 1) / stages_.size()) ++stage;
        const std::size_t x = 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
        stages_[stage].x.push_back(static_cast<std::uint32_t>(x));
        places_[x] = {static_cast<std::uint32_t>(stage), static_cast<std::uint32_t>(stages_[stage].x.size())};
      }
      met_[word] = 0;
    }
  }

  const PieceRows<V>& rows_;
  const std::uint32_t spare_row_;  ///< of runs that only fill up a slice, and the following ones
  std::vector<Stage> stages_;
  std::vector<Place> places_;       ///< of the rows of X
  std::vector<std::uint64_t> met_;  ///< a bit for each row of X
};

/// Writes a warp's quads and values, slice after slice.
template <class V>
class WarpWriter {
 public:
  WarpWriter(const PieceRows<V>& rows, const StripPlanner<V>& planner, CsbQuad* quads, V* values)
      : rows_(rows), planner_(planner), quads_(quads), values_(values) {}

  void write_stage(const std::vector<Slice>& slices) {
    for (const Slice& slice : slices) write(slice);
    if (slices.empty())
      for (std::int64_t place = 0; place < csb_slice_rows; ++place)
        *quads_++ = CsbQuad({0, 0, 0, 0}, 0, 0, false, false);
    for (CsbQuad* quad = quads_ - csb_slice_rows; quad < quads_; ++quad) quad->mark_end_of_stage();
  }

 private:
  void write(const Slice& slice) {
    for (std::int64_t place = 0; place < csb_slice_rows; ++place) {
      const Run& run = slice.runs[static_cast<std::size_t>(place)];
      order_entries(run, parity_of_place(static_cast<std::size_t>(place)));
      for (std::int64_t quad = 0; quad < slice.quads(); ++quad) {
        std::uint32_t slots[csb_quad_steps] = {};
        const std::int64_t first = quad * csb_quad_steps,
                           count = std::min(slice.steps - first, csb_quad_steps);
        for (std::int64_t k = 0; k < count; ++k) {
          V& value = values_[(first + k) * csb_slice_rows + place];
          value = 0;
          if (first + k >= run.length) continue;
          const std::int64_t entry = entries_[static_cast<std::size_t>(first + k)];
          slots[k] = planner_.slot(entry);
          value = rows_.values[static_cast<std::size_t>(entry)];
        }
        quads_[quad * csb_slice_rows + place] =
            CsbQuad(slots, run.row, static_cast<std::uint32_t>(count), first + count == slice.steps, false);
      }
    }
    quads_ += slice.quads() * csb_slice_rows;
    values_ += slice.steps * csb_slice_rows;
  }

  /// Alternates between the entries of a run in even and in odd slots while it has both.
  void order_entries(const Run& run, unsigned parity) {
    entries_.clear();
    const std::int64_t end = run.begin + run.length;
    std::int64_t next[2] = {run.begin, run.begin};
    const auto skip = [&](unsigned of) {
      while (next[of] < end && planner_.slot(next[of]) % 2 != of) ++next[of];
    };
    skip(0);
    skip(1);
    for (std::uint32_t k = 0; k < run.length; ++k, parity = 1 - parity) {
      const unsigned take = next[parity] < end ? parity : 1 - parity;
      entries_.push_back(next[take]++);
      skip(take);
    }
  }

  const PieceRows<V>& rows_;
  const StripPlanner<V>& planner_;
  CsbQuad* quads_;
  V* values_;
  std::vector<std::int64_t> entries_;
};

template <class Part>
Part* part_of_index(char* index, std::int64_t offset) {
  return reinterpret_cast<Part*>(index + offset);
}

/// Where the parts of a strip begin, or how large they are.
struct StripSizes {
  std::int64_t stages = 0, x = 0;
  std::array<CsbWarpStart, csb_strip_warps> warps{};

  StripSizes() = default;
  explicit StripSizes(const std::vector<Stage>& of_strip)
      : stages(static_cast<std::int64_t>(of_strip.size())) {
    for (const Stage& stage : of_strip) {
      x += static_cast<std::int64_t>(stage.x.size());
      for (std::size_t warp = 0; warp < warps.size(); ++warp) {
        warps[warp].quad += stage.slices[warp].empty();  // which ends the stage
        for (const Slice& slice : stage.slices[warp]) {
          warps[warp].quad += slice.quads();
          warps[warp].step += slice.steps;
        }
      }
    }
  }
};

}  // namespace

/// All strips.
template <class V>
class CsbIndexBuilder<V>::Plan {
 public:
  Plan(std::span<const CsbPieceView<V>> parts, std::int64_t rows, std::int64_t columns,
       const CsbOrders& orders, int threads, CsbSides sides)
      : threads_(threads),
        rows_(parts, rows, columns, orders, threads, sides),
        x_rows_(std::max(rows, columns)),
        strip_rows_(csb_strip_rows(rows_.count())) {
    for (int pass = 0; pass < (orders.two_passes() ? 2 : 1); ++pass) {
      cut_strips(0, orders.rows.of_pass(pass), rows_.count(0));
      cut_strips(1, orders.columns.of_pass(pass), rows_.count(1));
      if (pass == 0) strips_of_pass_ = strips_.size();
      order_strips(pass);
    }
    place_strips();
  }

  const CsbIndexHeader& header() const noexcept { return header_; }

  void write(char* memory) const {
    std::memcpy(memory, &header_, sizeof(header_));
    auto* const rows_out = part_of_index<std::uint32_t>(memory, header_.rows_offset);
    const auto second = static_cast<std::uint32_t>(rows_.count(0));
    std::transform(order_.begin(), order_.end(), rows_out,
                   [=](std::uint32_t row) { return row < second ? row : row - second; });
    auto* const quads = part_of_index<CsbQuad>(memory, header_.quads_offset);
    auto* const values = part_of_index<V>(memory, header_.values_offset);
    std::fill_n(quads + header_.quad_count * csb_slice_rows, csb_read_ahead * csb_slice_rows, CsbQuad());
    std::fill_n(values + header_.step_count * csb_slice_rows, csb_read_ahead * csb_slice_rows, V(0));
    for_strips([&](std::size_t s, const std::vector<Stage>& stages, const StripPlanner<V>& planner) {
      const StripSizes& begin = begins_[s];
      CsbStrip& strip = part_of_index<CsbStrip>(memory, header_.strips_offset)[s] = strips_[s];
      strip.first_stage = static_cast<std::uint32_t>(begin.stages);
      strip.stages = static_cast<std::uint32_t>(stages.size());
      auto* stage_out = part_of_index<CsbStage>(memory, header_.stages_offset) + begin.stages;
      auto* const x = part_of_index<std::uint32_t>(memory, header_.x_offset);
      auto x_count = static_cast<std::uint32_t>(begin.x);
      for (const Stage& stage : stages) {
        *stage_out++ = {x_count, static_cast<std::uint32_t>(stage.x.size())};
        std::transform(stage.x.begin(), stage.x.end(), x + x_count,
                       [&](std::uint32_t place) { return rows_.row_of_x(strip.side, place); });
        x_count += static_cast<std::uint32_t>(stage.x.size());
      }
      for (std::size_t warp = 0; warp < csb_strip_warps; ++warp) {
        const CsbWarpStart start = begin.warps[warp];
        part_of_index<CsbWarpStart>(memory, header_.starts_offset)[s * csb_strip_warps + warp] = start;
        WarpWriter<V> writer(rows_, planner, quads + start.quad * csb_slice_rows,
                             values + start.step * csb_slice_rows);
        for (const Stage& stage : stages) writer.write_stage(stage.slices[warp]);
      }
    });
  }

 private:
  /// Appends strips of `count` rows in this order.
  void cut_strips(int side, std::span<const std::uint32_t> order, std::int64_t count) {
    const auto first = static_cast<std::uint32_t>(order_.size()),
               row_begin = static_cast<std::uint32_t>(side ? rows_.count(0) : 0);
    for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(count); ++k)
      order_.push_back(row_begin + (order.empty() ? k : order[k]));
    for (std::int64_t row = 0; row < count; row += strip_rows_)
      strips_.push_back({first + static_cast<std::uint32_t>(row),
                         static_cast<std::uint16_t>(std::min(count - row, strip_rows_)),
                         static_cast<std::uint16_t>(side), 0, 0});
  }
  /// Most strips keep their order, so that strips computed at the same time share rows of X in the second
  /// cache. The strips with the least work come last, the longest of them first, so that processors wait
  /// little at the end.
  void order_strips(int pass) {
    constexpr double part_at_the_end = 0.15;
    const auto strips = std::span(strips_).subspan(pass == 0 ? 0 : strips_of_pass_);
    std::vector<std::pair<std::int64_t, CsbStrip>> sorted;  // by entries
    std::int64_t all = 0;
    for (const CsbStrip& strip : strips) {
      sorted.emplace_back(entries_of(strip, pass), strip);
      all += sorted.back().first;
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    const double limit = part_at_the_end * static_cast<double>(all);
    auto light = sorted.end();
    for (double sum = 0; light != sorted.begin(); --light) {
      sum += static_cast<double>(light[-1].first);
      if (sum > limit) break;
    }
    std::sort(sorted.begin(), light,
              [](const auto& a, const auto& b) { return a.second.first_row < b.second.first_row; });
    std::transform(sorted.begin(), sorted.end(), strips.begin(),
                   [](const auto& counted) { return counted.second; });
  }
  std::span<const std::uint32_t> rows_of(const CsbStrip& strip) const {
    return std::span(order_).subspan(strip.first_row, strip.rows);
  }
  std::int64_t entries_of(const CsbStrip& strip, int pass) const {
    std::int64_t sum = 0;
    for (const std::uint32_t row : rows_of(strip)) sum += rows_.range(row, pass).size();
    return sum;
  }
  /// visit(strip, its stages, their planner), in parallel.
  template <class Visit>
  void for_strips(const Visit& visit) const {
    std::vector<std::unique_ptr<StripPlanner<V>>> planners(static_cast<std::size_t>(threads_));
    parallel_for(threads_, static_cast<std::int64_t>(strips_.size()), [&](std::int64_t s, int thread) {
      auto& planner = planners[static_cast<std::size_t>(thread)];
      if (!planner) planner = std::make_unique<StripPlanner<V>>(rows_, x_rows_, strip_rows_);
      const auto number = static_cast<std::size_t>(s);
      const int pass = number < strips_of_pass_ ? 0 : 1;
      visit(number, (*planner)(rows_of(strips_[number]), pass), *planner);
    });
  }
  /// Where each strip's parts begin, and the index's.
  void place_strips() {
    begins_.resize(strips_.size());
    for_strips([&](std::size_t s, const std::vector<Stage>& stages, const StripPlanner<V>&) {
      begins_[s] = StripSizes(stages);
    });
    CsbIndexHeader& h = header_;
    h.strip_count = static_cast<std::int64_t>(strips_.size());
    std::int64_t x_count = 0;
    const auto move_on = [](std::int64_t& count, std::int64_t& size) { count += std::exchange(size, count); };
    for (StripSizes& strip : begins_) {
      move_on(h.stage_count, strip.stages);
      move_on(x_count, strip.x);
      for (CsbWarpStart& warp : strip.warps) {
        move_on(h.quad_count, warp.quad);
        move_on(h.step_count, warp.step);
      }
    }
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    if (std::max({static_cast<std::int64_t>(order_.size()), h.stage_count, x_count}) > most)
      throw InvalidArgument("piece_bytes", fmt::format("a piece with {} rows of X in strips", x_count),
                            "pieces with fewer than 2^32");
    std::int64_t end = csb_aligned(sizeof(CsbIndexHeader));
    const auto place = [&end](std::int64_t count, std::size_t bytes) {
      const std::int64_t at = end;
      end += csb_aligned(count * static_cast<std::int64_t>(bytes));
      return at;
    };
    h.strips_offset = place(h.strip_count, sizeof(CsbStrip));
    h.rows_offset = place(static_cast<std::int64_t>(order_.size()), sizeof(std::uint32_t));
    h.stages_offset = place(h.stage_count, sizeof(CsbStage));
    h.x_offset = place(x_count, sizeof(std::uint32_t));
    h.starts_offset = place(h.strip_count * csb_strip_warps, sizeof(CsbWarpStart));
    h.quads_offset = place((h.quad_count + csb_read_ahead) * csb_slice_rows, sizeof(CsbQuad));
    h.values_offset = place((h.step_count + csb_read_ahead) * csb_slice_rows, sizeof(V));
    h.total = end;
  }

  const int threads_;
  const PieceRows<V> rows_;
  const std::int64_t x_rows_;
  const std::int64_t strip_rows_;
  std::vector<std::uint32_t> order_;  ///< rows of PieceRows, strip by strip
  std::vector<CsbStrip> strips_;      ///< of the first pass, then of the second one
  std::size_t strips_of_pass_ = 0;
  std::vector<StripSizes> begins_;
  CsbIndexHeader header_{};
};

template <class V>
CsbIndexBuilder<V>::CsbIndexBuilder(std::span<const CsbPieceView<V>> parts, std::int64_t rows,
                                    std::int64_t columns, const CsbOrders& orders, int threads,
                                    CsbSides sides)
    : plan_(std::make_unique<Plan>(parts, rows, columns, orders, threads, sides)) {}
template <class V>
CsbIndexBuilder<V>::~CsbIndexBuilder() = default;
template <class V>
CsbIndexBuilder<V>::CsbIndexBuilder(CsbIndexBuilder&&) noexcept = default;
template <class V>
const CsbIndexHeader& CsbIndexBuilder<V>::header() const noexcept {
  return plan_->header();
}
template <class V>
void CsbIndexBuilder<V>::write(void* index) const {
  plan_->write(static_cast<char*>(index));
}

#define TESSERA_INSTANTIATE(V) template class CsbIndexBuilder<V>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
