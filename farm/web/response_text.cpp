#include "farm/web/response_text.h"

#include "farm/web/site/errors.h"

namespace ferry::farm::http {

std::string response_text(const HttpResponse& response, const std::string& method) {
  std::string text =
      "HTTP/1.1 " + std::to_string(response.status) + " " + title_of(response.status) + "\r\nConnection: close\r\n";
  const auto add = [&](const std::string& name, const std::string& value) { text += name + ": " + value + "\r\n"; };
  for (const auto& [name, value] : response.headers) add(name, value);
  if (response.status != 303) add("Content-Type", response.content_type);
  if (response.events == nullptr) add("Content-Length", std::to_string(response.body.size()));
  text += "\r\n";
  if (method != "HEAD") text += response.body;
  return text;
}

}  // namespace ferry::farm::http
