"""The numbers that are met when an arithmetic expression is worked out."""

import ast
from fractions import Fraction

from belief_utils.errors import BeliefError
from belief_utils.followup.items import plain_number

_OPERATIONS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def numbers_on_the_way(expression: str) -> list[str]:
    """The values of all parts of an expression that are computed, innermost first, the whole last.

    Args:
        expression: such as ``((32.0+42.0)-35.0)``: numbers, the four operations and brackets.

    Raises:
        BeliefError: it holds anything else, divides by zero or leads to a number of more than 22 digits.
    """
    met: list[str] = []
    try:
        _value(ast.parse(expression.strip(), mode="eval").body, met, expression)
    except (SyntaxError, ValueError, OverflowError, RecursionError) as error:
        what = str(error) if isinstance(error, BeliefError) else f"{expression[:80]!r} is not arithmetic"
        raise BeliefError(what) from error
    return met


def _value(node: ast.expr, met: list[str], expression: str) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, met, expression)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = _value(node.left, met, expression), _value(node.right, met, expression)
        try:
            value = _OPERATIONS[type(node.op)](left, right)
        except ZeroDivisionError as error:
            raise BeliefError(f"{expression!r} divides by zero") from error
        met.append(plain_number(float(value)))
        return value
    raise BeliefError(f"{expression!r} is more than arithmetic")
