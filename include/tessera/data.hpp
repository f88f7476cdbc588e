// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include <tessera/runtime.hpp>

namespace tessera {

/// A column-major view of memory that somebody else owns.
template <class T>
struct MatrixView {
  /// The first element.
  T* data = nullptr;
  Index rows = 0;  ///< elements of a column
  Index cols = 0;  ///< elements of a row
  Index ld = 0;    ///< elements from one column to the next
  /// An element.
  T& operator()(Index i, Index j) const noexcept { return data[i + j * ld]; }
  /// The m x n elements from (row, col) on.
  MatrixView block(Index row, Index col, Index m, Index n) const noexcept {
    return {data + row + col * ld, m, n, ld};
  }
  /// The same, to be read only.
  template <class U>
  requires std::is_same_v<U, T>
  operator MatrixView<const U>() const noexcept { return {data, rows, cols, ld}; }
};

/// One piece of data that tasks read and write: an owning, movable handle. With MPI every rank registers
/// every piece, in the same order; memory exists only where the piece is owned or currently needed.
class Data {
 public:
  /// Owner of data of which every rank keeps and computes its own copy (small, bitwise equal).
  static constexpr int every_rank = -2;

  Data() = default;
  /// Takes over the handle.
  Data(Data&& other) noexcept { swap(other); }
  /// The other one has this one's piece then.
  Data& operator=(Data&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Data() { release(); }

  /// rows x cols matrix, allocated where it is first written (its first access must be a write).
  static Data matrix(Runtime& runtime, Index rows, Index cols, std::size_t element_bytes, int owner = 0);
  /// The same on memory of the caller (column-major, ld), of the host or of a GPU in use, which must outlive
  /// the handle. `memory` is used on the owner only.
  static Data wrap_matrix(Runtime& runtime, void* memory, Index rows, Index cols, Index ld,
                          std::size_t element_bytes, int owner = 0);
  /// `size` bytes, allocated where first written.
  /// `reserve`: memory for so many bytes is taken, and always kept for later pieces of the same reserve
  /// (see ReturnedMemory): for pieces that come again and again, a little smaller each time. 0: as needed.
  static Data bytes(Runtime& runtime, std::size_t size, int owner = 0, std::size_t reserve = 0);
  /// The same on memory of the caller, which must outlive the handle.
  static Data wrap_bytes(Runtime& runtime, void* memory, std::size_t size, int owner = 0);
  /// A work space of `size` bytes for each worker that asks for it (access mode scratch).
  static Data scratch(Runtime& runtime, std::size_t size);

  /// There is a piece.
  bool valid() const noexcept { return handle_ != nullptr; }
  /// The rank that holds it, or every_rank.
  int owner() const noexcept { return owner_; }
  /// This rank holds the piece.
  bool local() const noexcept;

  /// Frees the data once the tasks submitted so far have used it; returns at once. For wrapped memory it
  /// waits until the memory of the caller is up to date.
  void release();
  /// The same for wrapped memory that tasks have only read: returns at once.
  void release_unchanged();
  /// Drops the copies that other ranks received, once the submitted tasks have used them (multi-rank runs;
  /// else nothing).
  void flush_remote_copies() const;
  /// The same; calls `freed`, at once or on another thread, when the memory of the copy that this rank has
  /// received, or is about to, is free. Returns whether there is such a copy: if not, it is never called.
  bool flush_remote_copies(std::function<void()> freed) const;
  /// Drops the copy of another rank's piece that tasks on this rank have written, once it has gone to its owner.
  void drop_written_copy() const;
  /// Copies the piece to GPU number `gpu` of this rank, for tasks to come; nothing without GPUs. Waits until
  /// it is there; or returns at once, and the copy follows the tasks submitted so far (within a Sequence that
  /// is not over).
  void prefetch(int gpu, bool wait = true) const;
  /// Has the piece copied to host memory, if it is elsewhere, once the tasks submitted so far have used it;
  /// returns at once (within a Sequence that is not over).
  void fetch_to_host() const;
  /// Frees the copies in the memory of this rank's GPUs once the submitted tasks that write `other` are over,
  /// if nothing uses them then and the host has the contents, too; returns at once (within a Sequence that is
  /// not over).
  void free_gpu_copies_after(const Data& other) const;
  /// Drops the contents (memory is freed); the next access must be a write, which that of a WriteOrAdd
  /// operand is.
  void invalidate() const;

  /// Number of the GPU of its rank that the tasks which write the piece run on, if they have no say in it
  /// (TaskOptions::gpu); -1, at first: any worker.
  int gpu() const noexcept { return gpu_; }
  /// See gpu().
  void set_gpu(int gpu) noexcept { gpu_ = gpu; }

  /// The contents are of no use any more: the next WriteOrAdd operand writes.
  void forget() const noexcept { written_in_ = 0; }

  /// StarPU's handle, for the library.
  void* handle() const noexcept { return handle_; }
  /// Where it lives.
  Runtime* runtime() const noexcept { return runtime_; }

 private:
  Data(Runtime& runtime, void* handle, int owner, bool wrapped) noexcept
      : handle_(handle), runtime_(&runtime), owner_(owner), wrapped_(wrapped) {}
  void receives() const;
  void forget_received(std::function<void()> freed) const;
  template <class Register>
  static Data wrap(Runtime& runtime, void* memory, int owner, const Register& register_at);
  void swap(Data& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(runtime_, other.runtime_);
    std::swap(owner_, other.owner_);
    std::swap(gpu_, other.gpu_);
    std::swap(written_in_, other.written_in_);
    std::swap(received_, other.received_);
    std::swap(wrapped_, other.wrapped_);
    std::swap(exceptions_, other.exceptions_);
  }
  void* handle_ = nullptr;
  Runtime* runtime_ = nullptr;
  int owner_ = 0;
  int gpu_ = -1;
  friend class Sequence;
  mutable std::uint64_t written_in_ = 0;  ///< the last sequence that writes it; 0: none
  mutable bool received_ = false;         ///< this rank has, or waits for, a copy of another rank's piece
  bool wrapped_ = false;
  int exceptions_ = std::uncaught_exceptions();  ///< in flight when it was made
};

/// StarPU keeps the memory of released pieces for later ones of the same size: to allocate and free it costs
/// a GPU some tenths of a millisecond each time, and waits for its kernels. Of pieces that are made while one
/// of these is alive, and have at least `bytes`, it is given back instead.
class ReturnedMemory {
 public:
  /// From now on.
  ReturnedMemory(Runtime& runtime, std::size_t bytes);
  ~ReturnedMemory();
  ReturnedMemory(const ReturnedMemory&) = delete;
  ReturnedMemory& operator=(const ReturnedMemory&) = delete;

 private:
  Runtime& runtime_;
  std::size_t before_;
};

/// Host access to a piece that this rank holds: waits for the tasks submitted before, and holds later ones
/// back until it is destroyed.
class HostAccess {
 public:
  /// What the host does.
  enum class Mode { read, write, read_write };
  /// Waits for the piece.
  HostAccess(const Data& data, Mode mode);
  ~HostAccess();
  HostAccess(const HostAccess&) = delete;
  HostAccess& operator=(const HostAccess&) = delete;
  /// A piece that is a matrix.
  template <class T>
  MatrixView<T> matrix() const noexcept {
    return {static_cast<T*>(pointer_), rows_, cols_, ld_};
  }
  /// A piece that is bytes.
  template <class T>
  std::span<T> array() const noexcept {
    return {static_cast<T*>(pointer_), static_cast<std::size_t>(rows_) / sizeof(T)};
  }

 private:
  void* handle_;
  void* pointer_;
  Index rows_ = 0, cols_ = 1, ld_ = 0;
};

}  // namespace tessera
