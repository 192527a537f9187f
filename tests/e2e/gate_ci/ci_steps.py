"""Extracts the shell steps of the files in examples/ci, as far as these files use YAML and Groovy."""
import re
import textwrap


def indent_of(line):
    return len(line) - len(line.lstrip(" "))


def block_at(lines, start):
    """The text of a block scalar that line `start` introduces by a "|", and the line after it."""
    least = indent_of(lines[start])
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or indent_of(lines[end]) > least):
        end += 1
    return textwrap.dedent("\n".join(lines[start + 1:end])) + "\n", end


def github_steps(text):
    """[(name, condition, script)] of the steps that run a script, in order."""
    steps, name, condition = [], None, ""
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        line = lines[i].strip()
        if line.startswith("- "):
            name, condition = None, ""
            line = line[2:]
        if line.startswith("name: "):
            name = line[6:]
        elif line.startswith("if: "):
            condition = line[4:]
        elif line == "run: |":
            script, i = block_at(lines, i)
            steps.append((name, condition, script))
            continue
        elif line.startswith("run: "):
            steps.append((name, condition, line[5:] + "\n"))
        i += 1
    return steps


def github_environment(text):
    """The names that the job sets."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == "env:")
    names = []
    for line in lines[start + 1:]:
        if indent_of(line) <= indent_of(lines[start]):
            break
        names.append(line.split(":")[0].strip())
    return names


def gitlab_script(text, key):
    """The commands of `script` or `after_script` as one script, which is how a runner executes them."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == key + ":")
    script = ""
    i = start + 1
    while i < len(lines) and indent_of(lines[i]) > indent_of(lines[start]):
        line = lines[i].strip()
        if line == "- |":
            command, i = block_at(lines, i)
            script += command
            continue
        if not line.startswith("- "):
            raise ValueError(f"line {i + 1}: expected an entry of a list, got {line!r}")
        script += line[2:] + "\n"
        i += 1
    return script


def jenkins_scripts(text):
    """The scripts of sh steps, as Groovy reads the strings."""
    return [textwrap.dedent(one).replace("\\\\", "\\") for one in re.findall(r"script: '''(.*?)'''", text, re.DOTALL)]
