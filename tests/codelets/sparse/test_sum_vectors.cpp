// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/sparse/sum_vectors.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
using SumVectors = RuntimeTest<T>;
TYPED_TEST_SUITE(SumVectors, Reals);

/// More inputs than a task can have, inputs narrower than y, and sums of some columns only; the
/// sequence may have written y before.
TYPED_TEST(SumVectors, AddsAndOverwrites) {
  using T = TypeParam;
  constexpr Index rows = 13, width = 6, narrow = 4;
  for (const int columns : {1, 4})
    for (const bool overwrite : {false, true})
      for (const int count : {0, 1, 7, 8, 20}) {
        const Matrix<T> before = random_matrix<T>(width, rows, 1);
        Matrix<T> expected = overwrite ? Matrix<T>(width, rows) : before;
        std::vector<Data> inputs;
        for (int k = 0; k < count; ++k) {
          const Matrix<T> z = random_matrix<T>(narrow, rows, static_cast<std::uint64_t>(2 + k));
          inputs.push_back(upload(this->runtime(), z));
          for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < columns; ++j) expected(j, i) += z(j, i);
        }
        std::vector<const Data*> terms;
        for (const Data& input : inputs) terms.push_back(&input);
        const Data y = Data::matrix(this->runtime(), width, rows, sizeof(T)),
                   first = upload(this->runtime(), before);
        Sequence sequence(this->runtime());
        sequence.begin_stage("before");
        if (!overwrite)
          sequence.insert(detail::SumVectors<T>{.y = y, .z = {first}, .columns = int(width), .rows = rows});
        sequence.begin_stage("sum");
        insert_sum_vectors(sequence, detail::SumVectors<T>{.y = y, .columns = columns, .rows = rows}, terms);
        ASSERT_TRUE(sequence.wait().ok());
        EXPECT_EQ(sequence.statistics().stages.at(1).flops, static_cast<double>(rows * columns * count));
        EXPECT_EQ(difference(download<T>(y), expected), 0) << columns << ' ' << overwrite << ' ' << count;
      }
}

}  // namespace
}  // namespace tessera::test
