// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

namespace tessera::program {

namespace {

const RunRecord& typical_run(const Report& report) {
  std::vector<std::size_t> order(report.runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return report.runs[a].total_seconds < report.runs[b].total_seconds;
  });
  return report.runs[order[(order.size() - 1) / 2]];
}

std::string format_check(const CheckRecord& check) {
  std::string text;
  const auto add = [&](const char* name, double value) {
    if (!std::isnan(value)) text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", name, value);
  };
  add("residual", check.residual);
  add("orthogonality", check.orthogonality);
  add("values", check.values);
  add("trace", check.trace);
  if (!text.empty()) text += fmt::format(" (bound {:g})", check_bound);
  for (const CheckGate& gate : check.gates)
    text += fmt::format("{}{} {:.3g} (bound {:.3g})", text.empty() ? "" : ", ", gate.name, gate.value,
                        gate.bound);
  if (!check.failure.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", check.failure);
  if (text.empty()) return "nothing to check";
  return fmt::format("{}: {}", text, check.passed() ? "passed" : "FAILED");
}

/// Text that is too long continues on the next line, aligned with the text.
std::string label_line(const std::string& label, const std::string& text) {
  constexpr std::size_t width = 86;  // beside the label, in 100 characters
  if (text.size() <= width) return fmt::format("{:<14}{}\n", label, text);
  std::size_t cut = text.rfind(' ', width);
  if (cut == std::string::npos || cut == 0) cut = text.find(' ', 1);
  if (cut == std::string::npos) return fmt::format("{:<14}{}\n", label, text);
  return fmt::format("{:<14}{}\n", label, text.substr(0, cut)) + label_line("", text.substr(cut + 1));
}

double rate(double flops, double seconds) {
  return flops > 0 && seconds > 0 ? flops / seconds * 1e-9 : unknown;
}

std::string format_rate(double gflops, const Report& report) {
  if (!std::isfinite(gflops)) return fmt::format("{:>10}", "");
  std::string text = fmt::format("{:>10.1f}", gflops);
  if (report.limit && report.limit->gflops > 0)
    text += fmt::format("{:>7.0f} %", 100 * gflops / report.limit->gflops);
  return text;
}

/// How many tasks ran on a GPU; empty if none did.
std::string format_place(const StageRecord& stage) {
  if (stage.cuda_tasks == 0) return {};
  return stage.cuda_tasks == stage.tasks ? "  GPU" : fmt::format("  {} on GPU", stage.cuda_tasks);
}

/// Busy time of the worker that a stage kept busy longest.
std::string format_busiest(const StageRecord& stage) {
  return stage.longest_busy_seconds > 0 ? fmt::format("{:.4f}", stage.longest_busy_seconds) : std::string();
}

std::string format_stages(const Report& report, const RunRecord& run) {
  if (run.stages.empty()) return {};
  const std::string limit =
      report.limit && report.limit->gflops > 0 ? fmt::format("  of {}", report.limit->name) : "";
  std::string text = fmt::format("{:<22}{:>10}{:>8}{:>10}{:>9}{:>10}{}\n", "stage", "seconds", "share",
                                 "busiest", "tasks", "GFLOP/s", limit);
  const bool counted = std::any_of(run.stages.begin(), run.stages.end(),
                                   [](const StageRecord& stage) { return stage.tasks > 0; });
  for (const StageRecord& stage : run.stages) {
    const double share = run.total_seconds > 0 ? 100 * stage.seconds / run.total_seconds : 0;
    text += fmt::format("  {:<20}{:>10.4f}{:>6.1f} %{:>10}{:>9}{}{}\n", stage.name, stage.seconds, share,
                        format_busiest(stage), counted ? fmt::to_string(stage.tasks) : "",
                        format_rate(rate(stage.flops, stage.rate_seconds()), report), format_place(stage));
  }
  text += fmt::format("  {:<20}{:>10.4f}{:>8}{:>10}{:>9}{}\n", "total", run.total_seconds, "", "", run.tasks,
                      format_rate(rate(run.flops, run.total_seconds), report));
  return text;
}

/// The measured limits, and the percentage of the copy rate that each stage with a byte count
/// reaches.
std::string format_limit(const Report& report) {
  const LimitRecord& limit = *report.limit;
  std::string text;
  if (!std::isnan(limit.gflops)) text = fmt::format("{}: {:.1f} GFLOP/s", limit.name, limit.gflops);
  if (std::isnan(limit.copy_rate)) return text;
  text += fmt::format("{}copy: {:.3g} GB/s", text.empty() ? "" : ", ", limit.copy_rate * 1e-9);
  if (report.runs.empty()) return text;
  for (const StageRecord& stage : typical_run(report).stages)
    if (stage.bytes > 0 && stage.rate_seconds() > 0)
      text += fmt::format(", {} {:.1f} %", stage.name,
                          100 * stage.bytes / stage.rate_seconds() / limit.copy_rate);
  return text;
}

}  // namespace

Json number_or_null(double x) {
  return std::isfinite(x) ? Json(x) : Json(nullptr);
}

std::string words_of(const Status& status) {
  std::string name = status ? "converged" : to_string(status.code);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

double median(std::vector<double> values) {
  if (values.empty()) return unknown;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

bool CheckRecord::any() const {
  return !failure.empty() || !gates.empty() ||
         !(std::isnan(residual) && std::isnan(orthogonality) && std::isnan(values) && std::isnan(trace));
}

bool CheckRecord::passed() const {
  if (!failure.empty()) return false;
  if (!std::all_of(gates.begin(), gates.end(), [](const CheckGate& gate) { return gate.passed(); }))
    return false;
  const std::array<double, 4> all{residual, orthogonality, values, trace};
  return std::all_of(all.begin(), all.end(), [](double x) { return std::isnan(x) || x < check_bound; });
}

double Report::median_seconds() const {
  std::vector<double> seconds;
  for (const RunRecord& run : runs) seconds.push_back(run.total_seconds);
  return median(seconds);
}

double Report::ratio() const {
  if (!peer) return unknown;
  return median(peer->seconds) / (peer->own_seconds.empty() ? median_seconds() : median(peer->own_seconds));
}

bool Report::passed() const {
  return std::all_of(runs.begin(), runs.end(),
                     [](const RunRecord& run) { return !run.check || run.check->passed(); });
}

Json to_json(const CheckRecord& check) {
  Json json;
  json["residual"] = number_or_null(check.residual);
  json["orthogonality"] = number_or_null(check.orthogonality);
  json["values"] = number_or_null(check.values);
  if (!check.values_against.empty()) {
    json["values_against"] = check.values_against;
    json["values_difference"] = number_or_null(check.values_difference);
  }
  if (!std::isnan(check.trace)) json["trace"] = number_or_null(check.trace);
  for (const CheckGate& gate : check.gates)
    json["gates"][gate.name] = {{"value", number_or_null(gate.value)}, {"bound", number_or_null(gate.bound)}};
  if (!check.failure.empty()) json["failure"] = check.failure;
  json["passed"] = check.passed();
  return json;
}

Json to_json(const RunRecord& run) {
  Json json;
  Json stages = Json::object(), busiest = Json::object(), gflops = Json::object();
  gflops["total"] = number_or_null(rate(run.flops, run.total_seconds));
  for (const StageRecord& stage : run.stages) {
    stages[stage.name] = number_or_null(stage.seconds);
    if (stage.longest_busy_seconds > 0) busiest[stage.name] = stage.longest_busy_seconds;
    gflops[stage.name] = number_or_null(rate(stage.flops, stage.rate_seconds()));
  }
  json["seconds"] = {{"total", number_or_null(run.total_seconds)},
                     {"submit", number_or_null(run.submit_seconds)},
                     {"stages", stages},
                     {"busiest_worker", busiest}};
  json["gflops"] = gflops;
  json["tasks"] = run.tasks;
  Json where = Json::object();
  for (const StageRecord& stage : run.stages)
    where[stage.name] = {{"cpu", stage.tasks - stage.cuda_tasks}, {"cuda", stage.cuda_tasks}};
  json["stage_tasks"] = where;
  json["workers"] = {{"count", run.workers.count},
                     {"busy", number_or_null(run.workers.busy_share)},
                     {"idle", number_or_null(run.workers.sleeping_share)},
                     {"overhead", number_or_null(run.workers.overhead_share)},
                     {"bytes_moved", run.workers.bytes_moved}};
  json["memory"] = {{"peak_bytes", run.peak_bytes},
                    {"peak_matrices", number_or_null(run.peak_matrices)},
                    {"gpu_bytes", number_or_null(run.gpu_bytes)}};
  if (run.check) json["check"] = to_json(*run.check);
  json["result"] = run.result;
  return json;
}

Json record_head(const Report& report) {
  Json json;
  json["schema"] = record_schema;
  json["command"] = report.command;
  json["version"] = report.version;
  json["commit"] = report.commit;
  json["date"] = report.date;
  json["command_line"] = report.command_line;
  if (!report.machine.empty()) json["machine"] = report.machine;
  if (!report.options.empty()) json["options"] = report.options;
  return json;
}

Json to_json(const Report& report) {
  Json json = record_head(report);
  json["runs"] = Json::array();
  for (const RunRecord& run : report.runs) json["runs"].push_back(to_json(run));
  if (report.peer) {
    json["peer"] = {{"name", report.peer->name},
                    {"version", report.peer->version},
                    {"threads", report.peer->threads},
                    {"gpus", report.peer->threads > 0 ? 0 : report.peer->gpus},
                    {"seconds", number_or_null(median(report.peer->seconds))},
                    {"ratio", number_or_null(report.ratio())},
                    {"runs", report.peer->seconds}};
    if (!report.peer->own_seconds.empty())
      json["peer"]["own_seconds"] = number_or_null(median(report.peer->own_seconds));
    for (const PeerCandidate& candidate : report.peer->candidates)
      json["peer"]["candidates"].push_back({{"name", candidate.name},
                                            {"seconds", number_or_null(median(candidate.seconds))},
                                            {"runs", candidate.seconds}});
    if (report.peer->check) json["peer"]["check"] = to_json(*report.peer->check);
    if (!report.peer->result.empty()) json["peer"]["result"] = report.peer->result;
  }
  if (report.limit) {
    json["limit"] = {{"name", report.limit->name}, {"gflops", number_or_null(report.limit->gflops)}};
    if (!report.runs.empty()) {
      const RunRecord& run = typical_run(report);
      Json fractions = Json::object();
      for (const StageRecord& stage : run.stages)
        fractions[stage.name] =
            number_or_null(rate(stage.flops, stage.rate_seconds()) / report.limit->gflops);
      json["limit"]["fractions"] = fractions;
      if (!std::isnan(report.limit->copy_rate)) {
        Json bytes = Json::object(), copy_fractions = Json::object();
        for (const StageRecord& stage : run.stages) {
          if (stage.bytes == 0) continue;
          bytes[stage.name] = stage.bytes;
          copy_fractions[stage.name] =
              number_or_null(stage.bytes / stage.rate_seconds() / report.limit->copy_rate);
        }
        json["limit"]["copy_bytes_per_second"] = report.limit->copy_rate;
        json["limit"]["bytes"] = bytes;
        json["limit"]["copy_fractions"] = copy_fractions;
      }
    }
  }
  return json;
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, bytes < 10 && unit > 0 ? 2 : 0, units[unit]);
}

std::string format_report(const Report& report) {
  std::string text = report.title + '\n';
  for (const auto& [label, value] : report.lines) text += label_line(label, value);
  if (!report.runs.empty()) {
    const RunRecord& run = typical_run(report);
    text += format_stages(report, run);
    const auto [fastest, slowest] = std::minmax_element(
        report.runs.begin(), report.runs.end(),
        [](const RunRecord& a, const RunRecord& b) { return a.total_seconds < b.total_seconds; });
    std::string time = format_seconds(report.median_seconds());
    if (report.runs.size() > 1)
      time += fmt::format(" (median of {}, {} to {})", report.runs.size(),
                          format_seconds(fastest->total_seconds), format_seconds(slowest->total_seconds));
    if (std::isfinite(run.submit_seconds))
      time += fmt::format(", submission {}", format_seconds(run.submit_seconds));
    text += label_line("time", time);
    if (std::isfinite(run.workers.busy_share))
      text += label_line(
          "workers", fmt::format("{}, busy {:.1f} %, waiting {:.1f} %, overhead {:.1f} %", run.workers.count,
                                 100 * run.workers.busy_share, 100 * run.workers.sleeping_share,
                                 100 * run.workers.overhead_share));
    if (run.peak_bytes > 0) {
      std::string memory = fmt::format("{} at the peak", format_bytes(run.peak_bytes));
      if (std::isfinite(run.peak_matrices)) memory += fmt::format(", {:.2f} n^2 elements", run.peak_matrices);
      text += label_line("memory", memory);
    }
    if (std::isfinite(run.gpu_bytes))
      text += label_line("GPU memory", fmt::format("{} held after the run", format_bytes(run.gpu_bytes)));
  }
  if (report.peer) {
    const int threads = report.peer->threads, gpus = report.peer->gpus;
    const std::string workers = threads > 0 ? fmt::format("{} threads", threads)
                                : gpus > 1  ? fmt::format("{} GPUs", gpus)
                                            : std::string("one GPU");
    const std::string version =
        report.peer->version.empty() ? "" : fmt::format(" ({})", report.peer->version);
    text += label_line("peer",
                       fmt::format("{}{}: {}, {}; ratio {:.2f} (its time / ours)", report.peer->name, version,
                                   format_seconds(median(report.peer->seconds)), workers, report.ratio()));
    for (const PeerCandidate& candidate : report.peer->candidates)
      if (candidate.name != report.peer->name)
        text += label_line(
            "", fmt::format("also tried {}: {}", candidate.name, format_seconds(median(candidate.seconds))));
    if (!report.peer->note.empty()) text += label_line("", report.peer->note);
  }
  if (report.limit) text += label_line("limit", format_limit(report));
  for (const auto& [label, value] : report.results) text += label_line(label, value);
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    if (!report.runs[i].check) continue;
    const CheckRecord& check = *report.runs[i].check;
    const bool last = i + 1 == report.runs.size();
    text += label_line(last ? "check" : fmt::format("check run {}", i + 1), format_check(check));
    if (last && std::isfinite(check.values_difference))
      text += label_line("values",
                         fmt::format("within {:.3g} of {}", check.values_difference, check.values_against));
  }
  if (report.peer && report.peer->check && report.peer->check->any())
    text += label_line("check peer", format_check(*report.peer->check));
  return text;
}

}  // namespace tessera::program
