// Compares machine code with the interpreter. A case is a function after flattening and the arguments of its call; it
// is compiled for each kind of target and run by that architecture's runner, and every argument must afterwards hold
// what the interpreter computes.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::codegen_test {

using Bytes = std::vector<unsigned char>;

struct Case {
  ir::Function function;
  std::vector<Bytes> arguments;  // as the kernel takes them: parameters, then symbols
  // Floats may differ by this many units in the last place; with 0 they must be equal, but any NaN equals any other.
  double ulps = 0;
  bool any_zero = false;             // +0 and -0 are equal
  bool flushed = false;              // vectors of 32-bit ARM flush subnormal results to zero
  bool vector_float_to_int = false;  // contains such a conversion, see Variant
};

struct Variant {
  std::string target;                 // as resolve_target takes it
  std::vector<std::string> emulator;  // command prefix of the runner; empty: runs natively
  // qemu 7.2 fails an assertion (decode_save_opc) in RISC-V vector conversions to integers.
  bool vector_float_to_int = true;

  // Sizes have 32 bits then (codegen.h), and vectors flush subnormal numbers to 0.
  bool is_32_bit() const { return !emulator.empty() && emulator.front() == "qemu-arm"; }
};

// Returns all kinds of targets that this machine can run.
std::vector<Variant> all_variants();

// With `run_passes`, the functions first go through the whole pipeline of passes (and may still be unflattened).
// The interpreter computes the expected results once for all variants. Of a long list, check_everywhere() draws a
// part for each variant, so that every case runs on one of them at least; all run on all with FERRY_CODEGEN_ALL, as
// in codegen_llvm_long_test. FERRY_CODEGEN_SEED draws others.
void check_everywhere(const std::vector<Case>& cases, bool run_passes = false);
void check_on_all(const std::vector<Variant>& variants, const std::vector<Case>& cases, bool run_passes = false);
void check_on(const Variant& variant, const std::vector<Case>& cases, bool run_passes = false);

}  // namespace ferry::codegen_test
