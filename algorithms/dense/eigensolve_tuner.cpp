// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tessera/eigensolve_tuner.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/io/input_file.hpp>
#include <tessera/runtime/output_file.hpp>

namespace tessera {

using namespace detail;

namespace {

constexpr const char* format_name = "tessera eigensolve tuning 1";
constexpr double no_time = std::numeric_limits<double>::infinity();

/// What the solver chooses by itself, then each solver; for the two-stage solver several bands, each with a few tile sizes, and
/// update widths of a whole and of half a tile. What is fixed stays.
std::vector<EigensolveOptions> combinations(Index n, const EigensolveOptions& fixed) {
  std::vector<EigensolveOptions> list{fixed};
  const auto add = [&](Solver solver, Index tile, Index band, Index width) {
    EigensolveOptions options = fixed;
    const auto set = [](auto& value, auto chosen) {
      if (value != decltype(chosen){} && value != chosen) return false;
      value = chosen;
      return true;
    };
    if (set(options.solver, solver) && set(options.tile, tile) && set(options.band, band) &&
        set(options.update_width, width))
      list.push_back(options);
  };
  add(Solver::vendor, fixed.tile, fixed.band, fixed.update_width);
  for (const Index tile : {128, 192, 256, 384, 512}) {
    if (tile > std::max<Index>(n / 2, 1)) continue;
    add(Solver::one_stage, tile, fixed.band, fixed.update_width);
    for (const Index band : {32, 48, 64, 96, 128}) {
      if (tile % band != 0 || band > n / 4) continue;
      for (const Index width : {tile / 2, tile})
        if (width % band == 0) add(Solver::two_stage, tile, band, width);
    }
  }
  return list;
}

bool same(const EigensolveOptions& a, const EigensolveOptions& b) {
  return a.solver == b.solver && a.tile == b.tile && a.band == b.band && a.update_width == b.update_width;
}

}  // namespace

template <class T>
EigensolveTuner<T>::EigensolveTuner(Runtime& runtime, Index n, const EigensolveOptions& fixed)
    : runtime_(&runtime), n_(n) {
  for (const EigensolveOptions& options : combinations(n, fixed)) {
    EigensolveOptions resolved;
    try {
      resolved = resolve_options<T>(runtime, n, options);
    } catch (const InvalidArgument&) {  // tasks that do not fit into a GPU
      if (candidates_.empty()) throw;   // what the caller has fixed is no good
      continue;
    }
    if (std::none_of(candidates_.begin(), candidates_.end(),
                     [&](const Candidate& c) { return same(c.options, resolved); }))
      candidates_.push_back({resolved});
  }
}

template <class T>
EigenResult<T> EigensolveTuner<T>::solve(const EigenProblem<T>& problem) {
  const auto begin = std::chrono::steady_clock::now();
  EigenResult<T> result = eigensolve<T>(*runtime_, problem, next());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  record(result ? seconds.count() : no_time);
  return result;
}

template <class T>
EigensolveOptions EigensolveTuner<T>::next() const {
  const auto untried =
      std::find_if(candidates_.begin(), candidates_.end(), [](const Candidate& c) { return c.seconds < 0; });
  return untried == candidates_.end() ? best() : untried->options;
}

template <class T>
void EigensolveTuner<T>::record(double seconds) {
  agree(*runtime_, argument_hash("EigensolveTuner::record"), [&] {
    if (!(seconds >= 0)) throw InvalidArgument("seconds", fmt::format("{}", seconds), "at least 0");
  });
  runtime_->all_reduce_max(&seconds, 1);
  const auto untried =
      std::find_if(candidates_.begin(), candidates_.end(), [](const Candidate& c) { return c.seconds < 0; });
  if (untried != candidates_.end()) untried->seconds = seconds;
}

template <class T>
Index EigensolveTuner<T>::tried() const noexcept {
  return std::count_if(candidates_.begin(), candidates_.end(),
                       [](const Candidate& c) { return c.seconds >= 0; });
}

template <class T>
const EigensolveOptions& EigensolveTuner<T>::best() const noexcept {
  const auto time = [](const Candidate& c) { return c.seconds < 0 ? no_time : c.seconds; };
  return std::min_element(candidates_.begin(), candidates_.end(),
                          [&](const Candidate& a, const Candidate& b) { return time(a) < time(b); })
      ->options;
}

template <class T>
double EigensolveTuner<T>::best_seconds() const noexcept {
  double best = no_time;
  for (const Candidate& c : candidates_)
    if (c.seconds >= 0) best = std::min(best, c.seconds);
  return best;
}

template <class T>
std::string EigensolveTuner<T>::text() const {
  nlohmann::ordered_json json{{"format", format_name},
                              {"n", n_},
                              {"type", std::string(1, type_letter<T>)},
                              {"workers", runtime_->workers() * runtime_->size()},
                              {"gpus", runtime_->gpus()},
                              {"vectors", candidates_.front().options.vectors},
                              {"candidates", nlohmann::ordered_json::array()}};
  for (const Candidate& c : candidates_)
    json["candidates"].push_back({{"solver", std::string(to_string(c.options.solver))},
                                  {"tile", c.options.tile},
                                  {"band", c.options.band},
                                  {"update_width", c.options.update_width},
                                  // Null: not tried. JSON has no infinity: a solve that has failed is false.
                                  {"seconds", c.seconds < 0          ? nlohmann::ordered_json()
                                              : c.seconds == no_time ? nlohmann::ordered_json(false)
                                                                     : nlohmann::ordered_json(c.seconds)}});
  return json.dump(2) + '\n';
}

template <class T>
void EigensolveTuner<T>::save(const std::string& path) const {
  agree(*runtime_, argument_hash("EigensolveTuner::save"), [&] {
    if (runtime_->rank() == 0) write_file(path, text());
  });
}

template <class T>
void EigensolveTuner<T>::take(const std::string& path, const std::string& content) {
  // What the file may not differ in is compared as text: everything but the seconds.
  const auto without_times = [](nlohmann::ordered_json json) {
    for (auto& c : json.at("candidates")) c.erase("seconds");
    return json;
  };
  std::vector<double> seconds;
  nlohmann::ordered_json json;
  try {
    json = nlohmann::ordered_json::parse(content);
    if (json.at("format") != format_name) throw Error("format");
    for (const auto& c : json.at("candidates")) {
      const auto& time = c.at("seconds");
      seconds.push_back(time.is_null() ? -1 : time.is_boolean() ? no_time : time.template get<double>());
      if (!time.is_null() && !(seconds.back() >= 0)) throw Error("seconds");
    }
  } catch (const std::exception&) {
    throw InputError(path, 0, "is no file that EigensolveTuner has written");
  }
  if (without_times(json) != without_times(nlohmann::ordered_json::parse(text())))
    throw InputError(path, 0, "is of another order, type, machine or set of options");
  for (std::size_t k = 0; k < seconds.size(); ++k) candidates_[k].seconds = seconds[k];
}

template <class T>
void EigensolveTuner<T>::load(const std::string& path) {
  std::string content;
  agree(*runtime_, argument_hash("EigensolveTuner::load"), [&] {
    if (runtime_->rank() == 0) content = InputFile(path).read();
  });
  auto size = static_cast<Index>(content.size());
  runtime_->broadcast(&size, sizeof size, 0);
  content.resize(static_cast<std::size_t>(size));
  runtime_->broadcast(content.data(), size, 0);
  take(path, content);
}

#define TESSERA_INSTANTIATE(T) template class EigensolveTuner<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
