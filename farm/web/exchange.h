// One request and its response: the library parses and writes, the site answers.
#pragma once

#include <httplib.h>

#include "farm/web/site/site.h"

namespace ferry::farm::http {

class Exchange : private httplib::Server {
 public:
  explicit Exchange(Site& site);

  // Answers the one request that the stream has, whose head check_head() has accepted. Any thread, several at a time.
  void run(httplib::Stream& stream);
  // The response to a head that was refused.
  static std::string refusal(int status, const char* reason);
  // Ends all event streams.
  void end_streams() { svr_sock_ = INVALID_SOCKET; }

 private:
  void answer(const httplib::Request& request, httplib::Response& response);
  void stream_events(std::shared_ptr<EventStream> events, httplib::Response& response);

  Site& site_;
};

}  // namespace ferry::farm::http
