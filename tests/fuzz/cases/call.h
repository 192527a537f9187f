// The arguments of one call of a generated program, and the comparison of what came of it with the reference.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/program.h"
#include "host/lang/reference.h"
#include "tests/fuzz/cases/guarded_memory.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ferry::fuzz {

using Sizes = std::map<std::string, std::int64_t>;

struct Argument {
  std::string name;
  ParameterKind kind = ParameterKind::tensor;
  Direction direction = Direction::in;
  DType type = DType::f32;
  std::vector<std::int64_t> shape;    // tensors
  std::vector<std::int64_t> strides;  // empty: dense
  std::int64_t elements = 1;
  std::int64_t places = 1;  // from the first element to the last one
  std::unique_ptr<GuardedMemory> memory;
  std::vector<std::uint8_t> before = {};  // of inputs: what the call finds there

  // Where the elements stand, in row-major order.
  std::vector<std::int64_t> positions() const;
};

// The message of the first requirement that the sizes do not meet; empty when they meet all.
std::string unmet_requirement(const ir::Function& function, const Sizes& sizes);

class Call {
 public:
  // Inputs hold seeded contents, outputs a pattern.
  Call(const ir::Function& function, const Sizes& sizes, std::uint64_t seed);

  // As a kernel takes them.
  void* const* pointers() const { return pointers_.data(); }
  const std::vector<std::int64_t>& symbols() const { return symbols_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  // Inputs get the contents of the other call's arguments of the same name.
  void take_inputs(const Call& other);
  // What the call wrote beside its arguments, between the elements of those with strides, or into inputs, in words;
  // empty when nothing.
  std::string damage() const;

 private:
  std::vector<std::int64_t> symbols_;
  std::vector<Argument> arguments_;
  std::vector<void*> pointers_;
};

// What the outputs must be.
class Expectation {
 public:
  // `call` holds the inputs and is not run.
  Expectation(const lang::Program& program, const Call& call);

  // The first element that is not what the reference says, in words; empty when all are. Integers must be equal, floats
  // as near as the rounding of all terms that entered them explains. `data` holds the elements in row-major order.
  std::string difference(std::size_t parameter, const std::uint8_t* data) const;
  std::string difference(const Call& call) const;

 private:
  struct Output {
    std::string name;
    DType type = DType::f32;
    std::vector<lang::Element> elements;
  };
  std::map<std::size_t, Output> outputs_;
};

}  // namespace ferry::fuzz
