// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/divide_and_conquer/kernels/deflate.hpp>

namespace tessera::detail::kernels {
namespace {

using divide_and_conquer::MergeRecord;
using divide_and_conquer::NodeSpectrum;

/// Rows in which a column of diag(Q1, Q2) can be nonzero; the numbers index MergeHeader's groups.
enum ColumnKind : Index { left_rows = 0, both_rows = 1, right_rows = 2 };

struct Workspace {
  double* d;  ///< by column of diag(Q1, Q2)
  double* z;
  Index* ascending;  ///< columns by ascending d
  Index* kind;       ///< ColumnKind of each column
  Index* slot;       ///< slot of each column
  Index* list;       ///< poles from the front, deflated columns from the back
};

/// Fills d, z, kind and the ascending order; returns max(|d|, |z|), or NaN.
double join_children(const NodeSpectrum& left, Index m1, const NodeSpectrum& right, Index m2, double sign,
                     const Workspace& w) noexcept {
  const double half = std::sqrt(0.5);
  double sum = 0, largest = 0;
  for (Index i = 0; i < m1 + m2; ++i) {
    const bool first = i < m1;
    w.d[i] = first ? left.value[i] : right.value[i - m1];
    w.z[i] = half * (first ? left.last_row[i] : sign * right.first_row[i - m1]);
    w.kind[i] = first ? left_rows : right_rows;
    largest = std::max({largest, std::abs(w.d[i]), std::abs(w.z[i])});
    sum += w.d[i] * 0 + w.z[i] * 0;
  }
  Index i = 0, j = m1, k = 0;
  while (i < m1 && j < m1 + m2) w.ascending[k++] = w.d[j] < w.d[i] ? j++ : i++;
  while (i < m1) w.ascending[k++] = i++;
  while (j < m1 + m2) w.ascending[k++] = j++;
  return largest + sum;
}

/// The pass over the ascending columns. Lists the poles in w.list[0..K) and the deflated columns in
/// w.list[K..m), the last one found first; the rotations hold columns instead of slots. Returns K.
Index find_poles(Index m, double rho, double tolerance, const Workspace& w, MergeRecord& record) noexcept {
  Index poles = 0, deflated = m, rotations = 0, candidate = -1;
  for (Index k = 0; k < m; ++k) {
    const Index next = w.ascending[k];
    if (rho * std::abs(w.z[next]) <= tolerance) {
      w.list[--deflated] = next;
      continue;
    }
    if (candidate < 0) {
      candidate = next;
      continue;
    }
    const double length = std::hypot(w.z[next], w.z[candidate]), gap = w.d[next] - w.d[candidate];
    const double c = w.z[next] / length, s = -w.z[candidate] / length;
    if (std::abs(gap * c * s) > tolerance) {
      w.list[poles++] = candidate;
      candidate = next;
      continue;
    }
    w.z[next] = length;
    w.z[candidate] = 0;
    if (w.kind[next] != w.kind[candidate]) w.kind[next] = w.kind[candidate] = both_rows;
    record.rotation_x[rotations] = candidate;
    record.rotation_y[rotations] = next;
    record.cosine[rotations] = c;
    record.sine[rotations] = s;
    ++rotations;
    const double low = w.d[candidate] * c * c + w.d[next] * s * s;
    w.d[next] = w.d[candidate] * s * s + w.d[next] * c * c;
    w.d[candidate] = low;
    w.list[--deflated] = candidate;
    candidate = next;
  }
  if (candidate >= 0) w.list[poles++] = candidate;
  record.header->rotations = rotations;
  return poles;
}

/// Gives each listed column a slot, grouped by kind, keeping the order of the list within a group.
void assign_slots(Index begin, Index end, const Workspace& w, Index* group, MergeRecord& record) noexcept {
  group[0] = group[1] = group[2] = 0;
  for (Index k = begin; k < end; ++k) ++group[w.kind[w.list[k]]];
  Index next[3] = {begin, begin + group[0], begin + group[0] + group[1]};
  for (Index k = begin; k < end; ++k) {
    const Index column = w.list[k], slot = next[w.kind[column]]++;
    w.slot[column] = slot;
    record.slot_column[slot] = column;
    record.value[slot] = w.d[column];
  }
}

}  // namespace

void deflate(const NodeSpectrum& left, Index m1, const NodeSpectrum& right, Index m2, double off_diagonal,
             double epsilon, MergeRecord& record, double* real_scratch, Index* index_scratch) noexcept {
  const Index m = m1 + m2;
  const Workspace w{real_scratch,      real_scratch + m,      index_scratch,
                    index_scratch + m, index_scratch + 2 * m, index_scratch + 3 * m};
  auto& header = *record.header;
  header = {};
  header.left = m1;
  header.right = m2;
  header.coupling = 2 * std::abs(off_diagonal);
  const double largest = join_children(left, m1, right, m2, off_diagonal < 0 ? -1.0 : 1.0, w);
  if (!std::isfinite(largest + header.coupling)) header.status = 1;
  // If the coupling or the matrix is zero, every z is negligible.
  const double rho = header.status ? 0.0 : header.coupling, tolerance = 8 * epsilon * largest;
  header.poles = header.status ? 0 : find_poles(m, rho, tolerance, w, record);
  if (header.status)
    for (Index i = 0; i < m; ++i) w.list[i] = i;
  const Index poles = header.poles;
  for (Index i = 0; i < poles; ++i) {
    record.pole[i] = w.d[w.list[i]];
    record.z[i] = w.z[w.list[i]];
  }
  // NaN has no order: after a failure the result is only a permutation, without meaning.
  if (!header.status)
    std::sort(w.list + poles, w.list + m,
              [&w](Index a, Index b) { return w.d[a] < w.d[b] || (w.d[a] == w.d[b] && a < b); });
  assign_slots(0, poles, w, header.pole_group, record);
  assign_slots(poles, m, w, header.deflated_group, record);
  for (Index i = 0; i < poles; ++i) record.pole_slot[i] = w.slot[w.list[i]];
  for (Index i = poles; i < m; ++i) record.deflated[i - poles] = w.slot[w.list[i]];

  for (Index slot = 0; slot < m; ++slot) {
    const Index column = record.slot_column[slot];
    record.first_row[slot] = column < m1 ? left.first_row[column] : 0.0;
    record.last_row[slot] = column < m1 ? 0.0 : right.last_row[column - m1];
  }
  for (Index r = 0; r < header.rotations; ++r) {
    const Index x = record.rotation_x[r] = w.slot[record.rotation_x[r]];
    const Index y = record.rotation_y[r] = w.slot[record.rotation_y[r]];
    const double c = record.cosine[r], s = record.sine[r];
    for (double* row : {record.first_row, record.last_row}) {
      const double turned = c * row[x] + s * row[y];
      row[y] = c * row[y] - s * row[x];
      row[x] = turned;
    }
  }
}

void order_spectrum(MergeRecord& record, bool rows, NodeSpectrum merged) noexcept {
  const Index m = record.order(), poles = record.poles();
  Index root = 0, rest = 0;
  for (Index c = 0; c < m; ++c) {
    const double from_root = root < poles ? record.base[root] + record.offset[root] : 0.0;
    const bool take_root =
        root < poles && (rest == m - poles || from_root <= record.value[record.deflated[rest]]);
    const Index source = take_root ? root++ : record.deflated[rest++];
    record.output[c] = source;
    merged.value[c] = take_root ? from_root : record.value[source];
    if (!rows) continue;
    merged.first_row[c] = take_root ? record.root_first[source] : record.first_row[source];
    merged.last_row[c] = take_root ? record.root_last[source] : record.last_row[source];
  }
}

void place_weights(const double* ascending, MergeRecord& record) noexcept {
  for (Index i = 0; i < record.poles(); ++i) record.weight[record.pole_slot[i]] = ascending[i];
}

}  // namespace tessera::detail::kernels
