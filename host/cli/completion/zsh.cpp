#include "base/quantity_text.h"
#include "host/cli/completion/completion.h"

namespace ferry::cli {

namespace {

// Escapes what has a meaning in a single-quoted specification of _arguments.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const OptionShape& option, const AppShape& app) {
  switch (option.takes) {
    case Takes::nothing: return "";
    case Takes::text: return ":" + escaped(option.value) + ": ";
    case Takes::file: return ":" + escaped(option.value) + ":_files";
    case Takes::command: return ":command:(" + join(" ", app.command_names()) + ")";
    case Takes::target: return ":target:_ferry_targets";
    case Takes::device: return ":device:_ferry_devices";
    case Takes::words: return ":" + escaped(option.value) + ":(" + join(" ", option.words) + ")";
  }
  return "";
}

// Returns a specification for _arguments for each name of the option.
std::string option_specs(const OptionShape& option, const AppShape& app) {
  std::string text;
  for (const std::string& name : option.names) {
    const std::string others = option.repeats ? "*" : "(" + join(" ", option.names) + ")";
    const char* equals = option.takes != Takes::nothing && name.starts_with("--") ? "=" : "";
    text +=
        " \\\n        '" + others + name + equals + "[" + escaped(option.help) + "]" + zsh_action(option, app) + "'";
  }
  return text;
}

std::string lister(const char* name, const char* list) {
  return std::string(name) + "() { local -a names; names=(${(f)\"$(" + list + ")\"}); compadd -a names }\n";
}

std::string zsh_descriptions(const std::vector<CommandShape>& commands) {
  std::string text;
  for (const CommandShape& command : commands) text += "    '" + command.name + ":" + escaped(command.help) + "'\n";
  return text;
}

std::string zsh_case(const CommandShape& command, const AppShape& app) {
  std::string text = "      " + command.name + ")\n        _arguments";
  if (!command.commands.empty()) {
    text = "      " + command.name + ")\n        commands=(\n" + zsh_descriptions(command.commands) +
           "        )\n        _arguments -C";
  }
  for (const OptionShape& option : command.options) text += option_specs(option, app);
  int position = 0;
  for (const OptionShape& option : command.positionals)
    text += " \\\n        '" + std::to_string(++position) + zsh_action(option, app) + "'";
  if (command.commands.empty()) return text + " ;;\n";
  text +=
      " \\\n        '1:command:->command' '*::argument:->argument'\n"
      "        case $state in\n"
      "    command) _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n";
  for (const CommandShape& inner : command.commands) text += zsh_case(inner, app);
  return text + "      esac ;;\n        esac ;;\n";
}

}  // namespace

std::string zsh_completion(const AppShape& app) {
  std::string text =
      "#compdef ferry\n"
      "# Completes ferry's command line in zsh: source <(ferry completion zsh), or put this into a folder of $fpath "
      "as\n"
      "# _ferry.\n" +
      lister("_ferry_targets", kListTargets) + lister("_ferry_devices", kListDevices) +
      "_ferry() {\n"
      "  local context state state_descr line\n"
      "  typeset -A opt_args\n"
      "  local -a commands\n"
      "  commands=(\n";
  text += zsh_descriptions(app.commands);
  text += "  )\n  _arguments -C";
  for (const OptionShape& option : app.options) text += option_specs(option, app);
  text +=
      " \\\n        '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n";
  for (const CommandShape& command : app.commands) text += zsh_case(command, app);
  return text +
         "      esac ;;\n"
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _ferry ]]; then _ferry \"$@\"; else compdef _ferry ferry; fi\n";
}

}  // namespace ferry::cli
