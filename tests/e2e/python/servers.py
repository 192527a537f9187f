"""Servers and farms for tests, which end with the test."""
import os
import re
import subprocess
import time
from pathlib import Path

import ferry


def start(case, folder, *words, errors=subprocess.DEVNULL):
    """A process that ends with the test case."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder)

    def end():
        process.kill()
        process.wait()
        process.stdout.close()

    case.addCleanup(end)
    return process


def start_server(case, source):
    """A server with one place, and its address."""
    program = Path(source) / "build/device/x86_64/dynamic/rpc_server"
    server = start(case, None, program, "--port", "0", "--insecure-plaintext", "--quiet")
    return "plaintext://127.0.0.1:" + re.search(r":(\d+)", server.stdout.readline())[1]


def start_farm(case, source, folder, boards):
    """A tracker with boards of this machine that have passed their checks: its address, and the file of an admin's key."""
    program = Path(source) / "build/device/x86_64/dynamic/rpc_server"
    ferry_program = ferry.commands.program()
    tracker = start(case, folder, ferry_program, "farm", "serve", "--database", "farm.db", "--listen", "127.0.0.1:0",
                    errors=subprocess.STDOUT)
    said = tracker.stdout.readline()
    address = re.search(r"127\.0\.0\.1:\d+", said)[0]
    while "farm.admin.key" not in said:
        said = tracker.stdout.readline()
    admin = os.path.join(folder, "farm.admin.key")
    for name in boards:
        subprocess.run([ferry_program, "farm", "enrol", name, "--share-machine", "--output", f"{name}.key", "--farm", address,
                        "--key-file", admin], cwd=folder, check=True, capture_output=True)
        os.mkdir(os.path.join(folder, name))
        start(case, folder, program, "--port", "0", "--farm", address, "--farm-key", f"{name}.key", "--workdir", name, "--quiet")
    listing = [ferry_program, "farm", "devices", "--json", "--farm", address, "--key-file", admin]
    for _ in range(300):
        if subprocess.run(listing, check=True, capture_output=True, text=True).stdout.count('"good"') == len(boards):
            return address, admin
        time.sleep(0.2)
    raise AssertionError(f"expected {len(boards)} boards that have passed their check")
