// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <tessera/panel_vectors.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera {

using namespace detail;

template <class T>
PanelVectors<T>::PanelVectors(Runtime& runtime, BlockDimensionPointer dimension, Index width,
                              std::vector<int> owners)
    : runtime_(&runtime), dimension_(std::move(dimension)), width_(width), owners_(std::move(owners)) {
  const auto check_arguments = [&] {
    if (!dimension_) throw InvalidArgument("dimension", "null", "the blocks along the rows");
    if (width < 1) throw InvalidArgument("width", fmt::to_string(width), "at least 1 vector");
    if (!owners_.empty() && static_cast<Index>(owners_.size()) != dimension_->panels())
      throw InvalidArgument("owners", fmt::format("{} of them", owners_.size()),
                            fmt::format("none, or one for each of the {} panels", dimension_->panels()));
    for (const int owner : owners_)
      if (owner < 0 || owner >= runtime.size())
        throw InvalidArgument("owners", fmt::to_string(owner), fmt::format("0 to {}", runtime.size() - 1));
  };
  std::uint64_t shape = dimension_ ? argument_hash(dimension_->elements(), dimension_->panels()) : 0;
  for (const int owner : owners_) shape = argument_hash(shape, owner);
  collectively(runtime, "PanelVectors", argument_hash(sizeof(T), width, shape), check_arguments, [&] {
    for (Index p = 0; p < dimension_->panels(); ++p) {
      Index size = 0;
      for (const Index block : dimension_->panel(p)) size += dimension_->size(block);
      sizes_.push_back(size);
      if (static_cast<Index>(owners_.size()) == p) owners_.push_back(static_cast<int>(p % runtime.size()));
      segments_.push_back(
          size == 0 ? Data()
                    : Data::bytes(runtime, static_cast<std::size_t>(size * width) * sizeof(T), owner(p)));
    }
  });
}

template <class T>
void PanelVectors<T>::check(const T* values, Index ld) const {
  if (!valid()) throw InvalidArgument("vectors", "an empty object", "vectors");
  if (!values && rows() > 0) throw InvalidArgument("values", "null", "an array");
  if (ld < rows()) throw InvalidArgument("ld", fmt::to_string(ld), fmt::format("at least {}", rows()));
}

/// copy(first element of a vector, first row of the segment, rows) for each block of a panel.
template <class T>
template <class Copy>
void PanelVectors<T>::for_each_block(Index p, const Copy& copy) const {
  Index row = 0;
  for (const Index block : dimension_->panel(p)) {
    copy(dimension_->first(block), row, dimension_->size(block));
    row += dimension_->size(block);
  }
}

template <class T>
void PanelVectors<T>::set(const T* values, Index ld) const {
  if (!valid()) check(values, ld);
  const auto copy_in = [&](Index p) {
    segment(p).flush_remote_copies();  // no task marks the copies of the other ranks as out of date
    if (!segment(p).local()) return;
    const HostAccess access(segment(p), HostAccess::Mode::write);
    T* const to = access.template array<T>().data();
    for_each_block(p, [&](Index first, Index row, Index count) {
      for (Index k = 0; k < width_; ++k) std::copy_n(values + first + k * ld, count, to + row + k * size(p));
    });
  };
  collectively(
      *runtime_, "PanelVectors::set", argument_hash(sizeof(T), rows(), width_), [&] { check(values, ld); },
      [&] {
        for (Index p = 0; p < count(); ++p)
          if (segment(p).valid()) copy_in(p);
      });
}

template <class T>
void PanelVectors<T>::get(T* values, Index ld) const {
  if (!valid()) check(values, ld);
  const auto copy_out = [&](Index p) {
    std::vector<T> all(static_cast<std::size_t>(size(p) * width_));
    if (segment(p).local()) {
      const HostAccess access(segment(p), HostAccess::Mode::read);
      std::copy_n(access.template array<const T>().data(), all.size(), all.data());
    }
    runtime_->broadcast(all.data(), static_cast<Index>(all.size() * sizeof(T)), owner(p));
    for_each_block(p, [&](Index first, Index row, Index count) {
      for (Index k = 0; k < width_; ++k)
        std::copy_n(all.data() + row + k * size(p), count, values + first + k * ld);
    });
  };
  collectively(
      *runtime_, "PanelVectors::get", argument_hash(sizeof(T), rows(), width_), [&] { check(values, ld); },
      [&] {
        for (Index p = 0; p < count(); ++p)
          if (segment(p).valid()) copy_out(p);
      });
}

#define TESSERA_INSTANTIATE(T) template class PanelVectors<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
