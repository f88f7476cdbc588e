// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/interfaces/c_eigen_options.hpp>
#include <tessera/eigensolve_tuner.hpp>

struct tessera_eigen_tuner {
  std::variant<tessera::EigensolveTuner<float>, tessera::EigensolveTuner<double>,
               tessera::EigensolveTuner<std::complex<float>>, tessera::EigensolveTuner<std::complex<double>>>
      tuner;
};

using namespace tessera;
using namespace tessera::c_interface;

namespace {

template <class Tuner, class Work>
int with_tuner(Tuner* tuner, const Work& work) {
  return call([&] { std::visit(work, required(tuner, "tuner").tuner); });
}

}  // namespace

int tessera_eigen_tuner_create(tessera_runtime* runtime, int type, tessera_index order, int vectors,
                               const tessera_eigen_options* fixed, tessera_eigen_tuner** tuner) {
  return call_on(runtime, [&] {
    required(tuner, "tuner") = nullptr;
    for_type(type, [&](auto t) {
      using T = typename decltype(t)::type;
      *tuner = new tessera_eigen_tuner{
          EigensolveTuner<T>(runtime_of(runtime), order, eigen_options_of(fixed, vectors != 0))};
    });
  });
}

int tessera_eigen_tuner_next(const tessera_eigen_tuner* tuner, tessera_eigen_options* options) {
  return with_tuner(
      tuner, [&](const auto& typed) { required(options, "options") = eigen_options_from(typed.next()); });
}

int tessera_eigen_tuner_record(tessera_eigen_tuner* tuner, double seconds) {
  return with_tuner(tuner, [&](auto& typed) { typed.record(seconds); });
}

int tessera_eigen_tuner_best(const tessera_eigen_tuner* tuner, tessera_eigen_options* options,
                             double* seconds, tessera_index* candidates, tessera_index* tried) {
  return with_tuner(tuner, [&](const auto& typed) {
    if (options) *options = eigen_options_from(typed.best());
    if (seconds) *seconds = typed.best_seconds();
    if (candidates) *candidates = typed.candidates();
    if (tried) *tried = typed.tried();
  });
}

int tessera_eigen_tuner_save(const tessera_eigen_tuner* tuner, const char* path) {
  return with_tuner(tuner, [&](const auto& typed) { typed.save(required(path, "path")); });
}

int tessera_eigen_tuner_load(tessera_eigen_tuner* tuner, const char* path) {
  return with_tuner(tuner, [&](auto& typed) { typed.load(required(path, "path")); });
}

void tessera_eigen_tuner_free(tessera_eigen_tuner* tuner) {
  delete tuner;
}
