"""A calculator: lexer, shunting-yard and evaluation over strings, with exceptions and tables of operators."""

from typing import Dict, List, Tuple

import torch


@torch.jit.script
def tokens(text: str) -> List[str]:
    out: List[str] = []
    i = 0
    n = len(text)
    while i < n:
        c = text[i]
        if c.isspace():
            i += 1
        elif c.isdigit() or c == ".":
            j = i
            while j < n and (text[j].isdigit() or text[j] == "."):
                j += 1
            out.append(text[i:j])
            i = j
        elif c.isalpha():
            j = i
            while j < n and text[j].isalnum():
                j += 1
            out.append(text[i:j])
            i = j
        elif c in "+-*/^()%":
            out.append(c)
            i += 1
        else:
            raise RuntimeError("unexpected character '{}' at {}".format(c, i))
    return out


@torch.jit.script
def postfix(items: List[str]) -> List[str]:
    precedence = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "~": 3, "^": 4}
    out: List[str] = []
    stack: List[str] = []
    value_before = False
    for item in items:
        if item == "(":
            stack.append(item)
            value_before = False
        elif item == ")":
            while len(stack) > 0 and stack[-1] != "(":
                out.append(stack.pop())
            if len(stack) == 0:
                raise RuntimeError("unbalanced )")
            stack.pop()
            value_before = True
        elif item in precedence:
            op = item
            if op == "-" and not value_before:
                op = "~"
            while (
                op != "~"
                and len(stack) > 0
                and stack[-1] != "("
                and (precedence[stack[-1]] > precedence[op] or (precedence[stack[-1]] == precedence[op] and op != "^"))
            ):
                out.append(stack.pop())
            stack.append(op)
            value_before = False
        else:
            out.append(item)
            value_before = True
    while len(stack) > 0:
        top = stack.pop()
        if top == "(":
            raise RuntimeError("unbalanced (")
        out.append(top)
    return out


@torch.jit.script
def evaluate(text: str, names: Dict[str, float]) -> Tuple[float, str]:
    code = postfix(tokens(text))
    stack: List[float] = []
    for item in code:
        if item == "~":
            stack.append(-stack.pop())
        elif item in ["+", "-", "*", "/", "^", "%"]:
            if len(stack) < 2:
                raise RuntimeError("operator " + item + " misses an operand")
            b, a = stack.pop(), stack.pop()
            if item == "+":
                r = a + b
            elif item == "-":
                r = a - b
            elif item == "*":
                r = a * b
            elif item == "/":
                if b == 0.0:
                    raise RuntimeError("division by zero")
                r = a / b
            elif item == "%":
                r = a % b
            else:
                r = a**b
            stack.append(r)
        elif item in names:
            stack.append(names[item])
        elif item[0].isdigit() or item.startswith("."):
            stack.append(float(item))
        else:
            raise RuntimeError("unknown name %s" % item)
    assert len(stack) == 1
    return stack[0], " ".join(code)


def main():
    names = {"pi": 3.0, "x1": -2.5}
    out = []
    for text in ["1 + 2 * 3", "-(2 ^ 3 ^ 0.5) / 4", "2 * -x1 + pi % 2", "((7))", "1.5e", "1 / 0", "(1", "2 $ 3", "+", "1 +)"]:
        try:
            value, code = evaluate(text, names)
            out.append([round(value, 9), code])
        except Exception as e:
            lines = [l for l in str(e).splitlines() if "RuntimeError" in l]
            out.append(lines[-1].split("RuntimeError: ")[-1] if lines else type(e).__name__)
    return out
