// Intrinsics of the user's own: names that may be called like math functions, with a rule for the type of the result
// and rules that say what a call becomes on which target. A program holds a Context and hands it on with each
// ir::Function; there is no list of all of them anywhere.
//
//   Context context;
//   context.add_intrinsic("mylog", same_float_types(1));
//   context.add_rule("mylog", {.lower = [](const IntrinsicCall& call) { return call_math("log", call.arguments); }});
//   context.add_rule("mylog", {.arch = "aarch64", .features = {"sve2"}, .priority = 10, .lower = ...});
//   Expr e = context.call("mylog", {x});
//
// Of the rules that fit the target the one with the highest priority wins, of equals the one added last. A name of
// math.def may be registered too: within programs of this context its rules stand before the built-in expansion.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry {

// The element type of the result for the element types of the arguments; throws CompileError, in words that follow
// "NAME: ", when it has none.
using IntrinsicTypeRule = std::function<DType(std::span<const DType> arguments)>;

// As many arguments of one float type, which the result has too.
IntrinsicTypeRule same_float_types(std::size_t arguments);
// Exactly these.
IntrinsicTypeRule fixed_types(std::vector<DType> arguments, DType result);

struct IntrinsicCall {
  std::vector<ir::Expr> arguments;  // all with the lanes of `type`
  ir::Type type;                    // of the result: scalar, or the vector that a vectorized loop asks for
  const Target& target;
};

struct IntrinsicRule {
  std::string arch = {};                   // of Target::arch; empty: any
  std::vector<std::string> features = {};  // that the target must have
  int priority = 0;
  // An expression of exactly call.type. May call math functions, C functions (Call::make; lane by lane in vectors) and
  // other intrinsics. Uses of an argument are evaluated each: bind one that is used often with ir::Let.
  std::function<ir::Expr(const IntrinsicCall& call)> lower;
};

// A C function on pieces of tensors, `void SYMBOL(float* c, const float* a, ..., int64_t lda, ...)`: the addresses of
// the first elements of meaning.parameters, in order, and then meaning.symbols.
struct NestFunction {
  std::string symbol;
  // Loops of constant extents around one store. A stride of a parameter that is one of the symbols may be anything.
  ir::Function meaning;
};

// What `tensorize AXIS NAME` calls in the place of a loop nest that computes the same.
struct TensorIntrinsic {
  NestFunction update;                // what an iteration of the reduction's outer loops adds
  std::optional<NestFunction> reset;  // what the results start from; plain loops without
};

class Context {
 public:
  // Throws CompileError when the name is registered already.
  void add_intrinsic(const std::string& name, IntrinsicTypeRule types);
  // Throws CompileError for an unregistered name, with the nearest known.
  void add_rule(const std::string& name, IntrinsicRule rule);

  bool knows(const std::string& name) const { return intrinsics_.contains(name); }
  std::vector<std::string> names() const;

  // A call; arguments must be scalars or have equal lanes. Throws CompileError for an unregistered name, with the
  // nearest known, and for arguments its type rule refuses.
  ir::Expr call(const std::string& name, std::vector<ir::Expr> arguments) const;

  // What a call becomes on the target, other intrinsics inside included. Throws CompileError when no rule fits, or the
  // rule gives another type.
  // `nesting`: how many rules led here.
  ir::Expr lower(const ir::Call& call, const Target& target, int nesting = 0) const;

  // Throws CompileError when the name is registered already, or what a function means is no such nest.
  void add_tensor_intrinsic(const std::string& name, TensorIntrinsic intrinsic);
  // Null for a name that is not registered.
  const TensorIntrinsic* tensor_intrinsic(const std::string& name) const;
  std::vector<std::string> tensor_intrinsic_names() const;

  // Position-independent object code (cc -c -fPIC) with C functions that programs of this context call. It is linked
  // into modules for this architecture; what it calls in turn must be among what devices offer (rpc/abi/symbols.def).
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

namespace passes {

// Replaces the calls of function.context's intrinsics by what their rules give; nothing without a context.
//
// Before: vectors are explicit, so that a rule sees how many lanes it is for. Stands before legalize_floats and
// lower_math, which bring down what the rules use.
ir::Function lower_intrinsics(ir::Function function, const Target& target);

// The same in one expression, for those who evaluate definitions.
ir::Expr lower_intrinsics(const ir::Expr& expr, const Context& context, const Target& target);

}  // namespace passes
}  // namespace ferry
