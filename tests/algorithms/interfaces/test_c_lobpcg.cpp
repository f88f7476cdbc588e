// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>

namespace tessera::test {
namespace {

/// The second difference on a line: eigenvalue k is 4 sin^2(pi (k + 1) / (2 (n + 1))).
template <class T>
class CLobpcg : public CTest<T> {
 public:
  static constexpr Index n = 300, count = 4;
  static double exact(Index k) { return 4 * std::pow(std::sin(M_PI * double(k + 1) / (2.0 * (n + 1))), 2); }
  static double accuracy() { return precision<T> < 1e-10 ? 1e-9 : 1e-4; }
  void SetUp() override {
    begins = {0};
    for (Index i = 0; i < n; ++i) {
      if (i > 0) columns.push_back(i - 1), values.push_back(-1);
      columns.push_back(i), values.push_back(2);
      begins.push_back(static_cast<Index>(columns.size()));
    }
    tessera_lobpcg_problem_init(&problem);
    tessera_lobpcg_options_init(&options);
    options.count = count;
  }
  void make(tessera_operator** a) const {
    ASSERT_C(tessera_operator_from_csr(CTest<T>::runtime, CTest<T>::type, CTest<T>::type, n, begins.data(),
                                       columns.data(), values.data(), 'L', nullptr, a));
  }
  void expect_solved(Index from_end = 0) {
    double found[count], residuals[count];
    std::vector<T> vectors(static_cast<std::size_t>(n * count));
    tessera_lobpcg_result result;
    ASSERT_C(tessera_lobpcg(&problem, &options, found, residuals, vectors.data(), count, &result));
    EXPECT_EQ(result.converged, count);
    EXPECT_GT(result.iterations, 0);
    for (Index k = 0; k < count; ++k) {
      EXPECT_NEAR(found[k], from_end ? exact(n - 1 - k) : exact(k), accuracy());
      double residual = 0, norm = 0;
      for (Index i = 0; i < n; ++i) {
        const auto x = [&](Index r) {
          return r < 0 || r >= n ? 0.0 : double(vectors[static_cast<std::size_t>(r * count + k)]);
        };
        residual += std::pow(2 * x(i) - x(i - 1) - x(i + 1) - found[k] * x(i), 2);
        norm += x(i) * x(i);
      }
      EXPECT_NEAR(norm, 1, 1e-4);
      EXPECT_LT(std::sqrt(residual), precision<T> < 1e-10 ? 1e-6 : 1e-2);
      EXPECT_NEAR(std::sqrt(residual), residuals[k], precision<T> < 1e-10 ? 1e-9 : 1e-5);
    }
  }
  std::vector<Index> begins, columns;
  std::vector<double> values;
  tessera_lobpcg_problem problem;
  tessera_lobpcg_options options;
};
TYPED_TEST_SUITE(CLobpcg, Reals);

TYPED_TEST(CLobpcg, EachPreconditionerAndBothEnds) {
  Operator a;
  this->make(&a);
  this->problem.a = a;
  Index order = 0;
  ASSERT_C(tessera_operator_order(a, &order));
  EXPECT_EQ(order, this->n);
  PreconditionerHandle preconditioner;
  this->options.iterations = 2000;
  tessera_preconditioner_options options;
  tessera_preconditioner_options_init(&options);
  ASSERT_C(tessera_preconditioner_chebyshev(a, &options, &preconditioner));
  this->problem.preconditioner = preconditioner;
  this->expect_solved();
  options.use_shift = 1;
  options.shift = -0.01;
  ASSERT_C(tessera_preconditioner_jacobi(a, &options, &preconditioner));
  this->problem.preconditioner = preconditioner;
  this->expect_solved();
  ASSERT_C(tessera_preconditioner_fom(a, &options, &preconditioner));
  this->problem.preconditioner = preconditioner;
  this->expect_solved();
  this->options.method = TESSERA_METHOD_GENERALIZED_DAVIDSON;
  this->options.block = 2;
  this->options.basis = 24;
  this->expect_solved();
  this->options.method = TESSERA_METHOD_AUTOMATIC;
  this->expect_solved();
  double values[8];
  this->options.method = TESSERA_METHOD_LOBPCG;
  EXPECT_EQ(tessera_lobpcg(&this->problem, &this->options, values, nullptr, nullptr, 0, nullptr),
            TESSERA_INVALID_ARGUMENT)
      << "a basis";
  this->options.method = TESSERA_METHOD_LANCZOS;
  EXPECT_EQ(tessera_lobpcg(&this->problem, &this->options, values, nullptr, nullptr, 0, nullptr),
            TESSERA_INVALID_ARGUMENT)
      << "a preconditioner";
  this->problem.preconditioner = nullptr;
  this->options.basis = 0;
  this->expect_solved();
  this->options.method = 4;
  EXPECT_EQ(tessera_lobpcg(&this->problem, &this->options, values, nullptr, nullptr, 0, nullptr),
            TESSERA_INVALID_ARGUMENT);
  this->options.method = TESSERA_METHOD_LOBPCG;
  this->options.block = this->options.basis = 0;
  this->problem.preconditioner = nullptr;
  this->options.largest = 1;
  this->expect_solved(1);
}

/// y := A x by a function of the caller's, and an exact preconditioner: solves a tridiagonal system.
template <class T>
int second_difference(tessera_index first, tessera_index end, tessera_index columns, const void* x,
                      tessera_index ldx, void* y, tessera_index ldy, void* user) {
  const tessera_index n = *static_cast<tessera_index*>(user);
  if (n < 0) return 5;
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  for (tessera_index i = first; i < end; ++i)
    for (tessera_index j = 0; j < columns; ++j) {
      T sum = 2 * from[i * ldx + j];
      if (i > 0) sum -= from[(i - 1) * ldx + j];
      if (i + 1 < n) sum -= from[(i + 1) * ldx + j];
      to[(i - first) * ldy + j] = sum;
    }
  return 0;
}
template <class T>
int solve_tridiagonal(tessera_index, tessera_index rows, tessera_index columns, const void* r,
                      tessera_index ldr, void* w, tessera_index ldw, void*) {
  std::vector<double> c(static_cast<std::size_t>(rows)), d(static_cast<std::size_t>(rows));
  for (tessera_index j = 0; j < columns; ++j) {
    for (tessera_index i = 0; i < rows; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double pivot = i ? 2 + c[k - 1] : 2;
      c[k] = -1 / pivot;
      d[k] = (double(static_cast<const T*>(r)[i * ldr + j]) + (i ? d[k - 1] : 0)) / pivot;
    }
    for (tessera_index i = rows - 1; i >= 0; --i) {
      const auto k = static_cast<std::size_t>(i);
      if (i + 1 < rows) d[k] -= c[k] * d[k + 1];
      static_cast<T*>(w)[i * ldw + j] = T(d[k]);
    }
  }
  return 0;
}

TYPED_TEST(CLobpcg, FunctionsOfTheCaller) {
  using T = TypeParam;
  Index n = this->n;
  Operator a;
  PreconditionerHandle preconditioner;
  ASSERT_C(tessera_operator_create(this->runtime, this->type, this->n, 1, second_difference<T>, nullptr, &n,
                                   4, &a));
  ASSERT_C(tessera_preconditioner_create(this->runtime, this->type, solve_tridiagonal<T>, nullptr, nullptr,
                                         &preconditioner));
  this->problem.a = a;
  this->problem.preconditioner = preconditioner;
  this->expect_solved();
  const auto x = random_matrix<T>(2, this->n, 3);  // row-major n x 2
  std::vector<T> y(static_cast<std::size_t>(2 * this->n));
  ASSERT_C(tessera_operator_apply(a, 2, x.data(), 2, y.data(), 2));
  EXPECT_NEAR(y[2 * 10 + 1], 2 * x(1, 10) - x(1, 9) - x(1, 11), 10 * precision<T>);

  n = -1;  // the function fails
  double values[4];
  EXPECT_EQ(tessera_lobpcg(&this->problem, &this->options, values, nullptr, nullptr, 0, nullptr),
            TESSERA_CALLBACK_FAILED);
  EXPECT_EQ(tessera_last_callback_code(), 5);
  PreconditionerHandle none;
  EXPECT_EQ(tessera_preconditioner_jacobi(a, nullptr, &none), TESSERA_INVALID_ARGUMENT)
      << "it has no diagonal";
  EXPECT_EQ(tessera_operator_create(this->runtime, this->type, 10, 1, nullptr, nullptr, nullptr, 0, &a),
            TESSERA_INVALID_ARGUMENT);
}

TYPED_TEST(CLobpcg, SubmittedWithAMonitorGuessAndConstraints) {
  using T = TypeParam;
  Operator a;
  this->make(&a);
  this->problem.a = a;
  this->options.iterations = 2000;
  std::vector<T> constraint(static_cast<std::size_t>(this->n));
  for (Index i = 0; i < this->n; ++i)
    constraint[static_cast<std::size_t>(i)] = T(std::sin(M_PI * double(i + 1) / double(this->n + 1)));
  this->problem.constraints = constraint.data();
  this->problem.constraint_count = 1;
  PreconditionerHandle preconditioner;
  ASSERT_C(tessera_preconditioner_create(this->runtime, this->type, solve_tridiagonal<T>, nullptr, nullptr,
                                         &preconditioner));
  Operator whole;
  Index n = this->n;
  ASSERT_C(
      tessera_operator_create(this->runtime, this->type, n, 1, second_difference<T>, nullptr, &n, 4, &whole));
  this->problem.a = whole;
  this->problem.preconditioner = preconditioner;
  int steps = 0;
  this->options.monitor_user = &steps;
  this->options.monitor = [](const tessera_lobpcg_step* step, void* user) {
    EXPECT_GE(step->block, 4);
    ++*static_cast<int*>(user);
    return 0;
  };
  double values[4];
  tessera_lobpcg_result result;
  CompletionHandle completion;
  ASSERT_C(tessera_submit_lobpcg(&this->problem, &this->options, values, nullptr, nullptr, 0, &result,
                                 &completion));
  ASSERT_C(tessera_wait(completion));
  EXPECT_GT(steps, 0);
  for (Index k = 0; k < 4; ++k) EXPECT_NEAR(values[k], this->exact(k + 1), this->accuracy());
  this->options.monitor = [](const tessera_lobpcg_step*, void*) { return 1; };
  EXPECT_EQ(tessera_lobpcg(&this->problem, &this->options, values, nullptr, nullptr, 0, &result),
            TESSERA_STOPPED);
}

/// More pairs than a block holds; a monitor that ends it leaves NaN for those that were not come to.
TYPED_TEST(CLobpcg, ManyPairs) {
  constexpr Index many = 40;
  Operator a;
  std::vector<Index> begins = {0}, columns;
  std::vector<double> values;
  for (Index i = 0; i < this->n; ++i) {
    columns.push_back(i);
    values.push_back(double(i + 1));
    begins.push_back(i + 1);
  }
  ASSERT_C(tessera_operator_from_csr(this->runtime, this->type, this->type, this->n, begins.data(),
                                     columns.data(), values.data(), 'A', nullptr, &a));
  this->problem.a = a;
  this->options.count = many;
  for (const int method :
       {TESSERA_METHOD_LOBPCG, TESSERA_METHOD_GENERALIZED_DAVIDSON, TESSERA_METHOD_LANCZOS}) {
    this->options.method = method;
    this->options.monitor = nullptr;
    double found[many], residuals[many];
    tessera_lobpcg_result result;
    ASSERT_C(tessera_lobpcg(&this->problem, &this->options, found, residuals, nullptr, 0, &result));
    EXPECT_EQ(result.converged, many);
    for (Index k = 0; k < many; ++k)
      EXPECT_NEAR(found[k], double(k + 1), precision<TypeParam> < 1e-10 ? 1e-6 : 1e-2);
    this->options.monitor = [](const tessera_lobpcg_step* step, void*) {
      return step->converged >= 8 ? 1 : 0;
    };
    EXPECT_EQ(tessera_lobpcg(&this->problem, &this->options, found, residuals, nullptr, 0, &result),
              TESSERA_STOPPED);
    for (Index k = 0; k < many; ++k) EXPECT_EQ(std::isnan(found[k]), std::isnan(residuals[k])) << k;
    EXPECT_NEAR(found[0], 1, 1e-3);
    EXPECT_EQ(std::isnan(found[many - 1]), method != TESSERA_METHOD_LANCZOS);  // it has no groups
  }
}

TYPED_TEST(CLobpcg, Checkpoint) {
  Operator a;
  this->make(&a);
  this->problem.a = a;
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("tessera_c_" + std::to_string(::getpid()) + std::to_string(this->type) + ".h5"))
                               .string();
  tessera_lobpcg_options options = this->options;
  EXPECT_EQ(options.checkpoint_seconds, 600);
  options.checkpoint = file.c_str();
  options.checkpoint_iterations = 4;
  options.checkpoint_label = "second difference";
  options.iterations = 9;
  std::vector<double> values(static_cast<std::size_t>(options.count));
  tessera_lobpcg_result result;
  const auto solve = [&] {
    return tessera_lobpcg(&this->problem, &options, values.data(), nullptr, nullptr, 0, &result);
  };
  EXPECT_EQ(solve(), TESSERA_ITERATIONS_EXHAUSTED);
  EXPECT_EQ(result.checkpoints, 3);
  EXPECT_EQ(result.checkpoint_failed, 0);
  EXPECT_EQ(result.iterations_before, 0);
  options.checkpoint = nullptr;
  options.resume = file.c_str();
  options.iterations = 2000;
  ASSERT_C(solve());
  EXPECT_EQ(result.iterations_before, 9);
  EXPECT_EQ(result.checkpoints, 0);
  for (std::size_t k = 0; k < values.size(); ++k)
    EXPECT_NEAR(values[k], this->exact(Index(k)), this->accuracy());
  options.checkpoint_label = nullptr;
  EXPECT_EQ(solve(), TESSERA_INVALID_ARGUMENT);
  std::filesystem::remove(file);
  options.checkpoint_label = "second difference";
  EXPECT_EQ(solve(), TESSERA_INPUT_ERROR);
}

TYPED_TEST(CLobpcg, OtherSourcesOfAMatrix) {
  std::vector<Index> rows;
  for (Index i = 0; i < this->n; ++i)
    rows.insert(rows.end(),
                static_cast<std::size_t>(this->begins[static_cast<std::size_t>(i) + 1] -
                                         this->begins[static_cast<std::size_t>(i)]),
                i);
  Operator a, like;
  const auto entries = static_cast<Index>(rows.size());
  ASSERT_C(tessera_operator_from_coordinates(this->runtime, this->type, TESSERA_FLOAT, this->n, entries,
                                             rows.data(), this->columns.data(), this->values.data(), 'L',
                                             nullptr, &a));
  ASSERT_C(tessera_operator_from_coordinates(this->runtime, this->type, TESSERA_FLOAT, this->n, entries,
                                             rows.data(), this->columns.data(), this->values.data(), 'L', a,
                                             &like));
  this->problem.a = a;
  this->options.largest = 1;
  this->options.iterations = 2000;
  this->expect_solved(1);
  rows[0] = this->n;
  EXPECT_EQ(tessera_operator_from_coordinates(this->runtime, this->type, TESSERA_FLOAT, this->n, entries,
                                              rows.data(), this->columns.data(), this->values.data(), 'L',
                                              nullptr, &a),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_operator_from_matrix_market(this->runtime, this->type, TESSERA_FLOAT, "/nowhere.mtx",
                                                nullptr, &a),
            TESSERA_INPUT_ERROR);
  EXPECT_EQ(
      tessera_operator_from_coordinates(this->runtime, 'q', TESSERA_FLOAT, this->n, entries, rows.data(),
                                        this->columns.data(), this->values.data(), 'L', nullptr, &a),
      TESSERA_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tessera::test
