// What the tests of the gate's store have in common.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "host/gate/store/folder_store.h"

namespace ferry::gate {

// Where many small files are written without waiting for a disk, if there is such a place.
inline std::filesystem::path folder_in_memory() {
  return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
}

struct Folder {
  explicit Folder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "gate-store-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }

  std::string object(const Hash& hash) const { return path + "/objects/" + to_hex(hash); }

  std::string path;
};

inline std::vector<std::uint8_t> bytes_of(std::size_t count, std::uint8_t first) {
  std::vector<std::uint8_t> bytes(count, first);
  for (std::size_t i = 1; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(bytes[i - 1] * 31 + 7);
  return bytes;
}

inline StoredModule module_with(std::uint8_t number) {
  StoredModule module;
  module.module = blake2b(bytes_of(100, number));
  module.identity.fill(static_cast<std::uint8_t>(number + 1));
  module.label = "commit " + std::to_string(number);
  module.stored = 1'700'000'000 + number;
  return module;
}

// Returns module_with() the number, with its object in the store.
inline StoredModule stored_module(Store& store, std::uint8_t number) {
  StoredModule module = module_with(number);
  REQUIRE(store.put(bytes_of(100, number)) == module.module);
  return module;
}

inline HistoryEntry entry_of(const std::string& name, double seconds) {
  HistoryEntry entry;
  entry.when = 1'700'000'000;
  entry.name = name;
  entry.target = "aarch64";
  entry.label = "1234abcd";
  entry.verdict = Verdict::slower;
  entry.environment = {"pi-3", "cortex-a72", "Linux 6.1.0", "performance"};
  entry.module = module_with(9);
  entry.seconds[Side::baseline] = seconds / 2;
  entry.seconds[Side::current] = seconds;
  entry.change = {2, 1.5, std::numeric_limits<double>::infinity()};
  entry.instructions = 12345;
  return entry;
}

inline void age(const std::string& path, std::chrono::hours by) {
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - by);
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Returns the message of the StoreFailed or UsageError that `use` throws, or an empty text.
template <class Exception = StoreFailed>
std::string failure_of(const auto& use) {
  try {
    use();
  } catch (const Exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace ferry::gate
