// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <tests/codelets/block_sparse/random_values.hpp>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/block_sparse/vectors/krylov.hpp>
#include <tessera/codelets/block_sparse/vectors/multiply_vectors.hpp>
#include <tessera/runtime/sequence.hpp>

/// The tasks on vectors, on CPUs alone and on a GPU: what they leave is the same up to rounding, and on the GPU
/// the same bits each time.
namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuVectors : public ::testing::Test {};
TYPED_TEST_SUITE(GpuVectors, Scalars);

/// A panel with empty blocks and without some blocks, whose first row of blocks has none.
class PanelShape {
 public:
  PanelShape() {
    std::vector<std::vector<std::int32_t>> of_column(col_sizes.size());
    for (std::size_t i = 0; i < row_sizes.size(); rows += row_sizes[i++]) {
      order.push_back(static_cast<std::int32_t>(blocks.size()));
      std::int32_t col = 0;
      for (std::size_t j = 0; j < col_sizes.size(); col += col_sizes[j++]) {
        if (i == 0 || (i + j) % 3 == 2) continue;
        of_column[j].push_back(static_cast<std::int32_t>(blocks.size()));
        lines.push_back({rows, col});
        blocks.push_back({elements, row_sizes[i], col_sizes[j], static_cast<std::int32_t>(i),
                          static_cast<std::int32_t>(j), rows, col});
        elements += Index(row_sizes[i]) * col_sizes[j];
      }
      cols = col;
    }
    order.push_back(static_cast<std::int32_t>(blocks.size()));
    std::int32_t begin = 0;
    for (const auto& column : of_column) {
      order.push_back(begin);
      begin += static_cast<std::int32_t>(column.size());
    }
    order.push_back(begin);
    for (const auto& column : of_column) order.insert(order.end(), column.begin(), column.end());
  }
  const std::vector<std::int32_t> row_sizes{4, 23, 1, 0, 70, 5}, col_sizes{9, 0, 23, 33, 2};
  std::vector<PanelBlock> blocks;
  std::vector<BlockLines> lines;
  std::vector<std::int32_t> order;
  std::int32_t rows = 0, cols = 0;
  Index elements = 0;
};

/// What each task leaves.
template <class T>
class Vectors {
 public:
  explicit Vectors(const RuntimeOptions& options) : runtime_(options) {}

  void multiply(Index width) {
    const Data blocks = upload(runtime_, shape_.blocks), lines = upload(runtime_, shape_.lines),
               order = upload(runtime_, shape_.order), values = vector(shape_.elements, 1),
               x = vector(shape_.cols * width, 2), x_image = vector(shape_.rows * width, 3);
    const VectorFactor straights[] = {{.active = true},
                                     {.active = true, .diagonal = false, .conjugated = true}},
                      images[] = {{.active = true, .diagonal = false, .conjugated = true, .negative = true},
                                  {.active = true}};
    for (int k = 0; k < 2; ++k) {
      const Data y = vector(shape_.rows * width, 4), y_image = vector(shape_.cols * width, 5);
      run([&](Sequence& sequence) {
        sequence.insert(PanelTimesVectors<T>{.blocks = blocks,
                                             .lines = lines,
                                             .order = order,
                                             .values = values,
                                             .x = x,
                                             .x_image = x_image,
                                             .y = y,
                                             .y_image = y_image,
                                             .straight = straights[k],
                                             .image = images[k],
                                             .rows = shape_.rows,
                                             .cols = shape_.cols,
                                             .block_rows = Index(shape_.row_sizes.size()),
                                             .block_cols = Index(shape_.col_sizes.size()),
                                             .width = width,
                                             .elements = double(shape_.elements)});
      });
      const std::string name = "multiply " + std::to_string(width) + ' ' + std::to_string(k);
      values_[name] = download_values<T>(y);
      values_[name + " image"] = download_values<T>(y_image);
    }
  }

  /// More pieces than a kernel takes at once.
  void combine(int count) {
    std::vector<Data> pieces, numbers;
    std::vector<double> coefficients;
    for (int i = 0; i < count; ++i) {
      pieces.push_back(vector(length, 10 + std::uint64_t(i)));
      numbers.push_back(upload(runtime_, random_values<double>(7, 100 + std::uint64_t(i))));
      coefficients.push_back(0.01 * i);
      coefficients.push_back(is_complex<T> ? 0.02 * i : 0.0);
    }
    const std::vector<const Data*> pointers = pointers_to(pieces), number_pointers = pointers_to(numbers);
    const Data y = vector(length, 6), w = vector(length, 7), v = vector(length, 8),
               h = upload(runtime_, coefficients),
               products = Data::bytes(runtime_, sizeof(double) * std::size_t(std::max(2 * count, 1))),
               square = Data::bytes(runtime_, sizeof(double)),
               sum = Data::bytes(runtime_, 7 * sizeof(double));
    const T beta = random_scalar<T>(1, 2, 3);
    run([&](Sequence& sequence) {
      sequence.insert(SumParts<T>{.parts = pointers, .y = add_to(y), .alpha = T(2), .beta = beta});
      if (count > 0) sequence.insert(ProjectSegment<T>{.v = pointers, .w = w, .h = products});
      sequence.insert(SubtractSegment<T>{.v = pointers, .h = h, .w = w, .square = square});
      sequence.insert(NormaliseSegment<T>{.w = w, .square = square, .v = v, .least = 0});
      sequence.insert(AddNumbers{.parts = number_pointers, .sum = sum});
    });
    const std::string name = "combine " + std::to_string(count);
    values_[name + " y"] = download_values<T>(y);
    values_[name + " w"] = download_values<T>(w);
    values_[name + " v"] = download_values<T>(v);
    if (count > 0) numbers_[name + " products"] = download_values<double>(products);
    numbers_[name + " square"] = download_values<double>(square);
    numbers_[name + " sum"] = download_values<double>(sum);
  }

  void fill() {
    const Data runs =
                   upload(runtime_, std::vector<RowRun>{{1000, 0, 400}, {5, 400, 1}, {7, 401, length - 401}}),
               w = vector(length, 9), square = Data::bytes(runtime_, sizeof(double));
    run([&](Sequence& sequence) {
      sequence.insert(RandomSegment<T>{.runs = runs, .w = w, .square = square, .seed = 12});
    });
    random_ = download_values<T>(w);
    numbers_["random square"] = download_values<double>(square);
  }

  const auto& values() const { return values_; }
  const auto& numbers() const { return numbers_; }
  const std::vector<T>& random() const { return random_; }
  static constexpr Index length = 1501;

 private:
  Data vector(Index count, std::uint64_t seed) {
    return upload(runtime_, random_values<T>(static_cast<std::size_t>(count), seed));
  }
  template <class Insert>
  void run(const Insert& insert) {
    Sequence sequence(runtime_);
    sequence.begin_stage("test");
    insert(sequence);
    EXPECT_TRUE(sequence.wait().ok());
    for (const StageStatistics& stage : sequence.statistics().stages)
      EXPECT_EQ(stage.device_tasks, runtime_.gpus() > 0 ? stage.tasks : 0);
  }
  Runtime runtime_;
  const PanelShape shape_;
  std::map<std::string, std::vector<T>> values_;
  std::map<std::string, std::vector<double>> numbers_;
  std::vector<T> random_;
};

template <class T>
struct Outcomes {
  std::map<std::string, std::vector<T>> values;
  std::map<std::string, std::vector<double>> numbers;
  std::vector<T> random;
};

template <class T>
Outcomes<T> outcomes(int gpus) {
  Vectors<T> vectors(RuntimeOptions{.cores = 2, .gpus = gpus});
  for (const Index width : {1, 4, 7}) vectors.multiply(width);
  for (const int count : {0, 1, 64, 70}) vectors.combine(count);
  vectors.fill();
  return {vectors.values(), vectors.numbers(), vectors.random()};
}

TYPED_TEST(GpuVectors, LeaveWhatCpusLeave) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const Outcomes<T> cpu = outcomes<T>(0), gpu = outcomes<T>(1), again = outcomes<T>(1);
  EXPECT_EQ(gpu.values, again.values);
  EXPECT_EQ(gpu.numbers, again.numbers);
  EXPECT_EQ(gpu.random, cpu.random);
  for (const auto& [name, expected] : cpu.values) {
    const auto& found = gpu.values.at(name);
    ASSERT_EQ(found.size(), expected.size()) << name;
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_LE(std::abs(found[i] - expected[i]), 2000 * precision<T>) << name << ' ' << i;
  }
  for (const auto& [name, expected] : cpu.numbers) {
    const auto& found = gpu.numbers.at(name);
    ASSERT_EQ(found.size(), expected.size()) << name;
    const bool of_w = name.ends_with("square");  // of elements that are rounded to T
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i],
                  (std::abs(expected[i]) + 1500) * 100 * (of_w ? double(precision<T>) : precision<double>))
          << name << ' ' << i;
  }
}

}  // namespace
}  // namespace tessera::test
