// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <thread>

#include "common.hpp"

/// density_matrix.
namespace tessera::python {
namespace {

DensityMethod method_of(const std::string& name) {
  for (const DensityMethod method :
       {DensityMethod::automatic, DensityMethod::sign, DensityMethod::trs4, DensityMethod::tc2,
        DensityMethod::sp2, DensityMethod::purification, DensityMethod::submatrix, DensityMethod::fermi,
        DensityMethod::curvy, DensityMethod::dense})
    if (name == to_string(method)) return method;
  if (name == "auto") return DensityMethod::automatic;
  throw InvalidArgument("method", name,
                        "auto, sign, trs4, tc2, sp2, purification, submatrix, fermi, curvy or dense");
}

nb::dict step_of(const IterationStep& step) {
  nb::dict d;
  d["stage"] = step.stage;
  d["iteration"] = step.iteration;
  d["convergence"] = step.convergence;
  d["occupation"] = step.occupation;
  d["threshold"] = step.threshold;
  d["seconds"] = step.seconds;
  d["products"] = step.products;
  d["flop"] = step.flop;
  d["electrons"] = step.electrons;
  d["energy"] = step.energy;
  return d;
}

/// What is given beside the matrices.
struct DensityRequest {
  double electrons, occupation, temperature;
  std::optional<double> mu;
  std::optional<std::vector<double>> gap;
  DensityOptions options;
  nb::object monitor;
};

nb::object interval(const SpectralInterval& i) {
  return nb::make_tuple(i.lower, i.upper);
}

nb::dict solve(Matrix& hamiltonian, Matrix* overlap, Matrix* factor, Matrix* density,
               DensityRequest& request) {
  nb::dict d;
  hamiltonian.visit([&]<class T>(BlockSparseMatrix<T>& h) {
    DensityResult<T> r;
    std::optional<Matrix> p, w, z;
    std::atomic<bool> stop = false;
    const SharedObject monitor = share(request.monitor);
    request.options.monitor = [&stop, monitor](const IterationStep& step) {
      if (stop) return false;
      const Callback callback;
      if (monitor->is_none()) return true;
      const nb::object goes_on = (*monitor)(step_of(step));
      return goes_on.is_none() || nb::cast<bool>(nb::bool_(goes_on));
    };
    {
      const Call call(&hamiltonian);
      DensityProblem<T> problem{.hamiltonian = h,
                                .electrons = request.electrons,
                                .occupation = request.occupation,
                                .temperature = request.temperature,
                                .chemical_potential = request.mu};
      if (overlap != nullptr) problem.overlap = &overlap->as<T>("overlap");
      if (factor != nullptr) problem.inverse_factor = &factor->as<T>("inverse_factor");
      if (density != nullptr) problem.density = &density->as<T>("density");
      if (request.gap) {
        const auto& g = *request.gap;
        problem.gap = GapBounds{.homo = {g.at(0), g.at(1)}, .lumo = {g.at(2), g.at(3)}};
      }
      auto completion = submit_density_matrix<T>(current_runtime(), problem, request.options);
      wait_for(completion, stop);
      r = std::move(completion).result();
      if (r && r.density.valid()) p.emplace(std::move(r.density));
      if (r && r.energy_weighted.valid()) w.emplace(std::move(r.energy_weighted));
      if (r && r.inverse_factor.valid()) z.emplace(std::move(r.inverse_factor));
      r.density = {}, r.energy_weighted = {}, r.inverse_factor = {};
    }
    const auto matrix = [](std::optional<Matrix>& m) { return m ? nb::cast(std::move(*m)) : nb::none(); };
    d["density"] = matrix(p);
    d["energy_weighted"] = matrix(w);
    d["inverse_factor"] = matrix(z);
    d["status"] = status_object(r.status());
    d["method"] = to_string(r.method);
    d["energy"] = r.energy;
    d["mu"] = r.chemical_potential;
    d["electrons"] = r.electrons;
    d["entropy"] = r.entropy;
    d["free_energy"] = r.free_energy;
    d["homo"] = interval(r.gap.homo);
    d["lumo"] = interval(r.gap.lumo);
    d["idempotency"] = r.idempotency;
    d["commutator"] = r.commutator;
    d["error"] = r.error;
    d["products"] = r.products;
    d["flop"] = r.flop;
    d["seconds"] = r.seconds;
    nb::list steps;
    for (const IterationStep& step : r.steps) steps.append(step_of(step));
    d["steps"] = steps;
  });
  check_signals();
  return d;
}

nb::dict density(Matrix& hamiltonian, Matrix* overlap, double electrons, double occupation,
                 double temperature, std::optional<double> mu, Matrix* factor, Matrix* former,
                 std::optional<std::vector<double>> gap, const std::string& method, double filter,
                 double tolerance, Index iterations, std::optional<bool> mixed_precision,
                 bool energy_weighted, bool check, nb::object monitor) {
  DensityRequest request{electrons, occupation, temperature, mu, std::move(gap), {}, std::move(monitor)};
  if (request.gap && request.gap->size() != 4)
    throw InvalidArgument("gap", std::to_string(request.gap->size()) + " numbers", "two intervals");
  request.options.method = method_of(method);
  request.options.filter_eps = filter;
  request.options.tolerance = tolerance;
  request.options.iterations = iterations;
  request.options.mixed_precision = mixed_precision;
  request.options.energy_weighted = energy_weighted;
  request.options.check = check;
  return solve(hamiltonian, overlap, factor, former, request);
}

}  // namespace

void bind_density(nb::module_& module) {
  module.def("density", &density, nb::arg("hamiltonian"), nb::arg("overlap").none(), nb::arg("electrons"),
             nb::arg("occupation"), nb::arg("temperature"), nb::arg("mu").none(),
             nb::arg("inverse_factor").none(), nb::arg("density").none(), nb::arg("gap").none(),
             nb::arg("method"), nb::arg("filter"), nb::arg("tolerance"), nb::arg("iterations"),
             nb::arg("mixed_precision").none(), nb::arg("energy_weighted"), nb::arg("check"),
             nb::arg("monitor").none());
}

}  // namespace tessera::python
