// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_step.hpp>

/// How the tasks of panel_step.hpp and column_groups.hpp divide their work space, on CPUs and GPUs.
namespace tessera::panel_steps {

/// Views of the work space. Each begins at a multiple of 256 bytes.
template <class T>
struct StepSpace {
  MatrixView<T> w, y;      ///< n x b: V T, and A W
  MatrixView<T> d, d_sum;  ///< (2 kb + b) x b: inner products of this panel
  kernels::PanelFactor<T> factor{nullptr, 0};
  void* panel;  ///< panel_workspace_bytes

  StepSpace(std::span<char> memory, const PanelPosition& p) noexcept
      : StepSpace(memory.data(), p.n, p.b, p.kb) {}
  StepSpace(void* memory, Index n, Index b, Index kb) noexcept {
    auto* place = static_cast<char*>(memory);
    const auto take = [&](std::size_t bytes) {
      void* const here = place;
      place += (bytes + 255) / 256 * 256;
      return here;
    };
    const auto matrix = [&](Index rows) {
      return MatrixView<T>{static_cast<T*>(take(sizeof(T) * static_cast<std::size_t>(rows * b))), rows, b,
                           rows};
    };
    w = matrix(n);
    y = matrix(n);
    d = matrix(2 * kb + b);
    d_sum = matrix(2 * kb + b);
    factor = kernels::PanelFactor<T>(take(kernels::PanelFactor<T>::bytes(b)), b);
    panel = take(0);
  }
  /// Bytes before `panel`.
  static std::size_t bytes(Index n, Index b, Index kb) noexcept {
    return static_cast<std::size_t>(static_cast<char*>(StepSpace(nullptr, n, b, kb).panel) -
                                    static_cast<char*>(nullptr));
  }
};

}  // namespace tessera::panel_steps
