// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hdf5.h>

/// How HDF5 writes a file of ours; not installed for users.
namespace tessera::hdf5 {

/// A descriptor that HDF5 writes to, and the system's first error there.
///
/// HDF5 does not survive errors of its files well: it keeps what it could not write, tries again when the
/// process ends, and may crash there. So it never hears of one: after the first error what it writes goes
/// nowhere, and the caller looks here.
struct WrittenDescriptor {
  int descriptor = -1;
  int error = 0;
};

/// Creates an HDF5 file on the descriptor; negative on failure. HDF5 may hold the file longer than the caller
/// does, but touches the descriptor no more once it is negative.
hid_t create_file(const std::shared_ptr<WrittenDescriptor>& target);

}  // namespace tessera::hdf5
