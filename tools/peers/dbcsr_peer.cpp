// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dbcsr_peer.hpp"

#include <cstring>
#include <limits>

#include <tessera/error.hpp>

#include "process.hpp"

#if TESSERA_HAVE_DBCSR
#include <dbcsr.h>
#include <omp.h>

namespace tessera::program {

namespace {

/// DBCSR's names of its routines for a scalar type.
template <class T>
struct Routines;
#define TESSERA_DBCSR_ROUTINES(T, C_TYPE, LETTER, TYPE)                           \
  template <>                                                                     \
  struct Routines<T> {                                                            \
    using Native = C_TYPE;                                                        \
    static constexpr int type = TYPE;                                             \
    static constexpr auto* multiply = &c_dbcsr_multiply_##LETTER;                 \
    static constexpr auto* put_block = &c_dbcsr_put_block2d_##LETTER;             \
    static constexpr auto* next_block = &c_dbcsr_iterator_next_2d_block_##LETTER; \
  };
TESSERA_DBCSR_ROUTINES(float, float, s, dbcsr_type_real_4)
TESSERA_DBCSR_ROUTINES(double, double, d, dbcsr_type_real_8)
TESSERA_DBCSR_ROUTINES(std::complex<float>, float _Complex, c, dbcsr_type_complex_4)
TESSERA_DBCSR_ROUTINES(std::complex<double>, double _Complex, z, dbcsr_type_complex_8)
#undef TESSERA_DBCSR_ROUTINES

template <class T>
using Native = typename Routines<T>::Native;

/// The complex types of C and C++ have the same representation.
template <class T>
Native<T> native(T x) {
  Native<T> y;
  static_assert(sizeof x == sizeof y);
  std::memcpy(&y, &x, sizeof x);
  return y;
}

std::vector<int> sizes_of(const BlockDimension& dimension) {
  std::vector<int> sizes;
  for (const Index size : dimension.sizes()) sizes.push_back(static_cast<int>(size));
  return sizes;
}

/// Initializes DBCSR for this process only.
class Library {
 public:
  explicit Library(int threads) {
    Communicator::world();  // initialises MPI
    omp_set_num_threads(threads);
    const int extents[2] = {1, 1}, periodic[2] = {1, 1};
    MPI_Cart_create(MPI_COMM_SELF, 2, extents, periodic, 0, &grid_);
    MPI_Fint handle = MPI_Comm_c2f(MPI_COMM_SELF);
    c_dbcsr_init_lib_internal(&handle, nullptr);
  }
  ~Library() {
    c_dbcsr_clear_mempools();
    c_dbcsr_finalize_lib();
    MPI_Comm_free(&grid_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  MPI_Comm grid() const noexcept { return grid_; }

 private:
  MPI_Comm grid_ = MPI_COMM_NULL;
};

/// Owns a DBCSR matrix.
template <class T>
class Matrix {
 public:
  Matrix(const Library& library, const char* name, const BlockDimension& rows, const BlockDimension& cols) {
    std::vector<int> row_owners(static_cast<std::size_t>(rows.blocks()), 0),
        col_owners(static_cast<std::size_t>(cols.blocks()), 0);
    const std::vector<int> row_sizes = sizes_of(rows), col_sizes = sizes_of(cols);
    const int row_count = static_cast<int>(rows.blocks()), col_count = static_cast<int>(cols.blocks());
    MPI_Fint grid = MPI_Comm_c2f(library.grid());
    c_dbcsr_distribution_new_aux(&distribution_, &grid, row_owners.data(), row_count, col_owners.data(),
                                 col_count);
    const int type = Routines<T>::type;
    c_dbcsr_create_new(&matrix_, name, distribution_, dbcsr_type_no_symmetry, row_sizes.data(), row_count,
                       col_sizes.data(), col_count, nullptr, &type, nullptr, nullptr, nullptr, nullptr);
  }
  /// A copy.
  Matrix(const Matrix& other, const char* name) {
    c_dbcsr_copy(&matrix_, other.matrix_, name, nullptr, nullptr, nullptr, nullptr);
  }
  ~Matrix() {
    c_dbcsr_release(&matrix_);
    if (distribution_) c_dbcsr_distribution_release(&distribution_);
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  dbcsr_matrix handle() const noexcept { return matrix_; }

  void fill(const BlockSparseMatrix<T>* values) {
    if (values) put(*values);
    c_dbcsr_finalize(matrix_);
  }

  BlockMap<T> blocks() const {
    BlockMap<T> result;
    dbcsr_iterator iterator = nullptr;
    c_dbcsr_iterator_start(&iterator, matrix_, nullptr, nullptr, nullptr, nullptr, nullptr);
    while (c_dbcsr_iterator_blocks_left(iterator)) {
      int row = 0, col = 0, number = 0, rows = 0, cols = 0, row_offset = 0, col_offset = 0;
      bool transposed = false;
      Native<T>* block = nullptr;
      Routines<T>::next_block(iterator, &row, &col, &block, &transposed, &number, &rows, &cols, &row_offset,
                              &col_offset);
      const T* const first = reinterpret_cast<const T*>(block);
      result[{row, col}].assign(first, first + static_cast<std::ptrdiff_t>(rows) * cols);
    }
    c_dbcsr_iterator_stop(&iterator);
    return result;
  }

 private:
  /// Stores all blocks, including those that follow by symmetry.
  void put(const BlockSparseMatrix<T>& values) {
    BlockMap<T> blocks = all_blocks(values);
    std::vector<int> rows, cols;
    for (const auto& [place, block] : blocks) {
      rows.push_back(static_cast<int>(place.first));
      cols.push_back(static_cast<int>(place.second));
    }
    c_dbcsr_reserve_blocks(matrix_, rows.data(), cols.data(), static_cast<int>(rows.size()));
    const BlockPattern& pattern = values.pattern();
    for (auto& [place, block] : blocks)
      if (!block.empty())
        Routines<T>::put_block(matrix_, static_cast<int>(place.first), static_cast<int>(place.second),
                               reinterpret_cast<Native<T>*>(block.data()),
                               static_cast<int>(pattern.rows().size(place.first)),
                               static_cast<int>(pattern.cols().size(place.second)), nullptr, nullptr);
  }

  dbcsr_distribution distribution_ = nullptr;
  dbcsr_matrix matrix_ = nullptr;
};

}  // namespace

bool has_dbcsr() {
  return true;
}
std::string dbcsr_version() {
  return TESSERA_DBCSR_VERSION;
}

template <class T>
struct DbcsrPeer<T>::State {
  explicit State(int threads) : library(threads) {}
  struct Loaded {
    Loaded(const Library& library, const SparseProduct<T>& p, double filter_eps)
        : product(p),
          filter(filter_eps),
          runtime(p.c->runtime()),
          a(library, "A", p.a->pattern().rows(), p.a->pattern().cols()),
          b(library, "B", p.b->pattern().rows(), p.b->pattern().cols()),
          before(library, "C", p.c->pattern().rows(), p.c->pattern().cols()) {
      a.fill(p.a);
      b.fill(p.b);
      before.fill(p.c0);
    }
    SparseProduct<T> product;
    double filter;
    Runtime& runtime;
    Matrix<T> a, b, before;
  };
  Library library;
  std::unique_ptr<Loaded> loaded;
};

template <class T>
DbcsrPeer<T>::DbcsrPeer(int threads) : state_(std::make_unique<State>(threads)) {}

template <class T>
void DbcsrPeer<T>::load(const SparseProduct<T>& product, double filter) {
  if (product.c->symmetry() != Symmetry::none)
    throw InvalidArgument("--peer", "dbcsr", "a peer that takes a half-stored C (dense, or none)");
  state_->loaded.reset();
  state_->loaded = std::make_unique<typename State::Loaded>(state_->library, product, filter);
}

template <class T>
bool DbcsrPeer<T>::loaded() const {
  return state_->loaded != nullptr;
}

template <class T>
void DbcsrPeer<T>::unload() {
  state_->loaded.reset();
}

template <class T>
DbcsrPeer<T>::~DbcsrPeer() = default;

template <class T>
DbcsrProduct<T> DbcsrPeer<T>::multiply(bool with_blocks) {
  typename State::Loaded& state = *state_->loaded;
  const SparseProduct<T>& product = state.product;
  DbcsrProduct<T> result;
  Matrix<T> c(state.before, "C after");
  long long flop = 0;
  const bool retain = product.retain_sparsity;
  // One thread for BLAS, because DBCSR calls BLAS from each of its threads.
  state.runtime.run_exclusively(1, [&] {
    const double start = now();
    Routines<T>::multiply(static_cast<char>(product.op_a), static_cast<char>(product.op_b),
                          native(product.alpha), state.a.handle(), state.b.handle(), native(product.beta),
                          c.handle(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &retain,
                          state.filter > 0 ? &state.filter : nullptr, &flop);
    result.seconds = now() - start;
  });
  result.flop = static_cast<double>(flop);
  if (with_blocks) result.blocks = c.blocks();
  return result;
}

#else

namespace tessera::program {

bool has_dbcsr() {
  return false;
}
std::string dbcsr_version() {
  return {};
}

template <class T>
struct DbcsrPeer<T>::State {};

template <class T>
DbcsrPeer<T>::DbcsrPeer(int) {
  throw InvalidArgument("--peer", "dbcsr", "dense or none: this program was built without DBCSR");
}

template <class T>
void DbcsrPeer<T>::load(const SparseProduct<T>&, double) {}

template <class T>
bool DbcsrPeer<T>::loaded() const {
  return false;
}

template <class T>
void DbcsrPeer<T>::unload() {}

template <class T>
DbcsrPeer<T>::~DbcsrPeer() = default;

template <class T>
DbcsrProduct<T> DbcsrPeer<T>::multiply(bool) {
  return {};
}

#endif

#define TESSERA_INSTANTIATE(T) template class DbcsrPeer<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
