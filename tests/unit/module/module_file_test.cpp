#include "module/module_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "module/manifest_codec.h"
#include "tests/unit/module/sample_manifest.h"

namespace ferry {
namespace {

using Bytes = std::vector<std::uint8_t>;

ModuleFile sample() {
  ModuleFile module;
  module.manifest = sample_manifest();
  for (int i = 0; i < 100; ++i) {
    if (i % 50 == 0) module.images.push_back({ImageKind::elf, {}, 0});
    module.images.back().bytes.push_back(static_cast<std::uint8_t>(i * 7));
  }
  module.source = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";
  module.schedule = "";
  return module;
}

void rehash(Bytes& bytes) {
  if (bytes.size() < sizeof(Hash)) return;
  const std::size_t hashed = bytes.size() - sizeof(Hash);
  const Hash hash = blake2b(std::span(bytes).first(hashed));
  std::copy(hash.begin(), hash.end(), bytes.begin() + static_cast<std::ptrdiff_t>(hashed));
}

void set_length(Bytes& bytes) {
  const std::uint64_t length = bytes.size();
  if (length >= 24) std::memcpy(bytes.data() + 16, &length, sizeof length);
}

// Returns whether the bytes are refused, or give a module that is safe to use and represents them exactly.
bool is_refused_or_faithful(const Bytes& bytes) {
  const Result<ModuleFile> module = read_module(bytes);
  if (!module.is_ok()) return !module.status().message().empty();
  return check_manifest(module.value().manifest).is_ok() && write_module(module.value()).size() == bytes.size();
}

std::string refusal(const Bytes& bytes) {
  const Result<ModuleFile> module = read_module(bytes);
  REQUIRE_FALSE(module.is_ok());
  return module.status().message();
}

TEST_CASE("a module comes back from its bytes as it was") {
  const ModuleFile module = sample();
  const Result<ModuleFile> back = read_module(write_module(module));
  REQUIRE_MESSAGE(back.is_ok(), back.status().message());
  CHECK(back.value().manifest == module.manifest);
  REQUIRE(back.value().images.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(back.value().images[i].kind == ImageKind::elf);
    CHECK(back.value().images[i].bytes == module.images[i].bytes);
  }
  CHECK(back.value().source == module.source);
  CHECK(back.value().schedule == module.schedule);
}

// Returns the bytes of a module with one section of code, with the name of its kind changed.
Bytes with_kind(const std::string& name) {
  ModuleFile module = sample();
  module.images.pop_back();
  Bytes bytes = write_module(module);
  std::memcpy(bytes.data() + 64 + 64 + 32, name.c_str(), name.size() + 1);  // the table's second entry
  rehash(bytes);
  return bytes;
}

TEST_CASE("each kind of code has one name, and files of earlier versions keep theirs") {
  struct Case {
    const char* name;
    ImageKind kind;
    const char* arch;
    const char* written;
  };
  const Case cases[] = {{"elf", ImageKind::elf, "", "elf"},
                        {"elf-library", ImageKind::elf_library, "", "elf-library"},
                        {"elf_library", ImageKind::elf_library, "", "elf-library"},
                        {"elf-objects", ImageKind::elf_objects, "", "elf-objects"},
                        {"opencl-c", ImageKind::opencl_c, "", "opencl-c"},
                        {"ptx", ImageKind::ptx, "", "ptx"},
                        {"ptx-sm_80", ImageKind::ptx, "sm_80", "ptx-sm_80"},
                        {"cubin-sm_90a", ImageKind::cubin, "sm_90a", "cubin-sm_90a"},
                        {"cubin", ImageKind::unknown, "cubin", "cubin"},
                        {"ptx-", ImageKind::unknown, "ptx-", "ptx-"},
                        {"elf-sm_90", ImageKind::unknown, "elf-sm_90", "elf-sm_90"},
                        {"spirv", ImageKind::unknown, "spirv", "spirv"}};
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const Result<ModuleFile> module = read_module(with_kind(one.name));
    REQUIRE_MESSAGE(module.is_ok(), module.status().message());
    const CodeImage& image = module.value().images.at(0);
    CHECK(image.kind == one.kind);
    CHECK(image.arch == one.arch);
    CHECK(write_module(module.value()) == with_kind(one.written));
  }
}

TEST_CASE("code belongs to a device that the manifest has") {
  ModuleFile module = sample();
  module.images[1].device = 1;
  CHECK(read_module(write_module(module)).value().images[1].device == 1);
  module.images[1].device = 2;
  CHECK(refusal(write_module(module)) == "module: offset 64: expected code for a device below 2, got 2");
}

TEST_CASE("sections stand at multiples of 64 bytes and the hash of the rest at the end") {
  const Bytes bytes = write_module(sample());
  CHECK(bytes.size() % 64 == 32);
  CHECK(std::memcmp(bytes.data(), "FERRYMOD", 8) == 0);
  const Hash hash = blake2b(std::span(bytes).first(bytes.size() - 32));
  CHECK(std::equal(hash.begin(), hash.end(), bytes.end() - 32));
}

TEST_CASE("the same module is the same bytes on every machine") {
  CHECK(to_hex(blake2b(write_module(sample()))) == "2545827b8dcfc6666d7f53823a540a9f0dbacb5869717253a71c82df40d46e76");
}

TEST_CASE("every truncated length is refused, with a stale and with a recomputed hash") {
  const Bytes bytes = write_module(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK_FALSE(read_module(cut).is_ok());
    rehash(cut);
    CHECK_FALSE(read_module(cut).is_ok());
    set_length(cut);
    rehash(cut);
    CHECK_FALSE(read_module(cut).is_ok());
  }
}

TEST_CASE("every flipped byte is refused when the hash is stale") {
  const Bytes bytes = write_module(sample());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes changed = bytes;
    changed[i] ^= 0xff;
    CAPTURE(i);
    CHECK_FALSE(read_module(changed).is_ok());
  }
}

TEST_CASE("every changed byte with a recomputed hash is refused or still a well-formed module") {
  const Bytes bytes = write_module(sample());
  for (std::size_t i = 0; i < bytes.size() - sizeof(Hash); ++i) {
    for (const std::uint8_t flip : {0x01, 0x02, 0x10, 0x40, 0x80, 0xff}) {
      Bytes changed = bytes;
      changed[i] ^= flip;
      rehash(changed);
      CAPTURE(i);
      CAPTURE(unsigned{flip});
      CHECK(is_refused_or_faithful(changed));
    }
  }
}

TEST_CASE("what is wrong with a file is named with its offset") {
  const Bytes bytes = write_module(sample());
  CHECK(refusal({}) == "module: offset 0: expected at least 96 bytes, got the end");
  Bytes changed = bytes;
  changed[0] = 'X';
  CHECK(refusal(changed) == "module: offset 0: expected a .ferry file, which begins with FERRYMOD, got other bytes");
  changed = bytes;
  changed[8] = 5;
  CHECK(read_module(changed).status().code() == ErrorCode::version_mismatch);
  CHECK(refusal(changed) == "module: the file has format version 5; this program reads versions 1 to 4");
  changed = bytes;
  changed.back() ^= 1;
  CHECK(refusal(changed) == "module: offset " + std::to_string(bytes.size() - 32) +
                                ": expected the hash of the bytes before it, got another: the file is damaged");
  changed = bytes;
  changed[64 + 8] ^= 64;
  rehash(changed);
  CHECK(refusal(changed) == "module: offset 72: expected a section at offset 384, got 448");
  changed = bytes;
  changed[64 + 16 + 7] = 0x80;  // a length of 2^63
  rehash(changed);
  CHECK(refusal(changed).rfind("module: offset 80: expected a section of at most", 0) == 0);
}

TEST_CASE("code bytes that are left out are noticed even with a right hash") {
  Bytes bytes = write_module(sample());
  const Bytes image = sample().images[0].bytes;
  const auto code = std::search(bytes.begin(), bytes.end(), image.begin(), image.end());
  REQUIRE(code != bytes.end());
  bytes.erase(code, code + 10);
  set_length(bytes);
  rehash(bytes);
  CHECK_FALSE(read_module(bytes).is_ok());
}

TEST_CASE("a file without a manifest, or with two, is refused") {
  ModuleFile module = sample();
  Bytes bytes = write_module(module);
  bytes[64] = 3;  // changes the kind of the manifest's section to source
  rehash(bytes);
  CHECK(refusal(bytes).find("expected one section of each kind but code, got another") != std::string::npos);
}

}  // namespace
}  // namespace ferry
