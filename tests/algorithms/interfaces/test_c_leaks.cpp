// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fstream>
#include <functional>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>
#include <unistd.h>

namespace tessera::test {
namespace {

class CLeaks : public CTest<double> {
 public:
  /// Bytes of this process in memory.
  static double resident() {
    std::ifstream file("/proc/self/statm");
    double pages = 0, in_memory = 0;
    file >> pages >> in_memory;
    return in_memory * static_cast<double>(::sysconf(_SC_PAGESIZE));
  }
  /// After the first calls, in which caches fill, a thousand more need no
  /// further memory: less than 1 KiB each.
  static void expect_flat(const std::function<void()>& work) {
    for (int call = 0; call < 200; ++call) work();
    const double before = resident();
    for (int call = 0; call < 1000; ++call) work();
    EXPECT_LT(resident() - before, 1024.0 * 1000);
  }
};

TEST_F(CLeaks, Eigensolve) {
  const Index n = 30;
  const auto a = random_hermitian<double>(n, 3);
  Matrix<double> z(n, n);
  std::vector<double> w(static_cast<std::size_t>(n));
  expect_flat([&] {
    tessera_eigen_problem problem;
    tessera_eigen_problem_init(&problem);
    problem.a = tessera_array(a.data(), n, a.ld(), 'L');
    problem.values = w.data();
    problem.vectors = tessera_array_out(z.data(), n);
    CompletionHandle completion;
    ASSERT_C(tessera_submit_eigensolve(runtime, &problem, nullptr, nullptr, &completion));
    ASSERT_C(tessera_wait(completion));
  });
}

TEST_F(CLeaks, EigensolveBatch) {
  const Index n = 8, count = 5;
  std::vector<double> a(static_cast<std::size_t>(n * n * count), 1.0), z(a.size());
  std::vector<double> w(static_cast<std::size_t>(n * count));
  std::vector<int> info(static_cast<std::size_t>(count));
  a[static_cast<std::size_t>(2 * n * n)] = not_a_number<double>();
  expect_flat([&] {
    tessera_eigen_batch_problem problem;
    tessera_eigen_batch_problem_init(&problem);
    problem.a = tessera_batch_array(a.data(), n, count, 'L');
    problem.values = w.data();
    problem.vectors = tessera_batch_array_out(z.data(), n);
    problem.info = info.data();
    CompletionHandle completion;
    ASSERT_C(tessera_submit_eigensolve_batch(runtime, &problem, nullptr, nullptr, &completion));
    ASSERT_EQ(tessera_wait(completion), TESSERA_NOT_FINITE);
    ASSERT_EQ(info[2], -1);
    problem.a.ld = 0;
    ASSERT_EQ(tessera_eigensolve_batch(runtime, &problem, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  });
}

TEST_F(CLeaks, BlockSparseProductsAndFailures) {
  const Index sizes[] = {4, 3, 4};
  const auto a = random_matrix<double>(11, 11, 3);
  Layout layout;
  ASSERT_C(tessera_block_layout_create(runtime, 3, sizes, 0, nullptr, 'N', &layout));
  expect_flat([&] {
    BlockMatrix matrix, product, other;
    ASSERT_C(tessera_block_matrix_from_dense(runtime, 'd', layout, a.data(), a.ld(), -1, &matrix));
    ASSERT_C(tessera_block_copy(nullptr, matrix, &product));
    ASSERT_C(tessera_multiply(nullptr, 'N', matrix, 'T', matrix, nullptr, product, nullptr, nullptr));
    ASSERT_C(tessera_block_convert(nullptr, matrix, &other));
    EXPECT_EQ(tessera_block_add(nullptr, nullptr, matrix, nullptr, other), TESSERA_INVALID_ARGUMENT);
  });
}

}  // namespace
}  // namespace tessera::test
