"""Prints, for every function in the files named, its text and the Python door's bytes, as JSON lines.

Usage: encode.py frontend.py file...
"""

import ast
import importlib.util
import json
import sys


def load(path):
    spec = importlib.util.spec_from_file_location("frontend", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions(tree, in_class=False):
    for item in getattr(tree, "body", []):
        if isinstance(item, ast.FunctionDef):
            yield item, in_class
        elif isinstance(item, ast.ClassDef):
            yield from functions(item, True)


def main(frontend_path, *files):
    frontend = load(frontend_path)
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        lines = text.splitlines(keepends=True)
        for item, in_class in functions(ast.parse(text)):
            first = min([item.lineno] + [d.lineno for d in item.decorator_list])
            source = frontend.source_of_lines(lines[first - 1 : item.end_lineno], path, first)
            record = {"file": path, "line": first, "body": source.text.decode(), "method": in_class}
            record["indent"] = source.indent
            try:
                jit_def = frontend.def_of_source(source)
                jit_def.is_method = in_class
                record["data"] = jit_def.data.hex()
            except (frontend.FrontendError, ValueError) as error:
                record["error"] = str(error)
                record["class"] = type(error).__name__
            print(json.dumps(record))


main(*sys.argv[1:])
