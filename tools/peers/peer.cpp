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
  if (!report.peer) {
    report.peer = PeerRecord{peer.name(), peer.threads(), {}, {}, peer.gpus()};
    report.peer->version = peer.version();
  }
  report.peer->seconds.push_back(seconds);
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
