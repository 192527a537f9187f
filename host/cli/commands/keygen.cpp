#include <cstdio>
#include <string>

#include "host/cli/commands/command.h"
#include "rpc/secure/key.h"

namespace ferry::cli {

namespace {

int keygen(const std::string& path) {
  const secure::Key key = secure::make_key();
  if (path == "-") {
    fputs(secure::to_file_text(key).c_str(), stdout);
    return kExitFine;
  }
  if (const Status written = secure::write_key_file(path, key); !written.is_ok()) throw UsageError(written.message());
  printf("made %s, key %s\n", path.c_str(), secure::to_text(key.id()).c_str());
  printf("server: rpc_server --key-file FILE, or put it into ~/.config/ferry/server-keys/ there as NAME.key\n");
  printf("client: ferry device --remote HOST:PORT --key-file %s\n", path.c_str());
  return kExitFine;
}

}  // namespace

void add_keygen(CLI::App& app, Action& chosen) {
  auto path = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("keygen", "Make a key for a server and those who may use it");
  command.add_option("file", *path, "Where to put it, readable for you alone; never overwritten. '-' prints it")
      ->type_name("FILE")
      ->required();
  command.footer(
      "Who holds a server's key may run code there. A server accepts every key in its folder; delete one to shut its\n"
      "holders out.\n\n"
      "Examples:\n"
      "  ferry keygen ~/.config/ferry/pi.key\n"
      "  ferry keygen - | ssh pi 'umask 077; mkdir -p .config/ferry/server-keys; cat > "
      ".config/ferry/server-keys/ci.key'");
  command.callback([path, &chosen] { chosen = [path](const Compiler*) { return keygen(*path); }; });
}

}  // namespace ferry::cli
