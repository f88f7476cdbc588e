// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "scf_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace scf_test;
using test::Matrix;

class ScfFailures : public RuntimeTest<double> {
 protected:
  void SetUp() override {
    model_ = chain_in_mean_field<double>(4, 0.8, true, &states_);
    core_ = blocks_of(runtime(), model_.core, model_.sizes);
    overlap_ = blocks_of(runtime(), model_.overlap, model_.sizes);
    sound_ = functional_of(core_, model_.strength);
  }
  void TearDown() override {
    core_ = {};
    overlap_ = {};
  }
  ScfProblem<double> problem(ScfFunctional<double> functional) {
    return {.functional = std::move(functional),
            .overlap = &overlap_,
            .channels = {{.electrons = 2.0 * double(states_), .hamiltonian = &core_}}};
  }
  /// The sound functional, whose result `change` may spoil from the given call on.
  ScfFunctional<double> spoiled(std::function<void(ScfFields<double>&)> change, int from = 2) {
    auto calls = std::make_shared<int>(0);
    return [this, change = std::move(change), from, calls](std::span<const BlockSparseMatrix<double>> p) {
      auto fields = sound_(p);
      if (++*calls >= from) change(fields);
      return fields;
    };
  }
  MeanField<double> model_;
  Index states_ = 0;
  BlockSparseMatrix<double> core_, overlap_;
  ScfFunctional<double> sound_;
};

TEST_F(ScfFailures, WhatIsNoNumberIsAStatus) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ScfMethod method : all_scf_methods) {
    SCOPED_TRACE(to_string(method));
    const auto energy =
        scf<double>(runtime(), problem(spoiled([&](ScfFields<double>& fields) { fields.energy = nan; })),
                    {.method = method});
    EXPECT_EQ(energy.status().code, StatusCode::not_finite) << energy.status().message();
    EXPECT_EQ(energy.status().stage, "functional");
    EXPECT_TRUE(energy.channels.empty());
    EXPECT_EQ(energy.steps.size(), 1u);
    const auto element = scf<double>(runtime(), problem(spoiled([&](ScfFields<double>& fields) {
                                       Sequence sequence(runtime());
                                       set_all(sequence, nan, fields.hamiltonians[0]);
                                       sequence.wait();
                                     })),
                                     {.method = method});
    EXPECT_EQ(element.status().code, StatusCode::not_finite) << element.status().message();
    EXPECT_TRUE(element.channels.empty());
  }
}

TEST_F(ScfFailures, TooFewStepsAndAMonitorAreAStatus) {
  for (const ScfMethod method : all_scf_methods) {
    SCOPED_TRACE(to_string(method));
    const auto few =
        scf<double>(runtime(), problem(sound_), {.method = method, .tolerance = 1e-12, .iterations = 2});
    EXPECT_EQ(few.status().code, StatusCode::iterations_exhausted) << few.status().message();
    EXPECT_EQ(few.status().stage, to_string(method));
    EXPECT_EQ(few.steps.size(), 2u);
    ASSERT_EQ(few.channels.size(), 1u);
    EXPECT_TRUE(few.channels[0].density.valid());
    const auto stopped =
        scf<double>(runtime(), problem(sound_),
                    {.method = method, .tolerance = 1e-12, .monitor = [](const IterationStep& step) {
                       return step.iteration < 2;
                     }});
    EXPECT_EQ(stopped.status().code, StatusCode::stopped) << stopped.status().message();
    EXPECT_EQ(stopped.steps.size(), 2u);
  }
}

TEST_F(ScfFailures, WhatTheFunctionalThrowsComesOut) {
  const auto throwing = spoiled([](ScfFields<double>&) { throw std::runtime_error("no energy here"); });
  EXPECT_THROW(
      {
        try {
          (void)scf<double>(runtime(), problem(throwing));
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "no energy here");
          throw;
        }
      },
      std::runtime_error);
  auto submitted = submit_scf<double>(runtime(), problem(throwing));
  EXPECT_THROW(submitted.wait(), std::runtime_error);
  // The Runtime goes on.
  EXPECT_TRUE(scf<double>(runtime(), problem(sound_)));
}

TEST_F(ScfFailures, OtherHamiltoniansAreRefused) {
  const auto expect_refusal = [&](std::function<void(ScfFields<double>&)> change) {
    expect_refused("functional", [&] { (void)scf<double>(runtime(), problem(spoiled(change))); });
  };
  expect_refusal([](ScfFields<double>& fields) { fields.hamiltonians.clear(); });
  expect_refusal([](ScfFields<double>& fields) { fields.hamiltonians[0] = {}; });
  expect_refusal([&](ScfFields<double>& fields) {
    fields.hamiltonians[0] = blocks_of(runtime(), model_.core, {model_.core.rows()});
  });
  expect_refusal([&](ScfFields<double>& fields) {
    fields.hamiltonians[0] = blocks_of(runtime(), model_.core, model_.sizes, Symmetry::none);
  });
}

TEST_F(ScfFailures, FailuresWithinNameTheirStage) {
  Matrix<double> bad = model_.overlap;
  bad(0, 3) = bad(3, 0) = 2;
  const auto indefinite = blocks_of(runtime(), bad, model_.sizes);
  auto with_bad = problem(sound_);
  with_bad.overlap = &indefinite;
  const auto r = scf<double>(runtime(), with_bad);
  EXPECT_EQ(r.status().code, StatusCode::not_positive_definite) << r.status().message();
  EXPECT_TRUE(r.channels.empty());
  // An even ring with an electron pair less than half is a metal.
  constexpr Index sites = 16;
  const auto ring = blocks_of(runtime(), staggered_ring<double>(sites, 0), std::vector<Index>(sites / 2, 2));
  const auto metal = scf<double>(runtime(), {.functional = functional_of(ring, 1),
                                             .channels = {{.electrons = 4, .hamiltonian = &ring}}});
  EXPECT_EQ(metal.status().code, StatusCode::no_gap) << metal.status().message();
}

TEST_F(ScfFailures, BadArgumentsAreRefused) {
  const auto refused = [&](const char* name, auto change) {
    auto p = problem(sound_);
    ScfOptions options;
    change(p, options);
    expect_refused(name, [&] { (void)scf<double>(runtime(), p, options); });
    expect_refused(name, [&] { (void)submit_scf<double>(runtime(), p, options); });
  };
  using P = ScfProblem<double>;
  using O = ScfOptions;
  refused("functional", [](P& p, O&) { p.functional = nullptr; });
  refused("channels", [](P& p, O&) { p.channels.clear(); });
  refused("channels", [](P& p, O&) { p.channels[0].hamiltonian = nullptr; });
  refused("channels", [&](P& p, O&) { p.channels[0].density = &core_; });
  refused("electrons", [](P& p, O&) { p.channels[0].electrons = 3; });
  refused("electrons", [](P& p, O&) { p.channels[0].electrons = -2; });
  refused("occupation", [](P& p, O&) { p.channels[0].occupation = 0; });
  const BlockSparseMatrix<double> empty;
  refused("overlap", [&](P& p, O&) { p.overlap = &empty; });
  const auto other = blocks_of(runtime(), model_.core, {model_.core.rows()});
  refused("hamiltonian", [&](P& p, O&) { p.channels[0].hamiltonian = &other; });
  refused("inverse_factor", [&](P& p, O&) {
    p.overlap = nullptr;
    p.inverse_factor = &core_;
  });
  refused("mixing", [](P&, O& o) { o.mixing = 0; });
  refused("mixing", [](P&, O& o) { o.mixing = 1.5; });
  refused("history", [](P&, O& o) { o.history = 0; });
  refused("inner_steps", [](P&, O& o) { o.inner_steps = -1; });
  refused("iterations", [](P&, O& o) { o.iterations = 0; });
  refused("tolerance", [](P&, O& o) { o.tolerance = -1; });
  refused("energy_tolerance",
          [](P&, O& o) { o.energy_tolerance = std::numeric_limits<double>::quiet_NaN(); });
  refused("filter_eps", [](P&, O& o) { o.density.filter_eps = -1; });
  refused("density.method", [](P&, O& o) { o.density.method = DensityMethod::curvy; });
}

}  // namespace
}  // namespace tessera
