// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <numeric>

#include <gtest/gtest.h>

#include <tessera/error.hpp>
#include <tessera/runtime/sequence.hpp>

/// Tasks are structs; the body must receive what was inserted.
namespace tessera {
using namespace detail;
namespace task_test {

/// c := scale (a_0 + a_1 + ...) + b, with c of any access mode.
template <class T>
struct Combine {
  static constexpr const char* name = "test_combine";
  std::array<Read<Matrix<T>>, 3> a{};
  T scale = 1;
  Read<Matrix<T>> b{};
  Write<Matrix<T>> c;
  Write<Array<Index>> seen;
  double flops() const { return 7; }
  std::uint32_t footprint() const { return 3; }
};
template <class T>
void run(const HostContext&, const Combine<T>& task) {
  const MatrixView<T> c = *task.c;
  Index count = 0;
  for (Index j = 0; j < c.cols; ++j)
    for (Index i = 0; i < c.rows; ++i) {
      T sum = 0;
      for (const auto& a : task.a)
        if (a) sum += (*a)(i, j);
      c(i, j) = task.scale * sum + (task.b ? (*task.b)(i, j) : T(0));
    }
  for (const auto& a : task.a) count += a ? 1 : 0;
  (*task.seen)[0] = count;
  (*task.seen)[1] = task.b ? 1 : 0;
}

struct AddNumber {
  static constexpr const char* name = "test_add_number";
  WriteOrAdd<Array<double>> sum;
  double number = 0;
};
void run(const HostContext&, const AddNumber& task) {
  const auto sum = *task.sum;
  sum[0] = (task.sum.first() ? 0 : sum[0]) + task.number;
}

struct SumOfAll {
  static constexpr const char* name = "test_sum_of_all";
  ReadAll<Array<double>> parts;
  Read<Array<double>> factor;
  Scratch<Array<double>> work;
  GpuScratch<Array<double>> device_work{};
  Write<Array<double>> sum;
};
void run(const HostContext& on, const SumOfAll& task) {
  const auto work = *task.work;
  for (int i = 0; i < task.parts.size(); ++i) work[static_cast<std::size_t>(i)] = task.parts[i][0];
  const double sum = std::accumulate(work.begin(), work.begin() + task.parts.size(), 0.0);
  if (!(sum >= 0)) return on.fail(StatusCode::not_finite, 17);
  (*task.sum)[0] = (*task.factor)[0] * sum;
  (*task.sum)[1] = task.device_work ? 1 : 0;
}

/// Any number of output pairs: a matrix filled with i + 1, and its number of elements.
struct FillPairs {
  static constexpr const char* name = "test_fill_pairs";
  Read<Array<double>> offset;
  WriteAll<Matrix<double>, Array<Index>> pairs;
};
void run(const HostContext&, const FillPairs& task) {
  for (int i = 0; i < task.pairs.size(); ++i) {
    const auto [matrix, count] = task.pairs[i];
    for (Index k = 0; k < matrix.cols; ++k)
      for (Index j = 0; j < matrix.rows; ++j) matrix(j, k) = (*task.offset)[0] + i;
    count[0] = matrix.rows * matrix.cols;
  }
}

enum class Step { first, second };
template <Step step>
struct Stepwise {
  static constexpr const char* name = step == Step::first ? "test_first" : "test_second";
  ReadWrite<Array<double>> x;
};
template <Step step>
void run(const HostContext&, const Stepwise<step>& task) {
  (*task.x)[0] = (*task.x)[0] * 10 + (step == Step::first ? 1 : 2);
}

template <class V, class T>
struct MixedTypes {
  static constexpr const char* name = "test_mixed_types";
  using Scalar = T;
  Read<Array<V>> v;
  ReadWrite<Array<T>> x;
};

}  // namespace task_test

using namespace task_test;
TESSERA_DEFINE_TASK(Combine<double>)
TESSERA_DEFINE_TASK(Combine<std::complex<float>>)
TESSERA_DEFINE_TASK(AddNumber)
TESSERA_DEFINE_TASK(SumOfAll)
TESSERA_DEFINE_TASK(FillPairs)
TESSERA_DEFINE_TASK(Stepwise<Step::first>)
TESSERA_DEFINE_TASK(Stepwise<Step::second>)

namespace {

class Tasks : public ::testing::Test {
 protected:
  Runtime runtime{{.cores = 2, .gpus = 0}};
  Data filled(Index rows, Index cols, double first) {
    Data data = Data::matrix(runtime, rows, cols, sizeof(double));
    const HostAccess access(data, HostAccess::Mode::write);
    const auto view = access.matrix<double>();
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) view(i, j) = first + double(i) + 10 * double(j);
    return data;
  }
  Data numbers(std::vector<double> values) {
    Data data = Data::bytes(runtime, values.size() * sizeof(double));
    const HostAccess access(data, HostAccess::Mode::write);
    std::copy(values.begin(), values.end(), access.array<double>().begin());
    return data;
  }
  static double number(const Data& data, std::size_t i = 0) {
    return HostAccess(data, HostAccess::Mode::read).array<double>()[i];
  }
};

TEST_F(Tasks, FindTheirOperandsByName) {
  const Data a0 = filled(3, 4, 0.5), a2 = filled(3, 4, 100), b = filled(3, 4, -7);
  const Data c = Data::matrix(runtime, 3, 4, sizeof(double)), seen = Data::bytes(runtime, 2 * sizeof(Index));
  Sequence sequence(runtime);
  sequence.insert(Combine<double>{.a = {a0, nullptr, a2}, .scale = 2, .b = b, .c = c, .seen = seen},
                  {.priority = 5});
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(sequence.statistics().codelets.at(0).name, "test_combine_d");
  EXPECT_EQ(sequence.statistics().codelets.at(0).flops, 7);
  const HostAccess result(c, HostAccess::Mode::read), count(seen, HostAccess::Mode::read);
  for (Index j = 0; j < 4; ++j)
    for (Index i = 0; i < 3; ++i) {
      const double at = double(i) + 10 * double(j);
      EXPECT_EQ(result.matrix<double>()(i, j), 2 * (0.5 + at + 100 + at) - 7 + at);
    }
  EXPECT_EQ(count.array<Index>()[0], 2);
  EXPECT_EQ(count.array<Index>()[1], 1);
}

/// StarPU does not accept a piece twice in one task.
TEST_F(Tasks, OnePieceForSeveralOperands) {
  const Data a = filled(2, 2, 1), c = Data::matrix(runtime, 2, 2, sizeof(double)),
             seen = Data::bytes(runtime, 2 * sizeof(Index));
  Sequence sequence(runtime);
  sequence.insert(Combine<double>{.a = {a, a, a}, .scale = 1, .b = a, .c = c, .seen = seen});
  // The piece is read and written, so the sum is in place.
  sequence.insert(Combine<double>{.a = {c}, .scale = 10, .c = c, .seen = seen});
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(HostAccess(c, HostAccess::Mode::read).matrix<double>()(1, 1), 10 * 4 * 12);
}

TEST_F(Tasks, TheFirstOfASequenceWrites) {
  const Data sum = numbers({1000}), other = Data::bytes(runtime, sizeof(double));
  for (int round = 0; round < 2; ++round) {
    Sequence sequence(runtime);
    for (const double number : {1.0, 2.0, 4.0}) {
      sequence.insert(AddNumber{.sum = sum, .number = number});
      sequence.insert(AddNumber{.sum = other, .number = -number});
    }
    other.forget();
    sequence.insert(AddNumber{.sum = other, .number = 8});
    ASSERT_TRUE(sequence.wait().ok());
    EXPECT_EQ(number(sum), 7) << round;
    EXPECT_EQ(number(other), 8) << round;
  }
}

/// The caller may override the choice of the sequence.
TEST_F(Tasks, AddToAndOverwrite) {
  const Data old = numbers({1000}), again = numbers({1000});
  Sequence sequence(runtime);
  for (const double number : {1.0, 2.0}) {
    sequence.insert(AddNumber{.sum = add_to(old), .number = number});
    sequence.insert(AddNumber{.sum = overwrite(again), .number = number});
  }
  sequence.insert(AddNumber{.sum = again, .number = 4});
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(number(old), 1003);
  EXPECT_EQ(number(again), 6);
}

/// A piece without valid contents is overwritten.
TEST_F(Tasks, AnInvalidPieceIsWritten) {
  const Data sum = Data::bytes(runtime, sizeof(double));
  Sequence sequence(runtime);
  sequence.insert(AddNumber{.sum = sum, .number = 1});
  sum.invalidate();
  sequence.insert(AddNumber{.sum = sum, .number = 2});
  sequence.insert(AddNumber{.sum = sum, .number = 4});
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(number(sum), 6);
}

TEST_F(Tasks, PiecesThatAreNotThereAreRefused) {
  Data released = numbers({1});
  released.release();
  const Data never;
  Sequence sequence(runtime);
  EXPECT_THROW(sequence.insert(AddNumber{.sum = released}), RuntimeError);
  EXPECT_THROW(sequence.insert(AddNumber{.sum = never}), RuntimeError);
  EXPECT_TRUE(sequence.wait().ok());
}

/// A write by another type of task must count too.
TEST_F(Tasks, AddToWhatAnotherTaskHasWritten) {
  const Data x = numbers({3});
  Sequence sequence(runtime);
  sequence.insert(Stepwise<Step::second>{.x = x});
  sequence.insert(AddNumber{.sum = x, .number = 100});
  sequence.insert(Stepwise<Step::first>{.x = x});
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(number(x), 1321);
}

TEST_F(Tasks, AnyNumberOfPieces) {
  for (const int count : {0, 1, 15, 40}) {
    std::vector<Data> parts;
    std::vector<const Data*> pointers;
    for (int i = 0; i < count; ++i) parts.push_back(numbers({double(i)}));
    for (const Data& part : parts) pointers.push_back(&part);
    const Data factor = numbers({3}), work = Data::scratch(runtime, 40 * sizeof(double)),
               sum = Data::bytes(runtime, 2 * sizeof(double));
    Sequence sequence(runtime);
    sequence.insert(
        SumOfAll{.parts = pointers, .factor = factor, .work = work, .device_work = work, .sum = sum});
    ASSERT_TRUE(sequence.wait().ok());
    EXPECT_EQ(number(sum), 3.0 * count * (count - 1) / 2);
    EXPECT_EQ(number(sum, 1), 0) << "no GPU takes part";
  }
}

TEST_F(Tasks, AnyNumberOfPairs) {
  for (const int count : {0, 1, 7, 30}) {
    std::vector<Data> data;
    for (int i = 0; i < count; ++i) {
      data.push_back(Data::matrix(runtime, 1 + i, 2, sizeof(double)));
      data.push_back(Data::bytes(runtime, sizeof(Index)));
    }
    const std::vector<const Data*> pairs = pointers_to(data);
    const Data offset = numbers({1});
    Sequence sequence(runtime);
    sequence.insert(FillPairs{.offset = offset, .pairs = pairs});
    ASSERT_TRUE(sequence.wait().ok());
    for (int i = 0; i < count; ++i) {
      const HostAccess matrix(data[std::size_t(2 * i)], HostAccess::Mode::read),
          elements(data[std::size_t(2 * i + 1)], HostAccess::Mode::read);
      EXPECT_EQ(matrix.matrix<double>()(i, 1), i + 1);
      EXPECT_EQ(elements.array<Index>()[0], 2 * (i + 1));
    }
  }
}

TEST_F(Tasks, FailByTheirContext) {
  const Data part = numbers({-1}), factor = numbers({3}), work = Data::scratch(runtime, 8),
             sum = Data::bytes(runtime, 2 * sizeof(double));
  const std::vector<const Data*> parts{&part};
  Sequence sequence(runtime);
  sequence.begin_stage("sums");
  sequence.insert(SumOfAll{.parts = parts, .factor = factor, .work = work, .sum = sum});
  const Status status = sequence.wait();
  EXPECT_EQ(status.code, StatusCode::not_finite);
  EXPECT_EQ(status.stage, "sums");
  EXPECT_EQ(status.index, 17);
}

TEST(TaskNames, HaveTheLettersOfTheirTypes) {
  EXPECT_EQ(detail::task_name<Combine<std::complex<float>>>(), "test_combine_c");
  EXPECT_EQ(detail::task_name<AddNumber>(), "test_add_number");
  EXPECT_EQ((detail::task_name<MixedTypes<float, double>>()), "test_mixed_types_d");
  EXPECT_EQ(detail::task_name<Stepwise<Step::second>>(), "test_second");
  EXPECT_EQ(detail::member_count<Combine<double>>(), 5u);
  EXPECT_EQ(detail::member_count<SumOfAll>(), 5u);
}

/// Task bodies are functions that need no runtime.
TEST(TaskBodies, RunOnViews) {
  double x[1] = {4};
  run(HostContext(TaskHeader{}), Stepwise<Step::first>{.x = std::span<double>(x)});
  EXPECT_EQ(x[0], 41);
}

}  // namespace
}  // namespace tessera
