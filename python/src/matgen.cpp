// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/matgen.hpp>
#include <tessera/shell_model.hpp>

#include "common.hpp"

/// Test matrices of the field.
namespace tessera::python {
namespace {

Matrix random_matrix(const std::string& letter, HostVector<Index> row_sizes, HostVector<Index> col_sizes,
                     double occupation, const std::string& symmetry, std::uint64_t seed) {
  return with_letter(letter, [&]<class T>() {
    const Call call;
    Runtime& runtime = current_runtime();
    const BlockLayout layout =
        make_block_layout(runtime, {row_sizes.data(), row_sizes.data() + row_sizes.shape(0)},
                          {col_sizes.data(), col_sizes.data() + col_sizes.shape(0)}, symmetry_of(symmetry));
    return Matrix(random_block_sparse<T>(runtime, layout, occupation, seed));
  });
}

/// (H, S, numbers of the system).
nb::tuple make_density_system(const std::string& letter, const std::string& kind, Index molecules,
                              std::vector<Index> blocks, std::optional<double> gap, std::uint64_t seed,
                              double threshold) {
  return with_letter(letter, [&]<class T>() {
    DensitySystem<T> system;
    std::optional<Matrix> h, s;
    {
      const Call call;
      system = density_system<T>(current_runtime(), {.kind = kind,
                                                     .molecules = molecules,
                                                     .blocks = blocks,
                                                     .gap = gap,
                                                     .seed = seed,
                                                     .threshold = threshold});
      h.emplace(std::move(system.hamiltonian));
      s.emplace(std::move(system.overlap));
    }
    nb::dict d;
    d["electrons"] = system.electrons;
    d["mu"] = system.mu;
    d["gap_bound"] = system.gap_bound;
    d["overlap_bound"] = system.overlap_bound;
    d["cell_length"] = system.cell_length;
    std::vector<double> positions;
    for (const auto& p : system.unit_positions) positions.insert(positions.end(), p.begin(), p.end());
    const std::size_t units = system.unit_positions.size();
    d["unit_positions"] = to_numpy(std::move(positions), {units, 3});
    d["unit_of_block"] = to_numpy(std::move(system.unit_of_block));
    return nb::make_tuple(nb::cast(std::move(*h)), nb::cast(std::move(*s)), d);
  });
}

/// The entries of the lower triangle as (rows, columns, values, order), and the lowest eigenvalues that are known. The
/// values are complex of a Hermitian matrix.
nb::tuple sparse_matrix(const std::string& kind, std::uint64_t seed, Index known,
                        const std::string& interaction, const std::string& orbits,
                        std::optional<int> excitation, double oscillator, double lawson, bool coulomb) {
  std::vector<Index> rows, columns;
  std::vector<double> values, lowest;
  std::vector<std::complex<double>> complex_values;
  bool hermitian = false;
  Index n = 0;
  {
    const nb::gil_scoped_release without_python;
    const SparseGeneratorOptions options{seed, interaction, orbits, excitation, oscillator, lawson, coulomb};
    const SparseGenerator generator = make_sparse_generator(kind, options);
    if (generator.b) throw InvalidArgument("kind", kind, "a kind of one matrix");
    n = generator.a->order();
    const auto tiles = generator.a->tiles();
    std::vector<Index> begins(tiles.begin(), tiles.end());
    if (begins.empty()) begins = {0, n};
    std::vector<ComplexSparseEntry> entries;
    hermitian = generator.a->hermitian();
    for (std::size_t t = 0; t + 1 < begins.size(); ++t) {
      const Index width = Index{1} << 31;
      for (Index column = 0; column < begins[t + 1]; column += width) {
        entries.clear();
        generator.a->complex_entries(begins[t], begins[t + 1], column, std::min(n, column + width), entries);
        for (const ComplexSparseEntry& e : entries) {
          rows.push_back(begins[t] + e.row);
          columns.push_back(column + e.column);
          if (hermitian)
            complex_values.push_back(e.value);
          else
            values.push_back(e.value.real());
        }
      }
    }
    if (const auto exact = generator.lowest_eigenvalues(known)) lowest = *exact;
  }
  const nb::object numbers = hermitian ? to_numpy(std::move(complex_values)) : to_numpy(std::move(values));
  return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(columns)), numbers, n,
                        to_numpy(std::move(lowest)));
}

nb::object dense_matrix(const std::string& letter, const std::string& kind, Index n, std::uint64_t seed) {
  return with_letter(letter, [&]<class T>() {
    std::vector<T> a;
    {
      const nb::gil_scoped_release without_python;
      const auto generator = MatrixGenerator<T>::make(kind, n, seed);
      a.resize(static_cast<std::size_t>(n * n));
      generator.fill(0, 0, n, n, a.data(), std::max<Index>(n, 1));
    }
    return to_numpy_matrix(std::move(a), n, n);
  });
}

template <class Kinds>
nb::dict names_of(const Kinds& kinds) {
  nb::dict d;
  for (const auto& kind : kinds) d[nb::str(std::string(kind.name).c_str())] = std::string(kind.help);
  return d;
}

}  // namespace

void bind_matgen(nb::module_& module) {
  module.def("random_matrix", &random_matrix, nb::arg("letter"), nb::arg("row_sizes"), nb::arg("col_sizes"),
             nb::arg("occupation"), nb::arg("symmetry"), nb::arg("seed"));
  module.def("density_system", &make_density_system, nb::arg("letter"), nb::arg("kind"), nb::arg("molecules"),
             nb::arg("blocks"), nb::arg("gap").none(), nb::arg("seed"), nb::arg("threshold"));
  module.def("sparse_matrix", &sparse_matrix, nb::arg("kind"), nb::arg("seed"), nb::arg("known"),
             nb::arg("interaction") = "random", nb::arg("orbits") = "", nb::arg("excitation") = nb::none(),
             nb::arg("oscillator") = 20., nb::arg("lawson") = 0., nb::arg("coulomb") = false);
  module.def(
      "shell_model_order",
      [](const std::string& kind, const std::string& interaction, const std::string& orbits,
         std::optional<int> excitation) {
        return shell_model_order(kind,
                                 {.interaction = interaction, .orbits = orbits, .excitation = excitation});
      },
      nb::arg("kind"), nb::arg("interaction"), nb::arg("orbits"), nb::arg("excitation").none());
  module.def("dense_matrix", &dense_matrix, nb::arg("letter"), nb::arg("kind"), nb::arg("n"),
             nb::arg("seed"));
  module.def("dense_kinds", [] { return names_of(generator_kinds()); });
  module.def("sparse_kinds", [] { return names_of(sparse_generator_kinds()); });
  module.def("system_kinds", [] { return names_of(density_system_kinds()); });
}

}  // namespace tessera::python
