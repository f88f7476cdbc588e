// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <tests/tools/program_test.hpp>

#include "option_commands.hpp"

/// The tables of options: their effect on help, parser and record.
namespace {

using namespace tessera;
using namespace tessera::program;
using tessera::test::commands;

/// The error message for a command line without `tessera`; empty if it is valid.
std::string refusal(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  try {
    commands().at(words.at(0)).parser(words);
  } catch (const CLI::ParseError& error) {
    return usage_error_of(error).what();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(OptionTables, KnowHowTheyAreCalled) {
  for (const auto& [name, command] : commands())
    EXPECT_EQ(command.table.command(), (name.starts_with("bench_") ? "" : "tessera ") + name);
}

TEST(OptionHelp, OfEveryCommandIsNarrowAndTellsAll) {
  for (const auto& [name, command] : commands()) {
    const OptionTable& table = command.table;
    const std::string help = table.help();
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100u) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    for (const OptionEntry& entry : table.entries()) {
      EXPECT_NE(help.find("\n" + entry.group + ":\n"), std::string::npos) << entry.group;
      if (entry.name.starts_with("--")) {
        EXPECT_NE(help.find("\n  " + entry.name), std::string::npos) << entry.name;
      }
    }
    std::size_t examples = 0;
    for (std::size_t at = help.find("\nExamples:\n"); at != std::string::npos;
         at = help.find("\n  " + table.command() + " ", at + 1))
      ++examples;
    EXPECT_GE(examples - 1, 2u) << help;
    EXPECT_LE(examples - 1, 4u) << help;
    for (const char* of_cli : {"INT", "FLOAT", "UINT", "TEXT", "INT in ["})
      EXPECT_EQ(help.find(of_cli), std::string::npos) << name << ' ' << of_cli;
  }
}

TEST(OptionHelp, SaysRangesNeedsAndDefaultsInWords) {
  const std::string eigen = commands().at("eigen").table.help();
  for (const char* text :
       {"Usage: tessera eigen [FILE] [OPTIONS]\n",
        "\n  --vectors yes|no        eigenvectors too (default: yes)\n",
        "\n  --repeat N              timed runs, of which the median counts (1 to 100000; default: 1)\n",
        "width of the intermediate band (1 to 4096; only with --solver two_stage",
        "default: from the machine)"})
    EXPECT_NE(eigen.find(text), std::string::npos) << text << eigen;
}

/// The parser must accept the examples of the help.
TEST(OptionHelp, ExamplesAreRight) {
  for (const auto& [name, command] : commands()) {
    const std::string called = "  " + command.table.command() + " ";
    std::istringstream lines(command.table.help());
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(called)) {
        EXPECT_EQ(refusal(name + " " + line.substr(called.size())), "") << line;
      }
  }
}

TEST(UsageErrors, HaveOneForm) {
  const std::string eigen = "eigen --generate random --n 20 ";
  for (const auto& [line, text] : std::vector<std::pair<std::string, std::string>>{
           {"eigen --generate random --n 12x",
            "--n: '12x' is not a number; expected an integer from 0 to 2147483647"},
           {eigen + "--tile 0", "--tile: '0' is out of range; expected an integer from 1 to 1048576"},
           {eigen + "--tile 64.5",
            "--tile: '64.5' is not an integer in decimal digits; expected an integer from 1 to 1048576"},
           {eigen + "--scale=+-5", "--scale: '+-5' is not a number; expected a finite number"},
           {eigen + "--scale 1e400", "--scale: '1e400' is out of range; expected a finite number"},
           {eigen + "--json", "--json has no value; expected FILE|-"},
           {eigen + "--json --quiet", "--json has no value; expected FILE|-"},
           {eigen + "--repeat 3 --repeat 4", "--repeat is given more than once; expected it once"},
           {eigen + "more",
            "--matrix: 'more' stands beside --generate; expected either --matrix FILE or "
            "--generate KIND --n N"},
           {"eigen a.mtx b.mtx", "'b.mtx' is one word too many; tessera eigen --help lists the options"},
           {"eigen", "--matrix is missing; expected either --matrix FILE or --generate KIND --n N"},
           {"eigen --generate random", "--n is missing; expected the order of the generated matrix"},
           {"trace", "DIR is missing; expected where a command with --trace DIR has left its trace"},
           {"tune --n 100,x", "--n: 'x' is not a number; expected an integer from 1 to 2147483647"},
           {"tune --stack 5x5",
            "--stack: '5x5' is not possible; expected MxNxK with sizes from 1 to 80, such as 23x23x23"},
           {"bench_dense gemm cholesky",
            "'cholesky' is one word too many; bench_dense --help lists the options"},
           {"bench_dense gemm --n 20 --columns 21", "--columns: '21' is too large; expected at most n = 20"},
           {"bench_products --occupation 0.1,2",
            "--occupation: '2' is out of range; expected a number: 0 to 1"},
           {"multiply --generate random --n 20 --peer cutensor --filter 1e-6",
            "--peer: 'cutensor' is not possible; expected none, dense, dbcsr or libxsmm with --filter "
            "(cuTENSOR has no filter)"},
           {"bench_products --peer cutensor --filter 1e-6",
            "--peer: 'cutensor' is not possible; expected none, dense, dbcsr or libxsmm with --filter "
            "(cuTENSOR has no filter)"},
           {"density",
            "--hamiltonian is missing; expected either --hamiltonian FILE or --generate KIND with "
            "--molecules or --n"},
           {"density h.mtx --generate water --molecules 2",
            "--hamiltonian: 'h.mtx' stands beside --generate; expected either --hamiltonian FILE or "
            "--generate "
            "KIND with --molecules or --n"},
           {"density --generate water",
            "--molecules is missing; expected the size of the generated system, or --n"},
           {"density --generate water --molecules 2 --n 46",
            "--n: '46' stands beside --molecules; expected one of them"},
           {"density h.mtx",
            "--electrons is missing; expected the number of electrons, or --mu with --method sign"},
           {"density h.mtx --electrons 8,9",
            "--electrons: '2 of them' is not possible; expected 1, as many as Hamiltonians"},
           {"density h.mtx,i.mtx,j.mtx s.mtx,t.mtx --electrons 8",
            "--overlap: '2 of them' is not possible; expected 1 or 3, as many as Hamiltonians"},
           {"density h.mtx,i.mtx --electrons 8 --weights 1",
            "--weights: '1 of them' is not possible; expected 2, as many as Hamiltonians"},
           {"density h.mtx,i.mtx --electrons 8,-1",
            "--electrons: '-1' is out of range; expected a number: 0 or more"},
           {"density h.mtx, --electrons 8",
            "--hamiltonian: 'h.mtx,' has an empty name; expected FILE[,FILE...]"},
           {"bench_spmm", "--matrix is missing; expected either --matrix FILE or --generate KIND[:ARG]"},
           {"bench_batch --n 16,2049", "--n: '2049' is out of range; expected an integer from 1 to 2048"},
           {"bench_batch --count 0",
            "--count: '0' is out of range; expected an integer from 1 to 2147483647"},
           {"bench_spmm a.mtx --type s", "--storage: 'd' is not possible; expected f, with --type s"},
           {"bench_density",
            "--hamiltonian is missing; expected either --hamiltonian FILE or --generate KIND with "
            "--molecules or --n"},
           {"bench_density --generate ice --n 60",
            "--generate: 'ice' is unknown; expected one of water, amorphous, tio2"},
           {"bench_density --generate water,tio2 --blocks 4,1,1 --n 60",
            "--blocks = 4,1,1: expected sizes from 1, of more than 12 functions a unit"},
           {"bench_density --generate water",
            "--molecules is missing; expected the sizes of the generated systems, or --n, one of them"},
           {"bench_density h.mtx", "--electrons is missing; expected the number of electrons"},
           {"bench_density --generate water --n 46 --methods fermi",
            "--methods: 'fermi' is not possible; expected another one without --temperature"},
           {"bench_density --generate water --n 46 --methods sp2 --temperature 0.1",
            "--methods: 'sp2' is not possible; expected auto, fermi or dense with --temperature"},
           {"bench_density --generate water --n 46 --peer lapack --temperature 0.1",
            "--peer: 'lapack' is not possible; expected none or dense with --temperature"}})
    EXPECT_EQ(refusal(line), text);
}

TEST(UsageErrors, OfBatches) {
  const std::string either = "expected either --matrix FILE or --generate KIND with --n and --count";
  for (const auto& [line, text] : std::vector<std::pair<std::string, std::string>>{
           {"batch", "--matrix is missing; " + either},
           {"batch a.h5 --generate random", "--matrix: 'a.h5' stands beside --generate; " + either},
           {"batch --generate random --count 5",
            "--n is missing; expected the order of the generated matrices"},
           {"batch --generate random --n 5", "--count is missing; expected the number of generated matrices"},
           {"batch --generate random --n 2049 --count 5",
            "--n: '2049' is out of range; expected an integer from 0 to 2048"},
           {"batch a.mtx,b.h5",
            "--matrix: 'b.h5' stands beside other files; expected one HDF5 file, or Matrix Market files"},
           {"batch a.h5:",
            "--matrix: 'a.h5:' has no name of a data set; expected FILE.h5 or FILE.h5:DATASET"},
           {"batch a.mtx --output b.mtx",
            "--output: 'b.mtx' is not possible; expected a name that ends in .h5, of an HDF5 file"}})
    EXPECT_EQ(refusal(line), text);
}

TEST(UsageErrors, GuessWhatWasMeant) {
  const std::string eigen = "eigen --generate random --n 20 ";
  for (const auto& [line, text] : std::vector<std::pair<std::string, std::string>>{
           {"eigen --generat random --n 20", "--generat is not an option; did you mean '--generate'?"},
           {eigen + "--sovler vendor", "--sovler is not an option; did you mean '--solver'?"},
           {eigen + "--vec no", "--vec is not an option; did you mean '--vectors'?"},
           {"bench_stack --verson", "--verson is not an option; did you mean '--version'?"},
           {eigen + "--frobnicate", "--frobnicate is not an option; tessera eigen --help lists them"},
           {eigen + "--solver two-stage",
            "--solver: 'two-stage' is unknown; expected one of auto, two_stage, one_stage, vendor; did you "
            "mean "
            "'two_stage'?"},
           {eigen + "--check lats",
            "--check: 'lats' is unknown; expected one of none, last, all; did you mean 'last'?"}})
    EXPECT_EQ(refusal(line), text);
  for (const auto& [line, guess] : std::vector<std::pair<std::string, std::string>>{
           {"eigen --n 20 --generate willkinson", "'wilkinson'"},
           {"lobpcg --generate heisenbreg:6", "'heisenberg'"},
           {"multiply --n 20 --generate watre", "'water'"},
           {"density --n 20 --generate amorphus", "'amorphous'"},
           {"density h.mtx --electrons 8 --method trs", "'trs4'"},
           {"bench_density h.mtx --electrons 8 --methods sign,trs", "'trs4'"},
           {"multiply --generate random --n 20 --peer cutensr", "'cutensor'"},
           {"bench_dense choleski", "'cholesky'"},
           {"bench_dense gemm --generate randon", "'random'"},
           {"bench_spmm --generate laplacian2", "'laplacian2d'"}})
    EXPECT_TRUE(refusal(line).ends_with("did you mean " + guess + "?")) << refusal(line);
  EXPECT_EQ(nearest_word("zzz", {"eigen", "info"}), "");
  EXPECT_EQ(nearest_word("x", {"s", "d", "c", "z"}), "");
  EXPECT_EQ(nearest_word("", {"s"}), "");
}

/// Command lines with the option that each must refuse, for all tables. A test below fails for a
/// requirement that is missing here.
const std::vector<std::pair<std::string, std::string>> without_effect{
    {"eigen a.mtx --n 3", "--n"},
    {"eigen a.mtx --scale 2", "--scale"},
    {"eigen a.mtx --seed 2", "--seed"},
    {"eigen a.mtx --solver vendor --band 8", "--band"},
    {"eigen a.mtx --solver one_stage --update-width 8", "--update-width"},
    {"eigen a.mtx --solver one_stage --column-groups 2", "--column-groups"},
    {"eigen a.mtx --solver vendor --split-products no", "--split-products"},
    {"eigen a.mtx --solver vendor --tuning t.json", "--tuning"},
    {"eigen a.mtx --gpus 0 --hybrid", "--hybrid"},
    {"batch a.h5 --n 3", "--n"},
    {"batch a.h5 --count 3", "--count"},
    {"batch a.h5 --seed 3", "--seed"},
    {"batch a.h5 --hybrid --gpus 0", "--hybrid"},
    {"multiply --generate random --n 5 --matrix-b b.mtx", "--matrix-b"},
    {"multiply a.mtx --matrix-c c.mtx", "--matrix-c"},
    {"multiply --generate random --n 5 --beta 1 --matrix-c c.mtx", "--matrix-c"},
    {"multiply --generate random --n 5 --block-sizes s.txt", "--block-sizes"},
    {"multiply a.h5 b.h5 --block-sizes s.txt", "--block-sizes"},
    {"multiply a.h5 --blocks 5", "--blocks"},
    {"multiply a.mtx --blocks 5 --block-sizes s.txt", "--blocks"},
    {"multiply a.mtx --n 5", "--n"},
    {"multiply a.mtx --occupation 0.2", "--occupation"},
    {"multiply a.mtx --symmetry S", "--symmetry"},
    {"multiply a.mtx --filter-rule at-least", "--filter-rule"},
    {"multiply a.mtx --hybrid --gpus 0", "--hybrid"},
    {"density --generate water --molecules 5 --overlap s.mtx", "--overlap"},
    {"density --generate water --molecules 5 --block-sizes s.txt", "--block-sizes"},
    {"density h.h5 s.h5 --electrons 8 --block-sizes s.txt", "--block-sizes"},
    {"density h.h5 --electrons 8 --blocks 5", "--blocks"},
    {"density h.mtx --electrons 8 --blocks 5 --block-sizes s.txt", "--blocks"},
    {"density h.mtx --electrons 8 --molecules 5", "--molecules"},
    {"density h.mtx --electrons 8 --n 5", "--n"},
    {"density h.mtx --electrons 8 --gap 0.2", "--gap"},
    {"density h.mtx --electrons 8 --method tc2 --group 48", "--group"},
    {"density h.mtx --electrons 8 --decay 2", "--decay"},
    {"density h.mtx --electrons 8 --coupling 0.1", "--coupling"},
    {"density h.mtx --electrons 8 --mu 0", "--electrons"},
    {"density h.mtx --method trs4 --mu 0", "--mu"},
    {"density h.mtx --electrons 8 --method trs4 --temperature 0.1", "--temperature"},
    {"density h.mtx --electrons 8 --temperature 0.1 --gap-bounds 0:1", "--gap-bounds"},
    {"density h.mtx --electrons 8 --moved 0.1", "--moved"},
    {"density h.mtx --electrons 8 --method dense --tolerance 1e-5", "--tolerance"},
    {"density h.mtx --electrons 8 --method dense --iterations 5", "--iterations"},
    {"density h.mtx --electrons 8 --method dense --plot p.svg", "--plot"},
    {"density h.mtx,i.mtx --electrons 8 --plot p.svg", "--plot"},
    {"density h.mtx,i.mtx --electrons 8 --restart s.h5", "--restart"},
    {"density h.mtx,i.mtx --electrons 8 --save s.h5", "--save"},
    {"density h.mtx --electrons 8 --weights 1", "--weights"},
    {"density h.mtx --electrons 8 --temperature 0.1 --common-mu no", "--common-mu"},
    {"density h.mtx,i.mtx --electrons 8 --common-mu no", "--common-mu"},
    {"density h.mtx --electrons 8 --seed 3", "--seed"},
    {"density h.mtx --electrons 8 --sign-order 3", "--sign-order"},
    {"density h.mtx --electrons 8 --factor-order 4", "--factor-order"},
    {"density h.mtx --electrons 8 --hybrid --gpus 0", "--hybrid"},
    {"lobpcg a.mtx --interaction pairing", "--interaction"},
    {"lobpcg --generate laplacian1d:60 --interaction random", "--interaction"},
    {"lobpcg a.mtx --orbits o.sps", "--orbits"},
    {"lobpcg a.mtx --levels l.txt", "--levels"},
    {"lobpcg a.mtx --quantum-numbers no", "--quantum-numbers"},
    {"lobpcg a.mtx --excitation 2", "--excitation"},
    {"lobpcg --generate shell:20Ne --hw 10", "--hw"},
    {"lobpcg --generate shell:20Ne --lawson 1", "--lawson"},
    {"lobpcg --generate shell:nocore:4He:2 --coulomb", "--coulomb"},
    {"lobpcg --generate laplacian1d:60 --dimension", "--dimension"},
    {"bench_spmm a.mtx --excitation 2", "--excitation"},
    {"bench_spmm --generate shell:20Ne --hw 10", "--hw"},
    {"bench_spmm --generate shell:20Ne --lawson 1", "--lawson"},
    {"bench_spmm --generate shell:nocore:4He:2 --coulomb", "--coulomb"},
    {"bench_spmm a.mtx --plot p.svg", "--plot"},
    {"lobpcg --generate laplacian1d:60 --quantum-numbers no", "--quantum-numbers"},
    {"lobpcg --generate shell:20Ne --levels l.txt --quantum-numbers no", "--levels"},
    {"lobpcg --generate shell:20Ne --levels l.txt --largest", "--levels"},
    {"lobpcg a.mtx --preconditioner jacobi --steps 2", "--steps"},
    {"lobpcg a.mtx --degree 4", "--degree"},
    {"lobpcg a.mtx --method lobpcg --basis 40", "--basis"},
    {"lobpcg a.mtx --preconditioner none --shift 0", "--shift"},
    {"lobpcg a.mtx --checkpoint-seconds 5", "--checkpoint-seconds"},
    {"lobpcg a.mtx --checkpoint-iterations 5", "--checkpoint-iterations"},
    {"lobpcg a.mtx --hybrid --gpus 0", "--hybrid"},
    {"info --hybrid --gpus 0", "--hybrid"},
    {"tune --hybrid --gpus 0", "--hybrid"},
    {"tune --plans 5", "--plans"},
    {"tune --stack 5x5x5 --n 100", "--n"},
    {"tune --stack 5x5x5 --vectors no", "--vectors"},
    {"tune --stack 5x5x5 --repeat 2", "--repeat"},
    {"tune --stack 5x5x5 --warmup 2", "--warmup"},
    {"tune --stack 5x5x5 --output o.json", "--output"},
    {"calibrate --hybrid --gpus 0", "--hybrid"},
    {"bench_dense gemm --kernel elpa", "--kernel"},
    {"bench_dense gemm --hybrid --gpus 0", "--hybrid"},
    {"bench_stack --occupation 0.2", "--occupation"},
    {"bench_stack --hybrid --gpus 0", "--hybrid"},
    {"bench_spmm a.mtx --interaction pairing", "--interaction"},
    {"bench_spmm --generate laplacian1d:60 --orbits o.sps", "--orbits"},
    {"bench_spmm a.mtx --hybrid --gpus 0", "--hybrid"},
    {"bench_products --hybrid --gpus 0", "--hybrid"},
    {"bench_batch --hybrid --gpus 0", "--hybrid"},
    {"bench_density h.mtx --electrons 8 --molecules 5", "--molecules"},
    {"bench_density h.mtx --electrons 8 --n 5", "--n"},
    {"bench_density h.mtx --electrons 8 --known-gap yes", "--known-gap"},
    {"bench_density --generate water --n 46 --overlap s.mtx", "--overlap"},
    {"bench_density h.h5 --electrons 8 --block-sizes s.txt", "--block-sizes"},
    {"bench_density h.h5 --electrons 8 --blocks 5", "--blocks"},
    {"bench_density --generate water --n 46 --electrons 8", "--electrons"},
    {"bench_density --generate water --n 46 --hybrid --gpus 0", "--hybrid"}};

TEST(OptionsWithoutEffect, AreRefusedInAllTables) {
  std::set<std::pair<std::string, std::string>> refused;
  for (const auto& [line, option] : without_effect) {
    const std::string said = refusal(line);
    EXPECT_TRUE(said.starts_with(option)) << line << '\n' << said;
    EXPECT_NE(said.find(" has no effect; expected it only with "), std::string::npos) << said;
    refused.emplace(line.substr(0, line.find(' ')), option);
  }
  for (const auto& [name, command] : commands())
    for (const OptionEntry& entry : command.table.entries()) {
      if (!entry.needed.empty()) {
        EXPECT_TRUE(refused.contains({name, entry.name})) << name << ' ' << entry.name;
      }
    }
}

TEST(OptionsWithoutEffect, AreTakenWhereTheyHaveOne) {
  for (const char* line :
       {"eigen --generate random --n 3 --scale 2 --seed 2 --band 1 --hybrid",
        "eigen a.mtx --band 8 --tuning t",
        "batch a.h5:crystal/bands --type z --chunk 3 --keep-on gpu --peer cusolver",
        "batch a.mtx,b.mtx.gz --vectors no",
        "batch --generate random --n 2048 --count 0 --seed 3",
        "multiply a.mtx b.h5 --blocks 5",
        "multiply a.mtx --matrix-c c.mtx --beta 2",
        "multiply a.mtx --matrix-c c.mtx --retain-sparsity --block-sizes s.txt",
        "multiply --generate water --n 50 --occupation 0.2 --symmetry S --blocks 5",
        "density h.mtx s.h5 --blocks 13,5,5 --electrons 8 --factor-order 4",
        "density h.mtx --mu 0.1 --sign-order 3 --block-sizes s.txt",
        "density h.mtx --mu 0.1 --temperature 0.1 --method dense --restart s.h5 --save t.h5",
        "density h.mtx --electrons 8 --gap-bounds -0.5:1e-1 --method sp2",
        "density h.mtx --electrons 8 --restart s.h5 --moved 0.1 --method sign",
        "density h.mtx --electrons 511.5 --temperature 0.1",
        "density h.mtx,i.mtx s.mtx --electrons 9,7 --occupation 1",
        "density h.mtx,i.h5 s.mtx,t.h5 --blocks 5 --electrons 8 --weights 1,3 --temperature 0.1 --common-mu "
        "no",
        "density --generate tio2 --n 520 --blocks 4,5,5 --gap 0.3 --decay 2 --coupling 0.1 --method sign "
        "--sign-order 3",
        "lobpcg --generate shell:20Ne --interaction pairing --steps 2 --shift -3",
        "lobpcg --generate shell:20Ne --levels l.res --quantum-numbers yes",
        "lobpcg a.h5 --levels l.res --quantum-numbers yes --save-matrix b.h5 --save-overlap c.h5",
        "lobpcg a.mtx --method gd --block 2 --basis 40",
        "lobpcg a.mtx --method lanczos --k 200 --basis 700 --preconditioner none",
        "lobpcg --generate shell:20Ne --product free",
        "lobpcg --generate shell:nocore:4He:2 --interaction minnesota --hw 15 --lawson 2 --coulomb",
        "lobpcg --generate shell:nocore:12C:8 --dimension",
        "lobpcg --generate shell:file:1:2 --interaction w.snt --excitation 4",
        "lobpcg --generate shell:file:2:2 --orbits o.sps --degree 3 --preconditioner chebyshev",
        "tune --stack 5x5x5,80x1x23 --type z --plans 7 --seed 3",
        "bench_dense back_tridiagonal --kernel elpa --n 20 --columns 9 --band 8",
        "bench_stack --generate water --occupation 0.2",
        "bench_spmm --generate shell:20Ne --interaction pairing --nd 2 --storage f --type s",
        "bench_spmm --speedups a.json,b.json --plot p.svg",
        "multiply --generate random --n 50 --peer cutensor --filter 0",
        "bench_products --blocks 5,13 --occupation 0.1,1 --filter 1e-6",
        "bench_products --peer cutensor --type c",
        "bench_batch --n 5,2048 --count 1,9 --type z --vectors no --chunk 3 --keep-on gpu --peer cusolver",
        "bench_density --generate water --n 46,92 --known-gap yes --methods sp2,trs4 --filter 0,1e-5",
        "bench_density h.mtx s.mtx --electrons 8.5 --temperature 0.1 --methods fermi"})
    EXPECT_EQ(refusal(line), "") << line;
}

TEST(OptionsWithoutEffect, ElectronsNeedTheirOrbitals) {
  const std::string eigen = "eigen --generate random --n 20 --electrons ";
  EXPECT_EQ(refusal(eigen + "10 --range index:4:6"), "");
  EXPECT_EQ(refusal(eigen + "38"), "");
  for (const char* bad : {"9", "40", "10 --range index:5:20", "10 --range index:0:5", "0"})
    EXPECT_TRUE(refusal(eigen + bad).starts_with("--electrons: '")) << bad;
}

TEST(UsageErrors, StacksHaveThreeSizes) {
  for (const char* bad : {"5", "5x", "5x5x", "5x5x5x5", "x5x5", "5x0x5", "5x81x5", "5X5X5", "5x5x5,6",
                          "5x5x+5", "5x5x5,", "-5x5x5"})
    EXPECT_TRUE(refusal(std::string("tune --stack=") + bad).starts_with("--stack")) << bad;
  TuneProgramOptions options;
  EXPECT_TRUE(option_table(options).json().at("stack").is_null());
  option_table(options).entry("--stack").set("23x5x13,1x1x80");
  ASSERT_EQ(options.stacks.size(), 2u);
  EXPECT_EQ(options.stacks[0].m, 23);
  EXPECT_EQ(options.stacks[0].n, 5);
  EXPECT_EQ(options.stacks[0].k, 13);
  EXPECT_EQ(option_table(options).json()["stack"], Json::array({"23x5x13", "1x1x80"}));
}

TEST(OptionTables, MakeTheRecord) {
  EigenProgramOptions options;
  options.generate = "random";
  options.n = 20;
  options.type = 'z';
  options.band = 8;
  Json json = option_table(options).json();
  EXPECT_EQ(json["generate"], "random");
  EXPECT_EQ(json["n"], 20);
  EXPECT_EQ(json["type"], "z");
  EXPECT_EQ(json["band"], 8);
  EXPECT_TRUE(json.at("tile").is_null()) << "not chosen yet";
  EXPECT_EQ(json["vectors"], true);
  EXPECT_EQ(json["range"], "all");
  EXPECT_EQ(json["check"], "last");
  EXPECT_FALSE(json.contains("matrix"));
  options.solver = "vendor";
  json = option_table(options).json();
  EXPECT_FALSE(json.contains("band")) << "it has no effect";
  for (const auto& [name, command] : commands()) {
    const Json record = command.table.json();
    std::set<std::string> keys;
    for (const OptionEntry& entry : command.table.entries())
      EXPECT_TRUE(keys.insert(entry.key()).second) << entry.name;
    for (const auto& item : record.items()) EXPECT_TRUE(keys.contains(item.key())) << item.key();
  }
}

TEST(Dates, AreIso8601InUtc) {
  const std::string date = utc_date();
  EXPECT_EQ(date.size(), 20u);
  std::tm read{};
  ASSERT_NE(::strptime(date.c_str(), "%Y-%m-%dT%H:%M:%SZ", &read), nullptr) << date;
  EXPECT_LT(std::abs(std::difftime(std::time(nullptr), ::timegm(&read))), 10);
}

}  // namespace
