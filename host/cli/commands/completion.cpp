#include <cstdio>
#include <memory>
#include <string>

#include "host/cli/commands/command.h"
#include "host/cli/completion/completion.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

void add_completion(CLI::App& app, Action& chosen) {
  auto shell = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("completion", "Print a script that completes commands in a shell");
  command.add_option("shell", *shell, "bash, zsh or fish")
      ->type_name("SHELL")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command.footer(
      "It completes commands, options, files, the words that an option accepts, targets, and the devices of\n"
      "devices.toml.\n\n"
      "Examples:\n"
      "  ferry completion bash > ~/.local/share/bash-completion/completions/ferry\n"
      "  ferry completion zsh > ~/.zfunc/_ferry       # with fpath+=~/.zfunc before compinit in ~/.zshrc\n"
      "  ferry completion fish > ~/.config/fish/completions/ferry.fish\n"
      "  source <(ferry completion bash)               # in this shell alone");
  command.callback([&app, shell, &chosen] {
    chosen = [&app, shell](const Compiler*) -> int {
      const AppShape shape = shape_of(app);
      const std::string script = *shell == "bash"  ? bash_completion(shape)
                                 : *shell == "zsh" ? zsh_completion(shape)
                                                   : fish_completion(shape);
      fputs(script.c_str(), stdout);
      return kExitFine;
    };
  });
}

}  // namespace ferry::cli
