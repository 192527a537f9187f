// State shared while a text is printed: one Unit per text, one FunctionState per C function being printed (a kernel, or
// the body of a parallel loop). Files that print one kind of node take a FunctionState.
#pragma once

#include "crosscompile/analysis/ranges.h"
#include "crosscompile/codegen/source/dialect.h"
#include "crosscompile/codegen/source/helpers.h"
#include "crosscompile/codegen/source/names.h"
#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ferry::codegen::source {

// The prototype of a C function that the text calls and that is defined elsewhere.
struct Prototype {
  std::string result;
  std::vector<std::string> parameters;
};

struct Unit {
  explicit Unit(const Target& compiled_for, const Dialect& of) : target(compiled_for), dialect(of), helpers(of) {}

  const Target& target;
  const Dialect& dialect;
  Helpers helpers;
  Names names;  // the names of the unit's functions
  std::map<std::string, Prototype> prototypes;
  std::vector<std::string> functions;  // in the order of the text
};

struct FunctionState {
  FunctionState(Unit& in_unit, const ir::Function& from) : unit(in_unit), source(from) {}

  Unit& unit;
  const ir::Function& source;
  std::string symbol;
  Names names;
  analysis::ValueRanges known;                    // the values that integer variables may have
  analysis::ValueRanges assumed;                  // the same, with sizes assumed to be below 2^31
  std::unordered_set<const ir::Buffer*> scalars;  // arrays of one element that are printed as variables
  std::string text;
  int indent = 1;
  bool in_parallel = false;
  bool addressing = false;               // whether an index or a loop's bound is being printed
  std::string call_block, thread_block;  // identifiers; empty when not used here
  // Whether an expression has lets inside; the handle keeps its node alive, so that the address is not reused.
  std::unordered_map<const ir::ExprNode*, std::pair<ir::Expr, bool>> has_let;

  bool on_gpu() const { return unit.dialect.language != Language::c; }
  void line(const std::string& what) { text += std::string(static_cast<std::size_t>(indent) * 2, ' ') + what + "\n"; }
};

}  // namespace ferry::codegen::source
