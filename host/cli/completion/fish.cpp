#include "base/quantity_text.h"
#include "host/cli/completion/completion.h"

namespace ferry::cli {

namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Returns the arguments of `complete` for the value of an option or a positional.
std::string value_arguments(const OptionShape& option, const AppShape& app) {
  switch (option.takes) {
    case Takes::nothing: return "";
    case Takes::text: return " -x";
    case Takes::file: return " -r -F";
    case Takes::command: return " -x -a " + quoted(join(" ", app.command_names()));
    case Takes::target: return " -x -a '(__ferry_targets)'";
    case Takes::device: return " -x -a '(__ferry_devices)'";
    case Takes::words: return " -x -a " + quoted(join(" ", option.words));
  }
  return "";
}

std::string option_line(const OptionShape& option, const std::string& condition, const AppShape& app) {
  std::string line = "complete -c ferry -n " + condition;
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return line + value_arguments(option, app) + " -d " + quoted(option.help) + "\n";
}

// `before` is where the command is expected, `outer` the condition of its group.
std::string fish_lines(const CommandShape& command, const std::string& before, const std::string& outer,
                       const AppShape& app) {
  std::string text = "complete -c ferry -n " + before + " -a " + command.name + " -d " + quoted(command.help) + "\n";
  const std::string seen = outer + "__fish_seen_subcommand_from " + command.name;
  const std::string condition = "'" + seen + "'";
  for (const OptionShape& option : command.options) text += option_line(option, condition, app);
  const std::string no_inner =
      "'" + seen + "; and not __fish_seen_subcommand_from " + join(" ", names_of(command.commands)) + "'";
  for (const CommandShape& inner : command.commands) text += fish_lines(inner, no_inner, seen + "; and ", app);
  if (command.positionals.empty()) return text;
  const OptionShape& positional = command.positionals.front();
  // After a positional, -x and -r would demand a value of an option that is not there.
  if (positional.takes == Takes::file) text += "complete -c ferry -n " + condition + " -F\n";
  if (positional.takes == Takes::words)
    text += "complete -c ferry -n " + condition + " -a " + quoted(join(" ", positional.words)) + "\n";
  if (positional.takes == Takes::command)
    text += "complete -c ferry -n " + condition + " -a " + quoted(join(" ", app.command_names())) + "\n";
  return text;
}

}  // namespace

std::string fish_completion(const AppShape& app) {
  std::string text =
      "# Completes ferry's command line in fish: ferry completion fish | source\n"
      "complete -c ferry -f\n" +
      ("function __ferry_targets; " + std::string(kListTargets) + "; end\n") +
      ("function __ferry_devices; " + std::string(kListDevices) + "; end\n");
  for (const OptionShape& option : app.options) text += option_line(option, "__fish_use_subcommand", app);
  for (const CommandShape& command : app.commands) text += fish_lines(command, "__fish_use_subcommand", "", app);
  return text;
}

}  // namespace ferry::cli
