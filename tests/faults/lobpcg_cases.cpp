// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <limits>
#include <stdexcept>
#include <tuple>

#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/faults/fault_case.hpp>

#include <tessera/algorithms/sparse/function_rows.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::test {
using namespace detail;
namespace {

const std::string different = "not the same on all ranks";
constexpr Index n = 60;
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

UserOperator<double> good_operator(const Ranks& ranks) {
  return operator_of<double>(ranks.runtime, laplacian(n), 2 * ranks.runtime.size());
}

/// A solve with different options on the faulty rank.
std::function<void(const Ranks&)> options(const LobpcgOptions& wrong) {
  return [wrong](const Ranks& ranks) {
    const auto a = good_operator(ranks);
    std::ignore = lobpcg(ranks.runtime, {.a = &a}, ranks.here() ? wrong : LobpcgOptions{.count = 2});
  };
}

/// After an exception that all ranks have agreed on, the next solve must succeed.
void solve_again(const Ranks& ranks) {
  const auto a = good_operator(ranks);
  const auto result = lobpcg(ranks.runtime, {.a = &a}, {.count = 2});
  if (result.status().code != StatusCode::success ||
      std::abs(result.values[0] - laplacian_value(n, 1)) > 1e-6)
    throw std::logic_error("the next solve fails: " + result.status().message());
}

/// All ranks must throw, and the next solve must succeed.
template <class Work>
void and_then_solve(const Ranks& ranks, const Work& work) {
  std::exception_ptr caught;
  try {
    work();
  } catch (...) {
    caught = std::current_exception();
  }
  solve_again(ranks);
  if (caught) std::rethrow_exception(caught);
}

/// A solve with an operator whose function throws in call number `when` on the faulty rank.
std::function<void(const Ranks&)> throwing_operator(int when, bool as_b = false) {
  return [=](const Ranks& ranks) {
    const auto a = good_operator(ranks);
    auto calls = std::make_shared<std::atomic<int>>(0);
    const UserOperator<double> bad(
        ranks.runtime, a.segments(),
        [=, here = ranks.here(),
         inner = function_of<double>(as_b ? diagonal(std::vector(n, 1.0)) : laplacian(n))](
            Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy) {
          if (here && ++*calls == when) throw std::logic_error("the operator is lost");
          inner(first, end, columns, x, ldx, y, ldy);
        },
        as_b ? 1 : 4);
    and_then_solve(ranks, [&] {
      std::ignore = lobpcg(
          ranks.runtime, as_b ? LobpcgProblem<double>{.a = &a, .b = &bad} : LobpcgProblem<double>{.a = &bad},
          {.count = 2});
    });
  };
}

/// Errors that a user's preconditioner may make.
class Bad final : public Preconditioner<double> {
 public:
  enum class When { never, expect, prepare, apply };
  explicit Bad(When when) : when_(when) {}
  const char* name() const override { return "bad"; }
  bool asks_for_the_end() const override { return true; }
  void expect(double, double) override { fail(When::expect); }
  void prepare(Sequence&, std::span<const double>, Index) override { fail(When::prepare); }
  void apply(Sequence& sequence, const BlockVectors<double>& r, const BlockVectors<double>& w,
             Index columns) const override {
    fail(When::apply);
    inner_.apply(sequence, r, w, columns);
  }

 private:
  static void copy(Index, Index rows, Index columns, const double* r, Index ldr, double* w, Index ldw) {
    for (Index i = 0; i < rows; ++i) std::copy_n(r + i * ldr, columns, w + i * ldw);
  }
  void fail(When now) const {
    if (now == when_) throw std::logic_error("the preconditioner is lost");
  }
  When when_;
  tessera::UserPreconditioner<double> inner_{copy};
};

std::function<void(const Ranks&)> bad_preconditioner(Bad::When when) {
  return [=](const Ranks& ranks) {
    const auto a = good_operator(ranks);
    Bad bad(ranks.here() ? when : Bad::When::never);
    const auto solve = [&] {
      std::ignore = lobpcg(ranks.runtime, {.a = &a, .preconditioner = &bad}, {.count = 2});
    };
    if (when == Bad::When::apply) return solve();  // no rank can continue
    and_then_solve(ranks, solve);
  };
}

/// An operator of a user-defined class.
class Own final : public SymmetricOperator<double> {
 public:
  Own(const SymmetricOperator<double>& inner, std::shared_ptr<const RowSegments> segments, bool throws)
      : inner_(inner), segments_(std::move(segments)), throws_(throws) {}
  Index order() const override { return inner_.order(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return segments_; }
  void apply(Sequence& sequence, const BlockVectors<double>& x, const BlockVectors<double>& y,
             Index columns) const override {
    if (throws_) throw std::logic_error("apply is lost");
    inner_.apply(sequence, x, y, columns);
  }

 private:
  const SymmetricOperator<double>& inner_;
  std::shared_ptr<const RowSegments> segments_;
  bool throws_;
};

/// A tridiagonal matrix by rows; `row` may change each row.
template <class Row>
std::shared_ptr<const SymmetricRows> tridiagonal(const Row& row, Index order = n) {
  return function_rows(order, [row](Index i, const auto& store) {
    store(i, row(i));
    if (i > 0) store(i - 1, -1.0);
  });
}

/// A matrix with different rows or options on the faulty rank.
template <class Make>
std::function<void(const Ranks&)> csb(const Make& rows_of, const CsbOptions& wrong = {}) {
  return [=](const Ranks& ranks) {
    const auto rows = rows_of(ranks.here());
    and_then_solve(ranks, [&] {
      CsbMatrix<double, double>::build(ranks.runtime, *rows, ranks.here() ? wrong : CsbOptions{});
    });
  };
}
std::shared_ptr<const SymmetricRows> good_rows(bool) {
  return tridiagonal([](Index) { return 2.0; });
}

/// Rows whose order() throws.
class NoOrder final : public SymmetricRows {
 public:
  Index order() const override { throw std::logic_error("the order is lost"); }
  void entries(Index, Index, Index, Index, std::vector<SparseEntry>&) const override {}
};

/// Compressed rows of a diagonal matrix.
std::function<void(const Ranks&)> csr(Index wrong_column, double wrong_value) {
  return [=](const Ranks& ranks) {
    std::vector<Index> begins, columns;
    std::vector<double> values(n, 2.0);
    for (Index i = 0; i <= n; ++i) begins.push_back(i);
    for (Index i = 0; i < n; ++i) columns.push_back(i);
    if (ranks.here()) columns[5] = wrong_column, values[5] = wrong_value;
    CsrMatrix<double, double>::build(ranks.runtime, {begins, columns, values});
  };
}

std::function<void(const Ranks&)> jacobi(double wrong, Index length = n, const JacobiOptions& options = {}) {
  return [=](const Ranks& ranks) {
    std::vector<double> diagonal(static_cast<std::size_t>(ranks.here() ? length : n), 2.0);
    if (ranks.here()) diagonal[3] = wrong;
    and_then_solve(ranks, [&] {
      JacobiPreconditioner<double>(ranks.runtime, RowSegments::even(ranks.runtime, n, ranks.runtime.size()),
                                   diagonal, ranks.here() ? options : JacobiOptions{});
    });
  };
}

std::function<void(const Ranks&)> chebyshev(const ChebyshevOptions& wrong) {
  return [=](const Ranks& ranks) {
    const auto a = good_operator(ranks);
    ChebyshevPreconditioner<double>(ranks.runtime, a, ranks.here() ? wrong : ChebyshevOptions{});
  };
}

std::function<void(const Ranks&)> fom(const FomOptions& wrong) {
  return [=](const Ranks& ranks) {
    const auto a = CsbMatrix<double, double>::build(ranks.runtime, *good_rows(false));
    FomPreconditioner<double, double>(ranks.runtime, a, ranks.here() ? wrong : FomOptions{});
  };
}

const AddFaultCases option_cases({
    {"lobpcg_count", options({.count = 3}), different},
    {"lobpcg_count_0", options({.count = 0}), "count = 0: expected at least 1"},
    {"lobpcg_block", options({.count = 2, .block = 6}), different},
    {"lobpcg_end", options({.count = 2, .end = EigenEnd::largest}), different},
    {"lobpcg_tolerance", options({.count = 2, .tolerance = 1e-3}), different},
    {"lobpcg_tolerance_nan", options({.count = 2, .tolerance = not_a_number}), "tolerance = nan"},
    {"lobpcg_norm", options({.count = 2, .norm = LobpcgNorm::absolute}), different},
    {"lobpcg_variant", options({.count = 2, .variant = LobpcgVariant::basic}), different},
    {"lobpcg_iterations", options({.count = 2, .iterations = 7}), different},
    {"lobpcg_lock", options({.count = 2, .lock = false}), different},
    {"lobpcg_seed", options({.count = 2, .seed = 2}), different},
    {"lobpcg_monitor_of_one", options({.count = 2, .monitor = [](const LobpcgStep&) { return true; }}),
     different},
    {"lobpcg_checkpoint_of_one", options({.count = 2, .checkpoint = {.path = "c.h5", .seconds = -1}}),
     "checkpoint.seconds"},
    {"lobpcg_checkpoint_seconds", options({.count = 2, .checkpoint = {.seconds = 1}}), different},
    {"lobpcg_resume_of_one", options({.count = 2, .resume = "c.h5"}), different},
    {"lobpcg_preconditioner_of_one",
     [](const Ranks& ranks) {
       const auto a = good_operator(ranks);
       Bad good(Bad::When::never);
       std::ignore =
           lobpcg(ranks.runtime, {.a = &a, .preconditioner = ranks.here() ? &good : nullptr}, {.count = 2});
     },
     different},
    {"lobpcg_segments",
     [](const Ranks& ranks) {
       const auto a = good_operator(ranks);
       std::vector<Index> begins{0, ranks.here() ? 11 : 10, n};
       const Own own(a, std::make_shared<const RowSegments>(begins, std::vector<int>{0, 1}), false);
       std::ignore = lobpcg(ranks.runtime, {.a = &own}, {.count = 2});
     },
     different},
    {"lobpcg_guess_of_other_rows",
     [](const Ranks& ranks) {
       const auto a = good_operator(ranks);
       const BlockVectors<double> good(ranks.runtime, a.segments(), 2),
           bad(ranks.runtime, RowSegments::even(ranks.runtime, 10, 2), 2);
       std::ignore = lobpcg(ranks.runtime, {.a = &a, .guess = ranks.here() ? &bad : &good, .guess_count = 2},
                            {.count = 2});
     },
     "guess = 10 rows in 2 segments"},
});

/// A complete solve, including the construction of its operands, for failures at any point.
template <class Make>
std::function<void(const Ranks&)> whole_solve(const Make& make) {
  return [make](const Ranks& ranks) {
    const auto a = CsbMatrix<double, double>::build(ranks.runtime, *good_rows(false), {.groups = 3});
    const auto preconditioner = make(ranks.runtime, a);
    const auto result =
        lobpcg(ranks.runtime, {.a = &a, .preconditioner = preconditioner.get()}, {.count = 2});
    if (result.status().code != StatusCode::success) throw std::logic_error(result.status().message());
  };
}
using Csb = CsbMatrix<double, double>;

const AddFaultCases whole_cases({
    {"whole_solve_jacobi", whole_solve([](Runtime& runtime, const Csb& a) {
       return std::make_unique<JacobiPreconditioner<double>>(runtime, a.segments(), a.diagonal());
     }),
     ""},
    {"whole_solve_fom", whole_solve([](Runtime& runtime, const Csb& a) {
       return std::make_unique<FomPreconditioner<double, double>>(runtime, a);
     }),
     ""},
    {"whole_solve_chebyshev", whole_solve([](Runtime& runtime, const Csb& a) {
       return std::make_unique<ChebyshevPreconditioner<double>>(runtime, a);
     }),
     ""},
});

const AddFaultCases callback_cases({
    {"operator_throws_at_once", throwing_operator(1), "the operator is lost"},
    {"operator_throws_later", throwing_operator(9), "the operator is lost"},
    {"b_throws", throwing_operator(4, true), "the operator is lost"},
    {"operator_gives_nan",
     [](const Ranks& ranks) {
       const auto a = good_operator(ranks);
       const UserOperator<double> bad(
           ranks.runtime, a.segments(),
           [here = ranks.here(), inner = function_of<double>(laplacian(n))](
               Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy) {
             inner(first, end, columns, x, ldx, y, ldy);
             if (here) y[0] = not_a_number;
           },
           4);
       if (lobpcg(ranks.runtime, {.a = &bad}, {.count = 2}).status().code != StatusCode::not_finite)
         throw std::logic_error("finite");
       solve_again(ranks);
     },
     ""},
    {"preconditioner_function_throws",
     [](const Ranks& ranks) {
       const auto a = good_operator(ranks);
       std::atomic<int> calls = 0;
       tessera::UserPreconditioner<double> rows(
           [&](Index, Index count, Index columns, const double* r, Index ldr, double* w, Index ldw) {
             if (ranks.here() && ++calls == 3) throw std::logic_error("the preconditioner is lost");
             for (Index i = 0; i < count; ++i) std::copy_n(r + i * ldr, columns, w + i * ldw);
           });
       and_then_solve(ranks, [&] {
         std::ignore = lobpcg(ranks.runtime, {.a = &a, .preconditioner = &rows}, {.count = 2});
       });
     },
     "the preconditioner is lost"},
    {"expect_throws", bad_preconditioner(Bad::When::expect), "the preconditioner is lost"},
    {"prepare_throws", bad_preconditioner(Bad::When::prepare), "the preconditioner is lost"},
    {"preconditioner_apply_throws", bad_preconditioner(Bad::When::apply), "the preconditioner is lost"},
    {"monitor_throws",
     [](const Ranks& ranks) {
       const auto a = good_operator(ranks);
       LobpcgOptions with_monitor{.count = 2};
       with_monitor.monitor = [&](const LobpcgStep& step) {
         if (step.iteration == 3 && ranks.here()) throw std::logic_error("the monitor is lost");
         return true;
       };
       and_then_solve(ranks, [&] { std::ignore = lobpcg(ranks.runtime, {.a = &a}, with_monitor); });
     },
     "the monitor is lost"},
    {"apply_throws",
     [](const Ranks& ranks) {
       const auto a = good_operator(ranks);
       const Own own(a, a.segments(), ranks.here());
       std::ignore = lobpcg(ranks.runtime, {.a = &own}, {.count = 2});
     },
     "apply is lost"},
});

const AddFaultCases matrix_cases({
    {"csb_row_throws", csb([](bool here) {
       return tridiagonal([here](Index) {
         if (here) throw std::logic_error("a row is lost");
         return 2.0;
       });
     }),
     "a row is lost"},
    {"csb_order_throws", csb([](bool here) -> std::shared_ptr<const SymmetricRows> {
       if (here) return std::make_shared<NoOrder>();
       return good_rows(false);
     }),
     "the order is lost"},
    {"csb_order", csb([](bool here) { return tridiagonal([](Index) { return 2.0; }, here ? n + 1 : n); }),
     different},
    {"csb_nan", csb([](bool here) { return tridiagonal([=](Index) { return here ? not_a_number : 2.0; }); }),
     "expected finite values"},
    {"csb_groups", csb(good_rows, {.groups = 3}), different},
    {"csb_tile_rows", csb(good_rows, {.tile_rows = 70000}), "tile_rows = 70000: expected at most 65536"},
    {"csb_piece_bytes", csb(good_rows, {.piece_bytes = -1}), "piece_bytes = -1: expected at least 0"},
    {"csr_columns", csr(6, 2.0), different},
    {"csr_outside", csr(n, 2.0), "columns = 60: expected 0 to 59"},
    {"csr_nan", csr(5, not_a_number), "values = nan: expected finite values"},
    {"user_operator_empty",
     [](const Ranks& ranks) {
       UserOperator<double>(ranks.runtime, RowSegments::even(ranks.runtime, n, 2),
                            ranks.here() ? UserFunction<double>() : function_of<double>(laplacian(n)));
     },
     "function = empty"},
    {"user_operator_segments",
     [](const Ranks& ranks) {
       UserOperator<double>(ranks.runtime, RowSegments::even(ranks.runtime, n, ranks.here() ? 3 : 2),
                            function_of<double>(laplacian(n)));
     },
     different},
    {"user_operator_order",
     [](const Ranks& ranks) {
       UserOperator<double>(ranks.runtime, ranks.here() ? -1 : n,
                            [](Index, Index, const double*, Index, double*, Index) {});
     },
     "rows = -1: expected at least 0"},
    {"apply_columns",
     [](const Ranks& ranks) {
       const auto a = good_operator(ranks);
       const BlockVectors<double> x(ranks.runtime, a.segments(), 2), y(ranks.runtime, a.segments(), 2);
       Sequence sequence(ranks.runtime);
       a.apply(sequence, x, y, ranks.here() ? 0 : 2);
     },
     "columns = 0: expected 1 to 2"},
    {"jacobi_nan", jacobi(not_a_number), "diagonal = nan: expected finite elements"},
    {"jacobi_length", jacobi(2, n - 1), "diagonal = 59 elements"},
    {"jacobi_shift", jacobi(2, n, {.shift = 1.0}), different},
    {"jacobi_b_norm", jacobi(2, n, {.b_norm = -1}), "b_norm = -1: expected a positive number"},
    {"chebyshev_degree", chebyshev({.degree = 0}), "degree = 0: expected at least 1"},
    {"chebyshev_degree_of_one", chebyshev({.degree = 3}), different},
    {"chebyshev_interval", chebyshev({.interval = std::pair(2.0, 1.0)}), "interval = [2, 1]"},
    {"fom_steps", fom({.steps = 0}), "steps = 0: expected 1 to"},
    {"fom_end", fom({.end = EigenEnd::largest}), different},
});

}  // namespace
}  // namespace tessera::test
