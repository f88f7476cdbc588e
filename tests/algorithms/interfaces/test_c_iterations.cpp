// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <functional>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>
#include <tests/support/eigen_problem.hpp>

namespace tessera::test {
namespace {

template <class T>
class CIterations : public CTest<T> {
 public:
  static constexpr Index n = 16;
  void SetUp() override {
    const Index sizes[] = {4, 4, 4, 4};
    ASSERT_C(tessera_block_layout_create(CTest<T>::runtime, 4, sizes, 0, nullptr,
                                         is_complex<T> ? TESSERA_HERMITIAN : TESSERA_SYMMETRIC, &layout));
    tessera_function_options_init(&options);
  }
  void make(const Matrix<T>& dense, tessera_block_matrix** matrix) const {
    ASSERT_C(tessera_block_matrix_from_dense(CTest<T>::runtime, CTest<T>::type, layout, dense.data(),
                                             dense.ld(), -1, matrix));
  }
  static Matrix<T> dense_of(const tessera_block_matrix* matrix) {
    Matrix<T> dense(n, n);
    EXPECT_C(tessera_block_matrix_to_dense(matrix, dense.data(), dense.ld()));
    return dense;
  }
  static void expect_near(const Matrix<T>& a, const Matrix<T>& b, double tolerance) {
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) EXPECT_LE(std::abs(a(i, j) - b(i, j)), tolerance) << i << ' ' << j;
  }
  Layout layout;
  tessera_function_options options;
};
TYPED_TEST_SUITE(CIterations, Scalars);

TYPED_TEST(CIterations, FunctionsSatisfyWhatDefinesThem) {
  using T = TypeParam;
  const double tolerance = 1e4 * precision<T>;
  const auto positive = random_hermitian<T>(this->n, 2, 12);
  const auto one = identity<T>(this->n);
  BlockMatrix a, factor, inverse, root, inverse_root, third;
  tessera_iteration_report report;
  this->make(positive, &a);
  ASSERT_C(tessera_inverse_factor(a, nullptr, &this->options, &report, &factor));
  EXPECT_GT(report.steps, 0);
  EXPECT_GT(report.products, report.steps);
  EXPECT_LT(report.error, tolerance);
  const auto z = this->dense_of(factor);
  this->expect_near(multiply(Op::adjoint, z, Op::none, multiply(positive, z)), one, tolerance);
  ASSERT_C(tessera_matrix_inverse(a, nullptr, nullptr, nullptr, &inverse));
  this->expect_near(multiply(this->dense_of(inverse), positive), one, tolerance);
  ASSERT_C(tessera_matrix_square_roots(a, nullptr, nullptr, &root, &inverse_root));
  const auto r = this->dense_of(root);
  this->expect_near(multiply(r, r), positive, 30 * tolerance);
  this->expect_near(multiply(r, this->dense_of(inverse_root)), one, tolerance);
  this->options.root = 3;
  ASSERT_C(tessera_matrix_inverse_root(a, &this->options, nullptr, &third));
  const auto t = this->dense_of(third);
  this->expect_near(multiply(multiply(multiply(t, t), t), positive), one, tolerance);
  const auto values = lapack_eigenvalues(positive);
  double log_determinant = 0, expected = 0;
  for (const auto value : values) expected += std::log(double(value));
  ASSERT_C(tessera_log_determinant(a, nullptr, nullptr, &log_determinant));
  EXPECT_NEAR(log_determinant, expected, tolerance);
}

TYPED_TEST(CIterations, SignExponentialAndTheirMonitor) {
  using T = TypeParam;
  const double tolerance = 1e4 * precision<T>;
  auto a = random_hermitian<T>(this->n, 3);
  for (Index i = 0; i < this->n; ++i) a(i, i) += T(RealOf<T>(i < 6 ? -9 : 9));
  BlockMatrix matrix, sign, exponential, inverse;
  this->make(a, &matrix);
  std::vector<Index> iterations;
  this->options.monitor_user = &iterations;
  this->options.monitor = [](const tessera_iteration_step* step, void* user) {
    static_cast<std::vector<Index>*>(user)->push_back(step->iteration);
    EXPECT_STREQ(step->stage, "matrix_sign");
    return 0;
  };
  tessera_iteration_report report;
  ASSERT_C(tessera_matrix_sign(matrix, &this->options, &report, &sign));
  EXPECT_EQ(static_cast<Index>(iterations.size()), report.steps);
  const auto s = this->dense_of(sign);
  this->expect_near(multiply(s, s), identity<T>(this->n), tolerance);
  double trace = 0;
  for (Index i = 0; i < this->n; ++i) trace += real_part(s(i, i));
  EXPECT_NEAR(trace, 4, 16 * tolerance) << "six negative, ten positive eigenvalues";

  this->options.monitor = [](const tessera_iteration_step* step, void*) {
    return step->iteration == 2 ? 1 : 0;
  };
  EXPECT_EQ(tessera_matrix_sign(matrix, &this->options, &report, &sign), TESSERA_STOPPED);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(static_cast<tessera_block_matrix*>(sign), nullptr);

  const T small(0.1);
  ASSERT_C(tessera_block_scale(nullptr, &small, matrix));
  ASSERT_C(tessera_matrix_exponential(matrix, nullptr, nullptr, &exponential));
  const T minus(-1);
  ASSERT_C(tessera_block_scale(nullptr, &minus, matrix));
  ASSERT_C(tessera_matrix_exponential(matrix, nullptr, nullptr, &inverse));
  this->expect_near(multiply(this->dense_of(exponential), this->dense_of(inverse)), identity<T>(this->n),
                    30 * tolerance);
}

/// A chain with alternating couplings t and s: bands -/+ sqrt(t^2 + s^2 + 2 t s cos k).
template <class T>
Matrix<T> dimerised_chain(Index n) {
  Matrix<T> h(n, n);
  for (Index i = 0; i < n; ++i) {
    const T coupling(RealOf<T>(i % 2 == 0 ? -1.0 : -0.4));
    h((i + 1) % n, i) = coupling;
    h(i, (i + 1) % n) = conjugate(coupling);
  }
  return h;
}
double chain_energy(Index n) {
  double energy = 0;
  for (Index k = 0; k < n / 2; ++k)
    energy -= 2 * std::sqrt(1 + 0.16 + 0.8 * std::cos(2 * M_PI * double(k) / double(n / 2)));
  return energy;
}

TYPED_TEST(CIterations, DensityOfAChain) {
  using T = TypeParam;
  BlockMatrix h;
  this->make(dimerised_chain<T>(this->n), &h);
  for (int method = TESSERA_DENSITY_AUTOMATIC; method <= TESSERA_DENSITY_DENSE; ++method) {
    if (method == TESSERA_DENSITY_FERMI) continue;
    tessera_density_problem problem;
    tessera_density_problem_init(&problem);
    problem.hamiltonian = h;
    problem.electrons = this->n;
    tessera_density_options options;
    tessera_density_options_init(&options);
    options.method = method;
    options.filter_eps = 0;
    options.energy_weighted = 1;
    tessera_density_result result;
    ASSERT_C(tessera_density_matrix(&problem, &options, &result)) << tessera_density_method_name(method);
    EXPECT_NEAR(result.energy, chain_energy(this->n), 2e4 * precision<T>)
        << tessera_density_method_name(method);
    EXPECT_NEAR(result.electrons, this->n, 2e4 * precision<T>);
    EXPECT_NE(result.density, nullptr);
    EXPECT_NE(result.energy_weighted, nullptr);
    if (result.energy_weighted) {
      T trace(0);
      EXPECT_C(tessera_block_trace(result.energy_weighted, &trace));
      EXPECT_NEAR(real_part(trace), result.energy, 2e4 * precision<T>) << "P H P / occupation, P idempotent";
    }
    tessera_density_result_free(&result);
    EXPECT_EQ(result.density, nullptr);
  }
  EXPECT_EQ(tessera_density_method_name(-1), nullptr);
}

TYPED_TEST(CIterations, DensitiesInFlightStatesAndFailures) {
  using T = TypeParam;
  BlockMatrix h;
  this->make(dimerised_chain<T>(this->n), &h);
  std::vector<tessera_density_problem> problems(2);
  std::vector<tessera_density_result> results(2);
  for (auto& problem : problems) {
    tessera_density_problem_init(&problem);
    problem.hamiltonian = h;
    problem.electrons = this->n;
  }
  std::vector<CompletionHandle> completions(2);
  for (std::size_t k = 0; k < 2; ++k)
    ASSERT_C(tessera_submit_density_matrix(&problems[k], nullptr, &results[k], &completions[k]));
  for (std::size_t k = 0; k < 2; ++k) ASSERT_C(tessera_wait(completions[k]));
  EXPECT_NEAR(results[0].energy, chain_energy(this->n), 1e-4);
  EXPECT_EQ(results[0].energy, results[1].energy);

  const std::string path =
      std::filesystem::temp_directory_path() / ("tessera_state_" + std::to_string(::getpid()) + ".h5");
  ASSERT_C(tessera_density_write_state(path.c_str(), &problems[0], &results[0]));
  tessera_density_result read;
  double occupation = 0, temperature = -1;
  ASSERT_C(
      tessera_density_read_state(this->runtime, this->type, path.c_str(), &occupation, &temperature, &read));
  std::filesystem::remove(path);
  EXPECT_EQ(occupation, 2);
  EXPECT_EQ(temperature, 0);
  EXPECT_EQ(read.energy, results[0].energy);
  this->expect_near(this->dense_of(read.density), this->dense_of(results[0].density), 0);
  tessera_density_result_free(&read);
  for (auto& result : results) tessera_density_result_free(&result);

  const double weights[] = {0.25, 0.75};
  tessera_density_sums sums;
  ASSERT_C(tessera_density_matrices(2, problems.data(), weights, 0, nullptr, results.data(), &sums));
  EXPECT_NEAR(sums.energy, chain_energy(this->n), 1e-4);
  EXPECT_NEAR(sums.electrons, this->n, 1e-3);
  for (auto& result : results) tessera_density_result_free(&result);

  problems[0].electrons = 3;  // no whole number of pairs
  EXPECT_EQ(tessera_density_matrix(&problems[0], nullptr, &read), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(read.density, nullptr);
  problems[0].hamiltonian = nullptr;
  EXPECT_EQ(tessera_density_matrix(&problems[0], nullptr, &read), TESSERA_INVALID_ARGUMENT);
}

TYPED_TEST(CIterations, PurifyRepairsADensity) {
  using T = TypeParam;
  BlockMatrix h, purified;
  this->make(dimerised_chain<T>(this->n), &h);
  tessera_density_problem problem;
  tessera_density_problem_init(&problem);
  problem.hamiltonian = h;
  problem.electrons = this->n / 2;
  problem.occupation = 1;
  tessera_density_options exact;
  tessera_density_options_init(&exact);
  exact.filter_eps = 0;
  tessera_density_result result;
  ASSERT_C(tessera_density_matrix(&problem, &exact, &result));
  const auto p = this->dense_of(result.density);
  const T factor(0.95);
  ASSERT_C(tessera_block_scale(nullptr, &factor, result.density));
  ASSERT_C(tessera_purify(result.density, nullptr, nullptr, nullptr, &purified));
  this->expect_near(this->dense_of(purified), p, 1e4 * precision<T>);
  tessera_density_result_free(&result);
}

/// H[P] = H0 + U (diag P - 1): the field of a chain at half filling, where all sites have one electron, is H0.
struct Functional {
  int type;
  tessera_index n;
  tessera_block_matrix* core;
  int calls = 0, fail_at = 0;
};
template <class T>
int field(tessera_index channels, const tessera_block_matrix* const* densities,
          tessera_block_matrix** hamiltonians, double* energy, void* user) {
  auto& functional = *static_cast<Functional*>(user);
  if (++functional.calls == functional.fail_at) return 7;
  if (channels != 1) return 1;
  std::vector<T> occupation(static_cast<std::size_t>(functional.n));
  if (int code = tessera_block_get_diagonal(densities[0], occupation.data(), functional.n)) return code;
  if (int code = tessera_block_copy(nullptr, functional.core, &hamiltonians[0])) return code;
  std::vector<T> diagonal;
  double repulsion = 0;
  for (const T& p : occupation) {
    diagonal.push_back(T(RealOf<T>(0.5) * (real_part(p) - RealOf<T>(1))));
    repulsion += 0.25 * double(real_part(p) - 1) * double(real_part(p) - 1);
  }
  if (int code = tessera_block_set_diagonal(nullptr, diagonal.data(), functional.n, hamiltonians[0]))
    return code;
  T band(0);
  if (int code = tessera_block_dot(densities[0], functional.core, &band)) return code;
  *energy = double(real_part(band)) + repulsion;
  return 0;
}

TYPED_TEST(CIterations, SelfConsistentField) {
  using T = TypeParam;
  BlockMatrix core, start;
  this->make(dimerised_chain<T>(this->n), &core);
  auto bent = dimerised_chain<T>(this->n);
  bent(0, 0) = T(RealOf<T>(0.3));
  bent(9, 9) = T(RealOf<T>(-0.2));
  this->make(bent, &start);
  for (const int method : {TESSERA_SCF_SIMPLE, TESSERA_SCF_PULAY, TESSERA_SCF_DIRECT}) {
    Functional functional{this->type, this->n, core};
    tessera_scf_problem problem;
    tessera_scf_problem_init(&problem);
    problem.type = this->type;
    problem.functional = field<T>;
    problem.functional_user = &functional;
    tessera_scf_channel channel{};
    channel.electrons = this->n;
    channel.occupation = 2;
    channel.hamiltonian = start;
    problem.channels = 1;
    problem.channel = &channel;
    tessera_scf_options options;
    tessera_scf_options_init(&options);
    options.method = method;
    options.tolerance = precision<T> < 1e-10 ? 1e-6 : 1e-4;
    options.energy_tolerance = precision<T> < 1e-10 ? 1e-9 : 1e-5;
    options.density.filter_eps = precision<T> < 1e-10 ? 1e-9 : 1e-6;
    tessera_scf_state state;
    tessera_scf_result result;
    ASSERT_C(tessera_scf(this->runtime, &problem, &options, &state, &result)) << method;
    EXPECT_NEAR(result.energy, chain_energy(this->n), precision<T> < 1e-10 ? 1e-8 : 1e-3) << method;
    EXPECT_EQ(result.evaluations, functional.calls);
    EXPECT_NEAR(state.electrons, this->n, 1e-3);
    tessera_block_matrix_free(state.density);
    tessera_block_matrix_free(state.hamiltonian);
    tessera_block_matrix_free(state.energy_weighted);
    tessera_block_matrix_free(result.inverse_factor);

    functional.calls = 0;
    functional.fail_at = 2;
    EXPECT_EQ(tessera_scf(this->runtime, &problem, &options, &state, &result), TESSERA_CALLBACK_FAILED);
    EXPECT_EQ(tessera_last_callback_code(), 7);
    EXPECT_EQ(functional.calls, 2);
  }
}

}  // namespace
}  // namespace tessera::test
