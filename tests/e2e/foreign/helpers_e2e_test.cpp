// End-to-end tests of kernels that call functions which devices do not offer, on four architectures.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "crosscompile/foreign/foreign.h"
#include "ferry/compile.h"
#include "module/float_element.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/listening_server.h"

using namespace ferry;

namespace {

constexpr std::size_t kColumns = 12;

const char* const kKernel = R"(#include <math.h>
#include <stdint.h>
#include <string.h>
void h(const double* x, const int64_t* a, double* y, int64_t* q, int64_t n) {
  _Atomic int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    double* to = y + 12 * i;
    to[0] = (double)(_Float16)x[i];
    to[1] = (double)(_Float16)(float)x[i];
#ifndef __arm__
    to[2] = (double)(__bf16)x[i];
    to[3] = (double)(float)(__bf16)(float)x[i];
#endif
    double _Complex z = x[i], w = 2;
    __imag__ z = 0.5, __imag__ w = x[i];
    to[4] = __real__ (z * w), to[5] = __imag__ (z / w);
    int exponent;
    to[6] = hypot(x[i], 3) + cbrt(x[i]);
    to[7] = log10(fabs(x[i]));
    to[8] = ldexp(frexp(x[i], &exponent), exponent) + rint(x[i]);
    to[9] = asinh(x[i]);
    to[10] = isfinite(x[i]) && !signbit(x[i]) ? copysign(2, -x[i]) : 1;
#ifdef __SIZEOF_INT128__
    const __int128 large = (__int128)a[i] * INT64_MAX + a[n - 1 - i], by = (__int128)a[n - 1 - i] * 1000003 + 1;
    q[3 * i] = (int64_t)(large / by);
    q[3 * i + 1] = (int64_t)(large % by);
    to[11] = (double)large + (double)(__int128)(x[i] * 0x1p70);
#endif
    sum += a[i];
    q[3 * i + 2] = sum;
  }
}
)";

// `has_wide_types`: clang has __int128 and __bf16 there.
void run_helpers(const std::string& arch, bool has_wide_types = true) {
  const test::ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server",
                                     test::emulator_of(arch), {"--threads", "1", "--quiet"});
  const Device device = connect(server.address());
  const test::Folder folder;
  const foreign::ForeignKernel kernel{
      folder.file("h.c", kKernel),
      {foreign::parse_signature("h(in f64[n] x, in i64[n] a, out f64[12*n] y, out i64[3*n] q)")},
      {},
      kKernel};
  const CompiledModule module(foreign::compile_foreign(kernel, target_of(device)));
  const std::vector<double> x = {1, -2.5, 1e-7, 65519.9, 65520, 1e-45, 3.14159, -0.1, 1000, 6e-8, 12345.678, 0.3};
  std::vector<std::int64_t> a;
  for (std::size_t i = 0; i < x.size(); ++i)
    a.push_back(static_cast<std::int64_t>(0x9e3779b97f4a7c15ull * (i + 1)) >> (i * 5));
  const auto n = static_cast<std::int64_t>(x.size());
  const std::vector<DeviceTensor> outputs = device.load(module)["h"].call({view(x, {n}), view(a, {n})});
  const std::vector<double> y = outputs[0].to_vector<double>();
  const std::vector<std::int64_t> q = outputs[1].to_vector<std::int64_t>();
  const auto rounded = [](DType type, double value) {
    std::uint8_t bytes[8];
    store_float(type, value, bytes);
    return load_float(type, bytes);
  };
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    const double* const got = y.data() + kColumns * i;
    CHECK(got[0] == rounded(DType::f16, x[i]));
    CHECK(got[1] == rounded(DType::f16, static_cast<float>(x[i])));
    if (has_wide_types) CHECK(got[2] == rounded(DType::bf16, x[i]));
    if (has_wide_types) CHECK(got[3] == rounded(DType::bf16, static_cast<float>(x[i])));
    const std::complex<double> z(x[i], 0.5), w(2, x[i]);
    CHECK(got[4] == doctest::Approx((z * w).real()).epsilon(1e-14));
    CHECK(got[5] == doctest::Approx((z / w).imag()).epsilon(1e-14));
    CHECK(got[6] == doctest::Approx(std::hypot(x[i], 3) + std::cbrt(x[i])).epsilon(1e-15));
    CHECK(got[7] == doctest::Approx(std::log10(std::abs(x[i]))).epsilon(1e-15));
    CHECK(got[8] == x[i] + std::rint(x[i]));
    CHECK(got[9] == doctest::Approx(std::asinh(x[i])).epsilon(1e-15));
    CHECK(got[10] == (x[i] > 0 ? -2 : 1));
    sum += a[i];
    CHECK(q[3 * i + 2] == sum);
    if (!has_wide_types) continue;
    const auto other = a[x.size() - 1 - i];
    const __int128 large = static_cast<__int128>(a[i]) * std::numeric_limits<std::int64_t>::max() + other;
    const __int128 by = static_cast<__int128>(other) * 1000003 + 1;
    CHECK(q[3 * i] == static_cast<std::int64_t>(large / by));
    CHECK(q[3 * i + 1] == static_cast<std::int64_t>(large % by));
    CHECK(got[11] == static_cast<double>(large) + static_cast<double>(static_cast<__int128>(x[i] * 0x1p70)));
  }
}

}  // namespace

TEST_CASE("helpers of compilers and of <math.h> compute on x86_64") { run_helpers("x86_64"); }
TEST_CASE("helpers of compilers and of <math.h> compute on armv7") { run_helpers("armv7", false); }
TEST_CASE("helpers of compilers and of <math.h> compute on aarch64") { run_helpers("aarch64"); }
TEST_CASE("helpers of compilers and of <math.h> compute on riscv64") { run_helpers("riscv64"); }
