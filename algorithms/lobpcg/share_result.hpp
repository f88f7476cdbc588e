// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include <tessera/algorithms/lobpcg/small_dense.hpp>
#include <tessera/runtime.hpp>

/// What rank 0 has computed is sent to all ranks, so that all decide the same: BLAS and LAPACK need not give
/// the same bits on different processors.
namespace tessera::detail {

class FieldWriter {
 public:
  void operator()(const Index& value) { bytes_of(&value, sizeof value); }
  void operator()(const double& value) { bytes_of(&value, sizeof value); }
  template <class E>
  void operator()(const std::vector<E>& values) {
    (*this)(static_cast<Index>(values.size()));
    bytes_of(values.data(), sizeof(E) * values.size());
  }
  template <class S>
  void operator()(const SmallMatrixOf<S>& a) {
    (*this)(a.rows), (*this)(a.cols), (*this)(a.values);
  }
  std::vector<std::byte> bytes;

 private:
  void bytes_of(const void* from, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), first, first + count);
  }
};

class FieldReader {
 public:
  explicit FieldReader(const std::vector<std::byte>& bytes) : from_(bytes.data()) {}
  void operator()(Index& value) { bytes_to(&value, sizeof value); }
  void operator()(double& value) { bytes_to(&value, sizeof value); }
  template <class E>
  void operator()(std::vector<E>& values) {
    Index count = 0;
    (*this)(count);
    values.resize(static_cast<std::size_t>(count));
    bytes_to(values.data(), sizeof(E) * values.size());
  }
  template <class S>
  void operator()(SmallMatrixOf<S>& a) {
    (*this)(a.rows), (*this)(a.cols), (*this)(a.values);
  }

 private:
  void bytes_to(void* to, std::size_t count) {
    if (count > 0) std::memcpy(to, from_, count);
    from_ += count;
  }
  const std::byte* from_;
};

/// `result` of rank 0 on all ranks; collective. Its member each_field(visit) names its parts.
template <class Result>
void share_result(const Runtime& runtime, Result& result) {
  if (runtime.size() == 1) return;
  // The length goes before; with it as much as a usual result has, so that one message does.
  constexpr Index usual = 1 << 13;
  FieldWriter writer;
  writer(Index{0});
  if (runtime.rank() == 0) result.each_field([&](const auto& field) { writer(field); });
  auto length = static_cast<Index>(writer.bytes.size());
  std::memcpy(writer.bytes.data(), &length, sizeof length);
  writer.bytes.resize(static_cast<std::size_t>(std::max(length, usual)));
  runtime.broadcast(writer.bytes.data(), usual, 0);
  std::memcpy(&length, writer.bytes.data(), sizeof length);
  if (length > usual) {
    writer.bytes.resize(static_cast<std::size_t>(length));
    runtime.broadcast(writer.bytes.data() + usual, length - usual, 0);
  }
  if (runtime.rank() == 0) return;
  FieldReader reader(writer.bytes);
  reader(length);
  result.each_field([&](auto& field) { reader(field); });
}

}  // namespace tessera::detail
