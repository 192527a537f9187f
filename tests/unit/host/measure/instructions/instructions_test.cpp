// Counts the instructions of calls on emulated boards, and compares them with kernels in assembly whose instructions
// can be counted by hand.
#include "host/measure/instructions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "ferry/compile.h"
#include "ferry/error.h"
#include "host/kernel/compile_kernel.h"
#include "host/measure/measure.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/listening_server.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

namespace ferry::test {
namespace {

using bench::count_instructions;
using bench::InstructionCount;

const std::vector<std::string> kArchs = {"armv7", "aarch64", "riscv64"};

const std::string kPlugin = FERRY_BINARY_DIR "/lib/libferry_instructions.so";

ListeningServer server_of(const std::string& arch, const std::string& plugin = kPlugin) {
  std::vector<std::string> emulator = emulator_of(arch);
  if (!plugin.empty()) emulator.insert(emulator.end(), {"-plugin", plugin});
  return ListeningServer(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server", emulator,
                         {"--threads", "2", "--sessions", "4", "--quiet"});
}

struct Assembly {
  const char* arch;
  const char* count_down;  // the first parameter, and back to label 1 while it is not 0
  const char* crash;
};

constexpr Assembly kAssembly[] = {
    {"armv7", "subs r0, r0, #1\nbne 1b\n", "mov r3, #0\nstr r3, [r3]\n"},
    {"aarch64", "subs x0, x0, #1\nb.ne 1b\n", "mov x9, #0\nstr x9, [x9]\n"},
    {"riscv64", "addi a0, a0, -1\nbnez a0, 1b\n", "sd zero, 0(zero)\n"},
};

const Assembly& assembly_of(const std::string& arch) {
  const auto* const found = std::ranges::find(kAssembly, arch, &Assembly::arch);
  REQUIRE(found != std::end(kAssembly));
  return *found;
}

// n iterations of 2 instructions and `nops` more, where n is the function's first parameter.
std::string loop_on(const std::string& arch, int nops) {
  std::string text = "1:\n";
  for (int i = 0; i < nops; ++i) text += "nop\n";
  return text + assembly_of(arch).count_down;
}

// Loads a kernel `f` that consists of these lines of assembly and a return.
Function load(const Device& device, const std::string& body, const std::string& parameters = "i64 n, out f32[1] y") {
  const Folder folder;
  KernelOptions options;
  options.file = folder.file("f.s", ".text\n.globl f\n.type f, %function\nf:\n" + body +
                                        architecture_named(device.facts().arch).return_instruction + "\n");
  options.signature = "f(" + parameters + ")";
  const KernelSource source = read_kernel(own_compiler(), options);
  const CompiledKernel compiled = compile_kernel(source, "f", target_of(device), {});
  return device.load(compiled.module)["f"];
}

// Returns the instructions of one call; fails the test if there is no count.
double count(const Device& device, const Function& function, std::int64_t n, std::uint32_t number = 0) {
  const InstructionCount found = count_instructions(device, function, {n}, {.number = number});
  REQUIRE_MESSAGE(found.per_call.has_value(), found.reason);
  CHECK(found.is_exact);
  CHECK(found.reason.empty());
  return *found.per_call;
}

TEST_CASE("a loop has the instructions that can be counted by hand, for any number of calls") {
  for (const std::string& arch : kArchs) {
    CAPTURE(arch);
    const ListeningServer server = server_of(arch);
    const Device device = connect(server.address());
    CHECK(device.facts().counts_instructions);
    // What surrounds the kernel is the same for kernels with the same parameters.
    const double nothing = count(device, load(device, ""), 1);
    const Function two = load(device, loop_on(arch, 0)), five = load(device, loop_on(arch, 3));
    for (const std::int64_t n : {1, 2, 7, 1001, 65537}) {
      CAPTURE(n);
      CHECK(count(device, two, n) - nothing == 2.0 * static_cast<double>(n));
      CHECK(count(device, five, n) - nothing == 5.0 * static_cast<double>(n));
    }
    for (const std::uint32_t number : {1U, 2U, 3U, 7U, 64U, 1001U}) {
      CAPTURE(number);
      CHECK(count(device, five, 13, number) - nothing == 65);
    }
  }
}

TEST_CASE("compiled kernels are counted the same in each session, also beside others") {
  const std::string text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  for (const std::string& arch : kArchs) {
    CAPTURE(arch);
    const ListeningServer server = server_of(arch);
    const auto count_here = [&] {
      const Device device = connect(server.address());
      const Function mm = device.load(compile(text, target_of(device)))["mm"];
      const std::vector<float> a(37 * 29, 0.5F), b(29 * 41, 0.25F);
      const InstructionCount found = count_instructions(device, mm, {view(a, {37, 29}), view(b, {29, 41})});
      REQUIRE_MESSAGE(found.per_call.has_value(), found.reason);
      return *found.per_call;
    };
    const double alone = count_here();
    std::atomic<bool> is_done = false;
    std::atomic<int> others = 0;
    std::thread other([&] {
      const Device device = connect(server.address());
      const Function loop = load(device, loop_on(arch, 1));
      while (!is_done) {
        loop.measure({std::int64_t{100'000}}, {.number = 1, .repeat = 1, .min_repeat_ms = 0, .warmup_ms = 0});
        ++others;
      }
    });
    while (others == 0) std::this_thread::yield();
    const double beside = count_here(), again = count_here();
    is_done = true;
    other.join();
    CHECK(beside == alone);
    CHECK(again == alone);
  }
}

TEST_CASE("a measurement has the same count however many calls its samples have") {
  const std::string text = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";
  for (const std::string& arch : kArchs) {
    CAPTURE(arch);
    const ListeningServer server = server_of(arch);
    const Device device = connect(server.address());
    const Module module = device.load(compile(text, target_of(device)));
    const std::vector<float> a(1000, 0.5F);
    const std::vector<Argument> arguments = {view(a, {1000})};
    const InstructionCount count = count_instructions(device, module["twice"], arguments);
    REQUIRE(count.per_call.has_value());
    for (const std::uint32_t number : {1U, 7U, 150U}) {
      CAPTURE(number);
      bench::MeasureOptions options;
      options.peak = false;
      options.sampling.bench = {.number = number, .repeat = 3, .min_repeat_ms = 0, .warmup_ms = 0};
      CHECK(bench::measure(nullptr, device, module, "twice", arguments, options, {}).timing.instructions ==
            *count.per_call);
    }
  }
}

TEST_CASE("the instructions of all threads of a parallel loop are counted") {
  const std::string text = "def sums(float(M,K) A) -> (S) { S(m) +=! A(m,k) }";
  for (const std::string& arch : kArchs) {
    CAPTURE(arch);
    const ListeningServer server = server_of(arch);
    const Device device = connect(server.address());
    const ScheduleText schedule{"S: parallel m\n"};
    const Function sums = device.load(compile(text, target_of(device), schedule))["sums"];
    const std::vector<float> a(64 * 1031, 1.0F);
    const DeviceTensor on_device = device.put(view(a, {64, 1031}));
    const InstructionCount one = count_instructions(device, sums, {on_device});
    REQUIRE_MESSAGE(one.per_call.has_value(), one.reason);
    const Timing both = sums.measure({on_device}, {.number = 3, .repeat = 2, .min_repeat_ms = 0, .threads = 2});
    REQUIRE(both.threads == 2);
    // Half of the work is done by the other thread; what threads execute while they wait comes on top.
    CHECK(both.instructions >= 0.9 * *one.per_call);
    CHECK(std::isnan(both.cycles));
    CHECK(std::isnan(both.cache_misses));
    CHECK(both.counters_errno == 0);
  }
}

TEST_CASE("the plugin writes how often each block was entered since the request before") {
  constexpr std::int64_t kIterations = 1001;
  for (const std::string& arch : kArchs) {
    CAPTURE(arch);
    const Folder folder;
    const std::string blocks = folder.file("blocks", "");
    const ListeningServer server = server_of(arch, kPlugin + ",blocks=" + blocks);
    const Device device = connect(server.address());
    count(device, load(device, loop_on(arch, 3)), kIterations, 1);
    // The last sample has two calls, and a line the count, the address and the instructions.
    std::ifstream file(blocks);
    int found = 0;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::int64_t entered = 0;
      std::string address, encoding;
      words >> entered >> address;
      int instructions = 0;
      while (words >> encoding) ++instructions;
      found += entered == 2 * kIterations && instructions == 5 ? 1 : 0;
    }
    CHECK(found == 1);
  }
}

TEST_CASE("a kernel that executes more with every call has no count") {
  const ListeningServer server = server_of("aarch64");
  const Device device = connect(server.address());
  const Function more = load(device,
                             "ldr w1, [x0]\nadd w1, w1, #1\nstr w1, [x0]\n"
                             "1:\nsubs w1, w1, #1\nb.ne 1b\n",
                             "inout i32[1] y");
  const DeviceTensor y = device.put(view(std::vector<std::int32_t>{0}, {1}));
  const InstructionCount found = count_instructions(device, more, {y});
  CHECK(!found.per_call);
  CHECK_MESSAGE(found.reason.find("f: expected two counts of the instructions of a call to be equal, got ") == 0,
                found.reason);
}

TEST_CASE("a kernel that crashes ends its own session alone") {
  for (const std::string& arch : kArchs) {
    CAPTURE(arch);
    const ListeningServer server = server_of(arch);
    const std::string null_store = assembly_of(arch).crash;
    const Device other = connect(server.address());
    const double before = count(other, load(other, loop_on(arch, 1)), 77);
    {
      const Device device = connect(server.address());
      CHECK_THROWS_AS(count_instructions(device, load(device, null_store), {std::int64_t{1}}), Error);
    }
    CHECK(count(other, load(other, loop_on(arch, 1)), 77) == before);
    const Device next = connect(server.address());
    CHECK(count(next, load(next, loop_on(arch, 1)), 77) == before);
  }
}

// The request of device-runtime/emulator/count_request.h, as a kernel could make it: 6 instructions.
const std::string kRequest = "mov w0, #0x66650000\nmov w2, w0\nmov w4, w0\nmov x3, #-1\nmov w8, #241\nsvc #0\n";

TEST_CASE("a kernel that asks for the count itself, with descriptors that are none, is counted like any other") {
  const ListeningServer server = server_of("aarch64");
  const Device device = connect(server.address());
  const double nothing = count(device, load(device, ""), 1);
  for (const std::string descriptor : {"mov x1, #-1\n", "mov x1, #0x7fffffff\n", "mov x1, #12345\n"}) {
    CAPTURE(descriptor);
    CHECK(count(device, load(device, descriptor + kRequest), 1) - nothing == 7);
  }
}

TEST_CASE("a kernel that sends counts into every descriptor harms its own session at most") {
  const ListeningServer server = server_of("aarch64");
  const Device other = connect(server.address());
  const double before = count(other, load(other, loop_on("aarch64", 1)), 77);
  try {
    const Device device = connect(server.address());
    const Function forger = load(device, "mov x1, #3\n1:\n" + kRequest + "add x1, x1, #1\ncmp x1, #64\nb.ne 1b\n");
    count_instructions(device, forger, {std::int64_t{1}});
  } catch (const Error&) {
    // The session's socket is one of the descriptors, so the client reads a damaged answer.
  }
  CHECK(count(other, load(other, loop_on("aarch64", 1)), 77) == before);
  const Device next = connect(server.address());
  CHECK(count(next, load(next, loop_on("aarch64", 1)), 77) == before);
}

TEST_CASE("without the plugin an emulated board counts nothing, and the reason says what to do") {
  for (const std::string& arch : kArchs) {
    CAPTURE(arch);
    const ListeningServer server = server_of(arch, "");
    const Device device = connect(server.address());
    CHECK(!device.facts().counts_instructions);
    const InstructionCount found = count_instructions(device, load(device, loop_on(arch, 0)), {std::int64_t{5}});
    CHECK(!found.per_call);
    CHECK(found.reason ==
          "the device does not count instructions: its emulator runs without the plugin libferry_instructions.so");
  }
}

TEST_CASE("the plugin refuses arguments and programs that it does not know") {
  const auto output_of = [](const std::string& command) {
    std::string text;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
    REQUIRE(pipe != nullptr);
    for (int c = 0; (c = fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
    return text;
  };
  const std::string program = std::string(FERRY_SOURCE_DIR) + "/build/device/aarch64/static/rpc_server --version";
  CHECK(output_of("qemu-aarch64 -plugin " + kPlugin + " " + program).find("rpc_server") == 0);
  CHECK(output_of("qemu-aarch64 -plugin " + kPlugin + ",limit=5 " + program)
            .find("libferry_instructions: expected blocks=FILE or no argument, got 'limit=5'\n") != std::string::npos);
  CHECK(output_of("qemu-mips -plugin " + kPlugin + " " + program)
            .find("libferry_instructions: expected qemu-aarch64, qemu-arm, qemu-riscv64 or qemu-x86_64, got "
                  "qemu-mips\n") != std::string::npos);
}

}  // namespace
}  // namespace ferry::test
