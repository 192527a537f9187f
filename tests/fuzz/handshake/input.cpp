#include "tests/fuzz/handshake/input.h"

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "rpc/secure/client_handshake.h"
#include "rpc/secure/secure_transport.h"
#include "rpc/transport/loopback.h"
#include "rpc/wire/frame.h"

namespace ferry::fuzz {
namespace {

using Bytes = std::span<const std::uint8_t>;

void expect(bool promise) {
  if (!promise) std::abort();
}

secure::Key key() {
  secure::Key made;
  made.bytes.fill(7);
  return made;
}

void read_preamble(Bytes input) {
  if (input.size() < rpc::kPreambleBytes) return;
  const auto bytes = input.first<rpc::kPreambleBytes>();
  const auto preamble = rpc::decode_preamble(bytes);
  if (!preamble.is_ok()) return;
  const auto again = rpc::encode_preamble(preamble.value());
  // The bytes after the ciphers are ignored.
  expect(std::equal(again.begin(), again.begin() + 33, bytes.begin()));
}

// No input can guess a 128-bit tag, so every message is refused.
void read_first_message(Bytes input) {
  secure::NoiseHandshake noise(secure::Role::responder, input.first(std::min<std::size_t>(input.size(), 48)),
                               key().bytes);
  expect(!noise.read_message(input).is_ok());
}

void read_second_message(Bytes input) {
  secure::NoiseHandshake noise(secure::Role::initiator, {}, key().bytes);
  expect(noise.write_message().is_ok());
  expect(!noise.read_message(input).is_ok());
}

// A client that has sent its message, and a server that answers with these bytes.
void answer_client(Bytes input) {
  auto [client, server] = loopback_transport_pair();
  const std::array<ByteSpan, 1> pieces{input};
  if (!server->send(pieces).is_ok()) return;
  server->close_send();
  expect(!secure::encrypt_connection(std::move(client), key(), std::chrono::milliseconds(1000)).is_ok());
}

void read_records(Bytes input) {
  auto [sender, under] = loopback_transport_pair();
  const auto receiver = secure::secure_transport(std::move(under), {key().bytes}, {key().bytes});
  const std::array<ByteSpan, 1> pieces{input};
  if (!sender->send(pieces).is_ok()) return;
  sender->close_send();
  std::array<std::uint8_t, 100> plain;
  expect(!receiver->receive_some(plain, 1).is_ok());
  expect(!receiver->receive_some(plain, 1).is_ok());
}

void read_key(Bytes input) {
  const auto read = secure::parse_key({reinterpret_cast<const char*>(input.data()), input.size()});
  if (!read.is_ok()) return;
  const auto again = secure::parse_key(secure::to_file_text(read.value()));
  expect(again.is_ok() && again.value().bytes == read.value().bytes);
}

}  // namespace

void handshake_input(Bytes input) {
  if (input.empty()) return;
  // Longer inputs would fill the loopback's queue, which waits for a reader.
  const Bytes rest = input.subspan(1).first(std::min<std::size_t>(input.size() - 1, 100'000));
  switch (input[0] % 6) {
    case 0: return read_preamble(rest);
    case 1: return read_first_message(rest);
    case 2: return read_second_message(rest);
    case 3: return answer_client(rest);
    case 4: return read_records(rest);
    case 5: return read_key(rest);
  }
}

}  // namespace ferry::fuzz
