// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>

#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

SparseGenerator matrix_market_generator(const KindArguments& arguments) {
  if (arguments.rest().empty()) arguments.fail("a path after matrix-market:");
  SparseGenerator made;
  made.a =
      std::make_shared<CoordinateRows>(CoordinateRows::from_matrix_market(std::string(arguments.rest())));
  made.spectrum.text = "A file: nothing is known.";
  return made;
}

}  // namespace tessera::detail
