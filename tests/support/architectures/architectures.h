// The architectures that tests run on: the compilers for each, and its emulator.
#pragma once

#include <string>
#include <vector>

namespace ferry::test {

struct TestArchitecture {
  const char* name;        // as module/device_archs.def has it
  const char* triple;      // clang's
  const char* gnu_triple;  // GNU's cross compiler, and its libraries in /usr
  const char* emulator;    // a program of qemu-user
  const char* cpu;         // the one that it emulates
  const char* return_instruction;
  // qemu 7.2 fails an assertion (decode_save_opc) at conversions of vectors of floats to integers.
  bool converts_vectors;
};

// Throws std::invalid_argument for another name.
const TestArchitecture& architecture_named(const std::string& name);

// Returns an architecture whose code no machine of the given one runs.
std::string another_architecture(const std::string& than);

// The architecture of this machine.
std::string native_arch();

// Returns the emulator of an architecture with its CPU; empty for this machine's own architecture.
std::vector<std::string> emulator_of(const std::string& arch);

// The same with the libraries of GNU's cross compiler, for programs that are not linked statically; also for this
// machine's own architecture.
std::vector<std::string> emulator_with_libraries(const std::string& arch);

}  // namespace ferry::test
