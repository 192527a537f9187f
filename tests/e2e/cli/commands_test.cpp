#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using test::Folder;
using test::Outcome;
using test::run_ferry;

TEST_CASE("every command's help ends with examples") {
  for (const char* command :
       {"device", "targets", "compile", "export", "diff", "inspect", "run", "bench", "compare", "ping"}) {
    CAPTURE(command);
    const Outcome outcome = run_ferry({command, "--help"});
    CHECK(outcome.code == 0);
    CHECK(outcome.out.find("Examples:\n  ferry " + std::string(command)) != std::string::npos);
  }
  CHECK(run_ferry({"--help"}).out.find("\nExit codes:\n  0  fine\n") != std::string::npos);
  CHECK(run_ferry({"--version"}).out.starts_with("ferry 0."));
}

TEST_CASE("device says what it is, and the target that follows") {
  const Outcome text = run_ferry({"device"});
  CAPTURE(text.err);
  CHECK(text.code == 0);
  CHECK(text.out.starts_with("device     this machine\n"));
  CHECK(text.out.find("\ntarget     llvm -mtriple=") != std::string::npos);
  const auto json = nlohmann::json::parse(run_ferry({"device", "--json"}).out);
  CHECK(json.at("address") == "this machine");
  CHECK(json.at("threads").get<int>() >= 1);
  CHECK(json.at("target").at("triple").get<std::string>().find("linux") != std::string::npos);
}

TEST_CASE("targets lists names and what they stand for") {
  const Outcome text = run_ferry({"targets"});
  CHECK(text.code == 0);
  CHECK(text.out.find("\nraspberry-pi-4 ") != std::string::npos);
  bool found = false;
  const auto json = nlohmann::json::parse(run_ferry({"targets", "--json"}).out);
  for (const auto& target : json.at("targets")) {
    if (target.at("name") != "raspberry-pi-4") continue;
    found = true;
    CHECK(target.at("arch") == "aarch64");
    CHECK(target.at("cpu") == "cortex-a72");
  }
  CHECK(found);
}

TEST_CASE("a module is compiled, inspected, and run as the text is") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", test::kMatmul), module = folder.path("mm.ferry");
  const Outcome compiled = run_ferry({"compile", kernel, "-o", module});
  CAPTURE(compiled.err);
  CHECK(compiled.code == 0);
  CHECK(compiled.out.starts_with(module + ": "));
  CHECK(compiled.out.find("  mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)\n") != std::string::npos);

  const Outcome inspected = run_ferry({"inspect", module});
  CHECK(inspected.code == 0);
  CHECK(inspected.out.find("\nmm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)\n") != std::string::npos);
  const auto json = nlohmann::json::parse(run_ferry({"inspect", module, "--json"}).out);
  CHECK(json.at("source") == test::kMatmul);
  CHECK(json.at("functions").at(0).at("symbols").size() == 3);

  // A check draws the inputs of a module whose origin is not known.
  const Outcome from_module = run_ferry({"run", module, "--size", "M=3,N=4,K=5", "--check", "--seed", "0"});
  CAPTURE(from_module.err);
  CHECK(from_module.code == 0);
  const Outcome from_text = run_ferry({"run", kernel, "--size", "M=3,N=4,K=5"});
  CHECK(from_module.out.substr(0, 60) == from_text.out.substr(0, 60));
}

TEST_CASE("compiling the same text gives the same bytes in any process, folder and environment") {
  // determinism_test compiles for all backends, in one process.
  for (const char* target : {"x86-64-v3", "raspberry-pi-4-32bit"}) {
    CAPTURE(std::string(target));
    const Folder here, there;
    const std::string kernel = here.file("mm.tc", test::kMatmul);
    there.file("other.tc", test::kMatmul);
    const Outcome first = run_ferry({"compile", kernel, "--target", target, "-o", here.path("a.ferry")});
    const Outcome second =
        run_ferry({"compile", "other.tc", "--target", target, "-o", "b.ferry"}, "",
                  {{"TMPDIR", there.path("")}, {"LC_ALL", "C.UTF-8"}, {"TZ", "Asia/Tokyo"}}, there.path(""));
    const Outcome third =
        run_ferry({"compile", "-", "--target", target, "-o", there.path("c.ferry")}, test::kMatmul, {}, "/");
    CAPTURE(first.err + second.err + third.err);
    const std::string bytes = test::content_of(here.path("a.ferry"));
    CHECK(!bytes.empty());
    CHECK(bytes == test::content_of(there.path("b.ferry")));
    CHECK(bytes == test::content_of(there.path("c.ferry")));
  }
}

TEST_CASE("the target c writes a file that a C compiler takes") {
  const Folder folder;
  const std::string file = folder.path("mm.c"), program = folder.path("mm.o");
  const Outcome made = run_ferry({"compile", "-e", test::kMatmul, "--target", "c", "-o", file});
  CHECK(made.code == 0);
  CHECK(made.out.ends_with(" bytes for c\n"));
  CHECK(test::content_of(file).find("int32_t ferry_fn_mm(void* const* args") != std::string::npos);
  CHECK(std::system(("gcc -std=c11 -Wall -Wextra -Werror -c " + file + " -o " + program).c_str()) == 0);
  CHECK(run_ferry({"compile", "-e", test::kMatmul, "--target", "c", "-o", "-"}).out == test::content_of(file));
  CHECK(run_ferry({"compile", "-e", test::kMatmul, "--target", "raspberry-pi-4", "--emit", "c"})
            .out.find("ferry_fn_mm(") != std::string::npos);
}

TEST_CASE("--emit shows the stages for any target") {
  const auto emit = [](const char* stage, const char* target) {
    return run_ferry({"compile", "-e", test::kMatmul, "--emit", stage, "--target", target});
  };
  CHECK(emit("lower", "riscv64-v").out.starts_with("mm(in f32 A[M, K], in f32 B[K, N], out f32 C[M, N]; "));
  CHECK(emit("llvm", "armv7").out.find("define") != std::string::npos);
  CHECK(emit("asm", "raspberry-pi-4").out.find("fmla") != std::string::npos);
  CHECK(emit("ptx", "cuda -arch=sm_90").out.find(".target sm_90\n") != std::string::npos);
  CHECK(emit("ptx", "x86-64-v3").out.find(".visible .entry ferry_fn_mm(") != std::string::npos);
  const Folder folder;
  const Outcome object = run_ferry({"compile", "-e", test::kMatmul, "--emit", "obj", "--target",
                                    "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", "-o", folder.path("mm.o")});
  CAPTURE(object.err);
  CHECK(object.code == 0);
  CHECK(test::content_of(folder.path("mm.o"))
            .starts_with("\x7f"
                         "ELF"));
  const Outcome after = run_ferry({"compile", "-e", test::kMatmul, "--emit", "lower", "--after", "flatten"});
  CHECK(after.code == 0);
  CHECK(after.out.find("ramp(") != std::string::npos);
}

TEST_CASE("an emitted object runs under its own name, and for a system without rpc_server it says so") {
  const Folder folder;
  const std::string object = folder.path("va.o");
  const std::string kernel = "def va(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }";
  const auto compile = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"compile", "-e", kernel, "-o", object};
    all.insert(all.end(), words.begin(), words.end());
    return run_ferry(all);
  };
  CHECK(compile({"--emit", "obj"}).code == 0);
  const Outcome run = run_ferry({"run", object, "--arg", "A=f32[3]:iota", "--arg", "B=f32[3]:ones", "--check"});
  CHECK_MESSAGE(run.code == 0, run.err);
  CHECK(run.out.find("[1. 2. 3.]") != std::string::npos);
  CHECK(run_ferry({"run", object, "--fn", "vb", "--size", "N=3"}).err.find("expected one of: va") != std::string::npos);

  CHECK(compile({"--emit", "obj", "--target", "x86_64-apple-darwin"}).code == 0);
  CHECK(test::content_of(object).starts_with("\xcf\xfa\xed\xfe"));
  CHECK(compile({"--emit", "asm", "--target", "llvm -mtriple=armv6k-linux-gnueabi -mcpu=arm1176jzf-s"}).code == 0);
  const Outcome module = compile({"--target", "x86_64-apple-darwin"});
  CHECK(module.code == 2);
  CHECK(module.err.find("expected a target that rpc_server runs on") != std::string::npos);
}

TEST_CASE("a module for CUDA has machine code for its GPUs and PTX for others, or what one compiler makes") {
  const Folder folder;
  const std::string kernel = folder.file("mm.tc", test::kMatmul), module = folder.path("mm.ferry");
  const auto images = [&](const std::string& target) {
    const Outcome compile = run_ferry({"compile", kernel, "--target", target, "-o", module});
    CHECK_MESSAGE(compile.code == 0, compile.err);
    const auto json = nlohmann::json::parse(run_ferry({"inspect", module, "--json"}).out);
    std::vector<std::string> kinds;
    for (const auto& image : json.at("images")) kinds.push_back(image.at("kind"));
    return kinds;
  };
  using Kinds = std::vector<std::string>;
  CHECK(images("cuda -arch=sm_80,sm_90") == Kinds{"cubin-sm_80", "cubin-sm_90", "ptx-sm_80"});
  CHECK(images("cuda -arch=sm_80,sm_90 -compiler=nvrtc") == Kinds{"cubin-sm_80", "cubin-sm_90"});
  CHECK(images("cuda -arch=sm_80,sm_90 -compiler=llvm") == Kinds{"ptx-sm_80", "ptx-sm_90"});
  const Outcome missing = run_ferry({"compile", kernel, "--target", "cuda -compiler=nvrtc", "-o", module}, "",
                                    {{"FERRY_NVRTC", "/nonexistent"}});
  CHECK(missing.code == 2);
  CHECK_MESSAGE(missing.err.find("expected NVRTC, which compiles CUDA C, got no such file: '/nonexistent': install") !=
                    std::string::npos,
                missing.err);
}

TEST_CASE("a module for CUDA tells its kernels' registers, and that it has no PTX where LLVM could make none") {
  const Folder folder;
  const std::string module = folder.path("exp.ferry");
  const std::vector<std::string> words = {
      "compile", "-e",  "def f(double(N) A) -> (B) { B(i) = exp(A(i)) }", "--target", "cuda -arch=sm_80,sm_90",
      "-o",      module};
  CHECK(run_ferry(words).err.empty());
  const Outcome with = run_ferry({"inspect", module});
  CHECK_MESSAGE(with.out.find("\n            ferry_fn_f: ") != std::string::npos, with.out);
  CHECK(with.out.find(" registers a thread") != std::string::npos);
  CHECK(with.out.find("no PTX") == std::string::npos);
  const Outcome json = run_ferry({"inspect", module, "--json"});
  CHECK(json.out.find("\"registers\": ") != std::string::npos);
  const Outcome without = run_ferry(words, "", {{"FERRY_LIBDEVICE", "/nonexistent"}});
  CHECK(without.code == 0);
  CHECK(run_ferry({"inspect", module}).out.find("no PTX: GPUs that no cubin is for") != std::string::npos);
  std::vector<std::string> asked = words;
  asked[4] += " -compiler=llvm";
  const Outcome why = run_ferry(asked, "", {{"FERRY_LIBDEVICE", "/nonexistent"}});
  CHECK(why.code == 2);
  CHECK_MESSAGE(why.err.find("libdevice") != std::string::npos, why.err);
  const std::string reason = why.err.substr(std::string("ferry: ").size());
  CHECK_MESSAGE(without.err == "ferry: note: the module has no PTX and runs on GPUs of sm_80, sm_90 alone: " + reason,
                without.err, why.err);
}

TEST_CASE("bench prints a table with the share of a measured peak") {
  const Outcome outcome = run_ferry({"bench", "-e", test::kMatmul, "--size", "M=64,N=64,K=64", "--repeat", "5",
                                     "--min-repeat-ms", "1", "--warmup-ms", "1"});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  for (const char* line : {"\n  sizes      M=64, K=64, N=64\n", "\n  threads    ", "\n  runs       5 samples of ",
                           "\n  median     ", "\n  deviation  ", "\n  minimum    ", "FLOP/s, ", "% of the ",
                           "measured with multiply-adds of f32 on this device, with ",
                           "measured with a copy of that size on this device, with "}) {
    CAPTURE(line);
    CHECK(outcome.out.find(line) != std::string::npos);
  }
}

TEST_CASE("bench prints JSON of a schema with a version, whose keys docs/json.md lists") {
  const Outcome outcome = run_ferry({"bench", "-e", test::kMatmul, "--size", "M=8,N=8,K=8", "--repeat", "3",
                                     "--min-repeat-ms", "0", "--no-peak", "--json"});
  CAPTURE(outcome.err);
  CHECK(outcome.err.empty());  // no progress output without a terminal
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json.at("schema") == "ferry.bench/1");
  REQUIRE(json.at("results").size() == 1);
  const auto& result = json.at("results")[0];
  CHECK(result.at("seconds").size() == 3);
  CHECK(result.at("flops") == 2 * 8 * 8 * 8);
  CHECK(result.at("interval_95_seconds").is_null());  // three samples say too little
  CHECK(!result.contains("peak_flops_per_second"));
  const std::string page = test::content_of(FERRY_SOURCE_DIR "/docs/json.md");
  const auto expect_documented = [&](const nlohmann::json& object) {
    for (const auto& [key, value] : object.items()) {
      CAPTURE(key);
      CHECK(page.find("`" + key + "`") != std::string::npos);
    }
  };
  expect_documented(json);
  expect_documented(result);
  expect_documented(result.at("environment"));
}

TEST_CASE("bench measures the peak with the kernel's own threads") {
  const Outcome outcome = run_ferry({"bench", "-e", test::kMatmul, "--size", "M=64,N=64,K=64", "--repeat", "5",
                                     "--min-repeat-ms", "1", "--warmup-ms", "1", "--threads", "1"});
  CHECK(outcome.out.find("measured with multiply-adds of f32 on this device, with 1 thread") != std::string::npos);
}

TEST_CASE("bench sweeps over sizes, in cold caches, on one core and thread") {
  const std::string twice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";
  const Outcome table = run_ferry({"bench", "-e", twice, "--sweep", "N=2^8..2^10", "--no-peak", "--repeat", "4",
                                   "--cold", "--cores", "0", "--threads", "1", "--warmup-ms", "0"});
  CAPTURE(table.err);
  REQUIRE(table.code == 0);
  for (const char* text : {"N=256 ", "N=512 ", "N=1024 ", "95% interval", "too few samples"}) {
    CAPTURE(text);
    CHECK(table.out.find(text) != std::string::npos);
  }
  const auto complaint = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"bench", "-e", twice, "--size", "N=8"});
    return run_ferry(words).err;
  };
  CHECK(complaint({"--cold", "--number", "4"}) ==
        "ferry: --cold with --number 4: the second call of a sample would find the caches warm\n");
  CHECK(complaint({"--cores", "x"}).find("--cores: expected 'any', 'big', 'little' or numbers") != std::string::npos);
  for (const char* kind : {"big", "little"}) {
    const std::string said = complaint({"--cores", kind, "--repeat", "3", "--no-peak"});
    const bool has_no_kinds = said.find("--cores: expected a device with big and little cores") != std::string::npos;
    CHECK_MESSAGE((said.empty() || has_no_kinds), said);
  }
  CHECK(complaint({"--cores", "4000"}).find("expected cores that this session may use, got 4000") != std::string::npos);
  CHECK(complaint({"--sweep", "N=0..2"}).find("--sweep N=0..2: expected NAME=2^8..2^24") != std::string::npos);
}

TEST_CASE("bench takes several devices, one after the other") {
  const std::string program = std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server";
  const test::ListeningServer first(program), second(program);
  const Outcome both = run_ferry({"bench", "-e", "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }", "--size", "N=64",
                                  "-r", first.address(), "-r", second.address(), "--no-peak", "--repeat", "6",
                                  "--min-repeat-ms", "0", "--json"});
  CAPTURE(both.err);
  REQUIRE(both.code == 0);
  const auto results = nlohmann::json::parse(both.out).at("results");
  REQUIRE(results.size() == 2);
  CHECK(results[0].at("device") == first.place());
  CHECK(results[1].at("device") == second.place());
}

TEST_CASE("ping measures null calls and bandwidth") {
  const auto json = nlohmann::json::parse(run_ferry({"ping", "--count", "100", "--bytes", "1000000", "--json"}).out);
  CHECK(json.at("calls") == 100);
  CHECK(json.at("median_seconds").get<double>() > 0);
  CHECK(json.at("write_bytes_per_second").get<double>() > 0);
  CHECK(run_ferry({"ping", "--count", "10", "--bytes", "1000"}).out.starts_with("null call  "));
}

TEST_CASE("FERRY_REMOTE and --remote name a server, which outlives its clients") {
  const test::ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/dynamic/rpc_server");
  const std::string source = "def one(float32(N) A) -> (B) { B(i) = A(i) + 1 }";
  for (int i = 0; i < 2; ++i) {
    const Outcome by_option = run_ferry({"run", "-e", source, "--arg", "A=f32[2]:zeros", "--remote", server.address()});
    CAPTURE(by_option.err);
    CHECK(by_option.code == 0);
    CHECK(by_option.out.ends_with(" on " + server.place() + "\n"));
    const Outcome by_environment =
        run_ferry({"run", "-e", source, "--arg", "A=f32[2]:zeros"}, "", {{"FERRY_REMOTE", server.address()}});
    CHECK(by_environment.out.ends_with(" on " + server.place() + "\n"));
  }
}
