#include "tests/unit/device-runtime/support/compile_kernel.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/paths.h"

namespace ferry::test {
namespace {

std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string triple_of(const std::string& arch) {
  if (arch == "armv7") return "armv7-unknown-linux-gnueabihf";
  return arch + "-unknown-linux-gnu";
}

std::string gnu_compiler_of(const std::string& arch) {
  if (arch == "armv7") return "arm-linux-gnueabihf-gcc";
  return arch + "-linux-gnu-gcc";
}

}  // namespace

std::string native_arch() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__arm__)
  return "armv7";
#else
  return "riscv64";
#endif
}

std::vector<std::uint8_t> compile_kernel(const std::string& source, const KernelOptions& options) {
  const std::string arch = options.arch.empty() ? native_arch() : options.arch;
  char pattern[] = "/tmp/ferry-kernel-XXXXXX";
  REQUIRE(mkdtemp(pattern) != nullptr);
  const std::filesystem::path folder(pattern);
  std::ofstream(folder / "kernel.c") << source;
  const std::string in = (folder / "kernel.c").string(), object = (folder / "kernel.o").string(),
                    out = (folder / "kernel.so").string(), log = (folder / "log").string();
  const std::string pic = options.position_independent ? " -fPIC " : " -fno-pic -mcmodel=large ";
  const std::string common = options.flags + pic + "-ffreestanding -fno-builtin -I" FERRY_SOURCE_DIR "/include ";
  std::string command;
  if (options.linker == Linker::lld) {
    command = "clang-19 --target=" + triple_of(arch) + " " + common + "-c " + in + " -o " + object +
              " && ld.lld-19 -shared --hash-style=both " + (options.position_independent ? "" : "-z notext ") + object +
              " -o " + out;
  } else {
    command = gnu_compiler_of(arch) + " " + common + "-shared -nostdlib -Wl,--hash-style=both " + in + " -o " + out;
  }
  const int status = std::system(("(" + command + ") >" + log + " 2>&1").c_str());
  INFO(command << "\n" << slurp(log));
  REQUIRE(status == 0);
  const std::string bytes = slurp(out);
  std::filesystem::remove_all(folder);
  return {bytes.begin(), bytes.end()};
}

}  // namespace ferry::test
