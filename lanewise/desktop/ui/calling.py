"""How constructors of the toolkit are called: what does not fit them is said as all other mistakes are."""

from __future__ import annotations

import inspect
from typing import Any

from lanewise.desktop.ui.checking import nearest
from lanewise.errors import ArgumentError

_WITHOUT_NAMES = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
"""Arguments that are known by their place."""


class Told(type):
    """The class of classes whose constructors say in one sentence what is too much, missing or not known."""

    @property
    def __signature__(cls) -> inspect.Signature:
        """What the constructor takes, for `help` and for editors, which would see `__call__` alone."""
        whole = inspect.signature(inspect.getattr_static(cls, "__init__"))
        return whole.replace(parameters=list(whole.parameters.values())[1:])

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        signature = inspect.signature(cls)
        known = signature.parameters
        if not any(each.kind == each.VAR_KEYWORD for each in known.values()):
            for name in kwargs:
                if name not in known:
                    named = [each.name for each in known.values() if each.kind == each.KEYWORD_ONLY]
                    raise ArgumentError(f"{cls.__name__} has no {name!r}; {nearest(name, named)}")
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            places = [each for each in known.values() if each.kind in _WITHOUT_NAMES]
            words = [f"{'*' * (each.kind == each.VAR_POSITIONAL)}{each.name}" for each in places]
            by_name = [each for each in known.values() if each.kind == each.KEYWORD_ONLY]
            words += [f"{each.name}=..." for each in by_name if each.default is each.empty]
            written = f"write ui.{cls.__name__}({', '.join(words)}), the rest by name"
            raise ArgumentError(f"{cls.__name__}: {error}; {written}") from None
        return super().__call__(*args, **kwargs)
