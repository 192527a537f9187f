#include "host/verify/same_call.h"

#include <doctest/doctest.h>

#include "crosscompile/foreign/signature.h"
#include "ferry/error.h"

namespace ferry::verify {
namespace {

// Plans a call of `b` with the inputs of `a`, and returns the value of a parameter of it.
std::int64_t number_in(const std::string& a, const std::string& sizes, const std::string& b, const std::string& name) {
  const FunctionInfo of_a = foreign::parse_signature(a).function, of_b = foreign::parse_signature(b).function;
  CallOptions options;
  options.sizes = {sizes};
  const CallPlan plan = plan_call(of_a, options);
  const CallPlan same = plan_same_call(of_b, of_a, plan, pair_parameters(of_a, of_b).value());
  for (std::size_t p = 0; p < of_b.parameters.size(); ++p)
    if (of_b.parameters[p].name == name) return std::get<std::int64_t>(*same.scalars[p]);
  return -1;
}

TEST_CASE("a size that occurs in no dimension alone follows from the extents, or from the other kernel's size") {
  const std::string biquad = "f(in f32[5*s] c, out f32[n] y, i64 n, i64 s)";
  CHECK(number_in(biquad, "s=3,n=8", biquad, "s") == 3);
  CHECK(number_in(biquad, "s=0,n=8", biquad, "s") == 0);
  CHECK(number_in("g(in f32[k] c, out f32[n] y, i64 n)", "k=15,n=8", biquad, "s") == 3);
  CHECK(number_in(biquad, "s=3,n=8", "g(in f32[k] c, out f32[n] y, i64 n)", "n") == 8);
  // Sizes that are known only once another one is solved.
  const std::string two = "f(in f32[2*s+1] c, in f32[s*t] d, inout f32[1] y, i64 s, i64 t)";
  CHECK(number_in("g(in f32[a] c, in f32[b] d, inout f32[1] y)", "a=9,b=12", two, "t") == 3);
  // Several values of h give this extent: the size of the same name decides.
  const std::string half = "f(in f32[h/2] c, inout f32[1] y, i64 h)";
  CHECK(number_in(half, "h=7", half, "h") == 7);
  CHECK_THROWS_WITH_AS(number_in("g(in f32[k] c, inout f32[1] y)", "k=3", half, "h"),
                       "f: the tensors do not say what h is, and g has no size of this name", UsageError);
  CHECK_THROWS_AS(number_in("g(in f32[k] c, out f32[n] y, i64 n)", "k=14,n=8", biquad, "s"), UsageError);
}

}  // namespace
}  // namespace ferry::verify
