// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/dense/kernels/panel_factor_kernels.cuh>
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>

/// The launches of panel_kernels.hpp. Two files compile them, for real and for complex scalars, which builds
/// in parallel.
namespace tessera::detail::panel_cuda {

using device::device_cast;
using device::DeviceScalar;

/// Sets `flag`, for panels that are too wide for Cholesky QR.
template <class Flag>
__global__ void set_flag_kernel(Flag* flag) {
  *flag = 1;
}

/// The matrices that one launch adds.
template <class S>
struct Summands {
  static constexpr int most = 64;
  DeviceMatrix<const S> matrix[most];
  int count = 0;
};

/// sum := (sum unless `first`) + upper triangles of the matrices, in their order.
template <class S>
__global__ void add_kernel(Summands<S> x, S* sum, int b, bool first) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, i = k % b, j = k / b;
  if (j >= b || i > j) return;
  S total = first ? S(0) : sum[k];
  for (int l = 0; l < x.count; ++l) total += x.matrix[l](i, j);
  sum[k] = total;
}

template <class S>
__global__ void copy_kernel(const std::int32_t* flag, DeviceMatrix<const S> x, DeviceMatrix<S> y,
                            long long rows) {
  if (!*flag) return;
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows) y(i, blockIdx.y) = x(i, blockIdx.y);
}

template <class T>
DeviceFactor<DeviceScalar<T>> device_factor(const PanelFactor<T>& f) {
  const auto part = [](MatrixView<T> x) { return device_cast(x.data); };
  return {f.fallback,  part(f.r1()),   part(f.r2()),   part(f.r()),          part(f.v1()),
          part(f.x()), part(f.band()), part(f.work()), static_cast<int>(f.b)};
}

/// Calls f with the SmallMatrix class for panels of width b.
template <class W, class F>
void with_size(Index b, F&& f) {
  if (b <= 32)
    f(SmallMatrix<W, 32>());
  else if (b <= 64)
    f(SmallMatrix<W, 64>());
  else
    f(SmallMatrix<W, 128>());
}

/// The launch of a kernel that works on small matrices of class M.
template <class M, class... Parameters, class... Values>
void launch_small(cudaStream_t stream, void (*kernel)(Parameters...), unsigned blocks, Values... values) {
  constexpr int shared = sizeof(typename M::Shared);
  if constexpr (shared > 48 * 1024)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  kernel<<<blocks, M::threads, shared, stream>>>(values...);
}

/// The chunks of rows, and the layout of the workspace.
template <class T>
struct GramWorkspace {
  using W = Wide<DeviceScalar<T>>;
  GramWorkspace(void* workspace, Index rows, Index b)
      : counters(static_cast<int*>(workspace)),
        gram(reinterpret_cast<W*>(static_cast<char*>(workspace) + 256)),
        partials(gram + b * b),
        chunk(std::max<Index>(gram_chunk_rows, ceil_div(ceil_div(rows, gram_chunks), 32) * 32)),
        chunks(static_cast<int>(ceil_div(std::max<Index>(rows, 1), chunk))) {}
  int* counters;  ///< two
  W* gram;
  W* partials;
  Index chunk;
  int chunks;
};

template <class T>
constexpr std::size_t gram_shared = sizeof(Wide<DeviceScalar<T>>) * tall_warps* column_block* column_block;

template <class T>
void gram(cudaStream_t stream, MatrixView<const T> p, const GramWorkspace<T>& w) {
  using S = DeviceScalar<T>;
  const auto blocks = static_cast<unsigned>(ceil_div(p.cols, column_block));
  cudaFuncSetAttribute(gram_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(gram_shared<T>));
  gram_kernel<S><<<dim3(w.chunks, blocks * (blocks + 1) / 2), tall_threads, gram_shared<T>, stream>>>(
      device_cast(p.data), p.ld, p.rows, w.chunk, static_cast<int>(p.cols), w.partials, w.counters);
}

/// Q := P R^-1 unless *flag, and the partial Gram matrices of Q if `with_gram`.
template <class T>
void solve(cudaStream_t stream, const std::int32_t* flag, MatrixView<const T> p, const T* r, MatrixView<T> q,
           const GramWorkspace<T>& w, bool with_gram) {
  using S = DeviceScalar<T>;
  const std::size_t triangle =
                        sizeof(S) * solve_columns<S> * static_cast<std::size_t>(p.cols + solve_columns<S>),
                    shared = std::max(gram_shared<T>, triangle);
  cudaFuncSetAttribute(solve_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(shared));
  solve_kernel<S><<<w.chunks, tall_threads, shared, stream>>>(
      flag, device_cast(p.data), p.ld, device_cast(r), device_cast(q.data), q.ld, p.rows, w.chunk,
      static_cast<int>(p.cols), with_gram ? w.partials : nullptr);
}

template <class T>
void sum_gram(cudaStream_t stream, const GramWorkspace<T>& w, MatrixView<T> g) {
  gram_sum_kernel<DeviceScalar<T>><<<static_cast<unsigned>(ceil_div(g.cols * g.cols, 32)), 256, 0, stream>>>(
      w.partials, w.chunks, static_cast<int>(g.cols), device_cast(g.data), g.ld);
}

/// V := Q x below v1, in place.
template <class T>
void form_vectors(cudaStream_t stream, const PanelFactor<T>& factor, MatrixView<T> v, bool top,
                  const std::int32_t* flag) {
  using S = DeviceScalar<T>;
  S* const data = device_cast(v.data);
  TallProduct<S> product{.flag = flag, .when = 0, .a = data, .ld_a = v.ld};
  product.m = device_cast(factor.x().data);
  product.ld_m = factor.b;
  product.c = data;
  product.ld_c = v.ld;
  product.rows = v.rows;
  product.inner = product.cols = static_cast<int>(v.cols);
  product.upper = true;
  product.top = top ? device_cast(factor.v1().data) : nullptr;
  launch_tall_product(stream, product);
}

template <class T>
void launch_panel_gram(cudaStream_t stream, MatrixView<const T> p, MatrixView<T> g, void* workspace) {
  const GramWorkspace<T> w(workspace, p.rows, p.cols);
  gram<T>(stream, p, w);
  sum_gram<T>(stream, w, g);
}

template <class T>
void launch_panel_add(cudaStream_t stream, std::span<const MatrixView<const T>> grams,
                      const PanelFactor<T>& factor) {
  using S = DeviceScalar<T>;
  const auto blocks = static_cast<unsigned>(ceil_div(factor.b * factor.b, 256));
  for (std::size_t first = 0; first < grams.size(); first += Summands<S>::most) {
    Summands<S> summands;
    for (const auto& g : grams.subspan(first, std::min<std::size_t>(Summands<S>::most, grams.size() - first)))
      summands.matrix[summands.count++] = {device_cast(g.data), g.ld};
    add_kernel<S><<<blocks, 256, 0, stream>>>(summands, device_cast(factor.work().data),
                                              static_cast<int>(factor.b), first == 0);
  }
}

template <class T>
void launch_panel_cholesky(cudaStream_t stream, const PanelFactor<T>& factor) {
  using S = DeviceScalar<T>;
  if (factor.b > widest_cholesky_panel) {
    set_flag_kernel<<<1, 1, 0, stream>>>(factor.fallback);
    return;
  }
  with_size<Wide<S>>(factor.b, [&]<class M>(M) {
    launch_small<M>(stream, cholesky_kernel<S, M>, 1, device_factor(factor));
  });
}

template <class T>
void launch_panel_orthogonalize(cudaStream_t stream, MatrixView<const T> p, const PanelFactor<T>& factor,
                                MatrixView<T> q, MatrixView<T> g, void* workspace) {
  if (factor.b > widest_cholesky_panel) return;
  const GramWorkspace<T> w(workspace, p.rows, p.cols);
  solve<T>(stream, factor.fallback, p, factor.r1().data, q, w, true);
  sum_gram<T>(stream, w, g);  // not read when the panel falls back
}

template <class T>
void launch_panel_check(cudaStream_t stream, const PanelFactor<T>& factor) {
  using S = DeviceScalar<T>;
  if (factor.b > widest_cholesky_panel) return;
  with_size<Wide<S>>(
      factor.b, [&]<class M>(M) { launch_small<M>(stream, check_kernel<S, M>, 1, device_factor(factor)); });
}

template <class T>
void launch_panel_finish(cudaStream_t stream, const PanelFactor<T>& factor, MatrixView<const T> m,
                         MatrixView<T> q, void* workspace) {
  using S = DeviceScalar<T>;
  const GramWorkspace<T> w(workspace, q.rows, q.cols);
  if (factor.b <= widest_cholesky_panel)
    solve<T>(stream, factor.fallback, {q.data, q.rows, q.cols, q.ld}, factor.r2().data, q, w, false);
  S *const data = device_cast(q.data), *const copy = static_cast<S*>(workspace);
  copy_kernel<S>
      <<<dim3(static_cast<unsigned>(ceil_div(q.rows, 256)), static_cast<unsigned>(q.cols)), 256, 0, stream>>>(
          factor.fallback, {data, q.ld}, {copy, q.rows}, q.rows);
  TallProduct<S> product{.flag = factor.fallback, .when = 1, .a = copy, .ld_a = q.rows};
  product.m = device_cast(m.data);
  product.ld_m = m.ld;
  product.c = data;
  product.ld_c = q.ld;
  product.rows = q.rows;
  product.inner = static_cast<int>(std::min(q.rows, q.cols));
  product.cols = static_cast<int>(q.cols);
  launch_tall_product(stream, product);
}

template <class T>
void launch_panel_reconstruct(cudaStream_t stream, MatrixView<const T> q, const PanelFactor<T>& factor,
                              MatrixView<T> t) {
  using S = DeviceScalar<T>;
  with_size<Wide<S>>(factor.b, [&]<class M>(M) {
    launch_small<M>(stream, reconstruct_kernel<S, M>, 1, device_cast(q.data), static_cast<long long>(q.ld),
                    device_factor(factor), device_cast(t.data), static_cast<long long>(t.ld));
  });
}

template <class T>
void launch_panel_householder(cudaStream_t stream, MatrixView<const T> p, MatrixView<T> v,
                              const PanelFactor<T>& factor, MatrixView<T> t, void* workspace) {
  using S = DeviceScalar<T>;
  const Index b = p.cols;
  if (p.rows < b || b > widest_cholesky_panel) {
    set_flag_kernel<<<1, 1, 0, stream>>>(factor.fallback);
    launch_householder_reflections<T>(stream, nullptr, p, v, t, factor.band());
    return;
  }
  const GramWorkspace<T> w(workspace, p.rows, b);
  const auto f = device_factor(factor);
  const auto blocks = static_cast<unsigned>(ceil_div(b * b, 32));
  gram<T>(stream, p, w);
  with_size<Wide<S>>(b, [&]<class M>(M) {
    launch_small<M>(stream, first_factor_kernel<S, M>, blocks, w.partials, w.chunks, w.gram, w.counters, f);
  });
  solve<T>(stream, factor.fallback, p, factor.r1().data, v, w, true);
  with_size<Wide<S>>(b, [&]<class M>(M) {
    launch_small<M>(stream, second_factor_kernel<S, M>, blocks, w.partials, w.chunks, w.gram, w.counters + 1,
                    f, device_cast(v.data), static_cast<long long>(v.ld), device_cast(t.data),
                    static_cast<long long>(t.ld));
  });
  form_vectors<T>(stream, factor, v, true, factor.fallback);
  launch_householder_reflections<T>(stream, factor.fallback, p, v, t, factor.band());
}

/// C := A M, M upper triangular.
template <class T>
TallProduct<DeviceScalar<T>> times_upper(MatrixView<const T> a, MatrixView<const T> m, MatrixView<T> c) {
  TallProduct<DeviceScalar<T>> product{.a = device_cast(a.data), .ld_a = a.ld};
  product.m = device_cast(m.data);
  product.ld_m = m.ld;
  product.c = device_cast(c.data);
  product.ld_c = c.ld;
  product.rows = a.rows;
  product.inner = product.cols = static_cast<int>(a.cols);
  product.upper = true;
  return product;
}

template <class T>
void launch_panel_vectors(cudaStream_t stream, const PanelFactor<T>& factor, MatrixView<const T> t,
                          MatrixView<T> v, bool top, bool formed, MatrixView<T> p, MatrixView<T> w) {
  if (!formed) form_vectors<T>(stream, factor, v, top, nullptr);
  auto product = times_upper<T>({v.data, v.rows, v.cols, v.ld}, t, w);
  product.copy = device_cast(p.data);
  product.ld_copy = p.ld;
  launch_tall_product(stream, product);
}

template <class T>
void launch_times_upper(cudaStream_t stream, MatrixView<const T> a, MatrixView<const T> m, MatrixView<T> c) {
  launch_tall_product(stream, times_upper<T>(a, m, c));
}

#define TESSERA_INSTANTIATE_PANEL(T)                                                                    \
  template void launch_panel_gram<T>(cudaStream_t, MatrixView<const T>, MatrixView<T>, void*);          \
  template void launch_panel_add<T>(cudaStream_t, std::span<const MatrixView<const T>>,                 \
                                    const PanelFactor<T>&);                                             \
  template void launch_panel_cholesky<T>(cudaStream_t, const PanelFactor<T>&);                          \
  template void launch_panel_orthogonalize<T>(cudaStream_t, MatrixView<const T>, const PanelFactor<T>&, \
                                              MatrixView<T>, MatrixView<T>, void*);                     \
  template void launch_panel_check<T>(cudaStream_t, const PanelFactor<T>&);                             \
  template void launch_panel_finish<T>(cudaStream_t, const PanelFactor<T>&, MatrixView<const T>,        \
                                       MatrixView<T>, void*);                                           \
  template void launch_panel_reconstruct<T>(cudaStream_t, MatrixView<const T>, const PanelFactor<T>&,   \
                                            MatrixView<T>);                                             \
  template void launch_panel_householder<T>(cudaStream_t, MatrixView<const T>, MatrixView<T>,           \
                                            const PanelFactor<T>&, MatrixView<T>, void*);               \
  template void launch_panel_vectors<T>(cudaStream_t, const PanelFactor<T>&, MatrixView<const T>,       \
                                        MatrixView<T>, bool, bool, MatrixView<T>, MatrixView<T>);       \
  template void launch_times_upper<T>(cudaStream_t, MatrixView<const T>, MatrixView<const T>, MatrixView<T>);

}  // namespace tessera::detail::panel_cuda
