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

/// Expects the call to throw an InputError that names the file and the line and contains the
/// reason.
template <class Call>
void expect_input_error(const Call& call, const std::string& file, Index line, const std::string& reason) {
  try {
    call();
    ADD_FAILURE() << "no error: " << reason;
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), file);
    EXPECT_EQ(error.line(), line) << error.what();
    const std::string text = error.what();
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_EQ(text.find(file), 0u) << text;
    EXPECT_EQ(text.find(file + ": " + file), std::string::npos) << text;
  }
}

}  // namespace tessera::test
