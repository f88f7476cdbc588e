// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/gpu_messages.hpp>

#include "options.hpp"
#include "output_files.hpp"
#include "session.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// The codelets that differ only in their type: `gemm` for gemm_s, gemm_d, gemm_c, gemm_z.
struct CodeletFamily {
  std::string types, cuda_types;  ///< all types, and those with a CUDA implementation
  bool cuda = false;              ///< any type has a CUDA implementation
  PerformanceModel model = PerformanceModel::history;
};

std::map<std::string, CodeletFamily> codelet_families() {
  std::map<std::string, CodeletFamily> families;
  for (const Codelet* codelet : Codelet::all()) {
    std::string name = codelet->name(), type;
    const std::size_t size = name.size();
    if (size > 2 && name[size - 2] == '_' &&
        std::string_view("sdcz").find(name[size - 1]) != std::string_view::npos) {
      type = name.substr(size - 1);
      name.resize(size - 2);
    }
    CodeletFamily& family = families[name];
    family.types += type;
    if (codelet->has_cuda()) {
      family.cuda = true;
      family.cuda_types += type;
    }
    family.model = codelet->model();
  }
  const auto in_order = [](char a, char b) {
    constexpr std::string_view order = "sdcz";
    return order.find(a) < order.find(b);
  };
  for (auto& [name, family] : families)
    for (std::string* types : {&family.types, &family.cuda_types})
      std::sort(types->begin(), types->end(), in_order);
  return families;
}

const char* to_string(PerformanceModel model) {
  return model == PerformanceModel::history      ? "history"
         : model == PerformanceModel::regression ? "regression"
                                                 : "cost";
}

/// Whether MPI messages can be sent directly from GPU memory.
std::string gpu_messages(const Runtime& runtime) {
  if (!mpi_is_cuda_aware()) return ", not CUDA-aware";
  if (runtime.info().cuda_workers == 0) return ", CUDA-aware";
  return sends_from_gpus(runtime) ? ", CUDA-aware: messages go from GPU to GPU"
                                  : ", CUDA-aware, but switched off by STARPU_MPI_GPUDIRECT";
}

}  // namespace

int run_info(const InfoProgramOptions& options) {
  Session session(options.common);
  if (session.runtime().rank() != 0) return exit_good;
  const RuntimeInfo& info = session.runtime().info();
  Report report = session.new_report("info");
  InfoProgramOptions used = options;
  used.common = session.used_options();
  report.options = option_table(used).json();
  Json document = record_head(report);
  const std::string stack_kernels = options.codelets ? describe_stack_kernels(session.runtime()) : "";
  const auto tuned = describe_tuned_kernels();
  for (const auto& [gpu, shapes] : tuned) document["tuned_stacks"][gpu] = shapes;
  if (options.codelets) {
    if (!stack_kernels.empty()) document["stack_kernels"] = stack_kernels;
    document["codelets"] = Json::array();
    for (const auto& [name, family] : codelet_families())
      document["codelets"].push_back({{"name", name},
                                      {"types", family.types},
                                      {"cpu", true},
                                      {"cuda", family.cuda},
                                      {"cuda_types", family.cuda_types},
                                      {"model", to_string(family.model)}});
  }
  if (!options.common.json_alone() && !options.common.quiet) {
    const auto line = [](const char* label, const std::string& text) { say("{:<14}{}\n", label, text); };
    line("tessera", fmt::format("{} ({})", report.version, report.commit));
    line("host", info.host);
    line("cpu", fmt::format("{}, {} cores, {} NUMA node{}", info.cpu_model, info.physical_cores,
                            info.numa_nodes, info.numa_nodes == 1 ? "" : "s"));
    line("memory",
         fmt::format("{}, L2 {} a core, L3 {}", format_bytes(static_cast<double>(info.memory_bytes)),
                     format_bytes(static_cast<double>(info.l2_bytes)),
                     format_bytes(static_cast<double>(info.l3_bytes))));
    line("workers", machine_line(info));
    for (const std::string& gpu : info.gpus) line("gpu", gpu);
    line("starpu", info.starpu_version);
    line("models", info.performance_models.empty()   ? "none"
                   : info.shipped_performance_models ? info.performance_models + ", shipped"
                                                     : info.performance_models + ", the user's own");
    line("mpi", info.mpi_version + gpu_messages(session.runtime()));
    line("blas", info.blas);
    if (!stack_kernels.empty()) line("stacks", stack_kernels);
    for (const auto& [gpu, shapes] : tuned) line("tuned", fmt::format("{}: {}", gpu, shapes));
    if (options.codelets) {
      say("{:<30}{:<8}{:<6}{:<6}{}\n", "codelet", "types", "cpu", "cuda", "model");
      for (const auto& [name, family] : codelet_families())
        say("  {:<28}{:<8}{:<6}{:<6}{}\n", name, family.types, "yes",
            !family.cuda                        ? "no"
            : family.cuda_types == family.types ? "yes"
                                                : family.cuda_types.c_str(),
            to_string(family.model));
    }
  }
  if (!options.common.json.empty()) write_json(options.common.json, document);
  return exit_good;
}

}  // namespace tessera::program
