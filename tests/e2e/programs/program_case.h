// One kernel, in the text notation or built in C++, its arguments, and an independent computation of the expected
// results.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ferry/client.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "tests/e2e/programs/data.h"

namespace ferry::test {

struct Expected {
  Data result;
  std::vector<double> scale;  // sum of the terms' magnitudes for each element; empty: the magnitude of the result
};

struct ProgramCase {
  std::string name;
  std::string source;
  std::vector<Data> arguments;  // all except the outputs
  std::function<std::vector<Expected>(const std::vector<Data>&)> reference;
  double tolerance = 0;                               // times scale; 0 for exact results
  std::optional<lang::Program> built = std::nullopt;  // used instead of a source
  std::string failure = {};                           // if not empty, the call must fail with this text in its message
  // Truncates vectors of floats, on which qemu 7.2 fails an assertion (decode_save_opc) for RISC-V.
  bool truncates = false;
  // Directives, separated by newlines or ';'; empty for the default schedule.
  std::string schedule = {};
  std::map<std::string, std::string> knobs = {};
};

// Returns the cases of all files.
std::vector<ProgramCase> all_cases();

// The programs are drawn for parts of a test run. The first parts run as machine code (programs_test.cpp), those from
// kOracleParts on in the reference evaluator and the interpreter (oracles_test.cpp).
inline constexpr std::size_t kProgramParts = 8, kOracleParts = 6;
// Returns the arguments of a call, which point to `bytes`.
std::vector<Argument> arguments_of(const ProgramCase& program, std::vector<std::vector<std::uint8_t>>& bytes);
// Returns the program of a case, and its schedule for the target.
lang::Program program_of(const ProgramCase& program);
schedule::Schedule schedule_of(const ProgramCase& program, const lang::Program& meaning, const Target& target);
// Checks a result, given as the bytes of its elements; `what` describes where it came from.
void check_result(const ProgramCase& program, const Expected& expected, const std::vector<std::uint8_t>& bytes,
                  const std::string& what);

std::vector<ProgramCase> expression_cases();
std::vector<ProgramCase> gather_cases();
std::vector<ProgramCase> layer_cases();
std::vector<ProgramCase> blocked_cases();         // host/ops: channels in blocks
std::vector<ProgramCase> pairs_of_bytes_cases();  // host/ops: products of 8-bit integers as pairs
std::vector<ProgramCase> byte_product_cases();    // matrix products of 8-bit integers in the language
std::vector<ProgramCase> integer_cases();         // host/ops: convolutions of 8-bit integers
std::vector<ProgramCase> update_cases();
std::vector<ProgramCase> sequence_cases();  // in order along an index
std::vector<ProgramCase> stride_cases();
std::vector<ProgramCase> operator_cases();
std::vector<ProgramCase> reducer_cases();
std::vector<ProgramCase> place_cases();  // the part of reducer_cases() with argmax and argmin
std::vector<ProgramCase> math_cases();
std::vector<ProgramCase> rounding_cases();  // a part of math_cases()
std::vector<ProgramCase> notation_cases();  // the C++ notation
std::vector<ProgramCase> library_cases();   // host/ops: matrices, images, normalisation
std::vector<ProgramCase> winograd_cases();  // host/ops: Winograd convolution
std::vector<ProgramCase> schedule_cases();  // each primitive
std::vector<ProgramCase> tensorize_cases();
std::vector<ProgramCase> tile_cases();      // products under schedules with AMX's tiles
std::vector<ProgramCase> axis_cases();      // host/ops: along dimensions
std::vector<ProgramCase> sorting_cases();   // host/ops: the first elements of sorted lines
std::vector<ProgramCase> type_cases();      // every operator on every type
std::vector<ProgramCase> extern_cases();    // C functions
std::vector<ProgramCase> example_cases();   // examples/NAME.schedule
std::vector<ProgramCase> elements_cases();  // host/ops: element by element, shapes, reductions

// The expected value of one element and the magnitude of its terms.
struct Element {
  double value = 0;
  double scale = 0;
  void add(double term) {
    value += term;
    scale += term < 0 ? -term : term;
  }
};
Expected each(DType dtype, std::vector<std::int64_t> shape,
              const std::function<Element(const std::vector<std::int64_t>&)>& element);

}  // namespace ferry::test
