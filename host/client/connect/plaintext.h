// Servers on this machine that were started with --insecure-plaintext: plaintext://HOST[:PORT], for loopback only.
#pragma once

#include "host/client/connect/schemes.h"

namespace ferry::session {

Scheme plaintext_scheme();

}  // namespace ferry::session
