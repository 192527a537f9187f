// Measures the sensitivity of the interpreter: CUDA code with one planted mistake, which must be reported or give a
// wrong result.
#include <doctest/doctest.h>

#include <regex>

#include "module/module_file.h"
#include "tests/e2e/gpu_ptx/ptx_device.h"
#include "tests/paths.h"
#include "tests/support/examples.h"
#include "tests/support/gpu_schedules.h"

using namespace ferry;
using namespace ferry::test;

namespace {

using Sizes = std::map<std::string, std::int64_t>;

struct Subject {
  const char* name;
  std::string source, function, schedule;
  Sizes fixed, sizes;
};

std::string example(const std::string& name) { return text_of(FERRY_SOURCE_DIR "/examples/" + name); }

// The name of a subject is the key under which mutations refer to it.
const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {
      {"tiled",
       "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       "",
       kTiled,
       {},
       {{"M", 37}, {"N", 41}, {"K", 19}}},
      {"pipelined",
       "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       "",
       kPipelined,
       {},
       {{"M", 37}, {"N", 41}, {"K", 19}}},
      {"rows",
       "def rows(float(N,K) A) -> (C) { C(i) +=! A(i,k) }",
       "",
       row_by_block("C", 64),
       {},
       {{"N", 3}, {"K", 200}}},
      {"vectors",
       "def f(float(32,64) A) -> (C) { C(i,j) = A(i,j) * 2 + 1 }",
       "",
       "A: cache_read shared -> AA\nC: tile i j 8 16 -> io jo ii ji\nsplit ji 4 -> t v\nbind io blockIdx.y\n"
       "bind jo blockIdx.x\nbind ii threadIdx.y\nbind t threadIdx.x\nvectorize v\nAA: compute_at C jo\n"
       "split i1 4 -> at av\nbind i0 threadIdx.y\nbind at threadIdx.x\nvectorize av",
       {},
       {}},
      {"tensor cores",
       example("29_tensor_cores.tc"),
       "matmul",
       example("29_tensor_cores.gpu.schedule"),
       {{"M", 128}, {"N", 256}, {"K", 96}},
       {}},
  };
  return all;
}

struct Mutation {
  const char *subject, *what;
  const char* pattern;      // ECMAScript
  const char* replacement;  // "$1" is its first group
  int occurrence = 0;
};

const Mutation kMutations[] = {
    {"tiled", "the barrier ahead of the tiles dropped", "bar\\.sync\\s+0;", "", 0},
    {"tiled", "the barrier behind the tiles dropped", "bar\\.sync\\s+0;", "", 1},
    {"tiled", "a shared index off by one", "(ld\\.shared\\.f32\\s+%f\\d+, \\[%rd\\d+\\+-)16\\]", "$0112]", 0},
    {"tiled", "a global index off by one", "(ld\\.global\\.nc\\.f32\\s+%f\\d+, \\[%rd\\d+)\\]", "$01+4]", 0},
    {"tiled", "a number of tiles rounded down", "(add\\.s64\\s+%rd\\d+, %rd\\d+, )3;", "$010;", 0},
    {"tiled", "a guard of either index where it is of both", "or\\.pred", "and.pred", 0},
    {"tiled", "a predicate inverted", "setp\\.lt\\.s64", "setp.ge.s64", 0},
    {"tiled", "a branch taken the other way round", "@(%p\\d+ bra)", "@!$01", 1},
    {"tiled", "a store to shared memory lost", "st\\.shared\\.f32[^;]*;", "", 0},
    {"tiled", "a shared array one element short", "(AA)\\[128\\]", "$01[124]", 0},
    {"tiled", "x for y", "%tid\\.y", "%tid.x", 0},
    {"tiled", "one block's index for another's", "%ctaid\\.x", "%ctaid.y", 0},
    {"tiled", "a sum that does not begin at 0", "(mov\\.f32\\s+%f\\d+, )0f00000000", "$010f3F800000", 1},
    {"tiled", "a register that nobody has written", "mul\\.lo\\.s64[^;]*;", "", 0},
    {"pipelined", "a wait for copies removed", "cp\\.async\\.wait_group\\s+\\d+;", "", 0},
    {"pipelined", "a wait that leaves one group more", "(cp\\.async\\.wait_group\\s+)1;", "$012;", 0},
    {"pipelined", "a group of copies never closed", "cp\\.async\\.commit_group;", "", 2},
    {"pipelined", "the barrier behind the wait dropped", "bar\\.sync\\s+0;", "", 0},
    {"pipelined", "a copy to the next element", "(cp\\.async\\.ca\\.shared\\.global \\[%rd\\d+)\\]", "$01+4]", 0},
    {"rows", "the lanes of a shuffle too near", "(shfl\\.sync\\.bfly\\.b32\\s+%r\\d+, %r\\d+, )16,", "$018,", 0},
    {"rows", "a shuffle among half of the warp", "(shfl\\.sync\\.bfly\\.b32[^;]*), -1;", "$01, 65535;", 0},
    {"rows", "the barrier between the warps dropped", "bar\\.sync\\s+0;", "", 0},
    {"vectors", "a vector that is not aligned", "(ld\\.global\\.nc\\.v4\\.f32\\s+\\{[^}]*\\}, \\[%rd\\d+)\\]", "$01+4]",
     0},
    {"vectors", "two elements of a vector swapped", "(st\\.global\\.v4\\.f32\\s+\\[[^{]*\\{)(%f\\d+), (%f\\d+)",
     "$01$03, $02", 0},
    {"tensor cores", "a matrix fetched the other way round", "(ldmatrix[^;]*)\\.trans", "$01", 0},
    {"tensor cores", "a wait that leaves one group more", "(cp\\.async\\.wait_group\\s+)2;", "$013;", 0},
    {"tensor cores", "a barrier dropped", "bar\\.sync\\s+0;", "", 0},
    {"tensor cores", "two pieces of A swapped", "(mma\\.[^{]*\\{[^}]*\\},\\s*\\{)(%r\\d+), (%r\\d+)", "$01$03, $02", 0},
};

// Returns the mutated text; empty if the pattern does not occur.
std::string mutated(const std::string& text, const Mutation& mutation) {
  const std::regex pattern(mutation.pattern);
  auto match = std::sregex_iterator(text.begin(), text.end(), pattern);
  for (int i = 0; i < mutation.occurrence && match != std::sregex_iterator(); ++i) ++match;
  if (match == std::sregex_iterator()) return "";
  const auto at = static_cast<std::size_t>(match->position());
  return text.substr(0, at) + match->format(mutation.replacement) + match->suffix().str();
}

}  // namespace

TEST_CASE("every mistake in code for a GPU is found") {
  const PtxDevice device;
  int found = 0;
  for (const Subject& subject : subjects()) {
    GpuProgram compiled = compiled_program(subject.source, subject.function, subject.schedule,
                                           "cuda -arch=sm_80 -compiler=llvm", subject.fixed);
    CAPTURE(std::string(subject.name));
    REQUIRE(device.wrong(compiled, subject.sizes) == "");
    Result<ModuleFile> read = read_module(compiled.module);
    REQUIRE(read.is_ok());
    ModuleFile file = std::move(read.value());
    std::vector<std::uint8_t>& image = file.images.at(0).bytes;
    const std::string text(image.begin(), image.end());
    for (const Mutation& mutation : kMutations) {
      if (std::string(mutation.subject) != subject.name) continue;
      CAPTURE(std::string(mutation.what));
      const std::string changed = mutated(text, mutation);
      ++found;
      CHECK_MESSAGE(!changed.empty(), "there is no such place");
      if (changed.empty()) continue;
      image.assign(changed.begin(), changed.end());
      compiled.module = write_module(file);
      const std::string wrong = device.wrong(compiled, subject.sizes);
      CHECK_MESSAGE(!wrong.empty(), "nobody noticed");
    }
  }
  CHECK(found == static_cast<int>(std::size(kMutations)));
}
