// Sends the events of one stream, until its client leaves, does not take them in time or may not have them any more.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "farm/api/farm.h"
#include "farm/web/connection.h"
#include "farm/web/site/event_feed.h"
#include "farm/web/workers.h"

namespace ferry::farm::http {

// Everything on the loop.
class EventSender : public std::enable_shared_from_this<EventSender> {
 public:
  // Each event must be taken within `limit`.
  EventSender(server::EventLoop& loop, Farm& farm, Workers& workers, std::unique_ptr<Connection> connection,
              std::shared_ptr<EventStream> stream, std::chrono::milliseconds limit);

  // Sends the response's head and then events. over() may destroy the sender.
  void start(std::string head, server::Callback over);
  // Sends the event that is due, if there is one: the farm has changed, or time has passed.
  void send_due();

  // How often somebody is asked whether the client may still listen.
  static constexpr std::chrono::milliseconds kCheck{500};

 private:
  void send(std::string text);
  void check();
  void checked(bool is_allowed);
  void end();

  server::EventLoop& loop_;
  Farm& farm_;
  Workers& workers_;
  std::unique_ptr<Connection> connection_;
  std::shared_ptr<EventStream> stream_;
  const std::chrono::milliseconds limit_;
  EventFeed feed_;
  server::Timer next_, next_check_;
  server::Callback over_;
  bool is_sending_ = false;
  bool is_allowed_ = true;
  bool is_over_ = false;  // the last event is being sent
};

}  // namespace ferry::farm::http
