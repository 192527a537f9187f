// Tests of the warnings about comparisons that show little.
#include "host/verify/comparison_warnings.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "host/kernel/call_inputs.h"
#include "host/kernel/compile_kernel.h"
#include "host/verify/check.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

// A filter in Q15: the product of two small numbers is 0 in it.
std::string fir(const std::string& body) {
  return "#include <stdint.h>\n// ferry: fir(in i16[n+7] x, in i16[8] h, out i16[n] y, i64 n)\n"
         "void fir(const int16_t* x, const int16_t* h, int16_t* y, int64_t n) {\n"
         "  for (int64_t i = 0; i < n; ++i) {\n    int64_t sum = 0;\n"
         "    for (int k = 0; k < 8; ++k) sum += (int32_t)x[i + k] * h[k];\n    sum >>= 15;\n    " +
         body + "\n  }\n}\n";
}
const std::string kRight = fir("y[i] = sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum;");
const std::string kUnsaturated = fir("y[i] = sum;");
const std::string kZeros = fir("y[i] = 0;");

KernelOptions named(const std::string& file) {
  KernelOptions options;
  options.file = file;
  return options;
}

verify::CheckReport check(const Device& device, const std::string& kernel, const std::string& reference,
                          std::vector<std::string> arguments = {}) {
  return verify::check(test::own_compiler(), device,
                       {.kernel = named(kernel),
                        .call = {.arguments = std::move(arguments), .sizes = {"n=64"}},
                        .reference = reference});
}

bool warns(const std::vector<std::string>& warnings, const std::string& start) {
  return std::ranges::any_of(warnings, [&](const std::string& warning) { return warning.starts_with(start); });
}

}  // namespace

TEST_CASE("inputs of kernels that ferry did not write take their type's whole range, so that saturation shows") {
  const test::Folder folder;
  const Device device = local_device();
  const std::string right = folder.file("fir.c", kRight);
  const verify::CheckReport same = check(device, right, folder.file("again.c", kRight));
  CHECK(same.is_fine());
  CHECK(same.findings.warnings.empty());
  CHECK_FALSE(check(device, folder.file("unsaturated.c", kUnsaturated), right).is_fine());
  CHECK_FALSE(check(device, folder.file("zeros.c", kZeros), right).is_fine());
}

TEST_CASE("results that are all the same, and inputs without effect, are warned of") {
  const test::Folder folder;
  const Device device = local_device();
  const std::string right = folder.file("fir.c", kRight), zeros = folder.file("zeros.c", kZeros);
  const verify::CheckReport small = check(device, zeros, right, {"x=:below(8)", "h=:below(8)"});
  CHECK(small.is_fine());
  CHECK(warns(small.findings.warnings, "every element of y is 0: "));
  CHECK(warns(small.findings.warnings, "the result did not change when x changed: "));
  CHECK(warns(small.findings.warnings, "the result did not change when h changed: "));
  const std::string ones = folder.file("ones.tc", "def ones(float(N) X) -> (Y) { Y(i) = 1.5 + 0 * min(X(i), 0) }");
  const verify::CheckReport interpreted =
      verify::check(*test::own_compiler(), {.kernel = named(ones), .call = {.arguments = {}, .sizes = {"N=8"}}});
  CHECK(warns(interpreted.findings.warnings, "every element of Y is the same, 1.5: "));
  CHECK(warns(interpreted.findings.warnings, "the result did not change when X changed: "));
  const verify::CheckReport sanitized =
      verify::check(*test::own_compiler(), {.kernel = named(zeros),
                                            .call = {.arguments = {"x=:ones"}, .sizes = {"n=8"}},
                                            .reference = folder.file("others.c", kZeros)});
  CHECK(sanitized.is_fine());
  CHECK(warns(sanitized.findings.warnings, "every element of y is 0: "));
  CHECK(warns(sanitized.findings.warnings, "the result did not change when h changed: "));
  CHECK_FALSE(warns(sanitized.findings.warnings, "the result did not change when x changed: "));
  // What a user has given stays as it is.
  CHECK_FALSE(warns(check(device, zeros, right, {"x=:zeros", "h=:below(8)"}).findings.warnings,
                    "the result did not change when x"));
}

TEST_CASE("a comparison says which numbers the inputs are") {
  const test::Folder folder;
  const FunctionInfo info = function_of(read_kernel(test::own_compiler(), named(folder.file("fir.c", kRight))), "");
  CallOptions call;
  call.sizes = {"n=4"};
  const auto texts = [&](InputRange range) { return input_texts(info, plan_call(info, call, range)); };
  CHECK(texts(InputRange::full) ==
        std::vector<std::string>{"x: i16 from -32768 to 32767", "h: i16 from -32768 to 32767"});
  CHECK(texts(InputRange::narrow) == std::vector<std::string>{"x: i16 from -8 to 7", "h: i16 from -8 to 7"});
  call.arguments = {"x=:random", "h=:ones"};
  CHECK(texts(InputRange::full) == std::vector<std::string>{"x: i16 from -8 to 7", "h: i16 ones"});
}
