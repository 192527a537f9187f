#include "device-runtime/device/shared_memory.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ferry::device {
namespace {

constexpr std::uint64_t kHugePage = 2 << 20;

// Returns the signal that reading the byte ends a process with; 0: none.
int signal_of_read(const volatile std::uint8_t* at) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(*at != 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

SharedMemory shared_memory(std::uint64_t bytes) {
  Descriptor object = make_shared_object(bytes);
  REQUIRE(object.number() >= 0);
  return {std::move(object), bytes};
}

SharedPart taken(SharedMemory& memory, std::uint64_t bytes, std::uint64_t lead = 0) {
  const Result<SharedPart> part = memory.take(bytes, lead);
  REQUIRE_MESSAGE(part.is_ok(), part.status().message());
  return part.value();
}

SharedMapping reserved(const SharedPart& around) {
  auto mapping = SharedMapping::reserve(around);
  REQUIRE(mapping.is_ok());
  return std::move(mapping.value());
}

TEST_CASE("parts are whole pages with a page that nobody maps on both sides") {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  SharedMemory memory = shared_memory(1 << 20);
  std::uint64_t end = 0;
  for (const std::uint64_t bytes : {std::uint64_t{1}, page - 1, page, page + 1, std::uint64_t{1000}}) {
    for (const std::uint64_t lead : {std::uint64_t{0}, std::uint64_t{64}, page - 64}) {
      const SharedPart part = taken(memory, bytes, lead);
      CHECK(part.offset % page == 0);
      CHECK(part.bytes % page == 0);
      CHECK(part.bytes >= lead + bytes);
      CHECK(part.bytes < lead + bytes + page);
      CHECK(part.offset >= end + page);
      end = part.end();
    }
  }
}

TEST_CASE("parts never overlap, and what is given back is used again and reads as zeros") {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  SharedMemory memory = shared_memory(64 * page);
  std::mt19937 random(5);
  std::vector<SharedPart> parts;
  for (int step = 0; step < 3000; ++step) {
    CAPTURE(step);
    if (!parts.empty() && random() % 2 == 0) {
      const std::size_t one = random() % parts.size();
      memory.give_back(parts[one]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(one));
      continue;
    }
    const Result<SharedPart> part = memory.take(1 + random() % (5 * page));
    if (!part.is_ok()) continue;
    SharedMapping mapping = reserved(part.value());
    REQUIRE(mapping.map(memory.object(), part.value(), true).is_ok());
    std::uint8_t* const first = mapping.at(part.value().offset);
    REQUIRE(std::all_of(first, first + part.value().bytes, [](std::uint8_t byte) { return byte == 0; }));
    std::memset(first, 7, static_cast<std::size_t>(part.value().bytes));
    for (const SharedPart& other : parts)
      REQUIRE((part.value().end() + page <= other.offset || other.end() + page <= part.value().offset));
    REQUIRE(part.value().end() + page <= 64 * page);
    parts.push_back(part.value());
  }
  for (const SharedPart& part : parts) memory.give_back(part);
  CHECK(memory.take(62 * page).is_ok());
  CHECK(memory.take(1).status().code() == ErrorCode::resource_exhausted);
  CHECK(memory.take(UINT64_MAX).status().code() == ErrorCode::resource_exhausted);
}

TEST_CASE("large tensors begin at a huge page, in the object and in mappings of it") {
  SharedMemory memory = shared_memory(16 << 20);
  taken(memory, 1);
  const SharedPart part = taken(memory, 4 << 20);
  CHECK(part.offset % kHugePage == 0);
  for (const SharedPart& around : {SharedPart{0, part.end()}, part})
    CHECK(reinterpret_cast<std::uintptr_t>(reserved(around).at(part.offset)) % kHugePage == 0);
}

TEST_CASE("two mappings of a part are the same memory, and what is around it cannot be read") {
  SharedMemory memory = shared_memory(1 << 20);
  const SharedPart part = taken(memory, 10'000), other = taken(memory, 1);
  CHECK(ftruncate(memory.object(), 1) != 0);
  SharedMapping first = reserved({0, other.end()}), second = reserved({0, other.end()});
  REQUIRE(first.map(memory.object(), part, true).is_ok());
  REQUIRE(second.map(memory.object(), part, false, true).is_ok());
  first.at(part.offset)[9'999] = 7;
  CHECK(second.at(part.offset)[9'999] == 7);
  for (const std::uint64_t offset : {part.offset - 1, part.end(), other.offset})
    CHECK(signal_of_read(second.at(offset)) == SIGSEGV);
  REQUIRE(second.unmap(part).is_ok());
  CHECK(signal_of_read(second.at(part.offset)) == SIGSEGV);
  CHECK(first.at(part.offset)[9'999] == 7);
}

TEST_CASE("memory that this process has mapped is zeroed, known by its address, and given back once") {
  SharedMemory memory = shared_memory(16 << 20);
  auto* const first = static_cast<std::uint8_t*>(memory.take_mapped(200'000));
  auto* const second = static_cast<std::uint8_t*>(memory.take_mapped(300'000));
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(first[199'999] == 0);
  first[199'999] = 7;
  REQUIRE(memory.find(first) != nullptr);
  const SharedPart part = *memory.find(first);
  SharedMapping elsewhere = reserved(part);
  REQUIRE(elsewhere.map(memory.object(), part, false, true).is_ok());
  CHECK(elsewhere.at(part.offset)[199'999] == 7);
  CHECK(memory.find(first + 64) == nullptr);
  CHECK(memory.give_back(first));
  CHECK_FALSE(memory.give_back(first));
  CHECK(memory.find(first) == nullptr);
  CHECK(memory.find(second) != nullptr);
  CHECK(signal_of_read(first) == SIGSEGV);
  CHECK(memory.take_mapped(std::uint64_t{1} << 40) == nullptr);
}

// Returns how many bytes of the mapping that begins at this address are mapped by huge pages.
std::uint64_t huge_bytes_at(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  char begin[32];
  std::snprintf(begin, sizeof begin, "%zx-", reinterpret_cast<std::uintptr_t>(address));
  bool is_in = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" kB") == std::string::npos && line.find('-') < 17) is_in = line.starts_with(begin);
    if (is_in && line.starts_with("ShmemPmdMapped:")) return std::stoull(line.substr(15)) << 10;
  }
  return 0;
}

TEST_CASE("large tensors have huge pages in both mappings, up to their last whole one") {
  if (!has_huge_pages()) {
    MESSAGE("skipped: this system has no huge pages in shared memory, or is older than Linux 6.1");
    return;
  }
  SharedMemory memory = shared_memory(64 << 20);
  const SharedPart large = taken(memory, (9 << 20) + 1), small = taken(memory, (4 << 20) - 4096);
  SharedMapping first = reserved({0, small.end()}), second = reserved({0, small.end()});
  for (const SharedPart& part : {large, small}) {
    REQUIRE(first.map(memory.object(), part, true).is_ok());
    CHECK(first.use_huge_pages(part));
    std::memset(first.at(part.offset), 7, static_cast<std::size_t>(part.bytes));
    REQUIRE(second.map(memory.object(), part, false, true).is_ok());
  }
  for (SharedMapping* mapping : {&first, &second}) {
    CHECK(huge_bytes_at(mapping->at(large.offset)) == 8 << 20);
    CHECK(huge_bytes_at(mapping->at(small.offset)) == 0);
    CHECK(mapping->at(large.offset)[large.bytes - 1] == 7);
  }
}

TEST_CASE("a part beyond the reserved addresses is refused") {
  const Descriptor object = make_shared_object(1 << 20);
  SharedMapping mapping = reserved({1 << 14, 1 << 16});
  CHECK(mapping.map(object.number(), {1 << 15, 1 << 16}, true).code() == ErrorCode::resource_exhausted);
  CHECK(mapping.map(object.number(), {0, 4096}, true).code() == ErrorCode::resource_exhausted);
  CHECK(mapping.map(object.number(), {UINT64_MAX - 4095, 8192}, true).code() == ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace ferry::device
