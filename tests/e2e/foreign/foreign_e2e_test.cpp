// End-to-end tests of kernels that ferry did not compile, on four architectures and through the command line.
#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>

#include "base/landlock.h"
#include "crosscompile/backend/native/link_module.h"
#include "crosscompile/foreign/foreign.h"
#include "ferry/compile.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

const char* const kSaxpy =
    "#include <stdint.h>\n"
    "// ferry: saxpy(f32 a, in f32[n] x, inout f32[n] y)\n"
    "void saxpy(float a, const float* x, float* y, int64_t n) {\n"
    "  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];\n"
    "}\n";

// Parameters of every numeric type, more than the argument registers hold, so that each must be passed as the
// architecture's C ABI requires.
const char* const kMixed =
    "#include <math.h>\n#include <stdint.h>\n"
    "int mixed(int8_t a, uint16_t b, double c, int32_t d, float e, int64_t f, uint8_t g, uint32_t h, int16_t i, float "
    "j,\n"
    "          _Bool k, uint64_t l, const double* x, double* y, int64_t n) {\n"
    "  if (n == 0) return 7;\n"
    "  for (int64_t t = 0; t < n; ++t)\n"
    "    y[t] = a + 10.0 * b + c + d + e + f + g + (double)h + i + j + k + (double)l + exp(x[t]);\n"
    "  return 0;\n"
    "}\n";

foreign::ForeignKernel kernel(const Folder& folder, const std::string& text, const std::string& signature) {
  return {folder.file("kernel.c", text), {foreign::parse_signature(signature)}, {}, text};
}

void run_everything(const std::string& arch) {
  const test::ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server",
                                     test::emulator_of(arch), {"--threads", "2", "--quiet"});
  const Device device = connect(server.address());
  REQUIRE(device.facts().arch == arch);
  const Folder folder;
  const foreign::ForeignKernel mixed = kernel(folder, kMixed,
                                              "i32 mixed(i8 a, u16 b, f64 c, i32 d, f32 e, i64 f, u8 g, u32 h, i16 i, "
                                              "f32 j, bool k, u64 l, in f64[n] x, out f64[n] y)");
  const std::vector<std::uint8_t> relinkable = foreign::compile_foreign(mixed, target_of(device), CodeForm::relinkable);
  for (const std::uint32_t padding : {0U, 48U}) {
    CAPTURE(padding);
    const CompiledModule module(link_module(relinkable, {.code = padding}));
    const std::vector<double> x = {0, 1, -2};
    const DeviceTensor y =
        device.load(module)["mixed"](-3, 60000, 0.5, -70000, 1.5f, std::int64_t{-5'000'000'000}, 200,
                                     std::int64_t{4'000'000'000}, -300, 2.5f, 1, std::int64_t{1} << 40, view(x, {3}));
    const double sum = -3 + 600000.0 + 0.5 - 70000 + 1.5 - 5e9 + 200 + 4e9 - 300 + 2.5 + 1 + 1099511627776.0;
    const std::vector<double> result = y.to_vector<double>();
    for (std::size_t i = 0; i < 3; ++i) CHECK(result[i] == doctest::Approx(sum + std::exp(x[i])).epsilon(1e-15));
  }
  const CompiledModule saxpy(foreign::compile_foreign(
      kernel(folder, kSaxpy, foreign::signatures_in_source(kSaxpy).front()), target_of(device)));
  const std::vector<float> x = {1, 2, 3}, y = {10, 20, 30};
  CHECK(device.load(saxpy)["saxpy"](2, view(x, {3}), view(y, {3})).to_vector<float>() ==
        std::vector<float>{12, 24, 36});
}

}  // namespace

TEST_CASE("C functions with arguments of every type run on x86_64") { run_everything("x86_64"); }
TEST_CASE("C functions with arguments of every type run on armv7") { run_everything("armv7"); }
TEST_CASE("C functions with arguments of every type run on aarch64") { run_everything("aarch64"); }
TEST_CASE("C functions with arguments of every type run on riscv64") { run_everything("riscv64"); }

TEST_CASE("run and bench take a C file, and say what is wrong with one") {
  const Folder folder;
  const std::string saxpy = folder.file("saxpy.c", kSaxpy);
  const Outcome run = run_ferry({"run", saxpy, "--arg", "x=f32[3]:iota", "--arg", "y=f32[3]:ones", "--arg", "a=2"});
  CAPTURE(run.err);
  CHECK(run.code == 0);
  CHECK(run.out.starts_with("y = f32[3]\n[1. 3. 5.]\n"));
  CHECK(run_ferry({"bench", saxpy, "--size", "n=100", "--arg", "a=2", "--repeat", "3", "--no-peak"}).code == 0);
  const auto complaint = [&](const std::vector<std::string>& words) {
    const Outcome outcome = run_ferry(words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  const std::string bare = folder.file("bare.c", "void f(void) {}");
  CHECK(complaint({"run", bare})
            .find("in f32[n] x, inout f32[n] y)' in it, or a signature of this form beside it (--signature TEXT)") !=
        std::string::npos);
  CHECK(complaint({"run", bare, "--signature", "f(x)"}).find("signature, column 3: expected a type") !=
        std::string::npos);
  CHECK(run_ferry({"run", bare, "--signature", "g()"}).code == 0);  // its only function
  const std::string two = folder.file("two.c", "void f(void) {}\nvoid h(void) {}");
  CHECK(complaint({"run", two, "--signature", "g()"}).find("expected a function 'g', got f") != std::string::npos);
  CHECK(complaint({"run", saxpy, "--size", "n=3", "--arg", "a=1", "--check"})
            .find("expected a kernel that computes the same (--check-against FILE)") != std::string::npos);
  CHECK(complaint({"diff", saxpy, "none", "default"}).find("saxpy.c is computed as it says") != std::string::npos);
  CHECK(complaint({"compile", saxpy, "--emit", "lower"})
            .find("--emit lower: expected a kernel in ferry's own notation, got ") != std::string::npos);
  CHECK(complaint({"compile", saxpy, "--size", "n=3"})
            .find("--size n=3: expected none, because a size chooses a schedule") != std::string::npos);
  CHECK(complaint({"run", saxpy, "--schedule", "none"}).find("a schedule is for kernels") != std::string::npos);
}

TEST_CASE("a C file compiles into a module, which runs later and says that it cannot be checked") {
  const Folder folder;
  const std::string saxpy = folder.file("saxpy.c", kSaxpy), module = folder.path("saxpy.ferry");
  const Outcome compiled = run_ferry({"compile", saxpy, "-o", module});
  CAPTURE(compiled.err);
  CHECK(compiled.code == 0);
  CHECK(compiled.out.find("saxpy(in f32 a, in f32[n] x, inout f32[n] y)") != std::string::npos);
  std::vector<std::string> words = {"run", module, "--arg", "x=f32[3]:iota", "--arg", "y=f32[3]:ones", "--arg", "a=2"};
  CHECK(run_ferry(words).out.starts_with("y = f32[3]\n[1. 3. 5.]\n"));
  words.emplace_back("--check");
  const Outcome checked = run_ferry(words);
  CHECK(checked.code == 2);
  CHECK_MESSAGE(
      checked.err.find("expected a kernel that computes the same (--check-against FILE)") != std::string::npos,
      checked.err);
  CHECK(run_ferry({"compile", saxpy, "--target", "raspberry-pi-4", "-o", module}).code == 0);
}

TEST_CASE("LLVM IR, bitcode, assembly and an object run and are timed like C") {
  const Folder folder;
  const std::string c = folder.file("saxpy.c", kSaxpy), signature = foreign::signatures_in_source(kSaxpy).front();
  const std::pair<const char*, const char*> kinds[] = {
      {"saxpy.ll", "-S -emit-llvm"}, {"saxpy.bc", "-c -emit-llvm"}, {"saxpy.s", "-S"}, {"saxpy.o", "-c"}};
  for (const auto& [name, flags] : kinds) {
    const std::string file = folder.path(name);
    CAPTURE(name);
    REQUIRE(std::system(("clang-19 -O2 -fPIC " + std::string(flags) + " -o " + file + " " + c).c_str()) == 0);
    const Outcome run = run_ferry(
        {"run", file, "--signature", signature, "--arg", "x=f32[3]:iota", "--arg", "y=f32[3]:ones", "--arg", "a=2"});
    CAPTURE(run.err);
    CHECK(run.code == 0);
    CHECK(run.out.starts_with("y = f32[3]\n[1. 3. 5.]\n"));
    CHECK(run_ferry({"bench", file, "--signature", signature, "--size", "n=100", "--arg", "a=2", "--repeat", "3",
                     "--no-peak"})
              .code == 0);
  }
}

TEST_CASE("a shared object runs as it is") {
  const Folder folder;
  const std::string c = folder.file("saxpy.c", kSaxpy), so = folder.path("saxpy.so");
  REQUIRE(std::system(("clang-19 -O2 -fPIC -shared -nostdlib -fuse-ld=lld-19 -Wl,--hash-style=both -o " + so + " " + c)
                          .c_str()) == 0);
  const Outcome run = run_ferry({"run", so, "--signature", foreign::signatures_in_source(kSaxpy).front(), "--arg",
                                 "x=f32[3]:iota", "--arg", "y=f32[3]:ones", "--arg", "a=2"});
  CAPTURE(run.err);
  CHECK(run.code == 0);
  CHECK(run.out.starts_with("y = f32[3]\n[1. 3. 5.]\n"));
}

TEST_CASE("each function with a comment of its own is taken, by name where there are several") {
  const Folder folder;
  const std::string file =
      folder.file("two.c",
                  "#include <stdint.h>\n// ferry: one(out f32[n] y, i64 n)\n"
                  "void one(float* y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = 1; }\n"
                  "/* ferry: two(inout f32[n] y) */\n"
                  "void two(float* y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] += 2; }\n");
  const Outcome one = run_ferry({"run", file, "--fn", "one", "--arg", "n=3"});
  CAPTURE(one.err);
  CHECK(one.out.starts_with("y = f32[3]\n[1. 1. 1.]\n"));
  const Outcome two = run_ferry({"run", file, "--fn", "two", "--arg", "y=f32[2]:ones"});
  CHECK(two.out.starts_with("y = f32[2]\n[3. 3.]\n"));
  const Outcome neither = run_ferry({"run", file, "--size", "n=3"});
  CHECK(neither.code == 2);
  CHECK(neither.err.find("has several functions; expected one of: one, two (--fn NAME)") != std::string::npos);
  const std::string module = folder.path("two.ferry");
  CHECK(run_ferry({"compile", file, "-o", module}).out.find("  two(inout f32[n] y)\n") != std::string::npos);
  CHECK(run_ferry({"run", module, "--fn", "two", "--arg", "y=f32[2]:ones"}).out.starts_with("y = f32[2]\n[3. 3.]\n"));
}

TEST_CASE("check runs C and C++ under clang's sanitizers, on this machine") {
  const Folder folder;
  const auto file = [&](const std::string& body) {
    return folder.file("f.c",
                       "#include <stdint.h>\n// ferry: f(i32 s, in f32[n] x, inout f32[n] y)\n"
                       "void f(int32_t s, const float* x, float* y, int64_t n) {\n  " +
                           body + "\n}\n");
  };
  const auto check = [&](const std::string& body, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"check", file(body), "--size", "n=5", "--arg", "s=31"};
    words.insert(words.end(), more.begin(), more.end());
    return run_ferry(words);
  };
  const Outcome fine = check("for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];");
  CAPTURE(fine.err);
  CHECK(fine.code == 0);
  CHECK(fine.out ==
        "f: fine: clang's sanitizers found nothing with these inputs\nrandom inputs are those of --seed 0\n"
        "isolation: none: results are checked, and no time is taken\n");
  const Outcome overrun = check("for (int64_t i = 0; i <= n; ++i) y[i] = x[i];");
  CHECK(overrun.code == 1);
  CHECK_MESSAGE(overrun.err.find("heap-buffer-overflow") != std::string::npos, overrun.err);
  CHECK(overrun.err.find("f.c:4") != std::string::npos);
  CHECK(overrun.err.find("the tensor x") != std::string::npos);
  // Accesses far beyond the guard pages and the pattern around a tensor.
  CHECK(check("y[-4] = 1;").code == 1);
  const Outcome shift = check("y[0] = (float)(1 << (s + 1));");
  CHECK(shift.code == 1);
  CHECK_MESSAGE(shift.err.find("ferry: f: ") != std::string::npos, shift.err);
  CHECK(shift.err.find("runtime error: shift exponent 32") != std::string::npos);
  const Outcome json = check("y[n] = 0;", {"--json"});
  CHECK(json.code == 1);
  CHECK(json.out.find("\"fine\": false") != std::string::npos);
  CHECK(check("y[0] = 1;", {"--target", "raspberry-pi-4"}).code == 2);
  const Outcome endless = check("volatile int ends = 0; while (!ends) y[0] = 1;", {"--call-deadline", "0.5"});
  CHECK(endless.code == 1);
  CHECK(endless.err == "ferry: f: the call took longer than its deadline of 500 ms\n");
  const std::string cpp =
      folder.file("g.cpp",
                  "#include <algorithm>\n#include <cstdint>\n// ferry: g(in f32[n] x, out f32[n] y)\n"
                  "void g(const float* x, float* y, std::int64_t n) { std::copy(x, x + n, y); }\n");
  CHECK(run_ferry({"check", cpp, "--size", "n=7"}).code == 0);
  const std::string copy = folder.file("copy.tc", "def copy(float(N) X) -> (Y) { Y(i) = X(i) }");
  const std::string doubled = folder.file("doubled.tc", "def doubled(float(N) X) -> (Y) { Y(i) = 2 * X(i) }");
  CHECK(run_ferry({"check", cpp, "--size", "n=7", "--check-against", copy}).code == 0);
  const Outcome wrong = run_ferry({"check", cpp, "--size", "n=7", "--check-against", doubled});
  CHECK(wrong.code == 1);
  CHECK_MESSAGE(wrong.err.find("wrong result: Y[0] is ") != std::string::npos, wrong.err);
}

namespace {

// Has landlock_create_ruleset() answer as before Linux 5.13, for this process and what it starts.
bool hide_landlock() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

}  // namespace

TEST_CASE("check confines a kernel: no files, sockets, modes or signals of the user, and nothing that stays") {
  REQUIRE_MESSAGE(landlock::version() > 0, "this kernel has no Landlock");
  const Folder home, folder;
  const std::string secret = home.file("secret", "words"), marked = folder.path("marked");
  const pid_t other = fork();
  if (other == 0) {
    sleep(120);
    _exit(0);
  }
  // Counts what it can do, which would be written to y.
  const std::string kernel = folder.file(
      "f.c",
      "// ferry: f(in f32[n] x, out f32[n] y)\n"
      "int open(const char*, int, ...); int chmod(const char*, unsigned); int socket(int, int, int);\n"
      "int kill(int, int); int unlink(const char*); int fork(void); int setsid(void); unsigned sleep(unsigned);\n"
      "char* getenv(const char*); int mkdir(const char*, unsigned); int rename(const char*, const char*);\n"
      "int utime(const char*, void*); int system(const char*);\n"
      "void f(const float* x, float* y, long n) {\n"
      "  int done = 0;\n"
      "  const char* secret = \"" +
          secret +
          "\";\n"
          "  done += open(secret, 0) >= 0;\n  done += open(secret, 1025) >= 0;\n"
          "  done += open(\"/etc/passwd\", 0) >= 0;\n"
          "  done += open(\"" +
          marked +
          "\", 65, 0600) >= 0;\n"
          "  done += chmod(secret, 0777) == 0;\n  done += utime(secret, 0) == 0;\n"
          "  done += unlink(secret) == 0;\n  done += rename(secret, \"" +
          marked +
          "\") == 0;\n"
          "  done += mkdir(\"" +
          marked +
          "\", 0700) == 0;\n"
          "  done += socket(2, 1, 0) >= 0;\n  done += socket(1, 1, 0) >= 0;\n"
          "  done += kill(" +
          std::to_string(other) +
          ", 9) == 0;\n"
          "  done += getenv(\"FERRY_TEST_SECRET\") != 0;\n"
          "  done += system(\"echo > " +
          marked +
          "\") == 0;\n"
          "  if (fork() == 0) { setsid(); for (;;) sleep(617); }\n"
          "  for (long i = 0; i < n; ++i) y[i] = done;\n"
          "}\n");
  const std::string zeros = folder.file("zeros.tc", "def zeros(float(N) X) -> (Y) { Y(i) = 0 * X(i) }");
  const Outcome outcome =
      run_ferry({"check", kernel, "--size", "n=3", "--check-against", zeros}, "", {{"FERRY_TEST_SECRET", "x"}});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.find("not confined") == std::string::npos);
  CHECK(test::content_of(secret) == "words");
  CHECK(!std::filesystem::exists(marked));
  CHECK(waitpid(other, nullptr, WNOHANG) == 0);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  // A kernel that ignores the signal of a deadline, and one that writes more than its tensors.
  const auto check = [&](const std::string& declarations, const std::string& body) {
    return run_ferry({"check",
                      folder.file("g.c", "// ferry: g(inout f32[n] y)\n" + declarations +
                                             "\nvoid g(float* y, long n) {\n  " + body + "\n}\n"),
                      "--size", "n=3", "--call-deadline", "1"});
  };
  const Outcome stubborn =
      check("void* signal(int, void*); int alarm(unsigned);",
            "for (int i = 1; i < 32; ++i) signal(i, (void*)1);\n  alarm(0);\n  for (;;) y[0] = 1;");
  CHECK(stubborn.code == 1);
  CHECK(stubborn.err == "ferry: g: the call took longer than its deadline of 1.00 s\n");
  const Outcome greedy =
      check("long write(int, const void*, long);", "for (int i = 0; i < 1 << 22; ++i) write(2, y, 12);");
  CHECK(greedy.code == 1);
  CHECK(greedy.err.size() < 2 << 20);
}

TEST_CASE("check says that a kernel is not confined where the kernel of the system has no Landlock") {
  const Folder folder;
  const std::string kernel = folder.file("f.c", "// ferry: f(inout f32[1] x)\nvoid f(float* x) { x[0] = 1; }\n");
  const pid_t child = fork();
  if (child == 0) {
    if (!hide_landlock()) _exit(1);
    const Outcome check = run_ferry({"check", kernel});
    if (check.code != 0 || check.err != "ferry: not confined: this kernel has no Landlock\n") _exit(2);
    const Outcome json = run_ferry({"check", kernel, "--json"});
    _exit(json.out.find("\"this kernel has no Landlock\"") != std::string::npos ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("compare calls a C kernel without a signature as the other kernel is called") {
  const Folder folder;
  const std::string mine = folder.file("mine.c",
                                       "#include <stdint.h>\n"
                                       "void twice(const float* A, float* B, int64_t N) {\n"
                                       "  for (int r = 0; r < 40; ++r)\n"
                                       "    for (int64_t i = 0; i < N; ++i) ((volatile float*)B)[i] = 2 * A[i];\n"
                                       "}\n");
  const std::string theirs = folder.file("twice.tc", "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }");
  for (const auto& [a, b] : {std::pair(mine, theirs), std::pair(theirs, mine)}) {
    const Outcome outcome =
        run_ferry({"compare", a, b, "--size", "N=512", "--threads", "1", "--processes", "5", "--repeat", "3"});
    CAPTURE(outcome.err);
    CAPTURE(outcome.out);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.out.find(a == mine ? "verdict    A is " : "verdict    B is ") != std::string::npos);
  }
}
