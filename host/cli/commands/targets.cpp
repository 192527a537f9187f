#include <algorithm>
#include <cstdio>

#include "crosscompile/target/resolve.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/json_option.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

int list_targets(const Compiler* given, bool json) {
  const TargetResolver& targets = expect_compiler(given, "ferry targets");
  if (json) {
    text::Json list = text::Json::array();
    for (const NamedTarget& named : targets.named_targets()) {
      const Target target = targets.resolve_target(named.name).value;
      list.push_back({{"name", named.name},
                      {"stands_for", named.stands_for},
                      {"note", named.note},
                      {"arch", target.arch_name},
                      {"triple", target.triple},
                      {"cpu", target.cpu},
                      {"features", target.features}});
    }
    text::print_json({{"schema", "ferry.targets/1"}, {"targets", list}});
    return kExitFine;
  }
  std::size_t width = 0;
  for (const NamedTarget& named : targets.named_targets()) width = std::max(width, named.name.size());
  for (const NamedTarget& named : targets.named_targets()) {
    printf("%-*s  %s\n", static_cast<int>(width), named.name.c_str(), named.stands_for.c_str());
    if (!named.note.empty()) printf("%-*s  %s\n", static_cast<int>(width), "", named.note.c_str());
  }
  return kExitFine;
}

}  // namespace

void add_targets(CLI::App& app, Action& chosen) {
  auto json = std::make_shared<bool>(false);
  CLI::App& command = *app.add_subcommand("targets", "List the targets that have names, and what they stand for");
  add_json_option(command, *json);
  command.footer(
      "Anywhere a target is expected, text such as\n"
      "  llvm -mtriple=armv7l-none-linux-gnueabihf -mcpu=cortex-a72 -mattr=+neon\n"
      "is understood too. Other triples that LLVM knows, such as x86_64-apple-darwin, armv6k-linux-gnueabi or\n"
      "wasm32-unknown-unknown, are for --emit obj, asm and llvm: rpc_server does not run there.\n\n"
      "Examples:\n"
      "  ferry targets\n"
      "  ferry compile mm.tc --target raspberry-pi-4");
  command.callback(
      [json, &chosen] { chosen = [json](const Compiler* compiler) { return list_targets(compiler, *json); }; });
}

}  // namespace ferry::cli
