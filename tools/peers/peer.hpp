// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include <tessera/runtime.hpp>

#include "report.hpp"

/// Other libraries that do the same job, for comparison. A command or a benchmark makes one of them by the
/// name that --peer gives, asks whether it can run here, and then alternates with it: prepare, run, result,
/// release.
namespace tessera::program {

struct PeerTraits {
  std::string name;           ///< of the routines, once they are known; of the library before
  std::string version;        ///< of the library
  std::string unavailable{};  ///< what would have to be otherwise for it to run here; empty: it runs
  int threads = 1;            ///< 0: on GPUs
  int gpus = 1;               ///< where threads is 0
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

  /// Does the prepared job once; seconds inside the library, without what prepares it. `unknown`: the library
  /// has no routine for it. @throws Error if the library fails
  virtual double run() = 0;
  /// Gives back what the job took.
  virtual void release() = 0;

 protected:
  void set_name(std::string name) { traits_.name = std::move(name); }

 private:
  PeerTraits traits_;
};

/// A peer for one kind of problem.
template <class Problem, class Result>
class PeerFor : public Peer {
 public:
  using Peer::Peer;
  /// Everything that is not timed, for the next run.
  virtual void prepare(Problem problem) = 0;
  /// Of the last run, for checks; gone afterwards.
  virtual Result result() = 0;
};

/// Of peers whose result nothing is checked with.
struct NoResult {};

/// A peer whose run is a call of a function, which may name the routine.
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

/// @throws InvalidArgument for --peer if it cannot run here
void require_available(const Peer& peer, const std::string& library);

/// Adds one run of the peer to the record.
void add_peer_seconds(Report& report, const Peer& peer, double seconds);

/// What `unavailable` says of a library that knows nothing of other ranks; empty in one process.
std::string needs_one_process(const Runtime& runtime);
/// The same of one that works on the GPUs of the run.
std::string needs_gpu(const Runtime& runtime);
/// The same of one that this program may have been built without.
std::string needs_build_with(bool present, const std::string& library);
/// The first one that is not empty.
std::string first_of(std::initializer_list<std::string> reasons);

}  // namespace tessera::program
