#include <map>

#include "base/quantity_text.h"
#include "host/cli/completion/completion.h"

namespace ferry::cli {

namespace {

// Returns the statement that completes one value.
std::string bash_action(const OptionShape& option, const AppShape& app) {
  switch (option.takes) {
    case Takes::nothing:
    case Takes::text: return "return";
    case Takes::file: return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\")); return";
    case Takes::command: return "words='" + join(" ", app.command_names()) + "'";
    case Takes::target: return std::string("words=$(") + kListTargets + ")";
    case Takes::device: return std::string("words=$(") + kListDevices + ")";
    case Takes::words: return "words='" + join(" ", option.words) + "'";
  }
  return "return";
}

std::vector<std::string> option_names(const std::vector<OptionShape>& options) {
  std::vector<std::string> names;
  for (const OptionShape& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// Returns the cases of options that take a value: "'run --remote'|'bench --remote') ... ;;".
std::string value_cases(const AppShape& app) {
  std::map<std::string, std::vector<std::string>> patterns;
  const auto add = [&](const std::string& command, const std::vector<OptionShape>& options) {
    for (const OptionShape& option : options) {
      if (option.takes == Takes::nothing) continue;
      for (const std::string& name : option.names)
        patterns[bash_action(option, app)].push_back("'" + command + " " + name + "'");
    }
  };
  add("", app.options);
  for (const CommandShape& command : app.commands) {
    add(command.path, command.options);
    for (const CommandShape& inner : command.commands) add(inner.path, inner.options);
  }
  std::string text;
  for (const auto& [statement, list] : patterns) text += "    " + join("|", list) + ") " + statement + " ;;\n";
  return text;
}

// Returns the case of a command: its options after a dash, otherwise its positionals or the commands of a group.
std::string command_case(const CommandShape& command, const AppShape& app) {
  std::string text = "        '" + command.path + "')\n          if [[ $current == -* ]]; then words='" +
                     join(" ", option_names(command.options)) + "'\n          else ";
  if (!command.commands.empty()) {
    text += "words='" + join(" ", names_of(command.commands)) + "'";
  } else {
    text += command.positionals.empty() ? "return" : bash_action(command.positionals.front(), app);
  }
  text += "; fi ;;\n";
  for (const CommandShape& inner : command.commands) text += command_case(inner, app);
  return text;
}

// Returns the statements that find the command of each group.
std::string group_cases(const AppShape& app) {
  std::string text;
  for (const CommandShape& group : app.commands) {
    if (group.commands.empty()) continue;
    text += "  if [[ $command == " + group.name +
            " ]]; then\n"
            "    for ((++i; i < COMP_CWORD; ++i)); do\n"
            "      case ${COMP_WORDS[i]} in\n"
            "        " +
            join("|", names_of(group.commands)) +
            ") command+=\" ${COMP_WORDS[i]}\"; break ;;\n"
            "      esac\n"
            "    done\n"
            "  fi\n";
  }
  return text;
}

}  // namespace

std::string bash_completion(const AppShape& app) {
  std::string text =
      "# Completes ferry's command line in bash: source <(ferry completion bash)\n"
      "_ferry() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= words= i\n"
      "  if [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  elif [[ $current == '=' ]]; then current=; fi\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case ${COMP_WORDS[i]} in\n" +
      ("      " + join("|", app.command_names()) + ") command=${COMP_WORDS[i]}; break ;;\n") +
      "    esac\n"
      "  done\n" +
      group_cases(app) +
      "  COMPREPLY=()\n"
      "  case \"$command $previous\" in\n" +
      value_cases(app) +
      "    *)\n"
      "      case $command in\n" +
      "        '') words='" + join(" ", app.command_names()) + " " + join(" ", option_names(app.options)) + "' ;;\n";
  for (const CommandShape& command : app.commands) text += command_case(command, app);
  return text +
         "      esac ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -F _ferry ferry\n";
}

}  // namespace ferry::cli
