// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/runtime/runtime.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera {

void Runtime::all_reduce_max(double* values, Index count) const {
  if (size_ > 1)
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_DOUBLE, MPI_MAX,
                  detail_->host_communicator);
}

void Runtime::all_reduce_sum(double* values, Index count) const {
  if (size_ > 1)
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
                  detail_->host_communicator);
}

void Runtime::broadcast(void* bytes, Index count, int root) const {
  if (size_ == 1) return;
  // MPI counts in 32 bits: much goes in rounds.
  constexpr Index most = Index(1) << 30;
  for (Index first = 0; first < count; first += most)
    MPI_Bcast(static_cast<std::byte*>(bytes) + first, static_cast<int>(std::min(most, count - first)),
              MPI_BYTE, root, detail_->host_communicator);
}

std::vector<std::vector<std::byte>> Runtime::all_gather(std::span<const std::byte> bytes) const {
  constexpr int everywhere = -1;
  return gather_rounds(bytes, everywhere);
}

std::vector<std::vector<std::byte>> Runtime::gather(std::span<const std::byte> bytes, int root) const {
  return gather_rounds(bytes, root);
}

/// To one rank, or to all if `root` is negative.
std::vector<std::vector<std::byte>> Runtime::gather_rounds(std::span<const std::byte> bytes, int root) const {
  const auto ranks = static_cast<std::size_t>(size_);
  const bool receives = root < 0 || root == rank_;
  std::vector<std::vector<std::byte>> all(receives ? ranks : 0);
  if (size_ == 1) {
    all[0].assign(bytes.begin(), bytes.end());
    return all;
  }
  std::vector<Index> counts(ranks);
  const auto mine = static_cast<Index>(bytes.size());
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, counts.data(), sizeof mine, MPI_BYTE,
                detail_->host_communicator);
  // MPI counts in 32 bits: long pieces go in rounds.
  constexpr Index most_of_all = Index(1) << 30;
  const Index most = most_of_all / size_, longest = *std::max_element(counts.begin(), counts.end());
  for (Index first = 0; first < longest; first += most) {
    const auto part = [&](Index count) { return std::clamp<Index>(count - first, 0, most); };
    std::vector<int> parts, places;
    int total = 0;
    for (const Index count : counts) {
      parts.push_back(static_cast<int>(part(count)));
      places.push_back(total);
      total += parts.back();
    }
    std::vector<std::byte> received(receives ? static_cast<std::size_t>(total) : 0);
    const std::byte* const from = bytes.data() + std::min(first, mine);
    if (root < 0)
      MPI_Allgatherv(from, static_cast<int>(part(mine)), MPI_BYTE, received.data(), parts.data(),
                     places.data(), MPI_BYTE, detail_->host_communicator);
    else
      MPI_Gatherv(from, static_cast<int>(part(mine)), MPI_BYTE, received.data(), parts.data(), places.data(),
                  MPI_BYTE, root, detail_->host_communicator);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      all[rank].insert(all[rank].end(), received.begin() + places[rank],
                       received.begin() + places[rank] + parts[rank]);
  }
  return all;
}

void Runtime::barrier() const {
  if (size_ > 1) MPI_Barrier(detail_->host_communicator);
}

void Runtime::all_reduce_first_failure(double key[3]) const {
  if (size_ == 1) return;
  std::vector<double> all(3 * static_cast<std::size_t>(size_));
  MPI_Allgather(key, 3, MPI_DOUBLE, all.data(), 3, MPI_DOUBLE, detail_->host_communicator);
  for (int rank = 0; rank < size_; ++rank) {
    const double* other = &all[3 * static_cast<std::size_t>(rank)];
    if (other[2] == 0) continue;
    const bool earlier = key[2] == 0 || other[0] > key[0] || (other[0] == key[0] && other[1] > key[1]);
    if (earlier) std::copy(other, other + 3, key);
  }
}

}  // namespace tessera
