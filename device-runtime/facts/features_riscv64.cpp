// Single-letter extensions come from the auxiliary vector; the others from the kernel's hwprobe call (Linux 6.4 and
// later, Documentation/arch/riscv/hwprobe.rst) or, with older kernels, from the isa line of /proc/cpuinfo.
#if defined(__riscv) && __riscv_xlen == 64

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "device-runtime/facts/features.h"
#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

struct Extension {
  const char* name;
  int probe_bit;  // in the key IMA_EXT_0
};

constexpr Extension kExtensions[] = {{"zba", 3}, {"zbb", 4}, {"zbs", 5}, {"zfh", 27}, {"zvfh", 30}};

std::optional<std::uint64_t> probe_extensions() {
  constexpr long kHwprobe = 258;
  struct {
    std::int64_t key;
    std::uint64_t value;
  } pair{4, 0};
  if (syscall(kHwprobe, &pair, 1, 0, nullptr, 0) != 0 || pair.key != 4) return std::nullopt;
  return pair.value;
}

// Returns whether the isa string, such as "rv64imafdcv_zba_zbb", contains the word between underscores.
bool isa_names(const std::string& isa, const std::string& word) {
  return (isa + "_").find("_" + word + "_") != std::string::npos;
}

}  // namespace

const char* native_arch() { return "riscv64"; }

std::vector<std::string> detect_features(std::uint64_t hwcap, std::uint64_t) {
  std::vector<std::string> names;
  for (const char letter : {'m', 'a', 'f', 'd', 'c', 'v'}) {
    if ((hwcap >> (letter - 'a') & 1) != 0) names.emplace_back(1, letter);
  }
  const auto probed = probe_extensions();
  const std::string isa = probed ? std::string() : cpuinfo_value("isa");
  for (const Extension& extension : kExtensions) {
    if (probed ? (*probed >> extension.probe_bit & 1) != 0 : isa_names(isa, extension.name)) {
      names.emplace_back(extension.name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ferry::device

#endif
