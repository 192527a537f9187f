#include "host/cli/program/program.h"

#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/client/farm_connector.h"
#include "farm/serve/serve.h"
#include "host/cli/commands/command_line.h"
#include "host/cli/commands/inspect_code.h"
#include "host/cli/gate/gate_command.h"
#include "host/cli/tune/tune_command.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "host/media/media_arguments.h"
#include "host/run/peer.h"

namespace ferry::cli {

namespace {

// With the commands of a tracker.
void add_whole_farm(CLI::App& app, Action& chosen) {
  static constexpr farm::FarmHost kHost{farm::serve, farm::back_up};
  add_farm(app, chosen, &kHost);
}

}  // namespace

int run_program(int count, char** words) {
  const std::unique_ptr<const Compiler> compiler = make_compiler(ModuleCache::of_user());
  const CodeViews code{inspect_code, hot_code_text};
  const session::Schemes schemes = farm::with_farm();
  return run_command_line(count, words, compiler.get(), schemes,
                          {.add_farm = add_whole_farm,
                           .add_gate = add_gate,
                           .code = &code,
                           .add_tune = add_tune,
                           .read_records = read_records,
                           .read_media = media::read_media,
                           .peer = results_of_peer});
}

}  // namespace ferry::cli
