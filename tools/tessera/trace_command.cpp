// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/runtime/output_file.hpp>

#include "options.hpp"
#include "output_files.hpp"
#include "session.hpp"
#include "trace_summary.hpp"

namespace tessera::program {
using namespace detail;

int run_trace(const TraceProgramOptions& options) {
  const Trace trace = read_trace(options.directory);
  const TraceSummary summary = summarise(trace);
  if (options.json != "-") print_text(stdout, format_summary(summary));
  if (!options.json.empty()) {
    Report record = new_record("trace");
    TraceProgramOptions used = options;
    record.options = option_table(used).json();
    Json document = record_head(record);
    document.update(to_json(summary));
    write_json(options.json, document);
  }
  if (!options.chrome.empty()) write_file(options.chrome, to_chrome(trace).dump());
  if (!options.svg.empty()) write_file(options.svg, to_svg(trace));
  return exit_good;
}

}  // namespace tessera::program
