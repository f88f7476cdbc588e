// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/interfaces/c_operators.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

tessera_preconditioner_options chosen_or(const tessera_preconditioner_options* given) {
  tessera_preconditioner_options chosen;
  tessera_preconditioner_options_init(&chosen);
  return given ? *given : chosen;
}

/// What the options of all kinds have in common.
template <class Options>
Options common(const tessera_preconditioner_options& given) {
  Options options;
  options.end = given.largest ? EigenEnd::largest : EigenEnd::smallest;
  if (given.use_shift) options.shift = given.shift;
  options.b_norm = given.b_norm;
  return options;
}

/// Of an operator that is a matrix: work(matrix, type) with the matrix as it is stored.
template <class T, class Work>
std::shared_ptr<Preconditioner<T>> of_matrix(const TypedOperator<T>& a, const Work& work) {
  if (a.stored_float) return work(*a.stored_float);
  if constexpr (sizeof(RealOf<T>) == sizeof(double))  // single precision has no matrices in double
    if (a.stored_double) return work(*a.stored_double);
  throw InvalidArgument("a", "an operator of functions", "a matrix");
}

template <class Make>
int make_preconditioner(const tessera_operator* a, tessera_preconditioner** result, const Make& make) {
  return call_on(a, [&] {
    required(result, "result") = nullptr;
    with_operator(a, "a",
                  [&](const auto& typed, auto t) { *result = new tessera_preconditioner{make(typed, t)}; });
  });
}

}  // namespace

void tessera_preconditioner_options_init(tessera_preconditioner_options* options) {
  if (!options) return;
  *options = {};
  options->b_norm = 1;
}

int tessera_preconditioner_jacobi(const tessera_operator* a, const tessera_preconditioner_options* options,
                                  tessera_preconditioner** result) {
  return make_preconditioner(a, result, [&](const auto& typed, auto t) {
    using T = typename decltype(t)::type;
    return of_matrix(typed, [&](const auto& matrix) -> std::shared_ptr<Preconditioner<T>> {
      return std::make_shared<JacobiPreconditioner<T>>(*a->runtime, matrix.segments(), matrix.diagonal(),
                                                       common<JacobiOptions>(chosen_or(options)));
    });
  });
}

int tessera_preconditioner_fom(const tessera_operator* a, const tessera_preconditioner_options* options,
                               tessera_preconditioner** result) {
  return make_preconditioner(a, result, [&](const auto& typed, auto t) {
    using T = typename decltype(t)::type;
    const tessera_preconditioner_options given = chosen_or(options);
    FomOptions made = common<FomOptions>(given);
    if (given.steps != 0) made.steps = given.steps;
    return of_matrix(typed,
                     [&]<class V>(const CsbMatrix<V, T>& matrix) -> std::shared_ptr<Preconditioner<T>> {
                       return std::make_shared<FomPreconditioner<V, T>>(*a->runtime, matrix, made);
                     });
  });
}

int tessera_preconditioner_chebyshev(const tessera_operator* a, const tessera_preconditioner_options* options,
                                     tessera_preconditioner** result) {
  return make_preconditioner(a, result, [&](const auto& typed, auto t) {
    using T = typename decltype(t)::type;
    const tessera_preconditioner_options given = chosen_or(options);
    ChebyshevOptions made = common<ChebyshevOptions>(given);
    if (given.degree != 0) made.degree = given.degree;
    if (given.use_interval) made.interval = std::pair(given.interval_lower, given.interval_upper);
    return std::shared_ptr<Preconditioner<T>>(
        std::make_shared<ChebyshevPreconditioner<T>>(*a->runtime, *typed.linear, made));
  });
}

int tessera_preconditioner_create(tessera_runtime* runtime, int type, tessera_precondition host,
                                  tessera_precondition_on_device device, void* user,
                                  tessera_preconditioner** result) {
  return call_on(runtime, [&] {
    required(result, "result") = nullptr;
    Runtime& on = runtime_of(runtime);
    if (!host && !device) throw InvalidArgument("host", "null", "a function for the host or for GPUs");
    for_type(type, [&](auto t) {
      using T = typename decltype(t)::type;
      PreconditionRows<T> on_host;
      if (host)
        on_host = [host, user](Index first, Index rows, Index columns, const T* r, Index ldr, T* w,
                               Index ldw) {
          require_callback("the preconditioner's function", host(first, rows, columns, r, ldr, w, ldw, user));
        };
      std::shared_ptr<Preconditioner<T>> made;
      if (device)
        made = std::make_shared<UserPreconditioner<T>>(
            on,
            DevicePreconditionRows<T>([device, user](Index first, Index rows, Index columns, const T* r,
                                                     Index ldr, T* w, Index ldw, void* stream) {
              require_callback("the preconditioner's function for GPUs",
                               device(first, rows, columns, r, ldr, w, ldw, stream, user));
            }),
            std::move(on_host));
      else
        made = std::make_shared<UserPreconditioner<T>>(std::move(on_host));
      *result = new tessera_preconditioner{std::move(made)};
    });
  });
}

void tessera_preconditioner_free(tessera_preconditioner* preconditioner) {
  delete preconditioner;
}
