# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Script (cmake -P), run at every build: writes the version header, and touches it only if its text changes.
# Expects TESSERA_SOURCE_DIR, TESSERA_OUTPUT and TESSERA_VERSION.
string(REPLACE "." ";" parts "${TESSERA_VERSION}")
list(GET parts 0 TESSERA_VERSION_MAJOR)
list(GET parts 1 TESSERA_VERSION_MINOR)
list(GET parts 2 TESSERA_VERSION_PATCH)

set(TESSERA_COMMIT "unknown")
find_program(GIT git)
if(GIT AND EXISTS "${TESSERA_SOURCE_DIR}/.git")
  execute_process(
    COMMAND ${GIT} describe --always --dirty --abbrev=12 --exclude *
    WORKING_DIRECTORY "${TESSERA_SOURCE_DIR}"
    OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(TESSERA_COMMIT "${commit}")
  endif()
endif()
configure_file("${TESSERA_SOURCE_DIR}/runtime/version.hpp.in" "${TESSERA_OUTPUT}" @ONLY)
