// Functions that read constants of a blob, and clients that send blobs to a real server.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {

inline constexpr std::int64_t kElements = 64;  // elements of each constant

// Contents of a blob: element i of the floats is (i + seed) % 1000.
Bytes floats(std::size_t bytes, unsigned seed = 0);
Blob blob_of(const Bytes& contents);
// The element of floats(), 0 for bytes beyond the first float.
float float_at(const Bytes& contents, std::size_t byte);

// The kit with two functions of a constant K, the kElements floats at `offset` in the blob:
//   weighted(in f32[n] A, out f32[n] C): C = A + K, whose plan reads K
//   packed(in f32[n] A, out f32[n] C): C = A + P, where the init plan computes P = K + K
// `source` becomes that of the module, which changes its hash.
ModuleFile weighted_module(const Blob& blob, std::uint64_t offset, const std::string& source = "");
Bytes weighted_file(const Blob& blob, std::uint64_t offset, const std::string& source = "");

// A folder that is removed with its contents.
struct TemporaryFolder {
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  // What a server still removes at its end may go under its hands.
  ~TemporaryFolder();

  std::filesystem::path path;
};

struct BlobFixture {
  explicit BlobFixture(std::vector<std::string> arguments = {});

  // The names of the files in the server's cache of blobs.
  std::vector<std::string> cached() const;
  // Waits until there are so many: what is incomplete appears and vanishes while nobody waits for it.
  bool has_cached(std::size_t count) const;
  std::filesystem::path file_of(const Blob& blob) const { return folder / "blobs" / (to_hex(blob.hash) + ".blob"); }

  TemporaryFolder temporary;
  std::filesystem::path folder = temporary.path;
  TestServer server;
};

struct BlobClient : TestClient {
  explicit BlobClient(const TestServer& server) : TestClient(server.port()) {}

  // Returns the positions of the blobs that the server lacks.
  std::vector<std::uint32_t> missing(const std::vector<Blob>& blobs);
  // Sends the contents in pieces; returns the first failure.
  Status send(const Blob& blob, const Bytes& contents, std::size_t piece = 100'000);
  Status send_piece(const Blob& blob, std::uint64_t offset, ByteSpan piece);
  Answer<rpc::PutModuleReply> load(const Bytes& file);
  // Calls a function of weighted_module() with A = 1 and returns the last element of C.
  float result(rpc::Handle module, const std::string& function, rpc::Handle instance = 0);
  rpc::Handle bind(rpc::Handle module);

  using TestClient::send;
  rpc::Handle last_module = 0;
};

}  // namespace ferry::test
