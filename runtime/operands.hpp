// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/data.hpp>

/// Operands: how the struct of a task (task.hpp) names the pieces of data that it works on. Whoever inserts
/// the task gives pieces of data (or pointers, null for an absent operand); the body finds views of them
/// under the same names.
///
/// | type          | the task                                                                      |
/// |---------------|-------------------------------------------------------------------------------|
/// | Read<S>       | reads                                                                         |
/// | Write<S>      | writes all of it; the old content is lost                                     |
/// | ReadWrite<S>  | reads and writes                                                              |
/// | Accumulate<S> | adds, in any order among such tasks (rounding then depends on the order)      |
/// | WriteOrAdd<S> | writes if it is the first in its sequence to write the piece, else adds to it |
/// | Scratch<S>    | uses as work space of the worker; no contents                                 |
/// | GpuScratch<S> | the same, on GPUs only: no operand without GPUs                               |
/// | ReadOnHost<S> | reads in host memory, also on a GPU; comes before all other operands          |
///
/// For WriteOrAdd each copy of a piece of owner `every_rank` has its own first writer. With add_to(data) and
/// overwrite(data) the insertion chooses between adding and writing.
///
/// An operand that may be absent is declared with `{}`. S, the shape, is Matrix<T> (the view is a
/// MatrixView) or Array<T> (a std::span). One piece may stand for several operands of a task.
/// `std::array<Read<S>, n>` has up to n; `ReadAll<S>`, `ReadWriteAll<S>` and `WriteAll<S, ...>` any
/// number.
namespace tessera::detail {

/// How a task uses a piece of data.
enum class AccessMode { read, write, read_write, accumulate, scratch };
struct Access {
  const Data* data;
  AccessMode mode;
};

template <class T>
struct Matrix {
  using View = MatrixView<T>;
  using ConstView = MatrixView<const T>;
};
template <class T>
struct Array {
  using View = std::span<T>;
  using ConstView = std::span<const T>;
};

/// The memory of a buffer of a running task. Bytes are one column.
struct RawBuffer {
  void* pointer = nullptr;
  Index rows = 0, cols = 0, ld = 0;
};
RawBuffer raw_buffer(const void* starpu_interface) noexcept;

template <class View>
View view_of(const RawBuffer& raw) noexcept {
  if constexpr (requires { typename View::element_type; }) {
    using T = typename View::element_type;
    return View(static_cast<T*>(raw.pointer), static_cast<std::size_t>(raw.rows) / sizeof(T));
  } else {
    return View{static_cast<std::remove_reference_t<decltype(*View{}.data)>*>(raw.pointer), raw.rows,
                raw.cols, raw.ld};
  }
}

/// What the runtime sees of an operand, whatever its shape.
class OperandBase {
 public:
  OperandBase() = default;
  explicit OperandBase(const Data* data) noexcept : data_(data) {}
  const Data* data() const noexcept { return data_; }
  bool there() const noexcept { return data_ || raw_.pointer || buffer_ >= 0; }
  /// WriteOrAdd: the content of the piece stays, also from before the sequence.
  bool keeps() const noexcept { return keeps_; }
  void place(int buffer, bool first) noexcept {
    buffer_ = buffer;
    first_ = first;
  }
  void bind(void** buffers) noexcept {
    data_ = nullptr;
    if (buffer_ >= 0) raw_ = raw_buffer(buffers[buffer_]);
  }

 protected:
  const Data* data_ = nullptr;
  std::int32_t buffer_ = -1;  ///< of the running task
  bool first_ = false;        ///< WriteOrAdd: it writes
  bool keeps_ = false;
  RawBuffer raw_;
};

enum class OperandKind { plain, write_or_add, gpu_scratch, on_host };

/// A piece, and whether its content is kept.
struct Destination {
  const Data* data;
  bool keeps;
};

/// For a WriteOrAdd operand: the task adds to the content of the piece, also from before its sequence.
inline Destination add_to(const Data& data) noexcept {
  return {&data, true};
}
/// For a WriteOrAdd operand: the task writes, also if an earlier one of its sequence has.
inline Destination overwrite(const Data& data) noexcept {
  data.forget();
  return {&data, false};
}

template <class Shape, AccessMode access, OperandKind operand_kind = OperandKind::plain>
class Operand : public OperandBase {
 public:
  static constexpr AccessMode mode = access;
  static constexpr OperandKind kind = operand_kind;
  using View =
      std::conditional_t<access == AccessMode::read, typename Shape::ConstView, typename Shape::View>;

  Operand() = default;
  Operand(const Data& data) noexcept : OperandBase(&data) {}
  Operand(const Data* data) noexcept : OperandBase(data) {}
  Operand(const Destination& to) noexcept requires(operand_kind == OperandKind::write_or_add)
      : OperandBase(to.data) {
    keeps_ = to.keeps;
  }
  /// For bodies that are called without a runtime.
  Operand(const View& view) noexcept {
    if constexpr (requires { view.ld; })
      raw_ = {const_cast<void*>(static_cast<const void*>(view.data)), view.rows, view.cols, view.ld};
    else
      raw_ = {const_cast<void*>(static_cast<const void*>(view.data())), static_cast<Index>(view.size_bytes()),
              1, static_cast<Index>(view.size_bytes())};
  }

  /// The task has this operand.
  explicit operator bool() const noexcept { return there(); }

  // In the body:
  View view() const noexcept { return view_of<View>(raw_); }
  View operator*() const noexcept { return view(); }
  /// WriteOrAdd: the piece holds nothing yet.
  bool first() const noexcept requires(operand_kind == OperandKind::write_or_add) { return first_; }
  /// WriteOrAdd: the factor of the piece's content, as BLAS' beta: 0 if it has no content yet, else 1.
  int beta() const noexcept requires(operand_kind == OperandKind::write_or_add) { return first_ ? 0 : 1; }
};

template <class Shape>
using Read = Operand<Shape, AccessMode::read>;
template <class Shape>
using Write = Operand<Shape, AccessMode::write>;
template <class Shape>
using ReadWrite = Operand<Shape, AccessMode::read_write>;
template <class Shape>
using Accumulate = Operand<Shape, AccessMode::accumulate>;
template <class Shape>
using WriteOrAdd = Operand<Shape, AccessMode::read_write, OperandKind::write_or_add>;
template <class Shape>
using Scratch = Operand<Shape, AccessMode::scratch>;
template <class Shape>
using GpuScratch = Operand<Shape, AccessMode::scratch, OperandKind::gpu_scratch>;
template <class Shape>
using ReadOnHost = Operand<Shape, AccessMode::read, OperandKind::on_host>;

/// Any number of pieces that are read, written, or both; no other operand of the task is one of them. With several
/// shapes they come in groups: one of each shape, and again.
template <AccessMode access, class... Shapes>
class OperandList {
 public:
  static constexpr AccessMode mode = access;
  OperandList() = default;
  /// The pointers must live until the task is inserted.
  OperandList(std::span<const Data* const> data) noexcept
      : data_(data.data()), count_(static_cast<int>(data.size())) {}
  OperandList(const std::vector<const Data*>& data) noexcept
      : OperandList(std::span<const Data* const>(data)) {}
  /// Number of pieces, or groups.
  int size() const noexcept { return count_ / group; }

  /// In the body: the view, or a tuple of those of a group.
  auto operator[](int i) const noexcept {
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      if constexpr (group == 1)
        return (this->template view<Shapes>(i), ...);
      else
        return std::tuple(this->template view<Shapes>(group * i + static_cast<int>(k))...);
    }
    (std::index_sequence_for<Shapes...>{});
  }

  // For the runtime:
  std::span<const Data* const> pieces() const noexcept { return {data_, static_cast<std::size_t>(count_)}; }
  void place(int first) noexcept { first_ = first; }
  void bind(void** buffers) noexcept { buffers_ = buffers; }

 private:
  static constexpr int group = sizeof...(Shapes);
  template <class Shape>
  auto view(int piece) const noexcept {
    using View =
        std::conditional_t<access == AccessMode::read, typename Shape::ConstView, typename Shape::View>;
    return view_of<View>(raw_buffer(buffers_[first_ + piece]));
  }
  const Data* const* data_ = nullptr;
  void** buffers_ = nullptr;
  int first_ = 0, count_ = 0;
};

template <class Shape>
using ReadAll = OperandList<AccessMode::read, Shape>;
template <class... Shapes>
using WriteAll = OperandList<AccessMode::write, Shapes...>;
template <class Shape>
using ReadWriteAll = OperandList<AccessMode::read_write, Shape>;

/// In the body: the views of all matrices.
template <class T>
std::vector<MatrixView<const T>> views_of(const ReadAll<Matrix<T>>& matrices) {
  std::vector<MatrixView<const T>> views;
  for (int i = 0; i < matrices.size(); ++i) views.push_back(matrices[i]);
  return views;
}

/// The pointers that ReadAll and WriteAll take, of pieces that lie beside each other.
inline std::vector<const Data*> pointers_to(std::span<const Data> pieces) {
  std::vector<const Data*> pointers;
  for (const Data& piece : pieces) pointers.push_back(&piece);
  return pointers;
}

}  // namespace tessera::detail
