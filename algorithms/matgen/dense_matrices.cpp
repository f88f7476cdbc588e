// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/matgen.hpp>

namespace tessera::detail {

namespace {

std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class S>
S random_scalar(std::uint64_t seed, Index i, Index j) noexcept {
  if constexpr (is_complex<S>)
    return {random_uniform(seed, 0, i, j), random_uniform(seed, 1, i, j)};
  else
    return random_uniform(seed, 0, i, j);
}

/// Random element of the lower triangle of a Hermitian matrix.
template <class S>
S random_hermitian(std::uint64_t seed, Index i, Index j) noexcept {
  return i == j ? S(random_uniform(seed, 0, i, j)) : random_scalar<S>(seed, i, j);
}

/// x i^k for k >= 0 in complex types.
template <class S>
S turned(double x, Index k) noexcept {
  if constexpr (is_complex<S>) {
    switch (k % 4) {
      case 0:
        return {x, 0};
      case 1:
        return {0, x};
      case 2:
        return {-x, 0};
      default:
        return {0, -x};
    }
  } else {
    return x;
  }
}

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

template <class Function>
std::vector<double> tabulate(Index n, Function f) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (Index k = 0; k < n; ++k) values[k] = f(k);
  return values;
}

}  // namespace

namespace {

/// A rule made of a function of (i, j) and one that gives the eigenvalues.
template <class T, class Function>
class FunctionRule final : public MatrixGenerator<T>::Rule {
 public:
  using Spectrum = std::function<std::vector<double>()>;
  FunctionRule(Index n, Function element, Spectrum spectrum)
      : MatrixGenerator<T>::Rule(n), element_(std::move(element)), spectrum_(std::move(spectrum)) {}
  Wide<T> lower(Index i, Index j) const noexcept override { return element_(i, j); }
  std::optional<std::vector<double>> eigenvalues() const override {
    if (!spectrum_) return std::nullopt;
    return sorted(spectrum_());
  }

 private:
  Function element_;
  Spectrum spectrum_;
};

template <class T, class Function>
std::shared_ptr<const typename MatrixGenerator<T>::Rule> rule(
    Index n, Function element, std::function<std::vector<double>()> spectrum = {}) {
  return std::make_shared<FunctionRule<T, Function>>(n, std::move(element), std::move(spectrum));
}

/// H D H^H, H = I - 2 u u^H three times: each similarity is A - u w^H - w u^H with w = 2 A u - 2 (u^H A u) u.
template <class T>
class PrescribedSpectrum final : public MatrixGenerator<T>::Rule {
 public:
  using S = Wide<T>;
  PrescribedSpectrum(std::uint64_t seed, std::vector<double> eigenvalues)
      : MatrixGenerator<T>::Rule(static_cast<Index>(eigenvalues.size())), diagonal_(std::move(eigenvalues)) {
    const Index n = this->n;
    for (Index i = n - 1; i > 0; --i) {
      const double fraction = 0.5 * (1 + random_uniform(seed, 2, i, 0));
      std::swap(diagonal_[i],
                diagonal_[std::min(i, static_cast<Index>(fraction * static_cast<double>(i + 1)))]);
    }
    for (int k = 0; k < reflectors; ++k) {
      std::vector<S> u(static_cast<std::size_t>(n)), w(static_cast<std::size_t>(n));
      double norm = 0;
      for (Index i = 0; i < n; ++i) norm += std::norm(u[i] = random_scalar<S>(seed + 100, i, k));
      for (S& x : u) x *= 1 / std::sqrt(norm);
      multiply(k, u, w);
      const S c = inner(u, w);
      for (Index i = 0; i < n; ++i) w[i] = 2.0 * (w[i] - c * u[i]);
      u_[k] = std::move(u);
      w_[k] = std::move(w);
    }
  }

  S lower(Index i, Index j) const noexcept override {
    S x = i == j ? S(diagonal_[i]) : S(0);
    for (int k = 0; k < reflectors; ++k) x -= u_[k][i] * conjugate(w_[k][j]) + w_[k][i] * conjugate(u_[k][j]);
    return x;
  }
  std::optional<std::vector<double>> eigenvalues() const override { return sorted(diagonal_); }

 private:
  static constexpr int reflectors = 3;

  static S inner(const std::vector<S>& x, const std::vector<S>& y) {
    S sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += conjugate(x[i]) * y[i];
    return sum;
  }
  /// y := A x with the first `done` similarities applied.
  void multiply(int done, const std::vector<S>& x, std::vector<S>& y) const {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = diagonal_[i] * x[i];
    for (int k = 0; k < done; ++k) {
      const S by_u = inner(w_[k], x), by_w = inner(u_[k], x);
      for (std::size_t i = 0; i < x.size(); ++i) y[i] -= u_[k][i] * by_u + w_[k][i] * by_w;
    }
  }

  std::vector<double> diagonal_;
  std::array<std::vector<S>, reflectors> u_, w_;
};

/// Eigenvalues of the tridiagonal Toeplitz matrix: d + 2 e cos(k pi / (n + 1)).
std::vector<double> toeplitz_spectrum(Index n, double d, double e) {
  return tabulate(n, [=](Index k) {
    return d + 2 * e * std::cos(static_cast<double>(k + 1) * std::numbers::pi / static_cast<double>(n + 1));
  });
}

template <class S>
auto tridiagonal_element(double d, double e) {
  return [=](Index i, Index j) noexcept -> S { return i == j ? S(d) : i == j + 1 ? turned<S>(e, 1) : S(0); };
}

/// The grid of laplacian2d: the divisor of n that is nearest to a square.
Index grid_width(Index n) {
  Index width = 1;
  for (Index d = 1; d * d <= n; ++d)
    if (n % d == 0) width = d;
  return width;
}

constexpr std::array<GeneratorKind, 20> kinds{{
    {"random", "dense, elements uniform in [-1, 1]", false},
    {"even", "dense, eigenvalues evenly spaced in [-1, 1]", false},
    {"geometric", "dense, eigenvalues from 1 down to eps by a constant ratio", false},
    {"clustered", "dense, one eigenvalue 1, the others eps", false},
    {"doubly-degenerate", "dense, every eigenvalue twice", false},
    {"toeplitz", "tridiagonal Toeplitz, 0.45 and 0.78 (eigenvalues in closed form)", false},
    {"frank", "n - max(i, j), dense (eigenvalues in closed form)", false},
    {"wilkinson", "Wilkinson's W+: diagonal |i - (n-1)/2|, off-diagonal 1", false},
    {"glued-wilkinson", "Wilkinson matrices of order ARG (21) glued by sqrt(eps)", true},
    {"zero", "the zero matrix", false},
    {"identity", "the unit matrix", false},
    {"diagonal", "random diagonal", false},
    {"tridiagonal", "random tridiagonal", false},
    {"banded", "random with ARG (20) subdiagonals", true},
    {"rank-one", "u u^H, u random", false},
    {"block-diagonal", "random diagonal blocks of order ARG (64) without coupling", true},
    {"arrowhead", "random diagonal, first row and column", false},
    {"laplacian1d", "second differences in one dimension: 2 and -1 (closed form)", false},
    {"laplacian2d", "five-point Laplacian on the grid nearest to a square (closed form)", false},
    {"overlap", "positive definite, diagonal 1, condition below 20: an overlap matrix", false},
}};

template <class T>
using RulePointer = std::shared_ptr<const typename MatrixGenerator<T>::Rule>;

/// Kinds with random elements.
template <class T>
RulePointer<T> random_rule(std::string_view kind, Index n, std::uint64_t seed, Index argument) {
  using S = Wide<T>;
  if (kind == "random")
    return rule<T>(n, [=](Index i, Index j) noexcept { return random_hermitian<S>(seed, i, j); });
  if (kind == "diagonal")
    return rule<T>(
        n, [=](Index i, Index j) noexcept { return i == j ? S(random_uniform(seed, 0, i, i)) : S(0); },
        [=] { return tabulate(n, [=](Index k) { return random_uniform(seed, 0, k, k); }); });
  if (kind == "tridiagonal" || kind == "banded") {
    const Index width = kind == "banded" ? argument : 1;
    return rule<T>(n, [=](Index i, Index j) noexcept {
      return i - j <= width ? random_hermitian<S>(seed, i, j) : S(0);
    });
  }
  if (kind == "block-diagonal")
    return rule<T>(n, [=](Index i, Index j) noexcept {
      return i / argument == j / argument ? random_hermitian<S>(seed, i, j) : S(0);
    });
  if (kind == "arrowhead")
    return rule<T>(n, [=](Index i, Index j) noexcept {
      return i == j || j == 0 ? random_hermitian<S>(seed, i, j) : S(0);
    });
  if (kind == "rank-one")
    return rule<T>(
        n,
        [=](Index i, Index j) noexcept {
          const S u = random_scalar<S>(seed, i, 0);
          return i == j ? S(std::norm(u)) : u * conjugate(random_scalar<S>(seed, j, 0));
        },
        [=] {
          std::vector<double> values(static_cast<std::size_t>(n));
          for (Index i = 0; i < n; ++i) values[n - 1] += std::norm(random_scalar<S>(seed, i, 0));
          return values;
        });
  if (kind == "overlap") {
    // Diagonally dominant: the off-diagonal moduli of a row sum up to less than 2 * 0.3 + 0.3.
    const double far = 0.3 / static_cast<double>(std::max<Index>(n, 1)),
                 complex_factor = is_complex<T> ? 0.7 : 1.0;
    return rule<T>(n, [=](Index i, Index j) noexcept {
      if (i == j) return S(1);
      return random_scalar<S>(seed, i, j) *
             (complex_factor * (far + 0.3 * std::exp2(static_cast<double>(j - i))));
    });
  }
  return nullptr;
}

/// Kinds with fixed elements.
template <class T>
RulePointer<T> fixed_rule(std::string_view kind, Index n, Index argument) {
  using S = Wide<T>;
  const double order = static_cast<double>(n);
  if (kind == "zero")
    return rule<T>(
        n, [](Index, Index) noexcept { return S(0); }, [=] { return std::vector<double>(n); });
  if (kind == "identity")
    return rule<T>(
        n, [](Index i, Index j) noexcept { return S(i == j); }, [=] { return std::vector<double>(n, 1.0); });
  if (kind == "toeplitz")
    return rule<T>(n, tridiagonal_element<S>(0.45, 0.78), [=] { return toeplitz_spectrum(n, 0.45, 0.78); });
  if (kind == "laplacian1d")
    return rule<T>(n, tridiagonal_element<S>(2, -1), [=] { return toeplitz_spectrum(n, 2, -1); });
  if (kind == "frank")
    return rule<T>(
        n, [=](Index i, Index j) noexcept { return turned<S>(static_cast<double>(n - i), i - j); },
        [=] {
          return tabulate(n, [=](Index k) {
            const double s = std::sin(static_cast<double>(2 * k + 1) * std::numbers::pi / (4 * order + 2));
            return 1 / (4 * s * s);
          });
        });
  if (kind == "wilkinson" || kind == "glued-wilkinson") {
    const Index block = kind == "wilkinson" ? std::max<Index>(n, 1) : argument;
    const double glue = std::sqrt(static_cast<double>(precision<T>)),
                 middle = static_cast<double>(block - 1) / 2;
    return rule<T>(n, [=](Index i, Index j) noexcept -> S {
      if (i == j) return std::abs(static_cast<double>(i % block) - middle);
      if (i == j + 1) return turned<S>(i % block == 0 ? glue : 1.0, 1);
      return 0;
    });
  }
  if (kind == "laplacian2d") {
    const Index width = grid_width(n), height = n == 0 ? 0 : n / width;
    return rule<T>(
        n,
        [=](Index i, Index j) noexcept -> S {
          if (i == j) return 4;
          if (i == j + width) return turned<S>(-1, width);
          return i == j + 1 && i % width != 0 ? turned<S>(-1, 1) : S(0);
        },
        [=] {
          const auto x = toeplitz_spectrum(width, 2, -1), y = toeplitz_spectrum(height, 2, -1);
          return tabulate(n, [&](Index k) { return x[k % width] + y[k / width]; });
        });
  }
  return nullptr;
}

/// Eigenvalues of the kinds that prescribe them; empty for the others.
template <class T>
std::vector<double> prescribed_spectrum(std::string_view kind, Index n) {
  const double ulp = static_cast<double>(precision<T>), last = static_cast<double>(std::max<Index>(n - 1, 1));
  if (kind == "even") return tabulate(n, [=](Index k) { return -1 + 2 * static_cast<double>(k) / last; });
  if (kind == "geometric")
    return tabulate(n, [=](Index k) { return std::pow(ulp, static_cast<double>(k) / last); });
  if (kind == "clustered") return tabulate(n, [=](Index k) { return k == 0 ? 1.0 : ulp; });
  return tabulate(n, [=](Index k) { return static_cast<double>(k / 2 + 1) / static_cast<double>(n); });
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

double random_uniform(std::uint64_t seed, std::uint64_t stream, Index i, Index j) noexcept {
  std::uint64_t x = mix(seed ^ mix(stream));
  x = mix(x ^ static_cast<std::uint64_t>(i));
  x = mix(x + static_cast<std::uint64_t>(j));
  return static_cast<double>(static_cast<std::int64_t>(x) >> 11) * 0x1p-52;
}

template <class T>
class MatrixGenerator<T>::Rule {
 public:
  using S = Wide<T>;
  explicit Rule(Index order) : n(order) {}
  virtual ~Rule() = default;
  /// i >= j.
  virtual S lower(Index i, Index j) const noexcept = 0;
  virtual std::optional<std::vector<double>> eigenvalues() const { return std::nullopt; }
  const Index n;
};

std::span<const GeneratorKind> generator_kinds() noexcept {
  return kinds;
}

template <class T>
MatrixGenerator<T> MatrixGenerator<T>::make(std::string_view kind, Index n, std::uint64_t seed,
                                            double scale) {
  const std::string_view name = kind.substr(0, kind.find(':'));
  const auto known =
      std::find_if(kinds.begin(), kinds.end(), [&](const GeneratorKind& k) { return k.name == name; });
  if (known == kinds.end()) {
    std::string names;
    for (const GeneratorKind& k : kinds) names += (names.empty() ? "" : ", ") + std::string(k.name);
    throw InvalidArgument("kind", kind, "one of " + names);
  }
  Index argument = name == "banded" ? 20 : name == "glued-wilkinson" ? 21 : 64;
  if (name.size() < kind.size()) {
    const std::string_view text = kind.substr(name.size() + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), argument);
    if (!known->takes_argument)
      throw InvalidArgument("kind", kind, fmt::format("{} without an argument", name));
    if (error != std::errc() || end != text.data() + text.size() || argument < 1)
      throw InvalidArgument("kind", kind, fmt::format("{}:ARG with a positive integer", name));
  }
  if (n < 0) throw InvalidArgument("n", fmt::format("{}", n), "n >= 0");
  if (!std::isfinite(scale)) throw InvalidArgument("scale", fmt::format("{}", scale), "a finite number");

  RulePointer<T> made = random_rule<T>(name, n, seed, argument);
  if (!made) made = fixed_rule<T>(name, n, argument);
  if (!made) made = std::make_shared<PrescribedSpectrum<T>>(seed, prescribed_spectrum<T>(name, n));
  return MatrixGenerator(std::move(made), scale);
}

template <class T>
Index MatrixGenerator<T>::order() const noexcept {
  return rule_->n;
}

template <class T>
T MatrixGenerator<T>::element(Index i, Index j) const noexcept {
  T x;
  fill(i, j, 1, 1, &x, 1);
  return x;
}

template <class T>
void MatrixGenerator<T>::fill(Index row, Index column, Index rows, Index columns, T* a,
                              Index ld) const noexcept {
  const Rule& rule = *rule_;
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) {
      const Index r = row + i, c = column + j;
      const Wide<T> x = (r >= c ? rule.lower(r, c) : conjugate(rule.lower(c, r))) * scale_;
      if constexpr (is_complex<T>)
        a[i + j * ld] = T(static_cast<RealOf<T>>(x.real()), r == c ? 0 : static_cast<RealOf<T>>(x.imag()));
      else
        a[i + j * ld] = static_cast<T>(x);
    }
  }
}

template <class T>
std::optional<std::vector<double>> MatrixGenerator<T>::exact_eigenvalues() const {
  std::optional<std::vector<double>> values = rule_->eigenvalues();
  if (values) {
    for (double& value : *values) value *= scale_;
    if (scale_ < 0) std::reverse(values->begin(), values->end());
  }
  return values;
}

template class MatrixGenerator<float>;
template class MatrixGenerator<double>;
template class MatrixGenerator<std::complex<float>>;
template class MatrixGenerator<std::complex<double>>;

}  // namespace tessera
