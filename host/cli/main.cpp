// The ferry with a compiler.
#include "host/cli/commands/command_line.h"
#include "host/cli/commands/inspect_code.h"
#include "host/cli/gate/gate_command.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "host/farm/serve/serve.h"

int main(int count, char** words) {
  const std::unique_ptr<const ferry::Compiler> compiler = ferry::make_compiler(ferry::ModuleCache::of_user());
  const ferry::cli::FullCommands full{{ferry::farm::serve, ferry::farm::back_up},
                                      ferry::cli::add_gate,
                                      {ferry::cli::inspect_code, ferry::cli::hot_code_text}};
  return ferry::cli::run_command_line(count, words, compiler.get(), &full);
}
