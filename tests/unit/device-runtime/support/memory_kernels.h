// Kernels that look at, or write to, all memory of their session, as hostile or broken ones may.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

// Functions of the module, for the server of this test run, made once:
//   search(in u8 P[n], out i64 C[n])   how often each 16 bytes of P, with all bits turned, are in readable memory; C[0]
//                                      belongs to the first 16, C[16] to the next
//   overwrite_shared(i64 byte, i64 then_spin)  fills all memory that is shared with other processes
//   overrun(i64 bytes, i64 step, inout u8 A[n])  writes behind the end of A, or in front of it where step is negative
//   print(in u8 T[n])
const Bytes& memory_kernels();

// Pieces of secrets that a session's memory is searched for.
class Secrets {
 public:
  static constexpr std::size_t kPiece = 16;

  // As many pieces as fit into it.
  void add(std::string name, const std::uint8_t* bytes, std::size_t count);
  void add(std::string name, const std::string& text) {
    add(std::move(name), reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }

  // The names of those that the session of this client holds, each once, with commas between them.
  std::string found_by(TestClient& client) const;

 private:
  std::vector<std::string> names_;  // of the pieces
  std::vector<std::uint8_t> turned_;
};

}  // namespace ferry::test
