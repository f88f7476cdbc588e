// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/block_elementwise_arguments.hpp>

namespace tessera {
namespace {

using namespace block_elementwise_codelets;

template <class T>
void symmetry_task(const TaskContext&, TaskBuffers buffers, const SymmetryArguments& arguments) {
  const auto values = buffers.array<T>(1);
  for (const PanelBlock& block : buffers.array<const PanelBlock>(0)) {
    if (block.block_row != block.block_col) continue;
    const MatrixView<T> a{values.data() + block.offset, block.rows, block.cols, block.rows};
    for (Index j = 0; j < a.cols; ++j) {
      if (arguments.symmetry == Symmetry::antisymmetric) a(j, j) = T(0);
      if (arguments.symmetry == Symmetry::hermitian) a(j, j) = T(real_part(a(j, j)));
      for (Index i = j + 1; i < a.rows; ++i) a(j, i) = mirrored(arguments.symmetry, a(i, j));
    }
  }
}

template <class T>
Codelet symmetry_codelet = make_codelet<SymmetryArguments, symmetry_task<T>>("impose_symmetry",
                                                                             type_letter<T>);

template <class T>
void cut_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const auto values = buffers.array<T>(1);
  for (const PanelBlock& block : buffers.array<const PanelBlock>(0))
    for (Index j = 0; j < block.cols; ++j) {
      const Index first = std::max<Index>(block.first_col + j + 1 - block.first_row, 0);
      for (Index i = first; i < block.rows; ++i)
        values[static_cast<std::size_t>(block.offset + i + j * block.rows)] = T(0);
    }
}

template <class T>
Codelet cut_codelet = make_codelet<NoArguments, cut_task<T>>("cut_below_diagonal", type_letter<T>);

template <class T>
void vector_task(const TaskContext&, TaskBuffers buffers, const SideArguments& arguments) {
  const T* const v = buffers.array<const T>(1).data();
  T* const values = buffers.array<T>(2).data();
  for (const PanelBlock& block : buffers.array<const PanelBlock>(0))
    for (Index j = 0; j < block.cols; ++j) {
      T* const column = values + block.offset + j * block.rows;
      const T by_column = arguments.side == Side::right ? v[block.first_col + j] : T(1);
      if (arguments.side == Side::left)
        for (Index i = 0; i < block.rows; ++i) column[i] *= v[block.first_row + i];
      else
        for (Index i = 0; i < block.rows; ++i) column[i] *= by_column;
    }
}

template <class T>
Codelet vector_codelet = make_codelet<SideArguments, vector_task<T>>("scale_by_vector", type_letter<T>);

/// Calls change(element (i, i), i) for the elements of the diagonal that the panel stores, in order.
template <class T, class Change>
void for_diagonal(std::span<const PanelBlock> blocks, T* values, const Change& change) {
  for (const PanelBlock& block : blocks) {
    const auto [first, end] = diagonal_part(block);
    for (Index i = first; i < end; ++i) change(values[diagonal_place(block, i)], i);
  }
}

template <class T>
void add_task(const TaskContext&, TaskBuffers buffers, const AddArguments<T>& arguments) {
  for_diagonal(buffers.array<const PanelBlock>(0), buffers.array<T>(1).data(),
               [&](T& element, Index) { element += arguments.alpha; });
}

template <class T>
Codelet add_codelet = make_codelet<AddArguments<T>, add_task<T>>("add_on_diagonal", type_letter<T>);

template <class T>
void set_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const T* const v = buffers.array<const T>(1).data();
  for_diagonal(buffers.array<const PanelBlock>(0), buffers.array<T>(2).data(),
               [&](T& element, Index i) { element = v[i]; });
}

template <class T>
Codelet set_codelet = make_codelet<NoArguments, set_task<T>>("set_diagonal", type_letter<T>);

template <class T>
void get_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  T* next = buffers.array<T>(2).data();
  for_diagonal(buffers.array<const PanelBlock>(0), buffers.array<const T>(1).data(),
               [&](const T& element, Index) { *next++ = element; });
}

template <class T>
Codelet get_codelet = make_codelet<NoArguments, get_task<T>>("get_diagonal", type_letter<T>);

}  // namespace

template <class T>
void insert_impose_symmetry(Sequence& sequence, int priority, Symmetry symmetry, const Data& blocks,
                            const Data& values) {
  sequence.insert(symmetry_codelet<T>, SymmetryArguments{symmetry}, {.priority = priority},
                  {read(blocks), read_write(values)});
}

template <class T>
void insert_cut_below_diagonal(Sequence& sequence, int priority, const Data& blocks, const Data& values) {
  sequence.insert(cut_codelet<T>, NoArguments{}, {.priority = priority}, {read(blocks), read_write(values)});
}

template <class T>
void insert_scale_by_vector(Sequence& sequence, int priority, Side side, const Data& blocks, const Data& v,
                            const Data& values) {
  sequence.insert(vector_codelet<T>, SideArguments{side}, {.priority = priority},
                  {read(blocks), read(v), read_write(values)});
}

template <class T>
void insert_add_on_diagonal(Sequence& sequence, int priority, T alpha, const Data& blocks,
                            const Data& values) {
  sequence.insert(add_codelet<T>, AddArguments<T>{alpha}, {.priority = priority},
                  {read(blocks), read_write(values)});
}

template <class T>
void insert_set_diagonal(Sequence& sequence, int priority, const Data& blocks, const Data& v,
                         const Data& values) {
  sequence.insert(set_codelet<T>, NoArguments{}, {.priority = priority},
                  {read(blocks), read(v), read_write(values)});
}

template <class T>
void insert_get_diagonal(Sequence& sequence, int priority, const Data& blocks, const Data& values,
                         const Data& diagonal) {
  sequence.insert(get_codelet<T>, NoArguments{}, {.priority = priority},
                  {read(blocks), read(values), write(diagonal)});
}

#define TESSERA_INSTANTIATE(T)                                                                          \
  template void insert_impose_symmetry<T>(Sequence&, int, Symmetry, const Data&, const Data&);          \
  template void insert_cut_below_diagonal<T>(Sequence&, int, const Data&, const Data&);                 \
  template void insert_scale_by_vector<T>(Sequence&, int, Side, const Data&, const Data&, const Data&); \
  template void insert_add_on_diagonal<T>(Sequence&, int, T, const Data&, const Data&);                 \
  template void insert_set_diagonal<T>(Sequence&, int, const Data&, const Data&, const Data&);          \
  template void insert_get_diagonal<T>(Sequence&, int, const Data&, const Data&, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
