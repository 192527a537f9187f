#include "crosscompile/link/lld.h"

#include "crosscompile/ir/error.h"

#include <lld/Common/Driver.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>
#include <string>

LLD_HAS_DRIVER(elf)

namespace ferry::link {
namespace {

// lld keeps its state in globals: one link at a time in the whole process, and none after a crash inside it.
struct Lld {
  std::mutex mutex;
  bool usable = true;
};

Lld& lld_state() {
  static Lld state;
  return state;
}

}  // namespace

void run_lld(const std::vector<const char*>& arguments) {
  Lld& state = lld_state();
  const std::lock_guard lock(state.mutex);
  if (!state.usable) throw InternalError("lld crashed earlier in this process and cannot link again");
  std::string output, errors;
  llvm::raw_string_ostream output_stream(output), error_stream(errors);
  // Without it, lld ends the process when an object is damaged.
  llvm::CrashRecoveryContext::Enable();
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  const lld::Result result = lld::lldMain(arguments, output_stream, error_stream, drivers);
  llvm::CrashRecoveryContext::Disable();
  state.usable = result.canRunAgain;
  if (result.retCode != 0 || !result.canRunAgain) throw InternalError("lld failed: " + error_stream.str());
}

}  // namespace ferry::link
