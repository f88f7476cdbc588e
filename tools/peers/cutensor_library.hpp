// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// NVIDIA's cuTENSOR, which is looked up when the program runs: no build needs it.
namespace tessera::program {

/// Peer::unavailable() for products of block-sparse matrices by cuTENSOR on the first GPU. Loads the library.
std::string needs_cutensor();
/// `2.8.0`; empty where the library cannot be loaded.
std::string cutensor_version();

}  // namespace tessera::program

#if TESSERA_WITH_CUDA

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>
#include <library_types.h>

/// What block-sparse products need of cuTENSOR's interface, declared here because its header need not be
/// installed. Its enumerations are passed as int.
namespace tessera::program::cutensor {

using Status = int;
inline constexpr Status success = 0;
inline constexpr int identity = 1;                   ///< operator on the elements of a tensor
inline constexpr int default_workspace = 2;          ///< preference for the size of the work space
inline constexpr std::size_t first_version = 20300;  ///< 2.3.0, the first with block-sparse contractions

struct Context;
struct BlockSparseTensor;  ///< block sizes, stored blocks and strides, without values
struct Operation;
struct Plan;
struct PlanPreference;
struct Compute;  ///< precision of the sums

/// The library's functions.
struct Library {
  std::size_t (*get_version)() = nullptr;
  const char* (*get_error_string)(Status) = nullptr;
  Status (*create)(Context**) = nullptr;
  Status (*destroy)(Context*) = nullptr;
  /// The extents of the sections of all modes one after the other; coordinates and strides of the blocks one
  /// after the other. Null strides: the blocks are contiguous and column-major.
  Status (*create_tensor)(Context*, BlockSparseTensor**, std::uint32_t modes, std::uint64_t blocks,
                          const std::uint32_t* sections, const std::int64_t* extents,
                          const std::int32_t* coordinates, const std::int64_t* strides,
                          cudaDataType_t type) = nullptr;
  Status (*destroy_tensor)(BlockSparseTensor*) = nullptr;
  /// D := alpha A B + beta C. Modes with the same number are the same; C and D have one descriptor.
  Status (*create_contraction)(Context*, Operation**, const BlockSparseTensor* a, const std::int32_t* modes_a,
                               int op_a, const BlockSparseTensor* b, const std::int32_t* modes_b, int op_b,
                               const BlockSparseTensor* c, const std::int32_t* modes_c, int op_c,
                               const BlockSparseTensor* d, const std::int32_t* modes_d,
                               const Compute*) = nullptr;
  Status (*destroy_operation)(Operation*) = nullptr;
  Status (*estimate_workspace)(const Context*, const Operation*, const PlanPreference*, int preference,
                               std::uint64_t* bytes) = nullptr;
  Status (*create_plan)(const Context*, Plan**, const Operation*, const PlanPreference*,
                        std::uint64_t workspace_bytes) = nullptr;
  Status (*destroy_plan)(Plan*) = nullptr;
  /// Host arrays of pointers to the blocks on the GPU, in the order of the coordinates.
  Status (*contract)(const Context*, const Plan*, const void* alpha, const void* const* a,
                     const void* const* b, const void* beta, const void* const* c, void* const* d,
                     void* workspace, std::uint64_t workspace_bytes, cudaStream_t) = nullptr;
  const Compute* compute_single = nullptr;
  const Compute* compute_double = nullptr;
};

/// The loaded library. @throws RuntimeError if needs_cutensor() is not empty
const Library& library();

/// @throws RuntimeError with the library's text unless the call succeeded
void require(Status status, const char* what);

}  // namespace tessera::program::cutensor

#endif  // TESSERA_WITH_CUDA
