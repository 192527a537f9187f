#include "crosscompile/foreign/signature.h"

#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"

namespace ferry::foreign {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_signature(text);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST_CASE("a signature becomes a function with parameters and sizes") {
  const Signature saxpy = parse_signature("saxpy(f32 a, in f32[n] x, inout f32[n] y)");
  CHECK(saxpy.c_name == "saxpy");
  CHECK_FALSE(saxpy.returns_status);
  CHECK(saxpy.function.symbols == std::vector<std::string>{"n"});
  CHECK(signature_text(saxpy.function) == "saxpy(in f32 a, in f32[n] x, inout f32[n] y)");
  CHECK(parse_signature(signature_text(saxpy.function)).function == saxpy.function);
  const Signature conv =
      parse_signature(" i32 conv ( in float32[ n + k - 1 ] x, in f32[k] w, i64 n, out u8[2*n,(k+1)/2,3] y ) ");
  CHECK(conv.returns_status);
  CHECK(conv.function.symbols == std::vector<std::string>{"n", "k"});
  CHECK(conv.function.parameters[3].shape.size() == 3);
  CHECK(evaluate(conv.function.parameters[3].shape[1], std::vector<std::int64_t>{9, 5}).value() == 3);
  CHECK(parse_signature("nothing()").function.parameters.empty());
  CHECK(parse_signature("one(inout f64[] x)").function.parameters[0].shape.empty());
}

TEST_CASE("what does not parse is refused with its column and what was expected") {
  CHECK(refusal("saxpy(f32 a, out f32 x)") ==
        "signature, column 22: expected '[', got 'x'\n  saxpy(f32 a, out f32 x)\n                       ^");
  CHECK(refusal("f(f33 a)")
            .starts_with("signature, column 3: expected a type such as f32, i64 or u8, or in, out or inout"));
  CHECK(refusal("f(f32[n] a)").starts_with("signature, column 3: expected in, out or inout before a tensor"));
  CHECK(refusal("f(in f32[n] a").starts_with("signature, column 14: expected ')', got the end"));
  CHECK(refusal("f(in f32[n] a) x").starts_with("signature, column 16: expected the end, got 'x'"));
  CHECK(refusal("").starts_with("signature, column 1: expected the function's name, got the end"));
  CHECK(refusal("f(i32 a, i32 a)").starts_with("signature, column 14: expected a name that no parameter before has"));
  CHECK(refusal("f(f16 a)").find("C compilers do not agree") != std::string::npos);
  CHECK(refusal("f(in f32[99999999999999999999] a)").find("below 2^63") != std::string::npos);
  CHECK(refusal("f(in f32[" + std::string(100, '(') + "n] a)").find("fewer parentheses") != std::string::npos);
  CHECK(refusal("f(out f32[n] y)") ==
        "signature: expected the size n alone in a dimension of an input, or as 'i64 n' among the parameters");
}

TEST_CASE("a signature is found in a comment of the source") {
  using Texts = std::vector<std::string>;
  CHECK(signatures_in_source("#include <x>\n// ferry: f(in f32[n] x)\nvoid f();") == Texts{"f(in f32[n] x)"});
  CHECK(signatures_in_source("/* ferry: f() */") == Texts{"f()"});
  CHECK(signatures_in_source("; ferry: f()\n") == Texts{"f()"});
  CHECK(signatures_in_source("// ferry: f()\nvoid f();\n// ferry: g()\nvoid g();\n") == Texts{"f()", "g()"});
  CHECK(signatures_in_source("int x; // made by ferry: not a signature").empty());
  CHECK(signatures_in_source("").empty());
}

}  // namespace
}  // namespace ferry::foreign
