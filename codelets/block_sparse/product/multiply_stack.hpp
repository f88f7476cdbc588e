// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/stack.hpp>
#include <tessera/runtime.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

/// Kind of worker that computed a stack.
enum class ProductWorker : std::uint8_t { none, cpu, gpu };

double stack_flops(std::span<const StackClass> classes, bool complex) noexcept;

/// Expected times on either kind of worker.
struct ProductSeconds {
  double cpu, gpu;
};
template <class T>
ProductSeconds stack_seconds(std::span<const StackClass> classes) noexcept;

/// Values of panels as the kernels take them.
template <class T>
StackFactors<T> stack_factors(const ReadAll<Array<T>>& factors) noexcept {
  StackFactors<T> result{};
  for (int i = 0; 2 * i + 1 < factors.size(); ++i) {
    result.a[i] = factors[2 * i].data();
    result.b[i] = factors[2 * i + 1].data();
  }
  return result;
}

/// C_ij += A_ik B_kj for all products of a stack.                [2 m n k a product, complex: x 4]
/// | operand | mode         | shape                                             | what                            |
/// |---------|--------------|---------------------------------------------------|---------------------------------|
/// | stack   | read         | array of StackEntry, then of StackRun (stack.hpp) | its products                    |
/// | c       | write or add | array                                             | C's values                      |
/// | factors | read         | arrays                                            | of each pair of panels A's, B's |
/// The entries of the stack name the pairs by their places in `factors`, at most max_stack_panels. The classes
/// are host metadata, alive until the task has ended. On ranks that do not own C, they and `ran_on` are not
/// used, and `stack` is any piece of `every_rank`.
///
/// Cost: for each shape the longer of flops and bytes (blocks of A and B for every product, of C for every
/// run) at the rates of a core or a GPU. Runs where C lives. On a GPU each shape with many products in the
/// stack has a kernel of its own, compiled at run time (prepare_stack_kernels); the others go to a generic
/// one.
template <class T>
struct MultiplyStack {
  static constexpr const char* name = "multiply_stack";
  Read<Array<StackEntry>> stack;
  WriteOrAdd<Array<T>> c;
  ReadAll<Array<T>> factors;
  std::span<const StackClass> classes;
  bool complete = false;  ///< every block of C has exactly one run: no zeros are needed before
  ProductWorker* ran_on;  ///< the task stores the kind of its worker here
  ProductSeconds expected = stack_seconds<T>(classes);

  double flops() const noexcept { return stack_flops(classes, is_complex<T>); }
  double seconds(WorkerKind kind, double) const noexcept {
    return kind == WorkerKind::gpu ? expected.gpu : expected.cpu;
  }
};

/// Makes the kernels that stacks of these classes need on this rank's GPUs, before the stacks are inserted.
/// It compiles kernels that are not on disk on all cores of this rank, and does nothing without GPUs. The
/// classes of all stacks may be given, one after the other, with repetitions: each class with at least 256
/// products and sizes up to 80 has its own kernel. The generic kernel computes shapes that cannot be
/// compiled, with one line in the log; if memory was short, the next call tries again.
template <class T>
void prepare_stack_kernels(const Runtime& runtime, std::span<const StackClass> classes);

/// Writes a line to the log about kernels that the tasks could not make (for a GPU of another kind than the
/// rank's first). To be called when stacks have been computed.
void report_stack_kernels(const Runtime& runtime);

/// Describes the compiler of kernels for this rank's GPUs and where they are kept; empty without GPUs.
/// Compiles one kernel.
std::string describe_stack_kernels(const Runtime& runtime);

/// A line for each model of GPU for which `tessera tune --stack` has kept parameters of kernels: its name and
/// the shapes, or why they are not used. Needs no GPU; empty without CUDA.
std::vector<std::pair<std::string, std::string>> describe_tuned_kernels();

namespace kernels {

template <class T>
void multiply_stack(std::span<const StackClass> classes, const StackEntry* entries, const StackRun* runs,
                    const StackFactors<T>& factors, T* c) noexcept;

}  // namespace kernels

}  // namespace tessera::detail
