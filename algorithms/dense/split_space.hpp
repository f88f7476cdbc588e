// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <tessera/data.hpp>
#include <tessera/runtime.hpp>

namespace tessera::detail {

/// Work space on GPUs for products by split operands (codelets/linalg/split_products.hpp), where there are any.
class SplitSpace {
 public:
  /// @param bytes  0: none
  SplitSpace(Runtime& runtime, std::size_t bytes)
      : there_(bytes > 0 && runtime.gpus() > 0), data_(there_ ? Data::scratch(runtime, bytes) : Data()) {}

  /// For a task's operand: null if the products are not split.
  const Data* operand() const noexcept { return there_ ? &data_ : nullptr; }

 private:
  bool there_;
  Data data_;
};

}  // namespace tessera::detail
