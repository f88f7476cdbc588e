// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/eigensolve.hpp>
#include <tessera/runtime.hpp>

/// @file
/// The fastest options, found while a program solves its own problems (as ELPA's autotuning does): each solve of a loop takes
/// the next candidate, and when all have been tried the best one.
///
///   EigensolveTuner<double> tuner(runtime, n);
///   for (...) const auto r = tuner.solve({.a = {fock, n, n}, .b_factor = s});
///   tuner.save("tuning.json");
namespace tessera {

/// Tries options for problems of one order on one Runtime. The same calls on all ranks; what it knows is the same there. Not
/// thread-safe.
template <class T>
class EigensolveTuner {
 public:
  /// @param fixed what is not tried: range and vectors, and each of solver, tile, band and update_width that is set
  /// @throws InvalidArgument for options that no solve would take
  EigensolveTuner(Runtime& runtime, Index n, const EigensolveOptions& fixed = {});

  /// Solves with next(), and records how long it took; of a solve that fails, that it did. Collective.
  [[nodiscard]] EigenResult<T> solve(const EigenProblem<T>& problem);

  /// The options of the next solve: a candidate that was not tried, or best().
  EigensolveOptions next() const;
  /// The seconds of a solve with next(), the most of all ranks; infinity for one that has failed. Collective.
  /// @throws InvalidArgument for a number below 0 or NaN
  void record(double seconds);

  /// Number of candidates.
  Index candidates() const noexcept { return static_cast<Index>(candidates_.size()); }
  /// The options of a candidate, with everything resolved.
  const EigensolveOptions& candidate(Index k) const {
    return candidates_.at(static_cast<std::size_t>(k)).options;
  }
  /// Candidates with a time.
  Index tried() const noexcept;
  /// All have one.
  bool done() const noexcept { return tried() == candidates(); }
  /// The fastest so far; before the first record the first candidate, which is what a solve chooses by itself.
  const EigensolveOptions& best() const noexcept;
  /// Its seconds; infinity before the first.
  double best_seconds() const noexcept;

  /// Writes what has been tried, by rank 0. Collective. @throws InputError if the file cannot be written
  void save(const std::string& path) const;
  /// Goes on where a file ends. Collective.
  /// @throws InputError for another file, and one of another order, type, number of workers or other candidates
  void load(const std::string& path);

 private:
  struct Candidate {
    EigensolveOptions options;
    double seconds = -1;  ///< below 0: not tried
  };
  std::string text() const;
  void take(const std::string& path, const std::string& text);
  Runtime* runtime_;
  Index n_;
  std::vector<Candidate> candidates_;
};

}  // namespace tessera
