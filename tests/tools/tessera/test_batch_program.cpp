// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <limits>

#include <hdf5.h>
#include <tests/tools/program_test.hpp>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/matgen.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>

/// Runs `tessera batch`.
namespace {

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;

class BatchProgram : public Program {
 protected:
  static constexpr Index n = 12, count = 5;

  /// Matrices by columns, one directly after the other.
  template <class T>
  static std::vector<T> matrices() {
    std::vector<T> a(static_cast<std::size_t>(n * n * count));
    for (Index k = 0; k < count; ++k)
      MatrixGenerator<T>::make("random", n, 7 + static_cast<std::uint64_t>(k))
          .fill(0, 0, n, n, &a[n * n * k], n);
    return a;
  }
  /// A file as a user has it: element (i, j) of matrix k is [k, i, j].
  template <class T>
  std::string by_rows(const std::string& name, const std::vector<T>& a, const char* set = "matrices") const {
    std::vector<T> rows(a.size());
    for (Index k = 0; k < count; ++k)
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) rows[(k * n + i) * n + j] = a[(k * n + j) * n + i];
    Hdf5File file = Hdf5File::create(path(name));
    file.create_stack<T>(set, n, n, count);
    file.write_stack(set, 0, count, rows.data());
    file.close();
    return path(name);
  }
  /// A data set of zeros of any shape, by HDF5 alone.
  std::string zeros(const std::string& name, const std::vector<hsize_t>& sizes) const {
    const hid_t file = H5Fcreate(path(name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
    const hid_t set =
        H5Dcreate2(file, "matrices", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    std::size_t elements = 1;
    for (const hsize_t size : sizes) elements *= size;
    const std::vector<double> none(elements);
    if (elements > 0) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, none.data());
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    return path(name);
  }
  /// By LAPACK.
  template <class T>
  static std::vector<RealOf<T>> values_of(std::vector<T> a) {
    std::vector<RealOf<T>> w(static_cast<std::size_t>(n * count)), rwork(400);
    std::vector<T> work(400);
    std::vector<int> iwork(400);
    for (Index k = 0; k < count; ++k)
      EXPECT_EQ(blas::heevd<T>('N', Uplo::lower, n, &a[n * n * k], n, &w[n * k], work.data(), 400,
                               rwork.data(), 400, iwork.data(), 400),
                0);
    return w;
  }
  /// The results in a file: eigenvalues as LAPACK has them, A z = z w, orthonormal vectors.
  template <class T>
  void expect_results(const std::string& output, const std::vector<T>& a) const {
    Hdf5File file = Hdf5File::open(path(output));
    EXPECT_EQ(file.shape("values").sizes, (std::vector<Index>{count, n}));
    EXPECT_EQ(file.shape("vectors").sizes, (std::vector<Index>{count, n, n}));
    Index rows = 0, columns = 0;
    const auto w = file.read<RealOf<T>>("values", rows, columns);
    std::vector<T> z(a.size());
    file.read_stack("vectors", 0, count, z.data());
    const auto reference = values_of(a);
    const double bound = 100 * precision<T>;
    ASSERT_EQ(w.size(), reference.size());
    for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], reference[i], bound * n);
    for (Index k = 0; k < count; ++k)
      for (Index j = 0; j < n; ++j) {
        const T* const vector = &z[(k * n + j) * n];
        double norm = 0;
        for (Index i = 0; i < n; ++i) {
          T sum = -w[k * n + j] * vector[i];
          for (Index l = 0; l < n; ++l) sum += a[(k * n + l) * n + i] * vector[l];
          EXPECT_LT(std::abs(sum), bound * n) << k << ' ' << j;
          norm += std::norm(vector[i]);
        }
        EXPECT_NEAR(norm, 1, bound);
      }
  }
};

template <class T>
class BatchProgramTypes : public BatchProgram {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BatchProgramTypes, Scalars);

TYPED_TEST(BatchProgramTypes, SolvesAnHdf5FileIntoAnother) {
  using T = TypeParam;
  const auto a = this->template matrices<T>();
  const std::string input = this->by_rows("in.h5", a);
  const Json json = this->record(
      fmt::format("batch {} --output {} --peer lapack --repeat 2 --check all", input, this->path("out.h5")));
  EXPECT_EQ(json["command"], "batch");
  EXPECT_EQ(json["options"]["type"], std::string(1, type_letter<T>)) << "as in the file";
  EXPECT_EQ(json["options"]["matrix"], input);
  EXPECT_EQ(json["options"]["n"], this->n);
  EXPECT_EQ(json["options"]["count"], this->count);
  ASSERT_EQ(json["runs"].size(), 2u);
  for (const Json& run : json["runs"]) {
    EXPECT_TRUE(run["check"]["passed"].template get<bool>());
    for (const char* number : {"residual", "orthogonality", "trace", "values"})
      EXPECT_LT(run["check"][number].template get<double>(), 3) << number;
    EXPECT_TRUE(run["result"]["failures"].empty());
    EXPECT_GT(run["result"]["matrices_per_second"].template get<double>(), 0);
  }
  const auto reference = this->values_of(a);
  const auto [least, most] = std::ranges::minmax(reference);
  EXPECT_NEAR(this->result(json)["smallest"].template get<double>(), least, 1e3 * precision<T>);
  EXPECT_NEAR(this->result(json)["largest"].template get<double>(), most, 1e3 * precision<T>);
  EXPECT_TRUE(json["peer"]["check"]["passed"].template get<bool>());
  this->expect_results("out.h5", a);
}

TEST_F(BatchProgram, TypesAndNamesOfAFile) {
  const auto a = matrices<double>();
  const std::string input = by_rows("a.h5", a, "crystal");
  for (const char* type : {"s", "d", "c", "z"}) {
    const Json json = record(fmt::format("batch {}:crystal --type {}", input, type));
    EXPECT_EQ(json["options"]["type"], type);
    EXPECT_TRUE(passed(json)) << type;
  }
  expect_refused("batch " + input, "a.h5: there is no data set 'matrices'");
  expect_refused("batch " + input + ":crystal/more", "there is no data set 'crystal/more'");
  expect_refused("batch " + input + ":",
                 "a.h5:' has no name of a data set; expected FILE.h5 or FILE.h5:DATASET");
  const std::string complex = by_rows("z.h5", matrices<std::complex<double>>());
  expect_refused("batch --type d " + complex, "the data set 'matrices' cannot be read as real numbers");
  // A file of that very name comes before a data set.
  fs::rename(complex, path("z.h5:odd.h5"));
  EXPECT_EQ(record("batch " + path("z.h5:odd.h5"))["options"]["type"], "z");
}

TEST_F(BatchProgram, SolvesMatrixMarketFiles) {
  const auto a = matrices<std::complex<double>>();
  std::string files;
  for (Index k = 0; k < count; ++k) {
    const std::string name = path(fmt::format("a{}.mtx{}", k, k % 2 ? ".gz" : ""));
    write_matrix_market(name, n, n, &a[n * n * k], n);
    files += (k > 0 ? "," : "") + name;
  }
  const Json json = record(fmt::format("batch {} --output {}", files, path("out.h5")));
  EXPECT_EQ(json["options"]["type"], "z");
  EXPECT_EQ(json["options"]["matrix"].size(), static_cast<std::size_t>(count));
  EXPECT_TRUE(passed(json));
  expect_results("out.h5", a);
  // One triangle, real; with a complex file beside it all are complex.
  const std::string real =
      file("real.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 2\n");
  const std::string hermitian =
      file("hermitian.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 0 0\n2 1 0 4\n");
  EXPECT_EQ(record("batch " + real)["options"]["type"], "d");
  const Json both = record(fmt::format("batch {},{} --vectors no", real, hermitian));
  EXPECT_EQ(both["options"]["type"], "z");
  EXPECT_NEAR(result(both)["smallest"].get<double>(), -4, 1e-14);
  EXPECT_NEAR(result(both)["largest"].get<double>(), 4, 1e-14);
  EXPECT_TRUE(both["runs"][0]["check"]["residual"].is_null());
  EXPECT_EQ(record("batch " + real)["options"]["matrix"], real);

  const std::string three =
      file("three.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 1 1\n");
  expect_refused(fmt::format("batch {},{}", real, three),
                 fmt::format("three.mtx: is of order 3, {} of order 2; a batch has one order", real));
  expect_refused(fmt::format("batch {},{}", real, path("absent.mtx")), "absent.mtx: there is no such file");
  expect_refused(fmt::format("batch {},{}", real, by_rows("a.h5", matrices<double>())),
                 "stands beside other files; expected one HDF5 file, or Matrix Market files");
  expect_refused("batch --type d " + hermitian, "complex");
  expect_refused("batch " + file("wide.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 1\n"),
                 "square");
  expect_refused(
      "batch " + file("large.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2049 2049 1\n1 1 1\n"),
      "large.mtx: is of order 2049; a batch has matrices up to order 2048");
  expect_refused(
      "batch " + file("nan.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 1 nan\n"),
      "not finite");
}

TEST_F(BatchProgram, RefusesOtherDataSets) {
  expect_refused(
      "batch " + zeros("flat.h5", {4, 4}),
      "flat.h5: the data set 'matrices' has 2 dimensions, 4 x 4; expected 3: matrices, rows and columns");
  expect_refused("batch " + zeros("one.h5", {7}), "has 1 dimension, 7; expected 3");
  expect_refused("batch " + zeros("four.h5", {1, 2, 3, 3}), "has 4 dimensions, 1 x 2 x 3 x 3; expected 3");
  expect_refused("batch " + zeros("wide.h5", {2, 4, 5}), "is of 2 x 4 x 5; expected square matrices");
  expect_refused("batch " + zeros("large.h5", {1, 2049, 2049}),
                 "large.h5: is of order 2049; a batch has matrices up to order 2048");
  expect_refused("batch " + path("absent.h5"), "absent.h5");
  expect_refused("batch " + file("text.h5", "1 2 3\n"),
                 "text.h5: seems to be some text; expected an HDF5 file");
  // Cut anywhere.
  const std::string whole = by_rows("whole.h5", matrices<double>());
  const auto size = fs::file_size(whole);
  for (const auto part : {size / 3, size - 1}) {
    fs::copy_file(whole, path("cut.h5"), fs::copy_options::overwrite_existing);
    fs::resize_file(path("cut.h5"), part);
    expect_refused("batch " + path("cut.h5"), "cut.h5: ");
  }
  auto a = matrices<std::complex<float>>();
  a[(3 * n + 2) * n + 7] += std::complex<float>(0, 0.01f);
  expect_refused(
      "batch " + by_rows("other.h5", a),
      "other.h5: matrix number 3 (from 0) of 'matrices' is not Hermitian: element (7, 2) is not the "
      "conjugate of (2, 7)");
}

TEST_F(BatchProgram, EmptyBatches) {
  for (const std::string& source :
       {zeros("none.h5", {0, 4, 4}), zeros("orders.h5", {3, 0, 0}),
        std::string("--generate random --n 0 --count 3"), std::string("--generate random --n 3 --count 0")}) {
    const Json json =
        record(fmt::format("batch {} --peer lapack --warmup 1 --output {}", source, path("out.h5")));
    EXPECT_TRUE(result(json)["smallest"].is_null()) << source;
    EXPECT_EQ(json["options"]["n"].get<int>() * json["options"]["count"].get<int>(), 0);
    Hdf5File file = Hdf5File::open(path("out.h5"));
    EXPECT_EQ(file.shape("values").sizes[1], json["options"]["n"]);
    EXPECT_EQ(file.shape("values").sizes[0], json["options"]["count"]);
    EXPECT_EQ(run("batch " + source).code, 0);
  }
}

/// A matrix with a NaN fails, is listed, and is exit code 1; all others have results.
TEST_F(BatchProgram, MatricesFailByThemselves) {
  auto a = matrices<double>();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  a[(1 * n + 4) * n + 9] = nan;                                      // in the lower triangle alone
  a[(3 * n + 6) * n + 2] = std::numeric_limits<double>::infinity();  // in the upper one
  const std::string input = by_rows("bad.h5", a);
  for (const char* check : {"last", "none"}) {
    const Json json = record(fmt::format("batch {} --check {} --output {}", input, check, path("out.h5")), 1);
    EXPECT_FALSE(passed(json));
    EXPECT_EQ(json["runs"][0]["check"]["failure"], "2 of 5 matrices have failed");
    const Json& failures = result(json)["failures"];
    ASSERT_EQ(failures.size(), 2u);
    EXPECT_EQ(failures[0]["matrix"], 1);
    EXPECT_EQ(failures[0]["status"], "not finite");
    EXPECT_EQ(failures[0]["index"], 5) << "the column, from 1";
    EXPECT_EQ(failures[1]["matrix"], 3);
    if (std::string(check) == "last") {
      EXPECT_LT(json["runs"][0]["check"]["residual"].get<double>(), 3) << "of the others";
      EXPECT_LT(json["runs"][0]["check"]["trace"].get<double>(), 3);
    }
    EXPECT_TRUE(result(json)["smallest"].is_number());
    Hdf5File file = Hdf5File::open(path("out.h5"));
    Index rows = 0, columns = 0;
    const auto w = file.read<double>("values", rows, columns);
    std::vector<double> z(a.size());
    file.read_stack("vectors", 0, count, z.data());
    const auto reference = values_of(matrices<double>());
    for (Index k = 0; k < count; ++k)
      for (Index j = 0; j < n; ++j) {
        const bool failed = k == 1 || k == 3;
        EXPECT_EQ(std::isnan(w[k * n + j]), failed) << k;
        EXPECT_EQ(std::isnan(z[(k * n + j) * n]), failed) << k;
        if (!failed) {
          EXPECT_NEAR(w[k * n + j], reference[k * n + j], 1e-12);
        }
      }
  }
  const Outcome outcome = run("batch " + input);
  EXPECT_EQ(outcome.code, 1);
  for (const char* text : {"\nmatrices      5 of order 12, ", " matrices/s\n", " to ", ", of all matrices\n",
                           "\nfailed        2 of 5 matrices, numbered from 0\n",
                           "matrix 1: not finite, column 5\n", "matrix 3: not finite, column ", "FAILED\n"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << '\n' << outcome.out;
  expect_refused(
      "batch --peer lapack " + input,
      "--peer: 'lapack' is not possible; expected none, as matrix number 1 (from 0) is not finite");
}

TEST_F(BatchProgram, GeneratesAsTheBenchmarkDoes) {
  const Json json =
      record("batch --generate overlap --n 20 --count 30 --type c --chunk 7 --seed 5 --repeat 2");
  EXPECT_TRUE(passed(json));
  EXPECT_EQ(json["options"]["chunk"], 7);
  EXPECT_EQ(result(json)["checked_matrices"], (Json{{"number", 30}, {"first", 0}, {"step", 1}}));
  // Matrix number k has the seed --seed + k.
  const Json all = record("batch --generate random --n 20 --count 3 --seed 5 --vectors no"),
             last = record("eigen --generate random --n 20 --seed 7 --vectors no");
  EXPECT_LE(result(all)["smallest"].get<double>(), result(last)["first"].get<double>() + 1e-12);
  EXPECT_EQ(run("batch --generate random --n 3 --count 2 --quiet").out, "");
  expect_refused("batch --generate random --n 2000 --count 1000000000",
                 "a batch of 1000000000 matrices of order 2000");
  expect_refused("batch --generate random --n 3 --count 2 --gpus 0 --peer cusolver", "--peer: 'cusolver'");
  expect_refused("batch --generate random --n 3 --count 2 --gpus 0 --keep-on gpu",
                 "--keep-on: 'gpu' is not possible; expected host, where no GPU is used");
  expect_refused("batch --generate random --n 3 --count 2 --output " + path("no/such/out.h5"), "out.h5");
  const Outcome traced = run("batch --generate random --n 9 --count 50 --trace " + path("trace"));
  EXPECT_EQ(traced.code, 0) << traced.err;
  EXPECT_TRUE(fs::exists(path("trace/summary.txt")));
}

/// Before a file is opened.
TEST_F(BatchProgram, SeveralProcessesAreRefused) {
  const std::string ranks = two_ranks();
  if (ranks.empty()) GTEST_SKIP() << "no mpiexec";
  const Outcome outcome = run("batch " + path("absent.h5"), ranks);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("one process (each would solve the same batches)"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("absent.h5"), std::string::npos) << outcome.err;
}

}  // namespace
