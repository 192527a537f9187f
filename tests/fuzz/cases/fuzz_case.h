// One case of the fuzzer: a program in the text notation, kept in parts that shrinking can remove, a schedule, and the
// sizes to call it with.
#pragma once

#include "ferry/types.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::fuzz {

// An expression: `text` contains "$0", "$1", ... in place of its operands. Loads, constants and indices have no
// operands.
struct Node {
  std::string text;
  DType type = DType::i32;
  std::vector<Node> parts = {};
  // Whether the value has the same bits on every correct target: no float was rounded to compute it, so it may be
  // compared, converted to an integer and used as an index.
  bool exact = true;
};
std::string to_text(const Node& node);

struct Range {
  std::string axis;
  std::string extent;  // upper end of the range: a number, or an expression of sizes
  std::string begin = "0";
};

// A statement: NAME(axes) OP value along AXIS where ranges.
struct Statement {
  std::string target;             // "C", or "V, I" for an argmax
  std::vector<std::string> axes;  // or computed indices, if it updates elements in order
  std::string op;
  Node value;
  std::vector<Range> ranges;
  std::string along = {};  // empty: in any order
};

struct InputTensor {
  std::string name;
  DType type = DType::f32;
  std::vector<std::string> shape;
  std::vector<std::string> strides = {};  // numbers, or names in `sizes`; empty if dense
  bool constant = false;
};

// The name of the int64 argument that is no size, and may be any number.
inline constexpr const char* kLargeScalar = "Q";

struct FuzzCase {
  std::uint64_t seed = 0;
  std::vector<std::string> scalars;  // sizes that are passed as int64 arguments, and kLargeScalar
  std::vector<InputTensor> inputs;
  std::vector<Statement> statements;
  std::vector<std::string> outputs;
  std::vector<std::string> directives;
  std::map<std::string, std::int64_t> sizes;
  std::string target;  // as resolve_target takes it
  // Whether the program may read outside of a tensor. If so, the call must be refused, and a refusal is never an error.
  bool may_leave = false;
  // Whether the program is made again through the C++ interface, which has to find out by itself what it may read.
  bool by_api = false;
};

std::string source_of(const FuzzCase& fuzz_case);
std::string schedule_of(const FuzzCase& fuzz_case);
// Returns source, schedule and sizes, readable and in the form that check_schedule() of tests/unit/host/lower takes.
std::string as_test(const FuzzCase& fuzz_case);

// Returns the name of a type in the text notation.
const char* type_text(DType type);

}  // namespace ferry::fuzz
