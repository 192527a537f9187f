// The ferry with a compiler.
#include "farm/cli/farm_command.h"
#include "farm/client/farm_connector.h"
#include "farm/serve/serve.h"
#include "host/cli/commands/command_line.h"
#include "host/cli/commands/inspect_code.h"
#include "host/cli/gate/gate_command.h"
#include "host/cli/tune/tune_command.h"
#include "host/compiler/llvm/llvm_compiler.h"

namespace {

void add_farm(CLI::App& app, ferry::cli::Action& chosen) {
  static constexpr ferry::farm::FarmHost kHost{ferry::farm::serve, ferry::farm::back_up};
  ferry::cli::add_farm(app, chosen, &kHost);
}

}  // namespace

int main(int count, char** words) {
  const std::unique_ptr<const ferry::Compiler> compiler = ferry::make_compiler(ferry::ModuleCache::of_user());
  const ferry::cli::CodeViews code{ferry::cli::inspect_code, ferry::cli::hot_code_text};
  const ferry::session::Schemes schemes = ferry::farm::with_farm();
  return ferry::cli::run_command_line(count, words, compiler.get(), schemes,
                                      {.add_farm = add_farm,
                                       .add_gate = ferry::cli::add_gate,
                                       .code = &code,
                                       .add_tune = ferry::cli::add_tune,
                                       .read_records = ferry::cli::read_records});
}
