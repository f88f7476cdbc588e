// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "targets.hpp"

#include <fstream>
#include <sstream>

#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>
#include <tessera/block_sparse_files.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/sparse_matrix.hpp>

#include "dense_options.hpp"
#include "density_bench_options.hpp"
#include "options.hpp"
#include "products_options.hpp"
#include "spmm_options.hpp"
#include "stack_options.hpp"
#include "trace_summary.hpp"
#include "tuning.hpp"

namespace tessera::fuzz {
using namespace detail;

namespace {

using namespace tessera::program;

/// Larger matrices are parsed but not stored, because this program tests the memory that readers use,
/// not the memory that callers request.
constexpr Index max_elements = 1 << 20, max_rows = 1 << 14;

bool is_small(const MatrixMarketHeader& header) {
  return header.rows <= max_rows && header.columns <= max_rows &&
         header.rows * header.columns <= max_elements;
}

template <class T>
void read_whole_matrix(const std::string& path) {
  MatrixMarketReader reader(path);
  if (is_small(reader.header()))
    read_dense<T>(reader);
  else
    reader.for_each([](Index, Index, std::complex<double>) {});
}

template <class T>
void read_triangle(const std::string& path) {
  MatrixMarketReader reader(path);
  const Index n = reader.header().rows;
  std::vector<T> a(is_small(reader.header()) ? static_cast<std::size_t>(n * n) : 0);
  read_hermitian<T>(reader, [&](Index i, Index j) {
    return a.empty() ? nullptr : &a[static_cast<std::size_t>(i + j * n)];
  });
}

template <class T>
void read_blocks(Runtime& runtime, const std::string& path, const std::string& sizes) {
  read_matrix_market<T>(runtime, path, sizes);
}

void read_repeated_blocks(Runtime& runtime, const std::string& path) {
  const MatrixMarketHeader header = MatrixMarketReader(path).header();
  if (header.rows > max_rows || header.columns > max_rows) return;
  const std::vector<Index> pattern{3, 1};
  const BlockLayout layout = make_block_layout(runtime, repeated_block_sizes(pattern, header.rows),
                                               repeated_block_sizes(pattern, header.columns));
  read_matrix_market<double>(runtime, path, layout);
}

void read_dense_hdf5(const std::string& path) {
  Hdf5File file = Hdf5File::open(path);
  Index rows = 0, columns = 0;
  file.read<double>("values", rows, columns);
  file.read<double>("vectors", rows, columns);
}

void read_trace_files(const std::string& path, const std::string& whole, bool messages) {
  std::ifstream damaged(path), good(whole);
  Trace trace;
  trace.tasks = parse_tasks(messages ? good : damaged);
  if (messages) trace.messages = parse_messages(damaged);
  align_clocks(trace);
  const TraceSummary summary = summarise(trace);
  format_summary(summary);
  to_json(summary).dump();
  to_chrome(trace).dump();
  to_svg(trace);
}

template <class Options>
void parse_command(const std::vector<std::string>& words) {
  CLI::App app;
  Options options;
  parse_by_table(app, option_table(options));
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 2));
  } catch (const CLI::ParseError& error) {
    throw usage_error_of(error);
  }
  if constexpr (requires { validate(options); }) validate(options);
}

/// Reads one word per line: the program, the command and its options. For benchmarks the first two
/// lines are `bench` and the name after bench_.
void read_command_line(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word);) words.push_back(word.substr(0, word.find('\0')));
  require_plain_words(words);
  if (words.size() < 2) return;
  const std::string& command = words[1];
  const bool benchmark = words[0] == "bench";
  if (command == "eigen") parse_command<EigenProgramOptions>(words);
  if (command == "multiply") parse_command<MultiplyProgramOptions>(words);
  if (command == "density" && !benchmark) parse_command<DensityProgramOptions>(words);
  if (command == "lobpcg") parse_command<LobpcgProgramOptions>(words);
  if (command == "dense") parse_command<DenseBenchOptions>(words);
  if (command == "stack") parse_command<StackBenchOptions>(words);
  if (command == "spmm") parse_command<SpmmBenchOptions>(words);
  if (command == "products") parse_command<ProductsBenchOptions>(words);
  if (command == "density" && benchmark) parse_command<DensityBenchOptions>(words);
  if (command == "tune") parse_command<TuneProgramOptions>(words);
  if (command == "calibrate") parse_command<CalibrateProgramOptions>(words);
  if (command == "trace") parse_command<TraceProgramOptions>(words);
}

}  // namespace

std::vector<Target> all_targets(Runtime& runtime, const std::string& corpus) {
  const std::string sizes = corpus + "/sizes_8.txt", tasks = corpus + "/tasks_ranks.rec",
                    orbits = corpus + "/orbits_sd.sps", matrix = corpus + "/matrix_symmetric.mtx";
  return {
      {"dense", "matrix_", read_whole_matrix<double>},
      {"dense complex", "matrix_", read_whole_matrix<std::complex<float>>},
      {"hermitian", "matrix_", read_triangle<double>},
      {"hermitian complex", "matrix_", read_triangle<std::complex<double>>},
      {"sparse rows", "matrix_",
       [](const std::string& path) {
         if (MatrixMarketReader(path).header().rows > max_elements) return;
         CoordinateRows::from_matrix_market(path);
       }},
      {"block-sparse", "matrix_",
       [&runtime, sizes](const std::string& path) { read_blocks<double>(runtime, path, sizes); }},
      {"block-sparse complex", "matrix_",
       [&runtime, sizes](const std::string& path) {
         read_blocks<std::complex<double>>(runtime, path, sizes);
       }},
      {"block-sparse repeated", "matrix_",
       [&runtime](const std::string& path) { read_repeated_blocks(runtime, path); }},
      {"block sizes", "sizes_",
       [&runtime, matrix](const std::string& path) { read_blocks<double>(runtime, matrix, path); }},
      {"block-sparse HDF5", "blocks_",
       [&runtime](const std::string& path) { read_hdf5<double>(runtime, path); }},
      {"dense HDF5", "pairs_", read_dense_hdf5},
      {"orbits", "orbits_", [](const std::string& path) { read_shell_orbits(path); }},
      {"interaction", "interaction_",
       [orbits](const std::string& path) { read_shell_interaction(path, read_shell_orbits(orbits)); }},
      {"tuning", "tuning_", [](const std::string& path) { read_tuning(path); }},
      {"tasks of a trace", "tasks_", [](const std::string& path) { read_trace_files(path, {}, false); }},
      {"messages of a trace", "comms_",
       [tasks](const std::string& path) { read_trace_files(path, tasks, true); }},
      {"command line", "options_", read_command_line},
  };
}

}  // namespace tessera::fuzz
