#include "host/session/ssh_script.h"

namespace ferry::session {

namespace {

// The login shell may be any, including csh and fish, so the script is passed to sh in single quotes on one line: it
// must contain no single quote, exclamation mark, backslash or newline.
std::string for_shell(const std::string& script) { return "exec /bin/sh -c '" + script + "'"; }

// Folders that usually exist and are writable; the home directory of a board may be read-only.
constexpr const char* kFolders =
    "\"${XDG_CACHE_HOME:-$HOME/.cache}/ferry\" \"/var/tmp/ferry-$(id -u)\" \"/tmp/ferry-$(id -u)\" "
    "\"/dev/shm/ferry-$(id -u)\"";

// Other users can make folders and links in /tmp: a program is run only from a folder that belongs to this user and
// that nobody else can write to, and permissions are never changed through a link.
constexpr const char* kOwn =
    "mine() { set -- $(ls -ldn \"$1\" 2>/dev/null); [ \"$3\" = \"$(id -u)\" ] || return 1; "
    "case \"$1\" in d*) return 0;; esac; return 1; }; "
    "own() { mine \"$1\" || return 1; case \"$(ls -ldn \"$1\")\" in drwx------*) return 0;; esac; return 1; }; ";

// Returns the pattern of what uname says on an architecture.
std::string machines_of(const std::string& arch) {
  const auto pattern = [](const char* machine, const char* other) {
    const std::string one = "\"Linux " + std::string(machine) + "\"";
    return *other == 0 ? one : one + "|\"Linux " + other + "\"";
  };
#define FERRY_DEVICE_ARCH(name, triple, pointer_bits, machine, other_machine) \
  if (arch == #name) return pattern(machine, other_machine);
#include "module/device_archs.def"
#undef FERRY_DEVICE_ARCH
  return pattern(arch.c_str(), "");
}

std::string answer(const std::string& words) { return "echo \"" + (kSshMarker + words) + "\""; }

}  // namespace

std::string start_script(const std::vector<BoardServer>& servers) {
  std::string script = kOwn;
  script += "case \"$(uname -s) $(uname -m)\" in ";
  for (const BoardServer& server : servers) {
    script += machines_of(server.arch) + ") a=" + server.arch + "; h=" + server.hash +
              "; n=" + std::to_string(server.bytes) + ";; ";
  }
  script += "*) " + answer("unsupported $(uname -s) $(uname -m)") + "; exit 0;; esac; ";
  script += std::string("for d in ") + kFolders + "; do f=\"$d/rpc_server-$h\"; ";
  script += "if [ -x \"$f\" ] && own \"$d\" && [ \"$(wc -c <\"$f\")\" -eq \"$n\" ]; then ";
  // The folder in which the server keeps files while it runs.
  script += "[ -w \"${TMPDIR:-/tmp}\" ] || export TMPDIR=\"$d\"; ";
  script += answer("ready") + "; exec \"$f\" --stdio --quiet; fi; done; " + answer("absent $a");
  return for_shell(script);
}

std::string push_script(const BoardServer& server, int skip) {
  std::string script = kOwn;
  script += "umask 077; h=" + server.hash + "; i=0; t=; ";
  script += "clean() { [ -z \"$t\" ] || rm -f \"$t\"; }; trap clean 0; trap \"exit 1\" 1 2 13 15; ";
  script += std::string("for d in ") + kFolders + "; do i=$((i+1)); ";
  script += "[ $i -gt " + std::to_string(skip) + " ] || continue; ";
  script += "mkdir -p \"$d\" 2>/dev/null; mine \"$d\" && chmod 700 \"$d\" 2>/dev/null; own \"$d\" || continue; ";
  // Removes the remains of interrupted pushes; while a push is in progress its shell is alive.
  script +=
      "for o in \"$d\"/.push.*; do kill -0 \"${o##*.}\" 2>/dev/null || rm -f \"$o\"; done; "
      "t=\"$d/.push.$$\"; : 2>/dev/null >\"$t\" || continue; ";
  script += "cat >\"$t\" 2>/dev/null; ";
  script += "if [ \"$(wc -c <\"$t\")\" -ne " + std::to_string(server.bytes) + " ]; then " + answer("full $i $d") +
            "; exit 0; fi; ";
  script += "chmod 700 \"$t\"; if \"$t\" --version >/dev/null 2>&1; then :; else " + answer("noexec $i $d") +
            "; exit 0; fi; ";
  script += "mv -f \"$t\" \"$d/rpc_server-$h\" || { " + answer("full $i $d") + "; exit 0; }; ";
  script += "for o in \"$d\"/rpc_server-*; do [ \"$o\" = \"$d/rpc_server-$h\" ] || rm -f \"$o\"; done; ";
  script += answer("pushed $d") + "; exit 0; done; " + answer("nowhere");
  return for_shell(script);
}

}  // namespace ferry::session
