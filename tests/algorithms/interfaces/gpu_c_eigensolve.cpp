// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <thread>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>
#include <tests/support/device_array.hpp>
#include <tests/support/eigen_problem.hpp>

/// Arrays on a GPU through the C interface, with streams and events of the caller's.
namespace tessera::test {
namespace {

template <class T>
class CEigensolveOnGpu : public ::testing::Test {
 public:
  void SetUp() override {
    TESSERA_NEED_GPU();
    tessera_runtime_options options;
    tessera_runtime_options_init(&options);
    options.cores = 2;
    options.gpus = 1;
    ASSERT_C(tessera_runtime_create(&options, &runtime));
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&before, cudaEventDisableTiming), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&after, cudaEventDisableTiming), cudaSuccess);
  }
  void TearDown() override {
    if (runtime == nullptr) return;
    cudaEventDestroy(before);
    cudaEventDestroy(after);
    cudaStreamDestroy(stream);
    tessera_runtime_free(runtime);
  }

  tessera_eigen_problem problem_of(const DeviceMatrix<T>& a, std::vector<RealOf<T>>& w, DeviceMatrix<T>& z) {
    tessera_eigen_problem problem;
    tessera_eigen_problem_init(&problem);
    problem.type = type_letter<T>;
    problem.a = tessera_array(a.data(), a.view().rows, a.view().ld, 'L');
    problem.values = w.data();
    problem.vectors = tessera_array_out(z.data(), z.view().ld);
    return problem;
  }

  /// Half a second after this call the stream writes the matrix, which holds NaN until then.
  void write_late(DeviceMatrix<T>& to, const Matrix<T>& from) {
    ASSERT_EQ(
        cudaLaunchHostFunc(
            stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }, nullptr),
        cudaSuccess);
    // From pageable memory the copy would wait in this call.
    const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(from.ld() * from.cols());
    ASSERT_EQ(cudaMallocHost(&pinned, bytes), cudaSuccess);
    std::copy_n(from.data(), bytes / sizeof(T), static_cast<T*>(pinned));
    ASSERT_EQ(cudaMemcpyAsync(to.data(), pinned, bytes, cudaMemcpyHostToDevice, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  }

  void expect_solved(const Matrix<T>& a, const std::vector<RealOf<T>>& w, const Matrix<T>& z) {
    const EigenErrors errors = eigen_errors<T>(a, nullptr, w, &z, lapack_eigenvalues(a), 0);
    EXPECT_LT(errors.residual, 30);
    EXPECT_LT(errors.orthogonality, 30);
    EXPECT_LT(errors.values, 30);
    EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  }

  tessera_runtime* runtime = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t before = nullptr, after = nullptr;
  void* pinned = nullptr;
};
TYPED_TEST_SUITE(CEigensolveOnGpu, Scalars);

TYPED_TEST(CEigensolveOnGpu, WaitsForTheCallersStream) {
  using T = TypeParam;
  for (const Index n : {60, 700}) {
    const auto a = random_hermitian<T>(n, 3);
    DeviceMatrix<T> on_gpu(n, n, a.ld() - n), z(n, n);
    std::vector<RealOf<T>> w(static_cast<std::size_t>(n));
    auto problem = this->problem_of(on_gpu, w, z);
    problem.use_stream = 1;
    problem.stream = this->stream;
    this->write_late(on_gpu, a);
    ASSERT_C(tessera_eigensolve(this->runtime, &problem, nullptr, nullptr));
    this->expect_solved(a, w, z.get());
  }
}

TYPED_TEST(CEigensolveOnGpu, WaitsForAnEventAndRecordsOne) {
  using T = TypeParam;
  const Index n = 700;
  const auto a = random_hermitian<T>(n, 4);
  DeviceMatrix<T> on_gpu(n, n, a.ld() - n), z(n, n), copy(n, n);
  std::vector<RealOf<T>> w(static_cast<std::size_t>(n));
  auto problem = this->problem_of(on_gpu, w, z);
  this->write_late(on_gpu, a);
  ASSERT_EQ(cudaEventRecord(this->before, this->stream), cudaSuccess);
  cudaStream_t theirs = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&theirs, cudaStreamNonBlocking), cudaSuccess);
  problem.wait_event = this->before;
  problem.done_event = this->after;
  problem.stream = theirs;
  CompletionHandle done;
  ASSERT_C(tessera_submit_eigensolve(this->runtime, &problem, nullptr, nullptr, &done));
  ASSERT_C(tessera_wait(done));
  // What comes behind the event finds the vectors.
  ASSERT_EQ(cudaStreamWaitEvent(this->stream, this->after, 0), cudaSuccess);
  const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(z.view().ld * n);
  ASSERT_EQ(cudaMemcpyAsync(copy.data(), z.data(), bytes, cudaMemcpyDeviceToDevice, this->stream),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(this->stream), cudaSuccess);
  this->expect_solved(a, w, copy.get());
  EXPECT_EQ(cudaStreamDestroy(theirs), cudaSuccess);
}

/// A batch on a GPU, its values there, too; the stream still writes the matrices.
TYPED_TEST(CEigensolveOnGpu, ABatchWaitsForTheCallersStream) {
  using T = TypeParam;
  const Index n = 40, count = 30;
  Matrix<T> a(n, n * count);
  for (Index k = 0; k < count; ++k)
    a.set_block(0, k * n, random_hermitian<T>(n, static_cast<std::uint64_t>(k)));
  DeviceMatrix<T> on_gpu(n, n * count, 0), z(n, n * count);
  DeviceMatrix<RealOf<T>> w(n, count, 0);
  std::vector<int> info(static_cast<std::size_t>(count), -77);
  tessera_eigen_batch_problem problem;
  tessera_eigen_batch_problem_init(&problem);
  problem.type = type_letter<T>;
  problem.a = tessera_batch_array(on_gpu.data(), n, count, 'L');
  problem.values = w.data();
  problem.vectors = {.data = z.data(), .ld = z.view().ld, .stride = z.view().ld * n};
  problem.info = info.data();
  problem.use_stream = 1;
  problem.stream = this->stream;
  problem.done_event = this->after;
  this->write_late(on_gpu, a);
  CompletionHandle done;
  ASSERT_C(tessera_submit_eigensolve_batch(this->runtime, &problem, nullptr, nullptr, &done));
  ASSERT_C(tessera_wait(done));
  ASSERT_EQ(cudaEventSynchronize(this->after), cudaSuccess);
  const Matrix<T> vectors = z.get();
  const Matrix<RealOf<T>> values = w.get();
  for (Index k = 0; k < count; ++k) {
    EXPECT_EQ(info[static_cast<std::size_t>(k)], 0);
    const Matrix<T> matrix = a.block(0, k * n, n, n);
    const Matrix<T> x = vectors.block(0, k * n, n, n);
    std::vector<RealOf<T>> of_matrix;
    for (Index j = 0; j < n; ++j) of_matrix.push_back(values(j, k));
    const EigenErrors errors = eigen_errors<T>(matrix, nullptr, of_matrix, &x, lapack_eigenvalues(matrix), 0);
    EXPECT_LT(errors.residual, 30);
    EXPECT_LT(errors.orthogonality, 30);
    EXPECT_LT(errors.values, 30);
  }
  EXPECT_EQ(cudaFreeHost(this->pinned), cudaSuccess);
}

TYPED_TEST(CEigensolveOnGpu, AFactorOnAGpuServesSeveralProblems) {
  using T = TypeParam;
  const Index n = 300;
  const auto a = random_hermitian<T>(n, 5), b = random_hermitian<T>(n, 6, 3.0 * n);
  const DeviceMatrix<T> a_there(a), b_there(b);
  const auto right = tessera_array(b_there.data(), n, b_there.view().ld, 'L');
  Factor factor;
  ASSERT_C(tessera_cholesky_factor_create(this->runtime, type_letter<T>, &right, &factor));
  for (int repetition = 0; repetition < 2; ++repetition) {
    DeviceMatrix<T> z(n, n);
    std::vector<RealOf<T>> w(static_cast<std::size_t>(n));
    auto problem = this->problem_of(a_there, w, z);
    problem.b_factor = factor;
    ASSERT_C(tessera_eigensolve(this->runtime, &problem, nullptr, nullptr));
    const Matrix<T> vectors = z.get();
    const EigenErrors errors = eigen_errors<T>(a, &b, w, &vectors, lapack_eigenvalues(a, b), 0);
    EXPECT_LT(errors.residual, 30);
    EXPECT_LT(errors.orthogonality, 30);
    EXPECT_LT(errors.values, 30);
  }
}

}  // namespace
}  // namespace tessera::test
