// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <zlib.h>

#include <tessera/algorithms/lobpcg/checkpoint_file.hpp>
#include <tessera/algorithms/lobpcg/share_result.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera::detail {

namespace {

constexpr std::string_view checkpoint_format = "tessera eigenpairs checkpoint 1";

/// Rows of vectors that are written, checked and read at once.
Index rows_of_part(Index columns) {
  constexpr Index elements = Index(1) << 21;
  return std::max<Index>(1, elements / columns);
}
Index parts(Index rows, Index columns) {
  const Index part = rows_of_part(columns);
  return (rows + part - 1) / part;
}

std::string name_of(Index set) {
  return fmt::format("vectors_{}", set);
}

template <class E>
std::uint32_t crc(std::uint32_t before, const std::vector<E>& values) {
  // Without elements there may be no memory, which zlib takes for the beginning of another sum.
  if (values.empty()) return before;
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(values.data()), values.size() * sizeof(E)));
}
std::uint32_t crc(std::uint32_t before, const std::string& text) {
  return crc(before, std::vector<char>(text.begin(), text.end()));
}

/// Host access to the segments of this rank.
template <class T>
class LocalRows {
 public:
  LocalRows(const BlockVectors<T>& block, HostAccess::Mode mode)
      : segments_(block.segments()), access_(static_cast<std::size_t>(block.count())) {
    for (Index s = 0; s < block.count(); ++s)
      if (block.segment(s).local()) access_[static_cast<std::size_t>(s)].emplace(block.segment(s), mode);
  }
  /// work(first element of a row, row) of the rows of this rank within [first, end).
  template <class Work>
  void for_each(Index first, Index end, const Work& work) const {
    for (Index s = 0; s < segments_.count(); ++s) {
      const auto& access = access_[static_cast<std::size_t>(s)];
      if (!access || segments_.end(s) <= first || segments_.begin(s) >= end) continue;
      const MatrixView<T> rows = access->template matrix<T>();
      for (Index i = std::max(first, segments_.begin(s)); i < std::min(end, segments_.end(s)); ++i)
        work(&rows(0, i - segments_.begin(s)), i);
    }
  }

 private:
  const RowSegments& segments_;
  std::vector<std::optional<HostAccess>> access_;
};

template <class T>
class CheckpointWriter {
 public:
  CheckpointWriter(Runtime& runtime, const LobpcgCheckpoint& checkpoint, CheckpointTables tables)
      : runtime_(runtime), checkpoint_(checkpoint), tables_(std::move(tables)) {}

  void write(std::span<const BlockColumns<T>> sets) {
    attempt([&] { file_.emplace(Hdf5File::create(checkpoint_.path)); });
    for (std::size_t k = 0; k < sets.size(); ++k) write_set(static_cast<Index>(k), sets[k]);
    attempt([&] {
      write_tables();
      file_->close();
    });
    agree(runtime_, 0, [&] {
      if (failure_) std::rethrow_exception(failure_);
    });
  }

 private:
  /// On rank 0, if nothing has failed: all ranks go on to the end, because they exchange rows.
  template <class Step>
  void attempt(const Step& step) {
    if (runtime_.rank() != 0 || failure_) return;
    try {
      step();
    } catch (const Error&) {
      failure_ = std::current_exception();
    }
  }

  void write_set(Index set, const BlockColumns<T>& from) {
    const Index n = from.block->rows(), part = rows_of_part(from.columns);
    attempt([&] { file_->create_array<T>(name_of(set), n * from.columns); });
    const LocalRows<T> mine(*from.block, HostAccess::Mode::read);
    for (Index first = 0; first < n; first += part) {
      const Index end = std::min(n, first + part);
      std::vector<T> rows;
      mine.for_each(first, end, [&](const T* row, Index) {
        rows.insert(rows.end(), row + from.first, row + from.first + from.columns);
      });
      if (runtime_.size() > 1) rows = collected(rows, from, first, end);
      attempt([&] {
        tables_.checksums.push_back(crc(0, rows));
        file_->write_elements(name_of(set), first * from.columns, (end - first) * from.columns, rows.data());
      });
    }
  }

  /// On rank 0 the rows of all ranks in their order.
  std::vector<T> collected(const std::vector<T>& mine, const BlockColumns<T>& from, Index first,
                           Index end) const {
    const std::vector<std::vector<std::byte>> all = runtime_.gather(std::as_bytes(std::span(mine)), 0);
    if (runtime_.rank() != 0) return {};
    std::vector<T> rows(static_cast<std::size_t>((end - first) * from.columns));
    std::vector<std::size_t> taken(all.size());
    const RowSegments& segments = from.block->segments();
    auto* to = reinterpret_cast<std::byte*>(rows.data());
    for (Index s = 0; s < segments.count(); ++s) {
      const Index count = std::min(end, segments.end(s)) - std::max(first, segments.begin(s));
      if (count <= 0) continue;
      const auto rank = static_cast<std::size_t>(segments.owner(s)),
                 bytes = static_cast<std::size_t>(count * from.columns) * sizeof(T);
      std::memcpy(to, all[rank].data() + taken[rank], bytes);
      taken[rank] += bytes;
      to += bytes;
    }
    return rows;
  }

  void write_tables() {
    const std::string type(1, type_letter<T>);
    file_->write_attribute("format", checkpoint_format);
    file_->write_attribute("type", type);
    file_->write_attribute("label", checkpoint_.label);
    file_->write_attribute("checksum", fmt::format("{:08x}", tables_.checksum(type, checkpoint_.label)));
    CheckpointTables::for_all(tables_, [&]<class E>(const char* name, const std::vector<E>& values) {
      file_->create_array<E>(name, static_cast<Index>(values.size()));
      file_->write_elements(name, 0, static_cast<Index>(values.size()), values.data());
    });
  }

  Runtime& runtime_;
  const LobpcgCheckpoint& checkpoint_;
  CheckpointTables tables_;
  std::optional<Hdf5File> file_;  ///< on rank 0
  std::exception_ptr failure_;
};

}  // namespace

std::vector<Index> CheckpointTables::columns() const {
  std::vector<Index> columns;
  for (auto left = static_cast<Index>(found_values.size()); left > 0; left -= max_block_columns)
    columns.push_back(std::min<Index>(left, max_block_columns));
  columns.push_back(static_cast<Index>(ritz_values.size()));
  return columns;
}

std::uint32_t CheckpointTables::checksum(const std::string& type, const std::string& label) const {
  std::uint32_t sum = crc(crc(0, type), label);
  for_all(*this, [&](const char*, const auto& values) {
    sum = crc(sum, std::vector<std::uint64_t>{values.size()});
    sum = crc(sum, values);
  });
  return sum;
}

void check_checkpoint(const Runtime& runtime, const LobpcgCheckpoint& checkpoint) {
  if (checkpoint.path.empty()) return;
  if (checkpoint.iterations < 0)
    throw InvalidArgument("checkpoint.iterations", fmt::format("{}", checkpoint.iterations), "at least 0");
  if (!(checkpoint.seconds >= 0) || std::isinf(checkpoint.seconds))
    throw InvalidArgument("checkpoint.seconds", fmt::format("{}", checkpoint.seconds), "at least 0, finite");
  if (checkpoint.iterations == 0 && checkpoint.seconds == 0)
    throw InvalidArgument("checkpoint.seconds", "0", "seconds or iterations above 0");
  if (runtime.rank() != 0) return;
  bool regular = true;
  std::string refusal = refusal_to_write(checkpoint.path, regular);
  if (refusal.empty() && !regular) refusal = "it is not a regular file";
  if (!refusal.empty())
    throw InvalidArgument("checkpoint.path", checkpoint.path,
                          fmt::format("a file that can be written: {}", refusal));
}

template <class T>
void write_checkpoint(Runtime& runtime, const LobpcgCheckpoint& checkpoint, CheckpointTables tables,
                      std::span<const BlockColumns<T>> sets) {
  CheckpointWriter<T>(runtime, checkpoint, std::move(tables)).write(sets);
}

template <class T>
CheckpointReader<T>::CheckpointReader(Runtime& runtime, const std::string& path)
    : runtime_(runtime), path_(path) {
  agree(runtime_, 0, [&] {
    if (runtime_.rank() == 0) open();
  });
  share_result(runtime_, tables_);
}

template <class T>
void CheckpointReader<T>::fail(const std::string& reason) const {
  throw InputError(path_, 0, reason);
}

template <class T>
void CheckpointReader<T>::open() {
  file_ = std::make_unique<Hdf5File>(Hdf5File::open(path_));
  if (file_->read_attribute("format") != checkpoint_format)
    fail(fmt::format("its attribute 'format' is not '{}'", checkpoint_format));
  const std::string type = file_->read_attribute("type"), expected(1, type_letter<T>);
  label_ = file_->read_attribute("label");
  CheckpointTables::for_all(tables_, [&]<class E>(const char* name, std::vector<E>& values) {
    values.resize(static_cast<std::size_t>(file_->length(name)));
    file_->read_elements(name, 0, static_cast<Index>(values.size()), values.data());
  });
  if (file_->read_attribute("checksum") != fmt::format("{:08x}", tables_.checksum(type, label_)))
    fail("is damaged: the checksum of its tables is another one");
  if (type != expected) fail(fmt::format("has vectors of type {}, expected {}", type, expected));
  check_tables();
}

/// What a file that was made to look right could have wrong.
template <class T>
void CheckpointReader<T>::check_tables() const {
  const CheckpointTables& t = tables_;
  const auto require = [&](bool good, const char* name) {
    if (!good) fail(fmt::format("is damaged: '{}' is impossible", name));
  };
  require(t.counts.size() == CheckpointTables::count_count &&
              std::all_of(t.counts.begin(), t.counts.end(), [](Index count) { return count >= 0; }),
          "counts");
  require(t.numbers.size() == CheckpointTables::number_count, "numbers");
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  };
  require(finite(t.numbers), "numbers");
  require(!t.ritz_values.empty() && t.ritz_values.size() <= std::size_t(max_block_columns) &&
              finite(t.ritz_values),
          "ritz_values");
  require(finite(t.found_values), "found_values");
  require(t.found_residuals.size() == t.found_values.size() && finite(t.found_residuals), "found_residuals");
  require(t.found_scaled.size() == t.found_values.size() && finite(t.found_scaled), "found_scaled");
  require(t.counts[CheckpointTables::before_last_group] <= static_cast<Index>(t.found_values.size()),
          "counts");
  const Index n = t.counts[CheckpointTables::order];
  Index all_parts = 0, set = 0;
  for (const Index columns : t.columns()) {
    const std::string name = name_of(set++);
    Index elements = 0;
    if (__builtin_mul_overflow(n, columns, &elements) || file_->length(name) != elements)
      fail(fmt::format("is damaged: '{}' does not have {} x {} elements", name, n, columns));
    all_parts += parts(n, columns);
  }
  require(static_cast<Index>(t.checksums.size()) == all_parts, "checksums");
}

template <class T>
void CheckpointReader<T>::read(Index set, Index columns, const BlockVectors<T>& to) {
  const std::vector<Index> widths = tables_.columns();
  const Index n = to.rows(), width = widths[static_cast<std::size_t>(set)], part = rows_of_part(width);
  auto number = static_cast<std::size_t>(0);
  for (Index k = 0; k < set; ++k)
    number += static_cast<std::size_t>(parts(n, widths[static_cast<std::size_t>(k)]));
  // No task marks the copies of the other ranks as out of date.
  for (Index s = 0; s < to.count(); ++s) to.segment(s).flush_remote_copies();
  const LocalRows<T> mine(to, HostAccess::Mode::write);
  for (Index first = 0; first < n; first += part, ++number) {
    const Index end = std::min(n, first + part);
    std::vector<T> rows(static_cast<std::size_t>((end - first) * width));
    agree(runtime_, 0, [&] {
      if (runtime_.rank() != 0) return;
      file_->read_elements(name_of(set), first * width, (end - first) * width, rows.data());
      if (Index(crc(0, rows)) != tables_.checksums[number])
        fail(fmt::format("is damaged: rows {} to {} of '{}' have another checksum", first, end - 1,
                         name_of(set)));
    });
    runtime_.broadcast(rows.data(), static_cast<Index>(rows.size() * sizeof(T)), 0);
    mine.for_each(first, end, [&](T* row, Index i) {
      std::copy_n(rows.data() + (i - first) * width, columns, row);
      std::fill(row + columns, row + to.width(), T(0));
    });
  }
}

#define TESSERA_INSTANTIATE(T)                                                        \
  template void write_checkpoint(Runtime&, const LobpcgCheckpoint&, CheckpointTables, \
                                 std::span<const BlockColumns<T>>);                   \
  template class CheckpointReader<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
