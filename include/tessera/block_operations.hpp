// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <span>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/completion.hpp>
#include <tessera/status.hpp>

/// Arithmetic with block-sparse matrices, products apart. All submit tasks and return; all ranks call them
/// with the same arguments.
///
/// Half-stored matrices stay what they are: what would break a matrix' symmetry is an error (a factor of a
/// hermitian matrix that is not real, a diagonal of an antisymmetric one). Real hermitian matrices are
/// symmetric ones.
///
/// @throws InvalidArgument, naming the argument, for a matrix that was never made and for what is said below;
/// before anything is submitted. All ranks throw what is wrong on one, also if their numbers differ.
namespace tessera {

/// A := alpha A + beta B; A's blocks become those of both, its layout stays. With a zero factor the values of
/// that matrix are not looked at. B may be A, and in any layout of the same block sizes.
/// @throws InvalidArgument if the sizes differ, A is half-stored and B's symmetry is another, or A is
/// hermitian and a factor is not real.
template <class T>
void add(Sequence& sequence, T alpha, BlockSparseMatrix<T>& a, T beta, const BlockSparseMatrix<T>& b);

/// The outcome of an operation that gives no number.
struct OperationResult : ResultStatus {};

/// add() in a sequence of its own: A is the sum for whoever uses it from now on.
template <class T>
Completion<OperationResult> submit_add(T alpha, BlockSparseMatrix<T>& a, T beta,
                                       const BlockSparseMatrix<T>& b);

/// A := alpha A; zeros with alpha = 0, whatever A was.
/// @throws InvalidArgument if A is hermitian and alpha not real.
template <class T>
void scale(Sequence& sequence, T alpha, const BlockSparseMatrix<T>& a);

/// A := diag(v) A (left) or A diag(v) (right); v has one entry for each row (column) of elements, on every
/// rank.
/// @throws InvalidArgument for another length, or a half-stored matrix.
template <class T>
void scale_by_vector(Sequence& sequence, Side side, std::span<const T> v, const BlockSparseMatrix<T>& a);

/// Every element of the stored blocks := value. Of half-stored matrices, of the lower half: the rest follows
/// from the symmetry (antisymmetric: -value above the diagonal, zero on it; hermitian: the conjugate above,
/// the real part on it). The values need not have been written before.
template <class T>
void set_all(Sequence& sequence, T value, const BlockSparseMatrix<T>& a);

/// Adds a multiple of the identity; blocks on the diagonal that are missing are made.
/// @throws InvalidArgument if A is not square, antisymmetric, or hermitian and alpha not real.
template <class T>
void add_on_diagonal(Sequence& sequence, T alpha, BlockSparseMatrix<T>& a);

/// The diagonal elements of stored blocks := v, of length min(rows(), cols()), on every rank.
/// @throws InvalidArgument for another length, an antisymmetric matrix, or an entry that is not real for a
/// hermitian one.
template <class T>
void set_diagonal(Sequence& sequence, std::span<const T> v, const BlockSparseMatrix<T>& a);

/// The elementwise product of A and B on the blocks that both have, in A's layout; B in any layout of the
/// same block sizes. Of matrices of one symmetry the product is half-stored, too: symmetric, of hermitian
/// ones hermitian, of a symmetric and an antisymmetric one antisymmetric.
/// @throws InvalidArgument if the sizes differ, or A is half-stored and the product has no symmetry.
template <class T>
BlockSparseMatrix<T> hadamard_product(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                      const BlockSparseMatrix<T>& b);

/// Every stored element := f(first * element + second). Outside f's domain NaN or infinity comes out; no task
/// fails.
/// @throws InvalidArgument for artanh, asin and truncate of complex matrices, and for what does not keep the
/// symmetry: of antisymmetric matrices only tanh, artanh, sin, asin and truncate are odd, with second = 0; of
/// hermitian ones first and second must be real, and square_root is not hermitian where a diagonal element
/// is negative, so refused.
template <class T>
void function_of_elements(Sequence& sequence, ElementFunction f, T first, T second,
                          const BlockSparseMatrix<T>& a);

/// The inverses of the diagonal blocks of A, alone: what preconditions a matrix that is nearly block-diagonal.
/// In A's layout: of a half-stored matrix the result has the same symmetry. A block that A does not store is
/// zero. One task a panel that has diagonal blocks: LU factorisation with partial pivoting.
///
/// A singular block, or one with a NaN or an infinity, is a failure of the sequence:
/// StatusCode::block_singular, whose index is the number of the block, from 1.
/// @throws InvalidArgument unless rows and columns have the same block sizes.
template <class T>
BlockSparseMatrix<T> block_diagonal_inverse(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// The Cholesky factors L of the diagonal blocks of A, D = L L^H, lower triangles with zeros above the
/// diagonal, in A's layout without symmetry. Of each block the lower triangle counts, and of its diagonal the
/// real part. One task a panel that has diagonal blocks.
///
/// A block that is not positive definite, or has a NaN, is a failure of the sequence:
/// StatusCode::block_not_positive_definite, whose index is the number of the block, from 1; so is a block
/// that A does not store, if it has elements.
/// @throws InvalidArgument unless rows and columns have the same block sizes, and for a half-stored matrix
/// that is not hermitian (real: symmetric).
template <class T>
BlockSparseMatrix<T> block_diagonal_cholesky(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// The inverses of those factors, L^-1, also lower triangles. Fails and throws as block_diagonal_cholesky.
template <class T>
BlockSparseMatrix<T> block_diagonal_inverse_cholesky(Sequence& sequence, const BlockSparseMatrix<T>& a);

}  // namespace tessera

/// Copies of block-sparse matrices and changes of which blocks they store. All ranks call them with the same
/// arguments, unless it says otherwise. Functions that take a Sequence submit tasks and return; the others
/// wait for the matrix' tasks.
///
/// A copy from a matrix without symmetry into a half-stored one takes its lower half, element by element: in
/// diagonal blocks the upper triangle becomes the mirror image of the lower one, the diagonal real
/// (hermitian) or zero (antisymmetric). Between half-stored matrices the symmetry must be the same (real
/// hermitian matrices are symmetric ones).
///
/// @throws InvalidArgument, naming the argument, for a matrix that was never made, block sizes that do not
/// fit, and what is said below; before anything is submitted. All ranks throw what is wrong on one.
namespace tessera {

/// Rows and columns of elements, [first_row, end_row) x [first_col, end_col).
struct ElementWindow {
  Index first_row = 0;                                ///< of the rows
  Index end_row = std::numeric_limits<Index>::max();  ///< of the rows, not in it
  Index first_col = 0;                                ///< of the columns
  Index end_col = std::numeric_limits<Index>::max();  ///< of the columns, not in it
  /// The same window.
  bool operator==(const ElementWindow&) const = default;
};

/// What is copied, and how.
struct CopyBlocksOptions {
  /// What is done to A first.
  Op op = Op::none;
  bool conjugated = false;  ///< the elements, after op: the adjoint conjugated is the transpose
  bool add = false;         ///< to what is there; else the copied elements replace it
  ElementWindow window{};   ///< of the destination: other elements stay. It may cut through blocks
};

/// B := factor op(A) (+ B) on the blocks that both store; the other blocks of B stay. The block sizes of B
/// are those of op(A); symmetry, owners and panels may differ: blocks that A has only by symmetry are copied,
/// too, where B stores them. Every change of distribution, transposition, desymmetrization or cut is this
/// copy. B must have values, unless it has A's very layout and blocks and all of them are replaced.
///
/// One task for each pair of panels between which something moves, on the owner of B's panel, reads a list of
/// its moves; where the layouts have the same places, one task a panel, in the longest pieces, or all at once
/// if the panel has the same blocks. The host's part is a walk over A's blocks; with several ranks over those
/// of each, which are named to the owners of the panels of B where they may be stored.
/// Copies of A's panels that other ranks received are dropped.
/// @throws InvalidArgument if the sizes differ, or B is A.
template <class T>
void copy_blocks(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                 const CopyBlocksOptions& options = {});

/// The blocks in `layout` that op(A) has there, as far as the layout stores them and the window touches them
/// (of size zero: only if the window is the whole matrix). Collective.
/// @throws InvalidArgument if the layout's sizes are not those of op(A).
template <class T>
BlockPatternPointer image_pattern(const BlockSparseMatrix<T>& a, const BlockLayout& layout, Op op = Op::none,
                                  const ElementWindow& window = {});

/// factor op(A), cut to a window (zero outside), in another layout. Collective.
template <class T>
BlockSparseMatrix<T> make_image(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a,
                                const BlockLayout& layout, Op op = Op::none, bool conjugated = false,
                                const ElementWindow& window = {});

/// A matrix of its own with the same blocks and values.
template <class T>
BlockSparseMatrix<T> copy(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// The same matrix in the other precision: double from float, float from double, likewise complex. Where it narrows, elements are
/// rounded; what is too large becomes infinite. Where it widens a half-stored matrix, its diagonal blocks, which products
/// leave symmetric to rounding alone, get the symmetry exactly, after their lower halves.
template <class To, class From>
BlockSparseMatrix<To> convert(Sequence& sequence, const BlockSparseMatrix<From>& a);

/// B := factor A on the blocks that B has; B's other blocks become zero, A's other blocks are left out. B's
/// values need not have been written before.
/// @throws InvalidArgument if B is hermitian and the factor not real.
template <class T>
void copy_into_existing(Sequence& sequence, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                        T factor = T(1));

/// A^T, or A^H if `conjugated`. Without symmetry the dimensions change places with their panels; owners
/// beyond the grid's rows (columns) are dealt out again, modulo their number. Half-stored matrices keep their
/// layout.
template <class T>
BlockSparseMatrix<T> transpose(Sequence& sequence, const BlockSparseMatrix<T>& a, bool conjugated = false);

/// The same matrix with both halves stored.
template <class T>
BlockSparseMatrix<T> desymmetrize(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// The same matrix in another layout of the same block sizes. Into a half-stored layout: its lower half.
template <class T>
BlockSparseMatrix<T> redistribute(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                  const BlockLayout& layout);

/// The blocks of a matrix without symmetry that hold elements (i, j) with i <= j: where rows and columns have
/// the same block sizes, those on and above the diagonal. Diagonal blocks whole, or, with `cut_diagonal`,
/// with zeros below the diagonal.
/// @throws InvalidArgument for a half-stored matrix.
template <class T>
BlockSparseMatrix<T> upper_triangle(Sequence& sequence, const BlockSparseMatrix<T>& a, bool cut_diagonal);

/// The blocks with equal row and column numbers alone, in the same layout.
/// @throws InvalidArgument unless rows and columns have the same block sizes.
template <class T>
BlockSparseMatrix<T> block_diagonal(Sequence& sequence, const BlockSparseMatrix<T>& a);

/// Replaces A by the matrix with additional blocks, zero where new. Each rank names any blocks; of a
/// half-stored matrix a block above the diagonal stands for its mirror image.
/// @throws InvalidArgument, on every rank, for a coordinate outside that any of them names.
template <class T>
void reserve_blocks(BlockSparseMatrix<T>& a, std::span<const BlockCoordinate> blocks);

/// Drops the blocks with ||A_ij||_F < eps (empty blocks have norm 0; a block with a NaN stays). Returns the
/// number dropped on all ranks together.
/// @throws InvalidArgument for a negative eps or NaN.
template <class T>
Index filter(BlockSparseMatrix<T>& a, double eps);

/// What a filter has done.
struct FilterResult : ResultStatus {
  Index dropped_blocks = 0;  ///< on all ranks together
  Index nonzero_blocks = 0;  ///< of these, with a norm above zero
};

/// filter(), whose blocks are found while the caller goes on. A is what it was until the completion's wait(),
/// and may be read until then, but neither changed nor destroyed.
template <class T>
Completion<FilterResult> submit_filter(BlockSparseMatrix<T>& a, double eps);

/// Drops all blocks. Waits for nothing.
template <class T>
void clear(BlockSparseMatrix<T>& a);

}  // namespace tessera

/// Numbers of block-sparse matrices. Collective; they wait for the matrices' tasks, but for those named
/// submit, many of which may be in flight. Half-stored matrices count in full. What they return is bitwise the same on all ranks and does not depend on the number of
/// workers: every panel is added up in the order of its storage, in double, the panels in their order
/// (gershgorin_norm and column_norms: each rank's panels in their order, then the ranks' sums).
///
/// @throws InvalidArgument, naming the argument, for a matrix that was never made or sizes that do not fit.
namespace tessera {

/// Squares of the Frobenius norms of the stored blocks, for each panel in the order of its blocks, on every
/// rank.
template <class T>
std::vector<std::vector<double>> block_norms_squared(const BlockSparseMatrix<T>& a);

/// The diagonal, of length min(rows(), cols()), zero where no block is stored, on every rank.
template <class T>
std::vector<T> get_diagonal(const BlockSparseMatrix<T>& a);

/// A number of a matrix that submitted tasks form.
template <class Number>
struct NumberResult : ResultStatus {
  Number value{};  ///< of the matrix as it was when the call was made
};

/// The sum of the diagonal.
template <class T>
T trace(const BlockSparseMatrix<T>& a);
/// The same: returns when its tasks are submitted. The matrix may change or go then.
template <class T>
Completion<NumberResult<T>> submit_trace(const BlockSparseMatrix<T>& a);

/// sum_ij conj(A_ij) B_ij, that is trace(A^H B); A and B in any layouts of the same block sizes. Where the
/// blocks of the two have not the same places, B is brought to A's first.
template <class T>
T dot(const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b);
/// The same: returns when its tasks are submitted. The matrices may change or go then.
template <class T>
Completion<NumberResult<T>> submit_dot(const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b);

/// The square root of the sum of all squared moduli.
template <class T>
double frobenius_norm(const BlockSparseMatrix<T>& a);
/// The same: returns when its tasks are submitted. The matrix may change or go then.
template <class T>
Completion<NumberResult<double>> submit_frobenius_norm(const BlockSparseMatrix<T>& a);

/// The largest modulus of an element; NaN if one is NaN.
template <class T>
double max_abs_norm(const BlockSparseMatrix<T>& a);

/// max_i sum_j |A_ij|, which bounds the eigenvalues (Gershgorin); NaN if an element is NaN.
template <class T>
double gershgorin_norm(const BlockSparseMatrix<T>& a);

/// The Euclidean norm of each column.
template <class T>
std::vector<double> column_norms(const BlockSparseMatrix<T>& a);

/// A number that depends on every element: sum_ij |A_ij|^2, or, with `by_position`,
///   sum_ij (Re A_ij + Im A_ij / 2) w_ij,
///   w_ij = 1/2 + frac((i + 1) (sqrt(5) - 1) / 2 + (j + 1) (sqrt(2) - 1)), i, j from 0,
/// which tells apart signs, conjugates and places. Independent of the distribution and of which zero blocks
/// are stored, up to rounding.
template <class T>
double checksum(const BlockSparseMatrix<T>& a, bool by_position = false);

/// Elements of stored blocks (in full) / elements; 0 for a matrix without elements. Waits for nothing.
template <class T>
double occupation(const BlockSparseMatrix<T>& a);

}  // namespace tessera

/// Block-sparse matrices to and from other formats in memory. The functions wait for the matrices' tasks and
/// are collective.
namespace tessera {

/// The whole matrix, both halves, column-major on every rank; for tests and small matrices.
template <class T>
std::vector<T> to_dense(const BlockSparseMatrix<T>& a);

/// The blocks of a dense matrix (given on every rank) that have an element with modulus above `threshold`, or
/// all of them with a negative one. Into a half-stored layout goes the lower half, of diagonal blocks all.
/// @throws InvalidArgument for a matrix that has not the layout's size.
template <class T>
BlockSparseMatrix<T> from_dense(Runtime& runtime, MatrixView<const T> dense, const BlockLayout& layout,
                                double threshold = 0);

/// Compressed sparse rows of the elements of some rows.
template <class T>
struct CompressedRows {
  /// Of the whole matrix.
  Index rows = 0, cols = 0;      ///< of the whole matrix
  std::vector<Index> row;        ///< numbers of the rows held here, ascending
  std::vector<Index> row_begin;  ///< for each of them, and the end
  std::vector<Index> column;     ///< ascending within a row
  /// The elements.
  std::vector<T> value;
};

/// Elements with modulus above `threshold` (all of the stored blocks if negative), both halves; block row i
/// goes to rank i mod size, or all to rank 0 with `on_root`.
template <class T>
CompressedRows<T> to_compressed_rows(const BlockSparseMatrix<T>& a, double threshold = 0,
                                     bool on_root = false);

/// The blocks that hold any of the elements. Each rank gives any rows, several may give the same row, and
/// columns may come in any order; elements given twice are added. Into a half-stored layout only elements on
/// and below the diagonal may be given; diagonal blocks are completed by the symmetry.
/// @throws InvalidArgument, on every rank, for arrays of any of them that do not fit each other, the layout
/// or its symmetry.
template <class T>
BlockSparseMatrix<T> from_compressed_rows(Runtime& runtime, const CompressedRows<T>& rows,
                                          const BlockLayout& layout);

}  // namespace tessera

/// Block-sparse matrices to and from dense ones in tiles (TiledMatrix). No rank holds the whole: a task for
/// each panel and tile that overlap copies what they share, on the rank of what it writes. Collective.
///
/// Tiles of one triangle (TileLayout::uplo) hold hermitian matrices (real: symmetric ones): of the tiles on
/// the diagonal that triangle counts, and the other half of the matrix is its mirror image.
namespace tessera {

/// Tiles that suit A: `tile` x `tile` elements on the most square grid of all ranks, the lower ones alone if A
/// is half-stored and hermitian (real: symmetric).
/// @throws InvalidArgument for a matrix that was never made, or a tile below 1.
template <class T>
TileLayout tile_layout_for(const BlockSparseMatrix<T>& a, Index tile);

/// The elements of A in tiles, zero where A stores no block. Submits tasks and returns. From a matrix without
/// symmetry tiles of one triangle take that triangle.
/// @throws InvalidArgument for another size than A's, and for tiles of one triangle where A is antisymmetric
/// or, complex, symmetric.
template <class T>
TiledMatrix<T> to_tiled(Sequence& sequence, const BlockSparseMatrix<T>& a, const TileLayout& layout);

/// The same into tiles that there are, of the caller's memory, for example; all of them are overwritten.
template <class T>
void copy_to_tiled(Sequence& sequence, const BlockSparseMatrix<T>& a, const TiledMatrix<T>& tiled);

/// The elements of the pattern's blocks; the others are left out. Submits tasks and returns. Into a
/// half-stored pattern: the lower half, also of diagonal blocks, whose upper triangles become the mirror image.
/// @throws InvalidArgument for another size than the pattern's, and for tiles of one triangle into a
/// half-stored pattern that is not hermitian (real: symmetric).
template <class T>
BlockSparseMatrix<T> from_tiled(Sequence& sequence, const TiledMatrix<T>& tiled, BlockPatternPointer pattern);

/// The blocks that have an element with modulus above `threshold` (or a NaN), or all of them with a negative
/// one. Which ones these are is waited for, and with that the tasks that write the tiles; the copy is
/// submitted.
/// @throws InvalidArgument as above
template <class T>
BlockSparseMatrix<T> from_tiled(Sequence& sequence, const TiledMatrix<T>& tiled, const BlockLayout& layout,
                                double threshold = 0);

}  // namespace tessera
