#!/usr/bin/env python3
"""Decides which schedules 'ferry tune' tries, in place of ferry's own search:

    ferry tune mm.tc --size M=512,N=512,K=512 --searcher 'python3 hill_climb.py'

From the default on it tries all neighbours of the best point, which differ in one knob, until none is faster. Lines of
JSON go both ways; docs/tuning_search.md describes them.
"""

import json
import math
import sys


def receive():
    """Returns the next message, or None when ferry has ended the search."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def send(points):
    print(json.dumps({"points": points}), flush=True)


def neighbours(point, knobs):
    for knob in knobs:
        chosen = point.get(knob["name"], knob["default"])
        for candidate in knob["candidates"]:
            if candidate != chosen:
                yield {**point, knob["name"]: candidate}


def main():
    start = receive()
    knobs = start["space"]["knobs"]
    print(start["task"]["function"], "has", start["space"]["points"], "schedules", file=sys.stderr)
    result = receive()  # the default's, for which nobody has to ask
    best, seconds = {}, result.get("seconds", math.inf) if result else math.inf
    asked = {json.dumps(best)}
    while True:
        points = [point for point in neighbours(best, knobs) if json.dumps(point, sort_keys=True) not in asked]
        if not points:
            break
        asked |= {json.dumps(point, sort_keys=True) for point in points}
        send(points)
        for _ in points:
            result = receive()
            if result is None:
                return
            if result.get("seconds", math.inf) < seconds:
                best, seconds = result["point"], result["seconds"]
    print("the best is", json.dumps(best), file=sys.stderr)


if __name__ == "__main__":
    main()
