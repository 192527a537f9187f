// The reference evaluator: computes any chosen elements of a program straight from its definitions, without lowering.
// The results of compiled kernels are compared with it.
//
//     Reference reference(program, {512, 512, 512}, arguments);
//     Element c = reference.evaluate(2, 1000);  // element 1000 of parameter 2
#pragma once

#include "ferry/lang/program.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ferry::lang {

struct Element {
  double real = 0;           // floats
  std::int64_t integer = 0;  // integers and bool, as ir::IntImm::value
  // A bound on the difference between this value and that of a correct kernel: half an ulp of every term and
  // intermediate result that contributed, propagated through the operations on it. A sum contributes the sum of its
  // terms' magnitudes once for each addition, since its order may change. 0 for integers, unless they derive from
  // floats.
  double error = 0;
};

// How the rounding errors of a sum's additions are taken to add up.
enum class RoundingBound : std::uint8_t {
  worst_case,   // all in one direction
  square_root,  // at random, see FloatSum
  // As the worst case, but operations and sums that are exact in every order add none, see is_exact() and FloatSum. The
  // error of a result is 0 only if all that contributed to it was exact. Subnormal inputs may count as 0 where
  // smallest_error() says that targets flush them.
  exact,
};

// evaluate() throws CompileError when the program reads out of bounds: no kernel can be right then.
class Reference {
 public:
  // `symbols` are the values of symbols_of(program), in order. `arguments` has one pointer for each parameter: to the
  // elements of a tensor (dense, or with its strides), or to the value of a scalar; null for outputs. The memory of in
  // and inout parameters is read during evaluation, so it must outlive this object and not change.
  Reference(const Program& program, std::vector<std::int64_t> symbols, std::vector<const void*> arguments,
            RoundingBound bound = RoundingBound::worst_case);
  ~Reference();
  Reference(Reference&&) noexcept;
  Reference& operator=(Reference&&) noexcept;

  RoundingBound bound() const;

  // The shape of a tensor parameter, evaluated for these symbols.
  const std::vector<std::int64_t>& shape(std::size_t parameter) const;
  std::uint64_t elements(std::size_t parameter) const;
  // Number of loop iterations that evaluating the whole parameter takes, including the stages it needs.
  double work(std::size_t parameter) const;

  // Evaluates the elements of an output or inout at these positions in memory order. Intermediate stages are computed
  // on demand and cached, so a few elements of a large program take only the time that those few need.
  std::vector<Element> evaluate(std::size_t parameter, std::span<const std::uint64_t> positions) const;
  Element evaluate(std::size_t parameter, std::uint64_t position) const;
  // Evaluates all elements in memory order, in the parameter's storage type.
  std::vector<std::byte> evaluate_all(std::size_t parameter) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Converts between an element and its storage type; loading sets the error to 0.
void store_element(DType type, const Element& element, void* destination);
Element load_element(DType type, const void* source);

}  // namespace ferry::lang
