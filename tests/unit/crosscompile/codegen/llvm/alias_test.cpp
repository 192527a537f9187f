// Tests the alias information given to LLVM for buffers that share memory: it must not claim too much.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <regex>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

constexpr std::int64_t kElements = 64;

// to[i] = from[i], converted.
Stmt copied(const BufferRef& to, const BufferRef& from) {
  const Expr i = Var::make("i");
  return loop(i, kElements, store(to, i, cast(to->dtype, load(from, i))));
}

std::string first_match(const std::string& text, const std::string& pattern) {
  std::smatch match;
  const bool found = std::regex_search(text, match, std::regex(pattern));
  CAPTURE(text);
  REQUIRE_MESSAGE(found, pattern);
  return match[1].str();
}

// The first store of this LLVM type: its own alias scope, and the scopes that it does not alias, as "!5, !6".
struct Scopes {
  std::string own, others;
  Scopes(const std::string& text, const std::string& type) {
    const std::string store = first_match(text, "(store " + type + " [^\n]*)");
    const auto list = [&](const std::string& kind) {
      return first_match(text, "\n!" + first_match(store, "!" + kind + " !([0-9]+)") + " = !\\{([^}]*)\\}");
    };
    own = list("alias.scope");
    others = list("noalias") + ",";
  }
  bool is_apart_from(const Scopes& other) const { return others.find(other.own + ",") != std::string::npos; }
};

}  // namespace

TEST_CASE("buffers that share a place in the workspace may meet, all others do not") {
  const BufferRef in = make_buffer("in", DType::f32, kElements), out = make_buffer("out", DType::i16, kElements);
  const BufferRef first = make_buffer("first", DType::f32, kElements, Scope::global);
  const BufferRef between = make_buffer("between", DType::f64, kElements, Scope::global);
  const BufferRef last = make_buffer("last", DType::i32, kElements, Scope::global);
  Stmt body = Block::make({copied(first, in), copied(between, first), copied(last, between), copied(out, last)});
  for (const BufferRef& buffer : {first, between, last}) body = Allocate::make(buffer, body);
  const Target target = resolve_target("x86-64-v3");
  const Function function = passes::run_pipeline(
      make_function("chain", {tensor(in, Direction::in), tensor(out, Direction::out)}, body), target);
  REQUIRE(is_constant(function.call_workspace, kElements * (8 + 4)));
  const std::string text = codegen::emit_llvm(std::vector<Function>{function}, target);
  const Scopes of_first(text, "float"), of_between(text, "double"), of_last(text, "i32"), of_out(text, "i16");
  CHECK(!of_first.is_apart_from(of_last));
  CHECK(!of_last.is_apart_from(of_first));
  CHECK(of_first.is_apart_from(of_between));
  CHECK(of_last.is_apart_from(of_between));
  CHECK(of_last.is_apart_from(of_out));
}
