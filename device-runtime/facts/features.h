// Which of the features of rpc/abi/features.def this processor and its kernel offer. One file an architecture defines
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::device {

// As manifests spell it: "x86_64", "armv7", "aarch64" or "riscv64".
const char* native_arch();

// In LLVM's spelling, sorted. hwcap and hwcap2 are the auxiliary vector's words: on ARM and RISC-V they decide, so an
// emulator's word is taken for it.
std::vector<std::string> detect_features(std::uint64_t hwcap, std::uint64_t hwcap2);

}  // namespace ferry::device
