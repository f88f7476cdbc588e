// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <zlib.h>

#include <tessera/algorithms/sparse/saved_tables.hpp>

namespace tessera::detail {

namespace {

std::uint32_t crc(std::uint32_t before, const void* bytes, std::size_t count) {
  return static_cast<std::uint32_t>(::crc32_z(before, static_cast<const Bytef*>(bytes), count));
}

}  // namespace

std::uint32_t SavedTables::checksum() const {
  std::uint32_t sum = 0;
  for_all(*this, [&](const char*, const auto& values) {
    const std::uint64_t size = values.size();
    sum = crc(sum, &size, sizeof size);
    // Without elements there may be no memory, which zlib takes for the beginning of another sum.
    if (size > 0) sum = crc(sum, values.data(), size * sizeof(values[0]));
  });
  return sum;
}

std::uint32_t cell_checksum(const void* values, std::size_t value_bytes, const std::uint16_t* rows,
                            const std::uint16_t* columns, std::size_t entries) {
  std::uint32_t sum = crc(0, values, value_bytes * entries);
  sum = crc(sum, rows, sizeof(std::uint16_t) * entries);
  return crc(sum, columns, sizeof(std::uint16_t) * entries);
}

}  // namespace tessera::detail
