// Results of comparing a call's outputs with definitions or other kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferry::verify {

// Allowed errors. An element is right if it differs from the expected value by no more than atol + rtol * |expected|,
// and, if neither is given, by no more than a multiple of the rounding error of the element's own terms in addition.
// The errors of a sum's additions add up at worst, to n u sum |terms|, of which four times are allowed. If all floats
// in the inputs are random, they mostly cancel, and what they come to then is allowed instead (the square-root bound):
// u sqrt(n) times the largest partial sum, times max(4, sqrt(2 ln(2 E / 1e-4))) where E elements are checked. It finds
// products of float16 operands, which the worst case of a thousand terms hides.
struct CheckLimits {
  std::optional<double> rtol, atol;  // nothing: by the output's type
  // The kernel may compute by another algorithm than the definition: as much as two kernels may differ is allowed too.
  bool other_algorithm = false;
};

// The errors of an output as a whole: root mean squares, relative to that of the values. A kernel that computes with
// fewer bits than its inputs have errs as ferry's own kernel does for inputs of so many bits, also where the limits of
// single elements are too wide to show it.
struct ControlledErrors {
  double kernel = 0;
  double own = 0;      // the error of the definition's kernel as ferry compiles it
  double rounded = 0;  // the error of that kernel with inputs rounded to `bits` significant bits
  // The geometric mean of these two, or as much as careless orders of sums add to ferry's own.
  double allowed = 0;
  int bits = 0;

  bool are_too_large() const { return kernel > allowed && rounded > allowed; }
};

// One output of the call.
struct CheckResult {
  std::string output;
  std::uint64_t compared = 0, elements = 0;  // a random sample is compared where the evaluation of all would take long
  double largest_absolute = 0, largest_relative = 0;
  double rtol = 0, atol = 0;   // the limits that were applied
  bool with_rounding = false;  // rounding errors of the element's terms are allowed too
  double rounding_factor = 0;  // so many times the bound of these errors
  bool square_root = false;    // by the square-root bound, see CheckLimits; otherwise by the worst case
  // Number of random vectors by which all elements of a matrix product were checked, where they were too many to be
  // compared: each finds a row with an element that is off by more than rounding the row explains with probability 1/2.
  std::uint32_t vectors = 0;
  std::uint64_t exact = 0;  // floats among those compared that had to be equal, see Probe
  std::uint64_t wrong = 0;  // among those compared
  // Among those compared: nothing is said of floats whose terms may overflow in another order.
  std::uint64_t unchecked = 0;
  std::uint64_t unequal = 0;                // integers among those compared, wrong or within the limits
  std::uint64_t nan = 0, nan_expected = 0;  // NaNs among those compared: computed, and by the definition
  std::uint64_t other_zeros = 0;            // zeros of the other sign, which are wrong if rtol and atol are given as 0
  // NaNs among those compared that are none by the definition, but by the algorithm of the kernel: Winograd's subtracts
  // infinities from one another where a direct convolution adds them up. They are not wrong.
  std::uint64_t nan_of_algorithm = 0;
  // For a kernel that is held against the definition of another; nothing for integers, or if limits are given. If they
  // are too large, all elements count as wrong.
  std::optional<ControlledErrors> controlled = {};
  std::string first_wrong;  // "C[3,4] is 1.5, expected 1.25"; empty if there is none
  // Who computed the expected values, such as "ref.npy" or "onnxruntime"; empty: the definition.
  std::string against = {};
};

// Two floats differ if their difference exceeds rtol times the larger of them plus atol: neither kernel is known to be
// right, so the permissible rounding error cannot be derived from the terms, as CheckLimits does, and a sum in another
// order has an error relative to its terms, which cancellation may leave far larger than the sum itself. Integers must
// be equal. 0 and -0 differ only where no difference is allowed, that is where both are 0.
struct DifferenceLimits {
  std::optional<double> rtol;  // nothing: by the output's type
  // Nothing: rtol times the median magnitude of the output's elements other than 0, of the output where it is smaller.
  std::optional<double> atol;
};

struct OutputComparison {
  std::string output;
  std::uint64_t elements = 0;
  std::uint64_t different = 0;
  std::uint64_t nan[2] = {0, 0};  // NaNs in each
  std::uint64_t other_zeros = 0;  // zeros that have the other sign in the other
  double rtol = 0, atol = 0;      // the limits that were applied
  double largest_difference = 0;  // absolute, of finite elements
  std::string first_difference;   // "y[3] 0.7 against 0"; empty if there is none
};

// A call with inputs that show more than random ones do, or with other sizes, whose results are held against the
// definition. Some are such that no order of additions rounds ("odd integers of 12 bits" times -1, 0 and 1, few enough
// for their sum to be exact in the type of the accumulator): results must be equal then, and operands that were rounded
// to another type show.
struct Probe {
  std::string inputs;      // "A: odd integers of 12 bits, B: -1, 0, 1"; "subnormal numbers"
  std::string sizes = {};  // "M=1,N=1,K=1" where they are not those of the call; or empty
  std::vector<CheckResult> checks = {};
  std::string failure = {};  // why the kernel failed; empty: it did not

  // Returns "with subnormal numbers: C[3] is nan, expected 0"; empty if nothing is wrong.
  std::string mistake() const;
};

struct Findings {
  std::vector<CheckResult> checks;         // against a definition
  std::vector<OutputComparison> compared;  // with a kernel that has none
  // Why the comparisons say little: "every element of y is 0", "the result did not change when x changed".
  std::vector<std::string> warnings = {};
  std::vector<Probe> probes = {};
  std::string timed = {};  // what is wrong with the calls that were timed, in a sentence; empty: nothing

  // Returns "C[3] is 1, expected 2" or "y[3] 0.7 against 0 (2 of 5 elements differ)" for the first output that is
  // wrong; empty if none is.
  std::string mistake() const;
  bool is_fine() const { return mistake().empty(); }
};

// Returns "y[3] 0.7 against 0 (2 of 5 elements differ)" for the first output that differs; empty if none does.
std::string difference_text(const std::vector<OutputComparison>& outputs);

}  // namespace ferry::verify
