#include "host/lang/text/analyze.h"

#include "host/lang/names.h"
#include "host/lang/stage.h"
#include "host/lang/text/analyze_statement.h"

#include <algorithm>
#include <set>

namespace ferry::lang {
namespace {

using Names = std::set<std::string_view>;

void collect_names(const Syntax& syntax, Names& names) {
  if (syntax.kind == Syntax::Kind::name) names.insert(syntax.text);
  for (const Syntax& part : syntax.parts) collect_names(part, names);
}

// Collects the names that occur in the indices of tensors.
void collect_index_names(const Syntax& syntax, const Names& tensors, Names& names) {
  const bool element = syntax.kind == Syntax::Kind::call && tensors.contains(syntax.text);
  for (const Syntax& part : syntax.parts) {
    if (element) collect_names(part, names);
    collect_index_names(part, tensors, names);
  }
}

class Analysis {
 public:
  Analysis(const Source& source, const DefSyntax& def, const FixedSizes& fixed)
      : source_(source), def_(def), fixed_(fixed) {
    scope_.source = &source;
  }

  Program run() {
    for (const StatementSyntax& statement : def_.statements) {
      for (const Name& target : targets_of(statement)) scope_.computed.emplace(target.text);
    }
    for (const Name& output : def_.outputs) scope_.computed.emplace(output.text);
    scalars();
    sizes();
    tensors();
    requirements();  // first: the requirements on sizes that uses impose may rely on them
    statements();
    Program program = source_.at(def_.name.offset, [&] {
      return make_program(std::string(def_.name.text), parameters(), std::move(requirements_));
    });
    warn_of_unread(program);
    program.warnings = std::move(warnings_);
    return program;
  }

 private:
  CompileError error(std::size_t offset, const std::string& message) const { return source_.error(offset, message); }

  bool is_output(std::string_view name) const {
    return std::any_of(def_.outputs.begin(), def_.outputs.end(),
                       [&](const Name& output) { return output.text == name; });
  }

  // Names used where sizes and indices are used. Such a value is 64 bits wide, so that a call can check it: a parameter
  // 'int n' used there is an int64.
  Names size_like_names() const {
    Names tensors, names;
    for (const ParameterSyntax& parameter : def_.parameters) {
      if (parameter.shape) tensors.insert(parameter.name.text);
      for (const Syntax& size : parameter.shape.value_or(std::vector<Syntax>())) collect_names(size, names);
      for (const Syntax& stride : parameter.strides) collect_names(stride, names);
    }
    for (const StatementSyntax& statement : def_.statements) {
      for (const Name& target : targets_of(statement)) tensors.insert(target.text);
    }
    for (const StatementSyntax& statement : def_.statements) {
      collect_index_names(statement.value, tensors, names);
      for (const Syntax& index : statement.left) collect_names(index, names);
      for (const RangeSyntax& range : statement.ranges) {
        collect_names(range.begin, names);
        collect_names(range.end, names);
      }
    }
    for (const RequireSyntax& requirement : def_.requirements) collect_names(requirement.condition, names);
    return names;
  }

  void scalars() {
    const Names size_like = size_like_names();
    for (const ParameterSyntax& parameter : def_.parameters) {
      if (parameter.shape) continue;
      const bool widen = ir::Type(parameter.dtype).is_int() && size_like.contains(parameter.name.text);
      const std::string name(parameter.name.text);
      claim(parameter.name);
      scope_.scalars.emplace(name, source_.at(parameter.name.offset, [&] {
        return var(name, widen ? ir::kIndex : ir::Type(parameter.dtype));
      }));
    }
  }

  void claim(const Name& name) const {
    if (scope_.has(name.text)) {
      throw error(name.offset, "expected different names, got another '" + std::string(name.text) + "'");
    }
  }

  // Names in shapes that are not scalars are sizes; each must be deducible from an argument.
  void sizes() {
    for (const ParameterSyntax& parameter : def_.parameters) {
      for (const Syntax& size : parameter.shape.value_or(std::vector<Syntax>())) {
        if (size.kind != Syntax::Kind::name || scope_.has(size.text)) continue;
        const std::string name(size.text);
        const auto fixed = fixed_.find(name);
        scope_.sizes.emplace(
            name, fixed != fixed_.end() ? Expr(fixed->second) : source_.at(size.offset, [&] { return var(name); }));
      }
    }
    for (const ParameterSyntax& parameter : def_.parameters) {
      for (const Syntax& size : parameter.shape.value_or(std::vector<Syntax>())) check_known(size);
    }
    for (const ParameterSyntax& parameter : def_.parameters) {
      for (const Syntax& stride : parameter.strides) stride_arguments(stride);
    }
  }

  // A name in a stride that is not declared elsewhere is an argument of its own, behind all others.
  void stride_arguments(const Syntax& stride) {
    if (stride.kind == Syntax::Kind::name && !scope_.has(stride.text)) {
      const std::string name(stride.text);
      scope_.scalars.emplace(name, source_.at(stride.offset, [&] { return var(name); }));
    }
    for (const Syntax& part : stride.parts) stride_arguments(part);
  }

  void check_known(const Syntax& size) const {
    if (size.kind == Syntax::Kind::name && !scope_.has(size.text)) {
      throw error(size.offset, "expected '" + std::string(size.text) +
                                   "' to stand alone as a dimension of some argument, or to be an int argument itself" +
                                   suggestion(std::string(size.text), scope_.names()));
    }
    for (const Syntax& part : size.parts) check_known(part);
  }

  void tensors() {
    for (const ParameterSyntax& parameter : def_.parameters) {
      if (!parameter.shape) continue;
      claim(parameter.name);
      std::vector<Expr> shape;
      for (const Syntax& size : *parameter.shape) {
        shape.push_back(source_.at(size.offset, [&] { return size_expression(scope_, size, "a shape"); }));
      }
      std::vector<Expr> strides;
      for (const Syntax& stride : parameter.strides) {
        strides.push_back(source_.at(stride.offset, [&] { return size_expression(scope_, stride, "a stride"); }));
      }
      const std::string name(parameter.name.text);
      const std::size_t offset = strides.empty() ? parameter.name.offset : parameter.strides_offset;
      scope_.tensors.emplace(name, source_.at(offset, [&] {
        return placeholder(std::move(shape), parameter.dtype, name, std::move(strides));
      }));
    }
    inputs_ = scope_.tensors;
  }

  void requirements() {
    for (const RequireSyntax& requirement : def_.requirements) {
      const Expr condition = source_.at(
          requirement.offset, [&] { return size_expression(scope_, requirement.condition, "a requirement"); });
      const std::string_view text = requirement.message.empty() ? requirement.text : requirement.message;
      requirements_.push_back({ir::cast(DType::boolean, condition), std::string(text)});
    }
  }

  // The tensors that a statement computes, in the order of its outputs.
  static std::vector<Name> targets_of(const StatementSyntax& statement) {
    std::vector<Name> targets;
    if (statement.value_target) targets.push_back(*statement.value_target);
    targets.push_back(statement.target);
    return targets;
  }

  void statements() {
    std::map<std::string_view, std::size_t> left;
    for (const StatementSyntax& statement : def_.statements) {
      for (const Name& target : targets_of(statement)) ++left[target.text];
    }
    std::map<std::string_view, std::size_t> version;
    for (const StatementSyntax& statement : def_.statements) {
      const std::vector<Name> targets = targets_of(statement);
      std::vector<std::string> names;
      for (const Name& target : targets) {
        check_target(target);
        names.emplace_back(target.text);
        // Only the last version carries the plain name, which schedules and outputs use.
        if (--left[target.text] > 0) names.back() += "." + std::to_string(version[target.text]++);
      }
      StatementResult result = analyze_statement(scope_, statement, names);
      for (ir::Requirement& requirement : result.requirements) {
        requirement.message = source_.place(statement.target.offset) + ": " + requirement.message;
        requirements_.push_back(std::move(requirement));
      }
      warnings_.insert(warnings_.end(), result.warnings.begin(), result.warnings.end());
      for (std::size_t i = 0; i < targets.size(); ++i) computed_.push_back({targets[i], result.tensors[i]});
      for (std::size_t i = 0; i < targets.size(); ++i)
        scope_.tensors.insert_or_assign(std::string(targets[i].text), std::move(result.tensors[i]));
    }
  }

  void warn_of_unread(const Program& program) {
    std::set<const ir::Buffer*> needed;
    for (const Tensor& tensor : computed_tensors(program)) needed.insert(tensor.buffer().get());
    for (const auto& [target, tensor] : computed_) {
      if (needed.contains(tensor.buffer().get())) continue;
      warnings_.push_back(error(target.offset, "warning: nothing reads '" + std::string(target.text) +
                                                   "' as it is after this statement, so it is not computed")
                              .what());
    }
  }

  void check_target(const Name& target) const {
    const std::string name(target.text);
    if (scope_.sizes.contains(target.text))
      throw error(target.offset, "expected a tensor to compute, got the size '" + name + "'");
    if (scope_.scalars.contains(target.text)) {
      throw error(target.offset, "expected a tensor to compute, got the scalar argument '" + name + "'");
    }
    if (inputs_.contains(target.text) && !is_output(target.text)) {
      throw error(target.offset,
                  "'" + name + "' is an argument: to change it, list it among the outputs too, after '->'");
    }
  }

  std::vector<Parameter> parameters() {
    std::vector<Parameter> parameters;
    for (const ParameterSyntax& syntax : def_.parameters) {
      const std::string name(syntax.name.text);
      if (!syntax.shape) {
        parameters.push_back(scalar(scope_.scalars.at(name)));
      } else if (is_output(name)) {
        if (syntax.constant_offset)
          throw error(*syntax.constant_offset, "expected '" + name + "' to be const or an output, got both");
        parameters.push_back(inout(inputs_.at(name), scope_.tensors.at(name)));
      } else {
        parameters.push_back(syntax.constant_offset ? constant(inputs_.at(name)) : in(inputs_.at(name)));
      }
    }
    std::set<std::string_view> seen;
    for (const Name& output : def_.outputs) {
      const std::string name(output.text);
      if (!seen.insert(output.text).second)
        throw error(output.offset, "expected each output once, got '" + name + "' again");
      const auto found = scope_.tensors.find(name);
      if (found == scope_.tensors.end() || found->second.stage() == nullptr) {
        std::vector<std::string> targets;
        for (const StatementSyntax& statement : def_.statements) {
          for (const Name& target : targets_of(statement)) targets.emplace_back(target.text);
        }
        throw error(output.offset,
                    "expected a statement that computes the output '" + name + "'" + suggestion(name, targets));
      }
      if (!inputs_.contains(name)) parameters.push_back(out(found->second));
    }
    return parameters;
  }

  const Source& source_;
  const DefSyntax& def_;
  const FixedSizes& fixed_;
  Scope scope_;
  std::map<std::string, Tensor, std::less<>> inputs_;
  std::vector<ir::Requirement> requirements_;
  std::vector<std::pair<Name, Tensor>> computed_;  // in the order of the statements
  std::vector<std::string> warnings_;
};

}  // namespace

Program analyze(const Source& source, const DefSyntax& def, const FixedSizes& fixed) {
  return Analysis(source, def, fixed).run();
}

}  // namespace ferry::lang
