// Posts JSON to a URL that an admin has configured.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/status.h"

namespace ferry::farm {

inline constexpr std::size_t kMaxUrlBytes = 2048;

struct WebhookUrl {
  std::string server;  // "https://host:8443"
  std::string path;    // with its query: "/hook?room=lab"
};

// Fails with invalid_argument unless the text is http:// or https://, a host, and maybe a port, a path and a query.
Result<WebhookUrl> parse_webhook_url(const std::string& text);

// Sends one request, without following redirects; certificates are checked. Looking up the host's name is not subject
// to the timeout, everything else is. Fails with deadline_exceeded, and with unavailable if the server cannot be
// reached or answers with another status than 2xx. Messages name the server alone: a path may contain a secret.
Status post_json(const WebhookUrl& url, const std::string& json, std::chrono::milliseconds timeout);

}  // namespace ferry::farm
