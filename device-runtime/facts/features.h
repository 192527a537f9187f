// Detects which features of module/features.def this processor and its kernel offer. Each architecture has a file with
// the implementation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::device {

// The architecture as manifests spell it: "x86_64", "armv7", "aarch64" or "riscv64".
const char* native_arch();

// Returns the features in LLVM's spelling, sorted. hwcap and hwcap2 are the words of the auxiliary vector. On ARM and
// RISC-V they alone decide, so an emulator's values are respected.
std::vector<std::string> detect_features(std::uint64_t hwcap, std::uint64_t hwcap2);

}  // namespace ferry::device
