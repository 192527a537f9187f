#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "crosscompile/target/resolve.h"
#include "rpc/transport/socket.h"
#include "rpc/wire/connection.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/crashing_module.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

// Runs the kernel mm with these additional arguments and expects a user error.
void expect_user_error(std::vector<std::string> words, const std::string& message) {
  words.insert(words.begin(), {"run", "-e", test::kMatmul});
  const Outcome outcome = run_ferry(words);
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "ferry: " + message + "\n");
  CHECK(outcome.out.empty());
}

// A listener on loopback that serves one client with a function supplied by the test.
class Listener {
 public:
  explicit Listener(void (*serve)(int client)) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(socket_, 1) != 0 ||
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      throw std::runtime_error("cannot listen on loopback");
    }
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this, serve] {
      const int client = accept(socket_, nullptr, nullptr);
      if (client >= 0) serve(client);
    });
  }
  ~Listener() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }
  const std::string& address() const { return address_; }
  std::string plaintext() const { return "plaintext://" + address_; }

 private:
  int socket_ = -1;
  std::string address_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("what has no machine code cannot show any, nor run") {
  const auto complaint_of = [](std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"-e", test::kMatmul, "--target", "c"});
    return run_ferry(words);
  };
  const Outcome stage = complaint_of({"compile", "--emit", "asm"});
  CHECK(stage.code == 2);
  CHECK(stage.err == "ferry: --emit asm: expected a target with machine code, got 'c'\n");
  const Outcome ran = complaint_of({"run", "--size", "M=2,N=2,K=2"});
  CHECK(ran.code == 2);
  CHECK(ran.err ==
        "ferry: expected a target that modules are made for, got 'c': 'ferry compile --target c' writes a text\n");
}

TEST_CASE("arguments that do not fit are told in the parameter's own words") {
  expect_user_error({"--arg", "A=f64[4,4]", "--arg", "B=f32[4,4]"},
                    "mm: argument 1 'A': expected f32[M,K], got f64[4,4]");
  expect_user_error({"--arg", "A=f32[4]", "--arg", "B=f32[4,4]"}, "mm: argument 1 'A': expected f32[M,K], got f32[4]");
  expect_user_error({"--arg", "A=f32[64,100]", "--arg", "B=f32[64,128]"},
                    "mm: argument 2 'B': expected f32[100,128], got f32[64,128]");
}

TEST_CASE("sizes and names that are not there, or contradict each other") {
  expect_user_error(
      {},
      "mm: the arguments do not say what M, K, N are; give them by name, or arguments with shapes (--size "
      "NAME=SIZE or --arg NAME=DTYPE[SIZES])");
  expect_user_error({"--size", "M=4,N=4,K=4,Q=1"}, "--size Q=1: mm has no size 'Q'; expected one of: M, K, N");
  expect_user_error({"--fix", "M=4,Q=1"}, "-e: expected a size to fix, got 'Q', which no def has");
  expect_user_error({"--fix", "M=four"}, "--fix M=four: expected NAME=SIZE such as M=512, several with commas between");
  expect_user_error({"--fix", "M=4", "--size", "M=4,N=4,K=4"}, "--size M=4: mm has no size 'M'; expected one of: K, N");
  expect_user_error({"--size", "M=4", "--arg", "A=f32[5,6]"}, "--size M=4: the arguments say that M is 5");
  expect_user_error({"--arg", "X=f32[4]"}, "--arg X=f32[4]: mm has no input 'X'; expected one of: A, B");
  expect_user_error({"--arg", "C=f32[4,4]"}, "--arg C=f32[4,4]: C is an output, which ferry makes itself");
  expect_user_error({"--arg", "A=f32[4,4]", "--arg", "A=f32[4,4]"},
                    "--arg A=f32[4,4]: expected one value for A, got a second one");
  expect_user_error({"--arg", "A=5"},
                    "--arg A=5: expected a tensor for A of mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)");
  expect_user_error({"--size", "M=4,N=4,K=4", "--out", "D=@d.npy"},
                    "--out D=@d.npy: mm has no output 'D'; expected one of: C");
  expect_user_error({"--arg", "A=@/nowhere/a.npy"}, "cannot read '/nowhere/a.npy': No such file or directory");
  expect_user_error({"--fn", "conv", "--size", "M=1"}, "-e has no function 'conv'; expected one of: mm");
}

TEST_CASE("a syntax error shows file, line, column, the line and what was expected") {
  const Folder folder;
  const std::string file =
      folder.file("bad.tc", "def mm(float32(M,K) A, float32(K,N) B) -> (C) {\n  C(m,n) +=! A(m,k * B(k,n)\n}\n");
  const Outcome outcome = run_ferry({"run", file, "--size", "M=1,N=1,K=1"});
  CHECK(outcome.code == 2);
  CHECK(outcome.err.starts_with("ferry: " + file + ":3:1: expected "));
  CHECK(outcome.err.find("\n  }\n  ^\n") != std::string::npos);
}

TEST_CASE("unknown targets, commands, options and passes name what there is") {
  CHECK(run_ferry({"compile", "-e", test::kMatmul, "--target", "raspbery-pi-4"}).err.find("raspberry-pi-4") !=
        std::string::npos);
  const Outcome command = run_ferry({"build"});
  CHECK(command.code == 2);
  CHECK(command.err.starts_with("ferry: there is no command 'build'; expected one of: device, targets, compile, "));
  CHECK(run_ferry({}).code == 2);
  CHECK(run_ferry({"run", "--frobnicate"}).code == 2);
  const auto complaint = [](const std::vector<std::string>& words) {
    const Outcome outcome = run_ferry(words);
    CHECK(outcome.code == 2);
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  CHECK(complaint({"--frobnicate"}) == "ferry: there is no option '--frobnicate'");
  CHECK(complaint({"bench", "--repeat"}) == "ferry: --repeat: expected a value after it");
  CHECK(complaint({"bench", "--repeat", "0"}) == "ferry: --repeat: expected a whole number from 1 to 50000, got '0'");
  CHECK(complaint({"run", "--check", "--rtol", "small"}) == "ferry: --rtol: expected a number from 0 up, got 'small'");
  CHECK(
      complaint({"compile", "--emit", "spirv"}) ==
      "ferry: --emit: expected one of: graph, groups, schedule, space, point, lower, plan, c, opencl, cuda, ptx, llvm, "
      "asm, obj; got 'spirv'");
  CHECK(complaint({"run", "-e", test::kMatmul, "mm.tc"}) ==
        "ferry: expected one kernel, got a text and the file 'mm.tc' (FILE or -e TEXT)");
  CHECK(complaint({"inspect"}) == "ferry: expected a module: ferry inspect K.ferry");
  CHECK(run_ferry({"run"}).err == "ferry: expected a kernel: a file, '-' for stdin, or a text (FILE or -e TEXT)\n");
  const Outcome pass = run_ferry({"compile", "-e", test::kMatmul, "--emit", "lower", "--after", "magic"});
  CHECK(pass.code == 2);
  CHECK(pass.err.starts_with("ferry: there is no pass 'magic'; expected one of: lower, simplify, "));
  CHECK(run_ferry({"compile", "-e", test::kMatmul, "--emit", "c", "--after", "flatten"}).err ==
        "ferry: --after needs --emit lower, or --emit graph of a network\n");
}

TEST_CASE("a module for another architecture is refused by the device") {
  const Outcome outcome =
      run_ferry({"run", "-e", test::kMatmul, "--size", "M=1,N=1,K=1", "--target", "llvm -mtriple=riscv64-linux-gnu"});
  CHECK(outcome.code == 3);
  CHECK(outcome.err == "ferry: this module is for riscv64; the device is x86_64\n");
}

TEST_CASE("a module for features the device lacks names both") {
  const test::ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/riscv64/static/rpc_server",
                                     {"qemu-riscv64", "-cpu", "rv64,v=false"});
  const Outcome outcome = run_ferry(
      {"run", "-e", test::kMatmul, "--size", "M=1,N=1,K=1", "--target", "riscv64-v", "--remote", server.address()});
  CHECK(outcome.code == 3);
  CAPTURE(outcome.err);
  CHECK(outcome.err.starts_with("ferry: this module needs v; the device has "));
}

TEST_CASE("a module file with any byte changed or missing is refused, never run") {
  const Folder folder;
  const std::string file = folder.path("mm.ferry");
  REQUIRE(run_ferry({"compile", "-e", test::kMatmul, "-o", file}).code == 0);
  const std::string whole = test::content_of(file);
  for (const std::size_t at : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    CAPTURE(at);
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    const Outcome outcome = run_ferry({"run", folder.file("flipped.ferry", flipped), "--size", "M=1,N=1,K=1"});
    CHECK(outcome.code == 2);
    CHECK(outcome.err.starts_with("ferry: " + folder.path("flipped.ferry") + ": "));
    const Outcome shorter = run_ferry({"inspect", folder.file("short.ferry", whole.substr(0, at))});
    CHECK(shorter.code == 2);
    CHECK(shorter.err.starts_with("ferry: " + folder.path("short.ferry") + ": "));
  }
}

TEST_CASE("a kernel that leaves its memory is named with its signal, and the server serves the next run") {
  const test::ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server", {},
                                     {"--quiet"});
  const Folder folder;
  const auto module = test::crashing_module(resolve_target("x86-64"));
  const std::string file = folder.file("astray.ferry", {module.begin(), module.end()});
  const std::string expected = "ferry: astray: the kernel ended the session with SIGSEGV (bad memory access) after ";
  for (const char* command : {"run", "bench"}) {
    const Outcome crash = run_ferry({command, file, "--size", "N=4", "--remote", server.address()});
    CHECK(crash.code == 1);
    CHECK(crash.err.substr(0, expected.size()) == expected);
  }
  CHECK(run_ferry({"run", "-e", test::kMatmul, "--size", "M=1,N=1,K=1", "--remote", server.address()}).code == 0);
}

TEST_CASE("nobody at the address is said within five seconds") {
  const Outcome outcome = run_ferry({"device", "--remote", "plaintext://127.0.0.1:1"});
  CHECK(outcome.code == 3);
  CHECK(outcome.err == "ferry: cannot connect to 127.0.0.1:1: connection refused; is rpc_server running there?\n");
  CHECK(outcome.seconds < 5);
  CHECK(run_ferry({"device", "--remote", "board:port"}).code == 2);
}

TEST_CASE("a listener that is no rpc_server is given up after five seconds") {
  const Listener listener([](int client) {
    char byte;
    while (read(client, &byte, 1) == 1) {
    }
    close(client);
  });
  const Outcome outcome = run_ferry({"device", "--remote", listener.plaintext()});
  CHECK(outcome.code == 3);
  CHECK(outcome.err ==
        "ferry: " + listener.address() + " does not answer: something listens there, but it is no ferry rpc_server\n");
  CHECK(outcome.seconds < 6);
}

TEST_CASE("a server of another version is told with both versions") {
  const Listener listener([](int client) {
    auto transport = wrap_socket(client);
    rpc::Connection connection(std::move(transport.value()));
    if (!connection.receive_preamble().is_ok()) return;
    const auto frame = connection.receive_frame();
    if (!frame.is_ok()) return;
    (void)connection.send_failure(
        frame.value().header, {ErrorCode::version_mismatch, "the server speaks versions 2 to 3, the client 1 to 1"});
  });
  const Outcome outcome = run_ferry({"device", "--remote", listener.plaintext()});
  CHECK(outcome.code == 3);
  CHECK(outcome.err == "ferry: the server speaks versions 2 to 3, the client 1 to 1\n");
}

TEST_CASE("a file that cannot be written is told before the kernel runs") {
  const Folder folder;
  const std::string file = folder.path("none/x");
  for (const std::string option : {"--out", "--junit"}) {
    const Outcome outcome = run_ferry(
        {"run", "-e", test::kMatmul, "--size", "M=2,N=2,K=2", option, (option == "--out" ? "C=@" : "") + file});
    CHECK(outcome.code == 2);
    CHECK(outcome.err == "ferry: cannot write '" + file + "': No such file or directory\n");
    CHECK(outcome.out.empty());
  }
}

TEST_CASE("options of one kernel of two are named as they were typed") {
  const Folder folder;
  const std::string one = folder.file("one.tc", "def f(float(N) A) -> (B) { B(i) = A(i) }\n");
  const std::string two = folder.file("two.tc",
                                      "def f(float(N) A) -> (B) { B(i) = A(i) }\n"
                                      "def g(float(N) A) -> (B) { B(i) = A(i) }\n");
  const auto message = [](std::vector<std::string> words) {
    words.insert(words.begin(), "compare");
    const Outcome outcome = run_ferry(words);
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(message({one, one, "--knob-a", "rows=4"}) ==
        "ferry: --knob-a rows=4: expected a schedule of your own with this knob\n");
  CHECK(message({one, one, "--knob-b", "rows=4"}) ==
        "ferry: --knob-b rows=4: expected a schedule of your own with this knob\n");
  CHECK(message({one, two}) == "ferry: " + two + " has several functions; expected one of: f, g (--fn-b NAME)\n");
  CHECK(message({one, one, "--size", "N=x"}).starts_with("ferry: --size N=x: expected NAME=SIZE"));
  const std::string sum = folder.file("sum.tc", "def f(float(N) A) -> (S) { S() +=! A(i) }\n");
  CHECK(message({one, sum, "--size", "N=4"}) ==
        "ferry: A and B cannot be given the same inputs: f takes out f32[N] B where f takes out f32[] S "
        "(--allow-difference measures them all the same)\n");
}

TEST_CASE("JUnit names the option that is at fault, as the message does") {
  const Folder folder;
  const std::string report = folder.path("bench.xml");
  const Outcome outcome = run_ferry({"bench", "-e", test::kMatmul, "--size", "M=2,N=2,K=2,Q=1", "--junit", report});
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "ferry: --size Q=1: mm has no size 'Q'; expected one of: M, K, N\n");
  CHECK(test::content_of(report).find("<error message=\"--size Q=1: mm has no size") != std::string::npos);
}

TEST_CASE("a sweep that does not fit is told as a sweep") {
  const auto message = [](const std::string& sweep, const std::string& sizes) {
    const Outcome outcome = run_ferry({"bench", "-e", test::kMatmul, "--size", sizes, "--sweep", sweep});
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(message("m=2,4", "N=2,K=2") == "ferry: --sweep m: mm has no size or knob 'm'; expected one of: M, K, N\n");
  CHECK(message("M=2,4", "M=2,N=2,K=2") == "ferry: --sweep M: expected it as a range or as one size, got both\n");
  CHECK(message("M=a,b", "N=2,K=2").starts_with("ferry: --sweep M=a: expected NAME=SIZE"));
  CHECK(message("M=8..2", "N=2,K=2") == "ferry: --sweep M=8..2: expected a range whose end is not below its start\n");
}

TEST_CASE("a file that is neither a text nor a module is called that") {
  const Folder folder;
  const std::string file = folder.file("a.bin", std::string("\x93NUMPY\0\0", 8));
  CHECK(run_ferry({"run", file}).err ==
        "ferry: " + file + ": expected a kernel's text or a .ferry module, got another kind of file\n");
  CHECK(run_ferry({"inspect", file}).err ==
        "ferry: " + file + ": expected a .ferry module, got another kind of file\n");
}
