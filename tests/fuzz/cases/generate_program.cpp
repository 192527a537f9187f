#include "tests/fuzz/cases/generate_program.h"

#include "tests/fuzz/cases/byte_products.h"
#include "tests/fuzz/cases/elements.h"
#include "tests/fuzz/cases/expression_generator.h"
#include "tests/fuzz/cases/index_generator.h"
#include "tests/fuzz/cases/size.h"

#include <algorithm>
#include <deque>
#include <numeric>

namespace ferry::fuzz {

namespace {

constexpr std::int64_t kMaxPoints = 4000;     // points of one stage, including its reduction
constexpr std::int64_t kMaxElements = 60000;  // elements of one tensor

class ProgramGenerator {
 public:
  explicit ProgramGenerator(Random& random) : random_(random) {}

  // Returns false if the program turned out too large.
  bool run() {
    for (const char* name : kSizeNames)
      made.sizes[name] = random_.of<std::int64_t>({0, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 23, 31, 37});
    made.sizes[kLargeScalar] = large_scalar(random_);
    symbolic_percent_ = random_.of<int>({0, 30, 100});
    made.may_leave = random_.chance(8);
    wanted_stages_ = static_cast<std::size_t>(random_.between(1, 4));
    Tensor first{"S0", random_type(random_), {}, random_.chance(30)};
    const auto rank = random_.between(random_.chance(10) ? 0 : 1, 3);
    for (std::int64_t d = 0; d < rank; ++d) first.extents.push_back(random_extent(rank));
    stages_.push_back(first);
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      current_ = s;
      generate_stage();
      if (too_large_) return false;
    }
    for (auto statements = stage_statements_.rbegin(); statements != stage_statements_.rend(); ++statements)
      made.statements.insert(made.statements.end(), statements->begin(), statements->end());
    made.outputs.push_back("S0");
    for (std::size_t s = 1; s < stages_.size(); ++s)
      if (random_.chance(15)) made.outputs.push_back(stages_[s].name);
    finish_inputs();
    return !too_large_;
  }

  FuzzCase made;

 private:
  Size random_extent(std::int64_t rank) {
    if (random_.chance(symbolic_percent_)) {
      Size size;
      size.times[random_.below(3)] = 1;
      if (random_.chance(15)) size.number = 1;
      return size;
    }
    if (rank >= 3) return {random_.of<std::int64_t>({1, 2, 3, 4, 5, 7, 8, 9, 13, 16})};
    return {random_.of<std::int64_t>({0, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 29, 32, 40})};
  }

  void generate_stage() {
    // A copy, because adding stages moves the others in memory.
    const Tensor stage = stages_[current_];
    const char* const names[] = {"i", "j", "k"};
    spatial_.clear();
    for (std::size_t d = 0; d < stage.extents.size(); ++d) spatial_.push_back({names[d], stage.extents[d]});
    std::vector<Statement> statements;
    const bool argmax = !is_float(stage.type) && stage.type == DType::i64 && random_.chance(30);
    const bool in_place = current_ == 0 && !stage.exact && random_.chance(20);
    if (in_place) {
      std::vector<std::string> shape;
      for (const Size& extent : stage.extents) shape.push_back(extent.text());
      made.inputs.push_back({stage.name, stage.type, shape});
      give_strides(made.inputs.back(), stage.extents, true);
      statements.push_back(update(stage));
    } else if (is_sequence(stage)) {
      statements.push_back(recurrence(stage));
    } else if (argmax || random_.chance(35)) {
      statements.push_back(reduction(stage, argmax));
    } else {
      statements.push_back(plain(stage));
    }
    if (!argmax && random_.chance(12)) statements.push_back(update(stage));
    if (is_sequence(stage)) statements.push_back(random_.chance(50) ? recurrence_in_place(stage) : scatter(stage));
    check_points(spatial_);
    stage_statements_.push_back(std::move(statements));
  }

  // Gives a tensor the strides of a part of a larger tensor: rows with gaps between them; for inputs also transposed or
  // repeated rows.
  void give_strides(InputTensor& tensor, const std::vector<Size>& extents, bool is_written) {
    if (extents.empty() || !random_.chance(15)) return;
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), 0);
    if (!is_written && random_.chance(40)) std::reverse(order.begin(), order.end());
    tensor.strides.resize(extents.size());
    std::int64_t stride = random_.of<std::int64_t>({1, 1, 1, 2, 3});
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::size_t d = order[i];
      const std::int64_t own = !is_written && random_.chance(8) ? 0 : stride;
      if (random_.chance(50)) {
        const std::string name = "L" + std::to_string(strides_++);
        made.sizes[name] = own;
        tensor.strides[d] = name;
      } else {
        tensor.strides[d] = std::to_string(own);
      }
      stride =
          stride * std::max<std::int64_t>(1, extents[d].value(made.sizes)) + random_.of<std::int64_t>({0, 0, 1, 5});
    }
    if (stride > kMaxElements) too_large_ = true;
  }

  Statement statement(const Tensor& stage, std::string op, const std::vector<NamedAxis>& axes) {
    Statement made_statement{stage.name, {}, std::move(op), {}, {}};
    for (const NamedAxis& axis : spatial_) made_statement.axes.push_back(axis.name);
    for (const NamedAxis& axis : axes) made_statement.ranges.push_back({axis.name, axis.extent.text()});
    return made_statement;
  }

  Node value(DType type, bool exact, const std::vector<NamedAxis>& axes, int depth) {
    axes_ = axes;
    std::vector<std::string> names;
    for (const NamedAxis& axis : axes) names.push_back(axis.name);
    ExpressionGenerator generator(random_, names, [&](DType wanted, bool be_exact) { return read(wanted, be_exact); });
    generator_ = &generator;
    Node made_value = generator.expression(type, exact, depth);
    generator_ = nullptr;
    return made_value;
  }

  Statement plain(const Tensor& stage) {
    Statement made_statement = statement(stage, "=", spatial_);
    made_statement.value = value(stage.type, stage.exact, spatial_, static_cast<int>(random_.between(1, 4)));
    return made_statement;
  }

  std::vector<NamedAxis> with_reduction() {
    std::vector<NamedAxis> axes = spatial_;
    const std::int64_t count = random_.between(1, 2);
    for (std::int64_t i = 0; i < count; ++i) axes.push_back({i == 0 ? "r" : "s", random_extent(i == 0 ? 2 : 3)});
    check_points(axes);
    return axes;
  }

  std::string reduction_operator(const Tensor& stage) {
    if (stage.type == DType::boolean) return random_.of<std::string>({"any=", "all="});
    if (is_float(stage.type) && stage.exact) return random_.of<std::string>({"min=", "max="});
    return random_.of<std::string>({"+=", "+=", "+=", "*=", "min=", "max="});
  }

  // Makes every reduced axis occur in the value.
  void use_all(Statement& made_statement, DType type, const std::vector<NamedAxis>& axes) {
    const std::string text = to_text(made_statement.value);
    for (std::size_t a = spatial_.size(); a < axes.size(); ++a) {
      if (text.find("(" + axes[a].name + ")") != std::string::npos) continue;
      Node old = std::move(made_statement.value);
      const std::string condition = "(" + axes[a].name + " % 2 == 0 ? ";
      const bool exact = old.exact;
      Node other = type == DType::boolean ? Node{"true", type} : Node{std::string(type_text(type)) + "(1)", type};
      made_statement.value = {condition + "$0 : $1)", type, {std::move(old), std::move(other)}, exact};
    }
  }

  Statement reduction(const Tensor& stage, bool argmax) {
    if (auto product = byte_product(random_, stage, spatial_, inputs_)) return *std::move(product);
    const std::vector<NamedAxis> axes = with_reduction();
    if (argmax) {
      DType type = random_type(random_);
      if (type == DType::boolean) type = DType::u8;
      Statement made_statement = statement(stage, random_.chance(50) ? "argmax=!" : "argmin=!", axes);
      if (random_.chance(40)) {
        made_statement.target = stage.name + "v, " + stage.name;
        if (random_.chance(70)) made.outputs.push_back(stage.name + "v");
      }
      made_statement.value = value(type, true, axes, static_cast<int>(random_.between(1, 2)));
      use_all(made_statement, type, axes);
      return made_statement;
    }
    Statement made_statement = statement(stage, reduction_operator(stage) + "!", axes);
    made_statement.value = value(stage.type, stage.exact, axes, static_cast<int>(random_.between(1, 3)));
    use_all(made_statement, stage.type, axes);
    return made_statement;
  }

  // Returns a statement that starts from the tensor's current contents.
  Statement update(const Tensor& stage) {
    if (random_.chance(50)) {
      const std::vector<NamedAxis> axes = random_.chance(60) ? with_reduction() : spatial_;
      Statement made_statement = statement(stage, reduction_operator(stage), axes);
      made_statement.value = value(stage.type, stage.exact, axes, 1);
      use_all(made_statement, stage.type, axes);
      return made_statement;
    }
    Statement made_statement = statement(stage, "=", spatial_);
    // Restrict one axis, so that the rest of the tensor keeps its values.
    if (!spatial_.empty() && random_.chance(25)) {
      Range& part = made_statement.ranges.at(random_.below(spatial_.size()));
      (random_.chance(50) ? part.begin : part.extent) = "(" + part.extent + ")/2";
    }
    std::string own = stage.name;
    std::string indices;
    const bool backwards = random_.chance(30);
    for (const NamedAxis& axis : spatial_)
      indices += (indices.empty() ? "" : ",") + (backwards ? axis.extent.text() + "-1-" + axis.name : axis.name);
    if (!spatial_.empty()) own += "(" + indices + ")";
    Node other = value(stage.type, stage.exact, spatial_, 1);
    const Node self{own, stage.type, {}, stage.exact};
    const bool exact = self.exact && other.exact;
    const bool floating = is_float(stage.type);
    const char* const operation = stage.type == DType::boolean ? "($0 || $1)"
                                  : floating && stage.exact    ? "min($0, $1)"
                                                               : "($0 * $1 + $0)";
    made_statement.value = {operation, stage.type, {self, std::move(other)}, exact};
    return made_statement;
  }

  // Decides without a draw from the stream of random numbers, so that programs without sequences stay what they were.
  bool is_sequence(const Tensor& stage) const {
    Random copy = random_;
    for (int i = 0; i < 5; ++i) copy.below(100);
    return !stage.extents.empty() && copy.chance(8);
  }

  // Returns a statement that computes a new tensor from its own elements.
  Statement recurrence(const Tensor& stage) {
    const std::size_t along = random_.below(spatial_.size());
    const std::int64_t distance = random_.between(1, 2);
    Statement made_statement = statement(stage, "=", spatial_);
    made_statement.along = spatial_[along].name;
    Node earlier = from(distance, spatial_[along], earlier_element(random_, stage, spatial_, along, distance));
    made_statement.value = combined(random_, stage, std::move(earlier), value(stage.type, stage.exact, spatial_, 1));
    return made_statement;
  }

  // The same for a tensor that has values; a reduction over elements of one step before, or not.
  Statement recurrence_in_place(const Tensor& stage) {
    const std::size_t along = random_.below(spatial_.size());
    const std::int64_t distance = random_.between(1, 2);
    const bool reduces = (!is_float(stage.type) || !stage.exact) && random_.chance(40);
    const std::vector<NamedAxis> axes = reduces ? with_reduction() : spatial_;
    Statement made_statement = statement(stage, reduces ? reduction_operator(stage) : "=", axes);
    made_statement.along = spatial_[along].name;
    made_statement.ranges.at(along).begin = std::to_string(distance);
    Node other = value(stage.type, stage.exact, axes, 1);
    made_statement.value =
        combined(random_, stage, earlier_element(random_, stage, spatial_, along, distance), std::move(other));
    use_all(made_statement, stage.type, axes);
    return made_statement;
  }

  // Returns a statement that updates elements with computed indices in one dimension.
  Statement scatter(const Tensor& stage) {
    const std::size_t dimension = random_.below(spatial_.size());
    std::vector<NamedAxis> axes = spatial_;
    axes[dimension] = {"u", spatial_[dimension].extent.scaled(random_.between(1, 2))};
    check_points(axes);
    Statement made_statement = statement(stage, random_.chance(40) ? "=" : reduction_operator(stage), axes);
    made_statement.along = "u";
    std::string place = "u*" + std::to_string(random_.between(1, 5));
    if (inputs_.size() < kMaxInputs) {
      DType type = random_integer(random_);
      if (type == DType::u64) type = DType::i64;
      inputs_.push_back({"A" + std::to_string(inputs_.size()), type, {axes[dimension].extent}, true});
      place = "int64(" + inputs_.back().name + "(u))";
    }
    made_statement.axes[dimension] = "(" + place + ")%(" + spatial_[dimension].extent.text() + ")";
    made_statement.value = value(stage.type, stage.exact, axes, static_cast<int>(random_.between(1, 2)));
    return made_statement;
  }

  // Reads an element of an input or of another stage, converted if no candidate has this type.
  Node read(DType type, bool exact) {
    std::vector<Tensor*> candidates;
    const auto suits = [&](const Tensor& tensor) { return tensor.exact || (!exact && is_float(type)); };
    for (std::size_t s = current_ + 1; s < stages_.size(); ++s)
      if (suits(stages_[s])) candidates.push_back(&stages_[s]);
    const bool may_add_stage = stages_.size() < wanted_stages_;
    Tensor* tensor = nullptr;
    if (may_add_stage && random_.chance(60)) {
      stages_.push_back(new_tensor("S" + std::to_string(stages_.size()), type));
      stages_.back().exact = exact || !is_float(stages_.back().type) || random_.chance(25);
      tensor = &stages_.back();
      // Integers converted from rounded floats would not be exact; the reader converts the value.
      if (!suits(*tensor)) tensor->exact = true;
    } else if (!candidates.empty() && random_.chance(60)) {
      tensor = random_.of(candidates);
    } else if (!inputs_.empty() && (inputs_.size() == kMaxInputs || random_.chance(50))) {
      tensor = &inputs_[random_.below(inputs_.size())];
      for (Tensor& input : inputs_)
        if (input.type == type && random_.chance(60)) tensor = &input;
    } else {
      inputs_.push_back(new_tensor("A" + std::to_string(inputs_.size()), type));
      tensor = &inputs_.back();
    }
    return element_of(*tensor, type);
  }

  Tensor new_tensor(std::string name, DType type) {
    Tensor tensor{std::move(name), random_.chance(75) ? type : random_type(random_), {}, true};
    tensor.extents.resize(static_cast<std::size_t>(random_.between(random_.chance(8) ? 0 : 1, 3)));
    return tensor;
  }

  // Combines the element with its neighbours in one dimension.
  Node window_of(Tensor& tensor, std::vector<std::string> indices) {
    const std::size_t dimension = random_.below(indices.size());
    const std::int64_t neighbours = random_.between(1, 2);
    const char* const combined = tensor.type == DType::boolean ? "($0 || $1)"
                                 : is_float(tensor.type)       ? "max($0, $1)"
                                                               : "($0 + $1)";
    Node all{access(tensor, indices), tensor.type, {}, tensor.exact};
    for (std::int64_t i = 1; i <= neighbours; ++i) {
      indices[dimension] += "+1";
      Node other{access(tensor, indices), tensor.type, {}, tensor.exact};
      all = {combined, tensor.type, {std::move(all), std::move(other)}, tensor.exact};
    }
    tensor.extents[dimension] = tensor.extents[dimension].plus(neighbours);
    return all;
  }

  Node element_of(Tensor& tensor, DType type) {
    std::vector<std::string> indices;
    std::string guard;
    IndexGenerator generator(random_, axes_, inputs_);
    for (std::size_t d = 0; d < tensor.extents.size(); ++d)
      indices.push_back(generator.index(tensor.extents[d], d, guard));
    Node load{access(tensor, indices), tensor.type, {}, tensor.exact};
    if (!guard.empty()) {
      Node other = generator_->literal(tensor.type);
      const bool exact = load.exact;
      load = {"(" + guard + " ? $0 : $1)", tensor.type, {std::move(load), std::move(other)}, exact};
    } else if (!indices.empty() && random_.chance(15)) {
      load = window_of(tensor, std::move(indices));
    }
    if (tensor.type == type) return load;
    const bool exact = load.exact;
    return {std::string(type_text(type)) + "($0)", type, {std::move(load)}, exact};
  }

  void check_points(const std::vector<NamedAxis>& axes) {
    std::int64_t points = 1;
    for (const NamedAxis& axis : axes) points *= std::max<std::int64_t>(1, axis.extent.value(made.sizes));
    if (points > kMaxPoints) too_large_ = true;
  }

  void finish_inputs() {
    for (Tensor& input : inputs_) {
      if (made.may_leave && !input.extents.empty() && random_.chance(60)) {
        Size& extent = input.extents[random_.below(input.extents.size())];
        if (extent.value(made.sizes) > 0) extent = extent.plus(-1);
      }
      InputTensor parameter{input.name, input.type, {}};
      std::int64_t elements = 1;
      for (const Size& extent : input.extents) {
        parameter.shape.push_back(extent.text());
        elements *= std::max<std::int64_t>(1, extent.value(made.sizes));
      }
      if (elements > kMaxElements) too_large_ = true;
      give_strides(parameter, input.extents, false);
      parameter.constant = random_.chance(30);
      made.inputs.push_back(std::move(parameter));
    }
    // A size is deduced from an input that has it as a dimension, and is an argument otherwise.
    const std::string text = source_of(made);
    for (const char* name : {kSizeNames[0], kSizeNames[1], kSizeNames[2], kLargeScalar}) {
      const bool used = text.find(std::string(name)) != std::string::npos;
      bool bare = false;
      for (const InputTensor& input : made.inputs)
        for (const std::string& extent : input.shape) bare = bare || extent == name;
      if (used && !bare) made.scalars.push_back(name);
      if (!used) made.sizes.erase(name);
    }
  }

  Random& random_;
  int symbolic_percent_ = 0;
  std::size_t wanted_stages_ = 1;
  std::deque<Tensor> stages_, inputs_;
  std::size_t current_ = 0;
  std::vector<std::vector<Statement>> stage_statements_;
  std::vector<NamedAxis> spatial_, axes_;
  ExpressionGenerator* generator_ = nullptr;
  int strides_ = 0;  // number of strides named so far
  bool too_large_ = false;
};

}  // namespace

FuzzCase generate_program(Random& random) {
  while (true) {
    ProgramGenerator generator(random);
    if (generator.run()) return std::move(generator.made);
  }
}

}  // namespace ferry::fuzz
