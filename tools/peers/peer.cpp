// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "peer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/error.hpp>

namespace tessera::program {

void require_available(const Peer& peer, const std::string& library) {
  if (!peer.unavailable().empty()) throw InvalidArgument("--peer", library, peer.unavailable());
}

void add_peer_seconds(Report& report, const Peer& peer, double seconds) {
  if (!report.peer) report.peer = new_peer_record(peer);
  add_peer_seconds(*report.peer, peer, seconds);
}

void add_peer_seconds(PeerRecord& record, const Peer& peer, double seconds) {
  record.seconds.push_back(seconds);
  std::vector<PeerCandidate>& all = record.candidates;
  for (const PeerTrial& trial : peer.trials()) {
    auto same = std::ranges::find(all, trial.name, &PeerCandidate::name);
    if (same == all.end()) same = all.insert(all.end(), {trial.name, {}});
    same->seconds.push_back(trial.seconds);
  }
  if (all.empty()) {
    record.name = peer.name();
    return;
  }
  const auto fastest =
      std::ranges::min_element(all, {}, [](const PeerCandidate& c) { return median(c.seconds); });
  record.name = fastest->name;
  record.seconds = fastest->seconds;
}

PeerRecord new_peer_record(const Peer& peer) {
  PeerRecord record{peer.name(), peer.threads(), {}, {}, peer.gpus()};
  record.version = peer.version();
  return record;
}

std::string needs_one_process(const Runtime& runtime) {
  return runtime.size() > 1 ? "one process (the library does not know of the others)" : "";
}

std::string needs_gpu(const Runtime& runtime) {
  return runtime.gpus() > 0 ? "" : "another peer (this run has no GPU)";
}

std::string needs_build_with(bool present, const std::string& library) {
  return present ? "" : fmt::format("another peer (this program was built without {})", library);
}

std::string first_of(std::initializer_list<std::string> reasons) {
  const auto found =
      std::find_if(reasons.begin(), reasons.end(), [](const std::string& reason) { return !reason.empty(); });
  return found == reasons.end() ? std::string() : *found;
}

}  // namespace tessera::program
