// Tests of confined programs: shells that try what a compiler, or what it has compiled, must not do.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/landlock.h"
#include "crosscompile/confine/call_filter.h"
#include "crosscompile/confine/run_confined.h"

namespace ferry::confine {
namespace {

std::string content_of(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

struct Fixture {
  Fixture() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ferry_confine.XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
    std::filesystem::create_directory(folder + "/own");
    std::filesystem::create_directory(folder + "/given");
    std::filesystem::create_directory(folder + "/private");
    std::ofstream(folder + "/given/note") << "for all\n";
    std::ofstream(folder + "/private/key") << "secret\n";
  }
  ~Fixture() { std::filesystem::remove_all(folder); }

  ConfinedProgram shell(const std::string& script) const {
    ConfinedProgram program{.words = {"sh", "-c", script}};
    program.environment = {"PATH=/usr/bin:/bin", "F=" + folder};
    program.output_file = folder + "/out";
    program.error_file = folder + "/err";
    program.files.executable = system_folders();
    program.files.readable = {folder + "/given"};
    program.files.writable = {folder + "/own", "/dev/null"};
    return program;
  }
  // What the script prints.
  std::string said(const std::string& script) const {
    run_confined(shell(script));
    return content_of(folder + "/out");
  }

  std::string folder;
};

// A test of what Landlock does fails where there is none, rather than passing for nothing.
void expect_landlock() { REQUIRE_MESSAGE(landlock::version() > 0, "this kernel has no Landlock"); }

bool has_process(const std::string& mark) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::string words = content_of(entry.path() / "cmdline");
    if (words.find(mark) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a confined program runs, and its exit code, signal and streams are told") {
  CHECK(said("echo fine; echo $F") == "fine\n" + folder + "\n");
  CHECK(run_confined(shell("echo why >&2; exit 7")).code == 7);
  CHECK(content_of(folder + "/err") == "why\n");
  CHECK(run_confined(shell("exec sh -c 'ulimit -S -t 1; while :; do :; done'")).is_late);
  ConfinedProgram missing = shell("");
  missing.words = {folder + "/given/nothing"};
  CHECK(run_confined(missing).is_missing);
}

TEST_CASE_FIXTURE(Fixture, "a confined program reads, writes and makes only files on its list") {
  expect_landlock();
  CHECK(said("cat $F/given/note") == "for all\n");
  CHECK(said("cat $F/private/key").empty());
  CHECK(said("ls $F/private").empty());
  CHECK(said("cat /etc/passwd").empty());
  CHECK(said("cat /proc/$PPID/environ /proc/self/environ").empty());
  CHECK(said("ln -s $F/private/key $F/own/link; cat $F/own/link").empty());
  CHECK(said("ln $F/private/key $F/own/hard; cat $F/own/hard").empty());
  CHECK(said("echo mine > $F/own/new; cat $F/own/new; rm $F/own/new; ls $F/own") == "mine\n");
  said("echo x > $F/given/note; echo x > $F/private/key; echo x > $F/private/new; mkdir $F/private/sub");
  said("rm -f $F/private/key $F/given/note; mv $F/private/key $F/own/key; truncate -s 0 $F/private/key");
  CHECK(content_of(folder + "/given/note") == "for all\n");
  CHECK(content_of(folder + "/private/key") == "secret\n");
  CHECK(!std::filesystem::exists(folder + "/private/new"));
  CHECK(!std::filesystem::exists(folder + "/private/sub"));
}

TEST_CASE_FIXTURE(Fixture, "a confined program changes no mode, owner, time or attribute, of its own files either") {
  const std::string key = folder + "/private/key";
  struct stat before{}, after{};
  REQUIRE(stat(key.c_str(), &before) == 0);
  CHECK(said("chmod 777 $F/private/key && echo done; chmod 777 $F/private && echo done").empty());
  CHECK(said("touch -d 2001-01-01 $F/private/key && echo done; chown 1:1 $F/private/key && echo done").empty());
  CHECK(said("setfattr -n user.a -v b $F/private/key && echo done").empty());
  REQUIRE(stat(key.c_str(), &after) == 0);
  CHECK(before.st_mode == after.st_mode);
  CHECK(before.st_uid == after.st_uid);
  CHECK(before.st_mtim.tv_sec == after.st_mtim.tv_sec);
}

TEST_CASE_FIXTURE(Fixture, "a confined program empties no file, on a kernel whose Landlock allows it either") {
  REQUIRE(said("perl -e 'print qq(runs\\n)'") == "runs\n");
  CHECK(said("perl -e 'print qq(done\\n) if truncate($ARGV[0], 0)' $F/private/key").empty());
  CHECK(said("perl -MFcntl -e 'print qq(done\\n) if sysopen(F, $ARGV[0], O_RDONLY | O_TRUNC)' $F/given/note").empty());
  CHECK(content_of(folder + "/private/key") == "secret\n");
  CHECK(content_of(folder + "/given/note") == "for all\n");
  CHECK(said("echo old > $F/own/mine; echo new > $F/own/mine; cat $F/own/mine") == "new\n");
}

TEST_CASE_FIXTURE(Fixture, "a confined program has no network") {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(server, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(server, 1) == 0);
  REQUIRE(getsockname(server, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  // Outside it connects, so the test can fail.
  const std::string script = "exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + " && echo connected'";
  CHECK(std::system((script + " > " + folder + "/outside").c_str()) == 0);
  CHECK(content_of(folder + "/outside") == "connected\n");
  CHECK(said(script).empty());
  close(server);
}

TEST_CASE_FIXTURE(Fixture, "a confined program cannot signal others") {
  const pid_t other = fork();
  if (other == 0) {
    sleep(60);
    _exit(0);
  }
  CHECK(said("kill -9 " + std::to_string(other) + " && echo sent; kill -9 $PPID && echo sent").empty());
  CHECK(waitpid(other, nullptr, WNOHANG) == 0);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
}

TEST_CASE_FIXTURE(Fixture, "a deadline ends a confined program with all that it has started, whatever it ignores") {
  ConfinedProgram program = shell("trap '' TERM ALRM INT; (exec sleep 311.7) & (exec sleep 311.7) & exec sleep 311.7");
  program.deadline = 0.3;
  const auto begin = std::chrono::steady_clock::now();
  const ProgramEnd end = run_confined(program);
  CHECK(end.is_late);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK(!has_process("311.7"));
}

TEST_CASE_FIXTURE(Fixture, "what a confined program has started ends when it ends itself") {
  CHECK(run_confined(shell("(exec setsid sleep 312.7) & (exec sleep 312.7) & exit 3")).code == 3);
  CHECK(!has_process("312.7"));
}

TEST_CASE_FIXTURE(Fixture, "a confined program ends with the process that runs it") {
  const pid_t runner = fork();
  if (runner == 0) {
    run_confined(shell("(exec sleep 313.7) & echo started > $F/own/mark; exec sleep 313.7"));
    _exit(0);
  }
  for (int tries = 0; tries < 400 && content_of(folder + "/own/mark").empty(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  CHECK(has_process("313.7"));
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  for (int tries = 0; tries < 400 && has_process("313.7"); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  CHECK(!has_process("313.7"));
}

TEST_CASE_FIXTURE(Fixture, "files, memory and descriptors of a confined program are limited") {
  ConfinedProgram program = shell("dd if=/dev/zero of=$F/own/large bs=1024 count=100 2>/dev/null");
  program.file_bytes = 10'240;
  CHECK(run_confined(program).code != 0);
  CHECK(std::filesystem::file_size(folder + "/own/large") <= 10'240);
  ConfinedProgram large = shell("head -c 300000000 /dev/zero | tail -c 299999999 > /dev/null && echo fits");
  large.memory_bytes = std::uint64_t{100} << 20;
  run_confined(large);
  CHECK(content_of(folder + "/out").empty());
  CHECK(said("ulimit -n") == "256\n");
  CHECK(said("ulimit -c") == "0\n");
}

TEST_CASE_FIXTURE(Fixture, "a confined program inherits no descriptor and no variable") {
  const int open_here = open((folder + "/private/key").c_str(), O_RDONLY);
  REQUIRE(open_here > 2);
  CHECK(said("cat <&" + std::to_string(open_here)).empty());
  close(open_here);
  setenv("FERRY_TEST_SECRET", "secret", 1);
  CHECK(said("env").find("SECRET") == std::string::npos);
  unsetenv("FERRY_TEST_SECRET");
}

TEST_CASE_FIXTURE(Fixture, "a kernel without Landlock is named, and the rest still holds") {
  const pid_t child = fork();
  if (child == 0) {
    // Answers as a kernel before 5.13 does.
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{std::size(code), code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) _exit(1);
    if (missing_restrictions() != std::vector<std::string>{"this kernel has no Landlock"}) _exit(2);
    if (said("cat $F/private/key") != "secret\n") _exit(3);
    if (!said("chmod 777 $F/private/key && echo done").empty()) _exit(4);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  expect_landlock();
  CHECK(missing_restrictions().empty());
}

}  // namespace ferry::confine
