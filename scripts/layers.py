"""Reads cmake/layers.json, the table of the product's folders: what each is for and which others it may include.

scripts/check_includes.py, CMake (cmake/layers.cmake) and the page of the folders (scripts/folders_page.py) take it from here.
"""
import json
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "cmake/layers.json"
REQUIRED = {"purpose": str, "may_include": list}
OPTIONAL = {"library": str, "public": list}


class TableError(Exception):
    pass


@dataclass
class Folder:
    purpose: str
    may_include: list[str]  # itself and what those may include not repeated
    library: str | None = None  # the static library that its files become a part of
    public: list[str] = field(default_factory=list)  # the installed headers that declare what the folder defines


@dataclass
class Layers:
    groups: dict[str, list[str]]  # title to folders, the lowest layers first
    folders: dict[str, Folder]
    mutually_recursive: list[list[str]]  # folders that include one another


def refuse_repeated(pairs: list) -> dict:
    """Without it, the second value of a key would win silently."""
    for key in (keys := [key for key, _ in pairs]):
        if keys.count(key) > 1:
            raise TableError(f"the key {key!r} stands twice in one object")
    return dict(pairs)


def read_folder(name: str, record: dict) -> Folder:
    for key, kind in {**REQUIRED, **OPTIONAL}.items():
        if key in REQUIRED and key not in record:
            raise TableError(f"{name}: expected the key {key!r}")
        value = record.get(key, kind())
        if not isinstance(value, kind) or (kind is list and not all(isinstance(item, str) for item in value)):
            raise TableError(f"{name}: expected {key} as a {'list of strings' if kind is list else 'string'}, got {value!r}")
        if kind is list and len(value) != len(set(value)):
            raise TableError(f"{name}: {key} names something twice")
    if unknown := set(record) - set(REQUIRED) - set(OPTIONAL):
        raise TableError(f"{name}: unknown key {sorted(unknown)[0]!r}")
    if not record["purpose"]:
        raise TableError(f"{name}: expected a line about what the folder is for")
    return Folder(**record)


def cycles(graph: dict[str, list[str]]) -> list[list[str]]:
    """The sets of two or more nodes that reach each other."""
    def reached(start: str) -> set[str]:
        found, open_nodes = set(), list(graph[start])
        while open_nodes:
            node = open_nodes.pop()
            if node not in found:
                found.add(node)
                open_nodes += graph[node]
        return found

    below = {node: reached(node) for node in graph}
    sets = {frozenset(other for other in below[node] if node in below[other]) for node in graph if node in below[node]}
    return sorted(sorted(nodes) for nodes in sets)


def parse(text: str) -> Layers:
    try:
        table = json.loads(text, object_pairs_hook=refuse_repeated)
    except ValueError as error:
        raise TableError(str(error)) from error
    groups, folders = {}, {}
    for group in table["groups"]:
        for name, record in group["folders"].items():
            if name in folders:
                raise TableError(f"{name} stands in two groups")
            folders[name] = read_folder(name, record)
        groups[group["title"]] = list(group["folders"])
    headers = set()
    for name, folder in folders.items():
        for other in folder.may_include:
            if other not in folders:
                raise TableError(f"{name} may include {other}, which is not in the table")
            if other == name:
                raise TableError(f"{name} names itself")
        for header in folder.public:
            if header in headers:
                raise TableError(f"{header} belongs to two folders")
            headers.add(header)
    declared = sorted(sorted(names) for names in table["mutually_recursive"])
    for names in cycles({name: folder.may_include for name, folder in folders.items()}):
        if names not in declared:
            raise TableError(f"{', '.join(names)} include one another, which mutually_recursive does not say")
        declared.remove(names)
    if declared:
        raise TableError(f"mutually_recursive names {', '.join(declared[0])}, which do not all include one another")
    return Layers(groups, folders, table["mutually_recursive"])


def read(path: Path = TABLE) -> Layers:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except TableError as error:
        raise TableError(f"{path.name}: {error}") from error
