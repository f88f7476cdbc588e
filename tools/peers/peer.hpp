// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/runtime.hpp>

#include "peer_solution.hpp"
#include "report.hpp"

/// Other libraries that solve the same problem, for comparison. A command or a benchmark creates
/// the peer that --peer names, and checks that it can run here. It then alternates runs of its own
/// with runs of the peer: prepare, run, result, release.
namespace tessera::program {

struct PeerTraits {
  std::string name;           ///< of the routines if known, otherwise of the library
  std::string version;        ///< of the library
  std::string unavailable{};  ///< what it needs to run here; empty: it can run
  int threads = 1;            ///< 0: on GPUs
  int gpus = 1;               ///< number of GPUs, if threads is 0
};

class Peer {
 public:
  explicit Peer(PeerTraits traits) : traits_(std::move(traits)) {}
  virtual ~Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const std::string& name() const noexcept { return traits_.name; }
  const std::string& version() const noexcept { return traits_.version; }
  const std::string& unavailable() const noexcept { return traits_.unavailable; }
  int threads() const noexcept { return traits_.threads; }
  int gpus() const noexcept { return traits_.gpus; }
  /// The routines that the last run has tried, if several.
  const std::vector<PeerTrial>& trials() const noexcept { return trials_; }

  /// Solves the prepared problem once. Returns the seconds in the library, without preparation;
  /// `unknown` if the library has no routine for the problem. @throws Error if the library fails
  virtual double run() = 0;
  /// Releases the memory for the problem.
  virtual void release() = 0;

 protected:
  void set_name(std::string name) { traits_.name = std::move(name); }
  void set_trials(std::vector<PeerTrial> trials) { trials_ = std::move(trials); }

 private:
  PeerTraits traits_;
  std::vector<PeerTrial> trials_;
};

/// A peer for one kind of problem.
template <class Problem, class Result>
class PeerFor : public Peer {
 public:
  using Peer::Peer;
  /// Prepares the next run with everything that is not timed.
  virtual void prepare(Problem problem) = 0;
  /// Moves out the result of the last run, for checks.
  virtual Result result() = 0;
};

/// For peers whose result is not checked.
struct NoResult {};

/// A peer that runs by calling a function. The function may set the routine's name.
template <class Problem, class Result>
class CallPeer final : public PeerFor<Problem, Result> {
 public:
  using Call = std::function<double(Problem& problem, Result& result, std::string& name)>;
  CallPeer(PeerTraits traits, Call call)
      : PeerFor<Problem, Result>(std::move(traits)), call_(std::move(call)) {}
  void prepare(Problem problem) override { problem_ = std::move(problem); }
  double run() override {
    std::string name = this->name();
    const double seconds = call_(*problem_, result_, name);
    this->set_name(std::move(name));
    if constexpr (requires { result_.trials; }) this->set_trials(result_.trials);
    return seconds;
  }
  Result result() override { return std::exchange(result_, Result()); }
  void release() override {
    problem_.reset();
    result_ = Result();
  }

 private:
  Call call_;
  std::optional<Problem> problem_;
  Result result_{};
};

/// @throws InvalidArgument for --peer if the peer cannot run here
void require_available(const Peer& peer, const std::string& library);

/// Adds one run of the peer to the record. If it has tried several routines, the one that is the fastest by the
/// median so far becomes the record's.
void add_peer_seconds(Report& report, const Peer& peer, double seconds);
void add_peer_seconds(PeerRecord& record, const Peer& peer, double seconds);
/// A record without runs.
PeerRecord new_peer_record(const Peer& peer);

/// Text for `unavailable` if a library supports only one process; empty if there is only one.
std::string needs_one_process(const Runtime& runtime);
/// The same for a library that runs on the GPUs of the run.
std::string needs_gpu(const Runtime& runtime);
/// The same for a library that is optional in the build.
std::string needs_build_with(bool present, const std::string& library);
/// The first string that is not empty.
std::string first_of(std::initializer_list<std::string> reasons);

}  // namespace tessera::program
