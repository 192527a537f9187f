#include "bench/rpc/encrypted.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "bench/rpc/pings.h"
#include "bench/rpc/raw_peer.h"
#include "bench/support/comparison.h"
#include "ferry/client.h"
#include "host/client/state.h"
#include "rpc/secure/record.h"
#include "tests/support/listening_server.h"

namespace ferry::bench {

namespace {

constexpr std::size_t kBulk = std::size_t{128} << 20;

std::string text(const char* pattern, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

// A server with a key; both exist as long as this object.
struct Guarded {
  std::string folder = make_folder();
  test::ListeningServer server;
  ConnectOptions options;

  Guarded(const std::string& program, const std::vector<std::string>& more)
      : server(program, {}, with_key(folder, more)) {
    options.key_file = folder + "/k.key";
  }
  ~Guarded() { std::filesystem::remove_all(folder); }

  static std::string make_folder() {
    char pattern[] = "/tmp/ferry-bench-XXXXXX";
    if (mkdtemp(pattern) == nullptr) throw std::runtime_error("no folder for a key");
    return pattern;
  }
  static std::vector<std::string> with_key(const std::string& folder, std::vector<std::string> more) {
    more.insert(more.end(), {"--quiet", "--key-file", folder + "/k.key"});
    return more;
  }
};

void set_up(const std::string& what, const test::ListeningServer& server, const ConnectOptions& options,
            Report& report) {
  std::vector<double> times;
  for (int i = 0; i < 51; ++i) {
    times.push_back(seconds_of([&] { connect(server.address(), options); }));
  }
  times.erase(times.begin());
  const double milliseconds = median(times) * 1e3;
  report.row("setting up a session, " + what, text("%.2f ms", milliseconds), "2 ms", milliseconds <= 2,
             {{"ms", milliseconds}});
}

// Returns the seconds in which one core encrypts this many bytes, in records as they are sent.
double cipher_seconds(secure::Cipher cipher, std::size_t bytes) {
  static const std::vector<std::uint8_t> plain(secure::kMaxRecordPlain, 7);
  static std::vector<std::uint8_t> sealed(secure::kMaxRecordPlain + secure::kRecordOverhead);
  secure::SealingState state{secure::KeyBytes{1}};
  state.cipher = cipher;
  return seconds_of([&] {
    for (std::size_t done = 0; done < bytes; done += plain.size()) {
      if (!secure::seal(state, plain, sealed.data()).is_ok()) throw std::runtime_error("cannot encrypt");
    }
  });
}

}  // namespace

void encrypted_calls(const std::string& server_program, Report& report) {
  const Guarded guarded(server_program, {"--threads", "1", "--sessions", "4"});
  const Device device = connect(guarded.server.address(), guarded.options);
  RawPeer raw;
  const Comparison ping = compare_pings(*device.state()->client, raw);
  report.row("encrypted ping, against the ping-pong", ping.text() + text("; %.1f us", median(ping.ours) * 1e6), "-",
             true, {{"ratio", ping.ratio()}});
  set_up("encrypted", guarded.server, guarded.options, report);
  const test::ListeningServer plain(server_program, {}, {"--threads", "1", "--quiet"});
  set_up("plain", plain, {}, report);
}

void encrypted_bandwidth(const std::string& server_program, Report& report) {
  const Guarded guarded(server_program, {});
  const Device device = connect(guarded.server.address(), guarded.options);
  RawPeer raw;
  std::vector<std::uint8_t> bytes(kBulk, 7);
  const DeviceTensor tensor = device.empty(DType::u8, {static_cast<std::int64_t>(kBulk)});
  const auto write = [&] {
    return seconds_of([&] {
      DeviceTensor(tensor).write(bytes.data());
      device.synchronize();
    });
  };
  const auto read = [&] { return seconds_of([&] { tensor.read(bytes.data()); }); };
  const auto row = [&](const std::string& what, const Comparison& comparison, const char* goal, bool met) {
    report.row(what,
               text("%.2f", 1 / comparison.ratio()) +
                   text("; %.2f GB/s", static_cast<double>(kBulk) / median(comparison.ours) / 1e9),
               goal, met, {{"speed", 1 / comparison.ratio()}});
  };
  // The cipher that both ends agree on, since both run on this machine.
  const secure::Cipher chosen = secure::choose_cipher(secure::fast_ciphers(), secure::fast_ciphers());
  const std::string chosen_name = chosen == secure::Cipher::aes_gcm ? "AES-256-GCM" : "ChaCha20-Poly1305";
  const auto cipher = [chosen] { return cipher_seconds(chosen, kBulk); };
  for (const auto& [name, transfer] :
       {std::pair<const char*, std::function<double()>>{"write", write}, {"read", read}}) {
    const Comparison against_cipher = compare(9, transfer, cipher);
    row(std::string("encrypted ") + name + " of 128 MiB, speed against one core's " + chosen_name, against_cipher,
        "0.8", against_cipher.ratio() <= 1 / 0.8);
  }
  row("one core's " + chosen_name + ", speed against its ChaCha20-Poly1305",
      compare(9, cipher, [] { return cipher_seconds(secure::Cipher::chacha_poly, kBulk); }), "-", true);
  row("encrypted write of 128 MiB, speed against bare sockets",
      compare(9, write, [&] { return seconds_of([&] { raw.write(bytes); }); }), "-", true);
}

}  // namespace ferry::bench
