"""Generic mutants: every small change to the decision code of the reference, made by rule.

Classes: comparison, condition, boolean, constant, boundary (arithmetic), return, removed
statement, swapped order, loop. Message texts are decision code of nobody and are left out, and so
are the functions that only print values for them; how many sites that leaves out is counted.
Docstrings, annotations and names for types are no code that decides anything.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from conformance.adequacy.mutant import Mutant

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
MESSAGE_MAKERS = ("Rejection", "TypeError", "malformed")
CONDITION_FIRST = ("Rejection", "malformed")
MESSAGE_FUNCTIONS = (
    "show",
    "shown_type",
    "shown_seq",
    "shown_member",
    "shown_seed",
    "shown_append",
    "shown",
    "shown_version",
)

Change = Callable[[ast.AST], ast.AST | None]
"""Takes the copy of a node and gives what stands in its place; None removes a statement."""


@dataclass
class Site:
    """One node of a module that can be changed, and what it belongs to."""

    node: ast.AST
    function: str
    lines: frozenset[int]


@dataclass
class Generated:
    """The generic mutants of one module, the number of sites they change, and of those left out as message.

    A text of a refusal is one site, however it is put together.
    """

    mutants: list[Mutant] = field(default_factory=list)
    sites: int = 0
    left_out: int = 0


def generate(module: str, source: str) -> Generated:
    """All generic mutants of one module."""
    tree = ast.parse(source)
    found, text_of = Generated(), Texts(tree)
    sites, found.left_out = collect(tree)
    seen: dict[str, int] = {}
    for site in sites:
        found.sites += is_site(site.node)
        for kind, says, change in changes(site.node):
            if kind == "removed" and site.function == "module":
                continue  # a constant that is not there stops the import, and is nobody's mistake
            text = text_of.mutated(site.node, change)
            if text is None:
                continue
            name = f"{module}.{site.function}: {kind}: {says}"
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name = f"{name} (#{seen[name]})"
            found.mutants.append(Mutant(name, module, kind, says, text, site.lines))
    return found


def collect(tree: ast.Module) -> tuple[list[Site], int]:
    """The nodes that decide something, in the order of the source, and the number of sites left out."""
    sites: list[Site] = []
    left_out = 0

    def visit(node: ast.AST, function: str, inside: bool, lines: frozenset[int]) -> None:
        nonlocal left_out
        if isinstance(node, ast.FunctionDef) and node.name in MESSAGE_FUNCTIONS:
            left_out += sites_within(node)
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}" if function else node.name
        inside = inside or isinstance(node, ast.FunctionDef)  # a class body runs once, for every case
        own = own_lines(node) if inside and isinstance(node, ast.stmt) else lines
        if not isinstance(node, ast.Module | ast.ClassDef | ast.Import | ast.ImportFrom):
            sites.append(Site(node, function or "module", own))
        for name, child in children(node):
            if name in ("annotation", "returns", "decorator_list", "bases") or is_docstring(child):
                continue
            if isinstance(node, ast.Module) and is_type_name(child):
                continue
            if is_message(node, child):
                left_out += 1
            else:
                visit(child, function, inside, own)

    visit(tree, "", False, frozenset())
    return sites, left_out


def sites_within(node: ast.AST) -> int:
    """The number of sites in a piece of code, docstrings aside."""
    if is_docstring(node):
        return 0
    return is_site(node) + sum(sites_within(child) for _, child in children(node))


def is_site(node: ast.AST) -> bool:
    """Whether there is anything to change about a node."""
    return next(changes(node), None) is not None


def children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Child nodes with the name of the field they stand in."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield name, child


def own_lines(node: ast.stmt) -> frozenset[int]:
    """The lines on which a statement begins to decide: its first, and those of a multi-line head."""
    first, end = node.lineno, node.end_lineno or node.lineno
    if isinstance(node, ast.FunctionDef):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    if isinstance(node, ast.If | ast.For | ast.While | ast.Try | ast.FunctionDef | ast.With):
        end = node.lineno
    return frozenset(range(first, end + 1))


def is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def is_type_name(node: ast.AST) -> bool:
    """Whether a statement of a module only names a type, as in ``Marker = Append | Replace``."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp(op=ast.BitOr())):
            return not name.isupper()
    return False


def is_message(node: ast.AST, child: ast.AST) -> bool:
    """Whether a child is the text of a refusal, or is built into one.

    The first argument of Rejection and malformed is the condition, the last one of malformed the place.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    if node.func.id not in MESSAGE_MAKERS:
        return False
    start = 1 if node.func.id in CONDITION_FIRST else 0
    end = 2 if node.func.id == "malformed" else None
    return child in node.args[start:end]


def changes(node: ast.AST) -> Iterator[tuple[str, str, Change]]:
    """The changes that one node allows: class, description, and how to make it."""
    match node:
        case ast.Compare(ops=operators):
            for index, operator in enumerate(operators):
                for other in COMPARISONS.get(type(operator), ()):
                    yield (
                        "comparison",
                        shown_change(node, change_operator(index, other)),
                        change_operator(index, other),
                    )
        case ast.BoolOp(op=operator):
            other_op: ast.boolop = ast.Or() if isinstance(operator, ast.And) else ast.And()
            change = set_field("op", other_op)
            yield "boolean", shown_change(node, change), change
            for index in range(len(node.values)):
                change = drop_value(index)
                yield "boolean", shown_change(node, change), change
        case ast.UnaryOp(op=ast.Not()):
            change = take_operand
            yield "condition", shown_change(node, change), change
        case ast.BinOp(op=ast.Add() | ast.Sub() as operator):
            change = set_field("op", ast.Sub() if isinstance(operator, ast.Add) else ast.Add())
            yield "boundary", shown_change(node, change), change
        case ast.Constant(value=bool() as value):
            change = set_field("value", not value)
            yield "constant", shown_change(node, change), change
        case ast.Constant(value=int() as value):
            for other_value in (value + 1, value - 1):
                change = set_field("value", other_value)
                yield "constant", shown_change(node, change), change
        case ast.Constant(value=str() as value):
            change = set_field("value", value + "~")
            yield "constant", shown_change(node, change), change
        case ast.If() | ast.IfExp() | ast.While():
            for value in (True, False):
                change = set_field("test", ast.Constant(value))
                yield "condition", f"{head(node)} becomes {value}", change
        case ast.Return(value=ast.expr() as returned) if not is_truth(returned):
            change = set_field("value", ast.Constant(None))
            yield "return", shown_change(node, change), change
        case ast.Break() | ast.Continue():
            yield "loop", f"remove {head(node)}", to_pass
        case ast.For():
            yield "loop", f"{head(node)} runs backwards", reverse_loop
            yield "loop", f"{head(node)} ends after the first", stop_loop
    yield from statement_changes(node)


def statement_changes(node: ast.AST) -> Iterator[tuple[str, str, Change]]:
    """Removal of whole statements, and neighbours swapped."""
    if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Raise | ast.AnnAssign | ast.Delete):
        yield "removed", f"remove {head(node)}", to_pass
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            for index in range(len(block) - 1):
                if is_docstring(block[index]) or independent(block[index], block[index + 1]):
                    continue
                yield "swapped", f"{head(block[index])} after {head(block[index + 1])}", swap(name, index)


def is_truth(node: ast.expr) -> bool:
    """True and False are changed into each other; None in their place would say the same as False."""
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def independent(first: ast.stmt, second: ast.stmt) -> bool:
    """Two assignments that do not mention what the other assigns: their order is no decision."""
    names = []
    for statement in (first, second):
        match statement:
            case ast.Assign(targets=[target]) | ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                names.append(ast.unparse(target))
            case _:
                return False
    return names[0] not in ast.unparse(second) and names[1] not in ast.unparse(first)


def head(node: ast.AST) -> str:
    """The first line of a node's source."""
    return ast.unparse(node).splitlines()[0].rstrip(":")


def shown_change(node: ast.AST, change: Change) -> str:
    after = change(copy.deepcopy(node))
    return f"{head(node)} -> {head(after) if after is not None else 'nothing'}"


def change_operator(index: int, other: type[ast.cmpop]) -> Change:
    def change(node: ast.AST) -> ast.AST:
        assert isinstance(node, ast.Compare)
        node.ops[index] = other()
        return node

    return change


def set_field(name: str, value: object) -> Change:
    def change(node: ast.AST) -> ast.AST:
        setattr(node, name, value)
        return node

    return change


def drop_value(index: int) -> Change:
    def change(node: ast.AST) -> ast.AST:
        assert isinstance(node, ast.BoolOp)
        if len(node.values) == 2:
            return node.values[1 - index]
        del node.values[index]
        return node

    return change


def take_operand(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.UnaryOp)
    return node.operand


def to_pass(_node: ast.AST) -> ast.AST:
    return ast.Pass()


def reverse_loop(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.For)
    backwards = ast.Call(ast.Name("reversed", ast.Load()), [list_of(node.iter)], [])
    node.iter = backwards
    return node


def list_of(iterable: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("list", ast.Load()), [iterable], [])


def stop_loop(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.For)
    node.iter = ast.Subscript(list_of(node.iter), ast.Slice(upper=ast.Constant(1)), ast.Load())
    return node


def swap(name: str, index: int) -> Change:
    def change(node: ast.AST) -> ast.AST:
        block = getattr(node, name)
        block[index], block[index + 1] = block[index + 1], block[index]
        return node

    return change


class Texts:
    """The source of a module by statements: for a mutant only one of them is copied and written anew."""

    def __init__(self, tree: ast.Module) -> None:
        self.statements = tree.body
        self.texts = [ast.unparse(statement) for statement in tree.body]
        self.places = {
            node: (index, position)
            for index, statement in enumerate(tree.body)
            for position, node in enumerate(ast.walk(statement))
        }

    def mutated(self, target: ast.AST, change: Change) -> str | None:
        """The source with one node changed; None if that gives the same code again."""
        index, position = self.places[target]
        fresh: ast.AST = copy.deepcopy(self.statements[index])
        copy_of_target = list(ast.walk(fresh))[position]
        replacement = change(copy_of_target)
        if replacement is not copy_of_target:
            assert replacement is not None
            fresh = Put(copy_of_target, replacement).visit(fresh)
        text = ast.unparse(ast.fix_missing_locations(fresh))
        if text == self.texts[index]:
            return None
        return "\n".join([*self.texts[:index], text, *self.texts[index + 1 :]]) + "\n"


class Put(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Every node passes here."""
        return self.new if node is self.old else super().generic_visit(node)
