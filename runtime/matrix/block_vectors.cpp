// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tessera/block_vectors.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera {

using namespace detail;

RowSegments::RowSegments(std::vector<Index> begins, std::vector<int> owners, std::vector<int> gpus)
    : begins_(std::move(begins)), owners_(std::move(owners)), gpus_(std::move(gpus)) {
  if (begins_.size() != owners_.size() + 1)
    throw InvalidArgument("begins", fmt::format("{} numbers", begins_.size()),
                          fmt::format("one more than the {} owners", owners_.size()));
  if (!gpus_.empty() && gpus_.size() != owners_.size())
    throw InvalidArgument("gpus", fmt::format("{} numbers", gpus_.size()),
                          fmt::format("none, or as many as the {} owners", owners_.size()));
  if (begins_.front() != 0)
    throw InvalidArgument("begins", fmt::format("{} first", begins_.front()), "0 first");
  for (std::size_t s = 0; s < owners_.size(); ++s) {
    if (begins_[s] >= begins_[s + 1])
      throw InvalidArgument("begins", fmt::format("{} after {}", begins_[s + 1], begins_[s]),
                            "ascending rows");
    if (owners_[s] < 0) throw InvalidArgument("owners", fmt::format("{}", owners_[s]), "ranks");
  }
}

std::shared_ptr<const RowSegments> RowSegments::even(const Runtime& runtime, Index rows, Index count) {
  if (rows < 0) throw InvalidArgument("rows", fmt::format("{}", rows), "at least 0");
  if (count < 1) throw InvalidArgument("count", fmt::format("{}", count), "at least 1 segment");
  count = std::min(count, rows);
  std::vector<Index> begins{0};
  std::vector<int> owners, gpus;
  const Index gpus_of_rank = std::max(runtime.gpus(), 1);
  for (Index s = 0; s < count; ++s) {
    begins.push_back(rows * (s + 1) / count);
    const Index place = s * runtime.size() * gpus_of_rank / count;
    owners.push_back(static_cast<int>(place / gpus_of_rank));
    if (gpus_of_rank > 1) gpus.push_back(static_cast<int>(place % gpus_of_rank));
  }
  return std::make_shared<const RowSegments>(std::move(begins), std::move(owners), std::move(gpus));
}

Index RowSegments::segment_of(Index row) const noexcept {
  return std::upper_bound(begins_.begin(), begins_.end(), row) - begins_.begin() - 1;
}

std::uint64_t RowSegments::hash() const noexcept {
  const auto hash_of_bytes = [](const auto& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    return hash_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  return argument_hash(hash_of_bytes(begins_), hash_of_bytes(owners_), hash_of_bytes(gpus_));
}

template <class T>
BlockVectors<T>::BlockVectors(Runtime& runtime, std::shared_ptr<const RowSegments> segments, Index width)
    : segments_(std::move(segments)), width_(width) {
  const auto check = [&] {
    if (!segments_) throw InvalidArgument("segments", "null", "row segments");
    if (width < 1) throw InvalidArgument("width", fmt::format("{}", width), "at least 1 vector");
    for (Index s = 0; s < segments_->count(); ++s)
      if (segments_->owner(s) >= runtime.size())
        throw InvalidArgument("owners", fmt::format("{}", segments_->owner(s)), "ranks of the Runtime");
  };
  const std::uint64_t shape = runtime.size() > 1 && segments_ ? segments_->hash() : 0;
  collectively(runtime, "BlockVectors", argument_hash(sizeof(T), width, shape), check, [&] {
    for (Index s = 0; s < segments_->count(); ++s)
      data_.push_back(Data::matrix(runtime, width, segments_->size(s), sizeof(T), segments_->owner(s)));
  });
}

template <class T>
void BlockVectors<T>::check(const T* values, Index ld, Index columns) const {
  if (!values && columns > 0 && count() > 0) throw InvalidArgument("values", "null", "an array");
  if (columns < 0 || columns > width_)
    throw InvalidArgument("columns", fmt::format("{}", columns), fmt::format("0 to {}", width_));
  if (ld < columns) throw InvalidArgument("ld", fmt::format("{}", ld), fmt::format("at least {}", columns));
}

template <class T>
void BlockVectors<T>::set(const T* values, Index ld, Index columns) const {
  if (count() == 0) return check(values, ld, columns);
  collectively(
      *data_.front().runtime(), "BlockVectors::set", argument_hash(sizeof(T), columns, width_, count()),
      [&] { check(values, ld, columns); }, [&] { set_rows(values, ld, columns); });
}

template <class T>
void BlockVectors<T>::set_rows(const T* values, Index ld, Index columns) const {
  for (Index s = 0; s < count(); ++s) {
    segment(s).flush_remote_copies();  // no task marks the copies of the other ranks as out of date
    if (!segment(s).local()) continue;
    const HostAccess access(segment(s), HostAccess::Mode::write);
    const MatrixView<T> rows = access.matrix<T>();
    for (Index i = 0; i < segments_->size(s); ++i) {
      const T* const from = values + (segments_->begin(s) + i) * ld;
      T* const to = &rows(0, i);
      std::copy(from, from + columns, to);
      std::fill(to + columns, to + width_, T(0));
    }
  }
}

template <class T>
void BlockVectors<T>::get(T* values, Index ld, Index columns) const {
  if (count() == 0) return check(values, ld, columns);
  collectively(
      *data_.front().runtime(), "BlockVectors::get", argument_hash(sizeof(T), columns, width_, count()),
      [&] { check(values, ld, columns); }, [&] { get_rows(values, ld, columns); });
}

template <class T>
void BlockVectors<T>::get_rows(T* values, Index ld, Index columns) const {
  for (Index s = 0; s < count(); ++s) {
    std::vector<T> rows(static_cast<std::size_t>(columns * segments_->size(s)));
    if (segment(s).local()) {
      const HostAccess access(segment(s), HostAccess::Mode::read);
      for (Index i = 0; i < segments_->size(s); ++i)
        std::copy_n(&access.matrix<T>()(0, i), columns, rows.data() + i * columns);
    }
    segment(s).runtime()->broadcast(rows.data(), static_cast<Index>(rows.size() * sizeof(T)),
                                    segment(s).owner());
    for (Index i = 0; i < segments_->size(s); ++i)
      std::copy_n(rows.data() + i * columns, columns, values + (segments_->begin(s) + i) * ld);
  }
}

#define TESSERA_INSTANTIATE(T) template class BlockVectors<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
