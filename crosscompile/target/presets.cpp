#include "crosscompile/target/resolve.h"

namespace ferry {

const std::vector<NamedTarget>& named_targets() {
  static const std::vector<NamedTarget> targets{
      {"host", "llvm", "this machine, with everything its CPU offers"},
      {"x86-64", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64", "any 64-bit PC: 128-bit vectors"},
      {"x86-64-v2", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v2", "PCs since about 2009: SSE4.2"},
      {"x86-64-v3", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3", "PCs since about 2013: AVX2 and FMA"},
      {"x86-64-v4", "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4", "PCs and servers with AVX-512"},
      {"armv7", "llvm -mtriple=armv7-linux-gnueabihf", "32-bit ARM with NEON and hard float"},
      {"aarch64", "llvm -mtriple=aarch64-linux-gnu", "any 64-bit ARM"},
      {"riscv64", "llvm -mtriple=riscv64-linux-gnu", "RV64GC, without vectors"},
      {"riscv64-v", "llvm -mtriple=riscv64-linux-gnu -mattr=+v", "RV64GC with the vector extension 1.0"},
      {"raspberry-pi-2",
       "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7 -num-cores=4 -l1-bytes=32768 -l2-bytes=524288",
       "32-bit system"},
      {"raspberry-pi-3",
       "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a53 -num-cores=4 -l1-bytes=32768 -l2-bytes=524288",
       "64-bit system; also Zero 2 W"},
      {"raspberry-pi-4",
       "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4 -l1-bytes=32768 -l2-bytes=1048576",
       "64-bit system; also 400"},
      {"raspberry-pi-5",
       "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76 -num-cores=4 -l1-bytes=65536 -l2-bytes=524288",
       "64-bit system; also 500"},
      {"raspberry-pi-3-32bit",
       "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a53 -num-cores=4 -l1-bytes=32768 -l2-bytes=524288",
       "32-bit system"},
      {"raspberry-pi-4-32bit",
       "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a72 -num-cores=4 -l1-bytes=32768 -l2-bytes=1048576",
       "32-bit system"},
  };
  return targets;
}

}  // namespace ferry
