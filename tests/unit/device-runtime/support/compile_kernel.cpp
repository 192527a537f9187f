#include "tests/unit/device-runtime/support/compile_kernel.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/kept/kept_file.h"

namespace ferry::test {

std::vector<std::uint8_t> compile_kernel(const std::string& source, const KernelOptions& options) {
  const std::string arch = options.arch.empty() ? native_arch() : options.arch;
  const bool uses_lld = options.linker == Linker::lld;
  const TestArchitecture& architecture = architecture_named(arch);
  const std::string compiler = uses_lld ? "clang-19" : std::string(architecture.gnu_triple) + "-gcc";
  const std::string pic = options.position_independent ? " -fPIC " : " -fno-pic -mcmodel=large ";
  const std::string common = options.flags + pic + "-ffreestanding -fno-builtin -I" FERRY_SOURCE_DIR "/include ";
  const auto command = [&](const std::string& in, const std::string& object, const std::string& out) {
    if (!uses_lld) return compiler + " " + common + "-shared -nostdlib -Wl,--hash-style=both " + in + " -o " + out;
    return compiler + " --target=" + architecture.triple + " " + common + "-c " + in + " -o " + object +
           " && ld.lld-19 -shared --hash-style=both " + (options.position_independent ? "" : "-z notext ") + object +
           " -o " + out;
  };
  // The only header of ours that sources include.
  const std::string header = file_contents(FERRY_SOURCE_DIR "/include/ferry/runtime_api.h");
  const std::string kept =
      kept_file({command("", "", ""), version_of(compiler), uses_lld ? version_of("ld.lld-19") : "", header, source},
                [&](const std::string& out) {
                  char pattern[] = "/tmp/ferry-kernel-XXXXXX";
                  REQUIRE(mkdtemp(pattern) != nullptr);
                  const std::filesystem::path folder(pattern);
                  std::ofstream(folder / "kernel.c") << source;
                  const std::string log = (folder / "log").string();
                  const std::string line = command((folder / "kernel.c").string(), (folder / "kernel.o").string(), out);
                  const int status = std::system(("(" + line + ") >" + log + " 2>&1").c_str());
                  INFO(line << "\n" << file_contents(log));
                  REQUIRE(status == 0);
                  std::filesystem::remove_all(folder);
                });
  const std::string bytes = file_contents(kept);
  return {bytes.begin(), bytes.end()};
}

}  // namespace ferry::test
