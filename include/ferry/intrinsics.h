// User-defined intrinsics: names that may be called like math functions, with a rule for the type of the result and
// rules that lower a call for each target. A program holds a Context; there is no global registry.
//
//   Context context;
//   context.add_intrinsic("mylog", same_float_types(1));
//   context.add_rule("mylog", {.lower = [](const IntrinsicCall& call) { return call_math("log", call.arguments); }});
//   context.add_rule("mylog", {.arch = "aarch64", .features = {"sve2"}, .priority = 10, .lower = ...});
//   Expr e = context.call("mylog", {x});
//
// Among the rules that fit the target, the one with the highest priority applies; among equals, the one added last. A
// name of math.def may be registered too: in programs of this context its rules take precedence over the built-in
// expansion.
#pragma once

#include "ferry/operators.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::ir {
struct Function;  // internal
}

namespace ferry {

// Returns the element type of the result for the element types of the arguments. Throws CompileError, with a message
// that follows "NAME: ", when there is none.
using IntrinsicTypeRule = std::function<DType(std::span<const DType> arguments)>;

// Accepts this number of arguments of one float type, which is also the type of the result.
IntrinsicTypeRule same_float_types(std::size_t arguments);
// Accepts exactly these types.
IntrinsicTypeRule fixed_types(std::vector<DType> arguments, DType result);

struct IntrinsicCall {
  std::vector<ir::Expr> arguments;  // all have the lanes of `type`
  ir::Type type;                    // the result's: scalar, or the vector that a vectorized loop needs
  const Target& target;
};

struct IntrinsicRule {
  std::string arch = {};                   // as Target::arch_name; empty: any
  std::vector<std::string> features = {};  // features that the target must have
  int priority = 0;
  // Returns an expression of exactly call.type. It may call math functions, C functions (ir::call_external) and other
  // intrinsics. Each use of an argument is evaluated separately: bind an argument that is used often with ir::let.
  std::function<ir::Expr(const IntrinsicCall& call)> lower;
};

// A piece of a larger tensor as the parameter of a C function: its shape is constant; its strides, in elements, are
// constants or variables. Throws CompileError unless there is a stride for each dimension.
ir::BufferRef piece(std::string name, DType dtype, std::vector<ir::Expr> shape, std::vector<ir::Expr> strides);
// Returns an element of a piece. Throws CompileError unless there is an index for each dimension.
ir::Expr element(const ir::BufferRef& piece, std::vector<ir::Expr> indices);

// A C function on pieces of tensors, `void SYMBOL(float* c, const float* a, ..., int64_t lda, ...)`: it takes the
// addresses of the pieces' first elements, and then each variable that is a stride. nest_function() makes one.
struct NestFunction {
  std::string symbol;
  // Loops of constant extents around one store.
  std::shared_ptr<const ir::Function> definition;
};

// Defines the function as loops over the axes, outermost first, that compute
//     pieces[0][indices] = value
// where `value` refers to pieces by element(). The strides that are variables may have any value. Throws CompileError
// unless there is an index for each dimension of the first piece; add_tensor_intrinsic() checks all else.
NestFunction nest_function(std::string symbol, const std::vector<ir::BufferRef>& pieces,
                           const std::vector<ir::Axis>& axes, std::vector<ir::Expr> indices, ir::Expr value);

// The function that `tensorize AXIS NAME` calls in place of a loop nest that computes the same.
struct TensorIntrinsic {
  NestFunction update;                // adds the contribution of one iteration of the reduction's outer loops
  std::optional<NestFunction> reset;  // initialises the results; plain loops do so when it is missing
};

class Context {
 public:
  // Throws CompileError when the name is registered already.
  void add_intrinsic(const std::string& name, IntrinsicTypeRule types);
  // Throws CompileError for an unregistered name, with the nearest known one.
  void add_rule(const std::string& name, IntrinsicRule rule);

  bool knows(const std::string& name) const { return intrinsics_.contains(name); }
  // Returns its rules in the order in which they were added. Throws CompileError for an unregistered name, with the
  // nearest known one.
  std::span<const IntrinsicRule> rules(const std::string& name) const { return find(name).rules; }
  std::vector<std::string> names() const;

  // Makes a call; arguments must be scalars or have equal lanes. Throws CompileError for an unregistered name, with the
  // nearest known one, and for arguments that its type rule rejects.
  ir::Expr call(const std::string& name, std::vector<ir::Expr> arguments) const;

  // Throws CompileError when the name is registered already, or the definition of a function is not such a nest.
  void add_tensor_intrinsic(const std::string& name, TensorIntrinsic intrinsic);
  // Returns null for a name that is not registered.
  const TensorIntrinsic* tensor_intrinsic(const std::string& name) const;
  std::vector<std::string> tensor_intrinsic_names() const;

  // Adds position-independent object code (cc -c -fPIC) with C functions that programs of this context call. It is
  // linked into modules for this architecture; the functions that it calls in turn must be offered by devices
  // (module/symbols.def).
  void add_object(std::string arch, std::vector<std::uint8_t> object);
  std::span<const std::vector<std::uint8_t>> objects(const std::string& arch) const;

 private:
  struct Intrinsic {
    IntrinsicTypeRule types;
    std::vector<IntrinsicRule> rules;
  };
  const Intrinsic& find(const std::string& name) const;

  std::map<std::string, Intrinsic> intrinsics_;
  std::map<std::string, TensorIntrinsic> tensor_intrinsics_;
  std::map<std::string, std::vector<std::vector<std::uint8_t>>> objects_;  // by architecture
};

}  // namespace ferry
