// The suite that is written for a folder of kernels.
#include "host/gate/suite/new_suite.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "ferry/error.h"
#include "host/gate/suite/read_suite.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/compile_kernel.h"
#include "tests/paths.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/support/model_bytes.h"
#include "tests/unit/host/gate/suite/schemes.h"
#include "tests/unit/host/kernel/own_compiler.h"

namespace ferry::test {
namespace {

using namespace gate;

constexpr const char* kProduct = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }\n";
constexpr const char* kSaxpy =
    "// ferry: saxpy(f32 a, in f32[n] x, inout f32[n] y)\n"
    "void saxpy(float a, const float* x, float* y, long n) { for (long i = 0; i < n; ++i) y[i] += a * x[i]; }\n";

class Kernels {
 public:
  explicit Kernels(const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) {
      const std::filesystem::path path = folder_.file(name);
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << text;
    }
  }
  const TemporaryFolder& folder() const { return folder_; }
  NewSuite suite() const { return suite_for(*own_compiler(), folder_.path(), folder_.path()); }

  // The suite as it is read again from the folder.
  Suite read() const {
    std::ofstream(folder_.file("suite.toml")) << suite().text;
    return read_suite(folder_.file("suite.toml"), kSchemes);
  }

 private:
  TemporaryFolder folder_;
};

std::string why_skipped(const NewSuite& suite, const std::string& what) {
  for (const SkippedFiles& one : suite.skipped)
    if (one.what == what) return one.why;
  return "not skipped";
}

// Returns what plan_call() makes of a case.
CallPlan plan_of(const SuiteCase& one) {
  const KernelSource source = read_kernel(own_compiler(), one.kernel);
  return plan_call(function_of(source, one.kernel.function), one.call);
}

TEST_CASE("each function of each kernel becomes a case, in alphabetical order") {
  const Kernels kernels({{"z.tc", kProduct},
                         {"c/saxpy.c", kSaxpy},
                         {"pair.tc",
                          "def two(float(n) A) -> (B) { B(i) = A(i) * 2 }\n"
                          "def one(float(n) A) -> (B) { B(i) = A(i) }\n"}});
  const Suite suite = kernels.read();
  REQUIRE(suite.cases.size() == 4);
  CHECK(kernels.suite().cases == 4);
  CHECK(suite.cases[0].name == "saxpy");
  CHECK(suite.cases[0].kernel.file == kernels.folder().file("c/saxpy.c"));
  CHECK(suite.cases[0].kernel.function.empty());
  CHECK(suite.cases[1].name == "two");
  CHECK(suite.cases[1].kernel.function == "two");
  CHECK(suite.cases[2].name == "one");
  CHECK(suite.cases[3].name == "mm");
  CHECK(suite.boards.empty());
}

TEST_CASE("every case can be called, and takes neither long nor much memory") {
  const Kernels kernels(
      {{"mm.tc", kProduct},
       {"saxpy.c", kSaxpy},
       {"mm.c", "// ferry: square(in f32[n,n] A, in f32[n,n] B, out f32[n,n] C)\nvoid square() {}\n"},
       {"conv.tc",
        "def conv(float(N,C,H,W) I, float(F,C,KH,KW) K) -> (O) {\n"
        "  O(n,f,h,w) +=! I(n,c,h + r_kh,w + r_kw) * K(f,c,r_kh,r_kw)\n}\n"},
       {"rows.tc", "def rows(float(V,D) table, int(N) word) -> (Y) { Y(n,d) = table(word(n), d) }\n"},
       {"blur.tc",
        "def blur(float(H,W) A) -> (B) { B(y,x) = A(y,x) + A(y+1,x+1) + A(y+2,x+2) where y in 0:H-2, x in 0:W-2 }\n"},
       {"fixed.tc", "def fixed(float(100) A) -> (B) { B(i) = A(i) + 1 }\n"}});
  const Suite suite = kernels.read();
  REQUIRE(suite.cases.size() == 7);
  for (const SuiteCase& one : suite.cases) {
    CAPTURE(one.name);
    const CallPlan plan = plan_of(one);
    std::uint64_t bytes = 0;
    double iterations = 1;
    for (std::size_t p = 0; p < plan.shapes.size(); ++p) bytes += plan.bytes(p);
    for (const std::int64_t size : plan.symbols) iterations *= static_cast<double>(size);
    CHECK(bytes <= 8 << 20);
    // The convolution's windows are as large as its images.
    CHECK(iterations <= (one.name == "conv" ? 1 << 28 : 1 << 26));
    // Nothing is too short to be measured, either.
    if (one.name != "fixed") CHECK(bytes >= 2048);
  }
  const auto sizes_of = [&](const std::string& name) {
    for (const SuiteCase& one : suite.cases)
      if (one.name == name) return one.call.sizes.empty() ? "none" : one.call.sizes.front();
    return std::string("no case");
  };
  CHECK(sizes_of("mm") == "M=256,K=256,N=256");
  CHECK(sizes_of("square") == "n=256");
  CHECK(sizes_of("saxpy") == "n=262144");
  CHECK(sizes_of("blur") == "H=512,W=512");
  CHECK(sizes_of("fixed") == "none");
}

TEST_CASE("numbers and indices get values that every call permits") {
  const Kernels kernels({{"rows.tc", "def rows(float(V,D) table, int(N) word) -> (Y) { Y(n,d) = table(word(n), d) }\n"},
                         {"saxpy.c", kSaxpy}});
  const Suite suite = kernels.read();
  CHECK(suite.cases[1].call.arguments == std::vector<std::string>{"a=1", "x=:full", "y=:full"});
  const CallPlan plan = plan_of(suite.cases[0]);
  const auto& bytes = plan.contents[1].bytes;
  REQUIRE(bytes.size() == static_cast<std::size_t>(plan.shapes[1][0]) * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::int32_t index = 0;
    memcpy(&index, &bytes[i], 4);
    REQUIRE(index >= 0);
    REQUIRE(index < plan.shapes[0][0]);
  }
}

TEST_CASE("numbers that determine sizes are 1, unless they have to be as large as sizes") {
  const Kernels kernels({{"slice.tc",
                          "def slice(float(N) A, int begin, int step) -> (B) {\n"
                          "  B(i) = A(begin + i * step) where i in 0:(N - begin) / step\n}\n"},
                         {"block.tc", "def block(float(M,N) A strides(lda,1)) -> (A) { A(i,j) = A(i,j) * 2 }\n"}});
  const Suite suite = kernels.read();
  REQUIRE(suite.cases.size() == 2);
  CHECK(suite.cases[0].call.sizes.front() == "M=512,N=512,lda=512");
  CHECK(suite.cases[1].call.sizes.front() == "N=524288,begin=1,step=1");
}

TEST_CASE("a number that is an extent of a tensor is a size") {
  const Kernels kernels(
      {{"mm.c",
        "// ferry: mm(i32 n, in f32[n,n] A, out f32[n,n] B)\nvoid mm(int n, const float* A, float* B) { *B = *A; }\n"},
       {"sum.c",
        "// ferry: sum(i64 n, i64 step, in f32[n*step] x, in f32[n] y, out f32[] s)\n"
        "void sum(long n, long step, const float* x, const float* y, float* s) { *s = *x + *y; }\n"}});
  const Suite suite = kernels.read();
  REQUIRE(suite.cases.size() == 2);
  CHECK(suite.cases[0].call.sizes.front() == "n=256");
  CHECK(suite.cases[1].call.sizes.front() == "n=262144,step=1");
}

TEST_CASE("sizes are chosen by the time of a call where it can be had, and the time stands beside them") {
  const Kernels kernels(
      {{"saxpy.c", kSaxpy},
       {"fir.c",
        "// ferry: fir(in f32[n] x, in f32[t] c, out f32[n] y)\n"
        "void fir(const float* x, const float* c, float* y, long n, long t) { *y = *x + *c + n + t; }\n"},
       {"fixed.tc", "def fixed(float(100) A) -> (B) { B(i) = A(i) + 1 }\n"},
       {"neon.c",
        "// ferry: neon(in f32[n] x, out f32[n] y)\n"
        "void neon(const float* x, float* y, long n) { *y = *x + n; }\n"}});
  std::map<std::string, std::vector<std::int64_t>> timed;
  const TimeOfKernel time = [&](const KernelSource&, const std::string& function,
                                const CallOptions& call) -> std::optional<double> {
    if (function == "neon") return std::nullopt;  // another architecture's
    const std::string sizes = call.sizes.empty() ? "=1" : call.sizes.front();
    const auto size = static_cast<double>(std::stoll(sizes.substr(sizes.find('=') + 1)));
    timed[function].push_back(static_cast<std::int64_t>(size));
    return function == "fir" ? 1e-9 * size * size : 4e-9 * (size + 1000);
  };
  const NewSuite made = suite_for(*own_compiler(), kernels.folder().path(), kernels.folder().path(), time);
  std::ofstream(kernels.folder().file("suite.toml")) << made.text;
  const Suite suite = read_suite(kernels.folder().file("suite.toml"), kSchemes);
  REQUIRE(suite.cases.size() == 4);
  CHECK(suite.cases[0].name == "fir");
  CHECK(suite.cases[0].call.sizes.front() == "n=1024,t=1024");
  CHECK(suite.cases[1].call.sizes.empty());
  CHECK(suite.cases[2].call.sizes.front() == "n=524288");
  CHECK(suite.cases[3].call.sizes.front() == "n=262144");
  for (const char* line : {"\n# 1.05 ms a call\n", "\n# 4.00 us a call\n"}) {
    CAPTURE(made.text);
    CHECK(made.text.find(line) != std::string::npos);
  }
  CHECK(timed["fir"].size() <= 6);
  CHECK(timed["fixed"].size() == 1);
}

TEST_CASE("a network is a case of the name of its file, with small sizes and indices") {
  ModelBytes model;
  model.input("x", {"N", 8}).input("word", {"N"}, kInt64).initializer(floats("table", {10, 8}));
  model.node("Gather", {"table", "word"}, {"rows"}).node("Add", {"rows", "x"}, {"y"}).output("y");
  const Kernels kernels({{"words.onnx", model.text()}});
  const Suite suite = kernels.read();
  REQUIRE(suite.cases.size() == 1);
  const SuiteCase& words = suite.cases.front();
  CHECK(words.name == "words");
  CHECK(words.call.sizes == std::vector<std::string>{"N=1"});
  CHECK(words.call.arguments == std::vector<std::string>{"word=:below(2)"});
  CHECK_NOTHROW(plan_of(words));
}

TEST_CASE("functions of one name are told apart by their files") {
  const Kernels kernels(
      {{"a/mm.tc", kProduct}, {"b/mm.tc", std::string(kProduct) + "def other(float(n) A) -> (B) { B(i) = A(i) }\n"}});
  const Suite suite = kernels.read();
  REQUIRE(suite.cases.size() == 3);
  CHECK(suite.cases[0].name == "a/mm.tc");
  CHECK(suite.cases[1].name == "b/mm.tc:mm");
  CHECK(suite.cases[2].name == "other");
}

TEST_CASE("a schedule beside its kernel is taken, unless it has knobs or another name") {
  const Kernels kernels({{"mm.tc", kProduct},
                         {"mm.schedule", "reorder C i k j\n"},
                         {"mm.gpu.schedule", "nonsense\n"},
                         {"c.c", kSaxpy},
                         {"c.schedule", "nonsense\n"}});
  const Suite suite = kernels.read();
  REQUIRE(suite.cases.size() == 2);
  CHECK(suite.cases[1].kernel.schedule.file == kernels.folder().file("mm.schedule"));
  CHECK(suite.cases[0].kernel.schedule.file.empty());
}

TEST_CASE("what is no kernel is named with the reason") {
  const Kernels kernels({{"mm.tc", kProduct},
                         {"broken.tc", "def mm(float(M,K) A) -> {\n"},
                         {"plain.c", "int main(void) { return 0; }\n"},
                         {"mm.ferry", "x"},
                         {"mm.o", "x"},
                         {"net.onnx", "no network"},
                         {"empty.tc", ""},
                         {"README.md", ""},
                         {"b.md", ""},
                         {"Makefile", ""},
                         {"big.c", std::string((4 << 20) + 1, ' ')},
                         {".git/hidden.tc", kProduct},
                         {".hidden.tc", kProduct},
                         {"odd\x1b.tc", kProduct}});
  const NewSuite suite = kernels.suite();
  CHECK(suite.cases == 1);
  CHECK(why_skipped(suite, "broken.tc").find("broken.tc:1:") != std::string::npos);
  CHECK(why_skipped(suite, "plain.c").find("expected a comment '// ferry: ") == 0);
  CHECK(why_skipped(suite, "mm.ferry") == "is compiled already: the gate compiles kernels itself");
  CHECK(why_skipped(suite, "mm.o") == "is compiled already: the gate compiles kernels itself");
  CHECK(why_skipped(suite, "net.onnx") != "not skipped");
  CHECK(why_skipped(suite, "empty.tc") != "not skipped");
  CHECK(why_skipped(suite, "big.c") == "expected a source of at most 4194304 bytes, got 4194305");
  CHECK(why_skipped(suite, "odd\\x1b.tc") == "its name cannot be printed");
  CHECK(why_skipped(suite, "*.md (2 files)") == "are no kernels");
  CHECK(why_skipped(suite, "* (1 file)") == "are no kernels");
  CHECK(suite.skipped.size() == 10);
  for (const SkippedFiles& one : suite.skipped) CHECK(one.why.find_first_of("\n\x1b") == std::string::npos);
}

TEST_CASE("a folder without kernels, or none at all, is refused") {
  using Files = std::map<std::string, std::string>;
  const Kernels none(Files{}), plain(Files{{"plain.c", "int x;\n"}});
  CHECK_THROWS_WITH_AS(
      none.suite(),
      (none.folder().path() +
       ": expected a kernel: a .tc file, a network, or a C or C++ file with a comment '// ferry: NAME(...)'")
          .c_str(),
      UsageError);
  CHECK_THROWS_AS(plain.suite(), UsageError);
  CHECK_THROWS_AS(suite_for(*own_compiler(), none.folder().file("none"), "."), UsageError);
}

TEST_CASE("kernels are named from the folder of the suite") {
  const Kernels kernels({{"src/kernels/mm.tc", kProduct}, {"ci/x", ""}});
  const std::string folder = kernels.folder().path();
  const auto kernel_of = [&](const std::string& suite_folder) {
    const NewSuite suite = suite_for(*own_compiler(), folder + "/src/kernels", suite_folder);
    return parse_suite(suite.text, "suite.toml", kSchemes).cases.front().kernel.file;
  };
  CHECK(kernel_of(folder) == "src/kernels/mm.tc");
  CHECK(kernel_of(folder + "/ci") == "../src/kernels/mm.tc");
  CHECK(kernel_of(folder + "/src/kernels") == "mm.tc");
}

TEST_CASE("odd names of files are written such that they are read again") {
  const Kernels kernels({{"a \"b\" \\ é/mm.tc", kProduct}, {"x/mm.tc", kProduct}});
  const Suite suite = kernels.read();
  REQUIRE(suite.cases.size() == 2);
  CHECK(suite.cases[0].name == "a \"b\" \\ é/mm.tc");
  CHECK(suite.cases[0].kernel.file == kernels.folder().file("a \"b\" \\ é/mm.tc"));
}

TEST_CASE("the suite of the examples' kernels compiles") {
  const std::string folder = FERRY_SOURCE_DIR "/examples/kernels";
  const NewSuite made = suite_for(*own_compiler(), folder, folder);
  const Suite suite = parse_suite(made.text, folder + "/suite.toml", kSchemes);
  CHECK(suite.cases.size() >= 4);
  CHECK(suite_for(*own_compiler(), folder, folder).text == made.text);
  for (const SuiteCase& one : suite.cases) {
    CAPTURE(one.name);
    CHECK_NOTHROW(plan_of(one));
  }
}

TEST_CASE("the suite of the examples for continuous integration can be called") {
  const Suite suite = read_suite(FERRY_SOURCE_DIR "/examples/ci/suite.toml", kSchemes);
  CHECK(suite.name == "ci");
  REQUIRE(suite.cases.size() == 4);
  for (const SuiteCase& one : suite.cases) {
    CAPTURE(one.name);
    CHECK_NOTHROW(plan_of(one));
  }
}

}  // namespace
}  // namespace ferry::test
