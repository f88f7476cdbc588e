// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <tessera/algorithms/interfaces/c_interface.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

RuntimeOptions options_of(const tessera_runtime_options* given) {
  tessera_runtime_options chosen;
  tessera_runtime_options_init(&chosen);
  if (given) chosen = *given;
  RuntimeOptions options{.cores = chosen.cores,
                         .gpus = chosen.gpus,
                         .hybrid = chosen.hybrid != 0,
                         .scheduler = chosen.scheduler ? chosen.scheduler : "",
                         .synchronous = chosen.synchronous != 0,
                         .trace_directory = chosen.trace_directory ? chosen.trace_directory : "",
                         .bind = chosen.bind != 0};
  if (chosen.log)
    options.log = [log = chosen.log, user = chosen.log_user](LogLevel level, std::string_view message) {
      log(static_cast<int>(level), std::string(message).c_str(), user);
    };
  return options;
}

int create(const tessera_runtime_options* options, Communicator communicator, tessera_runtime** runtime) {
  return call([&] {
    required(runtime, "runtime") = nullptr;
    *runtime = new tessera_runtime{std::make_unique<Runtime>(options_of(options), communicator)};
  });
}

}  // namespace

void tessera_runtime_options_init(tessera_runtime_options* options) {
  if (!options) return;
  const RuntimeOptions chosen;
  *options = {.cores = chosen.cores,
              .gpus = chosen.gpus,
              .hybrid = chosen.hybrid,
              .synchronous = chosen.synchronous,
              .bind = chosen.bind,
              .scheduler = nullptr,
              .trace_directory = nullptr,
              .log = nullptr,
              .log_user = nullptr};
}

int tessera_runtime_create(const tessera_runtime_options* options, tessera_runtime** runtime) {
  return create(options, {}, runtime);
}

int tessera_runtime_create_on(int fortran_communicator, const tessera_runtime_options* options,
                              tessera_runtime** runtime) {
  return create(options, Communicator::from_fortran(fortran_communicator), runtime);
}

void tessera_runtime_free(tessera_runtime* runtime) {
  delete runtime;
}

void tessera_end_default_runtime(void) {
  call([] { end_default_runtime(); });
}

int tessera_runtime_rank(tessera_runtime* runtime, int* rank, int* size) {
  return call([&] {
    const Runtime& of = runtime_of(runtime);
    if (rank) *rank = of.rank();
    if (size) *size = of.size();
  });
}

int tessera_runtime_workers(tessera_runtime* runtime, int* cpu_workers, int* gpu_workers) {
  return call([&] {
    const RuntimeInfo& info = runtime_of(runtime).info();
    if (cpu_workers) *cpu_workers = info.cpu_workers;
    if (gpu_workers) *gpu_workers = info.cuda_workers;
  });
}

int tessera_runtime_text(tessera_runtime* runtime, const char* what, const char** text) {
  return call([&] {
    const RuntimeInfo& info = runtime_of(runtime).info();
    const std::string wanted = required(what, "what");
    const std::array<std::pair<std::string_view, const std::string*>, 10> texts{
        {{"version", &info.version},
         {"commit", &info.commit},
         {"starpu_version", &info.starpu_version},
         {"mpi_version", &info.mpi_version},
         {"blas", &info.blas},
         {"scheduler", &info.scheduler},
         {"host", &info.host},
         {"cpu_model", &info.cpu_model},
         {"gpu_model", &info.gpu_model},
         {"performance_models", &info.performance_models}}};
    const auto found =
        std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t.first == wanted; });
    if (found == texts.end()) throw InvalidArgument("what", wanted, "a name that tessera/c/runtime.h gives");
    required(text, "text") = found->second->c_str();
  });
}

int tessera_runtime_poisoned(tessera_runtime* runtime, int* poisoned) {
  return call([&] { required(poisoned, "poisoned") = runtime_of(runtime).poisoned(); });
}

int tessera_sequence_create(tessera_runtime* runtime, tessera_sequence** sequence) {
  return call([&] {
    required(sequence, "sequence") = nullptr;
    *sequence = new tessera_sequence{std::make_unique<Sequence>(runtime_of(runtime))};
  });
}

int tessera_sequence_wait(tessera_sequence* sequence) {
  return call([&] { return code_of(required(sequence, "sequence").sequence->wait()); });
}

void tessera_sequence_free(tessera_sequence* sequence) {
  delete sequence;
}
