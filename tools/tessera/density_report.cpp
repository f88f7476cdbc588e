// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/block_operations.hpp>

#include "density_steps.hpp"

namespace tessera::program {
using namespace detail;

std::string failure_of(const Status& status) {
  const std::string where = status.stage.empty() ? "" : status.stage + ": ";
  return status.reason.empty() ? status.message() : where + status.reason;
}

Json interval_json(const SpectralInterval& interval) {
  return Json::array({number_or_null(interval.lower), number_or_null(interval.upper)});
}

std::string interval_text(const SpectralInterval& interval) {
  const bool from = std::isfinite(interval.lower), to = std::isfinite(interval.upper);
  if (from && to && interval.lower == interval.upper) return fmt::format("{:.10g}", interval.lower);
  if (from && to) return fmt::format("{:.10g} to {:.10g}", interval.lower, interval.upper);
  if (from) return fmt::format("at least {:.10g}", interval.lower);
  return to ? fmt::format("at most {:.10g}", interval.upper) : std::string("not known");
}

SpectralInterval gap_of(const GapBounds& bounds) {
  return {std::max(bounds.lumo.lower - bounds.homo.upper, 0.0), bounds.lumo.upper - bounds.homo.lower};
}

template <class T>
Json density_summary(const DensityResult<T>& result, const DensityErrors& errors, Index n, Index molecules) {
  Json json;
  json["n"] = n;
  json["status"] = words_of(result.status());
  json["method"] = to_string(result.method);
  const bool there = bool(result);
  const auto known = [there](double x) { return there ? number_or_null(x) : Json(); };
  json["energy"] = known(result.energy);
  if (molecules > 0) json["energy_per_molecule"] = known(result.energy / static_cast<double>(molecules));
  json["entropy"] = known(result.entropy);
  json["free_energy"] = known(result.free_energy);
  json["mu"] = known(result.chemical_potential);
  json["electrons"] = known(result.electrons);
  json["idempotency"] = known(errors.idempotency);
  json["commutator"] = known(errors.commutator);
  json["homo"] = there ? interval_json(result.gap.homo) : Json::array({Json(), Json()});
  json["lumo"] = there ? interval_json(result.gap.lumo) : Json::array({Json(), Json()});
  json["gap"] = there ? interval_json(gap_of(result.gap)) : Json::array({Json(), Json()});
  json["iterations"] = result.steps.size();
  json["products"] = result.products;
  json["flop"] = result.flop;
  json["occupation"] = there ? Json(occupation(result.density)) : Json();
  if (!there) json["message"] = failure_of(result.status());
  json["steps"] = steps_json(result.steps);
  return json;
}

#define TESSERA_INSTANTIATE(T) \
  template Json density_summary<T>(const DensityResult<T>&, const DensityErrors&, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
