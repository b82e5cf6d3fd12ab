"""Archives for the lite interpreter as text: the programs in answers/lite.txt print them."""

import io
import pickle
import zipfile


class _Reader(pickle.Unpickler):
    """Reads a record without torch: lists as lists, storages as "storage", anything else by its name and arguments."""

    def find_class(self, module, name):
        return (lambda x: x) if name == "build_intlist" else lambda *args: (name, *(a for a in args if a))

    def persistent_load(self, pid):
        return "storage"


def record(data, name):
    """What a record of an archive holds."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return _Reader(io.BytesIO(archive.read(f"{archive.namelist()[0].split('/')[0]}/{name}"))).load()


def show(data):
    """Prints the bytecode of an archive."""
    version, *functions = record(data, "bytecode.pkl")
    print("version", version)
    for name, tables, schema in functions:
        print(name)
        for table, items in tables:
            if table == "instructions":
                items = " ".join(":".join(map(str, (op, x, n) if n else (op, x) if x or "LOAD" in op else (op,))) for op, x, n in items)
            elif table == "operators":
                items = " ".join(".".join(o[:2]).rstrip(".") + "".join(f"/{n}" for n in o[2:]) for o in items)
            print(f"  {table}: {items}")
        for part, arguments in schema:
            print(f"  {part}: {', '.join(str(tuple(dict(a).values())) for a in arguments)}")


def show_origins(data):
    """Prints the kind of node and the calls that each instruction of an archive comes from, without the numbers of source ranges."""
    handles = record(data, "mobile_debug_handles.pkl")
    origins = {handle: (kind, calls) for handle, _, kind, calls in record(data, "callstack_debug_map.pkl")}
    for name, ((_, (numbers,)),) in handles[1:]:
        print(name)
        for number in numbers:
            kind, calls = origins[number]
            chain = []
            while calls:
                module, _, calls, function = calls
                chain.append(f"{module[1]}({module[0].rpartition('.')[2]})::{function}" if module else function)
            print(" ", kind, " ".join(chain))
