// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/codelets/dense/panel_pairs.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera::test {
using namespace detail;
namespace {

/// Compares with a count of the columns one by one.
TEST(CyclicColumns, NumbersOfColumns) {
  for (const Index n : {1, 5, 12, 31})
    for (const Index block : {1, 3, 8})
      for (const int groups : {1, 2, 5}) {
        const CyclicColumns columns{n, block, groups};
        std::vector<Index> count(static_cast<std::size_t>(groups));
        for (Index column = 0; column < n; ++column) {
          const int g = columns.group_of(column);
          EXPECT_EQ(g, static_cast<int>((column / block) % groups));
          for (int h = 0; h < groups; ++h)
            EXPECT_EQ(columns.before(h, column), count[static_cast<std::size_t>(h)]);
          const Index local = count[static_cast<std::size_t>(g)]++;
          EXPECT_EQ(columns.local(column), local);
          EXPECT_EQ(columns.global(g, local), column);
        }
        for (int g = 0; g < groups; ++g) {
          EXPECT_EQ(columns.count(g), count[static_cast<std::size_t>(g)]);
          EXPECT_EQ(columns.from(g, 0), columns.count(g));
          EXPECT_EQ(columns.from(g, n), 0);
        }
      }
}

template <class T>
class ColumnGroupCodelets : public RuntimeTest<T> {
 public:
  static double tolerance(Index k) { return 20 * double(k + 2) * precision<T>; }
  static Matrix<T> columns_of(const Matrix<T>& a, const CyclicColumns& columns, int g) {
    Matrix<T> part(a.rows(), columns.count(g));
    for (Index j = 0; j < part.cols(); ++j)
      for (Index i = 0; i < a.rows(); ++i) part(i, j) = a(i, columns.global(g, j));
    return part;
  }
  /// The rows from `row` on, as a piece of bytes.
  static Data piece_of(const Matrix<T>& a, Index row) {
    const Index rows = a.rows() - row;
    Data data = Data::bytes(RuntimeTest<T>::runtime(), static_cast<std::size_t>(rows * a.cols()) * sizeof(T),
                            0, static_cast<std::size_t>(a.rows() * a.cols()) * sizeof(T));
    const HostAccess access(data, HostAccess::Mode::write);
    for (Index j = 0; j < a.cols(); ++j)
      for (Index i = 0; i < rows; ++i)
        access.array<T>()[static_cast<std::size_t>(i + j * rows)] = a(row + i, j);
    return data;
  }
  static Matrix<T> matrix_in(const Data& piece, Index rows, Index cols) {
    const HostAccess access(piece, HostAccess::Mode::read);
    Matrix<T> a(rows, cols);
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) a(i, j) = access.array<T>()[static_cast<std::size_t>(i + j * rows)];
    return a;
  }
};
TYPED_TEST_SUITE(ColumnGroupCodelets, Scalars);

/// The last group has no columns from row 16 on.
TYPED_TEST(ColumnGroupCodelets, ProductIsTheGroupsRows) {
  using T = TypeParam;
  const Index n = 19, b = 3;
  const CyclicColumns columns{n, 6, 3};
  const auto a = random_hermitian<T>(n, 1), v = random_matrix<T>(n, b, 2);
  for (const Index column : {0, 6, 9}) {
    const Index r = column + b, m = n - r;
    const auto expected = multiply(Op::none, a.block(r, r, m, m), Op::none, v.block(r, 0, m, b));
    const Data data_v = this->piece_of(v, r);
    for (int g = 0; g < 3; ++g) {
      const Index rows = columns.from(g, r), before = columns.before(g, r);
      if (rows == 0) continue;
      const Data group = upload(this->runtime(), this->columns_of(a, columns, g));
      const Data y = Data::bytes(this->runtime(), static_cast<std::size_t>(rows * b) * sizeof(T));
      ASSERT_TRUE(this->run([&](Sequence& s) {
        s.insert(GroupProduct<T>{.group = group,
                                 .v = data_v,
                                 .y = y,
                                 .part = {.columns = columns, .number = g, .row = r},
                                 .b = b});
      }));
      const auto result = this->matrix_in(y, rows, b);
      for (Index j = 0; j < b; ++j)
        for (Index i = 0; i < rows; ++i)
          EXPECT_LE(std::abs(result(i, j) - expected(columns.global(g, before + i) - r, j)),
                    this->tolerance(n));
    }
  }
}

/// For the owner, which has VZ in place, and for other groups, which get it in pieces.
TYPED_TEST(ColumnGroupCodelets, UpdateOfBothTriangles) {
  using T = TypeParam;
  const Index n = 29, b = 2, kb = 6, row = 12;
  const CyclicColumns columns{n, kb, 3};
  const auto a = random_hermitian<T>(n, 1), v = random_matrix<T>(n, kb, 2), z = random_matrix<T>(n, kb, 3);
  Matrix<T> vz(n, 2 * kb);
  vz.set_block(0, 0, v);
  vz.set_block(0, kb, z);
  const auto expected = multiply(Op::none, v, Op::adjoint, z, T(-1), T(1),
                                 multiply(Op::none, z, Op::adjoint, v, T(-1), T(1), a));
  std::vector<Data> v_pieces, z_pieces;
  for (Index p = 0; p < kb / b; ++p) {
    v_pieces.push_back(this->piece_of(v.block(0, p * b, n, b), row - kb + (p + 1) * b));
    z_pieces.push_back(this->piece_of(z.block(0, p * b, n, b), row - kb + (p + 1) * b));
  }
  const Data workspace = Data::scratch(this->runtime(), update_workspace_bytes<T>(columns.count(0), kb));
  for (int g = 0; g < 3; ++g)
    for (const bool owner : {true, false}) {
      const auto before = this->columns_of(a, columns, g);
      const Data group = upload(this->runtime(), before);
      const Data accumulator = owner ? upload(this->runtime(), in_pairs(vz, b))
                                     : Data::matrix(this->runtime(), n, 2 * kb, sizeof(T));
      ASSERT_TRUE(this->run([&](Sequence& s) {
        GroupUpdate<T> task{.group = group,
                            .workspace = workspace,
                            .part = {.columns = columns, .number = g, .row = row},
                            .b = b};
        std::vector<const Data*> of_v, of_z;
        for (const Data& piece : v_pieces) of_v.push_back(&piece);
        for (const Data& piece : z_pieces) of_z.push_back(&piece);
        if (owner) {
          task.vz = accumulator;
        } else {
          task.gathered = accumulator;
          task.v = of_v;
          task.z = of_z;
        }
        s.insert(task);
      }));
      const auto result = download<T>(group);
      for (Index j = 0; j < result.cols(); ++j)
        for (Index i = 0; i < n; ++i) {
          const Index column = columns.global(g, j);
          if (i < row || column < row)
            ASSERT_EQ(result(i, j), before(i, j)) << i << " " << column;
          else
            ASSERT_LE(std::abs(result(i, j) - expected(i, column)), this->tolerance(2 * kb))
                << i << " " << column;
        }
    }
}

/// Two panels of one outer block in the group that owns them, against the steps for a matrix in one
/// tile.
TYPED_TEST(ColumnGroupCodelets, PanelsAreThoseOfOneTile) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const Index n = 41, b = 4, kb = 8, c0 = 8;
  const CyclicColumns columns{n, kb, 3};
  const int owner = columns.group_of(c0);
  const auto a = random_hermitian<T>(n, 1);
  const Data whole = upload(runtime, a), vz_whole = Data::matrix(runtime, n, 2 * kb, sizeof(T)),
             vz = Data::matrix(runtime, n, 2 * kb, sizeof(T)),
             workspace = Data::scratch(runtime, panel_step_workspace_bytes<T>(n, b, kb)),
             w = Data::matrix(runtime, n, b, sizeof(T)),
             segment_whole = Data::matrix(runtime, 2 * b, 2 * b, sizeof(T)),
             segment = Data::matrix(runtime, 2 * b, 2 * b, sizeof(T)),
             t_whole = Data::matrix(runtime, b, kb, sizeof(T));
  std::vector<Data> groups, t, v, z, y;
  for (int g = 0; g < 3; ++g) {
    groups.push_back(upload(runtime, this->columns_of(a, columns, g)));
    y.push_back(Data::bytes(runtime, static_cast<std::size_t>(columns.count(g) * b) * sizeof(T)));
  }
  const auto bytes_from = [&](Index r) { return static_cast<std::size_t>((n - r) * b) * sizeof(T); };
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(SetZero<T>{.a = segment_whole});
    s.insert(SetZero<T>{.a = segment});
    const std::vector<const Data*> segments{&segment_whole};
    s.insert(PanelSteps<T>{.a = whole,
                           .vz = vz_whole,
                           .segments = segments,
                           .workspace = workspace,
                           .t = t_whole,
                           .panel = {.n = n, .column = c0, .done = 0, .kb = kb, .b = b}});
    for (Index done = 0; done < kb; done += b) {
      const PanelPosition panel{.n = n, .column = c0 + done, .done = done, .kb = kb, .b = b};
      const Index r = panel.row();
      t.push_back(Data::matrix(runtime, b, b, sizeof(T)));
      for (auto* data : {&v, &z}) data->push_back(Data::bytes(runtime, bytes_from(r)));
      s.insert(GroupPanel<T>{.group = groups[static_cast<std::size_t>(owner)],
                             .vz = vz,
                             .segment = segment,
                             .workspace = workspace,
                             .t = t.back(),
                             .w = w,
                             .v = v.back(),
                             .panel = panel,
                             .local_column = columns.local(panel.column),
                             .first_column = c0});
      std::vector<const Data*> pieces;
      for (int g = 0; g < 3; ++g) {
        const auto k = static_cast<std::size_t>(g);
        s.insert(GroupProduct<T>{.group = groups[k],
                                 .v = v.back(),
                                 .y = y[k],
                                 .part = {.columns = columns, .number = g, .row = r},
                                 .b = b});
        pieces.push_back(&y[k]);
      }
      s.insert(GroupFormZ<T>{.w = w,
                             .t = t.back(),
                             .vz = vz,
                             .z = z.back(),
                             .workspace = workspace,
                             .y = pieces,
                             .panel = panel,
                             .columns = columns});
    }
  }));
  const auto expected = download<T>(vz_whole), result = download<T>(vz);
  for (Index done = 0; done < kb; done += b) {
    const auto k = static_cast<std::size_t>(done / b);
    const Index r = c0 + done + b, m = n - r;
    for (const Index first : {v_column(done), z_column(done, b)}) {
      const auto block = result.block(r, first, m, b);
      EXPECT_LE(difference(block, expected.block(r, first, m, b)), this->tolerance(n)) << done;
      EXPECT_EQ(difference(this->matrix_in(first == v_column(done) ? v[k] : z[k], m, b), block), 0) << done;
    }
    EXPECT_LE(difference(download<T>(t[k]), download<T>(t_whole).block(0, done, b, b)), this->tolerance(n));
    // The reflectors must replace the panel.
    const auto columns_of_owner = download<T>(groups[static_cast<std::size_t>(owner)]);
    EXPECT_EQ(difference(columns_of_owner.block(r, columns.local(c0 + done), m, b),
                         result.block(r, v_column(done), m, b)),
              0);
  }
  EXPECT_LE(difference(download<T>(segment), download<T>(segment_whole)), this->tolerance(n));
}

}  // namespace
}  // namespace tessera::test
