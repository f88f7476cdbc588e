// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks on segments of single vectors (PanelVectors of width 1), for Krylov subspaces whose vectors stay in
/// tasks: coefficients are pieces of data, too, which the host reads when it has to decide. Inner products and
/// coefficients in double, as pairs of reals (real and imaginary part), in one order: the same bits in every run
/// on the same kind of worker.
namespace tessera::detail {

/// Consecutive rows of a segment that are consecutive in the whole vector.
struct RowRun {
  Index first, row, count;  ///< in the whole vector; in the segment; rows
};

/// A random number of about the normal distribution, variance 1, that depends on the seed and the number alone:
/// the sum of twelve uniform integers of 16 bits, less its mean. The same bits on CPUs and GPUs.
TESSERA_HOST_DEVICE constexpr double normal_number(std::uint64_t seed, std::uint64_t number) noexcept {
  std::int64_t sum = 0;
  for (std::uint64_t part = 0; part < 3; ++part)
    for (std::uint64_t bits = splitmix(splitmix(seed, part), number); bits != 0; bits >>= 16)
      sum += static_cast<std::int64_t>(bits & 0xffff);
  return static_cast<double>(sum - 6 * 65535) / 65536.0;
}

/// w := random numbers (complex ones have random imaginary parts), and the square of its norm.
/// | operand | mode  | shape           | what                            |
/// |---------|-------|-----------------|---------------------------------|
/// | runs    | read  | array of RowRun | the segment's rows              |
/// | w       | write | array           | the segment                     |
/// | square  | write | array of double | the square of the norm          |
template <class T>
struct RandomSegment {
  static constexpr const char* name = "random_segment";
  Read<Array<RowRun>> runs;
  Write<Array<T>> w;
  Write<Array<double>> square;
  std::uint64_t seed;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Inner products of the segments of some vectors with that of another one: v_i^H w.   [2 a row and vector]
/// | operand | mode  | shape           | what                        |
/// |---------|-------|-----------------|-----------------------------|
/// | v       | read  | arrays          | any number; none is w       |
/// | w       | read  | array           |                             |
/// | h       | write | array of double | a pair for each v           |
template <class T>
struct ProjectSegment {
  static constexpr const char* name = "project_segment";
  ReadAll<Array<T>> v;
  Read<Array<T>> w;
  Write<Array<double>> h;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// w := w - sum_i v_i h_i, and the square of its norm.                                 [2 a row and vector]
/// | operand | mode       | shape           | what                         |
/// |---------|------------|-----------------|------------------------------|
/// | v       | read       | arrays          | any number; none is w        |
/// | h       | read       | array of double | a pair for each v            |
/// | w       | read-write | array           |                              |
/// | square  | write      | array of double | of the norm; absent: not wanted |
template <class T>
struct SubtractSegment {
  static constexpr const char* name = "subtract_segment";
  ReadAll<Array<T>> v;
  Read<Array<double>> h;
  ReadWrite<Array<T>> w;
  Write<Array<double>> square{};
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// sum := parts_0 + parts_1 + ... from the left.
/// | operand | mode  | shape            | what                     |
/// |---------|-------|------------------|--------------------------|
/// | parts   | read  | arrays of double | any number, of one size  |
/// | sum     | write | array of double  | of that size             |
struct AddNumbers {
  static constexpr const char* name = "add_numbers";
  ReadAll<Array<double>> parts;
  Write<Array<double>> sum;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// v := w / sqrt(square); zero where the root is no more than `least` (or NaN): there is no direction left.
/// | operand | mode  | shape           | what                            |
/// |---------|-------|-----------------|---------------------------------|
/// | w       | read  | array           | the segment                     |
/// | square  | read  | array of double | of the whole vector             |
/// | v       | write | array           | the segment                     |
template <class T>
struct NormaliseSegment {
  static constexpr const char* name = "normalise_segment";
  Read<Array<T>> w;
  Read<Array<double>> square;
  Write<Array<T>> v;
  double least;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::detail
