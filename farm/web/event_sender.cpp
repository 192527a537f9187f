#include "farm/web/event_sender.h"

#include <asio/post.hpp>
#include <utility>

namespace ferry::farm::http {

EventSender::EventSender(server::EventLoop& loop, Farm& farm, Workers& workers, std::unique_ptr<Connection> connection,
                         std::shared_ptr<EventStream> stream, std::chrono::milliseconds limit)
    : loop_(loop),
      farm_(farm),
      workers_(workers),
      connection_(std::move(connection)),
      stream_(std::move(stream)),
      limit_(limit),
      next_(loop),
      next_check_(loop) {}

void EventSender::start(std::string head, server::Callback over) {
  over_ = std::move(over);
  next_check_.start(kCheck, [this] { check(); });
  const auto self = shared_from_this();
  send(std::move(head));
  connection_->drop_input([this] { end(); });
}

void EventSender::send(std::string text) {
  is_sending_ = true;
  next_.cancel();
  connection_->send(std::move(text), limit_, [this](bool is_sent) {
    is_sending_ = false;
    is_sent && !is_over_ ? send_due() : end();
  });
}

void EventSender::send_due() {
  if (is_sending_) return;
  const EventFeed::Clock::time_point now = EventFeed::Clock::now();
  const std::uint64_t count = farm_.change_count();
  is_over_ = !is_allowed_;
  std::string text = is_over_ ? std::string(EventFeed::kEnd) : feed_.next(now, count);
  if (!text.empty()) return send(std::move(text));
  next_.start(std::chrono::ceil<std::chrono::milliseconds>(feed_.due(count) - now), [this] { send_due(); });
}

void EventSender::check() {
  // Asks the farm, which takes time.
  const bool is_added = workers_.add(
      [&loop = loop_, stream = stream_, weak = weak_from_this()] {
        asio::post(loop.context(), [weak, is_allowed = stream->is_allowed()] {
          if (const auto self = weak.lock()) self->checked(is_allowed);
        });
      },
      true);
  if (!is_added) end();
}

void EventSender::end() {
  if (over_) std::exchange(over_, nullptr)();
}

void EventSender::checked(bool is_allowed) {
  if (is_allowed) return next_check_.start(kCheck, [this] { check(); });
  is_allowed_ = false;
  send_due();
}

}  // namespace ferry::farm::http
