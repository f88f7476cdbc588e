// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <memory>

#include <tessera/runtime.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/fault_points.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

namespace {

/// MPI counts in 32 bits: much goes in rounds.
constexpr Index max_values = Index(1) << 26, max_bytes = Index(1) << 26;

/// Memory that MPI uses. If another rank fails during the operation the memory is never freed: messages under
/// way may still arrive.
template <class T>
class Buffer {
 public:
  /// @param numbers beside the values: counts and places, which MPI reads until the end
  explicit Buffer(Index count, Index numbers = 0)
      : memory_(new Memory{std::vector<T>(static_cast<std::size_t>(count)),
                           std::vector<int>(static_cast<std::size_t>(numbers))}) {}
  ~Buffer() {
    if (pending_) (void)memory_.release();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* data() noexcept { return memory_->values.data(); }
  int* numbers() noexcept { return memory_->numbers.data(); }

  /// Waits for the operation that start(request) starts, or throws the failure of another rank.
  template <class Start>
  void transfer(Runtime::Detail& detail, const Start& start) {
    transfer_all(detail, [&](std::vector<MPI_Request>& requests) { start(&requests.emplace_back()); });
  }
  /// The same for all operations that start(requests) starts.
  template <class Start>
  void transfer_all(Runtime::Detail& detail, const Start& start) {
    fault_point();
    detail.require_no_alarm();
    std::vector<MPI_Request> requests;
    pending_ = true;
    start(requests);
    for (MPI_Request& request : requests) {
      int done = 0;
      for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        detail.require_no_alarm();
    }
    pending_ = false;
  }

 private:
  struct Memory {
    std::vector<T> values;
    std::vector<int> numbers;
  };
  std::unique_ptr<Memory> memory_;
  bool pending_ = false;
};

void all_reduce(Runtime::Detail& detail, double* values, Index count, MPI_Op operation) {
  for (Index first = 0; first < count; first += max_values) {
    const Index part = std::min(max_values, count - first);
    Buffer<double> buffer(part);
    std::copy_n(values + first, part, buffer.data());
    buffer.transfer(detail, [&](MPI_Request* request) {
      MPI_Iallreduce(MPI_IN_PLACE, buffer.data(), static_cast<int>(part), MPI_DOUBLE, operation,
                     detail.host_communicator, request);
    });
    std::copy_n(buffer.data(), part, values + first);
  }
}

/// A number of every rank.
std::vector<Index> all_counts(Runtime::Detail& detail, Index mine, int ranks) {
  Buffer<Index> buffer(ranks + 1);
  *buffer.data() = mine;
  buffer.transfer(detail, [&](MPI_Request* request) {
    MPI_Iallgather(buffer.data(), sizeof mine, MPI_BYTE, buffer.data() + 1, sizeof mine, MPI_BYTE,
                   detail.host_communicator, request);
  });
  return {buffer.data() + 1, buffer.data() + 1 + ranks};
}

/// What every rank has for this one, of counts for all.
std::vector<Index> exchanged_counts(Runtime::Detail& detail, const std::vector<Index>& mine) {
  const auto ranks = static_cast<Index>(mine.size());
  Buffer<Index> buffer(2 * ranks);
  std::copy(mine.begin(), mine.end(), buffer.data());
  buffer.transfer(detail, [&](MPI_Request* request) {
    MPI_Ialltoall(buffer.data(), sizeof(Index), MPI_BYTE, buffer.data() + ranks, sizeof(Index), MPI_BYTE,
                  detail.host_communicator, request);
  });
  return {buffer.data() + ranks, buffer.data() + 2 * ranks};
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

void Runtime::all_reduce_max(double* values, Index count) const {
  if (size_ > 1) guarded(*this, [&] { all_reduce(*detail_, values, count, MPI_MAX); });
}

void Runtime::all_reduce_sum(double* values, Index count) const {
  if (size_ > 1) guarded(*this, [&] { all_reduce(*detail_, values, count, MPI_SUM); });
}

void Runtime::broadcast(void* bytes, Index count, int root) const {
  if (size_ == 1) return;
  guarded(*this, [&] {
    for (Index first = 0; first < count; first += max_bytes) {
      const Index part = std::min(max_bytes, count - first);
      std::byte* const place = static_cast<std::byte*>(bytes) + first;
      Buffer<std::byte> buffer(part);
      if (rank_ == root) std::copy_n(place, part, buffer.data());
      buffer.transfer(*detail_, [&](MPI_Request* request) {
        MPI_Ibcast(buffer.data(), static_cast<int>(part), MPI_BYTE, root, detail_->host_communicator,
                   request);
      });
      if (rank_ != root) std::copy_n(buffer.data(), part, place);
    }
  });
}

std::vector<std::vector<std::byte>> Runtime::all_gather(std::span<const std::byte> bytes) const {
  constexpr int everywhere = -1;
  return guarded(*this, [&] { return gather_rounds(bytes, everywhere); });
}

std::vector<std::vector<std::byte>> Runtime::gather(std::span<const std::byte> bytes, int root) const {
  return guarded(*this, [&] { return gather_rounds(bytes, root); });
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
  const auto mine = static_cast<Index>(bytes.size());
  const std::vector<Index> counts = all_counts(*detail_, mine, size_);
  const Index most = max_bytes / size_, longest = *std::max_element(counts.begin(), counts.end());
  for (Index first = 0; first < longest; first += most) {
    const auto part = [&](Index count) { return std::clamp<Index>(count - first, 0, most); };
    int total = 0;
    for (const Index count : counts) total += static_cast<int>(part(count));
    const auto own = static_cast<int>(part(mine));
    // What is sent, then what is received.
    Buffer<std::byte> buffer(own + (receives ? total : 0), 2 * size_);
    std::copy_n(bytes.data() + std::min(first, mine), own, buffer.data());
    std::byte* const received = buffer.data() + own;
    int* const parts = buffer.numbers();
    int* const places = parts + size_;
    total = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      parts[rank] = static_cast<int>(part(counts[rank]));
      places[rank] = total;
      total += parts[rank];
    }
    buffer.transfer(*detail_, [&](MPI_Request* request) {
      if (root < 0)
        MPI_Iallgatherv(buffer.data(), own, MPI_BYTE, received, parts, places, MPI_BYTE,
                        detail_->host_communicator, request);
      else
        MPI_Igatherv(buffer.data(), own, MPI_BYTE, received, parts, places, MPI_BYTE, root,
                     detail_->host_communicator, request);
    });
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      all[rank].insert(all[rank].end(), received + places[rank], received + places[rank] + parts[rank]);
  }
  return all;
}

std::vector<std::vector<std::byte>> Runtime::all_to_all(std::vector<std::vector<std::byte>> pieces) const {
  if (size_ == 1) return pieces;
  return guarded(*this, [&] { return exchange_rounds(pieces); });
}

/// In every round each rank sends each other one at most so much that counts fit. Messages, as ranks were seen
/// to wait for MPI_Ialltoallv of Open MPI 4.1.4 for ever.
std::vector<std::vector<std::byte>> Runtime::exchange_rounds(
    const std::vector<std::vector<std::byte>>& pieces) const {
  constexpr int tag = 2;
  const auto ranks = static_cast<std::size_t>(size_), me = static_cast<std::size_t>(rank_);
  std::vector<Index> sent;
  for (const auto& piece : pieces) sent.push_back(static_cast<Index>(piece.size()));
  const std::vector<Index> received = exchanged_counts(*detail_, sent);
  std::vector<std::vector<std::byte>> result(ranks);
  result[me] = pieces[me];
  sent[me] = 0;
  // What a pair exchanges in fewer rounds than others is over earlier.
  Index longest = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (rank != me) longest = std::max({longest, sent[rank], received[rank]});
  const Index most = max_bytes / size_;
  for (Index first = 0; first < longest; first += most) {
    const auto part = [&](std::size_t rank, const std::vector<Index>& counts) {
      return rank == me ? 0 : static_cast<int>(std::clamp<Index>(counts[rank] - first, 0, most));
    };
    Index total = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) total += part(rank, sent) + part(rank, received);
    Buffer<std::byte> buffer(total);
    std::byte* next = buffer.data();
    buffer.transfer_all(*detail_, [&](std::vector<MPI_Request>& requests) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const int count = part(rank, received);
        if (count == 0) continue;
        MPI_Irecv(next, count, MPI_BYTE, static_cast<int>(rank), tag, detail_->host_communicator,
                  &requests.emplace_back());
        next += count;
      }
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const int count = part(rank, sent);
        if (count == 0) continue;
        std::copy_n(pieces[rank].data() + first, count, next);
        MPI_Isend(next, count, MPI_BYTE, static_cast<int>(rank), tag, detail_->host_communicator,
                  &requests.emplace_back());
        next += count;
      }
    });
    const std::byte* from = buffer.data();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const int count = part(rank, received);
      result[rank].insert(result[rank].end(), from, from + count);
      from += count;
    }
  }
  return result;
}

/// A vote like that of every other call: ranks that do something else are found out.
void Runtime::barrier() const {
  if (size_ == 1) return;
  if (!detail::vote(*this, false, hash_of("barrier")).equal) detail::throw_different(*this);
}

int Runtime::all_reduce_first_failure(double key[3]) const {
  const auto all = all_gather(std::as_bytes(std::span(key, 3)));
  int first = -1;
  for (int rank = 0; rank < size_; ++rank) {
    double other[3];
    std::memcpy(other, all[static_cast<std::size_t>(rank)].data(), sizeof other);
    if (other[2] == 0) continue;
    const bool earlier = first < 0 || other[0] > key[0] || (other[0] == key[0] && other[1] > key[1]);
    if (!earlier) continue;
    first = rank;
    std::copy_n(other, 3, key);
  }
  return first;
}

}  // namespace tessera
