// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/format.h>

#include <tessera/runtime/require_memory.hpp>

#include "batch_files.hpp"
#include "batch_rounds.hpp"
#include "options.hpp"
#include "scalar_types.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Failures that the report lists; the record has all.
constexpr std::size_t listed_failures = 10;

/// One run of `tessera batch` in scalar type T.
template <class T>
class BatchRun {
 public:
  /// @param files  empty: the matrices are generated
  BatchRun(const BatchProgramOptions& options, const std::vector<BatchFile>& files, const BatchShape& shape,
           Session& session)
      : options_(options),
        files_(files),
        shape_(shape),
        session_(session),
        runtime_(session.runtime()),
        report_(session.new_report("batch")) {}

  int operator()() {
    require_batch_possible<T>(session_, options_);
    require_memory(runtime_, fmt::format("a batch of {} matrices of order {}", shape_.count, shape_.n),
                   batch_memory<T>(options_, shape_.n, shape_.count));
    const BatchMatrices<T> matrices = load();
    describe();
    const BatchResults<T> results = run_batch_rounds(session_, options_, matrices, report_, true);
    summarise(results);
    if (!options_.output.empty()) {
      session_.progress().stage("writing the output");
      write_batch(options_.output, shape_.n, shape_.count, results);
    }
    return session_.finish(report_);
  }

 private:
  BatchMatrices<T> load() {
    session_.progress().stage(files_.empty() ? "making the matrices" : "reading the matrices");
    if (files_.empty())
      return generate_batch<T>(runtime_, options_.generate, shape_.n, shape_.count, options_.common.seed);
    return measured_batch(runtime_, shape_.n, shape_.count, read_batch<T>(runtime_, files_, shape_));
  }

  void describe() {
    BatchProgramOptions used = options_;
    used.common = session_.used_options();
    report_.options = option_table(used).json();
    report_.options["n"] = shape_.n;
    report_.options["count"] = shape_.count;
    std::string source = options_.generate;
    if (!files_.empty()) source = options_.matrices.front();
    if (files_.size() > 1) source += fmt::format(" and {} more", files_.size() - 1);
    report_.lines.emplace_back("matrices", fmt::format("{} of order {}, {}", shape_.count, shape_.n, source));
    report_.lines.emplace_back(
        "solver",
        fmt::format("type {}, {}, in {}", type_letter<T>, options_.vectors ? "with vectors" : "values only",
                    options_.keep_on == "gpu" ? "GPU memory" : "host memory"));
  }

  /// Of the last run: values and failures. The rate is that of the median time.
  void summarise(const BatchResults<T>& results) {
    Json& json = report_.runs.back().result;
    json["n"] = shape_.n;
    json["count"] = shape_.count;
    double smallest = HUGE_VAL, largest = -HUGE_VAL;
    for (const RealOf<T> value : results.values) {
      if (std::isnan(value)) continue;
      smallest = std::min(smallest, static_cast<double>(value));
      largest = std::max(largest, static_cast<double>(value));
    }
    json["smallest"] = number_or_null(smallest);
    json["largest"] = number_or_null(largest);
    auto& lines = report_.results;
    lines.emplace_back("rate", fmt::format("{:.4g} matrices/s",
                                           static_cast<double>(shape_.count) / report_.median_seconds()));
    lines.emplace_back(
        "eigenvalues",
        smallest <= largest ? fmt::format("{:.10g} to {:.10g}, of all matrices", smallest, largest) : "none");
    if (results.failures.empty()) return;
    lines.emplace_back(
        "failed", fmt::format("{} of {} matrices, numbered from 0", results.failures.size(), shape_.count));
    for (std::size_t k = 0; k < std::min(results.failures.size(), listed_failures); ++k) {
      const BatchFailure& failure = results.failures[k];
      const char* of = failure.code == StatusCode::not_finite ? "column" : "eigenvalue";
      lines.emplace_back("", fmt::format("matrix {}: {}, {} {}", failure.matrix,
                                         words_of({failure.code, {}, 0, {}}), of, failure.index));
    }
    if (results.failures.size() > listed_failures)
      lines.emplace_back("", fmt::format("and {} more", results.failures.size() - listed_failures));
  }

  const BatchProgramOptions& options_;
  const std::vector<BatchFile>& files_;
  const BatchShape shape_;
  Session& session_;
  Runtime& runtime_;
  Report report_;
};

}  // namespace

int run_batch(BatchProgramOptions& options) {
  validate(options);
  return in_session(options.common, [&](Session& session) {
    // Several processes are refused before a file is opened.
    require_one_process(session.runtime());
    std::vector<BatchFile> files;
    for (const std::string& text : options.matrices) files.push_back(batch_file(text));
    const BatchShape shape =
        files.empty() ? BatchShape{options.n, options.count, 'd', false} : look_at_batch(files);
    if (options.type == 0) options.type = shape.type;
    return naming_options([&] {
      return with_scalar_type(options.type,
                              [&]<class T>() { return BatchRun<T>(options, files, shape, session)(); });
    });
  });
}

}  // namespace tessera::program
