// Keeps how many instructions kernels execute on boards in instructions.txt, a line each. An emulator's
// counts are exact, so a change that makes the code of a board slower shows here without one. FERRY_UPDATE_GOLDEN=1
// rewrites the file.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "crosscompile/target/resolve.h"
#include "ferry/compile.h"
#include "host/measure/instructions.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using namespace ferry::test;

namespace {

const std::string kFile = FERRY_SOURCE_DIR "/tests/golden/boards/instructions.txt";
const char* const kHeading =
    "# Instructions that one call executes on one thread, packing, borders and the way to the kernel included.\n"
    "# golden_boards_test compares; FERRY_UPDATE_GOLDEN=1 rewrites (docs/testing.md).\n";
constexpr double kMostIncrease = 0.03;  // more than a new version of LLVM or a changed check costs

struct Kernel {
  std::string name, text;
  DType dtype;
  std::vector<std::vector<std::int64_t>> shapes;  // the inputs', and at the end the output's
};

// Sizes that leave something over of tiles.
const std::vector<Kernel> kKernels = {
    {"product",
     "def f(float(100,64) A, float(64,75) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
     DType::f32,
     {{100, 64}, {64, 75}, {100, 75}}},
    {"product_int8",
     "def f(int8(100,64) A, int8(64,75) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }",
     DType::i8,
     {{100, 64}, {64, 75}, {100, 75}}},
    {"depthwise",
     "def f(float(12,45,45) I, float(12,3,3) K) -> (Y) {\n"
     "  P(c,h,w) = h >= 1 && h <= 45 && w >= 1 && w <= 45 ? I(c,h-1,w-1) : 0 where h in 0:47, w in 0:47\n"
     "  Y(c,h,w) +=! P(c,h+i,w+j) * K(c,i,j)\n}",
     DType::f32,
     {{12, 45, 45}, {12, 3, 3}, {12, 45, 45}}},
};

struct Board {
  std::string target, arch;
  std::vector<std::string> emulator;
};

const std::vector<Board> kBoards = {
    {"raspberry-pi-5", "aarch64", {"qemu-aarch64", "-cpu", "cortex-a76"}},
    {"raspberry-pi-4", "aarch64", {"qemu-aarch64", "-cpu", "cortex-a72"}},
    {"raspberry-pi-2", "armv7", {"qemu-arm", "-cpu", "cortex-a7"}},
    {"riscv64-v", "riscv64", {"qemu-riscv64", "-cpu", "rv64,v=true"}},
};

DeviceTensor zeros(const Device& device, DType dtype, const std::vector<std::int64_t>& shape) {
  std::size_t bytes = dtype_bytes(dtype);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  const std::vector<std::uint8_t> contents(bytes);
  return device.put({dtype, shape, contents.data()});
}

double count(const Device& device, const Board& board, const Kernel& kernel) {
  const Function function = device.load(compile(kernel.text, resolve_target(board.target)))["f"];
  std::vector<DeviceTensor> inputs;
  for (std::size_t i = 0; i + 1 < kernel.shapes.size(); ++i)
    inputs.push_back(zeros(device, kernel.dtype, kernel.shapes[i]));
  const std::vector<Argument> arguments(inputs.begin(), inputs.end());
  const bench::InstructionCount found = bench::count_instructions(device, function, arguments, {.number = 1});
  REQUIRE_MESSAGE(found.per_call.has_value(), kernel.name, " for ", board.target, ": ", found.reason);
  return *found.per_call;
}

std::map<std::string, double> kept_counts() {
  std::ifstream file(kFile);
  REQUIRE_MESSAGE(file.is_open(), kFile);
  std::map<std::string, double> kept;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("#") && colon != std::string::npos)
      kept[line.substr(0, colon)] = std::stod(line.substr(colon + 2));
  }
  return kept;
}

}  // namespace

TEST_CASE("kernels on boards execute at most 3% more instructions than were kept") {
  std::vector<std::pair<std::string, double>> counts;
  for (const Board& board : kBoards) {
    std::vector<std::string> emulator = board.emulator;
    emulator.insert(emulator.end(), {"-plugin", FERRY_BINARY_DIR "/lib/libferry_instructions.so"});
    const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + board.arch + "/static/rpc_server",
                                 emulator, {"--threads", "1", "--quiet"});
    const Device device = connect(server.address());
    for (const Kernel& kernel : kKernels)
      counts.emplace_back(kernel.name + " for " + board.target, count(device, board, kernel));
  }
  if (getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream file(kFile);
    file << kHeading;
    for (const auto& [name, instructions] : counts)
      file << name << ": " << static_cast<std::int64_t>(instructions) << "\n";
    return;
  }
  std::map<std::string, double> kept = kept_counts();
  CHECK(kept.size() == counts.size());
  for (const auto& [name, instructions] : counts) {
    REQUIRE_MESSAGE(kept.contains(name), kFile, " has no ", name, ": FERRY_UPDATE_GOLDEN=1 adds it");
    const double increase = instructions / kept[name] - 1;
    if (increase < -kMostIncrease)
      MESSAGE(name << ": " << -100 * increase << "% fewer instructions; FERRY_UPDATE_GOLDEN=1 keeps that");
    CHECK_MESSAGE(increase <= kMostIncrease, name, ": expected about ", kept[name], " instructions, got ", instructions,
                  ", ", 100 * increase,
                  "% more. 'ferry compile --target' with this board and --emit asm shows the code, "
                  "'bench/boards/static.py --show 3' the hottest blocks of larger kernels. If the change is meant, "
                  "FERRY_UPDATE_GOLDEN=1 build/release/tests/golden/boards/golden_boards_test keeps the new counts.");
  }
}
