"""Checks values against the part of JSON Schema that docs/gate.schema.json uses."""
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
         "number": (int, float)}
# These have no effect.
WORDS = {"$schema", "$defs", "title", "description"}


def is_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


class Schema:
    def __init__(self, root, strict=False):
        """A strict schema refuses fields that no object of it describes, which the schema itself allows."""
        self.root, self.strict = root, strict

    def errors(self, value):
        return list(self._errors(value, self.root, "$"))

    def _errors(self, value, schema, place):
        for keyword, argument in schema.items():
            if keyword in WORDS:
                continue
            check = getattr(self, "_" + keyword.lstrip("$").lower(), None)
            if check is None:
                raise ValueError(f"expected a keyword of JSON Schema that schema.py knows, got {keyword}")
            yield from check(value, argument, schema, place)

    def _ref(self, value, argument, _, place):
        start, _, name = argument.rpartition("/")
        if start != "#/$defs":
            raise ValueError(f"expected a reference to $defs, got {argument}")
        yield from self._errors(value, self.root["$defs"][name], place)

    def _type(self, value, argument, _, place):
        names = argument if isinstance(argument, list) else [argument]
        if not any(is_type(value, name) for name in names):
            yield f"{place}: expected {' or '.join(names)}, got {value!r:.60}"

    def _const(self, value, argument, _, place):
        if value != argument:
            yield f"{place}: expected {argument!r}, got {value!r:.60}"

    def _enum(self, value, argument, _, place):
        if value not in argument or isinstance(value, bool):
            yield f"{place}: expected one of {argument}, got {value!r:.60}"

    def _minimum(self, value, argument, _, place):
        if is_type(value, "number") and value < argument:
            yield f"{place}: expected at least {argument}, got {value}"

    def _maximum(self, value, argument, _, place):
        if is_type(value, "number") and value > argument:
            yield f"{place}: expected at most {argument}, got {value}"

    def _pattern(self, value, argument, _, place):
        if isinstance(value, str) and not re.search(argument, value):
            yield f"{place}: expected a match of {argument}, got {value!r:.60}"

    def _required(self, value, argument, _, place):
        for name in argument if isinstance(value, dict) else []:
            if name not in value:
                yield f"{place}: expected the field {name}"

    def _properties(self, value, argument, schema, place):
        for name in value if isinstance(value, dict) else []:
            if name in argument:
                yield from self._errors(value[name], argument[name], f"{place}.{name}")
            elif self.strict and "additionalProperties" not in schema:
                yield f"{place}: the schema does not describe the field {name}"

    def _propertynames(self, value, argument, _, place):
        for name in value if isinstance(value, dict) else []:
            yield from self._errors(name, argument, f"{place}: the name {name}")

    def _additionalproperties(self, value, argument, schema, place):
        for name in value if isinstance(value, dict) else []:
            if name not in schema.get("properties", {}):
                yield from self._errors(value[name], argument, f"{place}.{name}")

    def _items(self, value, argument, _, place):
        for number, item in enumerate(value if isinstance(value, list) else []):
            yield from self._errors(item, argument, f"{place}[{number}]")

    def _anyof(self, value, argument, _, place):
        tried = [list(self._errors(value, one, place)) for one in argument]
        if all(tried):
            yield from min(tried, key=len)
