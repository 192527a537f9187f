// Networks and the modules of them that are kept in the cache.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "host/compiler/llvm/cached_module.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "module/module_file.h"
#include "tests/support/model_bytes.h"
#include "tests/unit/host/kernel/other_point.h"

using namespace ferry;
using namespace ferry::test;

namespace fs = std::filesystem;

namespace {

// y = relu(x + w), with four weights in a file of their own.
ModelBytes model(const char* op = "Relu") {
  ModelBytes bytes;
  bytes.input("x", {"N", 4}).output("y");
  bytes.initializer(external(tensor("w", kFloat, {4}), "weights.bin"));
  bytes.node("Add", {"x", "w"}, {"sum"}, {}, "first").node(op, {"sum"}, {"y"}, {}, "second");
  return bytes;
}

struct Fixture {
  fs::path root = [] {
    char pattern[] = "/tmp/ferry-test-networks-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    return fs::path(pattern);
  }();
  ModuleCache cache{(root / "cache").string()};
  std::unique_ptr<const Compiler> compiler = make_compiler(cache), uncached = make_compiler();
  Target host = compiler->resolve_target("host").value;

  Fixture() {
    write("weights.bin", raw<float>({1, 2, 3, 4}));
    write("net.onnx", model().text());
    let_it_age();
  }
  ~Fixture() { fs::remove_all(root); }

  void write(const std::string& name, const std::string& contents) const {
    std::ofstream(root / name, std::ios::binary) << contents;
  }
  // Modules of files that have just been written are not kept.
  static void let_it_age() { std::this_thread::sleep_for(std::chrono::milliseconds(80)); }
  NetworkSource source(const std::string& name = "net.onnx") const { return {(root / name).string()}; }

  std::set<std::string> kept() const {
    std::set<std::string> files;
    if (!fs::exists(root / "cache")) return files;
    for (const auto& entry : fs::directory_iterator(root / "cache")) files.insert(entry.path().filename());
    return files;
  }
  // Returns whether the compilation kept a module that was not there.
  bool is_new(const NetworkSource& from, const NetworkRequest& request) const {
    const std::size_t before = kept().size();
    const Compiled compiled = compiler->read(from)->compile(request);
    CHECK(compiled.module == uncached->read(from)->compile(request).module);
    return kept().size() != before;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a network is compiled once, and later gives the same module with its weights") {
  const Compiled first = compiler->read(source())->compile({host});
  REQUIRE(kept().size() == 1);
  const fs::path file = root / "cache" / *kept().begin();
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(file, old);
  const Compiled second = compiler->read(source())->compile({host});
  // Its use was noted.
  CHECK(fs::last_write_time(file) > old + std::chrono::minutes(50));
  CHECK(kept().size() == 1);
  CHECK(second.module == first.module);
  REQUIRE(second.blobs != nullptr);
  const Blob blob = read_module(second.module).value().manifest.blobs.at(0);
  REQUIRE(second.blobs->has(blob.hash));
  std::vector<std::uint8_t> weights(blob.bytes);
  second.blobs->read(blob.hash, 0, weights);
  CHECK(std::string(weights.begin(), weights.end()) == raw<float>({1, 2, 3, 4}));
}

TEST_CASE_FIXTURE(Fixture, "everything that a module depends on is part of its key") {
  CHECK(is_new(source(), {host}));
  CHECK_FALSE(is_new(source(), {host}));
  CHECK(is_new(source(), {host, {{"N", 8}}}));
  CHECK(is_new(source(), {host, {{"N", 9}}}));
  CHECK(is_new(source(), {compiler->resolve_target("raspberry-pi-4").value}));
  Target fewer_threads = host;
  fewer_threads.threads = host.threads + 1;
  CHECK(is_new(source(), {fewer_threads}));
  NetworkSource fixed = source();
  fixed.sizes = {{"N", 8}};
  CHECK(is_new(fixed, {host}));
  NetworkSource direct = source();
  direct.winograd = false;
  CHECK(is_new(direct, {host}));
  NetworkSource in_floats = source();
  in_floats.int8 = Int8Mode::off;
  CHECK(is_new(in_floats, {host}));
  NetworkSource in_integers = source();
  in_integers.int8 = Int8Mode::always;
  CHECK(is_new(in_integers, {host}));
  NetworkSource exact = source();
  exact.max_error = {1, 2};
  CHECK(is_new(exact, {host}));
  fs::copy_file(root / "net.onnx", root / "other.onnx");
  let_it_age();
  CHECK(is_new(source("other.onnx"), {host}));
  const std::size_t before = kept().size();
  compiler->read(source())->with_all_outputs(host, {}, nullptr)->compile({host});
  CHECK(kept().size() == before + 1);
}

TEST_CASE_FIXTURE(Fixture, "a network whose file or external data changed is compiled anew") {
  CHECK(is_new(source(), {host}));
  write("net.onnx", model("Neg").text());
  let_it_age();
  CHECK(is_new(source(), {host}));
  write("weights.bin", raw<float>({1, 2, 3, 5}));
  let_it_age();
  CHECK(is_new(source(), {host}));
  write("weights.bin", raw<float>({1, 2, 3, 4}));
  write("net.onnx", model().text());
  let_it_age();
  CHECK_FALSE(is_new(source(), {host}));
}

TEST_CASE_FIXTURE(Fixture, "a network whose file changes while it is read is not kept") {
  const std::shared_ptr<const Network> network = compiler->read(source());
  write("weights.bin", raw<float>({5, 6, 7, 8}));
  CHECK_NOTHROW(network->compile({host}));
  CHECK(kept().empty());
  fs::remove(root / "weights.bin");
  CHECK_NOTHROW(network->compile({host}));
  CHECK(kept().empty());
}

TEST_CASE_FIXTURE(Fixture, "a network whose file changes while it is compiled is not kept") {
  const auto store = [&](const std::string& weights) {
    const Origin origin{
        source(), {(root / "net.onnx").string(), (root / "weights.bin").string()}, std::chrono::system_clock::now()};
    const NetworkRequest request{host};
    const CachedModule module(cache, origin, request);
    CHECK_FALSE(module.load().has_value());
    if (!weights.empty()) write("weights.bin", weights);
    module.store(uncached->read(source())->compile(request).module);
  };
  store(raw<float>({5, 6, 7, 8}));
  CHECK(kept().empty());
  let_it_age();
  store({});
  CHECK(kept().size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "modules for GPUs are kept, for a CPU beside them and a version of NVIDIA's compilers") {
  const auto is_new_for = [&](const char* target) {
    return is_new(source(), {compiler->resolve_target(target).value});
  };
  for (const char* target : {"opencl", "opencl -host=none", "opencl -host=raspberry-pi-4", "opencl -host=host",
                             "cuda -arch=sm_80 -compiler=llvm"}) {
    CAPTURE(target);
    CHECK(is_new_for(target));
    CHECK_FALSE(is_new_for(target));
  }
  write("nvrtc", "one version");
  setenv("FERRY_NVRTC", (root / "nvrtc").c_str(), 1);
  CHECK_FALSE(is_new_for("opencl"));
  CHECK(is_new_for("cuda -arch=sm_80 -compiler=llvm"));
  write("nvrtc", "another version");
  CHECK(is_new_for("cuda -arch=sm_80 -compiler=llvm"));
  CHECK_FALSE(is_new_for("cuda -arch=sm_80 -compiler=llvm"));
  unsetenv("FERRY_NVRTC");
}

TEST_CASE_FIXTURE(Fixture, "a module of a network with other constants is not taken for it") {
  write("other.onnx", ModelBytes().input("x", {"N", 4}).output("y").node("Relu", {"x"}, {"y"}).text());
  const Bytes other = uncached->read(source("other.onnx"))->compile({host}).module;
  const Compiled first = compiler->read(source())->compile({host});
  REQUIRE(kept().size() == 1);
  // The file's key, in its name and at its beginning, stays.
  const fs::path file = root / "cache" / *kept().begin();
  std::string key(32, '\0');
  std::ifstream(file, std::ios::binary).read(key.data(), 32);
  std::ofstream(file, std::ios::binary) << key << std::string(other.begin(), other.end());
  CHECK(compiler->read(source())->compile({host}).module == first.module);
}

TEST_CASE_FIXTURE(Fixture, "a network from the cache says which schedules tuning has found, as a new one does") {
  const OtherPoint tuned(*compiler, TunedFor::fixed_sizes);
  const NetworkRequest request{.target = host, .sizes = {{"N", 8}}, .tuned = &tuned};
  const Compiled first = compiler->read(source())->compile(request);
  REQUIRE(first.notes.size() == 1);
  CHECK(first.notes[0].ends_with("another point"));
  const std::size_t before = kept().size();
  CHECK(compiler->read(source())->compile(request).notes == first.notes);
  CHECK(kept().size() == before);
  CHECK(compiler->read(source())->compile({.target = host, .sizes = {{"N", 8}}}).notes.empty());
}
