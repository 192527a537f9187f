// The commands and options that a command line accepts, and the kinds of their values, taken from its description for
// CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry::cli {

enum class Takes : std::uint8_t {
  nothing,  // a flag
  text,     // something that no shell knows
  file,
  command,  // a command's name
  target,   // a name that 'ferry targets' lists
  device,   // a name in devices.toml
  words,    // one of a few words
};

struct OptionShape {
  std::vector<std::string> names;  // "-r", "--remote"; for a positional its name
  std::string help;                // one line
  std::string value;               // "FILE"
  Takes takes = Takes::nothing;
  std::vector<std::string> words;
  bool repeats = false;
};

struct CommandShape {
  std::string name;  // within its group
  std::string path;  // "farm devices"
  std::string help;
  std::vector<OptionShape> options, positionals;
  std::vector<CommandShape> commands;  // a group's
};

std::vector<std::string> names_of(const std::vector<CommandShape>& commands);

struct AppShape {
  std::vector<OptionShape> options;  // before a command
  std::vector<CommandShape> commands;

  std::vector<std::string> command_names() const { return names_of(commands); }
};

AppShape shape_of(const CLI::App& app);

// Shell code that prints, one a line, the names that 'ferry targets' lists and those in devices.toml. It runs in bash,
// zsh and fish.
extern const char* const kListTargets;
extern const char* const kListDevices;

}  // namespace ferry::cli
