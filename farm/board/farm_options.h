// The options of the command line about the farm that a board belongs to.
#pragma once

#include <string>
#include <vector>

#include "farm/protocol/messages.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::device {

struct FarmOptions {
  std::vector<TcpAddress> trackers;  // numeric; empty: the server belongs to no farm
  std::string key_file;
  std::string name;
  std::vector<farm::wire::Label> tags;
};

}  // namespace ferry::device
