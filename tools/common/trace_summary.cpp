// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "trace_summary.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <map>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/input_file.hpp>

namespace tessera::program {
using namespace detail;

namespace {

using WorkerKey = std::pair<int, int>;  // rank, worker

struct Span {
  double start = 0, end = 0;
  double seconds() const { return end - start; }
};

/// The union of the spans, in ascending order and disjoint.
std::vector<Span> united(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (span.end <= span.start) continue;
    if (result.empty() || span.start > result.back().end)
      result.push_back(span);
    else
      result.back().end = std::max(result.back().end, span.end);
  }
  return result;
}

double seconds_of(const std::vector<Span>& spans) {
  double sum = 0;
  for (const Span& span : spans) sum += span.seconds();
  return sum;
}

/// Length of the intersection of two ascending lists of disjoint spans.
double common_seconds(const std::vector<Span>& a, const std::vector<Span>& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum += std::max(0.0, std::min(a[i].end, b[j].end) - std::max(a[i].start, b[j].start));
    if (a[i].end < b[j].end)
      ++i;
    else
      ++j;
  }
  return sum;
}

/// Time spans in which messages are in transit, by receiving rank.
std::map<int, std::vector<Span>> arrivals(const std::vector<TracedMessage>& messages) {
  std::map<int, std::vector<Span>> spans;
  for (const TracedMessage& message : messages)
    spans[message.destination].push_back({message.start, message.end});
  for (auto& [rank, list] : spans) list = united(std::move(list));
  return spans;
}

std::vector<MessageSummary> summarise_messages(const Trace& trace) {
  std::map<int, MessageSummary> by_rank;
  for (const TracedMessage& message : trace.messages) {
    MessageSummary& summary = by_rank[message.destination];
    ++summary.count;
    summary.bytes += message.bytes;
  }
  std::map<int, std::vector<Span>> busy;
  for (const TracedTask& task : trace.tasks) busy[task.rank].push_back({task.start, task.end});
  std::vector<MessageSummary> result;
  for (const auto& [rank, spans] : arrivals(trace.messages)) {
    MessageSummary& summary = by_rank[rank];
    summary.rank = rank;
    summary.seconds = seconds_of(spans);
    summary.overlapped_seconds = common_seconds(spans, united(std::move(busy[rank])));
    result.push_back(summary);
  }
  return result;
}

Span span_of(const std::vector<TracedTask>& tasks) {
  if (tasks.empty()) return {};
  Span span{tasks.front().start, tasks.front().end};
  for (const TracedTask& task : tasks) {
    span.start = std::min(span.start, task.start);
    span.end = std::max(span.end, task.end);
  }
  return span;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

/// Consecutive indices have clearly different hues.
std::string colour(std::size_t index) {
  return fmt::format("hsl({}, {}%, {}%)", index * 137 % 360, 55 + index % 3 * 15, 45 + index % 2 * 15);
}

/// A record of `Key: value` lines.
class Record {
 public:
  explicit Record(const std::string& file) : file_(file) {}
  bool empty() const { return values_.empty(); }
  void clear() { values_.clear(); }
  void add(const std::string& line, Index number) {
    line_ = number;
    if (const auto colon = line.find(": "); colon != std::string::npos)
      values_[line.substr(0, colon)] = line.substr(colon + 2);
  }
  const std::string* find(const char* key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  /// The value; 0 if it is missing.
  double number(const char* key) const {
    constexpr double most = 1e15;  // in milliseconds or bytes; beyond this limit, differences would
                                   // lose too many digits
    const auto value = parsed<double>(key, "a number");
    if (!(std::abs(value) <= most)) fail(fmt::format("{} {} is out of range", key, shown_input(*find(key))));
    return value;
  }
  int integer(const char* key) const { return parsed<int>(key, "an integer"); }
  [[noreturn]] void fail(std::string_view reason) const { throw InputError(file_, line_, reason); }

 private:
  template <class Number>
  Number parsed(const char* key, const char* expected) const {
    const std::string* const text = find(key);
    Number value = 0;
    if (!text) return value;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size())
      fail(fmt::format("{} is {}, not {}", key, shown_input(*text), expected));
    return value;
  }

  const std::string& file_;
  Index line_ = 0;
  std::map<std::string, std::string> values_;
};

/// Calls visit(record) for each record. StarPU writes an empty line after each record. If the last
/// one has none, the file may be truncated.
template <class Visit>
void for_records(std::istream& input, const std::string& file, const Visit& visit) {
  Record record(file);
  Index number = 0;
  bool complete = true;
  for (std::string line; std::getline(input, line);) {
    complete = line.empty() && !input.eof();
    record.add(line, ++number);
    if (!complete) continue;
    if (!record.empty()) visit(record);
    record.clear();
  }
  if (input.bad()) throw InputError(file, number, "cannot be read");
  if (!complete) throw InputError(file, number, "truncated: the last record is not complete");
}

/// A codelet's name with only the characters that are safe in JSON and SVG.
std::string printable(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

}  // namespace

std::vector<TracedTask> parse_tasks(std::istream& input, const std::string& file) {
  std::vector<TracedTask> tasks;
  for_records(input, file, [&](const Record& record) {
    const std::string* const name = record.find("Name");
    const bool ran = record.find("StartTime") && record.find("EndTime") && record.find("WorkerId");
    if (!name || !ran || record.integer("WorkerId") < 0) return;
    const double start = record.number("StartTime"), end = record.number("EndTime");
    if (end < start) record.fail("a task ends before it starts");
    tasks.push_back({printable(*name), std::max(0, record.integer("MPIRank")), record.integer("WorkerId"),
                     start * 1e-3, end * 1e-3, record.number("GFlop") * 1e9});
  });
  return tasks;
}

std::vector<TracedMessage> parse_messages(std::istream& input, const std::string& file) {
  std::vector<TracedMessage> messages;
  for_records(input, file, [&](const Record& record) {
    if (!record.find("SendTime") || !record.find("RecvTime")) return;
    messages.push_back({record.integer("Src"), record.integer("Dst"), record.number("SendTime") * 1e-3,
                        record.number("RecvTime") * 1e-3, record.number("Size")});
  });
  return messages;
}

void align_clocks(Trace& trace) {
  std::map<std::pair<int, int>, double> fastest;  // by source and destination
  for (const TracedMessage& m : trace.messages) {
    const auto [at, is_new] = fastest.try_emplace({m.source, m.destination}, m.end - m.start);
    if (!is_new) at->second = std::min(at->second, m.end - m.start);
  }
  if (std::all_of(fastest.begin(), fastest.end(), [](const auto& pair) { return pair.second >= 0; })) return;
  std::map<int, double> ahead;  // by how much each rank's clock is ahead of the first rank's
  std::vector<int> next{fastest.begin()->first.first};
  ahead[next.front()] = 0;
  for (std::size_t k = 0; k < next.size(); ++k)
    for (const auto& [ranks, there] : fastest) {
      const auto back = fastest.find({ranks.second, ranks.first});
      if (ranks.first != next[k] || back == fastest.end() || ahead.count(ranks.second) > 0) continue;
      ahead[ranks.second] = ahead[next[k]] + (there - back->second) / 2;
      next.push_back(ranks.second);
    }
  for (TracedTask& task : trace.tasks) {
    task.start -= ahead[task.rank];
    task.end -= ahead[task.rank];
  }
  for (TracedMessage& m : trace.messages) {
    m.start -= ahead[m.source];
    m.end -= ahead[m.destination];
  }
}

TraceSummary summarise(const Trace& trace) {
  const std::vector<TracedTask>& tasks = trace.tasks;
  TraceSummary summary;
  summary.messages = summarise_messages(trace);
  const Span span = span_of(tasks);
  summary.span_seconds = span.seconds();
  struct Sum {
    std::vector<double> seconds;
    double total = 0, flops = 0;
    void add(const TracedTask& task) {
      seconds.push_back(task.end - task.start);
      total += seconds.back();
      flops += task.flops;
    }
  };
  std::map<std::string, Sum> codelets;
  std::map<WorkerKey, Sum> workers;
  Sum all;
  for (const TracedTask& task : tasks) {
    codelets[task.name].add(task);
    workers[{task.rank, task.worker}].add(task);
    all.add(task);
  }
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
  for (const auto& [name, sum] : codelets)
    summary.codelets.push_back({name, static_cast<Index>(sum.seconds.size()), median(sum.seconds), sum.total,
                                ratio(sum.total, all.total), ratio(sum.flops, sum.total) * 1e-9});
  std::stable_sort(
      summary.codelets.begin(), summary.codelets.end(),
      [](const CodeletSummary& a, const CodeletSummary& b) { return a.total_seconds > b.total_seconds; });
  for (const auto& [key, sum] : workers)
    summary.workers.push_back({key.first, key.second, static_cast<Index>(sum.seconds.size()), sum.total,
                               span.seconds() > 0 ? 1 - sum.total / span.seconds() : 0,
                               ratio(sum.flops, span.seconds()) * 1e-9});
  summary.busy_share = ratio(all.total, span.seconds() * static_cast<double>(workers.size()));
  summary.gflops = ratio(all.flops, span.seconds()) * 1e-9;
  return summary;
}

std::string format_summary(const TraceSummary& summary) {
  std::string text = fmt::format("{:<28}{:>9}{:>12}{:>11}{:>9}{:>11}\n", "codelet", "count", "median",
                                 "seconds", "share", "GFLOP/s");
  for (const CodeletSummary& codelet : summary.codelets)
    text += fmt::format("  {:<26}{:>9}{:>12}{:>11.4f}{:>7.1f} %{:>11.1f}\n", codelet.name, codelet.count,
                        format_seconds(codelet.median_seconds), codelet.total_seconds, 100 * codelet.share,
                        codelet.gflops);
  text += fmt::format("{:<28}{:>9}{:>12}{:>11}{:>9}{:>11}\n", "worker", "count", "", "seconds", "idle",
                      "GFLOP/s");
  const bool several_ranks =
      !summary.workers.empty() && summary.workers.back().rank != summary.workers.front().rank;
  for (const WorkerSummary& worker : summary.workers) {
    const std::string name = several_ranks ? fmt::format("{} of rank {}", worker.worker, worker.rank)
                                           : fmt::format("{}", worker.worker);
    text += fmt::format("  {:<26}{:>9}{:>12}{:>11.4f}{:>7.1f} %{:>11.1f}\n", name, worker.count, "",
                        worker.busy_seconds, 100 * worker.idle_share, worker.gflops);
  }
  if (!summary.messages.empty())
    text += fmt::format("{:<28}{:>9}{:>12}{:>11}{:>20}\n", "messages to", "count", "", "seconds",
                        "computing meanwhile");
  for (const MessageSummary& m : summary.messages)
    text += fmt::format("  {:<26}{:>9}{:>12}{:>11.4f}{:>18.1f} %\n", fmt::format("rank {}", m.rank), m.count,
                        format_bytes(m.bytes), m.seconds,
                        m.seconds > 0 ? 100 * m.overlapped_seconds / m.seconds : 0);
  return text + fmt::format("span {}, busy {:.1f} %, {:.1f} GFLOP/s\n", format_seconds(summary.span_seconds),
                            100 * summary.busy_share, summary.gflops);
}

Json to_json(const TraceSummary& summary) {
  Json json;
  json["span_seconds"] = summary.span_seconds;
  json["busy_share"] = summary.busy_share;
  json["gflops"] = summary.gflops;
  json["codelets"] = Json::array();
  for (const CodeletSummary& codelet : summary.codelets)
    json["codelets"].push_back({{"name", codelet.name},
                                {"count", codelet.count},
                                {"median_seconds", codelet.median_seconds},
                                {"seconds", codelet.total_seconds},
                                {"share", codelet.share},
                                {"gflops", codelet.gflops}});
  json["workers"] = Json::array();
  for (const WorkerSummary& worker : summary.workers)
    json["workers"].push_back({{"rank", worker.rank},
                               {"worker", worker.worker},
                               {"count", worker.count},
                               {"seconds", worker.busy_seconds},
                               {"idle", worker.idle_share},
                               {"gflops", worker.gflops}});
  json["messages"] = Json::array();
  for (const MessageSummary& message : summary.messages)
    json["messages"].push_back({{"rank", message.rank},
                                {"count", message.count},
                                {"bytes", message.bytes},
                                {"seconds", message.seconds},
                                {"overlapped_seconds", message.overlapped_seconds}});
  return json;
}

Json to_chrome(const Trace& trace) {
  Json events = Json::array();
  for (const TracedTask& task : trace.tasks)
    events.push_back({{"name", task.name},
                      {"ph", "X"},
                      {"pid", task.rank},
                      {"tid", task.worker},
                      {"ts", task.start * 1e6},
                      {"dur", (task.end - task.start) * 1e6},
                      {"args", {{"gflop", task.flops * 1e-9}}}});
  for (std::size_t id = 0; id < trace.messages.size(); ++id) {
    const TracedMessage& message = trace.messages[id];
    for (const bool end : {false, true})
      events.push_back({{"name", fmt::format("from rank {}", message.source)},
                        {"cat", "message"},
                        {"ph", end ? "e" : "b"},
                        {"id", id},
                        {"pid", message.destination},
                        {"tid", 0},
                        {"ts", (end ? message.end : message.start) * 1e6},
                        {"args", {{"bytes", message.bytes}}}});
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

std::string to_svg(const Trace& trace) {
  constexpr double width = 1200, row = 18, left = 70, top = 10;
  const std::vector<TracedTask>& tasks = trace.tasks;
  const Span span = span_of(tasks);
  const double scale = span.seconds() > 0 ? width / span.seconds() : 0;
  const TraceSummary summary = summarise(trace);
  const std::map<int, std::vector<Span>> messages = arrivals(trace.messages);
  std::map<std::string, std::size_t> colours;
  for (std::size_t i = 0; i < summary.codelets.size(); ++i) colours[summary.codelets[i].name] = i;
  std::map<WorkerKey, std::vector<const TracedTask*>> rows;
  for (const TracedTask& task : tasks) rows[{task.rank, task.worker}].push_back(&task);

  const double chart = top + row * static_cast<double>(rows.size() + messages.size());
  const double height = chart + 30 + 16 * static_cast<double>(colours.size());
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
      "font-family=\"sans-serif\" "
      "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      left + width + 10, height);
  double y = top;
  for (auto& [key, list] : rows) {
    text += fmt::format("<text x=\"4\" y=\"{:.0f}\">{}.{}</text>\n", y + 12, key.first, key.second);
    std::sort(list.begin(), list.end(),
              [](const TracedTask* a, const TracedTask* b) { return a->start < b->start; });
    for (std::size_t i = 0; i < list.size();) {
      const double begin = list[i]->start;
      double end = list[i]->end;
      std::size_t next = i + 1;
      while (next < list.size() && list[next]->name == list[i]->name &&
             (list[next]->start - end) * scale < 0.1 && (list[next]->end - list[next]->start) * scale < 0.1)
        end = list[next++]->end;
      text += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"><title>{} "
          "{}</title></rect>\n",
          left + (begin - span.start) * scale, y, std::max(0.1, (end - begin) * scale), row - 2,
          colour(colours[list[i]->name]), escaped(list[i]->name), format_seconds(end - begin));
      i = next;
    }
    y += row;
  }
  for (const auto& [rank, spans] : messages) {
    text += fmt::format("<text x=\"4\" y=\"{:.0f}\">to {}</text>\n", y + 12, rank);
    for (const Span& under_way : spans) {
      const double begin = std::max(under_way.start, span.start), end = std::min(under_way.end, span.end);
      if (end > begin)
        text += fmt::format(
            "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\" "
            "fill=\"#999\"><title>messages to "
            "rank {}, {}</title></rect>\n",
            left + (begin - span.start) * scale, y + 4, std::max(0.1, (end - begin) * scale), row - 10, rank,
            format_seconds(end - begin));
    }
    y += row;
  }
  for (int tick = 0; tick <= 10; ++tick)
    text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                        left + width * tick / 10, chart + 12, format_seconds(span.seconds() * tick / 10));
  y = chart + 24;
  for (const CodeletSummary& codelet : summary.codelets) {
    text += fmt::format(
        "<rect x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"12\" height=\"12\" fill=\"{2}\"/><text x=\"{3:.0f}\" "
        "y=\"{4:.0f}\">"
        "{5}: {6}, {7:.1f} %</text>\n",
        left, y, colour(colours[codelet.name]), left + 18, y + 10, escaped(codelet.name), codelet.count,
        100 * codelet.share);
    y += 16;
  }
  return text + "</svg>\n";
}

}  // namespace tessera::program
