// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

/// Passes damaged files to every parser, in this process:
/// fuzz_parsers [--seconds S] [--seed N] [--runs N] [--only TARGET] [FILE...]
/// A parser may read its file, or throw a tessera::Error. Any other outcome, and a file that takes
/// seconds or gigabytes, ends the program with exit code 1 and keeps the file in the folder
/// `fuzz_findings`. Given files are read unchanged, by the target of --only.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <tessera/error.hpp>

#include "mutator.hpp"
#include "targets.hpp"

namespace tessera::fuzz {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr unsigned max_seconds = 10;  // per file
constexpr rlim_t max_memory = rlim_t{4} << 30;

/// Static buffers, because a signal handler must not allocate memory.
char input_name[4096], kept_name[4096], target_name[256];

void keep_and_leave(int signal) {
  std::rename(input_name, kept_name);
  const char* const words[] = {signal == SIGALRM ? "HANG" : "CRASH",
                               " of the target '",
                               target_name,
                               "', the file is kept: ",
                               kept_name,
                               "\n"};
  for (const char* text : words)
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  _exit(1);
}

void watch_signals() {
  static char stack[1 << 16];  // for a parser that has overflowed the regular stack
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = keep_and_leave;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    sigaction(signal, &action, nullptr);
}

/// Makes every later allocation fail that exceeds what a small file can need.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + max_memory;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Arguments {
  double seconds = 20;
  std::uint64_t seed = 1, runs = ~std::uint64_t{0};
  std::string only;
  std::vector<std::string> files;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (k + 1 == argc || !word.starts_with("--"))
      arguments.files.push_back(word);
    else if (word == "--seconds")
      arguments.seconds = std::atof(argv[++k]);
    else if (word == "--seed")
      arguments.seed = std::strtoull(argv[++k], nullptr, 10);
    else if (word == "--runs")
      arguments.runs = std::strtoull(argv[++k], nullptr, 10);
    else if (word == "--only")
      arguments.only = argv[++k];
  }
  return arguments;
}

struct Corpus {
  std::vector<fs::path> names;
  std::vector<std::string> texts;
};

Corpus corpus_of(const Target& target, const fs::path& folder) {
  Corpus corpus;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(target.prefix)) corpus.names.push_back(entry.path());
  std::sort(corpus.names.begin(), corpus.names.end());
  for (const fs::path& name : corpus.names) corpus.texts.push_back(contents(name));
  if (corpus.names.empty()) throw std::runtime_error("no file for the target " + target.name);
  return corpus;
}

/// True if the file was read, false if it was rejected.
bool reads(const Target& target, const std::string& path) {
  std::snprintf(target_name, sizeof target_name, "%s", target.name.c_str());
  std::snprintf(input_name, sizeof input_name, "%s", path.c_str());
  alarm(max_seconds);
  bool read = true;
  try {
    target.read(path);
  } catch (const Error& error) {
    const std::string_view text = error.what();
    if (text.empty()) throw std::runtime_error("an error without a word");
    read = false;
  }
  alarm(0);
  return read;
}

struct Counts {
  std::uint64_t read = 0, refused = 0, findings = 0;
};

class Fuzzer {
 public:
  Fuzzer(const Arguments& arguments, std::vector<Target> targets, const fs::path& corpus)
      : arguments_(arguments), targets_(std::move(targets)), mutator_(arguments.seed) {
    for (const Target& target : targets_) corpora_.push_back(corpus_of(target, corpus));
    fs::create_directories("fuzz_findings");
    fs::create_directories(folder_);
  }
  ~Fuzzer() { fs::remove_all(folder_); }
  Fuzzer(const Fuzzer&) = delete;
  Fuzzer& operator=(const Fuzzer&) = delete;

  /// The corpus itself must be valid, or parsers reject most damaged files too early.
  void read_corpus() {
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      std::size_t good = 0;
      for (const fs::path& name : corpora_[t].names) good += reads(targets_[t], name.string());
      if (good == 0) throw std::runtime_error("the corpus has no valid file for " + targets_[t].name);
    }
  }

  bool run() {
    const auto start = Clock::now();
    const std::chrono::duration<double> limit(arguments_.seconds);
    for (std::uint64_t run = 0; run < arguments_.runs && Clock::now() - start < limit; ++run)
      one(run, mutator_.below(targets_.size()));
    std::uint64_t findings = 0;
    for (const auto& [name, counts] : counts_) {
      fmt::print("{:<24}{:>9} read {:>9} refused {:>4} findings\n", name, counts.read, counts.refused,
                 counts.findings);
      findings += counts.findings;
    }
    return findings == 0;
  }

 private:
  void one(std::uint64_t run, std::size_t t) {
    const Target& target = targets_[t];
    if (!arguments_.only.empty() && target.name != arguments_.only) return;
    const Corpus& corpus = corpora_[t];
    const std::size_t which = mutator_.below(corpus.texts.size());
    const std::string& other = corpus.texts[mutator_.below(corpus.texts.size())];
    const fs::path input = folder_ / ("input" + corpus.names[which].extension().string());
    const std::string kept = fmt::format("fuzz_findings/seed{}_run{}_{}", arguments_.seed, run,
                                         corpus.names[which].filename().string());
    std::ofstream(input, std::ios::binary) << mutator_.mutate(corpus.texts[which], other);
    std::snprintf(kept_name, sizeof kept_name, "%s", kept.c_str());
    Counts& counts = counts_[target.name];
    try {
      ++(reads(target, input.string()) ? counts.read : counts.refused);
    } catch (const std::exception& error) {
      alarm(0);
      fs::copy_file(input, kept, fs::copy_options::overwrite_existing);
      fmt::print(stderr, "The target '{}' threw '{}', the file is kept: {}\n", target.name, error.what(),
                 kept);
      ++counts.findings;
    }
  }

  Arguments arguments_;
  std::vector<Target> targets_;
  std::vector<Corpus> corpora_;
  Mutator mutator_;
  std::map<std::string, Counts> counts_;
  fs::path folder_ = fmt::format("fuzz_input_{}", ::getpid());
};

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const char* const data = std::getenv("TESSERA_TEST_DATA");
  if (!data) throw std::runtime_error("TESSERA_TEST_DATA must name the folder tests/data");
  const std::string corpus = std::string(data) + "/fuzz";
  Runtime runtime(RuntimeOptions{.cores = 1, .gpus = 0});
  const std::vector<Target> targets = all_targets(runtime, corpus);
  watch_signals();
  limit_memory();
  for (const std::string& file : arguments.files)
    for (const Target& target : targets)
      if (target.name == arguments.only)
        fmt::print("{}: {}\n", file, reads(target, file) ? "read" : "refused");
  if (!arguments.files.empty()) return 0;
  fmt::print("seed {}\n", arguments.seed);
  Fuzzer fuzzer(arguments, targets, corpus);
  fuzzer.read_corpus();
  return fuzzer.run() ? 0 : 1;
}

}  // namespace
}  // namespace tessera::fuzz

int main(int argc, char** argv) {
  try {
    return tessera::fuzz::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fuzz_parsers: {}\n", error.what());
    return 1;
  }
}
