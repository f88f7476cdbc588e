// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/eigensolve_batch.hpp>
#include <tessera/error.hpp>

#include "batch_files.hpp"
#include "options.hpp"
#include "output_files.hpp"
#include "table_parts.hpp"

namespace tessera::program {

OptionTable option_table(BatchProgramOptions& options) {
  const auto generated = [&options] { return !options.generate.empty(); };
  const std::string with_generate = "--generate KIND";
  OptionTable table("tessera batch", "solve many small dense Hermitian eigenproblems of one order at once");
  table.group("Problem");
  table
      .texts("--matrix", options.matrices, "FILE[,FILE...]",
             fmt::format(
                 "Hermitian matrices: FILE.h5 or FILE.h5:DATASET, HDF5, matrices x rows x columns, real or "
                 "complex (without a name '{}'); or Matrix Market files of one order, may be gzipped",
                 usual_batch_set))
      .at_place("FILE");
  table.integer("--n", options.n, 0, max_batch_order, "order of the generated matrices")
      .chosen("none", -1)
      .needs(generated, with_generate);
  table
      .integer("--count", options.count, 0, largest_order,
               "number of generated matrices; number k, from 0, is made with seed --seed + k")
      .chosen("none", -1)
      .needs(generated, with_generate);
  add_type(table, options.type)
      .by_default("that of the files: in Matrix Market d, or z if any is complex; else d");
  add_dense_generator(table, options.generate);
  add_batch_solver(table, options);
  add_machine(table, options.common);
  add_batch_place(table, options);
  add_runs(table, options.common);
  table.entry("--seed").needs(generated, with_generate);
  warm_up_with_gpu_peer(table, options.peer, options.common);
  add_check(table, options.common);
  add_batch_peer(table, options);
  table.text("--output", options.output, "FILE",
             "write values (matrices x n) and vectors (matrices x n x n, a vector a row), HDF5; the name "
             "ends in .h5");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("H.h5:hamiltonians --output bands.h5", "all matrices of a data set, results in bands.h5");
  table.example("k1.mtx,k2.mtx.gz,k3.mtx --vectors no", "eigenvalues of three matrices");
  table.example("--generate random --n 64 --count 4000 --type z --peer lapack --repeat 3",
                "generated matrices, beside LAPACK");
  return table;
}

void validate(const BatchProgramOptions& options) {
  if (options.matrices.empty() == options.generate.empty())
    throw UsageError("--matrix", fmt::format("{}", fmt::join(options.matrices, ",")),
                     "stands beside --generate",
                     "either --matrix FILE or --generate KIND with --n and --count");
  if (!options.generate.empty() && options.n < 0)
    throw UsageError("--n", "", "", "the order of the generated matrices");
  if (!options.generate.empty() && options.count < 0)
    throw UsageError("--count", "", "", "the number of generated matrices");
  for (const std::string& text : options.matrices)
    if (batch_file(text).hdf5() && options.matrices.size() > 1)
      throw UsageError("--matrix", text, "stands beside other files",
                       "one HDF5 file, or Matrix Market files");
  if (options.output.empty()) return;
  if (!options.output.ends_with(".h5"))
    throw UsageError("--output", options.output, "is not possible",
                     "a name that ends in .h5, of an HDF5 file");
  require_writable("--output", options.output);
}

}  // namespace tessera::program
