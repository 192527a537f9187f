#!/usr/bin/env python3
"""Tests the nginx configuration of docs/farm with a real nginx, TLS and a farm's page behind it.

    nginx_test.py FARM_PAGE_SERVER

Exits with 77, which ctest reports as skipped, where there is no nginx.
"""
import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
from pathlib import Path

CONFIGURATION = Path(__file__).resolve().parents[3] / "docs/farm/nginx.conf"
server_path = None

MAIN = """
{user}
daemon off;
pid nginx.pid;
error_log errors.log;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  include site.conf;
}}
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class NginxTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="ferry-nginx-"))
        cls.tracker = subprocess.Popen([server_path, "--behind-proxy"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True)
        upstream = cls.tracker.stdout.readline().strip().rstrip("/")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=farm.example", "-addext", "subjectAltName=DNS:farm.example",
                        "-keyout", cls.folder / "key.pem", "-out", cls.folder / "certificate.pem"],
                       check=True, capture_output=True)
        cls.plain, cls.port = free_ports(2)
        site = CONFIGURATION.read_text(encoding="utf-8")
        for pattern, replacement in [
                (r"listen \[::\]:\d+[^;]*;\n", ""), (r"listen 80;", f"listen 127.0.0.1:{cls.plain};"),
                (r"listen 443 ", f"listen 127.0.0.1:{cls.port} "), (r"http://127\.0\.0\.1:8080", upstream),
                (r"/etc/ssl/certs/farm\.example\.pem", "certificate.pem"),
                (r"/etc/ssl/private/farm\.example\.key", "key.pem")]:
            site, count = re.subn(pattern, replacement, site)
            assert count > 0, f"expected {pattern} in {CONFIGURATION}"
        (cls.folder / "site.conf").write_text(site, encoding="utf-8")
        user = "user root;" if os.geteuid() == 0 else ""
        (cls.folder / "nginx.conf").write_text(MAIN.format(user=user), encoding="utf-8")
        command = ["nginx", "-p", f"{cls.folder}/", "-c", "nginx.conf", "-e", f"{cls.folder}/errors.log"]
        tested = subprocess.run([*command, "-t"], capture_output=True, text=True)
        assert tested.returncode == 0 and "[warn]" not in tested.stderr, tested.stderr
        cls.nginx = subprocess.Popen(command)
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", cls.port), timeout=1).close()
                break
            except OSError:
                assert cls.nginx.poll() is None and time.monotonic() < deadline, \
                    (cls.folder / "errors.log").read_text(encoding="utf-8")
                time.sleep(0.05)
        cls.tls = ssl.create_default_context(cafile=cls.folder / "certificate.pem")

    @classmethod
    def tearDownClass(cls):
        cls.nginx.terminate()
        cls.nginx.wait(10)
        cls.tracker.stdin.close()
        cls.tracker.stdout.close()
        cls.tracker.wait(10)
        shutil.rmtree(cls.folder)

    def connect(self, source="127.0.0.1"):
        connection = http.client.HTTPConnection("farm.example", self.port, timeout=10)
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=10, source_address=(source, 0))
        connection.sock = self.tls.wrap_socket(raw, server_hostname="farm.example")
        return connection

    def ask(self, method, path, body=None, source="127.0.0.1", **headers):
        connection = self.connect(source)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text

    def log_in(self, token, source="127.0.0.1", **headers):
        response, _ = self.ask("GET", "/login", source=source)
        cookie = response.headers["Set-Cookie"].split(";")[0]
        form = urllib.parse.urlencode({"csrf": cookie.split("=")[1], "token": token})
        return self.ask("POST", "/login", form, source, Cookie=cookie, Origin=f"https://farm.example:{self.port}",
                        Content_Type="application/x-www-form-urlencoded", **headers)[0]

    def session(self):
        response = self.log_in("token-of-an-admin")
        self.assertEqual(response.status, 303)
        return next(cookie for cookie in response.headers.get_all("Set-Cookie") if "session" in cookie)

    def test_people_log_in_over_tls_with_cookies_that_only_tls_carries(self):
        cookie = self.session()
        self.assertTrue(cookie.startswith("__Host-ferry_session="))
        for part in ["Secure", "HttpOnly", "SameSite=Strict", "Path=/"]:
            self.assertIn(part, cookie.split("; "))
        response, text = self.ask("GET", "/", Cookie=cookie.split(";")[0])
        self.assertEqual(response.status, 200)
        self.assertIn("rpi4-01", text)
        self.assertEqual(response.headers["Strict-Transport-Security"], "max-age=31536000")
        self.assertIn("default-src 'none'", response.headers["Content-Security-Policy"])

    def test_plain_http_leads_to_https(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.plain, timeout=10)
        connection.request("GET", "/board?name=x", headers={"Host": "farm.example"})
        response = connection.getresponse()
        self.assertEqual((response.status, response.headers["Location"]), (301, "https://farm.example/board?name=x"))
        connection.close()

    def test_a_form_of_another_site_is_refused(self):
        cookie = self.session().split(";")[0]
        response, _ = self.ask("POST", "/order", "board=rpi4-01&order=retire", Cookie=cookie, Origin="https://evil.example",
                               Content_Type="application/x-www-form-urlencoded")
        self.assertEqual(response.status, 403)

    def test_logins_are_counted_by_the_address_that_nginx_sees(self):
        for number in range(5):
            forged = self.log_in("wrong", "127.0.0.2", X_Forwarded_For=f"192.0.2.{number}")
            self.assertEqual(forged.status, 403)
        self.assertEqual(self.log_in("wrong", "127.0.0.2", X_Forwarded_For="192.0.2.99").status, 429)
        self.assertEqual(self.log_in("wrong", "127.0.0.3").status, 403)
        # Nobody locks out whoever has a token.
        self.assertEqual(self.log_in("token-of-a-user", "127.0.0.2").status, 303)

    def test_events_arrive_at_once(self):
        connection = self.connect()
        connection.request("GET", "/events", headers={"Cookie": self.session().split(";")[0]})
        response = connection.getresponse()
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        # The time to wait before a new try, and a first event.
        self.assertEqual([response.readline() for _ in range(5)][2], b"event: change\n")
        begin = time.monotonic()
        self.tracker.stdin.write("\n")
        self.tracker.stdin.flush()
        self.assertEqual(response.readline(), b"event: change\n")
        self.assertLess(time.monotonic() - begin, 2)
        response.close()
        connection.close()

    def test_programs_use_tokens_and_metrics_are_not_open(self):
        self.assertEqual(self.ask("GET", "/api/v1/boards")[0].status, 401)
        self.assertEqual(self.ask("GET", "/api/v1/boards", Authorization="Bearer token-of-a-viewer")[0].status, 200)
        self.assertEqual(self.ask("GET", "/metrics")[0].status, 401)
        self.assertEqual(self.ask("GET", "/healthz")[0].status, 200)

    def test_large_bodies_are_refused(self):
        self.assertEqual(self.ask("POST", "/login", "a" * 40_000)[0].status, 413)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    # nginx is in a folder that only root's PATH has.
    os.environ["PATH"] += ":/usr/sbin"
    for program in ["nginx", "openssl"]:
        if shutil.which(program) is None:
            print(f"skipped: expected {program} (Debian's package {program}), got none")
            sys.exit(77)
    server_path = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
