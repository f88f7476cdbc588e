// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the interfaces cost: the same solve through C++, C, Fortran and the routine in ScaLAPACK's manner, in turns, and the
// medians beside that of C++. All matrices are column-major arrays of the host, or, with "gpu", of the first GPU (C++ and C).
//
//   cost_of_interfaces [N [ROUNDS [gpu]]]
//
// Exit code: 0, or 1 if a solution is wrong.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <tessera.h>

#include <tessera/eigensolve.hpp>

#ifdef TESSERA_COST_ON_GPU
#include <cuda_runtime_api.h>
#endif
#ifdef TESSERA_COST_OF_SCALAPACK
#include <mpi.h>
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridexit(int context);
}
#endif
#ifdef TESSERA_COST_OF_FORTRAN
extern "C" int fortran_eigensolve(int n, const double* a, double* w, double* z);
#endif

namespace {

using tessera::Index;

struct Problem {
  int n;
  std::vector<double> a, w, z;
  double *given = nullptr, *vectors = nullptr;  ///< a and z, or arrays of a GPU
};

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "cost_of_interfaces: %s: %s\n", what, tessera_last_message());
  std::exit(1);
}

void by_cpp(Problem& p) {
  auto result = tessera::eigensolve(
      tessera::EigenProblem<double>{.a = {p.given, p.n, p.n}, .vectors_to = {p.vectors, p.n}});
  require(static_cast<bool>(result), "C++");
  p.w = std::move(result.values);
}

void by_c(Problem& p) {
  tessera_eigen_problem problem;
  tessera_eigen_problem_init(&problem);
  problem.type = TESSERA_DOUBLE;
  problem.a = tessera_array(p.given, p.n, p.n, 'L');
  problem.values = p.w.data();
  problem.vectors = tessera_array_out(p.vectors, p.n);
  require(tessera_eigensolve(nullptr, &problem, nullptr, nullptr) == 0, "C");
}

/// Column-major symmetric matrix with entries between -1 and 1.
std::vector<double> random_symmetric(int n) {
  std::vector<double> a(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  std::uint64_t state = 1;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const double value = static_cast<double>(state >> 11) * 0x1p-52 - 1;
      a[static_cast<std::size_t>(j) * n + i] = a[static_cast<std::size_t>(i) * n + j] = value;
    }
  return a;
}

/// The arrays on the GPU, if they are wanted there.
void place(Problem& p, bool on_gpu) {
  p.given = p.a.data(), p.vectors = p.z.data();
  if (!on_gpu) return;
#ifdef TESSERA_COST_ON_GPU
  const std::size_t bytes = sizeof(double) * p.a.size();
  require(cudaMalloc(reinterpret_cast<void**>(&p.given), bytes) == cudaSuccess, "memory on the GPU");
  require(cudaMalloc(reinterpret_cast<void**>(&p.vectors), bytes) == cudaSuccess, "memory on the GPU");
  require(cudaMemcpy(p.given, p.a.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess, "the matrix");
#else
  require(false, "arrays on a GPU in a build without CUDA");
#endif
}

/// The vectors, if they are on a GPU, to the host; and nothing in the GPU's array.
void fetch(Problem& p) {
#ifdef TESSERA_COST_ON_GPU
  if (p.vectors == p.z.data()) return;
  const std::size_t bytes = sizeof(double) * p.z.size();
  require(cudaMemcpy(p.z.data(), p.vectors, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "the vectors");
  require(cudaMemset(p.vectors, 0, bytes) == cudaSuccess, "the vectors");
  require(cudaDeviceSynchronize() == cudaSuccess, "the GPU");
#endif
  (void)p;
}

/// max |A z - w z| over the first, the middle and the last pair, in units of eps |A| n.
double residual(const Problem& p) {
  const auto n = static_cast<std::size_t>(p.n);
  double largest = 0;
  const double norm = std::max(std::abs(p.w.front()), std::abs(p.w.back()));
  for (const std::size_t pair : {std::size_t(0), n / 2, n - 1}) {
    std::vector<double> r(n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) r[i] += p.a[j * n + i] * p.z[pair * n + j];
    for (std::size_t i = 0; i < n; ++i) {
      const double error = std::abs(r[i] - p.w[pair] * p.z[pair * n + i]);
      largest = error <= largest ? largest : error;  // a NaN stays
    }
  }
  return largest / (std::numeric_limits<double>::epsilon() * norm * p.n);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

struct Interface {
  std::string name;
  std::function<void(Problem&)> solve;
  std::vector<double> seconds{};
};

bool compare(Problem& p, std::vector<Interface>& interfaces, int rounds) {
  double worst = 0;
  for (int round = -1; round < rounds; ++round) {  // the first one warms up
    std::rotate(interfaces.begin(), interfaces.begin() + 1, interfaces.end());
    for (Interface& way : interfaces) {
      p.w.assign(static_cast<std::size_t>(p.n), 0);
      std::fill(p.z.begin(), p.z.end(), 0.);
      const auto start = std::chrono::steady_clock::now();
      way.solve(p);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      if (round >= 0) way.seconds.push_back(taken.count());
      fetch(p);
      const double error = residual(p);
      if (!(error < 1))
        std::fprintf(stderr, "cost_of_interfaces: %s: residual %g\n", way.name.c_str(), error);
      worst = error <= worst ? worst : error;
    }
  }
  std::sort(interfaces.begin(), interfaces.end(),
            [](const auto& x, const auto& y) { return x.name < y.name; });
  const double cpp = median(std::find_if(interfaces.begin(), interfaces.end(), [](const auto& way) {
                              return way.name == "C++";
                            })->seconds);
  std::printf("%-10s %12s %12s %12s %9s\n", "interface", "median, s", "least, s", "most, s", "of C++");
  for (const Interface& way : interfaces) {
    const auto [least, most] = std::minmax_element(way.seconds.begin(), way.seconds.end());
    std::printf("%-10s %12.5f %12.5f %12.5f %9.4f\n", way.name.c_str(), median(way.seconds), *least, *most,
                median(way.seconds) / cpp);
  }
  std::printf("largest residual %.2g eps |A| n\n", worst);
  return worst < 1;
}

int number(int argc, char** argv, int place, int otherwise) {
  if (argc <= place) return otherwise;
  const int value = std::atoi(argv[place]);
  if (value >= 1 && value <= 40000) return value;
  std::fprintf(stderr, "usage: cost_of_interfaces [N [ROUNDS [gpu]]]\n");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  Problem p{.n = number(argc, argv, 1, 4000), .a = {}, .w = {}, .z = {}};
  const int rounds = number(argc, argv, 2, 5);
  const bool on_gpu = argc > 3 && std::string(argv[3]) == "gpu";
  std::vector<Interface> interfaces{{"C++", by_cpp}, {"C", by_c}};
#ifdef TESSERA_COST_OF_FORTRAN
  if (!on_gpu)
    interfaces.push_back(
        {"Fortran", [](Problem& problem) {
           require(fortran_eigensolve(problem.n, problem.a.data(), problem.w.data(), problem.z.data()) == 0,
                   "Fortran");
         }});
#endif
#ifdef TESSERA_COST_OF_SCALAPACK
  int provided = 0, context = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "R", 1, 1);
  if (!on_gpu)
    interfaces.push_back({"ScaLAPACK", [context](Problem& problem) {
                            const int n = problem.n, descriptor[9] = {1, context, n, n, 64, 64, 0, 0, n};
                            int info = 0;
                            tessera_pdsyevd('L', n, problem.a.data(), 1, 1, descriptor, problem.w.data(),
                                            problem.z.data(), 1, 1, descriptor, &info);
                            require(info == 0, "the routine in ScaLAPACK's manner");
                          }});
#endif
  p.a = random_symmetric(p.n);
  p.z.resize(p.a.size());
  place(p, on_gpu);
  const bool good = compare(p, interfaces, rounds);
  tessera_end_default_runtime();
#ifdef TESSERA_COST_OF_SCALAPACK
  Cblacs_gridexit(context);
  MPI_Finalize();
#endif
  return good ? 0 : 1;
}
