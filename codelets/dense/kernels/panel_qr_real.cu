// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/kernels/panel_qr_launch.cuh>

namespace tessera::detail::panel_cuda {

TESSERA_INSTANTIATE_PANEL(float)
TESSERA_INSTANTIATE_PANEL(double)

}  // namespace tessera::detail::panel_cuda
