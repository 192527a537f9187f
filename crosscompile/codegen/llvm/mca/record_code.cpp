#include "crosscompile/codegen/llvm/mca/record_code.h"

#include "crosscompile/codegen/llvm/mca/loop_facts.h"
#include "crosscompile/ir/error.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/CodeGen/AsmPrinter.h>
#include <llvm/CodeGen/MachineBranchProbabilityInfo.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineLoopInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/TargetRegistry.h>

#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ferry::codegen {

namespace {

using llvm::MachineBasicBlock;
using llvm::MachineFunction;
using llvm::MachineLoop;

// Shared by the pass that sees a function's blocks, and the streamer to which the function is printed right after.
struct Recording {
  ModuleFacts facts;
  std::vector<CodeBlock> blocks = {};
  std::unordered_map<const llvm::MCSymbol*, std::size_t> labels = {};  // the number of each block
  std::size_t printed = 0;                                             // the block to which instructions belong
  std::map<std::string, CodeLoop> functions = {};
  std::map<std::size_t, std::string> calls = {};  // functions by the block that runs them in parallel
};

// Describes the loops of a function when it is about to be printed.
class RecordLoops : public llvm::MachineFunctionPass {
 public:
  static char ID;  // NOLINT(readability-identifier-naming): llvm::Pass takes its address
  explicit RecordLoops(Recording& recording) : MachineFunctionPass(ID), recording_(recording) {}

  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    usage.addRequired<llvm::MachineLoopInfoWrapperPass>();
    usage.addRequired<llvm::MachineBranchProbabilityInfoWrapperPass>();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction& function) override {
    loops_ = &getAnalysis<llvm::MachineLoopInfoWrapperPass>().getLI();
    probabilities_ = &getAnalysis<llvm::MachineBranchProbabilityInfoWrapperPass>().getMBPI();
    const llvm::ReversePostOrderTraversal<MachineFunction*> order(&function);
    order_.assign(order.begin(), order.end());
    for (MachineBasicBlock* block : order_) {
      block->setLabelMustBeEmitted();
      recording_.labels[block->getSymbol()] = recording_.blocks.size();
      recording_.blocks.emplace_back();
    }
    recording_.functions[function.getName().str()] = code_of(nullptr, function.front()).first;
    recording_.printed = recording_.labels.at(function.front().getSymbol());
    return false;
  }

 private:
  using Flow = llvm::MapVector<const MachineBasicBlock*, double>;  // how often blocks are entered

  // Returns an iteration of a loop, or the function, and how often an iteration goes to each block behind the loop.
  std::pair<CodeLoop, Flow> code_of(const MachineLoop* loop, const MachineBasicBlock& header) {
    CodeLoop code;
    Flow inside, exits;
    inside[&header] = 1;
    const auto go = [&](const MachineBasicBlock* to, double share) {
      if (to != &header) (loop != nullptr && !loop->contains(to) ? exits : inside)[to] += share;
    };
    // In this order all ways to a block come before it, but for those from an iteration to the next one.
    for (const MachineBasicBlock* block : order_) {
      const auto entered = inside.find(block);
      if (entered == inside.end()) continue;
      const double share = entered->second;
      const MachineLoop* inner = loops_->getLoopFor(block);
      if (inner == loop) {
        code.parts.push_back({share, recording_.labels.at(block->getSymbol()), nullptr});
        note_call(*block);
        for (const MachineBasicBlock* to : block->successors()) go(to, share * probability(*block, *to));
        continue;
      }
      while (inner->getParentLoop() != loop) inner = inner->getParentLoop();
      auto [inner_code, behind] = code_of(inner, *block);
      inner_code.trips = trips_of(*inner);
      double all = 0;
      for (const auto& [to, weight] : behind) all += weight;
      if (all > 0)
        for (const auto& [to, weight] : behind) go(to, share * weight / all);
      code.parts.push_back({share, 0, std::make_unique<CodeLoop>(std::move(inner_code))});
    }
    return {std::move(code), std::move(exits)};
  }

  double probability(const MachineBasicBlock& block, const MachineBasicBlock& to) const {
    const llvm::BranchProbability assumed = probabilities_->getEdgeProbability(&block, &to);
    const double by_default = static_cast<double>(assumed.getNumerator()) / llvm::BranchProbability::getDenominator();
    const BlockFacts* facts = facts_of(block);
    if (facts == nullptr || !facts->taken || block.succ_size() != 2) return by_default;
    const llvm::Instruction* branch = block.getBasicBlock()->getTerminator();
    const MachineBasicBlock& other =
        *block.succ_begin() == &to ? **std::next(block.succ_begin()) : **block.succ_begin();
    for (unsigned i = 0; i < 2; ++i)
      if (leads_to(branch->getSuccessor(i), to) || leads_to(branch->getSuccessor(1 - i), other))
        return i == 0 ? *facts->taken : 1 - *facts->taken;
    return by_default;
  }

  // Passes delete blocks that do nothing but go on.
  static bool leads_to(const llvm::BasicBlock* from, const MachineBasicBlock& to) {
    while (from != nullptr && from != to.getBasicBlock())
      from = from->sizeWithoutDebug() == 1 ? from->getUniqueSuccessor() : nullptr;
    return from != nullptr;
  }

  double trips_of(const MachineLoop& loop) const {
    // Some blocks are none of the IR.
    for (const MachineBasicBlock* block : loop.blocks()) {
      const BlockFacts* facts = loops_->getLoopFor(block) == &loop ? facts_of(*block) : nullptr;
      if (facts != nullptr && facts->trips) return *facts->trips;
    }
    return 0;
  }

  void note_call(const MachineBasicBlock& block) {
    const BlockFacts* facts = facts_of(block);
    if (facts == nullptr || !facts->call || llvm::none_of(block, [](const auto& one) { return one.isCall(); })) return;
    recording_.calls[recording_.labels.at(block.getSymbol())] = facts->call->callee;
  }

  const BlockFacts* facts_of(const MachineBasicBlock& block) const {
    if (block.getBasicBlock() == nullptr) return nullptr;
    const auto facts = recording_.facts.find(block.getBasicBlock());
    return facts == recording_.facts.end() ? nullptr : &facts->second;
  }

  Recording& recording_;
  const llvm::MachineLoopInfo* loops_ = nullptr;
  const llvm::MachineBranchProbabilityInfo* probabilities_ = nullptr;
  std::vector<MachineBasicBlock*> order_;
};
char RecordLoops::ID = 0;  // NOLINT(readability-identifier-naming)

class RecordInstructions : public llvm::MCStreamer {
 public:
  RecordInstructions(llvm::MCContext& context, Recording& recording) : MCStreamer(context), recording_(recording) {}

  bool hasRawTextSupport() const override { return true; }
  void emitRawTextImpl(llvm::StringRef) override {}
  bool emitSymbolAttribute(llvm::MCSymbol*, llvm::MCSymbolAttr) override { return true; }
  void emitCommonSymbol(llvm::MCSymbol*, std::uint64_t, llvm::Align) override {}
  void emitZerofill(llvm::MCSection*, llvm::MCSymbol*, std::uint64_t, llvm::Align, llvm::SMLoc) override {}

  void emitLabel(llvm::MCSymbol* symbol, llvm::SMLoc place) override {
    MCStreamer::emitLabel(symbol, place);
    if (const auto block = recording_.labels.find(symbol); block != recording_.labels.end())
      recording_.printed = block->second;
  }

  void emitInstruction(const llvm::MCInst& instruction, const llvm::MCSubtargetInfo&) override {
    llvm::MCInst& kept = recording_.blocks.at(recording_.printed).emplace_back(instruction);
    // Expressions end with the code's context.
    for (llvm::MCOperand& operand : kept)
      if (operand.isExpr()) operand = llvm::MCOperand::createImm(0);
  }

 private:
  Recording& recording_;
};

// Puts what a function runs in parallel behind the calls.
void add_callees(CodeLoop& code, Recording& recording) {
  for (std::size_t p = 0; p < code.parts.size(); ++p) {
    if (code.parts[p].loop != nullptr) {
      add_callees(*code.parts[p].loop, recording);
      continue;
    }
    const auto call = recording.calls.find(code.parts[p].block);
    if (call == recording.calls.end()) continue;
    CodePart called{code.parts[p].share, 0, std::make_unique<CodeLoop>()};
    *called.loop = std::move(recording.functions.at(call->second));
    code.parts.insert(code.parts.begin() + static_cast<std::ptrdiff_t>(++p), std::move(called));
  }
}

}  // namespace

CodeLoops record_code(llvm::Module& module, llvm::TargetMachine& machine, const std::string& function) {
  Recording recording;
  find_facts(module, machine, recording.facts);
  llvm::legacy::PassManager passes;
  auto& with_code = static_cast<llvm::LLVMTargetMachine&>(machine);
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&with_code);
  llvm::MCContext& context = functions->getMMI().getContext();
  // As LLVMTargetMachine::addPassesToEmitFile() does, with another streamer.
  llvm::TargetPassConfig* config = with_code.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(functions);
  auto streamer = std::make_unique<RecordInstructions>(context, recording);
  machine.getTarget().createNullTargetStreamer(*streamer);
  if (config->addISelPasses()) throw InternalError("LLVM cannot generate code for " + module.getTargetTriple());
  config->addMachinePasses();
  config->setInitialized();
  passes.add(new RecordLoops(recording));
  passes.add(machine.getTarget().createAsmPrinter(machine, std::move(streamer)));
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  CodeLoops code{std::move(recording.blocks), std::move(recording.functions.at(function))};
  recording.blocks.clear();
  add_callees(code.body, recording);
  return code;
}

}  // namespace ferry::codegen
