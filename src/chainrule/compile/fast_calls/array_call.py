"""The call on arrays, as Python calls it: LLVM IR of one builtin for all kernels, which reads arrays where they lie.

The builtin is told what to do by records that its `self` holds, one for each way in which a method is called: how many
arguments come by place, which by keyword, which of them are arrays, and which must be a certain object, such as the
name of a link. Where a record fits, the batch goes straight to the inner loop of the kernel's ufunc. Everything else
goes to `self`, a Python callable that takes all cases.

It takes arrays of doubles or floats of at most `MAX_LEADING` leading dimensions, all the same or none; where there is
one, its length may be 1 in some. Rows must follow each other by one stride, which may be any. Where all are floats, the
loop for floats is taken, if it has been made; where some are, those are converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from chainrule.compile.fast_calls import numpy_abi as abi

MAX_INPUTS, MAX_LEADING, MAX_CORE = 8, 8, 4
"""Arrays that a record may have, and their leading dimensions; dimensions of the result for one state."""

# A record: 64-bit words. Those that end in _AT tell at which word a list begins.
(
    POSITIONAL, KEYWORDS, INPUTS, LOOP, LOOP_DATA, SINGLE_LOOP, SINGLE_LOOP_DATA, CORE, ROW_NUMBERS, MAX_ROWS,
    MAX_ROWS_LOCKED, QUATERNIONS, FINISH, SLOTS_AT, LENGTHS_AT, SHAPE_AT, STRIDES_AT, QUATERNIONS_AT,
) = range(18)  # fmt: skip
HEADER_WORDS = 18

# A slot, one for each argument in the order of the call: name of the keyword, kind, and a value.
SLOT_WORDS = 3
SAME_OBJECT, SAME_TEXT = -1, -2
"""Kinds of a slot: its value is the object that must be given, or a text that must be equal. Otherwise the kind is the
number of an input, and the value is 1 where the kernel takes its negative."""

NEGATIVE, SINGLE_SOURCE = 1, 2
"""Bits of how an array is copied: its negative, and from floats."""

# The addresses that `setup` is given a table of.
(
    ARRAY_TYPE, DOUBLE_TYPE, FLOAT_TYPE, STRING_TYPE, NEW_ARRAY, VECTORCALL, COMPARE, CALL_ONE, DECREF, SAVE_THREAD,
    RESTORE_THREAD,
) = range(11)  # fmt: skip


class _IrBuilder:
    """IR lines with fresh names; counters of loops live on the stack."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.stack: list[str] = []
        self.fresh = 0

    def name(self) -> str:
        self.fresh += 1
        return f"x{self.fresh}"

    def new(self, text: str) -> str:
        name = f"%{self.name()}"
        self.add(f"{name} = {text}")
        return name

    def add(self, text: str) -> None:
        self.lines.append(f"  {text}\n")

    def room(self, kind: str, count: int) -> str:
        """Memory on the stack."""
        name = f"%{self.name()}"
        self.stack.append(f"  {name} = alloca {kind}, i64 {count}\n")
        return name

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:\n")

    def go(self, label: str) -> None:
        self.add(f"br label %{label}")

    def unless(self, condition: str, label: str) -> None:
        """Go on if the condition holds, else to the label."""
        rest = self.name()
        self.add(f"br i1 {condition}, label %{rest}, label %{label}")
        self.label(rest)

    def when(self, condition: str, label: str) -> None:
        """Go to the label if the condition holds, else on."""
        rest = self.name()
        self.add(f"br i1 {condition}, label %{label}, label %{rest}")
        self.label(rest)

    def is_(self, relation: str, a: str, b: str | int, kind: str = "i64") -> str:
        return self.new(f"icmp {relation} {kind} {a}, {b}")

    def field(self, kind: str, base: str, place: int) -> str:
        """A field of an object, at a place in bytes."""
        return self.new(f"load {kind}, ptr {self.new(f'getelementptr i8, ptr {base}, i64 {place}')}")

    def item(self, kind: str, base: str, index: str | int) -> str:
        """An item of a list."""
        return self.new(f"load {kind}, ptr {self.new(f'getelementptr {kind}, ptr {base}, i64 {index}')}")

    def put(self, kind: str, value: str | int, base: str, index: str | int) -> None:
        self.add(f"store {kind} {value}, ptr {self.new(f'getelementptr {kind}, ptr {base}, i64 {index}')}")

    def list_of(self, record: str, place: int) -> str:
        """The address of a list of a record."""
        return self.new(f"getelementptr i64, ptr {record}, i64 {self.item('i64', record, place)}")

    @contextmanager
    def loop(self, count: str) -> Iterator[tuple[str, str]]:
        """Repeat for 0 .. count - 1; gives the counter, and the label that goes on with the next."""
        counter, name = self.room("i64", 1), self.name()
        self.add(f"store i64 0, ptr {counter}")
        self.go(f"{name}.head")
        self.label(f"{name}.head")
        i = self.new(f"load i64, ptr {counter}")
        self.unless(self.is_("slt", i, count), f"{name}.done")
        yield i, f"{name}.next"
        self.go(f"{name}.next")
        self.label(f"{name}.next")
        self.add(f"store i64 {self.new(f'add i64 {i}, 1')}, ptr {counter}")
        self.go(f"{name}.head")
        self.label(f"{name}.done")


def array_call() -> str:
    """IR of `PyObject *call(self, args, nargs, keywords)`, and of `setup`, which takes the table of addresses."""
    code = _IrBuilder()
    entry = _ArrayCall(code)
    entry.find_record()
    entry.read_inputs()
    entry.count_rows()
    entry.convert_inputs()
    entry.refuse_zero_quaternions()
    entry.compute()
    entry.leave()
    return f"""{HELPERS}@table = internal global ptr null
define void @setup(ptr %table) nounwind {{
  store ptr %table, ptr @table
  ret void
}}
define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
{"".join(code.stack)}{"".join(code.lines)}}}
"""


class _ArrayCall:
    """The parts of the call, in order. Wherever one finds something unusual, it goes to `other`."""

    def __init__(self, code: _IrBuilder) -> None:
        self.code = code
        self.sources = code.room("ptr", MAX_INPUTS + 1)
        self.steps = code.room("i64", 2 * MAX_INPUTS + 1 + MAX_CORE)
        self.inner = code.room("i64", MAX_INPUTS)
        self.dimensions = code.room("i64", MAX_INPUTS)
        self.shapes = code.room("ptr", MAX_INPUTS)
        self.modes = code.room("i32", MAX_INPUTS)
        self.copies = code.room("ptr", MAX_INPUTS)
        self.result_shape = code.room("i64", MAX_LEADING + MAX_CORE)
        self.found, self.most, self.leading = code.room("ptr", 1), code.room("i64", 1), code.room("ptr", 1)
        self.rows_at, self.doubles = code.room("i64", 1), code.room("i1", 1)
        self.table = code.new("load ptr, ptr @table")

    def address(self, place: int) -> str:
        return self.code.item("ptr", self.table, place)

    def find_record(self) -> None:
        """The first record that fits the number of arguments, the keywords and the fixed objects."""
        code = self.code
        holder = code.field("ptr", "%self", abi.FIRST_SLOT)
        code.when(code.is_("eq", holder, "null", "ptr"), "other")  # the garbage collector has cleared it
        records = code.field("ptr", holder, abi.DATA)
        named = code.room("i64", 1)
        code.add(f"store i64 0, ptr {named}")
        code.when(code.is_("eq", "%keywords", "null", "ptr"), "find")
        code.add(f"store i64 {code.field('i64', '%keywords', abi.TUPLE_SIZE)}, ptr {named}")
        code.go("find")
        code.label("find")
        self.named = code.new(f"load i64, ptr {named}")
        self.total = code.new(f"add i64 %nargs, {self.named}")
        text, compare = self.address(STRING_TYPE), self.address(COMPARE)
        with code.loop(code.item("i64", records, 0)) as (v, next_record):
            record = code.item("ptr", records, code.new(f"add i64 {v}, 1"))
            code.unless(code.is_("eq", code.item("i64", record, POSITIONAL), "%nargs"), next_record)
            code.unless(code.is_("eq", code.item("i64", record, KEYWORDS), self.named), next_record)
            slots = code.list_of(record, SLOTS_AT)
            with code.loop(self.total) as (s, next_slot):
                slot = code.new(f"getelementptr i64, ptr {slots}, i64 {code.new(f'mul i64 {s}, {SLOT_WORDS}')}")
                by_place, by_name = code.name(), code.name()
                code.add(f"br i1 {code.is_('slt', s, '%nargs')}, label %{by_place}, label %{by_name}")
                code.label(by_name)
                names = code.new(f"getelementptr i8, ptr %keywords, i64 {abi.TUPLE_ITEMS}")
                name = code.item("ptr", names, code.new(f"sub i64 {s}, %nargs"))
                code.unless(code.is_("eq", name, code.item("ptr", slot, 0), "ptr"), next_record)
                code.go(by_place)
                code.label(by_place)
                kind = code.item("i64", slot, 1)
                code.when(code.is_("sge", kind, 0), next_slot)
                given, wanted = code.item("ptr", "%args", s), code.item("ptr", slot, 2)
                code.when(code.is_("eq", given, wanted, "ptr"), next_slot)
                code.unless(code.is_("eq", kind, SAME_TEXT), next_record)
                code.unless(code.is_("eq", code.field("ptr", given, abi.TYPE), text, "ptr"), next_record)
                equal = code.new(f"call i32 {compare}(ptr {given}, ptr {wanted}, i32 2)")
                code.unless(code.is_("eq", equal, 1, "i32"), next_record)
            code.add(f"store ptr {record}, ptr {self.found}")
            code.go("found")
        code.go("other")
        code.label("found")
        self.record = code.new(f"load ptr, ptr {self.found}")
        self.inputs = code.item("i64", self.record, INPUTS)

    def read_inputs(self) -> None:
        """The address, strides and shape of each array."""
        code = self.code
        code.add(f"store i64 0, ptr {self.most}")
        code.add(f"store i1 false, ptr {self.doubles}")
        array, double, single = map(self.address, (ARRAY_TYPE, DOUBLE_TYPE, FLOAT_TYPE))
        slots, lengths = code.list_of(self.record, SLOTS_AT), code.list_of(self.record, LENGTHS_AT)
        with code.loop(self.total) as (s, next_slot):
            slot = code.new(f"getelementptr i64, ptr {slots}, i64 {code.new(f'mul i64 {s}, {SLOT_WORDS}')}")
            k = code.item("i64", slot, 1)
            code.when(code.is_("slt", k, 0), next_slot)
            given = code.item("ptr", "%args", s)
            code.unless(code.is_("eq", code.field("ptr", given, abi.TYPE), array, "ptr"), "other")
            kind = code.field("ptr", given, abi.DESCRIPTOR)
            is_double = code.is_("eq", kind, double, "ptr")
            is_single = code.is_("eq", kind, single, "ptr")
            code.unless(code.new(f"or i1 {is_double}, {is_single}"), "other")
            flags = code.field("i32", given, abi.FLAGS)
            aligned = code.new(f"and i32 {flags}, {abi.ALIGNED}")
            code.unless(code.is_("ne", aligned, 0, "i32"), "other")
            n = code.new(f"sext i32 {code.field('i32', given, abi.NDIM)} to i64")
            code.unless(code.is_("sge", n, 1), "other")
            code.unless(code.is_("sle", n, MAX_LEADING + 1), "other")
            shape, strides = code.field("ptr", given, abi.DIMENSIONS), code.field("ptr", given, abi.STRIDES)
            last = code.new(f"sub i64 {n}, 1")
            length = code.item("i64", lengths, k)
            code.unless(code.is_("eq", code.item("i64", shape, last), length), "other")
            size = code.new(f"select i1 {is_double}, i64 8, i64 4")
            code.put("ptr", code.field("ptr", given, abi.DATA), self.sources, k)
            code.put("i64", n, self.dimensions, k)
            code.put("ptr", shape, self.shapes, k)
            some = code.new(f"or i1 {is_double}, {code.new(f'load i1, ptr {self.doubles}')}")
            code.add(f"store i1 {some}, ptr {self.doubles}")
            kind = code.new(f"select i1 {is_double}, i32 0, i32 {SINGLE_SOURCE}")
            sign = code.new(f"trunc i64 {code.item('i64', slot, 2)} to i32")
            code.put("i32", code.new(f"or i32 {kind}, {sign}"), self.modes, k)
            self._strides(n, shape, strides, size, length, k, flags)
            self._keep_longest(n, shape, next_slot)
            code.add(f"store i64 {n}, ptr {self.most}")
            code.add(f"store ptr {shape}, ptr {self.leading}")
        self.is_double = code.new(f"load i1, ptr {self.doubles}")
        loops = [code.item("ptr", self.record, place) for place in (LOOP, SINGLE_LOOP)]
        self.loop = code.new(f"select i1 {self.is_double}, ptr {loops[0]}, ptr {loops[1]}")
        code.when(code.is_("eq", self.loop, "null", "ptr"), "other")
        self.size = code.new(f"select i1 {self.is_double}, i64 8, i64 4")

    def _keep_longest(self, n: str, shape: str, otherwise: str) -> None:
        """Go on if an array has more dimensions than those before it, or as many where theirs was a single row."""
        code = self.code
        most, longer = code.new(f"load i64, ptr {self.most}"), code.name()
        code.when(code.is_("sgt", n, most), longer)
        code.unless(code.is_("eq", n, most), otherwise)
        code.unless(code.is_("eq", n, 2), otherwise)
        rows = code.item("i64", code.new(f"load ptr, ptr {self.leading}"), 0)
        code.unless(code.is_("eq", rows, 1), otherwise)
        code.go(longer)
        code.label(longer)

    def _strides(self, n: str, shape: str, strides: str, size: str, length: str, k: str, flags: str) -> None:
        """The strides from row to row and from number to number."""
        code = self.code
        strided, done = code.name(), code.name()
        contiguous = code.new(f"and i32 {flags}, {abi.CONTIGUOUS}")
        code.put("i64", code.new(f"mul i64 {size}, {length}"), self.steps, k)
        code.put("i64", size, self.inner, k)
        code.unless(code.is_("ne", contiguous, 0, "i32"), strided)
        code.unless(code.is_("eq", n, 1), done)
        code.put("i64", 0, self.steps, k)
        code.go(done)
        code.label(strided)
        code.put("i64", 0, self.steps, k)
        code.put("i64", code.item("i64", strides, code.new(f"sub i64 {n}, 1")), self.inner, k)
        code.when(code.is_("eq", n, 1), done)
        code.put("i64", code.item("i64", strides, code.new(f"sub i64 {n}, 2")), self.steps, k)
        with code.loop(code.new(f"sub i64 {n}, 2")) as (j, _):
            behind = code.new(f"add i64 {j}, 1")
            step = code.new(f"mul i64 {code.item('i64', strides, behind)}, {code.item('i64', shape, behind)}")
            code.unless(code.is_("eq", code.item("i64", strides, j), step), "other")
        code.go(done)
        code.label(done)

    def count_rows(self) -> None:
        """The number of rows: the leading dimensions of all arrays are the same, or the array is one row."""
        code = self.code
        most, leading = code.new(f"load i64, ptr {self.most}"), code.new(f"load ptr, ptr {self.leading}")
        self.leading_count = code.new(f"sub i64 {most}, 1")
        with code.loop(self.inputs) as (k, next_input):
            n, shape = code.item("i64", self.dimensions, k), code.item("ptr", self.shapes, k)
            code.when(code.is_("eq", n, 1), next_input)
            code.unless(code.is_("eq", n, most), "other")
            with code.loop(self.leading_count) as (j, _):
                different = code.name()
                code.unless(code.is_("eq", code.item("i64", shape, j), code.item("i64", leading, j)), different)
                checked = code.name()
                code.go(checked)
                code.label(different)
                code.unless(code.is_("eq", n, 2), "other")
                code.unless(code.is_("eq", code.item("i64", shape, j), 1), "other")
                code.put("i64", 0, self.steps, k)
                code.put("i64", 1, self.dimensions, k)
                code.go(checked)
                code.label(checked)
        limit = code.item("i64", self.record, MAX_ROWS)
        code.add(f"store i64 1, ptr {self.rows_at}")
        with code.loop(self.leading_count) as (j, _):
            d = code.item("i64", leading, j)
            code.unless(code.is_("sge", d, 1), "other")
            code.unless(code.is_("sle", d, limit), "other")  # so that the product stays in range
            rows = code.new(f"mul i64 {code.new(f'load i64, ptr {self.rows_at}')}, {d}")
            code.unless(code.is_("sle", rows, limit), "other")
            code.add(f"store i64 {rows}, ptr {self.rows_at}")
            code.put("i64", d, self.result_shape, j)
        self.rows = code.new(f"load i64, ptr {self.rows_at}")

    def _rows_of(self, k: str) -> str:
        """The number of rows of one array: one where it serves all rows of the others."""
        n = self.code.item("i64", self.dimensions, k)
        return self.code.new(f"select i1 {self.code.is_('eq', n, 1)}, i64 1, i64 {self.rows}")

    def convert_inputs(self) -> None:
        """Copies of the arrays whose negative is wanted, and of floats among doubles."""
        code = self.code
        lengths = code.list_of(self.record, LENGTHS_AT)
        with code.loop(self.inputs) as (k, _):
            code.put("ptr", "null", self.copies, k)
        with code.loop(self.inputs) as (k, next_input):
            mode = code.item("i32", self.modes, k)
            negative = code.new(f"and i32 {mode}, {NEGATIVE}")
            needed = code.new(f"select i1 {self.is_double}, i32 {mode}, i32 {negative}")
            code.when(code.is_("eq", needed, 0, "i32"), next_input)
            length, rows = code.item("i64", lengths, k), self._rows_of(k)
            row_bytes = code.new(f"mul i64 {length}, {self.size}")
            copy = code.new(f"call ptr @malloc(i64 {code.new(f'mul i64 {row_bytes}, {rows}')})")
            code.when(code.is_("eq", copy, "null", "ptr"), "give_up")
            code.put("ptr", copy, self.copies, k)
            source, outer = code.item("ptr", self.sources, k), code.item("i64", self.steps, k)
            inner = code.item("i64", self.inner, k)
            code.add(
                f"call void @convert(ptr {source}, i64 {outer}, i64 {inner}, i64 {rows}, i64 {length}, i32 {mode}, "
                f"i1 {self.is_double}, ptr {copy})"
            )
            code.put("ptr", copy, self.sources, k)
            code.put("i64", self.size, self.inner, k)
            is_one = code.is_("eq", code.item("i64", self.dimensions, k), 1)
            code.put("i64", code.new(f"select i1 {is_one}, i64 0, i64 {row_bytes}"), self.steps, k)

    def refuse_zero_quaternions(self) -> None:
        """The method says which one is zero."""
        code = self.code
        places = code.list_of(self.record, QUATERNIONS_AT)
        with code.loop(code.item("i64", self.record, QUATERNIONS)) as (p, _):
            twice = code.new(f"mul i64 {p}, 2")
            k, place = code.item("i64", places, twice), code.item("i64", places, code.new(f"add i64 {twice}, 1"))
            inner, outer = code.item("i64", self.inner, k), code.item("i64", self.steps, k)
            first = code.new(f"mul i64 {place}, {inner}")
            source = code.new(f"getelementptr i8, ptr {code.item('ptr', self.sources, k)}, i64 {first}")
            with code.loop(self._rows_of(k)) as (r, _):
                at = code.new(f"getelementptr i8, ptr {source}, i64 {code.new(f'mul i64 {r}, {outer}')}")
                doubles, singles, good = code.name(), code.name(), code.name()
                code.add(f"br i1 {self.is_double}, label %{doubles}, label %{singles}")
                for label, kind in ((doubles, "double"), (singles, "float")):
                    code.label(label)
                    self._refuse_zero(kind, at, inner)
                    code.go(good)
                code.label(good)

    def _refuse_zero(self, kind: str, at: str, inner: str) -> None:
        """Four numbers whose squares add up to zero, in the precision of the loop."""
        code, total = self.code, "0.0"
        for _ in range(4):
            x = code.new(f"load {kind}, ptr {at}")
            total = code.new(f"fadd {kind} {total}, {code.new(f'fmul {kind} {x}, {x}')}")
            at = code.new(f"getelementptr i8, ptr {at}, i64 {inner}")
        code.when(code.new(f"fcmp oeq {kind} {total}, 0.0"), "give_up")

    def compute(self) -> None:
        """A new array, filled by the inner loop; without Python's lock where that takes long."""
        code = self.code
        shape, strides = code.list_of(self.record, SHAPE_AT), code.list_of(self.record, STRIDES_AT)
        core = code.item("i64", self.record, CORE)
        behind = code.new(f"add i64 {self.inputs}, 1")
        with code.loop(self.inputs) as (k, _):
            code.put("i64", code.item("i64", self.inner, k), self.steps, code.new(f"add i64 {behind}, {k}"))
        behind = code.new(f"add i64 {behind}, {self.inputs}")
        with code.loop(core) as (j, _):
            at = code.new(f"add i64 {self.leading_count}, {j}")
            code.put("i64", code.item("i64", shape, j), self.result_shape, at)
            stride = code.new(f"mul i64 {code.item('i64', strides, j)}, {self.size}")
            code.put("i64", stride, self.steps, code.new(f"add i64 {behind}, {j}"))
        dimensions = code.new(f"trunc i64 {code.new(f'add i64 {self.leading_count}, {core}')} to i32")
        array, new = self.address(ARRAY_TYPE), self.address(NEW_ARRAY)
        kind = code.new(f"select i1 {self.is_double}, i32 {abi.DOUBLE}, i32 {abi.FLOAT}")
        result = code.new(
            f"call ptr {new}(ptr {array}, i32 {dimensions}, ptr {self.result_shape}, i32 {kind}, ptr null, ptr null, "
            "i32 0, i32 0, ptr null)"
        )
        code.when(code.is_("eq", result, "null", "ptr"), "failed")
        code.put("ptr", code.field("ptr", result, abi.DATA), self.sources, self.inputs)
        row_bytes = code.new(f"mul i64 {code.item('i64', self.record, ROW_NUMBERS)}, {self.size}")
        code.put("i64", row_bytes, self.steps, self.inputs)
        reserves = [code.item("ptr", self.record, place) for place in (LOOP_DATA, SINGLE_LOOP_DATA)]
        data = code.new(f"select i1 {self.is_double}, ptr {reserves[0]}, ptr {reserves[1]}")
        finish = code.item("ptr", self.record, FINISH)
        run = f"call void {self.loop}(ptr {self.sources}, ptr {self.rows_at}, ptr {self.steps}, ptr {data})"
        code.when(code.is_("sgt", self.rows, code.item("i64", self.record, MAX_ROWS_LOCKED)), "unlocked")
        code.add(run)
        code.go("computed")
        code.label("unlocked")
        state = code.new(f"call ptr {self.address(SAVE_THREAD)}()")
        code.add(run)
        code.add(f"call void {self.address(RESTORE_THREAD)}(ptr {state})")
        code.go("computed")
        code.label("computed")
        self._release()
        code.when(code.is_("ne", finish, "null", "ptr"), "finish")
        code.add(f"ret ptr {result}")
        code.label("finish")
        answer = code.new(f"call ptr {self.address(CALL_ONE)}(ptr {finish}, ptr {result})")
        code.add(f"call void {self.address(DECREF)}(ptr {result})")
        code.add(f"ret ptr {answer}")

    def _release(self) -> None:
        self.code.add(f"call void @release(ptr {self.copies}, i64 {self.inputs})")

    def leave(self) -> None:
        """The other ways out."""
        code = self.code
        code.label("failed")
        self._release()
        code.add("ret ptr null")
        code.label("give_up")
        self._release()
        code.go("other")
        code.label("other")
        other = code.new(f"call ptr {self.address(VECTORCALL)}(ptr %self, ptr %args, i64 %nargs, ptr %keywords)")
        code.add(f"ret ptr {other}")


HELPERS = f"""declare ptr @malloc(i64)
declare void @free(ptr)
define internal void @release(ptr %copies, i64 %count) nounwind {{
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %done
body:
  %at = getelementptr ptr, ptr %copies, i64 %k
  %copy = load ptr, ptr %at
  call void @free(ptr %copy)
  %next = add i64 %k, 1
  br label %head
done:
  ret void
}}
define internal void @convert(
  ptr %from, i64 %outer, i64 %inner, i64 %rows, i64 %cols, i32 %mode, i1 %to.double, ptr %to
) nounwind {{
entry:
  %negative.bit = and i32 %mode, {NEGATIVE}
  %negative = icmp ne i32 %negative.bit, 0
  %single.bit = and i32 %mode, {SINGLE_SOURCE}
  %single = icmp ne i32 %single.bit, 0
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %r1, %end ]
  %more.rows = icmp slt i64 %r, %rows
  br i1 %more.rows, label %start, label %done
start:
  %ro = mul i64 %r, %outer
  %line = getelementptr i8, ptr %from, i64 %ro
  %rt = mul i64 %r, %cols
  br label %col
col:
  %c = phi i64 [ 0, %start ], [ %c1, %next ]
  %more = icmp slt i64 %c, %cols
  br i1 %more, label %body, label %end
body:
  %co = mul i64 %c, %inner
  %at = getelementptr i8, ptr %line, i64 %co
  br i1 %single, label %narrow, label %wide
narrow:
  %f = load float, ptr %at
  %widened = fpext float %f to double
  br label %put
wide:
  %d = load double, ptr %at
  br label %put
put:
  %x = phi double [ %widened, %narrow ], [ %d, %wide ]
  %minus = fneg double %x
  %y = select i1 %negative, double %minus, double %x
  %place = add i64 %rt, %c
  br i1 %to.double, label %as.double, label %as.single
as.double:
  %into = getelementptr double, ptr %to, i64 %place
  store double %y, ptr %into
  br label %next
as.single:
  %into.single = getelementptr float, ptr %to, i64 %place
  %z = fptrunc double %y to float
  store float %z, ptr %into.single
  br label %next
next:
  %c1 = add i64 %c, 1
  br label %col
end:
  %r1 = add i64 %r, 1
  br label %row
done:
  ret void
}}
"""
