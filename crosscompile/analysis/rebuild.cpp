// Translates polynomials back to expressions.
#include "crosscompile/analysis/atoms.h"

#include <algorithm>

namespace ferry::analysis {
namespace {

using namespace ir;

class Rebuilder {
 public:
  Rebuilder(const Atoms& atoms, std::uint32_t lanes) : atoms_(atoms), lanes_(lanes) {}

  Expr run(const Polynomial& whole) const {
    if (lanes_ == 1) return sum(whole.terms, whole.constant, 1);
    std::vector<Term> base, stride, vectors;
    std::int64_t step = 0;
    for (const Term& term : whole.terms) sort_term(term, base, stride, step, vectors);
    const bool level = stride.empty() && step == 0;
    if (level && base.empty() && whole.constant == 0 && !vectors.empty()) return sum(vectors, 0, lanes_);
    Expr result = sum(base, whole.constant, 1);
    if (level) {
      result = Broadcast::make(result, lanes_);
    } else {
      result = Ramp::make(result, sum(stride, step, 1), lanes_);
    }
    return vectors.empty() ? result : sum(vectors, 0, lanes_) + result;
  }

 private:
  // `step` receives the numeric part of the stride.
  void sort_term(const Term& term, std::vector<Term>& base, std::vector<Term>& stride, std::int64_t& step,
                 std::vector<Term>& vectors) const {
    std::size_t lane_factors = 0;
    Term without_lane = term;
    without_lane.product = {};
    for (std::size_t i = 0; i < term.product.degree; ++i) {
      const AtomId factor = term.product.factors[i];
      if (atoms_[factor].kind == AtomKind::lane) {
        ++lane_factors;
      } else if (atoms_[factor].expr.type().is_vector()) {
        vectors.push_back(term);
        return;
      } else {
        without_lane.product.factors[without_lane.product.degree++] = factor;
      }
    }
    if (lane_factors == 0) {
      base.push_back(term);
    } else if (lane_factors == 1 && without_lane.product.degree == 0) {
      step = term.coefficient;
    } else if (lane_factors == 1) {
      stride.push_back(without_lane);
    } else {
      vectors.push_back(term);
    }
  }

  Expr widen(const Expr& expr, std::uint32_t lanes) const {
    return expr.type().lanes == lanes ? expr : Broadcast::make(expr, lanes);
  }

  // Returns the term's product multiplied by this number, which is at least 1.
  Expr product(const Term& term, std::int64_t coefficient, std::uint32_t lanes) const {
    Expr result;
    for (std::size_t i = 0; i < term.product.degree; ++i) {
      const Expr factor = widen(atoms_[term.product.factors[i]].expr, lanes);
      result = result.defined() ? result * factor : factor;
    }
    return coefficient == 1 ? result : result * constant(result.type(), coefficient);
  }

  Expr sum(const std::vector<Term>& terms, std::int64_t rest, std::uint32_t lanes) const {
    Expr result;
    // Terms with positive coefficients come first, so that no term needs to be negated.
    for (const Term& term : terms) {
      if (term.coefficient < 0) continue;
      const Expr next = product(term, term.coefficient, lanes);
      result = result.defined() ? result + next : next;
    }
    const Type type(DType::i64, lanes);
    if (!result.defined() || rest > 0) {
      result = result.defined() ? result + constant(type, rest) : constant(type, rest);
      rest = 0;
    }
    for (const Term& term : terms) {
      if (term.coefficient >= 0) continue;
      // The smallest coefficient cannot be negated; wrapping gives the right result.
      const auto magnitude = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(term.coefficient));
      result = result - product(term, magnitude, lanes);
    }
    if (rest < 0) result = result - constant(type, static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(rest)));
    return result;
  }

  const Atoms& atoms_;
  std::uint32_t lanes_;
};

}  // namespace

Expr Atoms::expression(const Polynomial& polynomial, std::uint32_t lanes) {
  return Rebuilder(*this, lanes).run(polynomial);
}

}  // namespace ferry::analysis
