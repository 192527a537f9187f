// The arguments of one call of a generated program, and the comparison of its results with the reference.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/lang/program.h"
#include "host/lang/reference/reference.h"
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
  std::vector<std::int64_t> shape;    // the tensor's shape
  std::vector<std::int64_t> strides;  // empty if dense
  std::int64_t elements = 1;
  std::int64_t places = 1;  // from the first to the last element
  std::unique_ptr<GuardedMemory> memory;
  std::vector<std::uint8_t> before = {};  // contents of an input before the call

  // Returns the positions of the elements in memory, in row-major order.
  std::vector<std::int64_t> positions() const;
};

// Returns the message of the first requirement that the sizes do not meet; empty if they meet all.
std::string unmet_requirement(const ir::Function& function, const Sizes& sizes);

class Call {
 public:
  // Fills inputs with seeded contents and outputs with a pattern.
  Call(const ir::Function& function, const Sizes& sizes, std::uint64_t seed);

  // The arguments as a kernel takes them.
  void* const* pointers() const { return pointers_.data(); }
  const std::vector<std::int64_t>& symbols() const { return symbols_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  // Copies the contents of the other call's arguments to the inputs of the same name.
  void take_inputs(const Call& other);
  // Describes writes beside the arguments, between the elements of strided arguments, or into inputs; empty if there
  // are none.
  std::string damage() const;

 private:
  std::vector<std::int64_t> symbols_;
  std::vector<Argument> arguments_;
  std::vector<void*> pointers_;
};

// The expected outputs of a call.
class Expectation {
 public:
  // `call` provides the inputs and is not run.
  Expectation(const lang::Program& program, const Call& call);

  // Describes the first element that differs from the reference; empty if all agree. Integers must be equal, floats as
  // close as the rounding of all terms that entered them explains. `data` holds the elements in row-major order.
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
