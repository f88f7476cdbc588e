// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/device_array.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/runtime/gpu_memory.hpp>

namespace tessera {
using namespace detail;
namespace {

using test::Matrix;

constexpr Index rows = 4096, cols = 2048;
constexpr double megabyte = 1 << 20, piece = 64 * megabyte;  ///< bytes of rows x cols

double free_memory() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return static_cast<double>(free);
}

class GpuMemory : public test::RuntimeTest<double> {
 public:
  void SetUp() override {
    TESSERA_NEED_GPU();
    // The first task of a kind loads code, whose memory must not be counted.
    write(Data::matrix(runtime(), 8, 8, sizeof(double)));
  }
  static void write(const Data& data) {
    run([&](Sequence& sequence) { sequence.insert(SetZero<double>{.a = data}); });
  }
  /// Bytes of device memory that are freed when a new piece is released.
  static double returned_by_a_piece() {
    Data data = Data::matrix(runtime(), rows, cols, sizeof(double));
    write(data);
    const double before = free_memory();
    data.release();
    return free_memory() - before;
  }
};

TEST_F(GpuMemory, IsReturnedWhereAskedFor) {
  {
    const ReturnedMemory returned(runtime(), static_cast<std::size_t>(piece));
    EXPECT_EQ(returned_by_a_piece(), piece);
    {
      const ReturnedMemory larger_only(runtime(), static_cast<std::size_t>(piece) + 1);
      EXPECT_EQ(returned_by_a_piece(), 0);
    }
    EXPECT_EQ(returned_by_a_piece(), piece);
  }
  EXPECT_EQ(returned_by_a_piece(), 0);
}

TEST_F(GpuMemory, WhatIsHeldIsCounted) {
  const auto released = [] {
    Data data = Data::matrix(runtime(), rows, cols, sizeof(double));
    write(data);
    const auto held = static_cast<double>(gpu_bytes_held());
    EXPECT_GE(held, piece);
    data.release();
    return held - static_cast<double>(gpu_bytes_held());
  };
  EXPECT_EQ(released(), 0) << "kept for the next";
  const ReturnedMemory returned(runtime(), static_cast<std::size_t>(piece));
  EXPECT_EQ(released(), piece);
}

/// The largest entry of the piece, computed by a task on the GPU, followed by `follow`.
template <class Follow>
double largest_entry(Runtime& runtime, const Data& data, const Follow& follow) {
  const Data out = Data::bytes(runtime, sizeof(double));
  Sequence sequence(runtime);
  sequence.insert(MaxAbs<double>{.tile = data, .out = out, .uplo = Uplo::general});
  follow(out);
  const double largest = HostAccess(out, HostAccess::Mode::read).array<double>()[0];
  // Write access also waits for tasks that read `out`.
  const HostAccess alone(out, HostAccess::Mode::write);
  EXPECT_TRUE(sequence.wait().ok());
  return largest;
}

TEST_F(GpuMemory, CopiesOfWhatTheHostHasCanBeFreed) {
  Matrix<double> a(rows, cols);
  a(4, 5) = -3;
  const Data data = test::upload(runtime(), a);
  EXPECT_EQ(largest_entry(runtime(), data, [](const Data&) {}), 3);
  const double before = free_memory();
  EXPECT_EQ(largest_entry(runtime(), data, [&](const Data& out) { data.free_gpu_copies_after(out); }), 3);
  EXPECT_EQ(free_memory() - before, piece);
  EXPECT_EQ(largest_entry(runtime(), data, [](const Data&) {}), 3);
  EXPECT_EQ(free_memory(), before);
  EXPECT_EQ(test::difference(test::download<double>(data), a), 0);
}

TEST_F(GpuMemory, TheOnlyCopyStays) {
  const Data data = Data::matrix(runtime(), rows, cols, sizeof(double));
  write(data);
  const double before = free_memory();
  EXPECT_EQ(largest_entry(runtime(), data, [&](const Data& out) { data.free_gpu_copies_after(out); }), 0);
  EXPECT_EQ(free_memory(), before);
  EXPECT_EQ(test::difference(test::download<double>(data), Matrix<double>(rows, cols)), 0);
}

}  // namespace
}  // namespace tessera
