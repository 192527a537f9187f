#include "host/verify/product_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "crosscompile/ir/expr.h"
#include "host/lang/reference/float_sum.h"
#include "host/lang/reference/lanes.h"
#include "host/lang/stage.h"
#include "module/float_element.h"

namespace ferry::verify {

namespace {

// So many vectors at once: a wrong row passes all of them with a probability of 1/256.
constexpr std::size_t kVectors = 8;
// Estimated time of an element of a tensor with all vectors.
constexpr double kSecondsPerElement = 8e-9;
constexpr double kFalseAlarms = 1e-4;
// The largest partial sum of random terms is at most so many times the root of the sum of their squares, on average.
constexpr double kLargestPartial = 2;

using lang::Expr;
using Sums = std::array<double, kVectors>;

const ir::Load* load_of(const Expr& expr) {
  const Expr* inner = &expr;
  while (const auto* cast = inner->as<ir::Cast>()) {
    if (!is_float(cast->type.code) || !is_float(cast->value.type().code)) return nullptr;
    inner = &cast->value;
  }
  return inner->as<ir::Load>();
}

// The dimension of a tensor that each variable runs over, all of it.
using Dimensions = std::map<const void*, std::size_t>;

bool is_equal_size(const Expr& a, const Expr& b) {
  const auto *x = a.as<ir::IntImm>(), *y = b.as<ir::IntImm>();
  return x != nullptr && y != nullptr ? x->value == y->value : a.same_as(b);
}

std::optional<Dimensions> dimensions_of(const std::vector<Expr>& indices, const std::vector<Expr>& shape,
                                        const std::vector<ir::Axis>& axes) {
  Dimensions dimensions;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const auto axis = std::ranges::find_if(axes, [&](const ir::Axis& one) { return one.var.same_as(indices[d]); });
    if (axis == axes.end() || !is_equal_size(axis->min, Expr(0)) || !is_equal_size(axis->extent, shape[d])) return {};
    if (!dimensions.emplace(axis->var.get(), d).second) return {};
  }
  return dimensions;
}

// Returns the offsets of elements in a dense tensor of this shape for all values of the variables, of which each is one
// of its dimensions or of none.
std::vector<std::uint64_t> offsets_of(const std::vector<const void*>& variables,
                                      const std::vector<std::int64_t>& extents, const Dimensions& dimensions,
                                      const Shape& shape) {
  std::vector<std::uint64_t> offsets{0};
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const auto found = dimensions.find(variables[v]);
    std::uint64_t stride = found == dimensions.end() ? 0 : 1;
    for (std::size_t d = found == dimensions.end() ? shape.size() : found->second + 1; d < shape.size(); ++d)
      stride *= static_cast<std::uint64_t>(shape[d]);
    std::vector<std::uint64_t> more;
    for (const std::uint64_t offset : offsets)
      for (std::int64_t i = 0; i < extents[v]; ++i) more.push_back(offset + stride * static_cast<std::uint64_t>(i));
    offsets = std::move(more);
  }
  return offsets;
}

std::optional<std::size_t> input_of(const lang::Program& program, const ir::BufferRef& buffer) {
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    const lang::Parameter& parameter = program.parameters[p];
    if (parameter.kind == ParameterKind::tensor && parameter.direction == Direction::in &&
        parameter.tensor.buffer() == buffer)
      return p;
  }
  return std::nullopt;
}

class Matcher {
 public:
  Matcher(const lang::Program& program, const CallPlan& plan, std::size_t parameter)
      : program_(program), plan_(plan), parameter_(parameter) {}

  std::optional<MatrixProduct> match() {
    const lang::Parameter& output = program_.parameters[parameter_];
    const lang::Stage* const stage = output.tensor.stage();
    if (output.direction != Direction::out || stage == nullptr || stage->sequence != nullptr) return {};
    const Expr* value = &stage->values[output.tensor.buffer()->component];
    const auto* const reduce = value->as<ir::Reduce>();
    if (reduce == nullptr || reduce->reducer->op != ir::ReduceOp::sum || reduce->condition.defined() ||
        !reduce->init.empty())
      return {};
    const Expr& source = reduce->sources[reduce->component];
    const auto* const times = source.as<ir::Binary>();
    if (times == nullptr || times->op != ir::BinaryOp::mul || source.type().code != DType::f32) return {};
    const ir::Load *left = load_of(times->left), *right = load_of(times->right);
    if (left == nullptr || right == nullptr || left->mask.defined() || right->mask.defined()) return {};
    axes_ = stage->axes;
    for (const ir::Axis& axis : stage->axes) c_.emplace(axis.var.get(), c_.size());
    axes_.insert(axes_.end(), reduce->axes.begin(), reduce->axes.end());
    MatrixProduct product;
    product.accumulator = source.type().code;
    Dimensions of_a, of_b;
    if (!find(*left, product.a, of_a) || !find(*right, product.b, of_b)) return {};
    return sorted(product, of_a, of_b) ? std::optional(std::move(product)) : std::nullopt;
  }

 private:
  bool find(const ir::Load& load, MatrixProduct::Operand& operand, Dimensions& dimensions) {
    const std::optional<std::size_t> input = input_of(program_, load.buffer);
    if (!input || !plan_.strides[*input].empty() || !is_float(plan_.dtypes[*input])) return false;
    operand.parameter = *input;
    operand.dtype = plan_.dtypes[*input];
    std::optional<Dimensions> found = dimensions_of(load.indices, program_.parameters[*input].tensor.shape(), axes_);
    if (!found) return false;
    dimensions = std::move(*found);
    for (const auto& [variable, dimension] : dimensions) extents_[variable] = plan_.shapes[*input][dimension];
    return true;
  }

  // Sorts the variables by the tensors that have them. Returns false if one is in a single tensor alone.
  bool sorted(MatrixProduct& product, const Dimensions& of_a, const Dimensions& of_b) {
    std::vector<const void*> batch, rows, columns, inner;
    for (const ir::Axis& axis : axes_) {
      const void* const variable = axis.var.get();
      const bool in_a = of_a.contains(variable), in_b = of_b.contains(variable), in_c = c_.contains(variable);
      if (in_a && in_b) {
        (in_c ? batch : inner).push_back(variable);
      } else if (in_c && (in_a || in_b)) {
        (in_a ? rows : columns).push_back(variable);
      } else {
        return false;
      }
    }
    if (inner.empty() || !plan_.strides[parameter_].empty()) return false;
    const auto offsets = [&](const std::vector<const void*>& variables, const Dimensions& dimensions,
                             std::size_t parameter) {
      std::vector<std::int64_t> extents;
      for (const void* const variable : variables) extents.push_back(extents_.at(variable));
      return offsets_of(variables, extents, dimensions, plan_.shapes[parameter]);
    };
    product.a.batch = offsets(batch, of_a, product.a.parameter);
    product.a.outer = offsets(rows, of_a, product.a.parameter);
    product.a.inner = offsets(inner, of_a, product.a.parameter);
    product.b.batch = offsets(batch, of_b, product.b.parameter);
    product.b.outer = offsets(columns, of_b, product.b.parameter);
    product.b.inner = offsets(inner, of_b, product.b.parameter);
    product.batch = offsets(batch, c_, parameter_);
    product.rows = offsets(rows, c_, parameter_);
    product.columns = offsets(columns, c_, parameter_);
    return true;
  }

  const lang::Program& program_;
  const CallPlan& plan_;
  std::size_t parameter_;
  std::vector<ir::Axis> axes_;
  Dimensions c_;
  std::map<const void*, std::int64_t> extents_;
};

// Elements of a tensor as doubles.
class Elements {
 public:
  Elements(DType dtype, const void* first)
      : dtype_(dtype), size_(dtype_bytes(dtype)), first_(static_cast<const std::uint8_t*>(first)) {}
  double operator[](std::uint64_t at) const { return load_float(dtype_, first_ + at * size_); }

 private:
  DType dtype_;
  std::size_t size_;
  const std::uint8_t* first_;
};

void add(Sums& sums, double factor, const Sums& terms) {
  for (std::size_t v = 0; v < kVectors; ++v) sums[v] += factor * terms[v];
}

// Sums of a line of elements: with each vector, and of squares.
struct Line {
  Sums sums{};
  double squares = 0;

  void add_element(double value, const Sums& signs, double weight = 1) {
    add(sums, value, signs);
    squares += value * value * weight;
  }
};

class Checker {
 public:
  Checker(const MatrixProduct& product, std::span<const void* const> arguments, DType output,
          const std::vector<std::uint8_t>& bytes, const Tolerance& tolerance, lang::RoundingBound bound)
      : product_(product),
        a_(product.a.dtype, arguments[product.a.parameter]),
        b_(product.b.dtype, arguments[product.b.parameter]),
        c_(output, bytes.data()),
        tolerance_(tolerance) {
    const auto terms = static_cast<double>(product.a.inner.size()),
               sums = static_cast<double>(product.batch.size() * product.rows.size());
    // The error of an element, relative to the root of the sum of its terms' squares. Errors of random terms are on
    // average no larger than the bound, and it is their squares that add up; only a single element needs a multiple of
    // it.
    if (tolerance.rounding > 0)
      element_error_ = lang::unit_roundoff(product.accumulator) * (bound == lang::RoundingBound::square_root
                                                                       ? kLargestPartial * std::sqrt(terms)
                                                                       : tolerance.rounding * terms * std::sqrt(terms));
    output_error_ = tolerance.rtol + lang::unit_roundoff(output);
    factor_ = std::sqrt(2 * std::log(2 * sums * kVectors / kFalseAlarms));
  }

  std::optional<VectorCheck> run() {
    draw();
    VectorCheck result{kVectors};
    for (std::size_t i = 0; i < product_.batch.size(); ++i) {
      const std::vector<Line> of_b = lines_of_b(product_.b.batch[i]);
      for (std::size_t r = 0; r < product_.rows.size(); ++r) {
        const std::optional<bool> is_right =
            check_row(product_.a.batch[i] + product_.a.outer[r], of_b, product_.batch[i] + product_.rows[r]);
        if (!is_right) return std::nullopt;
        if (!*is_right && !result.wrong_row) result.wrong_row = product_.batch[i] + product_.rows[r];
      }
    }
    return result;
  }

 private:
  void draw() {
    std::random_device device;
    std::mt19937_64 random(std::uint64_t{device()} << 32 | device());
    signs_.resize(product_.columns.size());
    for (Sums& signs : signs_) {
      std::uint64_t bits = random();
      for (double& sign : signs) {
        sign = (bits & 1) != 0 ? 1 : -1;
        bits >>= 1;
      }
    }
  }

  std::vector<Line> lines_of_b(std::uint64_t begin) const {
    std::vector<Line> lines(product_.b.inner.size());
    for (std::size_t k = 0; k < lines.size(); ++k)
      for (std::size_t j = 0; j < signs_.size(); ++j)
        lines[k].add_element(b_[begin + product_.b.inner[k] + product_.b.outer[j]], signs_[j]);
    return lines;
  }

  // Returns nothing if a number is not finite.
  std::optional<bool> check_row(std::uint64_t a, const std::vector<Line>& of_b, std::uint64_t c) const {
    Line expected, found;
    for (std::size_t k = 0; k < of_b.size(); ++k)
      expected.add_element(a_[a + product_.a.inner[k]], of_b[k].sums, of_b[k].squares);
    for (std::size_t j = 0; j < signs_.size(); ++j) found.add_element(c_[c + product_.columns[j]], signs_[j]);
    const double allowed =
        factor_ * (element_error_ * std::sqrt(expected.squares) + output_error_ * std::sqrt(found.squares) +
                   (tolerance_.atol + lang::smallest_error(product_.accumulator)) *
                       std::sqrt(static_cast<double>(signs_.size())));
    if (!std::isfinite(allowed)) {
      // A correct sum may have overflowed, or there was no number among the inputs.
      const double most = std::sqrt(expected.squares * static_cast<double>(of_b.size()));
      return most < lang::largest_of(product_.accumulator) / 2 ? std::optional(false) : std::nullopt;
    }
    for (std::size_t v = 0; v < kVectors; ++v)
      if (!(std::fabs(expected.sums[v] - found.sums[v]) <= allowed)) return false;
    return true;
  }

  const MatrixProduct& product_;
  Elements a_, b_, c_;
  Tolerance tolerance_;
  double element_error_ = 0, output_error_ = 0, factor_ = 0;
  std::vector<Sums> signs_;
};

}  // namespace

double MatrixProduct::elements() const {
  const auto in = [&](const Operand& operand) {
    return static_cast<double>(operand.batch.size()) * static_cast<double>(operand.outer.size()) *
           static_cast<double>(operand.inner.size());
  };
  return in(a) + in(b) +
         static_cast<double>(batch.size()) * static_cast<double>(rows.size()) * static_cast<double>(columns.size());
}

std::optional<MatrixProduct> product_of(const lang::Program& program, const CallPlan& plan, std::size_t parameter) {
  return Matcher(program, plan, parameter).match();
}

std::optional<VectorCheck> check_by_vectors(const MatrixProduct& product, std::span<const void* const> arguments,
                                            DType output, const std::vector<std::uint8_t>& bytes,
                                            const Tolerance& tolerance, lang::RoundingBound bound, double seconds) {
  if (product.elements() * kSecondsPerElement > seconds || bytes.empty()) return std::nullopt;
  return Checker(product, arguments, output, bytes, tolerance, bound).run();
}

}  // namespace ferry::verify
