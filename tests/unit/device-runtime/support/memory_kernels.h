// Kernels that search, or write to, all memory of their session, as hostile or broken kernels may.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

// Returns the module for the server of this test run, built once. Functions:
//   search(in u8 P[n], out i64 C[n], in u8 M[m])  counts how often each 16 bytes of P, with all bits inverted, occur in
//   readable
//                                      memory; C[0] belongs to the first 16, C[16] to the next
//   overwrite_shared(i64 byte, i64 then_spin, in u8 M[m])  fills all memory that is shared with other processes
//   overrun(i64 bytes, i64 step, inout u8 A[n])  writes beyond the end of A, or before it if step is negative
//   print(in u8 T[n])                  prints the text T
const Bytes& memory_kernels();

// The argument M of a kernel that looks through its process's memory: its own /proc/self/maps, which a confined session
// cannot open. Without one (all zeros) the kernel opens the file itself.
rpc::Argument maps_of(TestClient& client);

// Pieces of secrets that are searched for in a session's memory.
class Secrets {
 public:
  static constexpr std::size_t kPiece = 16;

  // Adds as many pieces as the secret contains.
  void add(std::string name, const std::uint8_t* bytes, std::size_t count);
  void add(std::string name, const std::string& text) {
    add(std::move(name), reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }

  // Returns the names of the secrets that this client's session holds, each once, separated by commas.
  std::string found_by(TestClient& client) const;

 private:
  std::vector<std::string> names_;  // the name of each piece
  std::vector<std::uint8_t> turned_;
};

}  // namespace ferry::test
