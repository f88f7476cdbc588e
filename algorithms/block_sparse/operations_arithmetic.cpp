// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/block_sparse/diagonal_symmetry.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// Calls visit(panel number, values) for the panels that have blocks.
template <class T, class Visit>
void for_each_panel(const BlockSparseMatrix<T>& a, const Visit& visit) {
  for (Index p = 0; p < a.pattern().panels(); ++p)
    if (a.panel(p).valid()) visit(p, a.panel(p));
}

void require_length(const char* name, std::size_t length, Index expected) {
  if (static_cast<Index>(length) != expected)
    throw InvalidArgument(name, fmt::format("{} entries", length), fmt::format("{} entries", expected));
}

/// Replaces A by the matrix with the blocks of a larger pattern: factor A where A has them, zero elsewhere.
template <class T>
void enlarge(Sequence& sequence, T factor, BlockSparseMatrix<T>& a, BlockPatternPointer pattern) {
  BlockSparseMatrix<T> larger = zero_matrix<T>(sequence, std::move(pattern));
  if (factor != T(0)) copy_blocks(sequence, factor, a, larger);
  a = std::move(larger);
}

/// The symmetry of the elementwise product, if the half-stored matrix A leads to one.
template <class T>
Symmetry product_symmetry(Symmetry a, Symmetry b) {
  if (a == Symmetry::none) return Symmetry::none;
  const Symmetry x = kind_of<T>(a), y = kind_of<T>(b);
  const bool hermitian = x == Symmetry::hermitian || y == Symmetry::hermitian;
  if (y == Symmetry::none || (hermitian && x != y))
    throw InvalidArgument("b", "of symmetry " + text_of(b),
                          "a symmetry with which A, of symmetry " + text_of(a) + ", has a product of one");
  if (hermitian) return a;
  if (x == y) return x == Symmetry::antisymmetric ? Symmetry::symmetric : a;
  return Symmetry::antisymmetric;
}

/// What function_of_elements asks of its arguments.
template <class T>
void require_function(ElementFunction f, T first, T second, const BlockSparseMatrix<T>& a) {
  using enum ElementFunction;
  require_made("a", a);
  if (is_complex<T> && (f == artanh || f == asin || f == truncate))
    throw InvalidArgument("f",
                          f == artanh ? "artanh"
                          : f == asin ? "asin"
                                      : "truncate",
                          "a function of complex numbers");
  const Symmetry symmetry = kind_of<T>(a.symmetry());
  if (symmetry == Symmetry::antisymmetric) {
    if (f != ElementFunction::tanh && f != artanh && f != ElementFunction::sin &&
        f != ElementFunction::asin && f != truncate)
      throw InvalidArgument("f", "not an odd function", "an odd one for an antisymmetric matrix");
    if (second != T(0)) throw InvalidArgument("second", text_of(second), "zero for an antisymmetric matrix");
  }
  require_factor("first", first, symmetry);
  require_factor("second", second, symmetry);
  if (symmetry == Symmetry::hermitian && f == square_root)
    throw InvalidArgument("f", "square_root", "a function that keeps a matrix hermitian");
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
void add(Sequence& sequence, T alpha, BlockSparseMatrix<T>& a, T beta, const BlockSparseMatrix<T>& b) {
  const auto check = [&] {
    require_made("a", a);
    require_made("b", b);
    require_sizes("b", b.layout(), a.layout());
    require_symmetry<T>("b", b.symmetry(), a.symmetry(), false);
    require_factor("alpha", alpha, a.symmetry());
    require_factor("beta", beta, a.symmetry());
  };
  collectively(
      sequence.runtime(), "add", argument_hash(alpha, beta, shape_hash(a), shape_hash(b)), check, [&] {
        if (&a == &b) return scale<T>(sequence, alpha + beta, a);
        const bool same_places = a.layout().same_places(b.layout());
        if (same_places && alpha != T(0) && beta != T(0)) {
          // Where all panels have the same blocks one task does both.
          if (a.pattern().identity() == b.pattern().identity())
            return for_each_panel(a, [&](Index p, const Data& values) {
              sequence.insert(AddPanel<T>{.x = b.panel(p), .y = values, .alpha = beta, .beta = alpha});
            });
        }
        const BlockPatternPointer image = same_places ? b.pattern_pointer() : image_pattern(b, a.layout());
        const BlockPatternPointer all = unite(sequence, a.pattern_pointer(), *image);
        if (all == a.pattern_pointer())
          scale(sequence, alpha, a);
        else
          enlarge(sequence, alpha, a, all);
        if (beta != T(0)) copy_blocks(sequence, beta, b, a, {.add = true});
      });
}

template <class T>
Completion<OperationResult> submit_add(T alpha, BlockSparseMatrix<T>& a, T beta,
                                       const BlockSparseMatrix<T>& b) {
  auto sequence = std::make_unique<Sequence>(runtime_of("a", a));
  add(*sequence, alpha, a, beta, b);
  return {std::move(sequence), std::make_shared<OperationResult>()};
}

template <class T>
void scale(Sequence& sequence, T alpha, const BlockSparseMatrix<T>& a) {
  const auto check = [&] {
    require_made("a", a);
    require_factor("alpha", alpha, a.symmetry());
  };
  collectively(sequence.runtime(), "scale", argument_hash(alpha, shape_hash(a)), check, [&] {
    if (alpha == T(1)) return;
    for_each_panel(a, [&](Index, const Data& values) {
      if (alpha == T(0))
        sequence.insert(FillValues<T>{.values = values, .value = T(0)});
      else
        sequence.insert(ScalePanel<T>{.values = values, .factor = alpha});
    });
  });
}

template <class T>
void scale_by_vector(Sequence& sequence, Side side, std::span<const T> v, const BlockSparseMatrix<T>& a) {
  const auto check = [&] {
    require_made("a", a);
    if (a.symmetry() != Symmetry::none)
      throw InvalidArgument("a", "of symmetry " + text_of(a.symmetry()), "of symmetry N");
    require_length("v", v.size(), side == Side::left ? a.rows() : a.cols());
  };
  collectively(sequence.runtime(), "scale_by_vector", argument_hash(side, shape_hash(a)), check, [&] {
    const Data vector = make_task_list(a.runtime(), v);
    for_each_panel(a, [&](Index p, const Data& values) {
      sequence.insert(
          ScaleByVector<T>{.blocks = a.pattern().blocks_of(p), .v = vector, .values = values, .side = side});
    });
  });
}

template <class T>
void set_all(Sequence& sequence, T value, const BlockSparseMatrix<T>& a) {
  const auto check = [&] { require_made("a", a); };
  collectively(sequence.runtime(), "set_all", argument_hash(value, shape_hash(a)), check, [&] {
    for_each_panel(a, [&](Index, const Data& values) {
      sequence.insert(FillValues<T>{.values = values, .value = value});
    });
    if (a.symmetry() == Symmetry::none) return;
    impose_symmetry(sequence, a);
  });
}

template <class T>
void add_on_diagonal(Sequence& sequence, T alpha, BlockSparseMatrix<T>& a) {
  const auto check = [&] {
    require_made("a", a);
    if (a.rows() != a.cols())
      throw InvalidArgument("a", fmt::format("{} x {}", a.rows(), a.cols()), "a square matrix");
    if (a.symmetry() == Symmetry::antisymmetric)
      throw InvalidArgument("a", "an antisymmetric matrix", "a matrix that may have a diagonal");
    require_factor("alpha", alpha, a.symmetry());
  };
  collectively(sequence.runtime(), "add_on_diagonal", argument_hash(alpha, shape_hash(a)), check, [&] {
    const BlockPatternPointer all =
        with_blocks(sequence, a.pattern_pointer(), blocks_on_diagonal(a.layout()));
    if (all != a.pattern_pointer()) enlarge(sequence, T(1), a, all);
    for (const Index p : panels_on_diagonal(a.pattern()))
      sequence.insert(
          AddOnDiagonal<T>{.blocks = a.pattern().blocks_of(p), .values = a.panel(p), .alpha = alpha});
  });
}

template <class T>
void set_diagonal(Sequence& sequence, std::span<const T> v, const BlockSparseMatrix<T>& a) {
  const auto check = [&] {
    require_made("a", a);
    require_length("v", v.size(), std::min(a.rows(), a.cols()));
    if (a.symmetry() == Symmetry::antisymmetric)
      throw InvalidArgument("a", "an antisymmetric matrix", "a matrix that may have a diagonal");
    for (const T x : v) require_factor("v", x, a.symmetry());
  };
  collectively(sequence.runtime(), "set_diagonal", shape_hash(a), check, [&] {
    const Data vector = make_task_list(a.runtime(), v);
    for (const Index p : panels_on_diagonal(a.pattern()))
      sequence.insert(SetDiagonal<T>{.blocks = a.pattern().blocks_of(p), .v = vector, .values = a.panel(p)});
  });
}

template <class T>
BlockSparseMatrix<T> hadamard_product(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                      const BlockSparseMatrix<T>& b) {
  const auto check = [&] {
    require_made("a", a);
    require_made("b", b);
    require_sizes("b", b.layout(), a.layout());
    product_symmetry<T>(a.symmetry(), b.symmetry());
  };
  return collectively(sequence.runtime(), "hadamard_product", argument_hash(shape_hash(a), shape_hash(b)),
                      check, [&] {
                        BlockLayout layout = a.layout(), places = a.layout();
                        layout.symmetry = product_symmetry<T>(a.symmetry(), b.symmetry());
                        places.symmetry = a.symmetry() == Symmetry::none ? Symmetry::none : b.symmetry();
                        // B where A is; the copies have B's symmetry, the product what comes of both.
                        BlockSparseMatrix<T> moved;
                        if (!b.layout().same_places(places)) moved = redistribute(sequence, b, places);
                        const BlockSparseMatrix<T>& there = moved.valid() ? moved : b;
                        BlockSparseMatrix<T> product =
                            zero_matrix<T>(sequence, intersect(a.pattern(), there.pattern(), layout));
                        copy_blocks(sequence, T(1), a, product);
                        const BlockPattern& pattern = product.pattern();
                        // The same blocks of B, unless B has no others.
                        BlockSparseMatrix<T> factor;
                        if (pattern.blocks() != there.pattern().blocks()) {
                          factor = zero_matrix<T>(sequence, product.pattern_pointer());
                          copy_blocks(sequence, T(1), there, factor);
                        }
                        const BlockSparseMatrix<T>& multiplier = factor.valid() ? factor : there;
                        for_each_panel(product, [&](Index p, const Data& values) {
                          sequence.insert(MultiplyPanel<T>{.x = multiplier.panel(p), .y = values});
                        });
                        return product;
                      });
}

template <class T>
void function_of_elements(Sequence& sequence, ElementFunction f, T first, T second,
                          const BlockSparseMatrix<T>& a) {
  const auto check = [&] { require_function(f, first, second, a); };
  const std::uint64_t hash = argument_hash(f, first, second, shape_hash(a));
  collectively(sequence.runtime(), "function_of_elements", hash, check, [&] {
    for_each_panel(a, [&](Index, const Data& values) {
      sequence.insert(FunctionOfPanel<T>{.values = values, .f = f, .first = first, .second = second});
    });
  });
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template void add<T>(Sequence&, T, BlockSparseMatrix<T>&, T, const BlockSparseMatrix<T>&);          \
  template Completion<OperationResult> submit_add<T>(T, BlockSparseMatrix<T>&, T,                     \
                                                     const BlockSparseMatrix<T>&);                    \
  template void scale<T>(Sequence&, T, const BlockSparseMatrix<T>&);                                  \
  template void scale_by_vector<T>(Sequence&, Side, std::span<const T>, const BlockSparseMatrix<T>&); \
  template void set_all<T>(Sequence&, T, const BlockSparseMatrix<T>&);                                \
  template void add_on_diagonal<T>(Sequence&, T, BlockSparseMatrix<T>&);                              \
  template void set_diagonal<T>(Sequence&, std::span<const T>, const BlockSparseMatrix<T>&);          \
  template BlockSparseMatrix<T> hadamard_product<T>(Sequence&, const BlockSparseMatrix<T>&,           \
                                                    const BlockSparseMatrix<T>&);                     \
  template void function_of_elements<T>(Sequence&, ElementFunction, T, T, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
