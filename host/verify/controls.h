// Two calls of ferry's own kernel that show how large the errors of a kernel may be: one with the same inputs, and one
// with inputs of fewer bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/verify/findings.h"
#include "host/verify/check_against.h"

namespace ferry::verify {

// Number of significant bits of the next narrower type: those of float16 for float32.
int bits_below(DType dtype);
// Rounds floats to so many significant bits, ties to even. Exponents stay as they are, NaN and infinities too.
std::vector<std::uint8_t> with_bits(DType dtype, std::vector<std::uint8_t> bytes, int bits);

// Returns the call with the floats of all inputs rounded to the bits of the next narrower type; nothing if it has none.
std::optional<CallPlan> with_rounded_inputs(const FunctionInfo& info, const CallPlan& plan);
// Whether errors as a whole are judged: not where the limits say how large errors may be.
bool are_judged_as_a_whole(const CheckLimits& limits);

// Compiles the definition by its default schedule, and calls it on the device with the inputs of the kernel that is
// checked. Returns nothing if the definition reads no floats, if the limits say how large errors may be or allow
// another algorithm, or if the definition's kernel fails with such inputs.
std::optional<ControlOutputs> run_controls(const Device& device, const KernelSource& definition, const Target& target,
                                           const RanKernel& ran, const CallOptions& call, const CheckLimits& limits,
                                           const Observer& observer = {});

// Returns "a root-mean-square error of 3.1e-4 of the values; ferry's own kernel has 1.2e-7, and 3.0e-4 with inputs of
// 11 bits".
std::string text_of(const ControlledErrors& errors);

// Adds up the errors of elements, as far as all of their values are finite.
class ControlledSum {
 public:
  void add(double expected, double kernel, double own, double rounded);
  // Returns nothing for so few elements that their errors say little. `dtype` is the output's.
  std::optional<ControlledErrors> errors(DType dtype) const;

 private:
  std::uint64_t elements_ = 0;
  double values_ = 0, kernel_ = 0, own_ = 0, rounded_ = 0;  // sums of squares
};

}  // namespace ferry::verify
