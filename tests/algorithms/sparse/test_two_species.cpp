// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <tests/algorithms/sparse/two_species_checks.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

template <class T>
using TwoSpecies = RuntimeTest<T>;
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TwoSpecies, Reals);

TYPED_TEST(TwoSpecies, ProductsOfRandomStructures) {
  for (const SpeciesStorage storage :
       {SpeciesStorage::automatic, SpeciesStorage::dense, SpeciesStorage::sparse})
    for (const Index segments : {0, 1, 3, 100}) {
      const TwoSpeciesOptions options{segments, storage};
      check_two_species<TypeParam>(this->runtime(), random_structure({3, 1, 4}, {2, 5}, 1), options);
      check_two_species<TypeParam>(this->runtime(), random_structure({2, 0, 6, 1}, {7, 1, 3}, 2, 0.02),
                                   options);
      check_two_species<TypeParam>(this->runtime(), random_structure({20, 3}, {7, 0, 3}, 5, 0.3, 1), options);
      check_two_species<TypeParam>(this->runtime(), random_structure({4, 0}, {3, 0}, 6, 0.5, 1), options);
    }
  // Nothing but zeros.
  TwoSpeciesStructure zero = random_structure({3, 2}, {2, 4}, 1, 0, 1);
  for (SpeciesCoupling& coupling : zero.couplings) std::ranges::fill(coupling.strengths, 0.0);
  check_two_species<TypeParam>(this->runtime(), zero, {3});
  check_two_species<TypeParam>(this->runtime(), random_structure({1}, {1}, 3, 1, 1), {});
  check_two_species<TypeParam>(this->runtime(), random_structure({20, 15}, {40, 70}, 4, 0.1, 1), {}, {32});
}

/// More jobs in a line than any kernel holds at once.
TYPED_TEST(TwoSpecies, ManyMovesIntoAState) {
  TwoSpeciesStructure structure = random_structure({400, 3}, {3, 2}, 7, 0.9, 1);
  for (Index k = 0; k < 400; ++k)
    structure.first.moves.push_back({0, std::uint32_t(k), 7, 0, std::int16_t(k % 2 == 0 ? 1 : -1)});
  SpeciesCoupling coupling{7, 1, 1, 5, {1, 2, 3, -1, 2}};
  structure.couplings.push_back(coupling);
  for (const SpeciesStorage storage : {SpeciesStorage::dense, SpeciesStorage::sparse})
    check_two_species<TypeParam>(this->runtime(), structure, {0, storage}, {3});
}

TYPED_TEST(TwoSpecies, Refused) {
  using Operator = TwoSpeciesOperator<TypeParam>;
  const TwoSpeciesStructure good = random_structure({3, 1, 4}, {2, 5}, 1, 0.3, 1);
  const auto refused = [&](const char* name, const auto& change, const TwoSpeciesOptions& options = {}) {
    TwoSpeciesStructure bad = good;
    change(bad);
    expect_refused(name, [&] { (void)Operator::build(this->runtime(), bad, options); });
  };
  const auto nothing = [](TwoSpeciesStructure&) {};
  refused("segments", nothing, {-1});
  refused("segments", nothing, {1000});
  refused("first", [](auto& s) { s.first.sectors = {0}; });
  refused("first", [](auto& s) { s.first.sectors = {0, 3, 2, 8}; });
  refused("first", [](auto& s) { s.first.elements.push_back({8, 0, 1}); });
  refused("second", [](auto& s) {
    s.second.elements.push_back({0, 0, std::numeric_limits<double>::quiet_NaN()});
  });
  refused("second", [](auto& s) { s.second.moves.push_back({0, 7, 0, 0, 1}); });
  refused("second", [](auto& s) { s.second.moves.front().sign = 0; });
  refused("second", [](auto& s) { s.second.moves.front().number = 5; });
  refused("moves", [](auto& s) {
    s.first.moves.push_back({0, 0, 9, 0, 1});
    s.first.moves.push_back({0, 7, 9, 1, 1});
  });
  refused("elements", [](auto& s) {
    s.first.elements.push_back({1, 1, 2});
    s.first.elements.push_back({1, 1, 3});
  });
  refused("moves", [](auto& s) { s.second.moves.push_back(s.second.moves.front()); });
  if (sizeof(TypeParam) == 4) refused("structure", [](auto& s) { s.couplings.front().strengths[3] = 1e60; });
  refused("pairs", [](auto& s) {
    s.first.sectors = s.second.sectors = {0, 4'000'000'000};
    s.pairs = {{0, 0}};
  });
  TwoSpeciesStructure absent = good;
  absent.pairs.push_back({7, 0});
  expect_refused("pairs", [&] { (void)absent.order(); });
  refused("pairs", [](auto& s) { s.pairs.push_back(s.pairs.front()); });
  refused("pairs", [](auto& s) { s.pairs.push_back({3, 0}); });
  refused("pairs", [](auto& s) { s.pairs.clear(); });
  refused("couplings", [](auto& s) { s.couplings.push_back(s.couplings.front()); });
  refused("strengths", [](auto& s) { s.couplings.front().strengths.pop_back(); });
  refused("strengths",
          [](auto& s) { s.couplings.front().strengths[3] = std::numeric_limits<double>::infinity(); });
  const auto a = Operator::build(this->runtime(), good);
  const BlockVectors<TypeParam> x(this->runtime(), a.segments(), 2), y(this->runtime(), a.segments(), 2);
  Sequence sequence(this->runtime());
  expect_refused("columns", [&] { a.apply(sequence, x, y, 3); });
  expect_refused("y", [&] { a.apply(sequence, x, x, 1); });
}

}  // namespace
}  // namespace tessera::test
