// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <thread>

#include "common.hpp"

/// lobpcg with sparse matrices, and with functions of Python's as operators and preconditioners.
namespace tessera::python {
namespace {

/// A row-major array of the host that Python sees while `owner` lives.
template <class T>
nb::object row_major(T* data, Index rows, Index cols, nb::handle owner) {
  const std::size_t shape[] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)};
  return nb::ndarray<nb::numpy, T>(data, 2, shape, owner).cast();
}

/// y := f(x) for whole blocks of vectors: x comes to the host, and y goes from there.
template <class T>
class BlockFunction {
 public:
  BlockFunction(nb::object function, const char* name) : function_(share(std::move(function))), name_(name) {}

  void operator()(const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const {
    const Index n = x.rows();
    auto in = std::make_unique<std::vector<T>>(static_cast<std::size_t>(n * columns));
    x.get(in->data(), columns, columns);
    std::vector<T> out(static_cast<std::size_t>(n * columns));
    {
      const Callback callback;
      // The array belongs to Python: the function may keep it.
      T* const data = in->data();
      const nb::capsule owner(in.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
      in.release();
      const nb::object result = (*function_)(row_major(data, n, columns, owner));
      nb::ndarray<const T, nb::ndim<2>, nb::device::cpu> array;
      if (!nb::try_cast(result, array))
        throw InvalidArgument(name_, "a function that returns something else",
                              "one that returns an array of its argument's dtype");
      if (static_cast<Index>(array.shape(0)) != n || static_cast<Index>(array.shape(1)) != columns)
        throw InvalidArgument(name_, "a function that returns another shape",
                              std::to_string(n) + " x " + std::to_string(columns));
      const std::int64_t row = array.stride(0), column = array.stride(1);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < columns; ++j)
          out[static_cast<std::size_t>(i * columns + j)] = array.data()[i * row + j * column];
    }
    y.set(out.data(), columns, columns);
  }

 private:
  SharedObject function_;
  const char* name_;
};

/// A symmetric or Hermitian operator that is a function of Python's.
template <class T>
class PythonOperator final : public SymmetricOperator<T> {
 public:
  PythonOperator(std::shared_ptr<const RowSegments> segments, nb::object function, const char* name)
      : segments_(std::move(segments)), function_(std::move(function), name) {}
  Index order() const override { return segments_->rows(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return segments_; }
  void apply(Sequence&, const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const override {
    function_(x, y, columns);
  }

 private:
  std::shared_ptr<const RowSegments> segments_;
  BlockFunction<T> function_;
};

/// A preconditioner that is a function of Python's.
template <class T>
class PythonPreconditioner final : public Preconditioner<T> {
 public:
  explicit PythonPreconditioner(nb::object function) : function_(std::move(function), "M") {}
  const char* name() const override { return "python"; }
  void apply(Sequence&, const BlockVectors<T>& r, const BlockVectors<T>& w, Index columns) const override {
    function_(r, w, columns);
  }

 private:
  BlockFunction<T> function_;
};

/// The lower triangle of a sparse matrix in compressed rows, or a function.
struct OperatorInput {
  std::optional<HostVector<Index>> begins, columns;
  std::optional<HostVector<double>> values;
  std::optional<HostVector<std::complex<double>>> complex_values;  ///< instead, of a complex matrix
  nb::object function;
};

OperatorInput operator_input(nb::handle given, bool complex) {
  OperatorInput input;
  if (nb::isinstance<nb::tuple>(given)) {
    const auto arrays = nb::cast<nb::tuple>(given);
    input.begins = nb::cast<HostVector<Index>>(arrays[0]);
    input.columns = nb::cast<HostVector<Index>>(arrays[1]);
    if (complex)
      input.complex_values = nb::cast<HostVector<std::complex<double>>>(arrays[2]);
    else
      input.values = nb::cast<HostVector<double>>(arrays[2]);
  } else {
    input.function = nb::borrow(given);
  }
  return input;
}

CoordinateRows rows_of(Index n, const OperatorInput& input) {
  const auto span_of = [](const auto& v) { return std::span(v->data(), v->shape(0)); };
  if (input.complex_values)
    return CoordinateRows::from_compressed_rows(n, span_of(input.begins), span_of(input.columns),
                                                span_of(input.complex_values));
  return CoordinateRows::from_compressed_rows(n, span_of(input.begins), span_of(input.columns),
                                              span_of(input.values));
}

struct LobpcgRequest {
  Index n = 0;
  LobpcgOptions options;
  OperatorInput a;
  std::optional<OperatorInput> b;
  nb::object preconditioner, monitor;
  std::string built_in;
  std::optional<double> shift;
};

nb::dict step_of(const LobpcgStep& step) {
  nb::dict d;
  d["iteration"] = step.iteration;
  d["converged"] = step.converged;
  d["active"] = step.active;
  d["largest_residual"] = step.largest_residual;
  d["values"] = to_numpy(std::vector<double>(step.values));
  d["residuals"] = to_numpy(std::vector<double>(step.residuals));
  d["seconds"] = step.seconds;
  return d;
}

/// Row-major vectors as BlockVectors, and how many.
template <class T>
std::pair<std::shared_ptr<BlockVectors<T>>, Index> vectors_of(Runtime& runtime,
                                                              std::shared_ptr<const RowSegments> segments,
                                                              const std::optional<AnyArray>& array) {
  if (!array) return {nullptr, 0};
  const auto width = static_cast<Index>(array->shape(1));
  auto vectors = std::make_shared<BlockVectors<T>>(runtime, std::move(segments), width);
  vectors->set(static_cast<const T*>(array->data()), width, width);
  return {vectors, width};
}

template <class T>
std::shared_ptr<Preconditioner<T>> preconditioner_of(Runtime& runtime, const LobpcgRequest& request,
                                                     const CsbMatrix<T, T>* stored,
                                                     const SymmetricOperator<T>& a) {
  const EigenEnd end = request.options.end;
  if (request.built_in == "none") return nullptr;
  if (request.built_in == "function")
    return std::make_shared<PythonPreconditioner<T>>(request.preconditioner);
  if (request.built_in == "chebyshev")
    return std::make_shared<ChebyshevPreconditioner<T>>(runtime, a,
                                                        ChebyshevOptions{.end = end, .shift = request.shift});
  if (request.built_in != "jacobi" && request.built_in != "fom")
    throw InvalidArgument("M", request.built_in,
                          "jacobi, fom, chebyshev, a matrix, an operator or a function");
  if (stored == nullptr)
    throw InvalidArgument("M", request.built_in, "chebyshev or a function where A is no sparse matrix");
  if (request.built_in == "jacobi")
    return std::make_shared<JacobiPreconditioner<T>>(runtime, stored->segments(), stored->diagonal(),
                                                     JacobiOptions{.end = end, .shift = request.shift});
  return std::make_shared<FomPreconditioner<T, T>>(runtime, *stored,
                                                   FomOptions{.end = end, .shift = request.shift});
}

template <class T>
nb::dict solve(LobpcgRequest& request, const std::optional<AnyArray>& guess,
               const std::optional<AnyArray>& constraints) {
  std::atomic<bool> stop = false;
  const SharedObject monitor = share(request.monitor);
  request.options.monitor = [&stop, monitor](const LobpcgStep& step) {
    if (stop) return false;
    if (monitor->is_none()) return true;
    const Callback callback;
    const nb::object goes_on = (*monitor)(step_of(step));
    return goes_on.is_none() || nb::cast<bool>(nb::bool_(goes_on));
  };
  LobpcgResult<T> r;
  std::vector<T> vectors;
  Index width = 0;
  {
    const Call call;
    Runtime& runtime = current_runtime();
    std::shared_ptr<CsbMatrix<T, T>> stored;
    std::shared_ptr<SymmetricOperator<T>> a, b;
    std::optional<CoordinateRows> rows;
    if (request.a.begins) {
      rows.emplace(rows_of(request.n, request.a));
      a = stored = std::make_shared<CsbMatrix<T, T>>(CsbMatrix<T, T>::build(runtime, *rows));
    } else {
      const auto segments =
          RowSegments::even(runtime, request.n, std::max(runtime.common_workers(), 1) * runtime.size());
      a = std::make_shared<PythonOperator<T>>(segments, request.a.function, "A");
    }
    if (request.b && request.b->begins) {
      const CoordinateRows b_rows = rows_of(request.n, *request.b);
      b = std::make_shared<CsbMatrix<T, T>>(CsbMatrix<T, T>::build(runtime, b_rows, {.like = &*rows}));
    } else if (request.b) {
      b = std::make_shared<PythonOperator<T>>(a->segments(), request.b->function, "B");
    }
    LobpcgProblem<T> problem{.a = a, .b = b};
    problem.preconditioner = preconditioner_of<T>(runtime, request, stored.get(), *a);
    const auto [start, start_count] = vectors_of<T>(runtime, a->segments(), guess);
    const auto [fixed, fixed_count] = vectors_of<T>(runtime, a->segments(), constraints);
    if (start) problem.guess = start, problem.guess_count = start_count;
    if (fixed) problem.constraints = fixed, problem.constraint_count = fixed_count;
    auto completion = submit_lobpcg<T>(runtime, problem, request.options);
    wait_for(completion, stop);
    r = std::move(completion).result();
    width = static_cast<Index>(r.values.size());
    if (width > 0) {
      vectors.resize(static_cast<std::size_t>(request.n * width));
      r.vectors.get(vectors.data(), width, width);
    }
    r.vectors.release();
  }
  check_signals();
  nb::dict d;
  d["status"] = status_object(r.status());
  d["values"] = to_numpy(std::move(r.values));
  d["residuals"] = to_numpy(std::move(r.residuals));
  d["scaled_residuals"] = to_numpy(std::move(r.scaled_residuals));
  d["vectors"] =
      to_numpy(std::move(vectors), {static_cast<std::size_t>(request.n), static_cast<std::size_t>(width)});
  d["converged"] = r.converged;
  d["iterations"] = r.iterations;
  d["restarts"] = r.restarts;
  d["columns_multiplied"] = r.columns_multiplied;
  d["multiplications"] = r.multiplications;
  d["iterations_before"] = r.iterations_before;
  d["checkpoints"] = r.checkpoints;
  d["checkpoint_failure"] = r.checkpoint_failure;
  nb::list history;
  for (const LobpcgStep& step : r.history) history.append(step_of(step));
  d["history"] = history;
  return d;
}

LobpcgNorm norm_of(const std::string& name) {
  if (name == "backward") return LobpcgNorm::backward;
  if (name == "relative") return LobpcgNorm::relative;
  if (name == "absolute") return LobpcgNorm::absolute;
  throw InvalidArgument("norm", name, "backward, relative or absolute");
}

EigenMethod method_of(const std::string& name) {
  if (name == "lobpcg") return EigenMethod::lobpcg;
  if (name == "gd") return EigenMethod::generalized_davidson;
  if (name == "lanczos") return EigenMethod::lanczos;
  if (name == "auto") return EigenMethod::automatic;
  throw InvalidArgument("method", name, "lobpcg, gd, lanczos or auto");
}

nb::dict lobpcg_arrays(const std::string& letter, Index n, nb::handle a, nb::handle b,
                       const std::string& built_in, nb::object preconditioner, std::optional<double> shift,
                       std::optional<AnyArray> guess, std::optional<AnyArray> constraints, Index count,
                       const std::string& method, Index block, Index basis, bool largest, double tolerance,
                       const std::string& norm, Index iterations, std::uint64_t seed, nb::object monitor,
                       const std::string& checkpoint, Index checkpoint_iterations, double checkpoint_seconds,
                       const std::string& resume) {
  LobpcgRequest request;
  request.n = n;
  const bool complex = letter == "c" || letter == "z";
  request.a = operator_input(a, complex);
  if (!b.is_none()) request.b = operator_input(b, complex);
  request.built_in = built_in;
  request.preconditioner = std::move(preconditioner);
  request.monitor = std::move(monitor);
  request.shift = shift;
  request.options.count = count;
  request.options.method = method_of(method);
  request.options.block = block;
  request.options.basis = basis;
  request.options.end = largest ? EigenEnd::largest : EigenEnd::smallest;
  request.options.tolerance = tolerance;
  request.options.norm = norm_of(norm);
  request.options.iterations = iterations;
  request.options.seed = seed;
  request.options.checkpoint = {
      .path = checkpoint, .iterations = checkpoint_iterations, .seconds = checkpoint_seconds};
  request.options.resume = resume;
  return with_letter(letter, [&]<class T>() { return solve<T>(request, guess, constraints); });
}

}  // namespace

void bind_lobpcg(nb::module_& module) {
  module.def("lobpcg", &lobpcg_arrays, nb::arg("letter"), nb::arg("n"), nb::arg("a"), nb::arg("b").none(),
             nb::arg("built_in"), nb::arg("preconditioner").none(), nb::arg("shift").none(),
             nb::arg("guess").none(), nb::arg("constraints").none(), nb::arg("count"), nb::arg("method"),
             nb::arg("block"), nb::arg("basis"), nb::arg("largest"), nb::arg("tolerance"), nb::arg("norm"),
             nb::arg("iterations"), nb::arg("seed"), nb::arg("monitor").none(), nb::arg("checkpoint"),
             nb::arg("checkpoint_iterations"), nb::arg("checkpoint_seconds"), nb::arg("resume"));
}

}  // namespace tessera::python
