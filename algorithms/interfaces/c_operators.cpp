// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/interfaces/c_operators.hpp>

namespace tessera::c_interface {

Runtime& runtime_of(const tessera_operator* a) {
  return a ? *a->runtime : default_runtime();
}

}  // namespace tessera::c_interface

using namespace tessera;
using namespace tessera::c_interface;

namespace {

/// R: of the parts of stored values.
template <class T, class R>
TypedOperator<T> stored(Runtime& runtime, std::shared_ptr<const SymmetricRows> rows,
                        const SymmetricRows* like) {
  using V = WithParts<T, R>;
  auto matrix = std::make_shared<CsbMatrix<V, T>>(CsbMatrix<V, T>::build(runtime, *rows, {.like = like}));
  TypedOperator<T> made{.linear = matrix, .rows = std::move(rows)};
  if constexpr (std::is_same_v<R, float>)
    made.stored_float = matrix;
  else
    made.stored_double = matrix;
  return made;
}

/// A matrix of rows that `read` makes. Collective.
template <class Read>
int make_matrix(tessera_runtime* runtime, int type, int storage, const tessera_operator* like,
                tessera_operator** result, const Read& read) {
  return call_on(runtime, [&] {
    required(result, "result") = nullptr;
    Runtime& on = runtime_of(runtime);
    const SymmetricRows* cut = nullptr;
    if (like) {
      with_operator(like, "like", [&](const auto& typed, auto) { cut = typed.rows.get(); });
      if (!cut) throw InvalidArgument("like", "an operator of functions", "a matrix");
    }
    auto rows = std::make_shared<CoordinateRows>(read());
    for_type(type, [&]<class T>(std::type_identity<T>) {
      for_real_type(storage, [&]<class R>(std::type_identity<R>) {
        if constexpr (sizeof(R) > sizeof(RealOf<T>))
          throw InvalidArgument("storage", "TESSERA_DOUBLE", "TESSERA_FLOAT for vectors in single precision");
        else
          *result = new tessera_operator{stored<T, R>(on, rows, cut), &on};
      });
    });
  });
}

template <class X>
std::span<const X> array_of(const X* values, Index count, std::string_view name) {
  if (count < 0) throw InvalidArgument(name, std::to_string(count), "a length, at least 0");
  required(values, name, count);
  return {values, static_cast<std::size_t>(count)};
}

bool is_complex_type(int type) {
  return for_type(type, [](auto t) { return is_complex<typename decltype(t)::type>; });
}

}  // namespace

int tessera_operator_from_csr(tessera_runtime* runtime, int type, int storage, tessera_index order,
                              const tessera_index* begins, const tessera_index* columns, const void* values,
                              int uplo, const tessera_operator* like, tessera_operator** result) {
  return make_matrix(runtime, type, storage, like, result, [&] {
    if (order < 0) throw InvalidArgument("order", std::to_string(order), "at least 0");
    const auto begin = array_of(begins, order + 1, "begins");
    const auto made = [&]<class X>(const X* numbers) {
      return CoordinateRows::from_compressed_rows(order, begin, array_of(columns, begin.back(), "columns"),
                                                  array_of(numbers, begin.back(), "values"),
                                                  uplo_of(uplo, true));
    };
    return is_complex_type(type) ? made(static_cast<const std::complex<double>*>(values))
                                 : made(static_cast<const double*>(values));
  });
}

int tessera_operator_from_coordinates(tessera_runtime* runtime, int type, int storage, tessera_index order,
                                      tessera_index entries, const tessera_index* rows,
                                      const tessera_index* columns, const void* values, int uplo,
                                      const tessera_operator* like, tessera_operator** result) {
  return make_matrix(runtime, type, storage, like, result, [&] {
    const auto made = [&]<class X>(const X* numbers) {
      return CoordinateRows::from_coordinates(order, array_of(rows, entries, "rows"),
                                              array_of(columns, entries, "columns"),
                                              array_of(numbers, entries, "values"), uplo_of(uplo, true));
    };
    return is_complex_type(type) ? made(static_cast<const std::complex<double>*>(values))
                                 : made(static_cast<const double*>(values));
  });
}

int tessera_operator_from_matrix_market(tessera_runtime* runtime, int type, int storage, const char* path,
                                        const tessera_operator* like, tessera_operator** result) {
  return make_matrix(runtime, type, storage, like, result,
                     [&] { return CoordinateRows::from_matrix_market(required(path, "path")); });
}

int tessera_operator_create(tessera_runtime* runtime, int type, tessera_index order, tessera_index segments,
                            tessera_apply host, tessera_apply_on_device device, void* user, double norm_bound,
                            tessera_operator** result) {
  return call_on(runtime, [&] {
    required(result, "result") = nullptr;
    Runtime& on = runtime_of(runtime);
    if (!host && !device) throw InvalidArgument("host", "null", "a function for the host or for GPUs");
    for_type(type, [&](auto t) {
      using T = typename decltype(t)::type;
      UserFunction<T> on_host;
      if (host)
        on_host = [host, user](Index first, Index end, Index columns, const T* x, Index ldx, T* y,
                               Index ldy) {
          require_callback("the operator's function", host(first, end, columns, x, ldx, y, ldy, user));
        };
      auto cut = RowSegments::even(on, order, segments);
      std::shared_ptr<SymmetricOperator<T>> made;
      if (device)
        made = std::make_shared<UserOperator<T>>(
            on, std::move(cut),
            UserDeviceFunction<T>([device, user](Index first, Index end, Index columns, const T* x, Index ldx,
                                                 T* y, Index ldy, void* stream) {
              require_callback("the operator's function for GPUs",
                               device(first, end, columns, x, ldx, y, ldy, stream, user));
            }),
            std::move(on_host), norm_bound);
      else
        made = std::make_shared<UserOperator<T>>(on, std::move(cut), std::move(on_host), norm_bound);
      *result = new tessera_operator{TypedOperator<T>{.linear = std::move(made)}, &on};
    });
  });
}

int tessera_operator_order(const tessera_operator* a, tessera_index* order) {
  return call([&] {
    with_operator(a, "a", [&](const auto& typed, auto) { required(order, "order") = typed.linear->order(); });
  });
}

int tessera_operator_apply(const tessera_operator* a, tessera_index columns, const void* x, tessera_index ldx,
                           void* y, tessera_index ldy) {
  return call_on(a, [&] {
    return with_operator(a, "a", [&](const auto& typed, auto t) {
      using T = typename decltype(t)::type;
      Runtime& on = *a->runtime;
      const BlockVectors<T> from(on, typed.linear->segments(), columns),
          to(on, typed.linear->segments(), columns);
      from.set(static_cast<const T*>(x), ldx, columns);
      Sequence sequence(on);
      typed.linear->apply(sequence, from, to, columns);
      const Status status = sequence.wait();
      if (status) to.get(static_cast<T*>(y), ldy, columns);
      return code_of(status);
    });
  });
}

void tessera_operator_free(tessera_operator* a) {
  delete a;
}
