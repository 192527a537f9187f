#include "tests/unit/device-runtime/supervisor/blob_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> with_workdir(std::vector<std::string> arguments, const fs::path& folder) {
  arguments.insert(arguments.end(), {"--workdir", folder.string()});
  return arguments;
}

FunctionInfo adding(std::string name, const Operand& to_add) {
  FunctionInfo f;
  f.name = std::move(name);
  f.symbols = {"n"};
  f.parameters = {tensor_parameter("A", Direction::in), tensor_parameter("C", Direction::out)};
  CallStep add;
  add.symbol = "add";
  add.operands = {{OperandKind::argument, 0, kNoValue},
                  to_add,
                  {OperandKind::argument, 1, kNoValue},
                  {OperandKind::value, 0, kNoValue}};
  f.plan.steps = {add};
  return f;
}

FunctionInfo packed() {
  FunctionInfo f = adding("packed", {OperandKind::persistent, 0, kNoValue});
  const ValueIndex elements = add_value(f.init, 1, manifest_constant(kElements));
  f.persistent = {{0, add_value(f.init, 1, manifest_constant(4 * kElements))}};
  CallStep twice;
  twice.symbol = "add";
  twice.operands = {{OperandKind::constant, 0, kNoValue},
                    {OperandKind::constant, 0, kNoValue},
                    {OperandKind::persistent, 0, kNoValue},
                    {OperandKind::value, elements, kNoValue}};
  f.init.steps = {twice};
  return f;
}

}  // namespace

Bytes floats(std::size_t bytes, unsigned seed) {
  Bytes contents(bytes);
  for (std::size_t i = 0; i < bytes / 4; ++i) {
    const auto value = static_cast<float>((i + seed) % 1000);
    std::memcpy(contents.data() + 4 * i, &value, 4);
  }
  return contents;
}

Blob blob_of(const Bytes& contents) { return {blake2b(contents), contents.size()}; }

float float_at(const Bytes& contents, std::size_t byte) {
  float value = 0;
  std::memcpy(&value, contents.data() + byte, 4);
  return value;
}

ModuleFile weighted_module(const Blob& blob, std::uint64_t offset, const std::string& source) {
  ModuleFile module = kit_module();
  module.manifest.blobs = {blob};
  module.manifest.constants = {{0, 0, offset, 4 * kElements}};
  module.manifest.functions.push_back(adding("weighted", {OperandKind::constant, 0, kNoValue}));
  module.manifest.functions.push_back(packed());
  module.source = source;
  const Status valid = check_manifest(module.manifest);
  REQUIRE_MESSAGE(valid.is_ok(), valid.message());
  return module;
}

Bytes weighted_file(const Blob& blob, std::uint64_t offset, const std::string& source) {
  return write_module(weighted_module(blob, offset, source));
}

TemporaryFolder::TemporaryFolder() {
  char pattern[] = "/tmp/ferry-test-blobs-XXXXXX";
  REQUIRE(mkdtemp(pattern) != nullptr);
  path = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  do std::filesystem::remove_all(path, error);
  while (error == std::errc::no_such_file_or_directory);
}

BlobFixture::BlobFixture(std::vector<std::string> arguments)
    : server(with_workdir(std::move(arguments), temporary.path)) {}

std::vector<std::string> BlobFixture::cached() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "blobs")) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool BlobFixture::has_cached(std::size_t count) const {
  for (int i = 0; i < 500 && cached().size() != count; ++i) usleep(10'000);
  return cached().size() == count;
}

std::vector<std::uint32_t> BlobClient::missing(const std::vector<Blob>& blobs) {
  rpc::FindBlobs request;
  for (const Blob& blob : blobs) request.blobs.push_back(blob.hash);
  return must(request).reply.missing;
}

Status BlobClient::send_piece(const Blob& blob, std::uint64_t offset, ByteSpan piece) {
  return ask(rpc::PutBlob{blob.hash, blob.bytes, offset}, piece).status;
}

Status BlobClient::send(const Blob& blob, const Bytes& contents, std::size_t piece) {
  for (std::size_t done = 0; done < contents.size(); done += piece) {
    const ByteSpan bytes = ByteSpan(contents).subspan(done, std::min(piece, contents.size() - done));
    if (Status status = send_piece(blob, done, bytes); !status.is_ok()) return status;
  }
  return {};
}

Answer<rpc::PutModuleReply> BlobClient::load(const Bytes& file) {
  last_module = new_handle();
  return ask(rpc::PutModule{last_module, blake2b(file)}, file);
}

rpc::Handle BlobClient::bind(rpc::Handle module) {
  const rpc::Handle instance = new_handle();
  must(rpc::Bind{instance, module, "packed", {}});
  return instance;
}

float BlobClient::result(rpc::Handle module, const std::string& function, rpc::Handle instance) {
  const rpc::Handle a = upload(std::vector<float>(kElements, 1)), c = upload(std::vector<float>(kElements, 0));
  must(rpc::Call{module, function, {tensor(a, {kElements}), tensor(c, {kElements})}, instance});
  return download<float>(c, kElements)[kElements - 1];
}

}  // namespace ferry::test
