// The subcommands that only compile: they exist only to report that this ferry has no compiler.
#include "host/cli/commands/command.h"
#include "host/no_compiler/no_compiler.h"

namespace ferry::cli {
namespace {

void add_refusal(CLI::App& app, Action& chosen, const std::string& name) {
  CLI::App& command = *app.add_subcommand(name, "Not in this ferry, which is built without a compiler");
  command.allow_extras();
  command.callback([name, &chosen] { chosen = [name]() -> int { refuse_to_compile("ferry " + name); }; });
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen) { add_refusal(app, chosen, "compile"); }
void add_check(CLI::App& app, Action& chosen) { add_refusal(app, chosen, "check"); }
void add_diff(CLI::App& app, Action& chosen) { add_refusal(app, chosen, "diff"); }
void add_targets(CLI::App& app, Action& chosen) { add_refusal(app, chosen, "targets"); }

}  // namespace ferry::cli
