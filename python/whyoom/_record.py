"""What the records of a report have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Dict


class Record(Dict[str, Any]):
    """An object of the report: a dictionary, as the program prints it, whose fields are attributes, too.

    A field that is absent, since it is not known, is None as an attribute.
    """

    __slots__ = ()
    _records: ClassVar[Dict[str, Any]] = {}  # the record that is a field's value, or each of its values
    _tables: ClassVar[Dict[str, Any]] = {}  # the record that is each value of a dictionary

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

    if not TYPE_CHECKING:  # which would take any name then

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

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields()})
