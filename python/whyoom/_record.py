"""The base class of a report's records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Dict


class Record(Dict[str, Any]):
    """An object of the report: the dictionary that the program prints. Its fields are also attributes.

    The attribute of an absent (unknown) field is None.
    """

    __slots__ = ()
    _records: ClassVar[Dict[str, Any]] = {}  # by field: the class of its value or of its list elements
    _tables: ClassVar[Dict[str, Any]] = {}  # by field: the class of the values of its dictionary

    def __init__(self, fields: Mapping[str, Any] = {}) -> None:
        super().__init__((name, self._read(name, value)) for name, value in fields.items())

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        if isinstance(value, dict) and name in cls._tables:
            return {key: cls._tables[name](each) for key, each in value.items()}
        record = cls._records.get(name)
        if record is None:
            return value
        if isinstance(value, list):
            return [record(each) for each in value]
        return record(value)

    if not TYPE_CHECKING:  # a type checker would accept any name

        def __getattr__(self, name: str) -> Any:
            if name in self:
                return self[name]
            if name in self._fields():
                return None
            known = ", ".join(sorted(self._fields()))
            raise AttributeError(f"a {type(self).__name__} has no field {name!r}; it has {known}")

    @classmethod
    def _fields(cls) -> Iterator[str]:
        for each in cls.__mro__:
            yield from (name for name in getattr(each, "__annotations__", ()) if not name.startswith("_"))

    def __repr__(self) -> str:
        """A line that names the record; print(dict(record)) shows everything."""
        known = [name for name in ("rank", "code", "id", "kind", "title", "module", "path", "line") if name in self]
        shown = ", ".join(f"{name}={self[name]!r}" for name in known[:4])
        return f"<{type(self).__name__} {shown or f'of {len(self)} fields'}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields()})
