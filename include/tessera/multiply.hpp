// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <limits>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/completion.hpp>
#include <tessera/runtime.hpp>
#include <tessera/statistics.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

/// @file
/// Products of block-sparse matrices, for float, double, complex<float>, complex<double>:
///
///   const auto r = multiply({.a = a, .b = {b, Op::transpose}, .c = c}, {.filter_eps = 1e-6});
///   if (!r) return fail(r.status().message());
///
/// The scalar type follows from the matrices.
namespace tessera {

/// Elements, half open, of the rows of op(A) and C, the columns of op(B) and C, and the columns of op(A) and
/// rows of op(B) that take part. They may cut through blocks. Outside, C stays as it is (beta does not reach
/// it).
struct MultiplyLimits {
  Index first_row = 0;                                ///< of the rows
  Index end_row = std::numeric_limits<Index>::max();  ///< of the rows, not in it
  Index first_col = 0;                                ///< of the columns
  Index end_col = std::numeric_limits<Index>::max();  ///< of the columns, not in it
  Index first_inner = 0;                              ///< of the inner dimension
  /// Of the inner dimension, not in it.
  Index end_inner = std::numeric_limits<Index>::max();
};

/// What a filter asks for.
enum class ProductFilterRule {
  exact,    ///< the products that it skips are skipped, DBCSR's rule
  at_least  ///< panels may be multiplied as dense ones all the same: nothing is skipped in these, and the error
            ///< of the filter is never larger
};

/// How a product is computed.
struct MultiplyOptions {
  /// eps of the filter; 0: none. A product A_ik B_kj of blocks is skipped if |alpha| ||A_ik||_F ||B_kj||_F <
  /// eps / max(1, number of blocks in block row i of op(A), limits or not); then, unless `retain_sparsity`,
  /// blocks of C with ||C_ij||_F < eps are dropped. Norms in double.
  double filter_eps = 0;
  ProductFilterRule filter = ProductFilterRule::exact;  ///< how strictly products are skipped
  bool retain_sparsity = false;                         ///< only the blocks that C has already are computed
  /// What a product has found of its patterns (the blocks of C, the lists of products, how blocks get into
  /// images) is kept with the Runtime, as its plan, for later products of the same patterns. Off: it is found
  /// anew, and not kept.
  bool reuse_plan = true;
  MultiplyLimits limits{};  ///< what takes part; everything if not set
  /// With several ranks: steps that the inner dimension is divided into. Other ranks' panels of A and B of at
  /// most three steps wait at a rank: more steps take less memory and more time. At most one for each inner
  /// panel; 0: as many as Cannon's algorithm has, the least common multiple of the grid's rows and columns.
  Index steps = 0;
  bool trace = false;           ///< of C, without the blocks that the filter drops: MultiplyResult::trace
  bool frobenius_norm = false;  ///< the same: MultiplyResult::frobenius_norm
  /// C's values are in host memory at the end, on their way there while the rest is computed (after
  /// submit_multiply they may still be on their way, and a reader waits). Otherwise they
  /// stay where they are computed (on a GPU, if there is one) until somebody reads them elsewhere.
  bool result_on_host = false;
  /// Whether the block products that an inner panel has for a panel of C are computed as one product of dense
  /// panels, with zeros where there are no blocks. Only where that gives the same products: with limits it is
  /// not done, with an exact filter on CPUs where it leaves none out, and on GPUs if it leaves none out at
  /// all.
  UseDense dense = UseDense::automatic;
  /// Which of C's blocks the filter drops is known before the others are where they stay. Null: the call waits for
  /// that. Else the tasks that copy them are left to this sequence, of C's Runtime, and C may be used at once as after
  /// any other operation of the sequence: its values are there when that has been waited for. Must outlive the call,
  /// of submit_multiply the Completion.
  Sequence* sequence = nullptr;
};

/// A factor of a product: a matrix, and what is done to it first.
template <class T>
class ProductFactor {
 public:
  /// op(matrix). The matrix is read until the product is over, but may go when the submitting call has
  /// returned.
  ProductFactor(const BlockSparseMatrix<T>& matrix, Op op = Op::none) noexcept : matrix_(&matrix), op_(op) {}
  /// The matrix.
  const BlockSparseMatrix<T>& matrix() const noexcept { return *matrix_; }
  /// What is done to it first.
  Op op() const noexcept { return op_; }

 private:
  const BlockSparseMatrix<T>* matrix_;
  Op op_;
};

/// C := alpha op(A) op(B) + beta C.
template <class T>
struct ProductProblem {
  T alpha = T(1);           ///< finite
  ProductFactor<T> a;       ///< any symmetry and distribution; may be C
  ProductFactor<T> b;       ///< any symmetry and distribution; may be C
  T beta = T(0);            ///< finite; 0: C's values are not read
  BlockSparseMatrix<T>& c;  ///< keeps its layout; its blocks become those that it had and the product has
  /// D: sum_ij conj(C_ij) D_ij, that is trace(C^H D), is formed, too (MultiplyResult::dot), without the blocks
  /// that the filter drops. In any layout of C's block sizes; may go when the submitting call has returned.
  const BlockSparseMatrix<T>* dot_with = nullptr;
};

/// What one shape of block products came to, on the workers of one kind.
struct ProductCount {
  Index m = 0;             ///< rows of the block of C
  Index n = 0;             ///< columns of the block of C
  Index k = 0;             ///< the inner dimension
  Index products = 0;      ///< of blocks
  Index cpu_products = 0;  ///< of these, on CPUs
  Index gpu_products = 0;  ///< of these, on GPUs
};

/// What one rank computed of a product.
struct RankCount {
  Index products = 0;  ///< of blocks
  double flop = 0;     ///< 2 m n k each, complex: 8 m n k
};

/// What a product did; the same on all ranks, but for times, bytes and statistics, which are this rank's. After a
/// failure the counts are zero.
struct MultiplyResult : ResultStatus {
  Index products = 0;        ///< of blocks
  bool plan_reused = false;  ///< an earlier product of the same patterns had left its plan
  double plan_bytes = 0;     ///< of the plan's lists on this rank: of products, on its GPUs, and of
                             ///< moves of blocks into images
  Index images = 0;          ///< matrices made of A and B to have them as C's distribution needs them
  Index images_reused = 0;   ///< of these, after the plan of an earlier product of the same patterns
  double image_bytes = 0;    ///< of the values copied into them, on this rank
  /// Of panels of A and B (and of norms, with a filter) of other ranks that this rank had asked for, and had
  /// received or not, and had not freed, while C's values were computed: the most at a time.
  double remote_bytes_peak = 0;
  double flop = 0;                   ///< 2 m n k each, complex: 8 m n k
  Index filtered_products = 0;       ///< skipped by their norms, of those for blocks that C may have
  Index filtered_blocks = 0;         ///< of C, not zero, and dropped after the product
  Index panel_products = 0;          ///< pairs of panels of A and B that have products for a panel of C
  Index dense_panel_products = 0;    ///< of these, computed as products of dense panels
  double frobenius_norm = 0;         ///< of C, if it was asked for
  std::complex<double> trace = 0;    ///< of C, likewise
  std::complex<double> dot = 0;      ///< with D, likewise
  std::vector<ProductCount> shapes;  ///< in descending order of products
  std::vector<RankCount> ranks;      ///< for each rank: whether the work is dealt evenly
  double seconds = 0;                ///< all, from the call to the end of the wait for it
  double symbolic_seconds = 0;       ///< until C's blocks are known, and the tasks that list products, spread
                                     ///< over the workers
  double image_seconds = 0;       ///< submitting the tasks that make images, with their plans if they are new
  double numeric_seconds = 0;     ///< from then to the end of the wait
  SequenceStatistics statistics;  ///< of the numeric phase
};

/// Submits C := alpha op(A) op(B) + beta C. Returns when C's blocks are known (the symbolic phase waits) and
/// the tasks that compute its values are submitted. From then on C is the product for whoever uses it:
/// further operations follow in order, a reader waits. With a filter that drops blocks, which are known at the
/// end alone, C becomes the product in the completion's wait() and must not be used before, except as A or B of
/// products that were submitted earlier; many such products may be under way. With several ranks the call may
/// wait for the first of these tasks before it submits the last (see below). If the numeric phase fails, C's
/// values are undefined.
///
/// A, B and C may have any symmetry and any distribution. If C is half-stored, op(A) op(B) must have C's
/// symmetry within the limits (what is above the diagonal is not computed). C keeps its layout; its blocks
/// become those that it had and those that the product has (see MultiplyOptions).
///
/// C's owner computes: op(A) is brought to the rows' distribution of C, op(B) to the columns', with one panel
/// grid between them, where they are not so already: by an image, once if both are the same. An image of a
/// half-stored matrix in a layout that fits shares the panels that are stored; only those on the diagonal and of
/// the other half are made. First tasks count, for each panel of C, the blocks
/// and the products (symbolic phase; the numeric one must wait for the size of C's panels), unless an earlier
/// product of the same blocks has left its plan. On CPUs one task then computes the products of up to 32 inner
/// panels for a panel of C, where blocks are small, else of one. With GPUs all of it runs there: tasks list the
/// products, by shape and by block of C (a stack), of up to 64 inner panels, and one task computes those of a
/// stack. The inner panels of one panel of C follow in a fixed order, which begins elsewhere in each row and
/// column of panels: results do not depend on the schedule.
///
/// With several ranks these go through the inner panels in steps (Cannon's algorithm): in a step each rank
/// multiplies with some inner panels for all its panels of C, ranks of a row or column of the grid with
/// different ones, so that transfers are spread. The next step's panels of A and B travel meanwhile. No rank
/// begins to submit a step before all have freed what they received for the second but last: other ranks'
/// panels of at most three steps wait at a rank (MultiplyOptions::steps). With GPUs a task takes one inner
/// panel then.
///
/// Where enough of a dense product would be computed, panels of A and B are expanded to dense arrays, once
/// each, and multiplied as such, which is added to C after all other products for its panel. Products, shapes
/// and flops are counted as if they were computed block by block. An infinite or undefined element of A then
/// makes NaN of its row in the panel of C, also where it met no block of B; likewise one of B.
///
/// Blocks without elements take part in nothing, and no block of C is made for them. With beta = 0 C's values
/// are not read. A and B may be C itself.
///
/// Collective.
/// Source: L. E. Cannon, A cellular computer to implement the Kalman filter algorithm (1969), for the steps;
/// O. Schuett, P. Messmer, J. Hutter, J. VandeVondele, GPU-accelerated sparse matrix-matrix
/// multiplication for linear scaling density functional theory (2016), for the layers; the filter is that of
/// DBCSR.
/// @throws InvalidArgument for block sizes that do not fit, a filter that is negative or no number, limits
/// outside the matrix or reversed, alpha or beta that are not finite, a beta that is not real for a Hermitian
/// C, operands of another Runtime, or panels too large for 32-bit offsets (2^31 elements or products); if the
/// numbers or options are not the same on all ranks. RuntimeError if a GPU has no room for the panels of a
/// stack and their list of products. All ranks throw what is wrong on one.
template <class T>
Completion<MultiplyResult> submit_multiply(Runtime& runtime, const ProductProblem<T>& problem,
                                           const MultiplyOptions& options = {});

/// The same, and returns when C is complete. If it fails, C is what it was, unless it kept its blocks and
/// beta is 1: then its values are undefined.
template <class T>
[[nodiscard]] MultiplyResult multiply(Runtime& runtime, const ProductProblem<T>& problem,
                                      const MultiplyOptions& options = {});
/// The same on C's Runtime.
template <class T>
[[nodiscard]] MultiplyResult multiply(const ProductProblem<T>& problem, const MultiplyOptions& options = {});

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_MULTIPLY(T)                                                                             \
  inline Completion<MultiplyResult> submit_multiply(Runtime& runtime, const ProductProblem<T>& problem, \
                                                    const MultiplyOptions& options = {}) {              \
    return submit_multiply<T>(runtime, problem, options);                                               \
  }                                                                                                     \
  [[nodiscard]] inline MultiplyResult multiply(Runtime& runtime, const ProductProblem<T>& problem,      \
                                               const MultiplyOptions& options = {}) {                   \
    return multiply<T>(runtime, problem, options);                                                      \
  }                                                                                                     \
  [[nodiscard]] inline MultiplyResult multiply(const ProductProblem<T>& problem,                        \
                                               const MultiplyOptions& options = {}) {                   \
    return multiply<T>(problem, options);                                                               \
  }
TESSERA_FOR_SCALARS(TESSERA_MULTIPLY)
#undef TESSERA_MULTIPLY
/// @endcond

}  // namespace tessera
