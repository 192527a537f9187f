#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "host/cli/commands/app.h"
#include "host/cli/commands/command.h"

namespace ferry::cli {

void add_help(CLI::App& app, Action& chosen) {
  auto name = std::make_shared<std::vector<std::string>>();
  CLI::App& command = *app.add_subcommand("help", "Show the options and examples of a command");
  command.add_option("command", *name, "The command; without it, all commands are listed")->type_name("COMMAND");
  command.footer(
      "Examples:\n"
      "  ferry help\n"
      "  ferry help run\n"
      "  ferry help farm devices");
  command.callback([&app, name, &chosen] {
    chosen = [&app, name](const Compiler*) -> int {
      fputs(help_text(app, *name).c_str(), stdout);
      return kExitFine;
    };
  });
}

}  // namespace ferry::cli
