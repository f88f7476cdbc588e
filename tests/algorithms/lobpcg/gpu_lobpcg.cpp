// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <mutex>
#include <tuple>

#include <gtest/gtest.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/device_array.hpp>
#include <tests/support/eigen_problem.hpp>

#include <tessera/matgen.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/runtime/sequence.hpp>

/// LOBPCG on a GPU: all stages must run there, also with user functions that work on device memory.
namespace tessera::test {
using namespace detail;
namespace {

/// Codelets of stages that no CPU should run. Nothing else shows that a CUDA implementation is not
/// registered.
TEST(LobpcgCodelets, HaveCudaImplementations) {
  for (const std::string name :
       {"gram", "combine", "residual", "random_vectors", "divide_rows", "chebyshev_start", "chebyshev_step",
        "user_device_function", "call_device_preconditioner", "multiply_csb", "sum_vectors", "fom_tiles"}) {
    int found = 0;
    for (const Codelet* codelet : Codelet::all())
      if (codelet->name().starts_with(name + "_")) {
        ++found;
        EXPECT_TRUE(codelet->has_cuda()) << codelet->name();
      }
    EXPECT_GE(found, 2) << name;
  }
}

/// Forwards to an operator and records the statistics of the enclosing sequence when it ends.
template <class T>
class Observed final : public SymmetricOperator<T> {
 public:
  explicit Observed(const SymmetricOperator<T>& a) : a_(a) {}
  Index order() const override { return a_.order(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return a_.segments(); }
  double norm_bound() const override { return a_.norm_bound(); }
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override {
    if (!std::exchange(observing_, true))
      sequence.keep(std::shared_ptr<void>(&sequence, [this](void* ended) {
        statistics_ = static_cast<Sequence*>(ended)->statistics();
        observing_ = false;
      }));
    a_.apply(sequence, x, y, columns);
  }
  void expect_all_on_the_gpu(std::initializer_list<std::string> names) const {
    for (const std::string& name : names) {
      const auto stage = std::find_if(statistics_.stages.begin(), statistics_.stages.end(),
                                      [&](const StageStatistics& s) { return s.name == name; });
      ASSERT_NE(stage, statistics_.stages.end()) << name;
      EXPECT_GT(stage->tasks, 0) << name;
      EXPECT_EQ(stage->device_tasks, stage->tasks) << name;
    }
  }

 private:
  const SymmetricOperator<T>& a_;
  mutable bool observing_ = false;
  mutable SequenceStatistics statistics_;
};

/// Eigenvalues of a matrix with tiles for each preconditioner; `on_gpu` also checks that all stages
/// ran on the GPU.
template <class V, class T>
std::vector<std::vector<double>> shell_model_values(const RuntimeOptions& options, bool on_gpu) {
  Runtime runtime(options);
  EXPECT_EQ(runtime.gpus() > 0, on_gpu);
  const SparseGenerator shell = make_sparse_generator("shell:20Ne");
  const auto a = CsbMatrix<V, T>::build(runtime, *shell.a, {.segments = 2});
  FomPreconditioner<V, T> fom(runtime, a);
  JacobiPreconditioner<T> jacobi(runtime, a.segments(), a.diagonal());
  ChebyshevPreconditioner<T> chebyshev(runtime, a);
  std::vector<std::vector<double>> values;
  for (Preconditioner<T>* const preconditioner :
       {static_cast<Preconditioner<T>*>(&fom), static_cast<Preconditioner<T>*>(&jacobi),
        static_cast<Preconditioner<T>*>(&chebyshev)}) {
    SCOPED_TRACE(preconditioner->name());
    const Observed<T> op(a);
    const LobpcgOptions solve{.count = 4, .tolerance = sizeof(T) == 4 ? 1e-5 : 1e-8};
    const auto first = lobpcg(runtime, {.a = &op, .preconditioner = preconditioner}, solve);
    EXPECT_EQ(first.status().code, StatusCode::success) << first.status().message();
    EXPECT_EQ(first.vectors.width(), on_gpu ? 8 : 6);  // default block size
    if (on_gpu) op.expect_all_on_the_gpu({"multiply", "preconditioner", "dense"});
    values.push_back(first.values);
  }
  return values;
}

/// The values must agree within the tolerance of the solves.
void expect_near(const std::vector<std::vector<double>>& found,
                 const std::vector<std::vector<double>>& expected, double gate) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t p = 0; p < found.size(); ++p) {
    ASSERT_EQ(found[p].size(), expected[p].size());
    for (std::size_t k = 0; k < found[p].size(); ++k)
      EXPECT_NEAR(found[p][k], expected[p][k], gate) << "preconditioner " << p << ", eigenvalue " << k;
  }
}

TEST(LobpcgOnGpu, EveryStageRunsThere) {
  TESSERA_NEED_GPU();
  expect_near(shell_model_values<double, double>({.cores = 2}, true),
              shell_model_values<double, double>({.cores = 2, .gpus = 0}, false), 1e-8);
  expect_near(shell_model_values<float, double>({.cores = 2}, true),
              shell_model_values<float, double>({.cores = 2, .gpus = 0}, false), 1e-8);
  expect_near(shell_model_values<float, float>({.cores = 2}, true),
              shell_model_values<float, float>({.cores = 2, .gpus = 0}, false), 1e-2);
}

/// CPUs that may take part must leave the vectors to GPUs, so that no summation order depends on
/// which worker is idle.
TEST(LobpcgOnGpu, SameBitsWithCpusThatMayTakePart) {
  TESSERA_NEED_GPU();
  Runtime runtime({.cores = 4, .hybrid = true, .scheduler = "eager"});
  const SparseGenerator shell = make_sparse_generator("shell:20Ne");
  const auto a = CsbMatrix<double, double>::build(runtime, *shell.a, {.segments = 4});
  std::vector<double> values, vectors;
  for (int round = 0; round < 3; ++round) {
    FomPreconditioner<double, double> fom(runtime, a);
    const auto result = lobpcg(runtime, {.a = &a, .preconditioner = &fom}, {.count = 3});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    if (round == 0) values = result.values, vectors = columns_of(result.vectors, 3);
    EXPECT_EQ(result.values, values);
    EXPECT_EQ(columns_of(result.vectors, 3), vectors);
  }
}

/// Block Lanczos, of more pairs than a block holds: the same values as on CPUs, and all work on the GPU.
template <class T>
std::vector<double> lanczos_values(const RuntimeOptions& options, bool on_gpu) {
  Runtime runtime(options);
  EXPECT_EQ(runtime.gpus() > 0, on_gpu);
  const SparseGenerator shell = make_sparse_generator("shell:20Ne");
  const auto a = CsbMatrix<T, T>::build(runtime, *shell.a, {.segments = 2});
  const Observed<T> op(a);
  const auto result =
      lobpcg(runtime, {.a = &op},
             {.count = 40, .method = EigenMethod::lanczos, .tolerance = sizeof(T) == 4 ? 1e-5 : 1e-9});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_EQ(result.restarts, 0);
  if (on_gpu) op.expect_all_on_the_gpu({"multiply", "dense"});
  return result.values;
}

TEST(LobpcgOnGpu, LanczosRunsThere) {
  TESSERA_NEED_GPU();
  expect_near({lanczos_values<double>({.cores = 2}, true)},
              {lanczos_values<double>({.cores = 2, .gpus = 0}, false)}, 1e-8);
  expect_near({lanczos_values<float>({.cores = 2}, true)},
              {lanczos_values<float>({.cores = 2, .gpus = 0}, false)}, 1e-2);
}

/// With several GPUs in one process each GPU runs the tasks of its segments and pieces, and a
/// second run gives the same bits.
TEST(LobpcgOnSeveralGpus, EveryOneHasItsShare) {
  TESSERA_NEED_GPU();
  Runtime runtime({.cores = 2});
  if (runtime.gpus() < 2) GTEST_SKIP() << "one GPU";
  const SparseGenerator shell = make_sparse_generator("shell:24Mg");
  const auto a = CsbMatrix<double, double>::build(runtime, *shell.a);
  std::vector<double> values, vectors;
  for (int round = 0; round < 3; ++round) {
    FomPreconditioner<double, double> fom(runtime, a);
    const Observed<double> op(a);
    runtime.profile(true);
    const auto result = lobpcg(runtime, {.a = &op, .preconditioner = &fom}, {.count = 3});
    const auto profiles = runtime.worker_profiles();
    runtime.profile(false);
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    op.expect_all_on_the_gpu({"multiply", "preconditioner", "dense"});
    double most = 0, least = 1e300;
    for (const WorkerProfile& profile : profiles)
      if (profile.name.find("CUDA") != std::string::npos) {
        most = std::max(most, static_cast<double>(profile.tasks));
        least = std::min(least, static_cast<double>(profile.tasks));
      }
    EXPECT_GT(least, 0.6 * most);
    if (round == 0) values = result.values, vectors = columns_of(result.vectors, 3);
    EXPECT_EQ(result.values, values);
    EXPECT_EQ(columns_of(result.vectors, 3), vectors);
  }
}

/// A dense symmetric matrix and the inverse of its diagonal on the device, applied with cuBLAS.
/// Row-major X is column-major X^T.
class OnDevice {
 public:
  explicit OnDevice(const Matrix<double>& a) : n_(a.rows()), a_(a), inverse_(diagonal_inverse(a)) {}
  UserDeviceFunction<double> product() {
    return [this](Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy,
                  void* stream) {
      const std::lock_guard lock(mutex_);
      ++calls_;
      const double one = 1, zero = 0;
      EXPECT_EQ(cublasSetStream(handles_.cublas, static_cast<cudaStream_t>(stream)), CUBLAS_STATUS_SUCCESS);
      const MatrixView<const double> a = a_.const_view();
      EXPECT_EQ(cublasDgemm(handles_.cublas, CUBLAS_OP_N, CUBLAS_OP_N, int(columns), int(end - first),
                            int(n_), &one, x, int(ldx), a.data + first * a.ld, int(a.ld), &zero, y, int(ldy)),
                CUBLAS_STATUS_SUCCESS);
    };
  }
  DevicePreconditionRows<double> jacobi() {
    return [this](Index first, Index rows, Index columns, const double* r, Index ldr, double* w, Index ldw,
                  void* stream) {
      const std::lock_guard lock(mutex_);
      ++preconditioner_calls_;
      EXPECT_EQ(cublasSetStream(handles_.cublas, static_cast<cudaStream_t>(stream)), CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(cublasDdgmm(handles_.cublas, CUBLAS_SIDE_RIGHT, int(columns), int(rows), r, int(ldr),
                            inverse_.data() + first, 1, w, int(ldw)),
                CUBLAS_STATUS_SUCCESS);
    };
  }
  Index calls() const { return calls_; }
  Index preconditioner_calls() const { return preconditioner_calls_; }

 private:
  static std::vector<double> diagonal_inverse(const Matrix<double>& a) {
    std::vector<double> inverse;
    for (Index i = 0; i < a.rows(); ++i) inverse.push_back(1 / a(i, i));
    return inverse;
  }
  Index n_, calls_ = 0, preconditioner_calls_ = 0;
  DeviceMatrix<double> a_;
  DeviceArray<double> inverse_;
  DeviceHandles handles_;
  std::mutex mutex_;
};

TEST(LobpcgOnGpu, FunctionsOnDeviceMemory) {
  TESSERA_NEED_GPU();
  const Index n = 211;
  SparseRows rows(n);
  for (Index i = 0; i < n; ++i) {
    rows.add(i, i, 1 + double(i));
    for (Index j = 0; j < i; ++j) rows.add(i, j, 0.1 * random_uniform(7, 0, i, j));
  }
  const Matrix<double> a = dense(rows);
  const std::vector<double> expected = lapack_eigenvalues(a);
  Runtime runtime({.cores = 2, .gpus = 1});
  OnDevice device(a);  // after the runtime, which may reset the device
  for (const Index count : {1, 3}) {
    SCOPED_TRACE(count);
    const UserOperator<double> user(runtime, RowSegments::even(runtime, n, count), device.product(),
                                    UserFunction<double>(), rows.norm());
    const Observed<double> op(user);
    tessera::UserPreconditioner<double> jacobi(runtime, device.jacobi(), {});
    const auto result = lobpcg(runtime, {.a = &op, .preconditioner = &jacobi},
                               {.count = 5, .tolerance = 1e-10, .iterations = 200});
    expect_values(result, expected, 1e-7);
    expect_eigenpairs<double>(result, rows, nullptr, 1e-6, 1e-10);
    op.expect_all_on_the_gpu({"multiply", "preconditioner", "dense"});
    EXPECT_GE(device.calls(), count * result.multiplications);
    EXPECT_GT(device.preconditioner_calls(), 0);
  }
}

/// NaN from an operator and a failed sequence from a preconditioner throw; the runtime must stay
/// usable.
TEST(LobpcgOnGpu, FunctionsThatThrow) {
  TESSERA_NEED_GPU();
  Runtime runtime({.cores = 2, .gpus = 1});
  const Index n = 60;
  const auto good = operator_of<double>(runtime, laplacian(n), 2);
  const UserDeviceFunction<double> fails = [](Index, Index, Index, const double*, Index, double*, Index,
                                              void*) { throw std::runtime_error("no"); };
  const UserOperator<double> bad(runtime, good.segments(), fails, UserFunction<double>(), 4);
  EXPECT_THROW(std::ignore = lobpcg(runtime, {.a = &bad}, {.count = 2}), std::runtime_error);
  tessera::UserPreconditioner<double> throws(runtime,
                                             [](Index, Index, Index, const double*, Index, double*, Index,
                                                void*) { throw std::runtime_error("no"); },
                                             {});
  const BlockVectors<double> r = vectors_of<double>(runtime, good.segments(), 3,
                                                    [](Index i, Index j) { return double(i - j); }),
                             w(runtime, good.segments(), 3);
  Sequence sequence(runtime);
  throws.apply(sequence, r, w, 3);
  EXPECT_THROW(sequence.wait(), std::runtime_error);
  expect_values(lobpcg(runtime, {.a = &good}, {.count = 1}), {laplacian_value(n, 1)}, 1e-7);
}

}  // namespace
}  // namespace tessera::test
