// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/two_species_tables.hpp>
#include <tessera/algorithms/sparse/vector_checks.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/data.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera {

using namespace detail;

template <class T>
struct TwoSpeciesOperator<T>::Detail {
  std::shared_ptr<const RowSegments> segments;
  std::vector<std::int64_t> segment_begins;  ///< first rows
  std::vector<std::int64_t> line_begins;     ///< first line of each segment and, last, their number
  std::vector<double> products;              ///< of each segment
  TwoSpeciesBlocks blocks;
  TwoSpeciesShape shape;
  TwoSpeciesNorm norm;
  Data tables;
  Data work;  ///< scratch of GPUs; absent without dense blocks of B
};

namespace {

/// What must be equal on all ranks.
std::uint64_t hash_of_structure(const TwoSpeciesStructure& structure) {
  const auto of = [](const auto& items) {
    return hash_of({reinterpret_cast<const char*>(items.data()), items.size() * sizeof(items[0])});
  };
  std::uint64_t hash = argument_hash(of(structure.pairs), structure.couplings.size());
  for (const Species* species : {&structure.first, &structure.second}) {
    hash = argument_hash(hash, of(species->sectors), species->elements.size(), species->moves.size());
    // Structures have padding, which must not count.
    for (const SpeciesElement& e : species->elements) hash = argument_hash(hash, e.row, e.column, e.value);
    for (const SpeciesMove& m : species->moves)
      hash = argument_hash(hash, m.to, m.from, m.transfer, m.number, m.sign);
  }
  for (const SpeciesCoupling& coupling : structure.couplings)
    hash = argument_hash(hash, coupling.first_transfer, coupling.second_transfer, coupling.first_count,
                         coupling.second_count, of(coupling.strengths));
  return hash;
}

/// First lines of `count` segments of about equal work, and the end; fewer where lines are few.
std::vector<std::int64_t> cut_lines(const std::vector<double>& work, Index count) {
  const double all = std::accumulate(work.begin(), work.end(), 0.0);
  std::vector<std::int64_t> begins{0};
  double sum = 0;
  for (std::size_t l = 0; l < work.size(); ++l) {
    if (static_cast<Index>(begins.size()) < count && static_cast<std::int64_t>(l) > begins.back() &&
        sum >= all * static_cast<double>(begins.size()) / static_cast<double>(count))
      begins.push_back(static_cast<std::int64_t>(l));
    sum += work[l];
  }
  begins.push_back(static_cast<std::int64_t>(work.size()));
  return begins;
}

/// One for each GPU; enough to keep CPU workers busy to the end.
Index usual_segments(const Runtime& runtime) {
  const Index ranks = runtime.size();
  return runtime.any_gpus() ? ranks * std::max(1, runtime.gpus()) : ranks * 4 * runtime.common_workers();
}

}  // namespace

template <class T>
TwoSpeciesOperator<T> TwoSpeciesOperator<T>::build(Runtime& runtime, const TwoSpeciesStructure& structure,
                                                   const TwoSpeciesOptions& options) {
  const auto check = [&] {
    if (options.segments < 0 || options.segments > max_two_species_segments)
      throw InvalidArgument("segments", fmt::format("{}", options.segments),
                            fmt::format("0 to {}", max_two_species_segments));
    check_structure(structure);
  };
  const std::uint64_t hash =
      runtime.size() > 1 ? argument_hash(hash_of_structure(structure), options.segments, options.storage) : 0;
  return collectively(runtime, "TwoSpeciesOperator::build", hash, check,
                      [&] { return made_of(runtime, structure, options); });
}

template <class T>
TwoSpeciesOperator<T> TwoSpeciesOperator<T>::made_of(Runtime& runtime, const TwoSpeciesStructure& structure,
                                                     const TwoSpeciesOptions& options) {
  auto made = std::make_shared<Detail>();
  require_memory(runtime, "TwoSpeciesOperator::build",
                 sizeof(double) * static_cast<double>(structure.order()));
  TwoSpeciesTables<T> tables;
  agree(runtime, 0, [&] {
    // A call of BLAS on a GPU takes as long as the lists of small sectors.
    tables = make_two_species_tables<T>(structure, options.storage, runtime.any_gpus() ? 128 : 16);
    made->norm = measure_two_species(host_threads(runtime), tables);
  });
  made->shape = tables.shape();
  const auto bytes = static_cast<std::size_t>(two_species_bytes<T>(made->shape));
  require_memory(runtime, "TwoSpeciesOperator::build", static_cast<double>(bytes));
  const Index count = std::min<Index>(options.segments > 0 ? options.segments : usual_segments(runtime),
                                      max_two_species_segments);
  made->line_begins = cut_lines(tables.line_products, count);
  const auto segments = static_cast<Index>(made->line_begins.size()) - 1;
  std::vector<Index> begins;
  for (Index s = 0; s < segments; ++s) {
    const auto first = static_cast<std::size_t>(made->line_begins[static_cast<std::size_t>(s)]),
               end = static_cast<std::size_t>(made->line_begins[static_cast<std::size_t>(s) + 1]);
    begins.push_back(tables.lines[first].first_row);
    made->products.push_back(
        std::accumulate(tables.line_products.begin() + static_cast<std::ptrdiff_t>(first),
                        tables.line_products.begin() + static_cast<std::ptrdiff_t>(end), 0.0));
  }
  made->segment_begins.assign(begins.begin(), begins.end());
  begins.push_back(structure.order());
  // In runs of consecutive ones to the ranks, and there to the GPUs, as RowSegments::even deals them.
  const auto even = RowSegments::even(runtime, segments, segments);
  std::vector<int> owners, gpus;
  for (Index s = 0; s < segments; ++s) owners.push_back(even->owner(s)), gpus.push_back(even->gpu(s));
  made->segments = std::make_shared<const RowSegments>(std::move(begins), std::move(owners), std::move(gpus));
  made->blocks = tables.host;
  made->tables = Data::bytes(runtime, bytes, Data::every_rank);
  const HostAccess access(made->tables, HostAccess::Mode::write);
  tables.store(access.array<std::byte>().data());
  if (const Index work = two_species_work(made->blocks, max_block_columns); work > 0)
    made->work = Data::scratch(runtime, sizeof(T) * static_cast<std::size_t>(work));
  return TwoSpeciesOperator(std::move(made));
}

template <class T>
Index TwoSpeciesOperator<T>::order() const {
  return detail_->segments->rows();
}
template <class T>
const std::shared_ptr<const RowSegments>& TwoSpeciesOperator<T>::segments() const {
  return detail_->segments;
}
template <class T>
double TwoSpeciesOperator<T>::norm_bound() const {
  return detail_->norm.bound;
}
template <class T>
double TwoSpeciesOperator<T>::products() const {
  return std::accumulate(detail_->products.begin(), detail_->products.end(), 0.0);
}
template <class T>
double TwoSpeciesOperator<T>::table_bytes() const {
  return static_cast<double>(two_species_bytes<T>(detail_->shape));
}
template <class T>
const std::vector<double>& TwoSpeciesOperator<T>::diagonal() const {
  return detail_->norm.diagonal;
}

template <class T>
void TwoSpeciesOperator<T>::apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                                  Index columns) const {
  collectively(
      sequence.runtime(), "TwoSpeciesOperator::apply", argument_hash(columns),
      [&] { check_operands(*detail_->segments, x, y, columns); }, [&] { submit(sequence, x, y, columns); });
}

template <class T>
void TwoSpeciesOperator<T>::submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                                   Index columns) const {
  sequence.keep(std::const_pointer_cast<Detail>(detail_));
  std::vector<const Data*> all;
  for (Index s = 0; s < x.count(); ++s) all.push_back(&x.segment(s));
  for (Index s = 0; s < y.count(); ++s) {
    const auto place = static_cast<std::size_t>(s);
    sequence.insert(MultiplyTwoSpecies<T>{.x = all,
                                          .tables = detail_->tables,
                                          .y = y.segment(s),
                                          .work = detail_->work.valid() ? &detail_->work : nullptr,
                                          .shape = detail_->shape,
                                          .host = &detail_->blocks,
                                          .first_line = detail_->line_begins[place],
                                          .end_line = detail_->line_begins[place + 1],
                                          .first_row = detail_->segment_begins[place],
                                          .segment_begins = detail_->segment_begins.data(),
                                          .products = detail_->products[place],
                                          .columns = static_cast<int>(columns)},
                    {.gpu = detail_->segments->gpu(s)});
  }
  // Messages bring x to other ranks for this product alone.
  for (const Data* segment : all) segment->flush_remote_copies();
}

template class TwoSpeciesOperator<float>;
template class TwoSpeciesOperator<double>;

}  // namespace tessera
