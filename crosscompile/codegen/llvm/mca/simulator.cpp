#include "crosscompile/codegen/llvm/mca/simulator.h"

#include "crosscompile/codegen/llvm/cpu/targets.h"
#include "crosscompile/codegen/llvm/target/machine.h"

#include <llvm/MCA/Context.h>
#include <llvm/MCA/HWEventListener.h>
#include <llvm/MCA/Pipeline.h>
#include <llvm/MCA/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>
#include <utility>

namespace ferry::codegen {

namespace {

using llvm::mca::Instruction;
using Instructions = std::vector<std::unique_ptr<Instruction>>;

class Trace : public llvm::mca::SourceMgr {
 public:
  Trace(const Instructions& all, std::span<const std::size_t> trace) : all_(all), trace_(trace) {}

  llvm::ArrayRef<UniqueInst> getInstructions() const override { return all_; }
  std::size_t size() const override { return trace_.size(); }
  bool hasNext() const override { return next_ < trace_.size(); }
  bool isEnd() const override { return !hasNext(); }
  llvm::mca::SourceRef peekNext() const override { return {next_, *all_[trace_[next_]]}; }
  void updateNext() override { ++next_; }

 private:
  const Instructions& all_;
  std::span<const std::size_t> trace_;
  unsigned next_ = 0;
};

// Sees when instructions are done.
class Clock : public llvm::mca::HWEventListener {
 public:
  explicit Clock(std::size_t warm_up) : warm_up_(warm_up) {}

  void onCycleEnd() override { ++now_; }
  void onEvent(const llvm::mca::HWInstructionEvent& event) override {
    if (event.Type != llvm::mca::HWInstructionEvent::Retired) return;
    ++done_;
    if (done_ == warm_up_) begin_ = now_;
    end_ = now_;
  }
  double cycles() const { return static_cast<double>(warm_up_ == 0 ? end_ + 1 : end_ - begin_); }

 private:
  std::size_t warm_up_, done_ = 0;
  std::uint64_t now_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace

Simulator::Simulator(const Target& target, const std::string& cpu) {
  static std::once_flag once;
  std::call_once(once, [] { LLVMInitializeRISCVTargetMCA(); });
  const llvm::Target& llvm = llvm_target(target.triple);
  registers_.reset(llvm.createMCRegInfo(target.triple));
  descriptions_.reset(llvm.createMCInstrInfo());
  subtarget_.reset(llvm.createMCSubtargetInfo(target.triple, cpu, feature_string(target)));
  analysis_.reset(llvm.createMCInstrAnalysis(descriptions_.get()));
  instruments_.reset(llvm.createInstrumentManager(*subtarget_, *descriptions_));
  if (instruments_ == nullptr)
    instruments_ = std::make_unique<llvm::mca::InstrumentManager>(*subtarget_, *descriptions_);
  if (is_complete())
    builder_ = std::make_unique<llvm::mca::InstrBuilder>(*subtarget_, *descriptions_, *registers_, analysis_.get(),
                                                         *instruments_, /*CallLatency=*/0);
}

bool Simulator::is_complete() const { return subtarget_->getSchedModel().hasInstrSchedModel(); }

std::optional<std::size_t> Simulator::add(const llvm::MCInst& instruction) {
  if (auto set = instruments_->createInstruments(instruction); !set.empty()) {
    vectors_.clear();
    for (llvm::mca::UniqueInstrument& one : set) {
      vectors_.push_back(one.get());
      all_vectors_.push_back(std::move(one));
    }
  }
  if (is_ignored(instruction)) return std::nullopt;
  auto built = builder_->createInstruction(instruction, vectors_);
  if (!built) {
    llvm::consumeError(built.takeError());
    return std::nullopt;
  }
  instructions_.push_back(std::move(*built));
  return instructions_.size() - 1;
}

bool Simulator::is_ignored(const llvm::MCInst& instruction) const {
  const llvm::MCInstrDesc& description = descriptions_->get(instruction.getOpcode());
  return description.isCall() || description.isReturn();
}

double Simulator::cycles(std::span<const std::size_t> trace, std::size_t warm_up) const {
  Trace source(instructions_, trace);
  llvm::mca::Context context(*registers_, *subtarget_);
  llvm::mca::CustomBehaviour behaviour(*subtarget_, source, *descriptions_);
  const llvm::mca::PipelineOptions options(0, 0, 0, 0, 0, 0, /*NoAlias=*/true);
  const auto pipeline = context.createDefaultPipeline(options, source, behaviour);
  Clock clock(warm_up);
  pipeline->addEventListener(&clock);
  if (auto cycles = pipeline->run(); !cycles) llvm::consumeError(cycles.takeError());
  return clock.cycles();
}

}  // namespace ferry::codegen
