// Tests that a session on a board of a farm holds none of the secrets between board and tracker.
#include <doctest/doctest.h>

#include "tests/unit/device-runtime/supervisor/farm_fixture.h"
#include "tests/unit/device-runtime/support/memory_kernels.h"

namespace ferry::test {
namespace {

#if !defined(__SANITIZE_ADDRESS__)  // its shadow memory is too large to search, and it retains freed memory

void add_key(Secrets& secrets, const std::string& name, const secure::KeyBytes& key) {
  secrets.add(name, key.data(), key.size());
}

void add_connection(Secrets& secrets, const std::string& name, const JoiningBoard& board) {
  add_key(secrets, name, board.keys().to_initiator);
  add_key(secrets, name, board.keys().to_responder);
}

TEST_CASE("a session of a farm's board holds the key of its own lease at most") {
  Farm farm;
  const FarmServer server(farm);
  Secrets secrets;
  const std::string text = secure::to_file_text(farm.key), mark = "ferry-key-1:";
  add_key(secrets, "the board's key", farm.key.bytes);
  secrets.add("the board's key as text", text.substr(text.find(mark) + mark.size(), 64));
  const secure::Key enrolled = secure::make_key();
  const std::string enrolled_text = secure::to_file_text(enrolled);
  add_key(secrets, "the key that the board has received", enrolled.bytes);
  secrets.add("the key that the board has received, as text",
              enrolled_text.substr(enrolled_text.find(mark) + mark.size(), 64));
  const secure::Key former = secure::make_key(), withdrawn = secure::make_key(), own = secure::make_key();
  add_key(secrets, "the former lease's key", former.bytes);
  add_key(secrets, "the withdrawn lease's key", withdrawn.bytes);
  add_key(secrets, "its own lease's key", own.bytes);
  {
    JoiningBoard lost = farm.tracker.next_joined();
    add_connection(secrets, "the lost connection", lost);
    serve(lost, lease_for(kLong, 1, former));
    CHECK(open_session(server, former)->ask(rpc::Ping{}).status.is_ok());
  }
  {
    JoiningBoard board = farm.tracker.next_joined();
    board.send(farm::wire::Rekey{enrolled.bytes});
    board.expect_end();
    farm.tracker.set_key(enrolled);
  }
  JoiningBoard board = farm.tracker.next_joined();
  add_connection(secrets, "the connection", board);
  board.send(lease_for(kLong, 2, withdrawn));
  board.send(farm::wire::Withdraw{{200, 2}});
  CHECK(board.expect<farm::wire::LeaseOver>().key.epoch == 1);
  CHECK(board.expect<farm::wire::Acknowledged>().key.epoch == 2);
  CHECK(board.expect<farm::wire::LeaseOver>().key.epoch == 2);
  serve(board, lease_for(kLong, 3, own));
  const std::string found = secrets.found_by(*open_session(server, own));
  CAPTURE(found);
  CHECK((found.empty() || found == "its own lease's key"));
}

#endif

}  // namespace
}  // namespace ferry::test
