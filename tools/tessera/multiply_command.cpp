// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>
#include <memory>

#include <fmt/format.h>

#include <tessera/block_operations.hpp>
#include <tessera/error.hpp>
#include <tessera/multiply.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "machine_limits.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "product_peer.hpp"
#include "rank_balance.hpp"
#include "scalar_types.hpp"
#include "session.hpp"
#include "sparse_probes.hpp"
#include "sparse_problem.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// One run of `tessera multiply` in scalar type T.
template <class T>
class MultiplyRun {
 public:
  MultiplyRun(const MultiplyProgramOptions& options, Session& session)
      : options_(options),
        session_(session),
        runtime_(session.runtime()),
        report_(session.new_report("multiply")),
        peer_(make_product_peer<T>(runtime_, options.peer)) {}

  int operator()() {
    require_peer_takes<T>(options_.peer, options_.op_a, options_.op_b);
    if (peer_) require_available(*peer_, options_.peer);
    if (keeps_on_gpu() && runtime_.gpus() == 0)
      throw InvalidArgument("--keep-on", options_.keep_on, "host, where no GPU is used");
    make_matrices();
    describe();
    for (int round = -options_.common.warmup; round < options_.common.repeat; ++round) one_round(round);
    if (report_.peer && options_.peer == "libxsmm")
      report_.results.emplace_back(
          "of libxsmm", fmt::format("{:.0f} % of its rate on blocks that stay in the cache, by flops of the "
                                    "shapes, on as many threads",
                                    100 * report_.ratio()));
    if (report_.peer && report_.peer->result.contains("plan_seconds"))
      report_.peer->note = fmt::format("its plan, made once, took {:.4g} s more",
                                       report_.peer->result["plan_seconds"].template get<double>());
    return session_.finish(report_);
  }

 private:
  bool reads() const { return options_.generate.empty(); }
  bool keeps_on_gpu() const { return options_.keep_on == "gpu"; }
  bool needs_c() const { return options_.beta != 0 || options_.retain_sparsity; }
  const BlockSparseMatrix<T>& b() const { return b_.valid() ? b_ : a_; }

  void make_matrices() {
    shape_.runtime = &runtime_;
    shape_.grid = process_grid(runtime_, options_.grid);
    shape_.pattern = options_.blocks.empty() ? std::vector<Index>{23} : options_.blocks;
    shape_.panel = options_.panel;
    if (options_.permute == "random") shape_.homogenized = options_.common.seed;
    if (!options_.block_sizes.empty())
      session_.together([&] { shape_.sizes = read_block_sizes(options_.block_sizes); });
    session_.progress().stage(reads() ? "reading the matrices" : "making the matrices");
    if (reads()) {
      a_ = load_sparse<T>(session_, options_.matrix_a, shape_);
      if (!options_.matrix_b.empty()) b_ = load_sparse<T>(session_, options_.matrix_b, shape_);
      if (!options_.matrix_c.empty()) c0_ = load_sparse<T>(session_, options_.matrix_c, shape_);
    } else {
      occupation_ = options_.occupation < 0 ? 0.1 : options_.occupation;
      require_memory(runtime_, "multiply", generated_memory());
      const Symmetry symmetry =
          options_.symmetry == 0 ? Symmetry::none : static_cast<Symmetry>(options_.symmetry);
      const auto make = [&](Symmetry stored, unsigned number) {
        return generate_sparse<T>(session_, options_.generate, options_.n, occupation_, stored,
                                  options_.common.seed + number, shape_);
      };
      a_ = make(symmetry, 0);
      b_ = make(symmetry, 1);
      if (needs_c()) c0_ = make(Symmetry::none, 2);
    }
    if (options_.peer == "dense") {
      const auto order = static_cast<double>(std::max(a_.rows(), b().cols()));
      require_memory(runtime_, "--peer dense", 4 * sizeof(T) * order * order);
    }
  }

  /// Host memory that this rank needs: A, B, C before and after, and transposed or fully stored
  /// copies.
  double generated_memory() const {
    const auto matrix = [&](double share) { return shape_.memory(options_.n, options_.n, share, sizeof(T)); };
    const double of_product = options_.retain_sparsity
                                  ? occupation_
                                  : shape_.product_occupation(options_.generate, options_.n, occupation_);
    const bool images = options_.op_a != Op::none || options_.op_b != Op::none || options_.symmetry != 0;
    return (images ? 4 : 2) * matrix(occupation_) + (needs_c() ? 2 : 0) * matrix(occupation_) +
           matrix(of_product);
  }

  /// A copy of the given C, or a C without blocks.
  BlockSparseMatrix<T> fresh_c() {
    Sequence sequence(runtime_);
    sequence.begin_stage("copy");
    const BlockDimensionPointer rows = options_.op_a == Op::none ? a_.layout().rows : a_.layout().cols,
                                cols = options_.op_b == Op::none ? b().layout().cols : b().layout().rows;
    BlockSparseMatrix<T> c;
    if (c0_.valid())
      c = make_image<T>(sequence, T(1), c0_, c0_.layout());
    else
      c = BlockSparseMatrix<T>(
          BlockPattern::make(runtime_, shape_.layout_like(*rows, *cols), std::span<const BlockCoordinate>()));
    const Status status = sequence.wait();
    if (!status) throw Error(status.message());
    return c;
  }

  /// Moves a matrix to the memory where it must be when the timing starts, and invalidates all
  /// other copies.
  void place(BlockSparseMatrix<T>& x) {
    int next = 0;
    for (Index p = 0; p < x.pattern().panels(); ++p) {
      const Data& panel = x.panel(p);
      if (!panel.valid() || !panel.local()) continue;
      if (keeps_on_gpu())
        panel.prefetch(next++ % runtime_.gpus());
      else  // write access invalidates all other copies
        HostAccess(panel, HostAccess::Mode::read_write);
    }
  }

  void describe() {
    const auto letter = [](auto value) { return std::string(1, static_cast<char>(value)); };
    MultiplyProgramOptions used = options_;
    used.common = session_.used_options();
    used.blocks = shape_.pattern;
    used.occupation = occupation_;
    used.panel = a_.pattern().rows().panel_elements();
    used.grid = {shape_.grid.rows, shape_.grid.cols};
    Json& json = report_.options;
    json = option_table(used).json();
    json["matrix_a"] = reads() ? options_.matrix_a : options_.generate;
    json["matrix_b"] = !reads() ? options_.generate : b_.valid() ? options_.matrix_b : options_.matrix_a;
    if (c0_.valid()) json["matrix_c"] = reads() ? options_.matrix_c : options_.generate;
    json["m"] = options_.op_a == Op::none ? a_.rows() : a_.cols();
    json["n"] = options_.op_b == Op::none ? b().cols() : b().rows();
    json["k"] = options_.op_a == Op::none ? a_.cols() : a_.rows();
    json["symmetry"] = {letter(a_.symmetry()), letter(b().symmetry())};
    const auto add = [&](const char* name, const std::string& source, const BlockSparseMatrix<T>& x) {
      const double share = occupation(x);
      json[fmt::format("occupation_{}", name)] = share;
      report_.lines.emplace_back(
          name, fmt::format("{}, {} x {}, {} x {} blocks, {} stored ({:.3g} % of the elements), symmetry {}",
                            source, x.rows(), x.cols(), x.block_rows(), x.block_cols(), x.pattern().blocks(),
                            100 * share, letter(x.symmetry())));
    };
    add("A", json["matrix_a"], a_);
    add("B", json["matrix_b"], b());
    if (c0_.valid()) add("C before", json["matrix_c"], c0_);
    std::string text = fmt::format("{:g} op(A) op(B)", options_.alpha);
    if (options_.beta != 0) text += fmt::format(" + {:g} C", options_.beta);
    text += fmt::format(", op {} {}, type {}, filter {:g}", letter(options_.op_a), letter(options_.op_b),
                        type_letter<T>, options_.filter);
    if (options_.retain_sparsity) text += ", sparsity retained";
    if (options_.permute == "random") text += ", blocks dealt at random";
    if (runtime_.gpus() > 0) text += keeps_on_gpu() ? ", all on the GPU" : ", from and to host memory";
    report_.lines.emplace_back("product", text);
  }

  /// Runs the product, then the peer. `index` is the number of the timed run; negative: a warm-up
  /// run.
  void one_round(int index) {
    const bool timed = index >= 0;
    BlockSparseMatrix<T> c = fresh_c();
    session_.progress().stage(
        timed ? fmt::format("multiplying, run {} of {}", index + 1, options_.common.repeat)
              : std::string("warming up"));
    for (BlockSparseMatrix<T>* x : {&a_, &b_, &c})
      if (x->valid()) place(*x);
    session_.begin_run();
    const MultiplyResult result = multiply({.alpha = T(static_cast<RealOf<T>>(options_.alpha)),
                                            .a = {a_, options_.op_a},
                                            .b = {b(), options_.op_b},
                                            .beta = T(static_cast<RealOf<T>>(options_.beta)),
                                            .c = c},
                                           {.filter_eps = options_.filter,
                                            .filter = options_.filter_rule,
                                            .retain_sparsity = options_.retain_sparsity,
                                            .reuse_plan = options_.reuse_plan,
                                            .result_on_host = !keeps_on_gpu(),
                                            .dense = options_.dense});
    RunRecord run = session_.end_run(result.statistics);
    if (!result) throw Error(result.status().message());
    set_stages(run, result);
    run.result = summary(run, result, c);
    const bool left_out = result.filtered_products + result.filtered_blocks > 0;
    const SparseProduct<T> product{options_.op_a,
                                   options_.op_b,
                                   T(static_cast<RealOf<T>>(options_.alpha)),
                                   T(static_cast<RealOf<T>>(options_.beta)),
                                   left_out ? options_.filter : 0,
                                   options_.retain_sparsity,
                                   &a_,
                                   &b(),
                                   c0_.valid() ? &c0_ : nullptr,
                                   &c};
    const bool checked = timed && options_.common.wants_check(index);
    ProductPeerResult<T> theirs;
    if (peer_) theirs = run_peer(product, result, timed, checked);
    if (checked) {
      session_.progress().stage("checking");
      run.check = check_product(product, theirs.dense, cpu_threads(runtime_), options_.common.seed + 3);
      if (peer_) compare_with_peer(product, theirs, peer_->name(), *run.check, theirs.record);
    }
    if (report_.peer && timed && !theirs.record.empty()) report_.peer->result = theirs.record;
    if (index == options_.common.repeat - 1) {
      add_results(run, result);
      if (!options_.output.empty()) {
        session_.progress().stage("writing the output");
        save_sparse(options_.output, c);
      }
    }
    if (timed) report_.runs.push_back(std::move(run));
  }

  ProductPeerResult<T> run_peer(const SparseProduct<T>& product, const MultiplyResult& result, bool timed,
                                bool checked) {
    session_.progress().stage(peer_->name());
    return run_product_peer(*peer_, {product, options_.filter, result.flop, result.shapes, checked},
                            timed ? &report_ : nullptr);
  }

  /// Stores the phases as stages. The tasks belong to the numeric phase.
  static void set_stages(RunRecord& run, const MultiplyResult& result) {
    const auto stage = [&](const char* name, double seconds, double flops, Index tasks, Index on_gpu) {
      StageRecord record;
      record.name = name;
      record.seconds = seconds;
      record.flops = flops;
      record.tasks = tasks;
      record.cuda_tasks = on_gpu;
      return record;
    };
    Index on_gpu = 0;
    for (const StageRecord& s : run.stages) on_gpu += s.cuda_tasks;
    run.stages = {stage("symbolic", result.symbolic_seconds, 0, 0, 0),
                  stage("images", result.image_seconds, 0, 0, 0),
                  stage("numeric", result.numeric_seconds, result.flop, run.tasks, on_gpu)};
    run.flops = result.flop;
  }

  /// Bytes of the operand blocks that all products read; and the bytes of the operands read once,
  /// and of C read and written once.
  static double product_bytes(const MultiplyResult& result) {
    double elements = 0;
    for (const ProductCount& shape : result.shapes)
      elements += static_cast<double>(shape.products) * static_cast<double>((shape.m + shape.n) * shape.k);
    return elements * sizeof(T);
  }
  double matrix_bytes(const BlockSparseMatrix<T>& c) const {
    const Index operands = a_.pattern().elements() + (b_.valid() ? b_.pattern().elements() : 0);
    return static_cast<double>(operands + 2 * c.pattern().elements()) * sizeof(T);
  }

  Json summary(const RunRecord& run, const MultiplyResult& result, const BlockSparseMatrix<T>& c) const {
    Json json;
    Index on_cpu = 0, on_gpu = 0;
    for (const ProductCount& shape : result.shapes)
      on_cpu += shape.cpu_products, on_gpu += shape.gpu_products;
    json["products"] = result.products;
    json["cpu_products"] = on_cpu;
    json["gpu_products"] = on_gpu;
    json["products_per_second"] =
        run.total_seconds > 0 ? static_cast<double>(result.products) / run.total_seconds : 0;
    json["flop"] = result.flop;
    json["occupation"] = occupation(c);
    json["checksum"] = checksum(c);
    json["blocks"] = c.pattern().blocks();
    json["filtered_products"] = result.filtered_products;
    json["filtered_blocks"] = result.filtered_blocks;
    json["panel_products"] = result.panel_products;
    json["dense_panel_products"] = result.dense_panel_products;
    json["plan_reused"] = result.plan_reused;
    json["plan_bytes"] = result.plan_bytes;
    json["images"] = result.images;
    json["images_reused"] = result.images_reused;
    json["image_bytes"] = result.image_bytes;
    json["remote_bytes_peak"] = result.remote_bytes_peak;
    json["symbolic_share"] = result.seconds > 0 ? result.symbolic_seconds / result.seconds : 0;
    json["bytes"] = {{"products", product_bytes(result)},
                     {"matrices", matrix_bytes(c)},
                     {"moved", run.workers.bytes_moved}};
    json["balance"] = rank_balance(runtime_, result, {&a_.pattern(), &b().pattern(), &c.pattern()});
    json["shapes"] = Json::array();
    for (const ProductCount& shape : result.shapes)
      json["shapes"].push_back({{"m", shape.m},
                                {"n", shape.n},
                                {"k", shape.k},
                                {"products", shape.products},
                                {"cpu_products", shape.cpu_products},
                                {"gpu_products", shape.gpu_products},
                                {"flop", shape_flop(shape)}});
    return json;
  }

  static double shape_flop(const ProductCount& shape) {
    return flop_factor<T> * 2 * static_cast<double>(shape.m * shape.n * shape.k) *
           static_cast<double>(shape.products);
  }

  void add_results(const RunRecord& run, const MultiplyResult& result) {
    auto& lines = report_.results;
    const Json& json = run.result;
    lines.emplace_back("products", fmt::format("{} of blocks, {:.4g} flop; {} left out by the filter",
                                               result.products, result.flop, result.filtered_products));
    lines.emplace_back("of panels", fmt::format("{}, of these {} as dense matrices", result.panel_products,
                                                result.dense_panel_products));
    std::string plan = result.plan_reused ? "of an earlier product" : "made for this product";
    if (result.plan_bytes > 0) plan += fmt::format("; lists of {:.3g} MB", 1e-6 * result.plan_bytes);
    lines.emplace_back("plan", plan);
    if (result.images > 0)
      lines.emplace_back("images",
                         fmt::format("{} of A and B, {} after earlier plans; {} copied", result.images,
                                     result.images_reused, format_bytes(result.image_bytes)));
    lines.emplace_back("C", fmt::format("{} blocks, {:.3g} % of the elements; {} dropped by the filter",
                                        json["blocks"].get<Index>(), 100 * json["occupation"].get<double>(),
                                        result.filtered_blocks));
    lines.emplace_back("checksum", fmt::format("{:.15e} (sum of squares)", json["checksum"].get<double>()));
    lines.emplace_back(
        "rate",
        fmt::format("{:.4g} products/s, {:.4g} GFLOP/s over all", json["products_per_second"].get<double>(),
                    run.total_seconds > 0 ? 1e-9 * result.flop / run.total_seconds : 0));
    std::string bytes = fmt::format("{} read by the products, {} in the matrices",
                                    format_bytes(json["bytes"]["products"].get<double>()),
                                    format_bytes(json["bytes"]["matrices"].get<double>()));
    if (runtime_.gpus() > 0)
      bytes += fmt::format(", {} copied to, from and between GPUs", format_bytes(run.workers.bytes_moved));
    lines.emplace_back("bytes", bytes);
    if (runtime_.size() > 1) lines.emplace_back("balance", text_of_balance(json["balance"]));
    constexpr std::size_t shown = 12;
    for (std::size_t s = 0; s < std::min(shown, result.shapes.size()); ++s) {
      const ProductCount& shape = result.shapes[s];
      const double flop = shape_flop(shape);
      lines.emplace_back(
          s == 0 ? "m x n x k" : "",
          fmt::format("{:>4} x{:>4} x{:>4} {:>13} products {:>5.1f} % of the flops, {:.1f} % on GPU", shape.m,
                      shape.n, shape.k, shape.products, result.flop > 0 ? 100 * flop / result.flop : 0,
                      100.0 * static_cast<double>(shape.gpu_products) /
                          static_cast<double>(std::max<Index>(shape.products, 1))));
    }
    if (result.shapes.size() > shown)
      lines.emplace_back("", fmt::format("and {} more shapes", result.shapes.size() - shown));
  }

  const MultiplyProgramOptions& options_;
  Session& session_;
  Runtime& runtime_;
  Report report_;
  std::unique_ptr<ProductPeer<T>> peer_;
  SparseShape shape_;
  double occupation_ = 0;
  BlockSparseMatrix<T> a_, b_, c0_;
};

/// z if any file is complex; otherwise d.
char default_type(const MultiplyProgramOptions& options) {
  for (const std::string& file : {options.matrix_a, options.matrix_b, options.matrix_c})
    if (!file.empty() && is_complex_file(file)) return 'z';
  return 'd';
}

}  // namespace

int run_multiply(MultiplyProgramOptions& options) {
  validate(options);
  option_table(options).require_formats();
  if (options.type == 0) options.type = default_type(options);
  return in_session(options.common, [&](Session& session) {
    return with_scalar_type(options.type, [&]<class T>() { return MultiplyRun<T>(options, session)(); });
  });
}

}  // namespace tessera::program
