// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "eigen_output.hpp"

#include <deque>
#include <exception>
#include <optional>

#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/runtime/output_file.hpp>

#include "output_files.hpp"
#include "problem.hpp"

namespace tessera::program {
using namespace detail;

namespace {

bool is_hdf5(const std::string& prefix) {
  return prefix.ends_with(".h5");
}
std::string values_file(const std::string& prefix) {
  return prefix + "_values.mtx";
}
std::string vectors_file(const std::string& prefix) {
  return prefix + "_vectors.mtx";
}

/// The output in one of the two formats. The columns are written slab by slab.
template <class T>
class Output {
 public:
  Output(const std::string& prefix, const std::vector<RealOf<T>>& values, Index rows, Index columns)
      : rows_(rows) {
    const auto count = static_cast<Index>(values.size());
    if (is_hdf5(prefix)) {
      hdf5_.emplace(Hdf5File::create(prefix));
      hdf5_->write_attribute("content",
                             "eigenvalues (values) and eigenvectors (vectors, row k belongs to value k)");
      hdf5_->create_array<RealOf<T>>("values", count);
      hdf5_->write_columns("values", 0, 1, values.data(), count);
      if (columns > 0) hdf5_->create_array<T>("vectors", rows, columns);
      return;
    }
    // Both files get the same stamp. If the process is killed between the two renames, the stamps
    // differ.
    const std::string stamp = new_stamp();
    MatrixMarketWriter market(files_.emplace_back(values_file(prefix)), count, 1, false,
                              "eigenvalues\n" + stamp);
    market.append(values.data(), 1, count);
    market.close();
    if (columns > 0)
      market_.emplace(files_.emplace_back(vectors_file(prefix)), rows, columns, is_complex<T>,
                      "eigenvectors, one a column\n" + stamp);
  }

  void put_beside(const NamedMatrix& matrix) {
    if (!hdf5_) return;
    hdf5_->create_array<double>(matrix.name, matrix.rows, matrix.columns);
    hdf5_->write_columns(matrix.name, 0, matrix.columns, matrix.values.data(), matrix.rows);
  }

  void put(Index first, Index columns, const T* a) {
    if (hdf5_) hdf5_->write_columns("vectors", first, columns, a, rows_);
    if (market_) market_->append(a, columns, rows_);
  }
  void close() {
    if (hdf5_) return hdf5_->close();
    if (market_) market_->close();
    std::vector<OutputFile*> files;
    for (OutputFile& file : files_) files.push_back(&file);
    OutputFile::commit_together(files);
  }

 private:
  Index rows_;
  std::optional<Hdf5File> hdf5_;
  std::deque<OutputFile> files_;
  std::optional<MatrixMarketWriter> market_;
};

}  // namespace

void require_eigenpairs_writable(const std::string& prefix, bool vectors) {
  if (prefix.empty()) return;
  if (is_hdf5(prefix)) return require_writable("--output", prefix);
  require_writable("--output", values_file(prefix));
  if (vectors) require_writable("--output", vectors_file(prefix));
}

template <class T>
void write_eigenpairs(Session& session, const std::string& prefix, const std::vector<RealOf<T>>& values,
                      const ColumnSlabs<T>& vectors) {
  Runtime& runtime = session.runtime();
  std::optional<Output<T>> output;
  std::exception_ptr failure;
  // All ranks must take part in gathering the slabs, even if writing the file failed.
  const auto attempt = [&](const auto& step) {
    if (runtime.rank() != 0 || failure) return;
    try {
      step();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  attempt([&] { output.emplace(prefix, values, vectors.rows(), vectors.cols()); });
  for (Index s = 0; s < vectors.count(); ++s) {
    const std::vector<T> columns = gather_slab(runtime, vectors, s);
    attempt([&] { output->put(vectors.first_col(s), vectors.slab_cols(s), columns.data()); });
  }
  attempt([&] { output->close(); });
  session.together([&] {
    if (failure) std::rethrow_exception(failure);
  });
}

template <class T>
void write_eigenpairs(Session& session, const std::string& prefix, const std::vector<RealOf<T>>& values,
                      const std::vector<T>& vectors, const std::vector<NamedMatrix>& beside) {
  session.together([&] {
    if (session.runtime().rank() != 0) return;
    const auto columns = static_cast<Index>(values.size());
    const Index rows = columns > 0 ? static_cast<Index>(vectors.size()) / columns : 0;
    Output<T> output(prefix, values, rows, columns);
    output.put(0, columns, vectors.data());
    for (const NamedMatrix& matrix : beside) output.put_beside(matrix);
    output.close();
  });
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void write_eigenpairs<T>(Session&, const std::string&, const std::vector<RealOf<T>>&, \
                                    const ColumnSlabs<T>&);                                      \
  template void write_eigenpairs<T>(Session&, const std::string&, const std::vector<RealOf<T>>&, \
                                    const std::vector<T>&, const std::vector<NamedMatrix>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
