#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ferry/error.h"
#include "host/client/blobs/blob_set.h"
#include "host/client/blobs/module_with_blobs.h"
#include "tests/unit/module/sample_manifest.h"

namespace ferry {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::uint8_t>;

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "ferry_blobs.XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(file(name), std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    return file(name);
  }
  Bytes content(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  fs::path path;
};

Bytes pattern(std::size_t count, unsigned seed) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + (i >> 8) + seed);
  return bytes;
}

Bytes read_all(const BlobSource& source, const Blob& blob) {
  Bytes bytes(blob.bytes);
  source.read(blob.hash, 0, bytes);
  return bytes;
}

// A module with these blobs, and one constant in the first.
ModuleFile module_with(std::vector<Blob> blobs) {
  ModuleFile module;
  module.manifest = sample_manifest();
  module.manifest.blobs = std::move(blobs);
  module.manifest.constants = {{0, 0, 0, 64}};
  module.images.push_back({ImageKind::elf, pattern(100, 1), 0});
  return module;
}

struct Fixture : Folder {
  Fixture() : bytes(write_module(module_with({blobs.add(first), blobs.add(second)}))) {
    manifest = read_module(bytes).value().manifest;
  }
  Bytes first = pattern(5'000'001, 1), second = pattern(64, 2);
  BlobSet blobs;
  Bytes bytes;
  Manifest manifest;
};

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST_CASE_FIXTURE(Folder, "a range of a file is the same blob as its bytes in memory") {
  const Bytes bytes = pattern(3'000'000, 3);
  const std::string name = write("weights", bytes);
  BlobSet from_file, from_memory;
  const Blob blob = from_file.add(name, 1000, 2'500'000);
  CHECK(blob == from_memory.add({bytes.begin() + 1000, bytes.begin() + 2'501'000}));
  CHECK(blob.bytes == 2'500'000);
  CHECK(read_all(from_file, blob) == read_all(from_memory, blob));
  Bytes part(100);
  from_file.read(blob.hash, 2'499'900, part);
  CHECK(std::equal(part.begin(), part.end(), bytes.begin() + 2'500'900));
  CHECK(refusal([&] { from_file.read(blob.hash, 2'499'901, part); }) ==
        "expected a range of the blob's 2500000 bytes, got 100 bytes at 2499901");
  CHECK_FALSE(from_file.has(Hash{}));
}

TEST_CASE_FIXTURE(Folder, "a file that is missing or too short for a blob is refused") {
  BlobSet blobs;
  CHECK(refusal([&] { blobs.add(file("none"), 0, 1); }) ==
        "cannot read '" + file("none") + "': No such file or directory");
  const std::string name = write("short", pattern(10, 0));
  CHECK(refusal([&] { blobs.add(name, 5, 6); }) == "cannot read '" + name + "': expected more than 10 bytes");
  CHECK(refusal([&] { blobs.add(name, 0, 0); }) == "expected a blob of 1 to 1099511627776 bytes, got 0");
  CHECK(blobs.is_empty());
}

TEST_CASE_FIXTURE(Fixture, "a module and its blobs come back from a file") {
  REQUIRE(write_module_file(file("net.ferry"), bytes, manifest, &blobs) == 0);
  CHECK(content("net.ferry").size() == (bytes.size() + 63) / 64 * 64 + 5'000'064 + 64);
  for (const bool from_file : {true, false}) {
    CAPTURE(from_file);
    const ModuleWithBlobs read = from_file ? read_module_file(file("net.ferry")) : divide_module(content("net.ferry"));
    CHECK(read.bytes == bytes);
    CHECK(read.module.manifest == manifest);
    REQUIRE(read.blobs != nullptr);
    CHECK(read_all(*read.blobs, manifest.blobs[0]) == first);
    CHECK(read_all(*read.blobs, manifest.blobs[1]) == second);
  }
}

TEST_CASE_FIXTURE(Fixture, "a file without its blobs contains the module alone") {
  BlobSet some;
  some.add(first);
  for (const BlobSource* source : {static_cast<const BlobSource*>(nullptr), static_cast<const BlobSource*>(&some)}) {
    REQUIRE(write_module_file(file("net.ferry"), bytes, manifest, source) == 0);
    CHECK(content("net.ferry") == bytes);
    CHECK(read_module_file(file("net.ferry")).blobs == nullptr);
    CHECK(divide_module(content("net.ferry")).blobs == nullptr);
  }
}

TEST_CASE_FIXTURE(Fixture, "a file that ends within its module or its blobs is refused") {
  REQUIRE(write_module_file(file("net.ferry"), bytes, manifest, &blobs) == 0);
  const Bytes whole = content("net.ferry");
  for (const std::size_t length : {std::size_t{0}, std::size_t{8}, std::size_t{63}, std::size_t{95}, bytes.size() - 1,
                                   bytes.size() + 1, whole.size() - 1, whole.size() + 1}) {
    CAPTURE(length);
    Bytes cut = whole;
    cut.resize(length);
    const std::string name = write("cut.ferry", cut);
    const std::string why = refusal([&] { read_module_file(name); });
    CHECK(why.find("expected") != std::string::npos);
    CHECK(refusal([&] { divide_module(cut); }) == why);
  }
}

TEST_CASE_FIXTURE(Fixture, "a source that fails leaves the old file as it was") {
  struct Failing final : BlobSource {
    bool has(const Hash&) const override { return true; }
    void read(const Hash&, std::uint64_t, std::span<std::uint8_t>) const override { throw UsageError("gone"); }
  };
  write("net.ferry", {1, 2, 3});
  const Failing failing;
  CHECK(refusal([&] { (void)write_module_file(file("net.ferry"), bytes, manifest, &failing); }) == "gone");
  CHECK(content("net.ferry") == Bytes{1, 2, 3});
  CHECK(std::distance(fs::directory_iterator(path), fs::directory_iterator()) == 1);
}

}  // namespace
}  // namespace ferry
