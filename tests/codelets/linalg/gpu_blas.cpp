// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/codelets/linalg/blas_cases.hpp>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuBlas : public GpuTest<T> {};
TYPED_TEST_SUITE(GpuBlas, Scalars);

TYPED_TEST(GpuBlas, AgreesWithTheHost) {
  using T = TypeParam;
  const TaskHeader header{};
  const HostContext host(header);
  check_all_blas<T>([&](const BlasCase<T>& one, const auto& operation) {
    SCOPED_TRACE(::testing::Message()
                 << one.what << ' ' << one.c.rows() << " x " << one.c.cols() << ", " << one.terms);
    auto on_host = one.c;
    operation(host, one.a.view(), one.b.view(), on_host.view());
    const DeviceMatrix<T> a(one.a), b(one.b), c(one.c);
    operation(*this->handles_, a.const_view(), b.const_view(), c.view());
    const auto result = c.get();
    EXPECT_LE(difference(result, on_host, one.part), this->tolerance(one.terms));
    EXPECT_LE(difference(result, one.expected, one.part), this->tolerance(one.terms));
  });
}

}  // namespace
}  // namespace tessera::test
