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
void reorder_pairs(const HostContext& on, MatrixView<const T> vz, Index b, PairOrder order,
                   MatrixView<T> out) noexcept {
  const Index done = vz.cols / 2, rows = vz.rows;
  for (Index p = 0; p < done; p += b) {
    const bool separated = order == PairOrder::separated;
    const auto v = vz.block(0, v_column(p), rows, b), z = vz.block(0, z_column(p, b), rows, b);
    la::copy(on, v, out.block(0, separated ? p : z_column(p, b), rows, b));
    la::copy(on, z, out.block(0, separated ? done + p : v_column(p), rows, b));
  }
}

template <class T>
void inner_sum(const HostContext& on, std::span<const MatrixView<const T>> pieces, Index done, Index b,
               MatrixView<T> d) noexcept {
  const Index used = 2 * done;
  for (std::size_t k = 0; k < pieces.size(); ++k)
    for (Index j = 0; j < b; ++j)
      for (Index i = 0; i < used + b; ++i) {
        T& sum = d(i < used ? partner_column(i, b) : i, j);
        sum = (k == 0 ? T(0) : sum) + pieces[k](i, j);
      }
  // W^H (A W) = W^H Y - (W^H Vacc)(Zacc^H W) - (W^H Zacc)(Vacc^H W), halved.
  const auto w_y = d.block(used, 0, b, b);
  for (Index j = 0; j < b; ++j)
    for (Index i = 0; i < b; ++i) w_y(i, j) *= T(0.5);
  for (Index p = 0; p < done; p += b) {
    const auto z_w = d.block(v_column(p), 0, b, b), v_w = d.block(z_column(p, b), 0, b, b);
    la::gemm(on, Op::adjoint, Op::none, T(-0.5), v_w, z_w, 1, w_y);
    la::gemm(on, Op::adjoint, Op::none, T(-0.5), z_w, v_w, 1, w_y);
  }
}

template <class T>
void hermitian_update(const HostContext& on, MatrixView<const T> vz, Index b, bool both_triangles,
                      T* workspace, std::span<char>, MatrixView<T> c) noexcept {
  const Index done = vz.cols / 2;
  const MatrixView<T> separated{workspace, vz.rows, vz.cols, vz.rows};
  reorder_pairs<T>(on, vz, b, PairOrder::separated, separated);
  la::her2k(on, Uplo::lower, Op::none, -1, separated.block(0, 0, c.rows, done),
            separated.block(0, done, c.rows, done), 1, c);
  if (both_triangles) mirror_lower<T>(on, c);
}

template <class T>
std::size_t update_workspace_bytes(Index rows, Index kb) noexcept {
  return sizeof(T) * 2 * static_cast<std::size_t>(kb) * static_cast<std::size_t>(rows);
}

#define TESSERA_DEFINE(T)                                                                   \
  TESSERA_DEFINE_TASK(MirrorLower<T>)                                                       \
  TESSERA_DEFINE_TASK(TwoSidedProduct<T>)                                                   \
  TESSERA_DEFINE_TASK(InnerProducts<T>)                                                     \
  TESSERA_DEFINE_TASK(InnerSum<T>)                                                          \
  TESSERA_DEFINE_TASK(FormZ<T>)                                                             \
  TESSERA_DEFINE_TASK(PanelUpdate<T>)                                                       \
  TESSERA_DEFINE_TASK(Rank2kUpdate<T>)                                                      \
  TESSERA_DEFINE_TASK(SetZero<T>)                                                           \
  TESSERA_DEFINE_TASK(CopyToBand<T>)                                                        \
  template void copy_to_band<T>(const HostContext&, MatrixView<const T>, const BandPlace&,  \
                                MatrixView<T>) noexcept;                                    \
  template void reorder_pairs<T>(const HostContext&, MatrixView<const T>, Index, PairOrder, \
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
