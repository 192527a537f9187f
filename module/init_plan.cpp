#include "module/init_plan.h"

#include <algorithm>
#include <iterator>

#include "module/change_step.h"

namespace ferry {
namespace {

class Attachment {
 public:
  Attachment(FunctionInfo& function, FunctionInfo& init)
      : function_(function), init_(init), symbols_(function.symbols.size()), init_symbols_(init.symbols.size()) {}

  Status run() {
    FERRY_TRY(match_parameters());
    FERRY_TRY(match_symbols());
    for (Step& step : function_.plan.steps) change_operands(step, [this](Operand& operand) { move_in_plan(operand); });
    if (init_.messages != function_.messages) {
      first_message_ = static_cast<std::uint32_t>(function_.messages.size());
      function_.messages.insert(function_.messages.end(), init_.messages.begin(), init_.messages.end());
    }
    Plan& plan = init_.plan;
    for (ManifestExpr& expr : plan.values) {
      for (ManifestInstruction& instruction : expr.code) {
        if (instruction.op != ManifestOp::symbol) continue;
        instruction.value = value(static_cast<ValueIndex>(instruction.value));
      }
    }
    for (Workspace& workspace : plan.workspaces) move(workspace.bytes);
    for (Step& step : plan.steps) {
      change_values(step, [this](ValueIndex& index) { move(index); });
      move_messages(step, first_message_);
      Status status;
      change_operands(step, [&](Operand& operand) {
        if (status.is_ok()) status = move_in_init(operand);
      });
      FERRY_TRY(status);
    }
    for (std::size_t p = first_persistent_; p < function_.parameters.size(); ++p) {
      const ParameterInfo& parameter = function_.parameters[p];
      ManifestExpr bytes = manifest_constant(static_cast<std::int64_t>(dtype_bytes(parameter.dtype)));
      for (const ManifestExpr& size : parameter.shape) {
        ManifestExpr product = manifest_apply(ManifestOp::mul, {bytes, size});
        if (!check_manifest_expr(product, symbols_).is_ok()) {
          const ValueIndex left = add_value(plan, symbols_, std::move(bytes)), right = add_value(plan, symbols_, size);
          product = manifest_apply(ManifestOp::mul, {manifest_symbol(left), manifest_symbol(right)});
        }
        bytes = std::move(product);
      }
      function_.persistent.push_back({parameter.device, add_value(plan, symbols_, std::move(bytes))});
    }
    function_.parameters.resize(first_persistent_);
    function_.init = std::move(plan);
    return Status();
  }

 private:
  Status misfit(const std::string& name) const {
    return Status(ErrorCode::invalid_argument, init_.name + ": expected inputs of " + function_.name +
                                                   " and then what its last parameters are, got '" + name + "'");
  }

  Status match_parameters() {
    std::size_t outputs = 0;
    for (const ParameterInfo& parameter : init_.parameters) outputs += parameter.direction == Direction::out ? 1 : 0;
    if (outputs > function_.parameters.size()) return misfit(init_.parameters.back().name);
    first_persistent_ = function_.parameters.size() - outputs;
    std::size_t next = first_persistent_;
    for (const ParameterInfo& parameter : init_.parameters) {
      const bool is_output = parameter.direction == Direction::out;
      const auto begin = function_.parameters.begin();
      const auto first = begin + static_cast<std::ptrdiff_t>(is_output ? next++ : 0);
      const auto last = is_output ? first + 1 : begin + static_cast<std::ptrdiff_t>(first_persistent_);
      const auto found =
          std::find_if(first, last, [&](const ParameterInfo& own) { return own.name == parameter.name; });
      const bool fits = found != last && parameter.kind == ParameterKind::tensor && found->kind == parameter.kind &&
                        found->direction == Direction::in && parameter.direction != Direction::inout &&
                        found->dtype == parameter.dtype && (!is_output || found->strides.empty());
      if (!fits) return misfit(parameter.name);
      if (!is_output) found->is_constant = true;
      parameters_.push_back(static_cast<std::uint32_t>(found - begin));
    }
    return Status();
  }

  Status match_symbols() {
    for (const std::string& symbol : init_.symbols) {
      const auto found = std::find(function_.symbols.begin(), function_.symbols.end(), symbol);
      if (found == function_.symbols.end()) return misfit(symbol);
      new_symbols_.push_back(static_cast<ValueIndex>(found - function_.symbols.begin()));
    }
    return Status();
  }

  Operand parameter(const Operand& operand, std::uint32_t index) const {
    if (index < first_persistent_) return {operand.kind, index, operand.offset};
    return {OperandKind::persistent, index - static_cast<std::uint32_t>(first_persistent_), operand.offset};
  }

  void move_in_plan(Operand& operand) const {
    if (operand.kind == OperandKind::argument) operand = parameter(operand, operand.index);
  }

  Status move_in_init(Operand& operand) const {
    if (operand.kind != OperandKind::argument) return Status();
    if (operand.index >= parameters_.size()) return misfit("parameter " + std::to_string(operand.index));
    operand = parameter(operand, parameters_[operand.index]);
    return Status();
  }

  // Returns the index in the function of a symbol or value of `init`.
  ValueIndex value(ValueIndex index) const {
    if (index == kNoValue) return kNoValue;
    if (index < init_symbols_) return new_symbols_[index];
    return index - static_cast<ValueIndex>(init_symbols_) + static_cast<ValueIndex>(symbols_);
  }
  void move(ValueIndex& index) const { index = value(index); }

  FunctionInfo& function_;
  FunctionInfo& init_;
  std::size_t symbols_, init_symbols_;
  std::size_t first_persistent_ = 0;
  std::vector<std::uint32_t> parameters_;  // for each parameter of init the function's
  std::vector<ValueIndex> new_symbols_;    // for each symbol of init the function's
  std::uint32_t first_message_ = 0;
};

}  // namespace

Status attach_init_plan(FunctionInfo& function, FunctionInfo init) { return Attachment(function, init).run(); }

Result<bool> attach_earlier_init_plans(Manifest& manifest) {
  std::vector<FunctionInfo>& functions = manifest.functions;
  const auto is_init = [](const FunctionInfo& function) { return function.name.find(':') != std::string::npos; };
  const auto refuse = [](const FunctionInfo& init, const std::string& what) {
    return Status(ErrorCode::invalid_argument, init.name + ": expected " + what);
  };
  std::vector<FunctionInfo> inits;
  std::copy_if(functions.begin(), functions.end(), std::back_inserter(inits), is_init);
  std::erase_if(functions, is_init);
  for (FunctionInfo& init : inits) {
    const std::string name = init.name.substr(0, init.name.find(':'));
    const auto function =
        std::find_if(functions.begin(), functions.end(), [&](const FunctionInfo& f) { return f.name == name; });
    if (function == functions.end()) return refuse(init, "a function '" + name + "', got none");
    if (needs_instance(*function)) return refuse(init, "one init function of '" + name + "', got two");
    FERRY_TRY(attach_init_plan(*function, std::move(init)));
  }
  if (inits.empty()) return false;
  FERRY_TRY(check_manifest(manifest));
  return true;
}

}  // namespace ferry
