// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/runtime/column_groups.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets of reduce_to_band for a matrix in column groups, each of which has its GPU: what panel_step.hpp
/// and the rank-2k update of two_sided.hpp do, cut where the groups work at the same time. Blocks of kb
/// columns are dealt to the groups, so an outer block and its panels are the columns of one group, their
/// owner. Of the trailing matrix A0 both triangles are valid: a group's rows of A0 V are the adjoint of its
/// columns times V, and no partial sums are needed.
///
///   panel of the owner:  V, T, W = V T              insert_group_panel
///   every group:         its rows of A0 V           insert_group_product
///   the owner:           Y = (A0 V) T, Z            insert_group_form_z
///   after kb columns, every group: A0 - V Z^H - Z V^H in its columns    insert_group_update
///
/// V and Z of a panel are pieces of their own, besides the owner's accumulator VZ: V goes to all groups at
/// once, which need no W, and Z follows while the next panel is factored.
///
/// `gpu`: see TaskOptions. `columns`: how the groups share the columns; its block is kb. VZ: n x 2 kb, as in
/// two_sided.hpp, one for each group. V and Z pieces: bytes of an m x b matrix (ld = m), the rows from r =
/// step.column + b on. Y pieces: bytes of at least columns.from(group, r) x b, which is what is used (ld =
/// the rows). Footprint: buffer sizes and what the arguments add. All run on CPUs and GPUs. Flops: in
/// brackets (complex: x 4). Sources: those of panel_qr.hpp and two_sided.hpp; ELPA's and MAGMA's
/// distribution of columns over GPUs.
namespace tessera {

/// Groups at most: their pieces travel as a kernel's argument.
inline constexpr int most_column_groups = 32;

/// Brings the panel's columns up to date, copies its diagonal block to the band, factors what is below: V
/// into VZ, into P's place and into its piece, T, and W = V T. Buffers: the owner's group (read-write, n x
/// columns), VZ (write if nothing is done yet, else read-write), band segment of the panel's columns
/// (read-write), workspace (scratch of panel_step_workspace_bytes); unless step.last(): T (b x b), W (n x b,
/// the rows from r on are used), V piece (write), else null. [with m = n - column - b: 4 m done b + 5 m b^2]
template <class T>
void insert_group_panel(Sequence& sequence, int priority, int gpu, const PanelStep& step,
                        const CyclicColumns& columns, const Data& group, const Data& vz, const Data& segment,
                        Index first_col, const Data& workspace, const Data* t, const Data* w, const Data* v);

/// Y piece := A0(r:n, the group's columns from r on)^H V. Buffers: group, V piece (read), Y piece (write).
/// [2 m b times the columns]
template <class T>
void insert_group_product(Sequence& sequence, int priority, int gpu, const PanelStep& step,
                          const CyclicColumns& columns, int number, const Data& group, const Data& v,
                          const Data& y);

/// Z into VZ and into its piece, from W, T and the Y pieces, of which null are those of groups without
/// columns from r on. Buffers: W, T (read), VZ (read-write), Z piece (write), workspace (scratch of
/// panel_step_workspace_bytes), Y pieces (read). [8 m done b + 6 m b^2]
template <class T>
void insert_group_form_z(Sequence& sequence, int priority, int gpu, const PanelStep& step,
                         const CyclicColumns& columns, const Data& w, const Data& t, const Data& vz,
                         const Data& z, const Data& workspace, std::span<const Data* const> y);

/// A0 := A0 - V Z^H - Z V^H in the group's columns from `row` on, rows from `row` on, after kb columns of
/// panels, row = the last of them + 1. Pieces of V and Z, panel by panel (empty for the owner, whose VZ holds
/// all): gathered in VZ. Buffers: group (read-write), VZ (read, or write with pieces), scratch of
/// update_workspace_bytes(columns of the group, kb), V, Z pieces (read). [4 kb times rows times columns]
template <class T>
void insert_group_update(Sequence& sequence, int priority, int gpu, const CyclicColumns& columns, int number,
                         Index row, Index b, const Data& group, const Data& vz, const Data& workspace,
                         std::span<const Data> v, std::span<const Data> z);

}  // namespace tessera
