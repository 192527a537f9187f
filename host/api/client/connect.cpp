// What a program of a user links in place of main(): connects to the addresses of all schemes, those of farms included.
#include "farm/client/farm_connector.h"
#include "ferry/client.h"
#include "ferry/server_status.h"
#include "host/client/connect_to.h"
#include "host/in_process/in_process_connector.h"

namespace ferry {

namespace {

session::Schemes all_schemes() {
  session::Schemes schemes = farm::with_farm();
  schemes.add(session::in_process_scheme());
  return schemes;
}

}  // namespace

Device connect(std::string_view address, const ConnectOptions& options) {
  return session::connect_to(all_schemes(), address, options);
}

std::vector<SharedBoard> share_boards(const std::vector<std::string>& addresses, const std::string& key_file) {
  return farm::with_farm().shared_connectors(addresses, key_file);
}

ServerStatus server_status(std::string_view address, const ConnectOptions& options) {
  return session::server_status(farm::with_farm(), address, options);
}

}  // namespace ferry
