// The reference evaluator: what a program means, computed straight from its definitions, unlowered, at any chosen
// elements. Everything a compiled kernel computes is compared with it.
//
//     Reference reference(program, {512, 512, 512}, arguments);
//     Element c = reference.evaluate(2, 1000);  // element 1000 of parameter 2
#pragma once

#include "host/lang/program.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ferry::lang {

struct Element {
  double real = 0;           // floats
  std::int64_t integer = 0;  // integers and bool, as ir::IntImm::value
  // How far rounding may have taken a correct kernel from this value: half an ulp of every term and intermediate result
  // that entered it, carried through what was done with it. A sum contributes the sum of its terms' sizes as often as
  // it has additions, since its order may change. 0 for integers, unless they come from floats.
  double error = 0;
};

// Thrown by evaluate() is CompileError, when the program reads outside a tensor: no kernel can be right then.
class Reference {
 public:
  // `symbols` are the values of symbols_of(program), in order. `arguments` has one pointer a parameter: the elements of
  // a tensor (dense, or as its strides say), the value of a scalar; null for outputs. Memory of in and inout parameters
  // is read as the program is evaluated, so it must outlive this object and not change.
  Reference(const Program& program, std::vector<std::int64_t> symbols, std::vector<const void*> arguments);
  ~Reference();
  Reference(Reference&&) noexcept;
  Reference& operator=(Reference&&) noexcept;

  // Of tensor parameters; computed as the program says.
  const std::vector<std::int64_t>& shape(std::size_t parameter) const;
  std::uint64_t elements(std::size_t parameter) const;
  // Points of all loops that evaluating the whole parameter takes, the stages it needs included.
  double work(std::size_t parameter) const;

  // Outputs and inouts: the elements at these positions in memory order. Stages between are computed where needed and
  // kept, so asking for a few elements of a large program takes as long as those few need.
  std::vector<Element> evaluate(std::size_t parameter, std::span<const std::uint64_t> positions) const;
  Element evaluate(std::size_t parameter, std::uint64_t position) const;
  // All of them, one after the other, in the parameter's storage type.
  std::vector<std::byte> evaluate_all(std::size_t parameter) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The element in its storage type, and back (error 0).
void store_element(DType type, const Element& element, void* destination);
Element load_element(DType type, const void* source);

}  // namespace ferry::lang
