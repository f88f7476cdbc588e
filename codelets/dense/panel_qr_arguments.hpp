// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>

/// What the tasks of panel_qr.hpp carry beside their buffers: shared by the CPU and the CUDA implementations.
namespace tessera::panel_qr_codelets {

struct PanelArguments {
  TilePart panel, v;
  std::int32_t b = 0, stack_row = 0, first_rows = 0, last_rows = 0;
  bool top = false, formed = false;
  std::uint32_t footprint() const noexcept { return footprint_of(panel.rows, v.rows, b, top, formed); }
};

}  // namespace tessera::panel_qr_codelets
