#include "host/client/connect/ssh_script.h"

#include <algorithm>

namespace ferry::session {

namespace {

// Number of the hash's digits in the name of a server's file.
constexpr std::size_t kNameDigits = 32;

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

// A file that was put on the board earlier may have been changed by what ran there since: same() tells whether the
// contents of $1 are those of the server, whose hashes are $b and $k. Without a program that computes one, it answers
// as the script that is appended.
constexpr const char* kSame =
    "same() { v=$(b2sum -l 256 <\"$1\" 2>/dev/null); v=${v%% *}; [ ${#v} -eq 64 ] && { [ \"$v\" = \"$b\" ]; return; }; "
    "v=$(sha256sum <\"$1\" 2>/dev/null); v=${v%% *}; [ ${#v} -eq 64 ] && { [ \"$v\" = \"$k\" ]; return; }; ";

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

// Sets g to the process group of process $1 and r to when it started, in ticks since the system's start; that tells
// it from a later process of the same number. The name of a program, which comes before, may contain anything.
constexpr const char* kProcess =
    "look() { g=; r=; [ \"$1\" -gt 1 ] 2>/dev/null || return 1; read -r x 2>/dev/null <\"/proc/$1/stat\" || return 1; "
    "set -- ${x##*\")\"}; case \"$1\" in Z|X) return 1;; esac; g=$3; r=${20}; }; ";

// Whether process $1 belongs to this user. The owner of its folder in /proc would not say so of every process.
constexpr const char* kOwnProcess =
    "ours() { o=; while read -r k o x; do [ \"$k\" = Uid: ] && break; o=; done 2>/dev/null <\"/proc/$1/status\"; "
    "[ \"$o\" = \"$(id -u)\" ]; }; ";

// Whether $b, the end of the name of a lock file, is "EPOCH-PROCESS-START", into which it is split as $q, $p and $z.
// The comparisons accept signs and spaces, which no lock file has.
constexpr const char* kLockName =
    "lock() { q=${b%%-*}; z=${b#*-}; p=${z%%-*}; z=${z#*-}; case \"$b\" in *[+[:space:]]*) return 1;; *-*-*) ;; "
    "*) return 1;; esac; "
    "[ ${#q} -le 18 ] && [ \"$q\" -ge 1 ] && [ \"$p\" -ge 1 ] && [ \"$z\" -ge 0 ]; } 2>/dev/null; ";

// Ends process $p with the signal $1: its whole group, unless that contains others, such as this script.
constexpr const char* kEnd =
    "end() { if [ \"$g\" = \"$p\" ] && [ \"$g\" -ne \"$own_group\" ]; then kill \"$1\" \"-$p\"; else kill \"$1\" "
    "\"$p\"; "
    "fi 2>/dev/null; }; ";

// See start_script(). Time is counted in tenths of seconds, though some sleep() only whole ones.
std::string lock_script(SshEpoch epoch, const std::string& key) {
  const std::string prefix = kSshLockPrefix, keys = kSshKeyPrefix;
  std::string script = std::string(kProcess) + kOwnProcess + kLockName + kEnd +
                       "umask 077; e=" + std::to_string(epoch) + "; j=" + key + "; ";
  script += "look $$ || { " + answer("unlockable") + "; exit 0; }; own_group=$g; own_start=$r; m=; ";
  script += std::string("for d in ") + kFolders + "; do mkdir -p \"$d\" 2>/dev/null; own \"$d\" || continue; ";
  // A redirection that fails would end the script if this were the builtin ":".
  script += "b=$e-$$-$own_start; t=\"$d/" + prefix + "$b\"; ";
  script += "true 2>/dev/null >\"$t\" && m=$t && u=\"$d/" + keys + "$b-$j\" && break; done; ";
  script += "[ -n \"$m\" ] || { " + answer("unlockable") + "; exit 0; }; ";
  script += "n=0; while :; do [ -e \"$m\" ] || true >\"$m\"; [ -e \"$u\" ] || true 2>/dev/null >\"$u\"; w=; ";
  script += std::string("for d in ") + kFolders + "; do own \"$d\" || continue; ";
  script += "for c in \"$d/" + prefix + "\"*; do [ \"$c\" = \"$m\" ] && continue; ";
  script += "b=${c##*/" + prefix + "}; ";
  // A folder, which rm leaves, locks nothing.
  script += "if [ -f \"$c\" ] && lock; then :; else rm -f \"$c\" 2>/dev/null; continue; fi; ";
  script += "[ \"$q\" -gt $e ] && { rm -f \"$m\"; " + answer("later $q") + "; exit 0; }; ";
  // A session of this lease makes the file with the lease's key right after its lock.
  script += "if [ \"$q\" -ne $e ] || [ -f \"$d/" + keys + "$b-$j\" ]; then :; ";
  script += "else if [ $n -lt 10 ]; then w=busy; v=$p; else rm -f \"$c\" 2>/dev/null; fi; continue; fi; ";
  script +=
      "if look \"$p\" && [ \"$r\" = \"$z\" ] && ours \"$p\"; then w=busy; v=$p; else rm -f \"$c\" 2>/dev/null; "
      "continue; fi; ";
  // Two sessions of one lease that begin at once: the one with the lower number goes first.
  script += "if [ \"$q\" -eq $e ]; then [ \"$p\" -lt $$ ] && rm -f \"$m\"; else w=stuck; ";
  script += "if [ $n -lt 10 ]; then end -TERM; else end -KILL; fi; fi; done; ";
  // Keys whose locks are gone.
  script += "for c in \"$d/" + keys + "\"*; do b=${c##*/" + keys + "}; ";
  script += "[ -e \"$d/" + prefix + "${b%-*}\" ] || rm -f \"$c\" 2>/dev/null; done; ";
  script += "done; ";
  script += "[ -n \"$w\" ] || break; ";
  script += "if [ $n -gt 100 ]; then rm -f \"$m\"; " + answer("$w $v") + "; exit 0; fi; ";
  script += "if sleep 0.1 2>/dev/null; then n=$((n+1)); else sleep 1; n=$((n+10)); fi; done; ";
  script += answer("locked") + "; read -r l || exit 0; [ \"$l\" -ge 1 ] || exit 0; ";
  return script;
}

}  // namespace

std::string start_script(const std::vector<BoardServer>& servers, SshEpoch epoch, bool is_pushed,
                         const std::string& key) {
  std::string script = std::string(kOwn) + kSame + (is_pushed ? "return 0; }; " : "return 1; }; ") + "s=; w=absent; ";
  script += "case \"$(uname -s) $(uname -m)\" in ";
  for (const BoardServer& server : servers) {
    script += machines_of(server.arch) + ") a=" + server.arch + "; h=" + server.hash.substr(0, kNameDigits) +
              "; b=" + server.hash + "; k=" + server.sha256 + "; n=" + std::to_string(server.bytes) + ";; ";
  }
  script += "*) " + answer("unsupported $(uname -s) $(uname -m)") + "; exit 0;; esac; ";
  script += std::string("for d in ") + kFolders + "; do f=\"$d/rpc_server-$h\"; ";
  script += "if [ -x \"$f\" ] && own \"$d\"; then v=; ";
  script += "if [ \"$(wc -c <\"$f\")\" -ne \"$n\" ]; then w=changed; continue; fi; ";
  script += "same \"$f\" || { [ ${#v} -ne 64 ] || w=changed; continue; }; ";
  // The folder in which the server keeps files while it runs.
  script += "[ -w \"${TMPDIR:-/tmp}\" ] || export TMPDIR=\"$d\"; ";
  if (epoch == 0) {
    script += answer("ready") + "; exec \"$f\" --stdio --quiet; fi; done; " + answer("$w $a");
  } else {
    script += "s=$f; break; fi; done; [ -n \"$s\" ] || { " + answer("$w $a") + "; exit 0; }; ";
    script += lock_script(epoch, key) + answer("ready") + "; exec \"$s\" --stdio --quiet --session-deadline \"$l\"";
  }
  return for_shell(script);
}

bool is_lock_name(std::string_view name) {
  constexpr std::size_t kMost = 64;
  const auto is_part = [](char one) { return (one >= '0' && one <= '9') || one == '-'; };
  return name.size() <= kMost && std::ranges::count(name, '-') == 2 && std::ranges::all_of(name, is_part);
}

std::string push_script(const BoardServer& server, int skip) {
  std::string script = kOwn;
  script += "umask 077; h=" + server.hash.substr(0, kNameDigits) + "; i=0; t=; ";
  script += "clean() { [ -z \"$t\" ] || rm -f \"$t\"; }; trap clean 0; trap \"exit 1\" 1 2 13 15; ";
  script += std::string("for d in ") + kFolders + "; do i=$((i+1)); ";
  script += "[ $i -gt " + std::to_string(skip) + " ] || continue; ";
  script += "mkdir -p \"$d\" 2>/dev/null; mine \"$d\" && chmod 700 \"$d\" 2>/dev/null; own \"$d\" || continue; ";
  // Removes the remains of interrupted pushes; while a push is in progress its shell is alive.
  script +=
      "for o in \"$d\"/.push.*; do kill -0 \"${o##*.}\" 2>/dev/null || rm -f \"$o\"; done; "
      "t=\"$d/.push.$$\"; true 2>/dev/null >\"$t\" || continue; ";
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

std::string probe_script(SshEpoch known, const std::vector<std::string>& forged) {
  std::string script = std::string(kOwn) + kLockName + "say() { " + answer("$1 $2") + "; }; ";
  script += "say machine \"$(uname -s) $(uname -m)\"; ";
  script += "read -r x 2>/dev/null </proc/sys/kernel/random/boot_id && say boot \"$x\"; ";
  script += "read -r x y 2>/dev/null </proc/uptime && say uptime \"$x\"; ";
  script += "read -r x y 2>/dev/null </proc/loadavg && say load \"$x\"; ";
  script += "for c in /sys/class/thermal/thermal_zone*/temp; do ";
  script += "read -r x 2>/dev/null <\"$c\" && say temperature \"$x\"; done; ";
  script += "say cores \"$(grep -c ^processor /proc/cpuinfo)\"; ";
  script += "say cpu \"$(sed -n \"s/^model name[^:]*: *//p\" /proc/cpuinfo | head -n 1)\"; ";
  script += "say memory \"$(sed -n \"s/^MemTotal: *//p\" /proc/meminfo)\"; ";
  script += "say model \"$(cat /sys/firmware/devicetree/base/model 2>/dev/null || ";
  script += "cat /sys/class/dmi/id/product_name 2>/dev/null)\"; ";
  const std::string prefix = kSshLockPrefix;
  script += std::string("n=0; for d in ") + kFolders + "; do own \"$d\" || continue; ";
  for (const std::string& name : forged)
    if (is_lock_name(name)) script += "rm -f \"$d/" + prefix + name + "\" 2>/dev/null; ";
  script += "for c in \"$d/" + prefix + "\"*; do b=${c##*/" + prefix + "}; ";
  script += "[ -f \"$c\" ] && lock && [ \"$q\" -gt " + std::to_string(known) + " ] || continue; ";
  script += "[ $n -lt " + std::to_string(kMaxSshLocks) + " ] && n=$((n+1)) && say lease \"$b\"; done; done; say end";
  return for_shell(script);
}

}  // namespace ferry::session
