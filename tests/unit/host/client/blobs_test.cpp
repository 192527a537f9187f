// Tests of modules whose weights are in blobs, which a client sends only to servers that lack them.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <vector>

#include "ferry/compile.h"
#include "host/client/blobs/blob_set.h"
#include "host/client/state.h"
#include "module/module_file.h"
#include "tests/unit/host/client/error_of.h"

using namespace ferry;

namespace {

constexpr std::size_t kElements = 3'000'000;  // elements of the weights: several pieces

// Counts the bytes that were read, which are those that are sent.
class CountingSource final : public BlobSource {
 public:
  explicit CountingSource(const BlobSet& blobs) : blobs_(blobs) {}
  bool has(const Hash& blob) const override { return blobs_.has(blob); }
  void read(const Hash& blob, std::uint64_t offset, std::span<std::uint8_t> into) const override {
    bytes += into.size();
    blobs_.read(blob, offset, into);
  }
  mutable std::uint64_t bytes = 0;

 private:
  const BlobSet& blobs_;
};

struct Fixture {
  Device device = local_device();
  std::vector<float> weights = std::vector<float>(kElements);
  BlobSet blobs;
  Blob blob;
  std::shared_ptr<CountingSource> source = std::make_shared<CountingSource>(blobs);

  Fixture() {
    std::iota(weights.begin(), weights.end(), 1.0f);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(weights.data());
    blob = blobs.add({bytes, bytes + 4 * kElements});
  }

  // Returns module bytes with add(A) -> C, where C is A + weights by a plan, and packed1(A), packed2(A) -> C, the same
  // through persistent buffers. Different texts give different code.
  std::vector<std::uint8_t> module_bytes(const std::string& expression) const {
    const std::string text = "def add(float(N) A, float(N) W) -> (C) { C(i) = " + expression + " }";
    ModuleFile file = value_or_throw(read_module(compile(text, target_of(device)).bytes()));
    file.manifest.blobs = {blob};
    file.manifest.constants = {{0, 0, 0, 4 * kElements}};
    FunctionInfo& add = file.manifest.functions[0];
    REQUIRE(add.parameters.size() == 3);
    add.parameters.erase(add.parameters.begin() + 1);
    auto& operands = std::get<CallStep>(add.plan.steps[0]).operands;
    for (Operand& operand : operands) {
      if (operand.kind != OperandKind::argument) continue;
      if (operand.index == 1) operand = {OperandKind::constant, 0, kNoValue};
      if (operand.index == 2) operand.index = 1;
    }
    FunctionInfo packed = add;
    packed.name = "packed1";
    for (Operand& operand : std::get<CallStep>(packed.plan.steps[0]).operands) {
      if (operand.kind == OperandKind::constant) operand = {OperandKind::persistent, 0, kNoValue};
    }
    const ValueIndex bytes = add_value(packed.init, packed.symbols.size(), manifest_constant(4 * kElements));
    packed.persistent = {{0, bytes}};
    packed.init.steps = {CopyStep{{OperandKind::persistent, 0, kNoValue}, {OperandKind::constant, 0, kNoValue}, bytes}};
    file.manifest.functions.push_back(packed);
    packed.name = "packed2";
    file.manifest.functions.push_back(packed);
    const Status valid = check_manifest(file.manifest);
    REQUIRE_MESSAGE(valid.is_ok(), valid.message());
    return write_module(file);
  }
  // Returns the last element of the function's result for A = 0.5.
  float last(const Module& module, const std::string& function) const {
    const std::vector<float> a(kElements, 0.5f);
    return module[function](view(a, {kElements})).to_vector<float>().back();
  }
};

TEST_CASE_FIXTURE(Fixture, "weights are sent once, and another module with other code sends none") {
  const Module first = device.load(CompiledModule(module_bytes("A(i) + W(i)"), source));
  CHECK(last(first, "add") == weights.back() + 0.5f);
  CHECK(source->bytes == 4 * kElements);
  const Module second = device.load(CompiledModule(module_bytes("A(i) - W(i)"), source));
  CHECK(last(second, "add") == 0.5f - weights.back());
  CHECK(source->bytes == 4 * kElements);
}

TEST_CASE_FIXTURE(Fixture, "every function's init plan finds the weights, which are sent once") {
  const Module module = device.load(CompiledModule(module_bytes("A(i) + W(i)"), source));
  for (const char* function : {"packed1", "packed2", "add", "packed1"}) {
    CHECK(last(module, function) == weights.back() + 0.5f);
  }
  CHECK(source->bytes == 4 * kElements);
}

TEST_CASE_FIXTURE(Fixture, "a module comes back from its file with its weights, and runs") {
  const std::string file = (std::filesystem::temp_directory_path() / "ferry_session_blobs_test.ferry").string();
  const CompiledModule module(module_bytes("A(i) + W(i)"), source);
  module.save(file);
  CHECK(std::filesystem::file_size(file) >= module.bytes().size() + 4 * kElements);
  const CompiledModule back = CompiledModule::open(file);
  CHECK(back.hash() == module.hash());
  CHECK(last(device.load(back), "add") == weights.back() + 0.5f);
  std::filesystem::remove(file);
}

TEST_CASE_FIXTURE(Fixture, "a module without its weights says which blob the device lacks") {
  const CompiledModule without(module_bytes("A(i) + W(i)"));
  const Module module = device.load(without);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Error error = test::error_of([&] { module.wait(); });
    CHECK(error.code() == ErrorCode::not_found);
    CHECK(std::string(error.what()) == "this machine lacks blob " + to_hex(blob.hash) +
                                           " of 12000000 bytes, and the module comes without its contents");
  }
  // Once another module has brought the weights, this one runs too.
  device.load(CompiledModule(module_bytes("A(i) * W(i)"), source)).wait();
  CHECK(last(device.load(without), "add") == weights.back() + 0.5f);
}

TEST_CASE_FIXTURE(Fixture, "weights that are not those of the hash are refused, and the session goes on") {
  struct Wrong final : BlobSource {
    bool has(const Hash&) const override { return true; }
    void read(const Hash&, std::uint64_t, std::span<std::uint8_t> into) const override {
      std::memset(into.data(), 1, into.size());
    }
  };
  const std::vector<std::uint8_t> bytes = module_bytes("A(i) + W(i)");
  const Error error = test::error_of([&] { device.load(CompiledModule(bytes, std::make_shared<Wrong>())).wait(); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(std::string(error.what()).find("expected a blob of hash " + to_hex(blob.hash)) == 0);
  CHECK(last(device.load(CompiledModule(bytes, source)), "add") == weights.back() + 0.5f);
}

}  // namespace
