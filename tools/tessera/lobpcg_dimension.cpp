// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lobpcg_dimension.hpp"

#include <fmt/format.h>

#include <tessera/shell_model.hpp>

#include "lobpcg_problem.hpp"
#include "saved_problem.hpp"

namespace tessera::program {

int tell_dimension(const LobpcgProgramOptions& options, Session& session) {
  const SparseSource source = source_of(options);
  Report report = session.new_report("lobpcg");
  double rows = 0;
  session.together([&] { rows = shell_model_order(source.generate, generator_options(source)); });
  LobpcgProgramOptions used = options;
  used.common = session.used_options();
  used.shell_model.interaction = source.used_interaction();
  report.options = option_table(used).json();
  report.options["n"] = rows;
  report.lines.emplace_back("matrix", fmt::format("{}, n = {:.0f}, not made", source.name(), rows));
  return session.finish(report);
}

}  // namespace tessera::program
