// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of multiply_two_species for one instruction set level (see dispatch.hpp).
#include <tessera/codelets/sparse/kernels/row_registers.inl>
#include <tessera/codelets/sparse/multiply_two_species.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

/// Jobs whose addresses are in registers at once.
constexpr std::uint32_t jobs_at_once = 4;

template <class T>
struct Source {
  const T *x, *values;
};

/// `count` jobs of a run into all rows of a line.
template <int columns, int count, class T>
void add_jobs(const TwoSpeciesView<T>& tables, std::uint32_t list, const Source<T>* sources, std::int64_t ldx,
              std::uint32_t rows, T* y, std::int64_t ldy) noexcept {
  const std::uint32_t* const begins = tables.begins + list;
  Source<T> source[count];
  for (int j = 0; j < count; ++j) source[j] = sources[j];
  for (std::uint32_t i = 0; i < rows; ++i) {
    const std::uint32_t end = begins[i + 1];
    std::uint32_t e = begins[i];
    if (e == end) continue;
    Row<T, columns> sum = Row<T, columns>::load(y + i * ldy);
    for (; e < end; ++e) {
      const TwoSpeciesEntry entry = tables.entries[e];
      const std::int64_t offset = std::int64_t(entry.row) * ldx;
      for (int j = 0; j < count; ++j) sum.add_from(source[j].values[entry.value], source[j].x + offset);
    }
    sum.store(y + i * ldy);
  }
}

template <int columns, class T>
void add_lines(const TwoSpeciesView<T>& tables, std::int64_t first_line, std::int64_t end_line,
               const TwoSpeciesSources<T>& x, T* y, std::int64_t ldy, std::int64_t first_row) noexcept {
  for (std::int64_t l = first_line; l < end_line; ++l) {
    const TwoSpeciesLine& line = tables.lines[l];
    const std::uint32_t rows = tables.pairs[line.pair].line_rows;
    T* const to = y + (line.first_row - first_row) * ldy;
    for (std::uint32_t r = line.run_begin; r < line.run_end; ++r) {
      const TwoSpeciesRun& run = tables.runs[r];
      Source<T> sources[jobs_at_once];
      for (std::uint32_t j = run.job_begin; j < run.job_end; j += jobs_at_once) {
        const std::uint32_t left = run.job_end - j, count = left < jobs_at_once ? left : jobs_at_once;
        for (std::uint32_t k = 0; k < count; ++k)
          sources[k] = {x.row(tables.jobs[j + k].first_row), tables.values + tables.jobs[j + k].values};
        const auto add = [&]<int jobs>() {
          add_jobs<columns, jobs>(tables, run.list, sources, x.ld, rows, to, ldy);
        };
        switch (count) {
          case 1:
            add.template operator()<1>();
            break;
          case 2:
            add.template operator()<2>();
            break;
          case 3:
            add.template operator()<3>();
            break;
          default:
            add.template operator()<4>();
        }
      }
    }
  }
}

}  // namespace

template <class T>
void multiply_two_species(const TwoSpeciesView<T>& tables, std::int64_t first_line, std::int64_t end_line,
                          const TwoSpeciesSources<T>& x, T* y, std::int64_t ldy, std::int64_t first_row,
                          int columns) noexcept {
#define TESSERA_CALL(COLUMNS) return add_lines<COLUMNS>(tables, first_line, end_line, x, y, ldy, first_row);
  TESSERA_FOR_COLUMNS(columns, TESSERA_CALL)
#undef TESSERA_CALL
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void multiply_two_species<T>(const TwoSpeciesView<T>&, std::int64_t, std::int64_t,        \
                                        const TwoSpeciesSources<T>&, T*, std::int64_t, std::int64_t, \
                                        int) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
