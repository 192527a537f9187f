// This machine, with a private server that is started for each session.
#pragma once

#include "host/client/connect/connector.h"

namespace ferry::session {

class LocalConnector final : public Connector {
 public:
  Link open(const ConnectOptions& options) override;
};

}  // namespace ferry::session
