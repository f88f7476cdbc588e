// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/two_sided.inl>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

template <class T>
void sum_parts(const HostContext&, std::span<const MatrixView<const T>> parts, int beta,
               MatrixView<T> y) noexcept {
  if (beta == 0) blas::set_zero(y);
  for (const auto& part : parts)
    for (Index j = 0; j < y.cols; ++j) blas::axpy(y.rows, T(1), &part(0, j), 1, &y(0, j), 1);
}

template <class T>
void copy_to_band(const HostContext&, MatrixView<const T> source, const BandPlace& place,
                  MatrixView<T> segment) noexcept {
  const auto& [row, column, first_column, bandwidth] = place;
  for (Index j = 0; j < source.cols; ++j)
    for (Index i = 0; i < source.rows; ++i) {
      const Index offset = (row + i) - (column + j);
      if (offset >= 0 && offset <= bandwidth) segment(offset, column + j - first_column) = source(i, j);
    }
}

template <class T>
void inner_sum(const HostContext& on, std::span<const MatrixView<const T>> pieces, Index done, Index kb,
               Index b, MatrixView<T> d) noexcept {
  const Index ranges[3][2] = {{0, done}, {kb, kb + done}, {2 * kb, 2 * kb + b}};
  for (std::size_t k = 0; k < pieces.size(); ++k)
    for (Index j = 0; j < b; ++j)
      for (const auto& range : ranges)
        for (Index i = range[0]; i < range[1]; ++i) d(i, j) = (k == 0 ? T(0) : d(i, j)) + pieces[k](i, j);
  // W^H (A W) = W^H Y - (W^H Vacc)(Zacc^H W) - (W^H Zacc)(Vacc^H W), halved.
  const auto v_w = d.block(0, 0, done, b), z_w = d.block(kb, 0, done, b), w_y = d.block(kb + done, 0, b, b);
  for (Index j = 0; j < b; ++j)
    for (Index i = 0; i < b; ++i) w_y(i, j) = T(0.5) * d(2 * kb + i, j);
  if (done > 0) {
    la::gemm(on, Op::adjoint, Op::none, T(-0.5), v_w, z_w, 1, w_y);
    la::gemm(on, Op::adjoint, Op::none, T(-0.5), z_w, v_w, 1, w_y);
  }
}

/// On a GPU the update is one product of twice the depth, a large one on the diagonal is a set of general
/// products, and the upper triangle is always updated.
template <class T>
void run(const HostContext& on, const Rank2kUpdate<T>& task) {
  const TilePart& part = task.part;
  const Index done = task.done, kb = task.kb;
  const auto vz_i = task.vz_i.view().block(part.row, 0, part.rows, 2 * kb);
  const auto c = part.of(*task.a);
  if (!task.diagonal())
    return subtract_pair<T>(on, vz_i, task.vz_j.view().block(part.col, 0, part.cols, 2 * kb), done, kb, c);
  la::her2k(on, Uplo::lower, Op::none, -1, vz_i.block(0, 0, c.rows, done), vz_i.block(0, kb, c.rows, done), 1,
            c);
  if (task.both_triangles) mirror_lower<T>(on, c);
}

template <class T>
std::size_t update_workspace_bytes(Index rows, Index kb) noexcept {
  return sizeof(T) * 2 * static_cast<std::size_t>(kb) * static_cast<std::size_t>(rows);
}

#define TESSERA_DEFINE(T)                                                                  \
  TESSERA_DEFINE_TASK(MirrorLower<T>)                                                      \
  TESSERA_DEFINE_TASK(TwoSidedProduct<T>)                                                  \
  TESSERA_DEFINE_TASK(InnerProducts<T>)                                                    \
  TESSERA_DEFINE_TASK(InnerSum<T>)                                                         \
  TESSERA_DEFINE_TASK(FormZ<T>)                                                            \
  TESSERA_DEFINE_TASK(PanelUpdate<T>)                                                      \
  TESSERA_DEFINE_TASK(Rank2kUpdate<T>)                                                     \
  TESSERA_DEFINE_TASK(SetZero<T>)                                                          \
  TESSERA_DEFINE_TASK(CopyToBand<T>)                                                       \
  template void copy_to_band<T>(const HostContext&, MatrixView<const T>, const BandPlace&, \
                                MatrixView<T>) noexcept;                                   \
  template std::size_t update_workspace_bytes<T>(Index, Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

template <class T>
bool keeps_both_triangles(const Runtime& runtime) noexcept {
  return TaskCodelet<MirrorLower<T>>::codelet.has_cuda() && runtime.any_gpus();
}
#define TESSERA_INSTANTIATE(T) template bool keeps_both_triangles<T>(const Runtime&) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
