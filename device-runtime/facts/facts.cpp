#include "device-runtime/facts/facts.h"

#include <sched.h>
#include <sys/auxv.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "base/format.h"
#include "device-runtime/emulator/emulator_count.h"
#include "device-runtime/facts/features.h"
#include "device-runtime/facts/identification.h"
#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

// An emulator shows the host's /proc/cpuinfo, which has none of these lines.
#if defined(__x86_64__)
constexpr std::span kIdentifying(kIdentifyingX86);
#elif defined(__arm__) || defined(__aarch64__)
constexpr std::span kIdentifying(kIdentifyingArm);
#else
constexpr std::span kIdentifying(kIdentifyingRiscv);
#endif

std::string operating_system() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release;
}

// Returns the lines by which a kernel would identify the core that an emulator pretends to be.
std::string emulated_identification() {
#if defined(__aarch64__)
  constexpr unsigned long kCpuid = 1UL << 11;  // a bit of HWCAP: the register may be read
  if ((getauxval(AT_HWCAP) & kCpuid) == 0) return {};
  std::uint64_t midr = 0;
  asm("mrs %0, midr_el1" : "=r"(midr));
  return lines_of_midr(midr);
#else
  return {};
#endif
}

std::string processor_name(const std::string& identification_lines) {
#if defined(__x86_64__)
  std::string name = cpuinfo_value("model name");
#else
  if (identification_lines.empty()) return std::string("emulated ") + native_arch();
  std::string name = read_small_file("/proc/device-tree/model");
  if (const std::size_t end = name.find('\0'); end != std::string::npos) name.resize(end);
  if (name.empty()) name = cpuinfo_value("uarch");
#endif
  (void)identification_lines;
  return name.empty() ? std::string("unnamed ") + native_arch() : name;
}

std::vector<CacheFacts> caches() {
  std::vector<CacheFacts> found;
  for (int index = 0; index < 8; ++index) {
    const auto field = [index](const char* name) {
      std::string text = read_small_file(format("/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name).c_str());
      if (!text.empty() && text.back() == '\n') text.pop_back();
      return text;
    };
    const auto level = parse_size(field("level"));
    const auto bytes = parse_size(field("size"));
    if (!level || !bytes || *bytes == 0) continue;
    std::string kind = field("type");
    for (char& letter : kind) {
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    const auto line = parse_size(field("coherency_line_size")).value_or(0);
    found.push_back({static_cast<std::uint8_t>(*level), kind, *bytes, static_cast<std::uint32_t>(line)});
  }
  return found;
}

struct Memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;
};

Memory memory(const SessionFiles& files) {
  Memory result;
  const std::string text = read_small_file(files.meminfo.number());
  for_each_field(text, [&](std::string_view key, std::string_view line) {
    if (key == "MemTotal") result.total = parse_size(field_value(line)).value_or(0);
    if (key == "MemAvailable") result.available = parse_size(field_value(line)).value_or(0);
  });
  // Without /proc, sysinfo() provides the values, but not how much of the page cache could be reclaimed.
  if (struct sysinfo known{}; result.total == 0 && sysinfo(&known) == 0) {
    const std::uint64_t unit = known.mem_unit == 0 ? 1 : known.mem_unit;
    result.total = known.totalram * unit;
    result.available = (known.freeram + known.bufferram) * unit;
  }
  // A container may be limited to less memory than the machine has.
  if (const auto limit = parse_size(read_small_file(files.memory_limit.number())); limit && *limit < result.total) {
    const std::uint64_t used = parse_size(read_small_file(files.memory_used.number())).value_or(0);
    result.total = *limit;
    result.available = std::min(result.available, *limit - std::min(*limit, used));
  }
  return result;
}

std::uint64_t default_memory_limit(const Memory& memory) {
  std::uint64_t limit = memory.total / 4 * 3;
  if (memory.available != 0) limit = std::min(limit, memory.available);
  // The address space of one process, minus its code and stacks.
  if (sizeof(void*) == 4) limit = std::min<std::uint64_t>(limit, std::uint64_t{2} << 30);
  return limit;
}

std::uint32_t usable_processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<std::uint32_t>(CPU_COUNT(&allowed));
  return static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

DeviceFacts gather_facts(const FactsOptions& options) {
  const Memory ram = memory(SessionFiles::open());
  DeviceFacts facts;
  facts.server_version = options.server_version;
  facts.flavour = options.flavour;
  facts.arch = native_arch();
  facts.operating_system = operating_system();
  facts.cpu_identification = identifying_lines(read_small_file("/proc/cpuinfo"), kIdentifying);
  facts.cpu_name = processor_name(facts.cpu_identification);
  if (facts.cpu_identification.empty()) facts.cpu_identification = emulated_identification();
  facts.hwcap = getauxval(AT_HWCAP);
  facts.hwcap2 = getauxval(AT_HWCAP2);
  facts.features = detect_features(facts.hwcap, facts.hwcap2);
  facts.logical_cores = static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  facts.threads = options.threads != 0 ? options.threads : usable_processors();
  facts.memory_bytes = ram.total;
  facts.memory_available_bytes = ram.available;
  facts.memory_limit_bytes = options.memory_limit_bytes != 0 ? options.memory_limit_bytes : default_memory_limit(ram);
  facts.page_bytes = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
  facts.caches = caches();
  facts.counts_instructions = EmulatorCount().open();
  facts.devices.push_back({"cpu", facts.cpu_name, facts.memory_limit_bytes});
  return facts;
}

void refresh_facts(DeviceFacts& facts, const SessionFiles& files) {
  facts.memory_available_bytes = memory(files).available;
}

}  // namespace ferry::device
