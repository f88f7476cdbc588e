// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/faults/fault_case.hpp>

#include <tessera/block_operations.hpp>
#include <tessera/block_sparse_files.hpp>
#include <tessera/multiply.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::test {
using namespace detail;
namespace {

const std::string different = "not the same on all ranks";
const std::vector<Index> sizes(12, 3);
const double infinite = std::numeric_limits<double>::infinity(),
             not_a_number = std::numeric_limits<double>::quiet_NaN();

BlockLayout layout_of(const Ranks& ranks) {
  return square_layout(sizes, Symmetry::none, ProcessGrid::squarest(ranks.runtime.size()), 6);
}

BlockSparseMatrix<double> matrix(const Ranks& ranks, std::uint64_t seed = 1, double occupation = 0.5) {
  return random_block_sparse<double>(ranks.runtime, layout_of(ranks), occupation, seed);
}

/// A case for an operation on one matrix.
template <class Call>
std::function<void(const Ranks&)> on_matrix(const Call& call) {
  return [call](const Ranks& ranks) {
    auto a = matrix(ranks);
    Sequence sequence(ranks.runtime);
    call(ranks, sequence, a);
    sequence.wait();
  };
}

/// A case for a product, with the arguments of the faulty rank.
struct Product {
  Op op = Op::none;
  double alpha = 1, beta = 1;
  MultiplyOptions options{};
};
std::function<void(const Ranks&)> product(const Product& wrong) {
  return [wrong](const Ranks& ranks) {
    const auto a = matrix(ranks, 1), b = matrix(ranks, 2);
    auto c = matrix(ranks, 3);
    const Product p = ranks.here() ? wrong : Product();
    std::ignore = multiply({.alpha = p.alpha, .a = {a, p.op}, .b = b, .beta = p.beta, .c = c}, p.options);
  };
}

/// Path of a file of this run, the same on all ranks.
std::string path_of(const std::string& name) {
  const char* const job = std::getenv("OMPI_MCA_ess_base_jobid");
  return (std::filesystem::temp_directory_path() / fmt::format("tessera_faults_{}_{}", job ? job : "0", name))
      .string();
}

/// The faulty rank has damaged a file that all ranks read.
template <class Read>
std::function<void(const Ranks&)> damaged(const std::string& name, const std::string& text,
                                          const Read& read) {
  return [=](const Ranks& ranks) {
    const std::string path = path_of(name);
    if (ranks.here()) std::ofstream(path) << text;
    ranks.runtime.barrier();
    struct Removal {
      std::string path;
      ~Removal() { std::filesystem::remove(path); }
    };
    std::unique_ptr<Removal> removal;
    if (ranks.runtime.rank() == 0) removal = std::make_unique<Removal>(path);
    read(ranks, path);
  };
}

const AddFaultCases operations({
    {"filter_eps",
     on_matrix([](const Ranks& ranks, Sequence&, auto& a) { filter(a, ranks.here() ? 0.1 : 0.2); }),
     different},
    {"filter_nan",
     on_matrix([](const Ranks& ranks, Sequence&, auto& a) { filter(a, ranks.here() ? not_a_number : 0); }),
     "eps = nan: expected at least 0"},
    {"scale_alpha",
     on_matrix([](const Ranks& ranks, Sequence& s, auto& a) { scale(s, ranks.here() ? 2.0 : 3.0, a); }),
     different},
    {"add_beta", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       const auto b = matrix(ranks, 2);
       add(s, 1.0, a, ranks.here() ? 0.0 : 1.0, b);
     }),
     different},
    {"add_on_diagonal_alpha", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       add_on_diagonal(s, ranks.here() ? 2.0 : 3.0, a);
     }),
     different},
    {"scale_by_vector_length", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       const std::vector<double> v(ranks.here() ? 7 : 36, 1.0);
       scale_by_vector<double>(s, Side::left, v, a);
     }),
     "v = 7 entries: expected 36 entries"},
    {"set_diagonal_length", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       const std::vector<double> v(ranks.here() ? 7 : 36, 1.0);
       set_diagonal<double>(s, v, a);
     }),
     "v = 7 entries: expected 36 entries"},
    {"redistribute_layout", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       const Index panel = ranks.here() ? 12 : 9;
       redistribute(s, a, square_layout(sizes, Symmetry::none, a.layout().grid, panel));
     }),
     different},
    {"redistribute_sizes", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       const std::vector<Index> other(12, ranks.here() ? 4 : 3);
       redistribute(s, a, square_layout(other, Symmetry::none, a.layout().grid, 6));
     }),
     "layout = rows of 12 blocks, 48 elements"},
    {"copy_blocks_options", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       const auto b = matrix(ranks, 2);
       copy_blocks(s, 1.0, b, a, {.add = ranks.here()});
     }),
     different},
    {"hadamard_never_made", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       const BlockSparseMatrix<double> none;
       hadamard_product(s, a, ranks.here() ? none : a);
     }),
     "b = an empty object: expected a matrix"},
    {"function_of_elements", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       function_of_elements(s, ranks.here() ? ElementFunction::sin : ElementFunction::tanh, 1.0, 0.0, a);
     }),
     different},
    {"different_reductions",
     on_matrix([](const Ranks& ranks, Sequence&, auto& a) { ranks.here() ? trace(a) : frobenius_norm(a); }),
     different},
    {"checksum_by_position",
     on_matrix([](const Ranks& ranks, Sequence&, auto& a) { checksum(a, ranks.here()); }), different},
    {"dot_of_other_sizes", on_matrix([](const Ranks& ranks, Sequence&, auto& a) {
       const std::vector<Index> other(12, 4);
       const auto b = random_block_sparse<double>(
           ranks.runtime, square_layout(other, Symmetry::none, a.layout().grid, 6), 0.5, 1);
       dot(a, ranks.here() ? b : a);
     }),
     "b = rows of 12 blocks, 48 elements"},
    {"transpose_conjugated",
     on_matrix([](const Ranks& ranks, Sequence& s, auto& a) { transpose(s, a, ranks.here()); }), different},
    {"reserve_outside", on_matrix([](const Ranks& ranks, Sequence&, auto& a) {
       const std::vector<BlockCoordinate> named{{0, ranks.here() ? 99 : 0}};
       reserve_blocks(a, named);
     }),
     "block column = 99: expected 0 to 11"},
    {"visit_throws",
     [](const Ranks& ranks) {
       guarded(ranks.runtime, [&] {
         const auto a = matrix(ranks, 1, 1.0);
         if (ranks.here())
           a.for_each_block([](Index, Index, MatrixView<const double>) { throw std::logic_error("seen"); });
         frobenius_norm(a);
       });
     },
     "seen"},
});

const AddFaultCases products({
    {"multiply_op", product({.op = Op::transpose}), different},
    {"multiply_alpha", product({.alpha = infinite}), "alpha = inf: expected a finite number"},
    {"multiply_beta", product({.beta = 2}), different},
    {"multiply_filter", product({.options = {.filter_eps = -1}}), "filter_eps = -1"},
    {"multiply_filter_of_one", product({.options = {.filter_eps = 1e-3}}), different},
    {"multiply_retain", product({.options = {.retain_sparsity = true}}), different},
    {"multiply_limits", product({.options = {.limits = {.first_col = 1000}}}),
     "limits of the columns = [1000"},
    {"multiply_other_matrix",
     [](const Ranks& ranks) {
       const auto a = matrix(ranks, 1), b = matrix(ranks, 2, 0.9);
       auto c = matrix(ranks, 3);
       std::ignore = multiply({.a = a, .b = ranks.here() ? a : b, .beta = 1.0, .c = c});
     },
     different},
});

const AddFaultCases matrices({
    {"layout_sizes",
     [](const Ranks& ranks) {
       make_block_layout(ranks.runtime, std::vector<Index>(12, ranks.here() ? 4 : 3), sizes);
     },
     different},
    {"layout_negative",
     [](const Ranks& ranks) {
       make_block_layout(ranks.runtime, std::vector<Index>(12, ranks.here() ? -1 : 3), sizes);
     },
     "block sizes = -1"},
    {"layout_grid",
     [](const Ranks& ranks) {
       BlockLayout layout = layout_of(ranks);
       if (ranks.here()) layout.grid.rows = 100;
       random_block_sparse<double>(ranks.runtime, layout, 0.5, 1);
     },
     "grid = 100 x"},
    {"random_seed", [](const Ranks& ranks) { matrix(ranks, ranks.here() ? 2 : 1); }, different},
    {"random_occupation", [](const Ranks& ranks) { matrix(ranks, 1, ranks.here() ? not_a_number : 0.5); },
     "occupation = nan: expected 0 to 1"},
    {"water_blocks_per_molecule",
     [](const Ranks& ranks) {
       water_block_sparse<double>(ranks.runtime, layout_of(ranks), 0.5, 1, ranks.here() ? 0 : 3);
     },
     "blocks_per_molecule = 0"},
    {"pattern_outside",
     [](const Ranks& ranks) {
       const std::vector<BlockCoordinate> named{{0, ranks.here() ? 99 : 0}};
       BlockPattern::make(ranks.runtime, layout_of(ranks), named);
     },
     "block column = 99"},
    {"builder_abandoned",
     [](const Ranks& ranks) {
       BlockSparseBuilder<double> builder(ranks.runtime, layout_of(ranks));
       builder.reserve_diagonal();
       if (ranks.here()) throw std::logic_error("I have given up");
       builder.finalize();
     },
     "given up"},
    {"builder_shape",
     [](const Ranks& ranks) {
       BlockSparseBuilder<double> builder(ranks.runtime, layout_of(ranks));
       const std::vector<double> values(9, 1.0);
       const Index rows = ranks.here() ? 2 : 3;
       for (Index i = 0; i < 12; ++i)
         for (Index j = 0; j < 12; ++j)
           if (builder.owner(i, j) == ranks.runtime.rank()) builder.put(i, j, {values.data(), rows, 3, rows});
       builder.finalize();
     },
     "values = 2 x 3: expected 3 x 3"},
    {"builder_layouts",
     [](const Ranks& ranks) {
       const Index panel = ranks.here() ? 12 : 6;
       BlockSparseBuilder<double> builder(
           ranks.runtime,
           square_layout(sizes, Symmetry::none, ProcessGrid::squarest(ranks.runtime.size()), panel));
       builder.finalize();
     },
     different},
    {"from_dense_size",
     [](const Ranks& ranks) {
       const std::vector<double> dense(36 * 36, 1.0);
       from_dense<double>(ranks.runtime, {dense.data(), ranks.here() ? 35 : 36, 36, 36}, layout_of(ranks));
     },
     "dense = 35 x 36: expected 36 x 36"},
    {"from_dense_threshold",
     [](const Ranks& ranks) {
       const std::vector<double> dense(36 * 36, 1.0);
       from_dense<double>(ranks.runtime, {dense.data(), 36, 36, 36}, layout_of(ranks), ranks.here() ? 1 : 2);
     },
     different},
    {"compressed_rows",
     [](const Ranks& ranks) {
       const CompressedRows<double> rows{36, 36, {0}, {0, 1}, {ranks.here() ? 36 : 0}, {1.0}};
       from_compressed_rows(ranks.runtime, rows, layout_of(ranks));
     },
     "column = 36: expected 0 to 35"},
    {"to_compressed_rows", [](const Ranks& ranks) { to_compressed_rows(matrix(ranks), 0.0, ranks.here()); },
     different},
});

const AddFaultCases whole_cases({
    {"whole_products",
     [](const Ranks& ranks) {
       const auto a = matrix(ranks, 1), b = matrix(ranks, 2);
       auto c = matrix(ranks, 3);
       std::ignore = multiply({.alpha = 2.0, .a = {a, Op::transpose}, .b = b, .beta = 1.0, .c = c},
                              {.filter_eps = 1e-3});
       std::ignore = multiply({.a = a, .b = b, .c = c}, {.dense = UseDense::always});
     },
     ""},
    {"whole_operations", on_matrix([](const Ranks& ranks, Sequence& s, auto& a) {
       const auto b = matrix(ranks, 2);
       add(s, 2.0, a, 1.0, b);
       auto c = hadamard_product(s, transpose(s, a), b);
       redistribute(s, c, square_layout(sizes, Symmetry::none, {.rows = ranks.runtime.size()}, 9));
       add_on_diagonal(s, 1.0, c);
       dot(a, b), gershgorin_norm(a), get_diagonal(a);
       filter(c, 0.1);
       from_compressed_rows(ranks.runtime, to_compressed_rows(c), c.layout());
       from_dense<double>(ranks.runtime, {to_dense(c).data(), 36, 36, 36}, c.layout());
     }),
     ""},
    {"whole_files",
     [](const Ranks& ranks) {
       const auto a = matrix(ranks);
       const std::string text = path_of("whole.mtx"), binary = path_of("whole.h5");
       write_matrix_market(text, a);
       read_matrix_market<double>(ranks.runtime, text, a.layout());
       write_hdf5(binary, a);
       read_hdf5<double>(ranks.runtime, binary);
       if (ranks.runtime.rank() == 0) std::filesystem::remove(text), std::filesystem::remove(binary);
     },
     ""},
});

const AddFaultCases files({
    {"read_missing_matrix_market",
     [](const Ranks& ranks) {
       read_matrix_market<double>(ranks.runtime, "/nonexistent/a.mtx", layout_of(ranks));
     },
     "/nonexistent/a.mtx: "},
    {"read_missing_hdf5", [](const Ranks& ranks) { read_hdf5<double>(ranks.runtime, "/nonexistent/a.h5"); },
     "/nonexistent/a.h5"},
    {"read_other_layouts",
     damaged("layouts.mtx", "%%MatrixMarket matrix coordinate real general\n36 36 0\n",
             [](const Ranks& ranks, const std::string& path) {
               const Index panel = ranks.here() ? 12 : 6;
               read_matrix_market<double>(
                   ranks.runtime, path,
                   square_layout(sizes, Symmetry::none, ProcessGrid::squarest(ranks.runtime.size()), panel));
             }),
     different},
    {"read_damaged_matrix_market",
     damaged("damaged.mtx", "%%MatrixMarket matrix coordinate real general\n36 36 2\n1 1 1.0\n99 1 1.0\n",
             [](const Ranks& ranks, const std::string& path) {
               read_matrix_market<double>(ranks.runtime, path, layout_of(ranks));
             }),
     "damaged.mtx:4: "},
    {"read_damaged_hdf5",
     damaged("damaged.h5", "no HDF5",
             [](const Ranks& ranks, const std::string& path) { read_hdf5<double>(ranks.runtime, path); }),
     "damaged.h5: "},
    {"read_of_other_size",
     damaged("small.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1.0\n",
             [](const Ranks& ranks, const std::string& path) {
               read_matrix_market<double>(ranks.runtime, path, layout_of(ranks));
             }),
     "add up to 36"},
    {"write_unwritable_matrix_market",
     [](const Ranks& ranks) { write_matrix_market("/nonexistent/a.mtx", matrix(ranks)); },
     "/nonexistent/a.mtx"},
    {"write_unwritable_hdf5", [](const Ranks& ranks) { write_hdf5("/nonexistent/a.h5", matrix(ranks)); },
     "/nonexistent/a.h5"},
    {"write_threshold",
     [](const Ranks& ranks) {
       write_matrix_market("/nonexistent/a.mtx", matrix(ranks), ranks.here() ? 1.0 : 2.0);
     },
     different},
});

}  // namespace
}  // namespace tessera::test
