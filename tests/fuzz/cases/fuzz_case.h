// One case of the fuzzer: a program in the text notation, kept in pieces that a reduction can take away, a schedule,
// and the sizes to call it with.
#pragma once

#include "rpc/abi/dtype.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::fuzz {

// An expression: `text` with "$0", "$1", ... where its parts go. Loads, constants and indices are text without parts.
struct Node {
  std::string text;
  DType type = DType::i32;
  std::vector<Node> parts = {};
  // The same bits on every correct target: no float was rounded on the way, so it may be compared, converted to an
  // integer and looked up.
  bool exact = true;
};
std::string to_text(const Node& node);

struct Range {
  std::string axis;
  std::string extent;  // where it ends: a number, or an expression of sizes
  std::string begin = "0";
};

// NAME(axes) OP value where ranges
struct Statement {
  std::string target;  // "C", or "V, I" of an argmax
  std::vector<std::string> axes;
  std::string op;
  Node value;
  std::vector<Range> ranges;
};

struct InputTensor {
  std::string name;
  DType type = DType::f32;
  std::vector<std::string> shape;
  std::vector<std::string> strides = {};  // numbers, or names in `sizes`; empty: dense
  bool constant = false;
};

struct FuzzCase {
  std::uint64_t seed = 0;
  std::vector<std::string> scalars;  // sizes that are int64 arguments
  std::vector<InputTensor> inputs;
  std::vector<Statement> statements;
  std::vector<std::string> outputs;
  std::vector<std::string> directives;
  std::map<std::string, std::int64_t> sizes;
  std::string target;  // for resolve_target
  // The program may read outside of a tensor: then the call must be refused, and is never wrong to be.
  bool may_leave = false;
};

std::string source_of(const FuzzCase& fuzz_case);
std::string schedule_of(const FuzzCase& fuzz_case);
// Source, schedule and sizes as a person reads them and as check_schedule() of tests/unit/host/lower takes them.
std::string as_test(const FuzzCase& fuzz_case);

// The names under which the text notation knows the types.
const char* type_text(DType type);

}  // namespace ferry::fuzz
