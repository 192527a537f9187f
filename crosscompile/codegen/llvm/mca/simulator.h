// Runs machine instructions on LLVM's model of a core, by its machine code analyzer (llvm-mca). All data are in the
// first-level cache, branches are predicted, and loads do not wait for stores. Only for files that may include LLVM.
#pragma once

#include "ferry/target/target.h"

#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MCA/CustomBehaviour.h>
#include <llvm/MCA/InstrBuilder.h>
#include <llvm/MCA/Instruction.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::codegen {

class Simulator {
 public:
  // `cpu` is LLVM's name of the core that is modelled, which may be another one than the target's.
  Simulator(const Target& target, const std::string& cpu);
  // Whether LLVM has a model of the core.
  bool is_complete() const;

  // Takes the instructions in the order of the code. Returns the number of each for traces, or nothing if the model
  // does not know it, or if it is a call or return.
  std::optional<std::size_t> add(const llvm::MCInst& instruction);
  // Whether it is a call or return, which llvm-mca does not model.
  bool is_ignored(const llvm::MCInst& instruction) const;

  // Returns the cycles from the end of the first `warm_up` instructions of a trace, which are less than all, to the end
  // of the last one.
  double cycles(std::span<const std::size_t> trace, std::size_t warm_up) const;

 private:
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCInstrInfo> descriptions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::mca::InstrumentManager> instruments_;
  std::unique_ptr<llvm::mca::InstrBuilder> builder_;
  // The length and the elements of RISC-V's vectors, as the last instruction that sets them says, and all that were
  // set.
  llvm::SmallVector<llvm::mca::Instrument*> vectors_;
  std::vector<llvm::mca::UniqueInstrument> all_vectors_;
  std::vector<std::unique_ptr<llvm::mca::Instruction>> instructions_;
};

}  // namespace ferry::codegen
