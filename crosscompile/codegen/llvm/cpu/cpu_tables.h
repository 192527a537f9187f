// LLVM's knowledge of CPUs: triples, names, and the features that a name implies. No LLVM type appears here; target/
// builds targets from this. All functions may be called from several threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::codegen {

// A triple in ferry's normal form.
struct TripleFacts {
  std::string arch;    // as module/device_archs.def names it; LLVM's name for any other
  std::string triple;  // four parts, the same for all equivalent spellings
  unsigned pointer_bits = 64;
  bool objects_only = false;  // no rpc_server runs there: not Linux, or another architecture or ABI
};

// "x86_64, armv7, aarch64 or riscv64": those that an rpc_server runs on, for messages. armv7 is one with hard floats
// alone, which may be said behind its name.
std::string device_arch_list(std::string_view behind_hard_float = {});

// Accepts these architectures on Linux, and any other CPU that LLVM generates code for. Throws CompileError, which
// says what was expected, for anything else.
TripleFacts parse_triple(std::string_view text);
// Returns whether the text names an architecture that LLVM knows, or Linux with a misspelt architecture.
bool is_triple(std::string_view text);
// Returns the triple of one of these architectures.
TripleFacts triple_of_arch(std::string_view arch);

// Return the names that LLVM knows for this triple, sorted.
std::vector<std::string> known_cpus(const std::string& triple);
std::vector<std::string> known_features(const std::string& triple);

// Returns all features that are on for this CPU after `attributes` ("+neon", "-crc", in order), sorted, without tuning
// hints. CPU and attributes must be known.
std::vector<std::string> features_of(const std::string& triple, const std::string& cpu,
                                     const std::vector<std::string>& attributes);

// Returns the attributes that compilers assume beyond LLVM's description of a CPU: the floating point unit that usually
// comes with an ARM core.
std::vector<std::string> default_attributes(const std::string& triple, const std::string& cpu);

// Returns the CPU that the lines of /proc/cpuinfo name, if LLVM knows it and can compile for it.
std::optional<std::string> cpu_of_cpuinfo(const std::string& triple, std::string_view cpuinfo);

// Describe this machine.
std::string host_arch();
std::vector<std::string> host_features();

}  // namespace ferry::codegen
