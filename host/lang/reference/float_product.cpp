#include "host/lang/reference/float_product.h"

#include "crosscompile/ir/arithmetic.h"
#include "host/lang/reference/lanes.h"

#include <cmath>

namespace ferry::lang {

void FloatProduct::multiply(double factor, double error) {
  const double size = std::fabs(factor);
  error_ = std::fabs(product_) * error + size * error_;
  product_ *= factor;
  largest_ *= std::fmax(1, size + error);
  if (size > 0) smallest_ *= std::fmin(1, size);
  ++factors_;
}

Element FloatProduct::result(DType type) const {
  Element element;
  element.real = ir::round_to(type, product_);
  element.error = error_;
  if (factors_ < 2) return element;
  const auto roundings = static_cast<double>(factors_);  // one for each multiplication, and the one above
  element.error += roundings * unit_roundoff(type) * std::fabs(element.real);
  if (smallest_ < smallest_normal(type))
    element.error += roundings * std::fmax(smallest_error(type), 0x1p-1074) * largest_;
  if (std::isinf(ir::round_to(type, 2 * largest_))) element.error = HUGE_VAL;
  return element;
}

}  // namespace ferry::lang
