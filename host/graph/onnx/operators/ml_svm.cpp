// Support vector machines, as LIBSVM defines them (C. Chang and C. Lin, "LIBSVM: a library for support vector
// machines", 2011).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/ml.h"

namespace ferry::graph::onnx {
namespace {

// Each class takes a step in each iteration of the estimate of probabilities.
constexpr std::size_t kMaxProbableClasses = 64;

class Kernel {
 public:
  explicit Kernel(NodeImport& node) : node_(node), of_(node), kind_(node.text("kernel_type", "LINEAR")) {
    parameters_ = node.reals("kernel_params");
    parameters_.resize(3);
    node.expect(kind_ == "LINEAR" || kind_ == "POLY" || kind_ == "RBF" || kind_ == "SIGMOID",
                "the kernel_type LINEAR, POLY, RBF or SIGMOID", [&] { return kind_; });
  }

  // Returns the kernel of each row of x with each of so many vectors, [N, vectors].
  Value operator()(const Value& x, const std::vector<double>& vectors, std::int64_t count) const {
    const auto all = static_cast<std::int64_t>(vectors.size());
    node_.expect(count > 0 && all % count == 0, "support vectors of equal lengths",
                 [&] { return std::to_string(all) + " numbers for " + std::to_string(count) + " vectors"; });
    const std::int64_t features = all / count;
    node_.equal("the features", x.type.shape[1], "those of a support vector", features);
    const Value matrix = ml::floats(node_, x.type.dtype, {count, features}, vectors);
    const double gamma = parameters_[0], offset = parameters_[1], degree = parameters_[2];
    if (kind_ == "RBF") {
      const Value difference = of_.sub(of_.reshape(x, {x.type.shape[0], 1, features}), matrix);
      const Value distance = of_.reduce(Operator::reduce_sum, of_.mul(difference, difference), {2}, false);
      return of_.exp(of_.mul(distance, -gamma));
    }
    const Value product = of_.matmul(x, matrix, {false, true});
    if (kind_ == "LINEAR") return product;
    const Value moved = of_.add(of_.mul(product, gamma), offset);
    return kind_ == "SIGMOID" ? of_.tanh(moved) : power(moved, degree);
  }

 private:
  Value power(const Value& x, double degree) const {
    constexpr double kMost = 8;
    if (degree < 1 || degree > kMost || std::floor(degree) != degree) return of_.pow(x, degree);
    Value result = x;
    for (double d = 1; d < degree; ++d) result = of_.mul(result, x);
    return result;
  }

  const NodeImport& node_;
  const NodeOps of_;
  std::string kind_;
  std::vector<double> parameters_;
};

// Decisions between any two of the classes.
class Votes {
 public:
  Votes(NodeImport& node, const Value& x, std::size_t classes) : node_(node), of_(node), classes_(classes) {
    for (const std::int64_t count : node.integers("vectors_per_class")) vectors_.push_back(count);
    node.expect(vectors_.size() == classes && std::ranges::all_of(vectors_, [](std::int64_t n) { return n >= 0; }),
                "a number of vectors for each class", [&] { return std::to_string(vectors_.size()); });
    const std::int64_t count = std::accumulate(vectors_.begin(), vectors_.end(), std::int64_t{0});
    const std::vector<double> coefficients = node.reals("coefficients"), rho = node.reals("rho");
    const std::size_t pairs = classes * (classes - 1) / 2;
    node.expect(coefficients.size() == static_cast<std::size_t>(count) * (classes - 1) && rho.size() >= pairs,
                "a coefficient for each vector and other class, and a rho for each pair of classes",
                [&] { return std::to_string(coefficients.size()) + " and " + std::to_string(rho.size()); });
    // A column for each pair: those of the first class's vectors against the second, and the other way around.
    std::vector<double> columns(static_cast<std::size_t>(count) * pairs);
    std::vector<std::int64_t> start(classes, 0);
    for (std::size_t c = 1; c < classes; ++c) start[c] = start[c - 1] + vectors_[c - 1];
    for (std::size_t i = 0, pair = 0; i < classes; ++i) {
      for (std::size_t j = i + 1; j < classes; ++j, ++pair) {
        const auto add = [&](std::size_t of_class, std::size_t row) {
          for (std::int64_t v = start[of_class]; v < start[of_class] + vectors_[of_class]; ++v)
            columns[static_cast<std::size_t>(v) * pairs + pair] =
                coefficients[row * static_cast<std::size_t>(count) + static_cast<std::size_t>(v)];
        };
        add(i, j - 1);
        add(j, i);
        first_.push_back(static_cast<std::int64_t>(i));
        second_.push_back(static_cast<std::int64_t>(j));
      }
    }
    const auto width = static_cast<std::int64_t>(pairs);
    const Value kernels = Kernel(node)(x, node.reals("support_vectors"), count);
    const Value matrix = ml::floats(node, x.type.dtype, {count, width}, columns);
    decisions_ = of_.add(of_.matmul(kernels, matrix),
                         ml::floats(node, x.type.dtype, {width}, {rho.begin(), rho.begin() + width}));
  }

  // [N, pairs]; positive for the first class of a pair.
  const Value& decisions() const { return decisions_; }

  // Returns the class that most decisions are for, the first of several.
  Value winners() const {
    const Value is_first = node_.cast(of_.less(0, decisions_), DType::f32);
    std::vector<double> wins(first_.size() * classes_), losses(wins.size());
    for (std::size_t pair = 0; pair < first_.size(); ++pair) {
      wins[pair * classes_ + static_cast<std::size_t>(first_[pair])] = 1;
      losses[pair * classes_ + static_cast<std::size_t>(second_[pair])] = 1;
    }
    const auto pairs = static_cast<std::int64_t>(first_.size()), classes = static_cast<std::int64_t>(classes_);
    const Value votes =
        of_.add(of_.matmul(is_first, ml::floats(node_, DType::f32, {pairs, classes}, wins)),
                of_.matmul(of_.sub(1, is_first), ml::floats(node_, DType::f32, {pairs, classes}, losses)));
    return of_.reduce(Operator::arg_max, votes, {1}, false);
  }

  // Returns the probabilities of the classes, [N, classes], from those of all pairs (T. Wu, C. Lin and R. Weng,
  // "Probability estimates for multi-class classification by pairwise coupling", 2004, algorithm 2).
  Value probabilities(const std::vector<double>& a, const std::vector<double>& b) const {
    constexpr double kLeast = 1e-7;
    const auto pairs = static_cast<std::int64_t>(first_.size()), classes = static_cast<std::int64_t>(classes_);
    node_.expect(static_cast<std::int64_t>(a.size()) == pairs && static_cast<std::int64_t>(b.size()) == pairs,
                 "prob_a and prob_b of each pair of classes", [&] { return std::to_string(a.size()); });
    const DType dtype = decisions_.type.dtype;
    const Value exponent =
        of_.add(of_.mul(decisions_, ml::floats(node_, dtype, {pairs}, a)), ml::floats(node_, dtype, {pairs}, b));
    const Value first = of_.clamp(of_.sigmoid(of_.neg(exponent)), kLeast, 1 - kLeast);
    node_.expect(classes_ <= kMaxProbableClasses, "probabilities of at most 64 classes",
                 [&] { return std::to_string(classes_); });
    return coupled(first, classes);
  }

 private:
  Value coupled(const Value& first, std::int64_t classes) const {
    const DType dtype = first.type.dtype;
    const Size& rows = first.type.shape[0];
    // r[i, j]: the probability of i where it is i or j; 0 on the diagonal.
    const auto pairs = static_cast<std::int64_t>(first_.size());
    const Value padded = of_.concat({first, of_.sub(1, first), of_.filled({dtype, {rows, 1}}, 0)}, 1);
    std::vector<std::int64_t> places(static_cast<std::size_t>(classes * classes), 2 * pairs), back = places;
    for (std::size_t pair = 0; pair < first_.size(); ++pair) {
      const std::int64_t i = first_[pair], j = second_[pair], p = static_cast<std::int64_t>(pair);
      places[static_cast<std::size_t>(i * classes + j)] = back[static_cast<std::size_t>(j * classes + i)] = p;
      places[static_cast<std::size_t>(j * classes + i)] = back[static_cast<std::size_t>(i * classes + j)] = p + pairs;
    }
    const auto matrix = [&](const std::vector<std::int64_t>& of_pairs) {
      return of_.reshape(of_.gather(padded, ml::integers(node_, of_pairs), 1), {rows, classes, classes});
    };
    const Value r = matrix(places), transposed = matrix(back);
    const Value diagonal = of_.reduce(Operator::reduce_sum, of_.mul(transposed, transposed), {2}, false);
    const Value is_diagonal = of_.equal(of_.iota(classes, 0, 2), of_.iota(classes, 1, 2));
    const Value q = of_.where(is_diagonal, of_.reshape(diagonal, {rows, classes, 1}), of_.neg(of_.mul(r, transposed)));
    const Value start = of_.filled({dtype, {rows, classes}}, 1.0 / static_cast<double>(classes));
    const std::int64_t iterations = std::max<std::int64_t>(100, classes);
    return node_.add_loop(iterations, {start}, {}, [&](const std::vector<Value>& states, const std::vector<Value>&) {
      return LoopResults{{improved(q, diagonal, states[0], classes)}, {}};
    })[0];
  }

  // One iteration; rows whose error is small enough stay as they are.
  Value improved(const Value& q, const Value& diagonal, const Value& before, std::int64_t classes) const {
    const double enough = 0.005 / static_cast<double>(classes);
    const Size& rows = before.type.shape[0];
    Value p = before;
    Value qp = of_.reshape(of_.matmul(q, of_.reshape(p, {rows, classes, 1})), {rows, classes});
    Value pqp = of_.reduce(Operator::reduce_sum, of_.mul(p, qp), {1});
    const Value error = of_.reduce(Operator::reduce_max, of_.abs(of_.sub(qp, pqp)), {1});
    const Value is_done = of_.less(error, enough);
    for (std::int64_t t = 0; t < classes; ++t) {
      const Value own = of_.slice(diagonal, 1, t, 1), own_qp = of_.slice(qp, 1, t, 1);
      const Value step = of_.div(of_.sub(pqp, own_qp), own), scale = of_.add(step, 1);
      const Value row = of_.reshape(of_.slice(q, 1, t, 1), {rows, classes});
      pqp =
          of_.div(of_.div(of_.add(pqp, of_.mul(step, of_.add(of_.mul(step, own), of_.mul(own_qp, 2)))), scale), scale);
      qp = of_.div(of_.add(qp, of_.mul(step, row)), scale);
      const Value is_own = of_.equal(of_.iota(classes, 1, 2), static_cast<double>(t));
      p = of_.div(of_.where(is_own, of_.add(p, step), p), scale);
    }
    return of_.where(is_done, before, p);
  }

  const NodeImport& node_;
  const NodeOps of_;
  std::size_t classes_;
  std::vector<std::int64_t> vectors_, first_, second_;
  Value decisions_;
};

// Without support vectors the coefficients are those of a linear model.
Value linear_scores(NodeImport& node, const Value& x, std::int64_t targets) {
  const NodeOps of(node);
  const std::vector<double> coefficients = node.reals("coefficients"), rho = node.reals("rho");
  const auto count = static_cast<std::int64_t>(coefficients.size());
  node.expect(!rho.empty() && count > 0 && count % targets == 0, "coefficients for each class, and rho",
              [&] { return std::to_string(count); });
  node.equal("the features", x.type.shape[1], "the coefficients of a class", count / targets);
  const Value matrix = ml::floats(node, x.type.dtype, {targets, count / targets}, coefficients);
  return of.add(of.matmul(x, matrix, {false, true}), of.number(x, rho[0]));
}

}  // namespace

void import_svm_regressor(NodeImport& node) {
  const NodeOps of(node);
  const Value x = ml::rows_of(node);
  const std::int64_t supports = node.integer("n_supports", 0);
  const bool is_one_class = node.flag("one_class", false);
  node.ignore({"kernel_params", "kernel_type", "support_vectors"});
  Value scores;
  if (supports == 0) {
    scores = linear_scores(node, x, 1);
  } else {
    const std::vector<double> coefficients = node.reals("coefficients"), rho = node.reals("rho");
    node.expect(static_cast<std::int64_t>(coefficients.size()) == supports && !rho.empty(),
                "a coefficient for each support vector, and rho", [&] { return std::to_string(coefficients.size()); });
    const Value kernels = Kernel(node)(x, node.reals("support_vectors"), supports);
    const Value weights = ml::floats(node, x.type.dtype, {supports, 1}, coefficients);
    scores = of.add(of.matmul(kernels, weights), of.number(x, rho[0]));
  }
  if (is_one_class) scores = of.where(of.less(0, scores), of.number(scores, 1), of.number(scores, -1));
  node.output(0, ml::transformed(node, node.cast(scores, DType::f32)));
}

void import_svm_classifier(NodeImport& node) {
  const NodeOps of(node);
  const ml::Classes classes(node);
  const Value x = ml::rows_of(node);
  const auto count = static_cast<std::int64_t>(classes.count());
  const std::vector<double> a = node.reals("prob_a"), b = node.reals("prob_b");
  node.ignore({"kernel_params", "kernel_type", "support_vectors", "vectors_per_class"});
  node.expect(count >= 2, "two or more classes", [&] { return std::to_string(count); });
  if (node.integers("vectors_per_class", std::vector<std::int64_t>()).empty()) {
    const Value scores = node.cast(linear_scores(node, x, count), DType::f32);
    node.output(0, classes.labels(node, of.reduce(Operator::arg_max, scores, {1}, false)));
    return node.output(1, ml::transformed(node, scores));
  }
  const Votes votes(node, x, classes.count());
  node.output(0, classes.labels(node, votes.winners()));
  if (!a.empty()) return node.output(1, ml::transformed(node, node.cast(votes.probabilities(a, b), DType::f32)));
  const Value decisions = node.cast(votes.decisions(), DType::f32);
  // One decision becomes a score for each of two classes.
  node.output(1, ml::transformed(node, count == 2 ? of.concat({of.neg(decisions), decisions}, 1) : decisions));
}

}  // namespace ferry::graph::onnx
