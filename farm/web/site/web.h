// The pages for people who have logged in, and what they do with forms.
#pragma once

#include <optional>
#include <string>

#include "farm/api/farm.h"
#include "farm/web/pages/page.h"
#include "farm/web/pages/url.h"
#include "farm/web/site/message.h"
#include "farm/web/site/places.h"
#include "farm/web/site/tokens.h"
#include "farm/web/site/web_sessions.h"

namespace ferry::farm::http {

class Web {
 public:
  Web(Farm& farm, Tokens& tokens, const HttpOptions& options);

  HttpResponse handle(const HttpRequest& request, std::string_view path, const Parameters& query);
  // Whether the header Cookie names a session. Any thread.
  bool is_known(const std::string& cookie);

 private:
  // A request of somebody who has logged in.
  struct Visit {
    Caller caller;
    Viewer viewer;
    std::string id;  // names the session
    const Parameters& query;
    const Parameters& form;
  };
  struct WebRoute {
    std::string_view method;
    std::string_view path;
    HttpResponse (Web::*handle)(const Visit& visit);
  };
  static const WebRoute kWebRoutes[];

  HttpResponse show_login(const HttpRequest& request);
  HttpResponse log_in(const HttpRequest& request);
  HttpResponse dispatch(const HttpRequest& request, const WebRoute& route, const Parameters& query);

  HttpResponse show_boards(const Visit& visit);
  HttpResponse show_board(const Visit& visit);
  HttpResponse show_queue(const Visit& visit);
  HttpResponse show_history(const Visit& visit);
  HttpResponse show_audit(const Visit& visit);
  HttpResponse show_tokens(const Visit& visit);
  // With a new token, which is shown once.
  HttpResponse tokens_page(const Visit& visit, const std::string& made);
  HttpResponse make_token(const Visit& visit);
  HttpResponse revoke_token(const Visit& visit);
  HttpResponse open_events(const Visit& visit);
  HttpResponse order_board(const Visit& visit);
  HttpResponse end_lease(const Visit& visit);
  HttpResponse log_out(const Visit& visit);

  // Fails with unauthenticated if nobody has logged in.
  Result<Caller> caller_of(const std::string& id, bool is_use);
  std::string session_cookie() const { return options_.behind_proxy ? "__Host-ferry_session" : "ferry_session"; }
  std::string login_cookie() const { return options_.behind_proxy ? "__Host-ferry_login" : "ferry_login"; }
  std::string set_cookie(const std::string& name, const std::string& value, std::chrono::seconds life) const;

  Farm& farm_;
  Tokens& tokens_;
  const HttpOptions& options_;
  WebSessions sessions_;
  Places streams_;
};

}  // namespace ferry::farm::http
