"""Loaded by a Python into which the address sanitizer's runtime was preloaded. Other programs that it starts, such as
servers, bring their own runtime or none, and a Python gets it again."""
import os
import sys

preloaded = os.environ.pop("LD_PRELOAD", "")
if preloaded:
    os.environ["FERRY_TEST_PRELOAD"], os.environ["FERRY_TEST_PYTHON"] = preloaded, sys.executable
    sys.executable = os.path.join(os.path.dirname(__file__), "python")
