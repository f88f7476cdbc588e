#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every task has a table of its operands in the comment before it: their names in order, and their modes as declared. Prints
GoogleTest-like lines for its cases."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODES = {"Read": "read", "ReadColumns": "read", "ReadAll": "read", "ReadOnHost": "read, on the host",
         "Write": "write", "WriteAll": "write", "ReadWrite": "read-write", "ReadWriteAll": "read-write", "Accumulate": "accumulate",
         "WriteOrAdd": "write or add", "OutputColumns": "write or add",
         "Scratch": "scratch", "GpuScratch": "scratch"}
NAME = "static constexpr const char* name"
TASK = re.compile(r"^((?:///[^\n]*\n)*)(?:template <[^;{]*>\n)?struct (\w+) \{\n(.*?)^\};", re.M | re.S)
OPERAND = re.compile(r"^  (?:std::array<)?(%s)<([^;]*);" % "|".join(MODES), re.M)
ROW = re.compile(r"^ */// \|.*$")
SEPARATOR = re.compile(r"^ *///( \||\|)(-+\|)+$")


def cells_of(line):
    """Of a row of a table; None if it is none."""
    text = line.strip().removeprefix("///").strip()
    if len(text) < 2 or not text.endswith("|"):
        return None
    return [cell.strip() for cell in text[1:-1].split("|")]


def tables_of(lines):
    """Runs of lines that look like rows: first line's number, and the lines."""
    start = None
    for number, line in enumerate([*lines, ""]):
        if ROW.match(line):
            start = number if start is None else start
        elif start is not None:
            if number - start > 1:
                yield start, lines[start:number]
            start = None


def table_faults(lines):
    """What is wrong with a table: a text, or nothing."""
    rows = [cells_of(line) for line in lines]
    if len(lines) < 3 or not SEPARATOR.match(lines[1]):
        return "no line of dashes after the first line"
    for line, row in zip(lines, rows):
        if row is None:
            return "a row that does not end: " + line.strip()
        if len(row) != len(rows[0]):
            return "%d columns instead of %d: %s" % (len(row), len(rows[0]), line.strip())
    return None


def declared_operands(body):
    """Names and modes, in order."""
    result = []
    for kind, rest in OPERAND.findall(re.sub(r"//.*", "", body)):
        depth, end = 1, 0
        while depth > 0:  # to the end of the type
            depth += {"<": 1, ">": -1}.get(rest[end], 0)
            end += 1
        names = rest[end:].split(">", 1)[-1] if ">" in rest[end:] else rest[end:]
        result += [(name.strip().removesuffix("{}"), MODES[kind]) for name in names.split(",")]
    return result


def contract_of(comment):
    """Names and modes of the operands in a comment's table; nothing if there is no table."""
    for _, lines in tables_of(comment.splitlines()):
        head = cells_of(lines[0])
        if head and head[0] == "operand":
            if len(head) < 2 or head[1] != "mode":
                return [("", "no column 'mode'")]
            rows = [cells_of(line) for line in lines[2:]]
            return [(name.strip(" `"), row[1]) for row in rows if row and len(row) > 1 for name in row[0].split(",")]
    return []


def contract_faults(text):
    """What is wrong with the tasks of a header."""
    tasks = [task for task in TASK.findall(text) if NAME in task[2]]
    faults = ["a task is not understood"] if len(tasks) != text.count(NAME) else []
    for comment, name, body in tasks:
        contract, declared = contract_of(comment), declared_operands(body)
        if contract != declared:
            for wrong, of in ((set(contract) - set(declared), "in the table alone"),
                              (set(declared) - set(contract), "declared alone")):
                faults += ["%s: %s: %s" % (name, of, ", ".join("%s (%s)" % one for one in sorted(wrong)))] if wrong else []
            if set(contract) == set(declared):
                faults.append("%s: another order than that of the declarations" % name)
    return faults


def sources(folder, *suffixes):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)


def the_check_sees_faults():
    task = ("/// Text.\n/// | operand | mode | shape |\n/// |---------|------|-------|\n/// | a, b    | read |       |\n"
            "/// | c       | %s | x      |\ntemplate <class T>\nstruct Task {\n  static constexpr const char* name = \"task\";\n"
            "  std::array<Read<Matrix<T>>, 2> a{};\n  Read<Array<T>> b;\n  %s c;  ///< text\n  int n = 0;\n};\n")
    good = contract_faults(task % ("write or add", "WriteOrAdd<Matrix<T>>")) == []
    wrong_mode = contract_faults(task % ("write", "ReadWrite<Matrix<T>>")) != []
    missing = contract_faults(task % ("write", "int")) != []
    swapped = contract_faults((task % ("write", "Write<Matrix<T>>")).replace("a, b", "b, a")) != []
    no_table = contract_faults((task % ("write", "Write<Matrix<T>>")).replace("/// |", "/// ")) != []
    columns = table_faults(["/// | a | b |", "/// |---|---|", "/// | c |"]) is not None
    broken_row = table_faults(["/// | a | b |", "/// |---|---|", "/// | c | d"]) is not None
    return [] if all((good, wrong_mode, missing, swapped, no_table, columns, broken_row)) else ["a fault is not seen"]


def tables_are_whole():
    faults = []
    for folder in ("include", "runtime", "codelets", "algorithms"):
        for path in sources(folder, ".hpp", ".cpp", ".cu", ".cuh"):
            for start, lines in tables_of(path.read_text(encoding="utf-8").splitlines()):
                if fault := table_faults(lines):
                    faults.append("%s:%d: %s" % (path.relative_to(ROOT), start + 1, fault))
    return faults


def contracts_of_folder(folder):
    return ["%s: %s" % (path.relative_to(ROOT), fault) for path in sources(folder, ".hpp")
            for fault in contract_faults(path.read_text(encoding="utf-8"))]


def main():
    folders = sorted(path.name for path in (ROOT / "codelets").iterdir() if path.is_dir())
    cases = [("TheCheckSeesFaults", the_check_sees_faults), ("TablesAreWhole", tables_are_whole)]
    cases += [("Tasks/" + name, lambda name=name: contracts_of_folder("codelets/" + name)) for name in folders]
    failed = False
    for name, case in cases:
        print("[ RUN      ] Contracts." + name)
        faults = case()
        print("\n".join(faults) + "\n" if faults else "", end="")
        print("[%s] Contracts.%s" % ("  FAILED  " if faults else "       OK ", name))
        failed = failed or bool(faults)
    return failed


if __name__ == "__main__":
    sys.exit(main())
