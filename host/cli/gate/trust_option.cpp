#include "host/cli/gate/trust_option.h"

#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "base/printable.h"
#include "ferry/error.h"
#include "host/text/progress.h"

namespace ferry::cli {

namespace {

// Whether a person answers the question with yes.
bool says_yes(const std::string& question) {
  text::Progress::clear();
  fprintf(stderr, "ferry: %s [y/N] ", question.c_str());
  fflush(stderr);
  std::string answer;
  for (char letter = 0; read(STDIN_FILENO, &letter, 1) == 1 && letter != '\n';) answer += letter;
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

void add_trust_option(CLI::App& command, bool& is_trusted) {
  command.add_flag("--trust-baseline", is_trusted,
                   "Run modules on this machine whoever has stored them, without asking: they are native code");
}

gate::TrustHolder ask_for_trust(bool is_trusted) {
  if (is_trusted) return [](const std::string&, const std::string&) {};
  const auto answers = std::make_shared<std::map<std::string, bool>>();
  return [answers](const std::string& holder, const std::string& module) {
    const std::string whose = printable(module) + " was stored by " + printable(holder);
    const bool can_ask = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
    auto known = answers->find(holder);
    if (known == answers->end() && can_ask) {
      const bool answer =
          says_yes(whose + ", and is native code. Run it on this machine, and others of " + printable(holder) + "?");
      known = answers->emplace(holder, answer).first;
    }
    if (known != answers->end() && known->second) return;
    throw UsageError(whose + " and does not run on this machine, because it is native code: expected " +
                     (can_ask ? "the answer y, or " : "") + "--trust-baseline if you trust " + printable(holder));
  };
}

}  // namespace ferry::cli
