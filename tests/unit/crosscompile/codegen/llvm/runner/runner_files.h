// The files exchanged between the tests and the runner. Cases: the number of calls, then for each call the symbol, the
// sizes of both workspace blocks in bytes, and the arguments; a u64 count or length precedes each list. Results: for
// each call an int32 and the bytes of the arguments, without lengths.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace ferry::runner {

using Bytes = std::vector<unsigned char>;

struct Call {
  std::string symbol;
  std::uint64_t call_workspace = 0;
  std::uint64_t thread_workspace = 0;
  std::vector<Bytes> arguments;
};

inline bool read_whole(const char* path, Bytes& into) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  unsigned char piece[65536];
  for (std::size_t got; (got = std::fread(piece, 1, sizeof piece, file)) > 0;)
    into.insert(into.end(), piece, piece + got);
  return std::fclose(file) == 0;
}

inline bool read_calls(const char* path, std::vector<Call>& into) {
  Bytes bytes;
  if (!read_whole(path, bytes)) return false;
  std::size_t at = 0;
  bool good = true;
  const auto number = [&] {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i, ++at) {
      good = good && at < bytes.size();
      if (good) value |= std::uint64_t{bytes[at]} << (8 * i);
    }
    return value;
  };
  const auto block = [&] {
    const std::uint64_t length = number();
    good = good && length <= bytes.size() - at;
    if (!good) return Bytes();
    at += length;
    return Bytes(bytes.data() + at - length, bytes.data() + at);
  };
  const std::uint64_t count = number();
  for (std::uint64_t i = 0; good && i < count; ++i) {
    Call call;
    const Bytes symbol = block();
    call.symbol.assign(symbol.begin(), symbol.end());
    call.call_workspace = number();
    call.thread_workspace = number();
    const std::uint64_t arguments = number();
    for (std::uint64_t j = 0; good && j < arguments; ++j) call.arguments.push_back(block());
    into.push_back(std::move(call));
  }
  return good;
}

inline void append_number(Bytes& to, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) to.push_back(static_cast<unsigned char>(value >> (8 * i)));
}

inline void append_block(Bytes& to, const unsigned char* data, std::size_t length) {
  append_number(to, length);
  to.insert(to.end(), data, data + length);
}

inline Bytes write_calls(const std::vector<Call>& calls) {
  Bytes bytes;
  append_number(bytes, calls.size());
  for (const Call& call : calls) {
    append_block(bytes, reinterpret_cast<const unsigned char*>(call.symbol.data()), call.symbol.size());
    append_number(bytes, call.call_workspace);
    append_number(bytes, call.thread_workspace);
    append_number(bytes, call.arguments.size());
    for (const Bytes& argument : call.arguments) append_block(bytes, argument.data(), argument.size());
  }
  return bytes;
}

}  // namespace ferry::runner
