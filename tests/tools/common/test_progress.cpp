// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "process.hpp"

namespace tessera::program {
namespace {

/// stderr is a terminal as long as this lives.
class Terminal {
 public:
  Terminal() : main_(::posix_openpt(O_RDWR | O_NOCTTY)), before_(::dup(STDERR_FILENO)) {
    if (main_ < 0 || ::grantpt(main_) != 0 || ::unlockpt(main_) != 0) return;
    const int other = ::open(::ptsname(main_), O_RDWR | O_NOCTTY);
    if (other < 0) return;
    ::dup2(other, STDERR_FILENO);
    ::close(other);
    good_ = true;
  }
  ~Terminal() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    if (main_ >= 0) ::close(main_);
  }
  bool good() const { return good_; }
  std::string shown() const {
    ::fcntl(main_, F_SETFL, O_NONBLOCK);
    std::string text(4096, '\0');
    const ssize_t count = ::read(main_, text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

 private:
  int main_, before_;
  bool good_ = false;
};

TEST(Progress, ShowsTheShareInPercent) {
  std::string with_share, with_other_stage;
  {
    const Terminal terminal;
    if (!terminal.good()) GTEST_SKIP() << "no terminal can be made";
    Progress progress(true);
    progress.stage("making the matrix");
    progress.share(0.4299);
    std::this_thread::sleep_for(std::chrono::milliseconds(1700));
    with_share = terminal.shown();
    progress.stage("solving");  // whose share is not known
    std::this_thread::sleep_for(std::chrono::milliseconds(1700));
    with_other_stage = terminal.shown();
    progress.done();
  }
  EXPECT_NE(with_share.find("making the matrix (42 %, 1 s)"), std::string::npos) << with_share;
  EXPECT_NE(with_other_stage.find("solving (1 s)"), std::string::npos) << with_other_stage;
}

}  // namespace
}  // namespace tessera::program
