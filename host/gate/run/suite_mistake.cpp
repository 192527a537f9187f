#include "host/gate/run/suite_mistake.h"

#include <algorithm>

#include "base/printable.h"

namespace ferry::gate {

namespace {

// Returns the key that the option is in a suite; empty if there is none, or if several would do.
std::string key_of(Option option) {
  switch (option) {
    case Option::kernel: return "kernel";
    case Option::function: return "function";
    case Option::signature: return "signature";
    case Option::launch: return "launch";
    case Option::fixed_size: return "fixed";
    case Option::schedule: return "schedule";
    case Option::knob: return "knobs";
    case Option::argument: return "inputs";
    case Option::size: return "sizes";
    case Option::target: return "target";
    case Option::binding: return "bindings";
    case Option::cores: return "cores";
    case Option::same_results: return "allow-difference";
    case Option::point:
    case Option::sizes:
    case Option::reference:
    case Option::output:
    case Option::expected:
    case Option::dump:
    case Option::preprocess:
    case Option::sweep:
    case Option::stage: return "";
  }
  return "";
}

}  // namespace

std::string suite_mistake(const std::string& suite_file, const SuiteCase& suite_case, const OptionError& error) {
  std::string message = error.what();
  if (error.option() == Option::sizes) {
    message.insert(std::min(message.find('\n'), message.size()),
                   " (sizes = \"NAME=SIZE\" or inputs = \"NAME=DTYPE[SIZES]\")");
  }
  const std::string key = key_of(error.option());
  return printable(suite_file) + ":" + std::to_string(suite_case.line) + ": cases." + suite_case.name +
         (key.empty() ? "" : "." + key) + ": " + message;
}

}  // namespace ferry::gate
