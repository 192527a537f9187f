// Tests of the compiler behind its interface.
#include "host/compiler/llvm/llvm_compiler.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>

#include "crosscompile/ir/error.h"
#include "ferry/error.h"
#include "ferry/lang/text.h"

using namespace ferry;

namespace {

const char* const kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Fixture {
  std::unique_ptr<const Compiler> compiler = make_compiler();
  std::vector<lang::Program> programs = lang::parse(kTwice, "twice.tc");
  Target host = compiler->resolve_target("host").value;

  std::string emitted(Stage stage, const Scheduled& scheduled, const std::string& after = {}) const {
    return compiler->emit(stage, {scheduled, host}, after).text;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "keys of a target that are ignored are noted") {
  CHECK(compiler->resolve_target("host").notes.empty());
  CHECK(compiler->resolve_target("llvm -mtriple=aarch64-linux-gnu -device=arm_cpu").notes.size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "each stage is printed from the same schedule") {
  const Scheduled vectorized{programs, ScheduleText{"split i 4\nvectorize i.inner"}};
  CHECK(emitted(Stage::schedule, vectorized) == "def twice\nB: split i 4\nB: vectorize i.inner\n");
  CHECK(contains(emitted(Stage::loops, vectorized, "lower"), "vectorized"));
  CHECK(contains(emitted(Stage::c, vectorized), "ferry_fn_twice"));
  CHECK(contains(emitted(Stage::llvm, vectorized), "define"));
  CHECK(emitted(Stage::object, vectorized)
            .starts_with("\x7f"
                         "ELF"));
}

TEST_CASE_FIXTURE(Fixture, "serial loops in source order are a schedule without directives") {
  const Scheduled serial{programs, std::nullopt, true};
  CHECK(emitted(Stage::schedule, serial) == "def twice\n");
}

TEST_CASE_FIXTURE(Fixture, "GPU code of loops that nothing binds is noted") {
  const Scheduled serial{programs, std::nullopt, true};
  const Emission text = compiler->emit(Stage::opencl, {serial, host});
  REQUIRE(text.notes.size() == 1);
  CHECK(text.notes.front().starts_with("twice: nothing is bound to blocks or threads"));
}

TEST_CASE_FIXTURE(Fixture, "a vectorized axis that is lost is noted once at every stage of its own target") {
  const std::vector<lang::Program> pool = lang::parse(
      "def pool(int(9,40) I) -> (Y) {\n"
      "Y(h,w) max=! w%7 + kw >= 3 ? I(h,w%7+kw-3) : -7 where kw in 0:5, h in 0:9, w in 0:40 }",
      "pool.tc");
  // Baseline x86-64 has no masked loads.
  const Target plain = compiler->resolve_target("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64").value;
  const auto notes = [&](Stage stage, const std::string& after = {}) {
    return compiler->emit(stage, {{pool, ScheduleText{"vectorize w"}}, plain}, after).notes;
  };
  const std::vector<std::string> expected = notes(Stage::schedule);
  REQUIRE(expected.size() == 1);
  CHECK(contains(expected.front(), "'w' runs one element after the other"));
  for (const Stage stage : {Stage::loops, Stage::llvm, Stage::assembly, Stage::object, Stage::c})
    CHECK(notes(stage) == expected);
  CHECK(notes(Stage::loops, "lower") == expected);
  CHECK(notes(Stage::loops, "flatten") == expected);
}

TEST_CASE_FIXTURE(Fixture, "a target without machine code has no assembly") {
  const Target c = compiler->resolve_target("c").value;
  const Scheduled scheduled{programs};
  CHECK_THROWS_AS(compiler->emit(Stage::assembly, {scheduled, c}), CompileError);
}

TEST_CASE_FIXTURE(Fixture, "the loops can be shown after each pass that is named") {
  const Scheduled scheduled{programs};
  CHECK(contains(emitted(Stage::loops, scheduled, "lower"), "twice"));
  CHECK(contains(emitted(Stage::loops, scheduled, "flatten"), "twice"));
  CHECK_THROWS_WITH_AS(emitted(Stage::loops, scheduled, "flaten"),
                       doctest::Contains("there is no pass 'flaten'; expected one of: lower, "), CompileError);
}

TEST_CASE_FIXTURE(Fixture, "a schedule's knobs are known by name, with the values that it lists") {
  const std::map<std::string, std::vector<std::string>> rows = {{"rows", {"4", "8"}}};
  CHECK(compiler->knobs_of(ScheduleText{"split i $rows in {4,8}"}) == rows);
}

TEST_CASE_FIXTURE(Fixture, "what a default schedule was chosen from is a text and, for programs, JSON") {
  const Emission space = compiler->emit(Stage::space, {Scheduled{programs}, host});
  CHECK(space.text.starts_with("def twice: "));
  CHECK(space.json.starts_with("[{\"name\":\"twice\",\"points\":"));
}

TEST_CASE_FIXTURE(Fixture, "source code of a language has its extension") {
  const Scheduled serial{programs, std::nullopt, true};
  CHECK(compiler->emit(Stage::c, {serial, host}).extension == ".c");
  CHECK(compiler->emit(Stage::opencl, {serial, host}).extension == ".cl");
  CHECK(compiler->emit(Stage::cuda, {serial, host}).extension == ".cu");
}

TEST_CASE_FIXTURE(Fixture, "a kernel is interpreted, and an index outside of its tensor is its mistake") {
  std::vector<float> a = {1, 2, 3}, b(3);
  std::int64_t n = 3;
  const InterpretedKernel twice = compiler->interpret({programs}, &host);
  CHECK(twice.info.name == "twice");
  void* const arguments[] = {a.data(), b.data(), &n};
  CHECK(twice.run(arguments).empty());
  CHECK(b == std::vector<float>{2, 4, 6});

  const std::vector<lang::Program> pick =
      lang::parse("def pick(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) where i in 0:M }", "pick.tc");
  std::int32_t index = 7;
  float out = 0;
  std::int64_t m = 1;
  const InterpretedKernel gather = compiler->interpret({pick}, &host);
  void* const astray[] = {a.data(), &index, &out, &n, &m};
  CHECK(contains(gather.run(astray), "outside its shape"));
}

TEST_CASE_FIXTURE(Fixture, "the functions of a C file are those of its signatures") {
  const ForeignSource source{"f.c", {}, {}, "// ferry: f(in f32[n] x)\n"};
  const std::vector<ForeignFunction> functions = compiler->describe(source);
  REQUIRE(functions.size() == 1);
  CHECK(signature_text(functions.front().info) == "f(in f32[n] x)");
  CHECK(functions.front().signature == "f(in f32[n] x)");
  CHECK_FALSE(functions.front().has_launch);
  const ForeignSource cuda{"f.cu", {}, {}, "// ferry: f(in f32[n] x) grid=n, block=1\n"};
  CHECK(compiler->describe(cuda).at(0).has_launch);
  CHECK(compiler->describe(ForeignSource{"f.c", {}, {}, "void f(void) {}"}).empty());
}

TEST_CASE("where there is no compiler the message says what needs one") {
  CHECK_THROWS_AS((void)expect_compiler(nullptr, "ferry compile"), UsageError);
  const std::unique_ptr<const Compiler> compiler = make_compiler();
  CHECK(&expect_compiler(compiler.get(), "ferry compile") == compiler.get());
}

TEST_CASE_FIXTURE(Fixture,
                  "a compiler stays the same when the process loads another library, and differs between targets") {
  const Hash before = compiler->identity(host);
  void* const library = dlopen("libBrokenLocale.so.1", RTLD_NOW);
  REQUIRE_MESSAGE(library != nullptr, dlerror());
  CHECK(make_compiler()->identity(host) == before);
  dlclose(library);
  CHECK(compiler->identity(compiler->resolve_target("aarch64").value) != before);
}

TEST_CASE_FIXTURE(Fixture, "code is the same whatever the compiler has compiled before") {
  const Target avx2 = compiler->resolve_target("x86-64-v3").value;
  const std::vector<lang::Program> product =
      lang::parse("def mm(float(96,64) A, const float(64,96) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "mm.tc");
  // Packed rows of a tile with two vectors, and of one with one: each of two points shares its init function.
  const char* const points[] = {"C: tile=4x2", "C: tile=3x2", "C: tile=4x1", "C: tile=6x1"};
  std::vector<std::vector<std::uint8_t>> modules;
  const auto compiled = [&](const Compiler& with, const char* point, const Target& target) {
    Scheduled scheduled{product};
    scheduled.point = PointText{.text = point};
    return with.compile({scheduled, target}).module;
  };
  for (const Target& target : {avx2, host}) {
    for (const char* point : points) {
      CAPTURE(point);
      const std::vector<std::uint8_t> module = compiled(*compiler, point, target);
      CHECK(module == compiled(*make_compiler(), point, target));
      CHECK(module == compiled(*compiler, point, target));
      CHECK(std::ranges::find(modules, module) == modules.end());
      modules.push_back(module);
    }
  }
}
