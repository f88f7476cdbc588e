// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <tests/codelets/block_sparse/random_values.hpp>
#include <tests/support/device_array.hpp>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/block_reductions.hpp>
#include <tessera/codelets/block_sparse/values/image_panels.hpp>
#include <tessera/codelets/block_sparse/values/panel_sums.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/sequence.hpp>

/// Tasks on panels must give the same results on CPUs alone and with a GPU.
namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuPanels : public ::testing::Test {};
TYPED_TEST_SUITE(GpuPanels, Scalars);

/// All blocks of a panel with these sizes along both sides, including empty blocks.
std::vector<PanelBlock> make_blocks() {
  const std::vector<std::int32_t> sizes{5, 1, 23, 0, 64, 13, 7};
  std::vector<PanelBlock> blocks;
  Index offset = 0, row = 0;
  for (std::size_t i = 0; i < sizes.size(); row += sizes[i++]) {
    Index col = 0;
    for (std::size_t j = 0; j < sizes.size(); col += sizes[j++]) {
      blocks.push_back(
          {offset, sizes[i], sizes[j], static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), row, col});
      offset += Index(sizes[i]) * sizes[j];
    }
  }
  return blocks;
}

constexpr Index order = 113;  // of what make_blocks makes
constexpr std::int32_t block_rows = 7;

std::vector<BlockLines> make_lines() {
  std::vector<BlockLines> lines;
  for (const PanelBlock& block : make_blocks())
    lines.push_back({static_cast<std::int32_t>(block.first_row), static_cast<std::int32_t>(block.first_col)});
  return lines;
}

/// The PanelOrder of all blocks.
std::vector<std::int32_t> make_order() {
  std::vector<std::int32_t> numbers;
  for (int direction = 0; direction < 2; ++direction)
    for (std::int32_t i = 0; i <= block_rows; ++i) numbers.push_back(i * block_rows);
  for (std::int32_t j = 0; j < block_rows; ++j)
    for (std::int32_t i = 0; i < block_rows; ++i) numbers.push_back(i * block_rows + j);
  return numbers;
}

constexpr std::size_t elements = order * order;

/// Results of every codelet: values that must be equal, and sums that may differ by rounding.
template <class T>
struct Outcomes {
  std::map<std::string, std::vector<T>> values;
  std::map<std::string, std::vector<double>> sums;
  Index device_tasks = 0;
};

template <class T>
class Panels {
 public:
  explicit Panels(const RuntimeOptions& options) : runtime_(options) {
    blocks_ = upload(runtime_, make_blocks());
    lines_ = upload(runtime_, make_lines());
    order_ = upload(runtime_, make_order());
    std::vector<Index> sizes;
    std::vector<BlockCoordinate> coordinates;
    for (const PanelBlock& block : make_blocks()) {
      if (block.block_col == 0) sizes.push_back(block.rows);
      coordinates.push_back({block.block_row, block.block_col});
    }
    BlockLayout layout;
    layout.rows = layout.cols = BlockDimension::make(sizes, 1, {}, 1000);
    pattern_ = BlockPattern::make(runtime_, layout, coordinates);
    x_ = upload(runtime_, random_values<T>(elements, 1));
    line_ = upload(runtime_, random_values<T>(order, 2));
  }

  Outcomes<T> run() {
    move_and_fill();
    change_by_place();
    change_alike();
    reduce();
    sum_lines();
    return std::move(outcomes_);
  }

 private:
  /// Inserts tasks that change a copy of fixed values and keeps the result.
  template <class Insert>
  void change(const std::string& name, const Insert& insert) {
    const Data values = upload(runtime_, random_values<T>(elements, 7));
    run(name, [&](Sequence& s) { insert(s, values); });
    outcomes_.values[name] = download_values<T>(values);
  }
  template <class Insert>
  void sum(const std::string& name, std::size_t count, const Insert& insert) {
    const Data result = Data::bytes(runtime_, count * sizeof(double));
    run(name, [&](Sequence& s) { insert(s, result); });
    outcomes_.sums[name] = download_values<double>(result);
  }
  template <class Insert>
  void run(const std::string& name, const Insert& insert) {
    Sequence sequence(runtime_);
    sequence.begin_stage("test");
    insert(sequence);
    EXPECT_TRUE(sequence.wait().ok()) << name;
    Index on_device = 0;
    for (const StageStatistics& stage : sequence.statistics().stages) on_device += stage.device_tasks;
    EXPECT_EQ(on_device > 0, runtime_.gpus() > 0) << name;
    outcomes_.device_tasks += on_device;
  }

  void move_and_fill() {
    change("zero", [](Sequence& s, const Data& v) { s.insert(FillValues<T>{.values = v, .value = T(0)}); });
    change("fill",
           [&](Sequence& s, const Data& v) { s.insert(FillValues<T>{.values = v, .value = factor_}); });
    // A long piece, parts of blocks, a row, and single elements.
    const std::vector<BlockMove> list{{1, 11, 3000, 1, 4, 3000},  {4000, 5000, 23, 23, 64, 23},
                                      {8000, 6000, 5, 13, 13, 7}, {9000, 7000, 1, 30, 31, 2},
                                      {12000, 8000, 1, 1, 1, 1},  {0, 9000, 40, 2, 40, 41}};
    const Data moves = upload(runtime_, list);
    for (const Op op : {Op::none, Op::transpose, Op::adjoint})
      for (const bool conjugated : {false, true})
        for (const bool add : {false, true}) {
          if (op != Op::none && conjugated != add) continue;
          const std::string name = std::string(1, static_cast<char>(op)) + (conjugated ? " conjugated" : "") +
                                   (add ? " added" : "");
          change("move " + name, [&](Sequence& s, const Data& v) {
            s.insert(MoveBlocks<T>{.moves = moves,
                                   .source = x_,
                                   .destination = v,
                                   .factor = factor_,
                                   .op = op,
                                   .conjugated = conjugated,
                                   .add = add});
          });
          if (op != Op::none) continue;
          change("copy " + name, [&](Sequence& s, const Data& v) {
            s.insert(CopyValues<T>{.source = x_,
                                   .destination = add ? add_to(v) : overwrite(v),
                                   .factor = factor_,
                                   .conjugated = conjugated});
          });
        }
    make_images(list);
    change("plain copy", [&](Sequence& s, const Data& v) {
      s.insert(CopyValues<T>{.source = x_, .destination = v, .factor = T(1)});
    });
  }

  /// The same moves from two panels, each another way; into a panel with values, and one that is written first.
  void make_images(const std::vector<BlockMove>& list) {
    std::vector<ImageMove> moves;
    for (std::size_t m = 0; m < list.size(); ++m)
      moves.push_back({list[m],
                       static_cast<std::int32_t>(m % 2),
                       {.transposed = m % 3 == 1, .conjugated = m % 4 < 2, .negated = m % 5 < 3}});
    const Data uploaded = upload(runtime_, moves), y = upload(runtime_, random_values<T>(elements, 5));
    const std::vector<const Data*> sources{&x_, &y};
    for (const bool written : {false, true})
      change(written ? "image written" : "image added", [&](Sequence& s, const Data& v) {
        s.insert(MakeImagePanel<T>{.moves = uploaded,
                                   .destination = written ? overwrite(v) : add_to(v),
                                   .sources = sources,
                                   .factor = factor_});
      });
  }

  void change_by_place() {
    for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::antisymmetric, Symmetry::hermitian})
      change(std::string("symmetry ") + static_cast<char>(symmetry), [&](Sequence& s, const Data& v) {
        s.insert(ImposeSymmetry<T>{.pattern = pattern_->packed(),
                                   .values = v,
                                   .row_panel = 0,
                                   .col_panel = 0,
                                   .symmetry = symmetry});
      });
    change("cut", [&](Sequence& s, const Data& v) {
      s.insert(CutBelowDiagonal<T>{.blocks = blocks_, .values = v});
    });
    for (const Side side : {Side::left, Side::right})
      change(std::string("by vector ") + static_cast<char>(side), [&](Sequence& s, const Data& v) {
        s.insert(ScaleByVector<T>{.blocks = blocks_, .v = line_, .values = v, .side = side});
      });
    change("add on diagonal", [&](Sequence& s, const Data& v) {
      s.insert(AddOnDiagonal<T>{.blocks = blocks_, .values = v, .alpha = factor_});
    });
    change("set diagonal", [&](Sequence& s, const Data& v) {
      s.insert(SetDiagonal<T>{.blocks = blocks_, .v = line_, .values = v});
    });
    for (const T factor : {factor_, T(0)})
      change(factor == T(0) ? "clear window" : "scale window", [&](Sequence& s, const Data& v) {
        s.insert(
            ScaleWindow<T>{.blocks = blocks_, .values = v, .factor = factor, .window = {3, 95, 29, 100}});
      });
    const Data diagonal = Data::bytes(runtime_, order * sizeof(T));
    run("get diagonal", [&](Sequence& s) {
      s.insert(GetDiagonal<T>{.blocks = blocks_, .values = x_, .diagonal = diagonal});
    });
    outcomes_.values["get diagonal"] = download_values<T>(diagonal);
  }

  void change_alike() {
    change("scale",
           [&](Sequence& s, const Data& v) { s.insert(ScalePanel<T>{.values = v, .factor = factor_}); });
    for (const bool conjugated : {false, true})
      for (const T beta : {T(0), T(1), factor_})
        change("add " + std::to_string(std::abs(beta)) + (conjugated ? " conjugated" : ""),
               [&](Sequence& s, const Data& v) {
                 s.insert(
                     AddPanel<T>{.x = x_, .y = v, .alpha = factor_, .beta = beta, .conjugated = conjugated});
               });
    change("multiply", [&](Sequence& s, const Data& v) { s.insert(MultiplyPanel<T>{.x = x_, .y = v}); });
    if constexpr (!is_complex<T>)
      for (const ElementFunction f :
           {ElementFunction::inverse, ElementFunction::absolute, ElementFunction::truncate})
        change("function " + std::to_string(static_cast<int>(f)), [&](Sequence& s, const Data& v) {
          s.insert(FunctionOfPanel<T>{.values = v, .f = f, .first = T(1.5), .second = T(0.25)});
        });
  }

  void reduce() {
    const std::vector<Index> sizes{5, 1, 23, 0, 64, 13, 7};
    const BlockLayout layout{BlockDimension::make(sizes, 1, {}, order),
                             BlockDimension::make(sizes, 1, {}, order),
                             {},
                             Symmetry::none};
    std::vector<BlockCoordinate> all;
    for (Index i = 0; i < 7; ++i)
      for (Index j = 0; j < 7; ++j) all.push_back({i, j});
    const auto pattern = BlockPattern::make_replicated(runtime_, layout, all);
    sum("norms", make_blocks().size(), [&](Sequence& s, const Data& result) {
      s.insert(BlockNorms<T>{.pattern = pattern->packed(),
                             .norms = result,
                             .values = std::vector<const Data*>{&x_},
                             .panels = {.count = 1, .number = {0}}});
    });
    const Data work = Data::scratch(runtime_, reduction_bytes);
    for (const PanelSum kind : {PanelSum::largest, PanelSum::by_position})
      for (const Symmetry symmetry : {Symmetry::none, Symmetry::antisymmetric, Symmetry::hermitian})
        sum("sum " + std::to_string(static_cast<int>(kind)) + static_cast<char>(symmetry), 1,
            [&](Sequence& s, const Data& result) {
              s.insert(ReducePanel<T>{.blocks = blocks_,
                                      .values = x_,
                                      .result = result,
                                      .work = work,
                                      .sum = kind,
                                      .symmetry = symmetry});
            });
    std::vector<BlockCoordinate> some;
    for (const BlockCoordinate at : all)
      if ((3 * at.row + at.col) % 4 != 0) some.push_back(at);
    sum_blocks(*pattern, *BlockPattern::make_replicated(runtime_, layout, some));
  }

  /// Sums over blocks, with and without norms, a threshold, a second matrix, the matrix itself as the second.
  void sum_blocks(const BlockPattern& pattern, const BlockPattern& other) {
    const Data work = Data::scratch(runtime_, panel_sum_bytes(SummedPanels::most));
    const Data y = upload(runtime_, random_values<T>(elements, 3));
    for (const Symmetry symmetry : {Symmetry::none, Symmetry::antisymmetric, Symmetry::hermitian})
      for (const double eps : {0.0, 8.0})
        for (const int second : {0, 1, 2})
          sum(std::string("blocks ") + static_cast<char>(symmetry) + std::to_string(eps) +
                  std::to_string(second),
              SumLayout::size, [&](Sequence& s, const Data& result) {
                const Data norms = Data::bytes(runtime_, make_blocks().size() * sizeof(double));
                std::vector<const Data*> values{&x_};
                if (second == 1) values.push_back(&y);
                s.insert(SumPanels<T>{.pattern = pattern.packed(),
                                      .other_pattern = second == 1 ? other.packed() : pattern.packed(),
                                      .norms = norms,
                                      .values = values,
                                      .sums = result,
                                      .work = work,
                                      .panels = {.count = 1,
                                                 .number = {0},
                                                 .values = {0},
                                                 .others = {second == 0   ? -1
                                                            : second == 1 ? 1
                                                                          : 0},
                                                 .trace = true,
                                                 .eps = eps},
                                      .symmetry = symmetry,
                                      .other_symmetry = symmetry});
              });
  }

  void sum_lines() {
    for (const LineSum kind : {LineSum::rows_of_moduli, LineSum::columns_of_squares})
      for (const Symmetry symmetry : {Symmetry::none, Symmetry::antisymmetric, Symmetry::hermitian})
        sum("lines " + std::to_string(static_cast<int>(kind)) + static_cast<char>(symmetry),
            symmetry == Symmetry::none ? order : 2 * order, [&](Sequence& s, const Data& result) {
              s.insert(SumLines<T>{.blocks = blocks_,
                                   .lines = lines_,
                                   .order = order_,
                                   .values = x_,
                                   .sums = result,
                                   .sum = kind,
                                   .symmetry = symmetry,
                                   .rows = order,
                                   .cols = order,
                                   .block_rows = block_rows,
                                   .block_cols = block_rows});
            });
  }

  Runtime runtime_;
  Data blocks_, lines_, order_, x_, line_;
  BlockPatternPointer pattern_;
  Outcomes<T> outcomes_;
  const T factor_ = random_scalar<T>(3, 4, 5);
};

TYPED_TEST(GpuPanels, LeaveWhatCpusLeave) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const Outcomes<T> cpu = Panels<T>(RuntimeOptions{.cores = 2, .gpus = 0}).run(),
                    gpu = Panels<T>(RuntimeOptions{.cores = 2, .gpus = 1}).run();
  EXPECT_EQ(cpu.device_tasks, 0);
  EXPECT_GT(gpu.device_tasks, 0);
  for (const auto& [name, expected] : cpu.values) EXPECT_EQ(gpu.values.at(name), expected) << name;
  for (const auto& [name, expected] : cpu.sums) {
    const auto& found = gpu.sums.at(name);
    ASSERT_EQ(found.size(), expected.size()) << name;
    // Sums of at most `elements` terms in another order. The terms are of size one times a weight
    // of at most 3/2, or squares (also of inverses, which may be large), none of which exceeds the
    // sum.
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], std::max(4.0, std::abs(expected[i])) * elements * precision<double>)
          << name;
  }
}

/// The largest element of a panel with a NaN must be NaN, whatever its position.
TEST(GpuPanelSums, NanIsTheLargest) {
  TESSERA_NEED_GPU();
  Runtime runtime(RuntimeOptions{.cores = 2, .gpus = 1});
  for (const std::size_t at : {std::size_t{0}, std::size_t{5000}, elements - 1}) {
    auto values = random_values<double>(elements, 1);
    values[at] = std::numeric_limits<double>::quiet_NaN();
    const Data blocks = upload(runtime, make_blocks()), x = upload(runtime, values),
               result = Data::bytes(runtime, sizeof(double)), work = Data::scratch(runtime, reduction_bytes);
    Sequence sequence(runtime);
    sequence.insert(ReducePanel<double>{.blocks = blocks,
                                        .values = x,
                                        .result = result,
                                        .work = work,
                                        .sum = PanelSum::largest,
                                        .symmetry = Symmetry::none});
    ASSERT_TRUE(sequence.wait().ok());
    EXPECT_TRUE(std::isnan(download_values<double>(result)[0])) << at;
  }
}

}  // namespace
}  // namespace tessera::test
