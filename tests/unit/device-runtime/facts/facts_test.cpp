#include "device-runtime/facts/facts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "device-runtime/facts/features.h"
#include "device-runtime/facts/identification.h"
#include "device-runtime/facts/proc_files.h"

namespace ferry::device {
namespace {

std::set<std::string> known_features() {
  std::set<std::string> names;
#define FERRY_FEATURE(arch, name) \
  if (std::string(#arch) == native_arch()) names.insert(name);
#include "module/features.def"
#undef FERRY_FEATURE
  return names;
}

TEST_CASE("this machine is described completely") {
  const DeviceFacts facts = gather_facts({.server_version = "0.1.0", .flavour = "static"});
  CHECK(facts.server_version == "0.1.0");
  CHECK(facts.flavour == "static");
  CHECK(facts.arch == native_arch());
  CHECK(facts.operating_system.rfind("Linux ", 0) == 0);
  CHECK_FALSE(facts.cpu_name.empty());
  CHECK(facts.logical_cores >= 1);
  CHECK(facts.threads >= 1);
  CHECK(facts.memory_bytes > (std::uint64_t{64} << 20));
  CHECK(facts.memory_limit_bytes > 0);
  CHECK(facts.memory_limit_bytes <= facts.memory_bytes);
  CHECK(facts.page_bytes >= 4096);
  REQUIRE(facts.devices.size() == 1);
  CHECK(facts.devices[0].kind == "cpu");
}

TEST_CASE("options win over what would be found") {
  const DeviceFacts facts =
      gather_facts({.server_version = "", .flavour = "", .threads = 3, .memory_limit_bytes = 12345});
  CHECK(facts.threads == 3);
  CHECK(facts.memory_limit_bytes == 12345);
}

TEST_CASE("features are sorted and all of them known to manifests") {
  const DeviceFacts facts = gather_facts({});
  CHECK(std::is_sorted(facts.features.begin(), facts.features.end()));
  const auto known = known_features();
  for (const std::string& name : facts.features) {
    CAPTURE(name);
    CHECK(known.count(name) == 1);
  }
}

#if defined(__x86_64__)
TEST_CASE("every x86 feature that manifests know is reported just when Linux lists it") {
  const std::string flags = " " + cpuinfo_value("flags") + " ";
  const DeviceFacts facts = gather_facts({});
  for (const std::string& name : known_features()) {
    std::string linux_name = name;
    if (name == "sse3") linux_name = "pni";
    if (name == "lzcnt") linux_name = "abm";
    if (name == "bmi") linux_name = "bmi1";
    if (name == "avxvnni") linux_name = "avx_vnni";
    if (name.rfind("avx512v", 0) == 0 && name != "avx512vl" && name != "avx512vbmi")
      linux_name = "avx512_" + name.substr(6);
    if (name == "avx512bitalg" || name == "avx512bf16" || name == "avx512fp16") linux_name = "avx512_" + name.substr(6);
    if (name == "avx512vbmi") linux_name = "avx512vbmi";
    std::replace(linux_name.begin(), linux_name.end(), '-', '_');
    std::replace(linux_name.begin(), linux_name.end(), '.', '_');
    CAPTURE(name);
    CAPTURE(linux_name);
    const bool listed = flags.find(" " + linux_name + " ") != std::string::npos;
    const bool reported = std::binary_search(facts.features.begin(), facts.features.end(), name);
    // The system may disable the tile registers although the processor has them.
    if (name.rfind("amx", 0) == 0) {
      CHECK((listed || !reported));
    } else {
      CHECK(reported == listed);
    }
  }
}

TEST_CASE("the lines that name an x86 processor are kept once each") {
  const DeviceFacts facts = gather_facts({});
  const std::size_t first = facts.cpu_identification.find("vendor_id");
  REQUIRE(first != std::string::npos);
  CHECK(facts.cpu_identification.find("vendor_id", first + 1) == std::string::npos);
  CHECK(facts.cpu_identification.find("model name") != std::string::npos);
}
#endif

TEST_CASE("the lines of /proc/cpuinfo that identify a core are kept, those of several kinds of cores once each") {
  const std::string little =
                        "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd03\n"
                        "CPU revision\t: 4\n",
                    big = "CPU variant\t: 0x1\nCPU part\t: 0xd08\nCPU revision\t: 2\n";
  const auto core = [](int number, const std::string& rest) {
    return "processor\t: " + std::to_string(number) + "\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd crc32 cpuid\n" + rest +
           "\n";
  };
  const std::string text = core(0, little) + core(1, little) +
                           core(2, "CPU implementer\t: 0x41\nCPU architecture: 8\n" + big) + "Serial\t: 1\n";
  CHECK(identifying_lines(text, kIdentifyingArm) == little + big);
  CHECK(identifying_lines("processor\t: 0\nisa\t: rv64imafdc\nuarch\t: sifive,u74-mc\n", kIdentifyingRiscv) ==
        "isa\t: rv64imafdc\nuarch\t: sifive,u74-mc\n");
  CHECK(identifying_lines("vendor_id\t: GenuineIntel\nmodel\t: 85\nflags\t: fpu\n", kIdentifyingX86) ==
        "vendor_id\t: GenuineIntel\nmodel\t: 85\n");
  CHECK(identifying_lines("vendor_id\t: GenuineIntel\n", kIdentifyingArm).empty());
}

TEST_CASE("the register of a 64-bit ARM core gives the lines that Linux writes for it") {
  CHECK(lines_of_midr(0x410fd083) == "CPU implementer\t: 0x41\nCPU part\t: 0xd08\n");  // Cortex-A72 r0p3
  CHECK(lines_of_midr(0x414fd0b1) == "CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n");  // Cortex-A76 r4p1
  CHECK(lines_of_midr(0x000f0510) == "CPU implementer\t: 0x00\nCPU part\t: 0x051\n");  // qemu's "max"
}

TEST_CASE("sizes are read with the units that the kernel uses") {
  CHECK(parse_size("64") == 64);
  CHECK(parse_size("48K\n") == 48 << 10);
  CHECK(parse_size("  2M") == 2 << 20);
  CHECK(parse_size("8192 kB") == 8192 << 10);
  CHECK_FALSE(parse_size("max"));
  CHECK_FALSE(parse_size(""));
  CHECK_FALSE(parse_size("12 apples"));
  CHECK_FALSE(parse_size("99999999999999999999999"));
  CHECK_FALSE(parse_size("18446744073709551615K"));
}

TEST_CASE("fields are split at the first colon and stripped") {
  std::string seen;
  for_each_field("cpu family\t: 6\nno colon here\nmodel name\t: A: B\n: nameless\n",
                 [&](std::string_view key, std::string_view line) {
                   seen += std::string(key) + "=" + std::string(field_value(line)) + ";";
                 });
  CHECK(seen == "cpu family=6;model name=A: B;");
}

TEST_CASE("a file that is not there reads as empty") { CHECK(read_small_file("/proc/there/is/no/such").empty()); }

}  // namespace
}  // namespace ferry::device
