#include "crosscompile/codegen/llvm/plan/steps.h"

#include "crosscompile/ir/error.h"

#include <algorithm>
#include <map>

namespace ferry::codegen {
namespace {

using llvm::Value;

class StepCode {
 public:
  StepCode(llvm::IRBuilder<>& b, const Plan& plan, const SizeCode& sizes, const PlanOperands& operands, Value* instance,
           const InstanceLayout& layout)
      : b_(b), sizes_(sizes), operands_(operands), instance_(instance), layout_(layout) {
    std::size_t most = 1;
    for (const Step& step : plan.steps) {
      if (const auto* call = std::get_if<CallStep>(&step)) most = std::max(most, call->operands.size());
    }
    llvm::Function* function = b.GetInsertBlock()->getParent();
    llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    pointers_ = entry.CreateAlloca(entry.getPtrTy(), entry.getInt32(static_cast<std::uint32_t>(most)), "operands");
    numbers_ = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt32(static_cast<std::uint32_t>(most)), "numbers");
  }

  void emit_between(const std::vector<Step>& steps, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      if (const auto* repeat = std::get_if<RepeatStep>(&steps[i])) {
        emit_loop(*repeat, steps, i + 1);
        i += repeat->steps;
      } else {
        std::visit([this](const auto& one) { emit(one); }, steps[i]);
      }
    }
  }

  void emit(const CallStep& step) {
    for (unsigned i = 0; i < step.operands.size(); ++i) {
      const Operand& operand = step.operands[i];
      Value* address = operand.kind == OperandKind::scalar || operand.kind == OperandKind::value ? number(operand, i)
                                                                                                 : memory(operand);
      b_.CreateStore(address, b_.CreateConstGEP1_32(b_.getPtrTy(), pointers_, i));
    }
    Value* workspace = llvm::ConstantPointerNull::get(b_.getPtrTy());
    if (step.workspace.is_given())
      workspace = at(operands_.workspaces[step.workspace.workspace], step.workspace.offset);
    layout_.store(b_, instance_, InstanceField::call_workspace, workspace);
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy()}, false);
    llvm::Module& module = *b_.GetInsertBlock()->getModule();
    llvm::FunctionCallee kernel = module.getOrInsertFunction(step.symbol, type);
    // It is in the same object once that is linked.
    llvm::cast<llvm::Function>(kernel.getCallee())->setVisibility(llvm::GlobalValue::HiddenVisibility);
    llvm::CallInst* result = b_.CreateCall(kernel, {pointers_, instance_});
    result->setDoesNotThrow();
    return_failure(result, step.first_message);
  }

  void emit(const LaunchStep&) { throw InternalError("expected the plan of a CPU to export"); }

  void emit(const CopyStep& step) {
    b_.CreateMemCpy(memory(step.to), llvm::MaybeAlign(1), memory(step.from), llvm::MaybeAlign(1), count(step.bytes));
  }

  void emit(const FillStep& step) {
    llvm::Function* fill = b_.GetInsertBlock()->getModule()->getFunction("fill");
    b_.CreateCall(
        fill, {memory(step.to), sizes_.value(step.bytes), b_.getInt64(step.pattern_bytes), b_.getInt32(step.pattern)});
  }

  void emit(const RepeatStep&) { throw InternalError("expected the steps of a repeat to follow it"); }

 private:
  void emit_loop(const RepeatStep& repeat, const std::vector<Step>& steps, std::size_t first) {
    Value* const count = sizes_.value(repeat.count);
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    llvm::Function* const function = before->getParent();
    auto* header = llvm::BasicBlock::Create(b_.getContext(), "repeat", function);
    auto* body = llvm::BasicBlock::Create(b_.getContext(), "iteration", function);
    auto* after = llvm::BasicBlock::Create(b_.getContext(), "repeated", function);
    b_.CreateBr(header);
    b_.SetInsertPoint(header);
    const std::map<ValueIndex, Value*> outer = loop_values_;
    const auto counted = [&](Value* from) {
      llvm::PHINode* phi = b_.CreatePHI(b_.getInt64Ty(), 2);
      phi->addIncoming(from, before);
      return phi;
    };
    llvm::PHINode* const iteration = counted(b_.getInt64(0));
    std::vector<llvm::PHINode*> values;
    for (const LoopValue& loop : repeat.values) {
      values.push_back(counted(value(loop.value)));
      loop_values_[loop.value] = values.back();
    }
    const auto continue_if = [&](Value* condition, llvm::BasicBlock* next) {
      b_.CreateCondBr(condition, next, after);
      b_.SetInsertPoint(next);
    };
    if (repeat.condition) {
      auto* reading = llvm::BasicBlock::Create(b_.getContext(), "condition", function, body);
      continue_if(b_.CreateICmpSLT(iteration, count), reading);
      continue_if(b_.CreateIsNotNull(b_.CreateLoad(b_.getInt8Ty(), memory(*repeat.condition))), body);
    } else {
      continue_if(b_.CreateICmpSLT(iteration, count), body);
    }
    emit_between(steps, first, first + repeat.steps);
    const auto add = [&](llvm::PHINode* phi, Value* stride) {
      phi->addIncoming(b_.CreateAdd(phi, stride), b_.GetInsertBlock());
    };
    add(iteration, b_.getInt64(1));
    for (std::size_t i = 0; i < values.size(); ++i) add(values[i], sizes_.value(repeat.values[i].stride));
    b_.CreateBr(header);
    b_.SetInsertPoint(after);
    loop_values_ = outer;
  }

  // Returns the value in this iteration of the repeats around the step.
  Value* value(ValueIndex index) const {
    const auto loop = loop_values_.find(index);
    return loop == loop_values_.end() ? sizes_.value(index) : loop->second;
  }

  Value* at(Value* address, ValueIndex offset) {
    return offset == kNoValue ? address : b_.CreateGEP(b_.getInt8Ty(), address, value(offset));
  }

  Value* count(ValueIndex bytes) {
    llvm::Type* size = b_.getIntPtrTy(b_.GetInsertBlock()->getModule()->getDataLayout());
    return b_.CreateTrunc(sizes_.value(bytes), size);
  }

  Value* memory(const Operand& operand) {
    switch (operand.kind) {
      case OperandKind::argument: return at(operands_.parameters[operand.index], operand.offset);
      case OperandKind::workspace: return at(operands_.workspaces[operand.index], operand.offset);
      case OperandKind::persistent: return at(operands_.persistent[operand.index], operand.offset);
      case OperandKind::constant: return at(operands_.constants[operand.index], operand.offset);
      case OperandKind::scalar:
      case OperandKind::value: break;
    }
    throw InternalError("expected an operand that is memory");
  }

  // Stores a scalar or value where the kernel finds it, and returns the address.
  Value* number(const Operand& operand, unsigned index) {
    Value* place = b_.CreateConstGEP1_32(b_.getInt64Ty(), numbers_, index);
    b_.CreateStore(operand.kind == OperandKind::scalar ? operands_.parameters[operand.index] : value(operand.index),
                   place);
    return place;
  }

  void return_failure(Value* result, std::uint32_t first_message) {
    llvm::Function* function = b_.GetInsertBlock()->getParent();
    auto* failed = llvm::BasicBlock::Create(b_.getContext(), "failed", function);
    auto* next = llvm::BasicBlock::Create(b_.getContext(), "step", function);
    b_.CreateCondBr(b_.CreateIsNotNull(result), failed, next);
    b_.SetInsertPoint(failed);
    Value* code = b_.CreateAdd(result, b_.getInt32(first_message));
    const auto other = static_cast<std::uint32_t>(ExportError::KERNEL);
    b_.CreateRet(b_.CreateSelect(b_.CreateICmpSGT(result, b_.getInt32(0)), code, b_.getInt32(other)));
    b_.SetInsertPoint(next);
  }

  llvm::IRBuilder<>& b_;
  const SizeCode& sizes_;
  const PlanOperands& operands_;
  Value* instance_;
  const InstanceLayout& layout_;
  Value* pointers_;
  Value* numbers_;
  std::map<ValueIndex, Value*> loop_values_;
};

}  // namespace

void emit_steps(llvm::IRBuilder<>& b, const Plan& plan, const SizeCode& sizes, const PlanOperands& operands,
                Value* instance, const InstanceLayout& layout) {
  StepCode code(b, plan, sizes, operands, instance, layout);
  code.emit_between(plan.steps, 0, plan.steps.size());
}

}  // namespace ferry::codegen
