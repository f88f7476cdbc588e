// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <gtest/gtest.h>

#include <tessera/error.hpp>

namespace tessera::test {

/// Expects `call` to refuse the argument with this name.
template <class Call>
void expect_refused(const std::string& name, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no exception for " << name;
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.name(), name) << error.what();
  }
}

}  // namespace tessera::test
