// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::test {
using namespace detail;
namespace {

class Agreement : public ::testing::Test {
 protected:
  int last() const { return runtime_.size() - 1; }
  bool on_last() const { return runtime_.rank() == last(); }
  /// The exception that every rank receives if the last one throws `error`.
  template <class Seen, class Thrown>
  Seen seen_for(const Thrown& error) {
    try {
      agree(runtime_, 7, [&] {
        if (on_last()) throw error;
      });
    } catch (const Seen& seen) {
      return seen;
    }
    throw std::logic_error("nothing was thrown");
  }
  Runtime runtime_{{.cores = 1, .bind = false}, Communicator::world()};
};

TEST_F(Agreement, EveryKindOfErrorArrivesAsItIs) {
  const auto argument = seen_for<InvalidArgument>(InvalidArgument("n", "-1", "at least 0"));
  EXPECT_EQ(argument.name() + argument.value() + argument.expected(), "n-1at least 0");
  const auto input = seen_for<InputError>(InputError("file.mtx", 12, "no number"));
  EXPECT_EQ(input.line(), 12);
  EXPECT_EQ(input.file(), "file.mtx");
  EXPECT_STREQ(input.what(), InputError("file.mtx", 12, "no number").what());
  EXPECT_STREQ(seen_for<InputError>(InputError("a", 0, "")).what(), InputError("a", 0, "").what());
  EXPECT_STREQ(seen_for<RuntimeError>(RuntimeError("no GPU")).what(), "no GPU");
  EXPECT_STREQ(seen_for<Error>(Error("something")).what(), "something");
  if (!on_last()) {
    const auto remote = seen_for<RemoteError>(std::out_of_range("far"));
    EXPECT_EQ(remote.rank(), last());
    EXPECT_EQ(remote.message(), "far");
    EXPECT_EQ(remote.what(), "rank " + std::to_string(last()) + ": far");
  } else
    EXPECT_STREQ(seen_for<std::out_of_range>(std::out_of_range("far")).what(), "far");
}

TEST_F(Agreement, TheLowestRankIsHeard) {
  try {
    agree(runtime_, 0, [&] { throw RuntimeError("rank " + std::to_string(runtime_.rank())); });
    ADD_FAILURE();
  } catch (const RuntimeError& error) {
    EXPECT_STREQ(error.what(), "rank 0");
  }
}

TEST_F(Agreement, ArgumentsMustBeEqual) {
  EXPECT_NO_THROW(agree(runtime_, ~std::uint64_t(0), [] {}));
  EXPECT_NO_THROW(agree(runtime_, argument_hash(1.0, 'N', Index(3)), [] {}));
  if (runtime_.size() == 1) return;
  for (const std::uint64_t bit : {std::uint64_t(1), std::uint64_t(1) << 31, std::uint64_t(1) << 63})
    EXPECT_THROW(agree(runtime_, on_last() ? bit : 0, [] {}), InvalidArgument);
  EXPECT_NE(argument_hash(1.0, 2.0), argument_hash(2.0, 1.0));
}

TEST_F(Agreement, WhoLeavesEarlyIsHeard) {
  const auto work = [&](bool watched) {
    ComingAgreement coming(runtime_);
    if (on_last() && watched) coming.watch([] { throw InvalidArgument("a", "b", "c"); });
    if (on_last()) throw 5;
    coming.conclude();
    agree(runtime_, 0, [] {});
  };
  EXPECT_THROW(work(true), InvalidArgument);
  if (on_last())
    EXPECT_THROW(work(false), int);
  else
    EXPECT_THROW(work(false), RuntimeError);
  EXPECT_NO_THROW(agree(runtime_, 0, [] {}));
}

TEST_F(Agreement, GathersOnOneRank) {
  const std::vector<std::byte> mine(static_cast<std::size_t>(3 * runtime_.rank()),
                                    std::byte(1 + runtime_.rank()));
  for (const int root : {0, last()}) {
    const auto all = runtime_.gather(mine, root);
    if (runtime_.rank() != root) {
      EXPECT_TRUE(all.empty());
      continue;
    }
    ASSERT_EQ(all.size(), static_cast<std::size_t>(runtime_.size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      EXPECT_EQ(all[rank], std::vector<std::byte>(3 * rank, std::byte(1 + rank)));
  }
}

}  // namespace
}  // namespace tessera::test
