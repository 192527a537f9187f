// Shell scripts that ferry runs on a board over ssh; they need nothing but POSIX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::session {

// A server that the board could run.
struct BoardServer {
  std::string arch;
  std::string hash = {};    // BLAKE2b-256 of its contents, which names its file on the board, in hexadecimal digits
  std::string sha256 = {};  // the same, for boards without b2sum
  std::uint64_t bytes = 0;
};

// Every answer of a script is a line that starts with this; other lines are output of the login.
inline constexpr const char* kSshMarker = "ferry-ssh ";

// Names the lease in whose name a session runs, by its epoch on the board. 0: none.
using SshEpoch = std::uint64_t;
// Every shell can compare such numbers.
inline constexpr SshEpoch kMaxSshEpoch = 999'999'999'999'999'999;
// Lock files are called "lease-EPOCH-PROCESS-START" and lie in the folders of servers. They are made before others are
// looked for, so that of two scripts at least one sees the other. The last one stays: it outlaws earlier leases. Every
// program of the user can make such files, so nothing but a live process of this user is waited for, and those who know
// which epochs there are have the others removed.
//
// A file "key-EPOCH-PROCESS-START-KEY" beside a lock shows that a session of the lease has made it: no other program
// knows the lease's key before its first session begins. Without it, a lock of the same epoch is forged.
inline constexpr const char* kSshLockPrefix = "lease-";
inline constexpr const char* kSshKeyPrefix = "key-";
inline constexpr std::size_t kMaxSshLocks = 32;

// Starts the server if the board has it, with the contents that it must have, by b2sum or sha256sum. Where neither
// exists, the file is trusted only if `is_pushed`: it was put there just now. The answers are "ready", after which the
// server speaks; "absent ARCH"; "changed ARCH", if there is a file of its name with other contents; "unsupported SYSTEM
// MACHINE".
//
// With an epoch the script first locks the board, in the name of the lease with this key (letters and digits), after it
// has ended the process group of each session of an earlier lease. Then it answers "locked" and expects a line with the
// number of seconds after which the server ends the session. Other answers are "later EPOCH", if a later lease has the
// board; "busy PROCESS", if a session of this lease does not end; "stuck PROCESS", if one of an earlier lease does not;
// "unlockable", if no folder can be written to or /proc is missing.
std::string start_script(const std::vector<BoardServer>& servers, SshEpoch epoch = 0, bool is_pushed = false,
                         const std::string& key = "");

// Stores the server's bytes from standard input in the first suitable folder after the first `skip` ones, and removes
// older servers. The answers are "pushed FOLDER"; "full NUMBER FOLDER" or "noexec NUMBER FOLDER" for a folder that
// turns out to be unsuitable; "nowhere".
std::string push_script(const BoardServer& server, int skip);

// Asks the board what it is and how it is. The answers are "KEY VALUE" in any order and number, and "end" as the last:
// machine (as start_script()), boot (the id of the system's start), uptime (in seconds), load (as in /proc/loadavg),
// temperature (of one sensor, in thousandths of a degree), cores, cpu, memory ("8000 kB"), model, lease (of a lock file
// whose epoch is above `known`, "EPOCH-PROCESS-START"; at most kMaxSshLocks of them). A board says what it likes.
// Before that the script removes the lock files that are named in the same way.
std::string probe_script(SshEpoch known = 0, const std::vector<std::string>& forged = {});

// Whether this may stand for EPOCH-PROCESS-START: three numbers with dashes in between.
bool is_lock_name(std::string_view name);

}  // namespace ferry::session
