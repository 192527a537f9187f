// The ferry of those who work on the compiler: without the farm and the gate (FERRY_SERVICES=OFF).
#include "host/cli/commands/command_line.h"
#include "host/cli/commands/inspect_code.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "host/media/media_arguments.h"
#include "host/run/peer.h"

int main(int count, char** words) {
  const std::unique_ptr<const ferry::Compiler> compiler = ferry::make_compiler(ferry::ModuleCache::of_user());
  const ferry::cli::CodeViews code{ferry::cli::inspect_code, ferry::cli::hot_code_text};
  return ferry::cli::run_command_line(
      count, words, compiler.get(), {},
      {.code = &code, .read_media = ferry::media::read_media, .peer = ferry::results_of_peer});
}
