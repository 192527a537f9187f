#include "crosscompile/codegen/llvm/plan/emit_plan.h"

#include "crosscompile/codegen/llvm/plan/entry_points.h"
#include "crosscompile/codegen/llvm/plan/runtime_text.h"
#include "crosscompile/codegen/llvm/target/machine.h"
#include "crosscompile/codegen/llvm/target/optimise.h"
#include "crosscompile/ir/error.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

namespace ferry::codegen {
namespace {

std::vector<std::uint8_t> compile_text(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) throw InternalError("invalid LLVM IR: " + stream.str());
  optimise(module, machine, "globaldce,");
  const std::string object = emit_file(module, machine, llvm::CodeGenFileType::ObjectFile);
  return {object.begin(), object.end()};
}

}  // namespace

std::vector<std::uint8_t> emit_plan(const ExportedPlan& plan, const Target& target) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::TargetMachine> machine = make_machine(target);
  const std::unique_ptr<llvm::Module> module = parse_text(kRuntimeText, context, *machine, target);
  emit_entry_points(plan, target, *module);
  return compile_text(*module, *machine);
}

std::map<std::string, std::vector<std::uint8_t>> emit_math(const Target& target) {
  const std::unique_ptr<llvm::TargetMachine> machine = make_machine(target);
  std::map<std::string, std::vector<std::uint8_t>> objects;
  for (const MathText& function : math_texts()) {
    llvm::LLVMContext context;
    const std::unique_ptr<llvm::Module> module = parse_text(function.text, context, *machine, target);
    objects.emplace(function.name, compile_text(*module, *machine));
  }
  return objects;
}

std::vector<std::uint8_t> emit_threads(const CInterface& interface, const Target& target) {
  llvm::LLVMContext context;
  const std::unique_ptr<llvm::TargetMachine> machine = make_machine(target);
  std::string text = std::string(kThreadsText) + kThreadsLoopText;
  for (std::size_t at = 0; (at = text.find("@NAME", at)) != std::string::npos; at += interface.name.size())
    text.replace(at, 5, "@" + interface.name);
  const std::unique_ptr<llvm::Module> module = parse_text(text, context, *machine, target);
  return compile_text(*module, *machine);
}

}  // namespace ferry::codegen
