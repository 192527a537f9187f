// Compares machine code with the interpreter: a case is a function after flattening and the arguments to call it with;
// it is compiled for each kind of target, run by the runner of that architecture, and what became of every argument
// must be what the interpreter makes of it.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::codegen_test {

using Bytes = std::vector<unsigned char>;

struct Case {
  ir::Function function;
  std::vector<Bytes> arguments;  // as the kernel takes them: parameters, then symbols
  // Floats may differ by this many units in the last place; 0: not at all, though one NaN is as good as another.
  double ulps = 0;
  bool any_zero = false;             // +0 and -0 are the same
  bool flushed = false;              // vectors of 32-bit ARM make zeros of subnormal results
  bool vector_float_to_int = false;  // has such a conversion, see Variant
};

struct Variant {
  std::string target;                 // for resolve_target
  std::vector<std::string> emulator;  // command before the runner's; empty: natively
  // qemu 7.2 ends with a failed assertion (decode_save_opc) in RISC-V's vector conversions to integers.
  bool vector_float_to_int = true;
};

// All kinds of targets this machine can run.
std::vector<Variant> all_variants();

// `run_passes`: the functions go through the whole pipeline of passes first (and may still be unflattened).
void check_everywhere(const std::vector<Case>& cases, bool run_passes = false);
void check_on(const Variant& variant, const std::vector<Case>& cases, bool run_passes = false);

}  // namespace ferry::codegen_test
