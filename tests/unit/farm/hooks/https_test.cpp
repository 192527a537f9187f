// Webhooks over TLS: certificates that are trusted, and those that are not.
#include <doctest/doctest.h>
#include <httplib.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "farm/hooks/command.h"
#include "farm/hooks/webhook.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

// A server with a certificate of its own for the given name.
class HttpsServer {
 public:
  HttpsServer(const TemporaryFolder& folder, const std::string& name)
      : certificate_(make_certificate(folder, name)), server_(certificate_.c_str(), (certificate_ + ".key").c_str()) {
    REQUIRE(server_.is_valid());
    server_.Post("/hook", [this](const httplib::Request& request, httplib::Response&) { body_ = request.body; });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~HttpsServer() {
    server_.stop();
    thread_.join();
  }
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_) + "/hook"; }
  const std::string& certificate() const { return certificate_; }
  const std::string& body() const { return body_; }

 private:
  static std::string make_certificate(const TemporaryFolder& folder, const std::string& name) {
    std::string file = folder.file("certificate");
    const auto made = farm::run_command(
        {{"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
          file + ".key", "-out", file, "-days", "2", "-subj", "/CN=ferry", "-addext", "subjectAltName=" + name},
         {}});
    REQUIRE_MESSAGE(made.is_ok(), made.status().message());
    return file;
  }

  const std::string certificate_;
  httplib::SSLServer server_;
  std::string body_;  // read once the request has been answered
  int port_ = 0;
  std::thread thread_;
};

// The file of certificates that OpenSSL trusts for the lifetime of this object.
class TrustedCertificates {
 public:
  explicit TrustedCertificates(const std::string& file) { setenv("SSL_CERT_FILE", file.c_str(), 1); }
  ~TrustedCertificates() { unsetenv("SSL_CERT_FILE"); }
  TrustedCertificates(const TrustedCertificates&) = delete;
  TrustedCertificates& operator=(const TrustedCertificates&) = delete;
};

Status post(const HttpsServer& server) {
  return farm::post_json(farm::parse_webhook_url(server.url()).value(), "{\"board\":\"pi-3\"}",
                         std::chrono::seconds(20));
}

TEST_CASE("JSON is posted to a server whose certificate is trusted, and to no other one") {
  const TemporaryFolder folder;
  const HttpsServer server(folder, "IP:127.0.0.1");
  const Status untrusted = post(server);
  CHECK(untrusted.code() == ErrorCode::unavailable);
  CHECK(server.body().empty());
  const TrustedCertificates trusted(server.certificate());
  const Status posted = post(server);
  CHECK_MESSAGE(posted.is_ok(), posted.message());
  CHECK(server.body() == "{\"board\":\"pi-3\"}");
}

TEST_CASE("a trusted certificate for another server is refused") {
  const TemporaryFolder folder;
  const HttpsServer server(folder, "DNS:chat.example.org");
  const TrustedCertificates trusted(server.certificate());
  CHECK(post(server).code() == ErrorCode::unavailable);
  CHECK(server.body().empty());
}

}  // namespace
}  // namespace ferry::test
