// Tests of code images that must run, and of others that must be refused with the name of the problem.
#include "device-runtime/loader/elf_image.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/architectures/architectures.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"

namespace ferry::device {
namespace {

using test::compile_kernel;
using test::Linker;

std::string refusal(const std::vector<std::uint8_t>& file) {
  auto image = ElfImage::load(file);
  return image.is_ok() ? "loaded" : image.status().message();
}

template <class F>
F* function(const ElfImage& image, const char* name) {
  auto address = image.function(name);
  REQUIRE_MESSAGE(address.is_ok(), address.status().message());
  return reinterpret_cast<F*>(address.value());
}

ElfImage loaded(const std::vector<std::uint8_t>& file) {
  auto image = ElfImage::load(file);
  REQUIRE_MESSAGE(image.is_ok(), image.status().message());
  return std::move(image.value());
}

// Data, constants with pointers, calls between functions and an import, to cover every kind of relocation and segment.
const char* const kEverything = R"(
  float expf(float);
  void* memset(void*, int, __SIZE_TYPE__);
  int counter = 40;
  static int zeros[5000];
  static int helper_one(int x) { return x + 1; }
  static int helper_two(int x) { return x + 2; }
  int (*const table[])(int) = {helper_one, helper_two};
  const char* const words[] = {"first", "second"};
  int next(void) { return ++counter; }
  int through_table(int i, int x) { zeros[i] += x; return table[i](x) + zeros[4999]; }
  const char* word(int i) { return words[i]; }
  float exponential(float x) { return expf(x); }
  void clear(char* p, long n) { memset(p, 0, n); }
)";

std::string permissions_at(const void* address) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  REQUIRE(maps != nullptr);
  char line[512], flags[8];
  unsigned long begin = 0, end = 0;
  std::string found = "nothing";
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, flags) != 3) continue;
    const auto value = reinterpret_cast<unsigned long>(address);
    if (value >= begin && value < end) found = flags;
  }
  std::fclose(maps);
  return found;
}

// Returns the numbers of the pages that hold an image in a new process.
std::vector<std::uintptr_t> pages_in_new_process(const std::vector<std::uint8_t>& file) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const ElfImage image = loaded(file);
    const std::uintptr_t range[] = {reinterpret_cast<std::uintptr_t>(image.base()), image.memory_bytes()};
    _exit(write(ends[1], range, sizeof range) == sizeof range ? 0 : 1);
  }
  close(ends[1]);
  std::uintptr_t range[2] = {};
  REQUIRE(read(ends[0], range, sizeof range) == sizeof range);
  close(ends[0]);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  std::vector<std::uintptr_t> pages;
  for (std::uintptr_t at = 0; at < range[1]; at += 4096) pages.push_back((range[0] + at) / 4096);
  return pages;
}

TEST_CASE("processes forked from one have their code in pages whose numbers differ in the last bits") {
  const std::vector<std::uint8_t> file = compile_kernel("int f(int x) { return x + 1; }");
  std::vector<std::uintptr_t> last_bits;
  for (int process = 0; process < 3; ++process)
    for (const std::uintptr_t page : pages_in_new_process(file)) last_bits.push_back(page % 4096);
  REQUIRE(last_bits.size() >= 3);
  std::ranges::sort(last_bits);
  CHECK(std::ranges::adjacent_find(last_bits) == last_bits.end());
}

TEST_CASE("an image with data, tables of pointers and imports runs, whichever linker wrote it") {
  for (const Linker linker : {Linker::lld, Linker::gnu}) {
    CAPTURE(static_cast<int>(linker));
    const ElfImage image = loaded(compile_kernel(kEverything, {.linker = linker}));
    CHECK(function<int()>(image, "next")() == 41);
    CHECK(function<int()>(image, "next")() == 42);
    CHECK(function<int(int, int)>(image, "through_table")(0, 7) == 8);
    CHECK(function<int(int, int)>(image, "through_table")(1, 7) == 9);
    CHECK(std::string(function<const char*(int)>(image, "word")(1)) == "second");
    CHECK(function<float(float)>(image, "exponential")(1.0F) == doctest::Approx(2.718281828).epsilon(1e-6));
    char bytes[4] = {1, 2, 3, 4};
    function<void(char*, long)>(image, "clear")(bytes, 3);
    CHECK(bytes[2] == 0);
    CHECK(bytes[3] == 4);
  }
}

TEST_CASE("two copies of one image have their own data") {
  const auto file = compile_kernel(kEverything);
  const ElfImage first = loaded(file), second = loaded(file);
  CHECK(function<int()>(first, "next")() == 41);
  CHECK(function<int()>(second, "next")() == 41);
}

TEST_CASE("code can be executed but not written, relocated constants only read") {
  const ElfImage image = loaded(compile_kernel(kEverything));
  const auto* code = reinterpret_cast<const void*>(function<int()>(image, "next"));
#if defined(__x86_64__)  // emulators show their own pages instead
  CHECK(permissions_at(code) == "r-xp");
#else
  CHECK(permissions_at(code)[1] == '-');
#endif
  const ElfImage with_address =
      loaded(compile_kernel("extern int x; static int* const p = &x; int x; int* const* place(void) { return &p; }"
                            "int* data(void) { return &x; }"));
  CHECK(permissions_at(function<int* const*()>(with_address, "place")()) == "r--p");
  CHECK(permissions_at(function<int*()>(with_address, "data")()) == "rw-p");
}

TEST_CASE("a function that is not there, and data asked for as a function, are refused by name") {
  const ElfImage image = loaded(compile_kernel(kEverything));
  CHECK(image.function("absent").status().code() == ErrorCode::not_found);
  CHECK(image.function("absent").status().message() == "the code has no function 'absent'");
  CHECK(image.function("counter").status().message() == "'counter' is not a function");
}

TEST_CASE("every name of symbols.def that this architecture has can be imported") {
  std::string source = "int f(void) { return 7; }\n";
#define FERRY_SYMBOL(name, arch)                                   \
  if (std::string(#arch) == "any" || #arch == test::native_arch()) \
    source += "void " #name "(void); void* p_" #name " = (void*)&" #name ";\n";
#include "module/symbols.def"
#undef FERRY_SYMBOL
  const ElfImage image = loaded(compile_kernel(source));
  CHECK(function<int()>(image, "f")() == 7);
}

TEST_CASE("an import that kernels may not use is refused by its name") {
  CHECK(refusal(compile_kernel("int system(const char*); int f(void) { return system(\"true\"); }")) ==
        "code image refused: it imports 'system', which kernels may not");
}

TEST_CASE("a weak import that is not there is null") {
  const ElfImage image =
      loaded(compile_kernel("int absent(void) __attribute__((weak)); int f(void) { return absent ? 1 : 0; }"));
  CHECK(function<int()>(image, "f")() == 0);
}

TEST_CASE("thread-local variables are refused") {
  CHECK(refusal(compile_kernel("static __thread int x; int f(void) { return ++x; }",
                               {.flags = "-O1 -ftls-model=initial-exec"}))
            .find("thread-local") != std::string::npos);
}

TEST_CASE("constructors and destructors are refused") {
  CHECK(refusal(compile_kernel("volatile int x; __attribute__((constructor)) void f(void) { x = 1; }")) ==
        "code image refused: it has constructors (DT_INIT_ARRAY)");
  CHECK(refusal(compile_kernel("volatile int x; __attribute__((destructor)) void f(void) { x = 1; }")) ==
        "code image refused: it has destructors (DT_FINI_ARRAY)");
}

TEST_CASE("indirect functions are refused") {
  CHECK(refusal(compile_kernel("static int one(void) { return 1; } static int (*choose(void))(void) { return one; }"
                               "int g(void) __attribute__((ifunc(\"choose\"))); int f(void) { return g(); }",
                               {.flags = "-O0"}))
            .find("indirect function") != std::string::npos);
}

#if defined(__x86_64__)
TEST_CASE("text relocations are refused") {
  const auto file = compile_kernel("extern int x; int x; int* f(void) { return &x; }", {.position_independent = false});
  CHECK(refusal(file).find("text relocations") != std::string::npos);
}
#endif

TEST_CASE("code for another architecture is refused with both names") {
  for (const std::string arch : {"x86_64", "armv7", "aarch64", "riscv64"}) {
    if (arch == test::native_arch()) continue;
    CHECK(refusal(compile_kernel("int f(void) { return 1; }", {.arch = arch})) ==
          "code image refused: expected " + test::native_arch() + " code, got " + arch);
  }
}

TEST_CASE("what is no shared object is refused") {
  CHECK(refusal({}) == "malformed code image: expected an ELF file");
  const std::string text = "int f(void) { return 1; }";
  CHECK(refusal({text.begin(), text.end()}) == "malformed code image: expected an ELF file");
  auto file = compile_kernel(text);
  file[16] = 1;  // e_type becomes that of an object file
  CHECK(refusal(file).find("expected a shared object") != std::string::npos);
}

}  // namespace
}  // namespace ferry::device
