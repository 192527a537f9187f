// What LLVM knows about CPUs: triples, names, and which features a name stands for. No LLVM type shows here; target/
// builds targets from these answers. All functions may be called from several threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::codegen {

// A triple as ferry compiles for it.
struct TripleFacts {
  std::string arch;    // "x86_64", "armv7", "aarch64", "riscv64"; LLVM's name for any other
  std::string triple;  // four parts, the same for every spelling of the same thing
  unsigned pointer_bits = 64;
  bool objects_only = false;  // no rpc_server runs there: another system than Linux, another architecture or ABI
};

// The four architectures on Linux, or any other CPU that LLVM generates code for. Throws CompileError, which says what
// was expected, for what is neither.
TripleFacts parse_triple(std::string_view text);
// Whether it names an architecture that LLVM knows, and Linux where the architecture is misspelt.
bool is_triple(std::string_view text);
// Of one of those four names.
TripleFacts triple_of_arch(std::string_view arch);

// Names LLVM knows for this triple, sorted.
std::vector<std::string> known_cpus(const std::string& triple);
std::vector<std::string> known_features(const std::string& triple);

// Everything that is on for this CPU after `attributes` ("+neon", "-crc", in order), sorted, without tuning hints. CPU
// and attributes must be known.
std::vector<std::string> features_of(const std::string& triple, const std::string& cpu,
                                     const std::vector<std::string>& attributes);

// What compilers take for granted beyond LLVM's description of a CPU: the floating point unit usually built with an ARM
// core.
std::vector<std::string> default_attributes(const std::string& triple, const std::string& cpu);

// The CPU that the lines of /proc/cpuinfo name, where LLVM knows it and can compile for it.
std::optional<std::string> cpu_of_cpuinfo(const std::string& triple, std::string_view cpuinfo);

// This machine.
std::string host_arch();
std::vector<std::string> host_features();

}  // namespace ferry::codegen
