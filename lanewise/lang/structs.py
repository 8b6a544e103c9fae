"""`@struct`: a class of annotated fields becomes one definition that host and device share."""

from __future__ import annotations

import inspect
from typing import Any

from lanewise.errors import LanewiseError
from lanewise.lang.types import StructType, TupleType, Type, as_type


def struct(cls: type[Any]) -> StructType:
    """Make a StructType of a class whose body is `name: type` lines; its docstring becomes the documentation.

    The result is the type itself: annotate with it (`Ptr[Particle]`), allocate it (`device.zeros(Particle, 100)`),
    read its bytes on the host through `Particle.dtype`.
    """
    try:
        annotations = inspect.get_annotations(cls, eval_str=True)
    except Exception as error:
        raise LanewiseError(f"struct {cls.__name__}: a field's type cannot be told: {error}") from None
    if not annotations:
        raise LanewiseError(f"struct {cls.__name__} has no fields; write one a line, such as `x: f32`")
    fields: dict[str, Type] = {}
    for field, annotation in annotations.items():
        if field in vars(cls):
            raise LanewiseError(
                f"struct {cls.__name__}: field {field} has a default; fields start as what memory holds"
            )
        field_type = as_type(annotation)
        if field_type is None or isinstance(field_type, TupleType) or field_type.size == 0:
            raise LanewiseError(
                f"struct {cls.__name__}: field {field} is {annotation!r}; a field is a scalar, a pointer, a fixed "
                "array or another struct"
            )
        fields[field] = field_type
    return StructType(cls.__name__, fields, inspect.cleandoc(cls.__doc__ or ""))
