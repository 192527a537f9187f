// The schemes of addresses, such as ssh://, and what the user may write instead of one: the name of a device in
// devices.toml. A scheme is a file of its own, which implements Connector. main() adds those that host/client does not
// have.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/client/connect/connector.h"
#include "host/client/connect/devices_file.h"

namespace ferry::session {

// A device as the user named it.
struct Remote {
  std::string text;                  // what the user wrote
  std::string key_file;              // the option's; empty: not given
  std::vector<NamedDevice> devices;  // those of devices.toml
  std::optional<NamedDevice> entry;  // the one of these that was named
  std::string address;               // the entry's, otherwise the text
};

using Connectors = std::vector<std::shared_ptr<Connector>>;

struct Scheme {
  std::string_view prefix;  // how its addresses begin, "ssh://"; empty: those without a scheme
  std::string_view form;    // "ssh://HOST", for messages; empty: they do not name it
  // Throws Error that says what was expected, unless the address is well-formed; null: the connector's maker does.
  std::function<void(const std::string& address)> check = {};
  // Whether the address stands for this machine; null: no address does.
  std::function<bool(const std::string& address)> is_on_this_machine = {};
  // Makes the connector of an address, without connecting to anything. `earlier` are those of the same command, with
  // which it may share a lease. Throws Error that says what is wrong and how to fix it.
  std::function<std::shared_ptr<Connector>(const Remote& remote, const Connectors& earlier)> connector;
  bool is_leased = false;  // the devices are leased, and several sessions may share a lease
};

class Schemes {
 public:
  // Those of host/client: HOST:PORT, ssh://, lease: and plaintext://.
  Schemes();
  // Takes the place of one with the same prefix.
  void add(Scheme scheme);

  // `remote` is the name of a device or an address. Throws Error that says what is wrong and how to fix it.
  std::shared_ptr<Connector> connector(std::string_view remote, const std::string& key_file) const;
  // Returns one for each remote, null for those that are not leased.
  Connectors shared_connectors(const std::vector<std::string>& remotes, const std::string& key_file) const;
  // Whether what runs there runs on this machine, as far as the address says: it is empty, or of loopback. Throws Error
  // for a damaged devices.toml or address.
  bool is_on_this_machine(std::string_view remote) const;
  // Returns the scheme of an address; null for one that looks as if it had another.
  const Scheme* find(std::string_view address) const;

 private:
  const Scheme& expect(const std::string& address) const;

  std::vector<Scheme> schemes_;
};

}  // namespace ferry::session
