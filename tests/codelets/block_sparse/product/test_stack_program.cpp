// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#if TESSERA_WITH_CUDA

#include <set>
#include <thread>

#include <tessera/codelets/block_sparse/product/kernels/stack_program.hpp>
#include <tessera/error.hpp>

/// Compiling needs no GPU.
namespace tessera::test {
using namespace detail;
namespace {

using device::SourceFile;
using device::StackBinary;
using device::StackShape;

constexpr int architecture = 90;

/// With the formula's plan.
StackBinary compile(std::span<const SourceFile> files, int architecture, const StackShape& shape) {
  return device::compile_stack(files, architecture, shape, device::formula_plan(shape));
}
std::string key(std::span<const SourceFile> files, int architecture, const StackShape& shape) {
  return device::stack_binary_key(files, architecture, shape, device::formula_plan(shape));
}

bool is_elf(const StackBinary& binary) {
  return binary.code.starts_with("\177ELF");
}

TEST(StackProgram, CompilesShapesOfAllTypes) {
  // Corners, odd sizes, and flat and long blocks; the sweep over all sizes runs on a GPU.
  const StackShape shapes[] = {{'d', 1, 1, 1},    {'s', 1, 1, 1},    {'d', 23, 23, 23}, {'z', 23, 23, 23},
                               {'c', 5, 13, 9},   {'s', 32, 32, 32}, {'d', 80, 80, 80}, {'z', 80, 80, 80},
                               {'d', 1, 80, 80},  {'c', 80, 1, 3},   {'s', 80, 80, 1},  {'d', 5, 5, 80},
                               {'s', 23, 23, 23}, {'s', 13, 13, 13}, {'s', 80, 80, 80}, {'s', 1, 80, 80},
                               {'c', 32, 32, 32}, {'c', 80, 80, 80}, {'c', 64, 64, 64}, {'c', 1, 1, 1}};
  std::set<std::string> names;
  for (const StackShape& shape : shapes) {
    const StackBinary binary = compile(device::stack_kernel_files(), architecture, shape);
    EXPECT_TRUE(is_elf(binary)) << shape.type << shape.m;
    EXPECT_NE(binary.code.find(binary.kernel), std::string::npos) << "the kernel is in the code by its name";
    names.insert(binary.kernel);
  }
  EXPECT_EQ(names.size(), std::size(shapes));
}

/// The oldest architecture that the kernel is for.
TEST(StackProgram, CompilesForAmpere) {
  for (const char type : {'s', 'd', 'c', 'z'})
    for (const std::int32_t order : {5, 23})
      EXPECT_TRUE(is_elf(compile(device::stack_kernel_files(), 80, {type, order, order, order})))
          << type << order;
}

TEST(StackProgram, CompilesInThreads) {
  StackBinary binaries[4];
  const auto shape = [](int t) { return StackShape{'d', 2 + t, 3, 4}; };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back(
          [&, t] { binaries[t] = compile(device::stack_kernel_files(), architecture, shape(t)); });
  }
  for (int t = 0; t < 4; ++t) {
    const StackBinary again = compile(device::stack_kernel_files(), architecture, shape(t));
    EXPECT_EQ(again.kernel, binaries[t].kernel);
    EXPECT_TRUE(is_elf(binaries[t]));
  }
}

TEST(StackProgram, SaysWhatIsWrong) {
  const SourceFile wrong[] = {
      {"tessera/codelets/block_sparse/product/kernels/stack_kernel.cuh", "__device__ int x = undeclared;\n"}};
  try {
    compile(wrong, architecture, {'d', 2, 2, 2});
    FAIL() << "compiled";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("undeclared"), std::string::npos) << error.what();
  }
  EXPECT_THROW(compile({}, architecture, {'d', 2, 2, 2}), RuntimeError);
  EXPECT_THROW(compile(device::stack_kernel_files(), 1, {'d', 2, 2, 2}), RuntimeError);
}

TEST(StackProgram, KeysDifferInAllThatMatters) {
  const auto files = device::stack_kernel_files();
  const SourceFile other[] = {{"a", "text"}}, renamed[] = {{"b", "text"}}, changed[] = {{"a", "Text"}};
  const std::set<std::string> keys{key(files, 90, {'d', 2, 3, 4}),   key(files, 80, {'d', 2, 3, 4}),
                                   key(files, 90, {'s', 2, 3, 4}),   key(files, 90, {'d', 3, 2, 4}),
                                   key(files, 90, {'d', 2, 4, 3}),   key(other, 90, {'d', 2, 3, 4}),
                                   key(renamed, 90, {'d', 2, 3, 4}), key(changed, 90, {'d', 2, 3, 4})};
  EXPECT_EQ(keys.size(), 8u);
}

/// Plans that differ in everything that a plan has: each compiles to a kernel of its own.
TEST(StackProgram, CompilesPlansOtherThanTheFormula) {
  for (const StackShape& shape : {StackShape{'d', 13, 9, 23}, StackShape{'z', 5, 5, 5},
                                  StackShape{'s', 32, 17, 40}, StackShape{'c', 24, 8, 7}}) {
    const std::vector<StackPlan> plans = device::plans_near_formula(shape, 1000);
    std::set<std::string> codes, keys;
    std::size_t tried = 0;
    for (std::size_t i = 0; i < plans.size(); i = 3 * i + 1, ++tried) {
      const StackBinary binary =
          device::compile_stack(device::stack_kernel_files(), architecture, shape, plans[i]);
      EXPECT_TRUE(is_elf(binary)) << device::describe_plan(plans[i]);
      EXPECT_NE(binary.code.find(binary.kernel), std::string::npos);
      codes.insert(binary.kernel);
      keys.insert(device::stack_binary_key(device::stack_kernel_files(), architecture, shape, plans[i]));
    }
    EXPECT_GE(tried, 5u);
    EXPECT_EQ(codes.size(), tried);
    EXPECT_EQ(keys.size(), tried);
  }
}

TEST(StackProgram, VersionsFollowTheText) {
  const SourceFile one[] = {{"a", "text"}}, other[] = {{"a", "Text"}};
  EXPECT_EQ(device::stack_source_version(one), device::stack_source_version(one));
  EXPECT_NE(device::stack_source_version(one), device::stack_source_version(other));
}

/// A second attempt would fail in the same way.
TEST(StackFailure, WhatDoesNotCompileNeverWill) {
  const SourceFile wrong[] = {
      {"tessera/codelets/block_sparse/product/kernels/stack_kernel.cuh", "undeclared x;"}};
  try {
    compile(wrong, architecture, {'d', 2, 3, 4});
    ADD_FAILURE();
  } catch (const RuntimeError& failure) {
    EXPECT_EQ(dynamic_cast<const device::PassingFailure*>(&failure), nullptr);
    EXPECT_NE(std::string(failure.what()).find("undeclared"), std::string::npos) << failure.what();
  }
}

}  // namespace
}  // namespace tessera::test

#endif  // TESSERA_WITH_CUDA
