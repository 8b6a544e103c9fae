"""Mathematical functions of device code, written once in lang so that both devices give the same bits."""

from lanewise.lang.functions import device
from lanewise.lang.overloads import overloaded
from lanewise.lang.vocabulary import floor


@overloaded()
def floor_divide(T):
    """floor_divide(x, y): x // y on floats."""

    @device
    def floor_divide(x: T, y: T) -> T:
        return floor(x / y)

    return floor_divide
