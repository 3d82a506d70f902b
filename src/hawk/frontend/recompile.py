"""Recompile a user's function so that CPython computes what the kernel computes.

The text is parsed afresh and rewritten: calls and sums of products go through a shim, and numbers
assigned on one of several paths take a type there. File name and line numbers stay, so prints,
breakpoints and tracebacks work. This is written apart from the walker, on purpose: each is the
other's check.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from hawk.frontend.source import Source, bound_names, own_nodes
from hawk.locks import compiling

if TYPE_CHECKING:
    from hawk.frontend.cpython import Shim

SHIM = "__hawk__"
INNER = "__hawk_inner__"


def recompile(
    function: FunctionType, shim: Shim, kept: tuple[str, ...] | None, *, contract: bool
) -> FunctionType:
    """The function rewritten. With `kept`, each exit gives (value, the locals named in `kept`)."""
    source = Source.of(function)
    with compiling():  # CPython 3.11 can fail to parse in several threads at once
        tree = ast.parse("".join(source.lines), source.file)
    node = next(
        each
        for each in ast.walk(tree)
        if type(each) is type(source.node)
        and (each.lineno, each.col_offset) == (source.node.lineno, source.node.col_offset)  # type: ignore[attr-defined]
    )
    rewriter = _Rewriter(contract=contract)
    inner = rewriter.function(node, kept)
    inner.name = INNER  # not its own name, which may mean a global in its body
    free = [name for name in source.cells if name != SHIM]
    outer = ast.FunctionDef(
        name="__hawk_outer__",
        args=ast.arguments(
            posonlyargs=[],
            args=[ast.arg(arg=name) for name in (SHIM, *free)],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=[inner, ast.Return(value=ast.Name(id=inner.name, ctx=ast.Load()))],
        decorator_list=[],
    )
    module = ast.Module(body=[outer], type_ignores=[])
    for each in ast.walk(module):  # Python 3.12 asks for the list, 3.13 no more, 3.11 not yet
        if isinstance(each, ast.FunctionDef) and not hasattr(each, "type_params"):
            vars(each)["type_params"] = []
    _locate(module, inner.lineno)
    # Said here, because under `python -O` it is not the shim's to say.
    level = 0 if shim.asserts else 1
    code = compile(module, source.file, "exec", dont_inherit=True, optimize=level)
    (outer_code,) = [each for each in code.co_consts if isinstance(each, CodeType)]
    (inner_code,) = [
        each
        for each in outer_code.co_consts
        if isinstance(each, CodeType) and each.co_name == INNER
    ]
    inner_code = inner_code.replace(co_name=function.__name__, co_qualname=function.__qualname__)
    shim.codes.update(_all_codes(inner_code))
    cells = {**source.cells, SHIM: CellType(shim)}
    made = FunctionType(
        inner_code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in inner_code.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _all_codes(each)


_PLACED = (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.excepthandler, ast.pattern, ast.alias)

_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def _locate(tree: ast.AST, line: int) -> None:
    """Give every node without a place that of the node it stands in."""
    stack: list[tuple[Any, tuple[int, ...]]] = [(tree, (line, 0, line, 0))]
    while stack:
        node, place = stack.pop()
        if isinstance(node, _PLACED):
            if getattr(node, "lineno", None) is None:
                for field, number in zip(_PLACE, place, strict=True):
                    setattr(node, field, number)
            place = tuple(getattr(node, field) for field in _PLACE)
        stack.extend((child, place) for child in ast.iter_child_nodes(node))


def _name(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _assigned(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)


def _shim(method: str, *args: ast.expr, at: ast.AST | None = None) -> ast.Call:
    function = ast.Attribute(value=_name(SHIM), attr=method, ctx=ast.Load())
    call = ast.Call(func=function, args=list(args), keywords=[])
    return ast.copy_location(call, at) if at is not None else call


class _Rewriter(ast.NodeTransformer):
    """Rewrites one function, and the functions inside it."""

    def __init__(self, *, contract: bool) -> None:
        self.contract = contract
        self.count = 0
        self.kept: tuple[str, ...] | None = None
        self.split = ""

    def fresh(self) -> str:
        """A name that no user has."""
        self.count += 1
        return f"__hawk_{self.count}"

    # --- functions ---

    def function(self, node: Any, kept: tuple[str, ...] | None) -> ast.FunctionDef:
        """The function (or lambda) as a `def` whose exits settle what they return."""
        if isinstance(node, ast.Lambda):
            back = ast.copy_location(ast.Return(value=node.body), node.body)
            made = ast.FunctionDef(
                name="function",
                args=node.args,
                body=[back],
                decorator_list=[],
            )
            node = ast.copy_location(made, node)
        outer = self.kept, self.split
        self.kept, self.split = kept, self.fresh()
        args = node.args
        args.defaults, args.kw_defaults = [], [None] * len(args.kwonlyargs)
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            arg.annotation = None
        node.returns, node.decorator_list = None, []
        start: ast.stmt = _assigned(self.split, ast.Constant(value=False))
        body = [start, *self._statements(node.body)]
        if kept is not None:
            body.append(
                ast.copy_location(
                    ast.Return(value=self._exit(ast.Constant(value=None))), node.body[-1]
                )
            )
        node.body = body
        self.kept, self.split = outer
        return node

    def _statements(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        results: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            results.extend(new if isinstance(new, list) else [new])
        return results

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        defaults = [self.visit(each) for each in node.args.defaults]
        keywords = [each and self.visit(each) for each in node.args.kw_defaults]
        made = self.function(node, None)
        made.args.defaults, made.args.kw_defaults = defaults, keywords
        return made

    def visit_Return(self, node: ast.Return) -> Any:
        value = ast.Constant(value=None) if node.value is None else self.visit(node.value)
        node.value = self._exit(value)
        return node

    def _exit(self, value: ast.expr) -> ast.expr:
        left = _shim("chosen", value, _name(self.split), at=value)
        if self.kept is None:
            return left
        kept: list[ast.expr] = [_name(name) for name in self.kept]
        return ast.Tuple(elts=[left, ast.Tuple(elts=kept, ctx=ast.Load())], ctx=ast.Load())

    # --- fields of objects ---

    def visit_Assign(self, node: ast.Assign) -> Any:
        if not any(map(_has_field, node.targets)):
            return self.generic_visit(node)
        whole = self.fresh()
        steps: list[ast.stmt] = [_assigned(whole, self.visit(node.value))]
        for target in node.targets:
            steps += self._bound(target, _name(whole))
        return [ast.copy_location(each, node) for each in steps]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None or not _has_field(node.target):
            return self.generic_visit(node)
        return [
            ast.copy_location(e, node) for e in self._bound(node.target, self.visit(node.value))
        ]

    def _bound(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Statements that bind a target which holds fields of objects, from left to right."""
        match target:
            case ast.Attribute():
                name = ast.Constant(value=target.attr)
                put = _shim("put", value, self.visit(target.value), name, at=target)
                return [ast.Expr(value=put)]
            case ast.Tuple() | ast.List() if _has_field(target):
                names = [self.fresh() for _ in target.elts]
                stores: list[ast.expr] = [
                    ast.Starred(ast.Name(id=name, ctx=ast.Store()), ast.Store())
                    if isinstance(each, ast.Starred)
                    else ast.Name(id=name, ctx=ast.Store())
                    for name, each in zip(names, target.elts, strict=True)
                ]
                unpack = ast.Assign(targets=[ast.Tuple(stores, ast.Store())], value=value)
                steps: list[ast.stmt] = [unpack]
                for name, each in zip(names, target.elts, strict=True):
                    inner = each.value if isinstance(each, ast.Starred) else each
                    steps += self._bound(inner, _name(name))
                return steps
            case _:
                return [ast.Assign(targets=[self.visit(target)], value=value)]

    # --- paths ---

    def _settles(self, node: ast.stmt) -> list[ast.stmt]:
        """Statements that give the numbers a statement binds a type."""
        return [
            ast.Try(
                body=[_assigned(name, _shim("settle", _name(name)))],
                handlers=[ast.ExceptHandler(type=_name("NameError"), name=None, body=[ast.Pass()])],
                orelse=[],
                finalbody=[],
            )
            for name in sorted(bound_names([node]))
            if not name.startswith("__hawk")
        ]

    def _where(self, test: ast.expr, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [ast.If(test=test, body=statements, orelse=[])] if statements else []

    def _returns(self, node: ast.stmt) -> bool:
        return any(isinstance(each, ast.Return) for each in own_nodes([node]))

    def visit_If(self, node: ast.If) -> Any:
        settles, returns, test = self._settles(node), self._returns(node), self.fresh()
        node.body, node.orelse = self._statements(node.body), self._statements(node.orelse)
        before: list[ast.stmt] = [_assigned(test, self.visit(node.test))]
        if returns:
            before.append(self._mark(_name(test)))
        node.test = _name(test)
        return [*before, node, *self._where(_shim("is_number", _name(test)), settles)]

    def _mark(self, tested: ast.expr) -> ast.stmt:
        """From here on what is returned has a type, if `tested` is a number of the kernel."""
        either = ast.IfExp(test=_shim("is_number", tested), body=tested, orelse=_name(self.split))
        return _assigned(self.split, either)

    def visit_Match(self, node: ast.Match) -> Any:
        settles, returns, subject = self._settles(node), self._returns(node), self.fresh()
        before: list[ast.stmt] = [_assigned(subject, self.visit(node.subject))]
        if returns:
            first = _shim("number_in", _name(subject))
            before.append(self._mark(first))
        node.subject = _name(subject)
        for case in node.cases:
            case.pattern = self.visit(case.pattern)
            case.body = self._statements(case.body)
            case.guard = case.guard and self.visit(case.guard)
        return [*before, node, *self._where(_shim("is_number", _name(subject)), settles)]

    def visit_For(self, node: ast.For) -> Any:
        settles, returns, values = self._settles(node), self._returns(node), self.fresh()
        ranged = _shim("is_range", _name(values))
        before: list[ast.stmt] = [_assigned(values, _shim("loop", self.visit(node.iter)))]
        if returns:
            before += self._where(
                ranged, [_assigned(self.split, _shim("settle", ast.Constant(value=True)))]
            )
        node.iter = _name(values)
        bound: list[ast.stmt] = []
        if _has_field(node.target):
            each = self.fresh()
            bound = self._bound(node.target, _name(each))
            node.target = ast.copy_location(ast.Name(id=each, ctx=ast.Store()), node.target)
        node.body = [*bound, *self._where(ranged, settles), *self._statements(node.body)]
        node.orelse = self._statements(node.orelse)
        if node.orelse:
            node.orelse = [*self._where(ranged, settles), *node.orelse]
        return [*before, *self._where(ranged, settles), node, *self._where(ranged, settles)]

    def visit_While(self, node: ast.While) -> Any:
        settles, returns = self._settles(node), self._returns(node)
        before: list[ast.stmt] = []
        if returns:
            before = [_assigned(self.split, _shim("settle", ast.Constant(value=True)))]
        node.test = self.visit(node.test)
        node.body = [*settles, *self._statements(node.body), *settles]
        node.orelse = self._statements(node.orelse)
        return [*before, *settles, node, *settles]

    # A test is kept by the shim, not by a name: a name cannot be bound in all places.

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        asked = _shim("asked", self.visit(node.test), at=node.test)
        choice = ast.IfExp(test=asked, body=self.visit(node.body), orelse=self.visit(node.orelse))
        return _shim("chosen", ast.copy_location(choice, node), _shim("answered"), at=node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        result = self.visit(node.values[0])
        for value in node.values[1:]:
            asked = _shim("asked", result, at=value)
            left = _shim("answered", at=value)
            right = _shim("chosen", self.visit(value), _shim("answered"), at=value)
            arms = (right, left) if isinstance(node.op, ast.And) else (left, right)
            result = ast.copy_location(ast.IfExp(test=asked, body=arms[0], orelse=arms[1]), node)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        node.operand = self.visit(node.operand)
        return _shim("negation", node.operand, at=node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> Any:
        node.left = self.visit(node.left)
        node.comparators = [self.visit(each) for each in node.comparators]
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot)):
            method = "contains" if isinstance(node.ops[0], (ast.In, ast.NotIn)) else "identity"
            answer = _shim(method, node.left, node.comparators[0], at=node)
            if isinstance(node.ops[0], (ast.In, ast.Is)):
                return answer
            return _shim("negation", answer, at=node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.value = self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _shim("get", node.value, ast.Constant(value=node.attr), at=node)

    def visit_MatchValue(self, node: ast.MatchValue) -> Any:
        return node  # a pattern cannot hold a call

    def visit_MatchSingleton(self, node: ast.MatchSingleton) -> Any:
        if node.value is None:
            return node
        truth = ast.Attribute(_name(SHIM), "true" if node.value else "false", ast.Load())
        return ast.copy_location(ast.MatchValue(value=truth), node)

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        node.iter = _shim("loop", self.visit(node.iter), at=node.iter)
        node.ifs = [self.visit(each) for each in node.ifs]
        return node

    # --- calls and sums ---

    def visit_Call(self, node: ast.Call) -> Any:
        node.args = [self.visit(node.func), *(self.visit(each) for each in node.args)]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        node.func = ast.Attribute(value=_name(SHIM), attr="call", ctx=ast.Load())
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        result = self.visit(spine[-1].left)
        steps: list[ast.expr] = []
        while spine:
            each = spine.pop()
            if len(spine) % 50 == 49:
                # CPython compiles calls inside calls only so deep; a long chain goes in steps.
                step = self.fresh()
                target = ast.Name(id=step, ctx=ast.Store())
                steps.append(ast.NamedExpr(target=target, value=result))
                result = _name(step)
            sums = self.contract and isinstance(each.op, (ast.Add, ast.Sub))
            fused = sums and (_is_product(each.left) or _is_product(each.right))
            right: Any = each.right
            if fused and _is_product(right):
                right = _shim("product", self.visit(right.left), self.visit(right.right), at=right)
            else:
                right = self.visit(right)
            above = spine[-1] if spine else None
            if fused:
                method = "add" if isinstance(each.op, ast.Add) else "subtract"
                result = _shim(method, result, right, at=each)
            elif (
                self.contract
                and above is not None
                and isinstance(above.op, (ast.Add, ast.Sub))
                and _is_product(each)
            ):
                result = _shim("product", result, right, at=each)
            elif isinstance(each.op, ast.Mod):
                result = _shim("remainder", result, right, at=each)
            else:
                made = ast.BinOp(left=result, op=each.op, right=right)
                result = ast.copy_location(made, each)
        if steps:
            last = ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))
            every = ast.Tuple(elts=[*steps, result], ctx=ast.Load())
            result = ast.copy_location(ast.Subscript(every, last, ast.Load()), node)
        return result

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.target, ast.Attribute):
            return self._augmented_field(node, node.target)
        sums = isinstance(node.op, (ast.Add, ast.Sub)) and _is_product(node.value)
        if not (self.contract and sums):
            node.target, node.value = self.visit(node.target), self.visit(node.value)
            return node
        target = node.target
        match target:
            case ast.Name():
                load: ast.expr = _name(target.id)
            case ast.Subscript():
                owner, owned = self._once(target.value)
                key, kept = self._once(_as_value(target.slice))
                load = ast.Subscript(owner, key, ast.Load())
                target = ast.copy_location(ast.Subscript(owned, kept, ast.Store()), target)
            case _:
                raise AssertionError(target)  # a field is a statement of its own
        product: Any = node.value
        right = _shim("product", self.visit(product.left), self.visit(product.right), at=product)
        method = "add_to" if isinstance(node.op, ast.Add) else "take_from"
        value = _shim(method, ast.copy_location(load, target), right, at=node)
        return ast.copy_location(ast.Assign(targets=[target], value=value), node)

    def _augmented_field(self, node: ast.AugAssign, target: ast.Attribute) -> list[ast.stmt]:
        """`owner.name += value` as steps: what `owner` is, what it has, what becomes of that."""
        owner, held = self.fresh(), self.fresh()
        load = ast.Attribute(_name(owner), target.attr, ast.Load())
        local = ast.Name(id=held, ctx=ast.Store())
        change = ast.copy_location(ast.AugAssign(local, node.op, node.value), node)
        put = _shim("put", _name(held), _name(owner), ast.Constant(value=target.attr), at=target)
        steps = [
            _assigned(owner, self.visit(target.value)),
            _assigned(held, ast.copy_location(load, target)),
            self.visit_AugAssign(change),
            ast.Expr(value=put),
        ]
        return [ast.copy_location(each, node) for each in steps]

    def _once(self, node: ast.expr) -> tuple[ast.expr, ast.expr]:
        """An expression that is evaluated, and one that reads the same value again."""
        name = self.fresh()
        target = ast.Name(id=name, ctx=ast.Store())
        return ast.NamedExpr(target=target, value=self.visit(node)), _name(name)


def _as_value(key: ast.expr) -> ast.expr:
    """What stands in brackets as an expression that may stand anywhere."""
    match key:
        case ast.Slice():
            none = ast.Constant(value=None)
            return _shim("cut", *(each or none for each in (key.lower, key.upper, key.step)))
        case ast.Tuple():
            return ast.Tuple(elts=[_as_value(each) for each in key.elts], ctx=ast.Load())
        case _:
            return key


def _has_field(target: ast.expr) -> bool:
    """Is a field of an object among what a target binds?"""
    match target:
        case ast.Attribute():
            return True
        case ast.Tuple() | ast.List():
            return any(map(_has_field, target.elts))
        case ast.Starred():
            return _has_field(target.value)
        case _:
            return False


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
