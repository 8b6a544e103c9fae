"""Text fields on the device: what keys, characters and the pointer do to text, caret, selection and clipboard."""

from lanewise.desktop import numbers
from lanewise.desktop.limits import CLIPBOARD_CODES
from lanewise.desktop.look_controls import FIELD_PADDING
from lanewise.desktop.state import Desk
from lanewise.desktop.text import caret_at, width_of
from lanewise.lang import Ptr, device, f32, u32

FIRST_PRINTED = 32
LINE_FEED, CARRIAGE_RETURN = 10, 13


@device(inline=False)
def remove_codes(desk: Ptr[Desk], me: u32, start: u32, end: u32):
    """Take code points out of a field's text; the caret is where they were."""
    widget = desk.widgets + me
    codes = desk.texts + widget.text
    for k in range(end, widget.length):
        codes[start + k - end] = codes[k]
    widget.length -= end - start
    widget.text_version += 1
    widget.caret = start
    widget.anchor = start


@device
def remove_selection(desk: Ptr[Desk], me: u32) -> bool:
    """Take out what is selected; False if nothing is."""
    widget = desk.widgets + me
    if widget.caret == widget.anchor:
        return False
    remove_codes(desk, me, min(widget.caret, widget.anchor), max(widget.caret, widget.anchor))
    return True


@device(inline=False)
def insert_code(desk: Ptr[Desk], me: u32, code: u32) -> bool:
    """Put a character in place of the selection, or at the caret; False if there is no room for it, or it is none.

    Some displays tell of keys as characters, too: to them Ctrl+A types 1, which must leave the selection alone.
    """
    widget = desk.widgets + me
    if code < FIRST_PRINTED or code == 127:
        return False
    remove_selection(desk, me)
    if widget.length >= widget.capacity:
        return False
    codes = desk.texts + widget.text
    at = widget.length
    while at > widget.caret:
        codes[at] = codes[at - 1]
        at -= 1
    codes[at] = code
    widget.length += 1
    widget.text_version += 1
    widget.caret = at + 1
    widget.anchor = at + 1
    return True


@device
def copy_selection(desk: Ptr[Desk], me: u32):
    """Put what is selected on the clipboard."""
    widget = desk.widgets + me
    start = min(widget.caret, widget.anchor)
    count = min(max(widget.caret, widget.anchor) - start, CLIPBOARD_CODES)
    if count > 0 and widget.flags & numbers.SECRET == 0:
        for k in range(count):
            desk.clipboard[k] = desk.texts[widget.text + start + k]
        desk.frame.clipboard_length = count
        desk.frame.copies += 1


@device
def paste(desk: Ptr[Desk], me: u32) -> bool:
    """Put what is on the clipboard in place of the selection; gives whether the text is another.

    Ends of lines and tabs, which a field does not have, part words: each is a space, but for those at the end.
    """
    count = desk.frame.clipboard_length
    while count > 0 and desk.clipboard[count - 1] < FIRST_PRINTED:
        count -= 1
    changed = False
    for k in range(count):
        code = max(desk.clipboard[k], FIRST_PRINTED)
        ends_line = desk.clipboard[k] == LINE_FEED and k > 0 and desk.clipboard[k - 1] == CARRIAGE_RETURN
        if not ends_line and insert_code(desk, me, code):
            changed = True
    return changed


@device
def word_edge(desk: Ptr[Desk], me: u32, start: u32, forward: bool) -> u32:
    """Where the word that holds or follows a place ends, or where the one before it begins."""
    widget = desk.widgets + me
    codes = desk.texts + widget.text
    at = start
    if forward:
        while at < widget.length and codes[at] == FIRST_PRINTED:
            at += 1
        while at < widget.length and codes[at] != FIRST_PRINTED:
            at += 1
    else:
        while at > 0 and codes[at - 1] == FIRST_PRINTED:
            at -= 1
        while at > 0 and codes[at - 1] != FIRST_PRINTED:
            at -= 1
    return at


@device
def select_word(desk: Ptr[Desk], me: u32):
    """Select the word that the caret is in, or at the edge of; between spaces, these."""
    widget = desk.widgets + me
    codes = desk.texts + widget.text
    first, last = widget.caret, widget.caret
    word_behind = last < widget.length and codes[last] != FIRST_PRINTED
    word_ahead = first > 0 and codes[first - 1] != FIRST_PRINTED
    in_word = word_behind or word_ahead
    while last < widget.length and (codes[last] != FIRST_PRINTED) == in_word:
        last += 1
    while first > 0 and (codes[first - 1] != FIRST_PRINTED) == in_word:
        first -= 1
    widget.anchor = first
    widget.caret = last


@device
def move_caret(desk: Ptr[Desk], me: u32, to: u32, selecting: bool):
    """Put the caret somewhere; the selection begins where it was, or ends."""
    widget = desk.widgets + me
    widget.caret = min(to, widget.length)
    if not selecting:
        widget.anchor = widget.caret


@device(inline=False)
def edit_key(desk: Ptr[Desk], me: u32, code: u32, modifiers: u32) -> bool:
    """What a key does in a field; gives whether the text is another."""
    widget = desk.widgets + me
    shift = modifiers & numbers.SHIFT != 0
    command = modifiers & (numbers.CONTROL | numbers.META) != 0
    selected = widget.caret != widget.anchor
    if code == numbers.KEY_LEFT:
        to = widget.caret - min(widget.caret, 1)
        if selected and not shift:
            to = min(widget.caret, widget.anchor)
        elif command:
            to = word_edge(desk, me, widget.caret, False)
        move_caret(desk, me, to, shift)
    elif code == numbers.KEY_RIGHT:
        to = widget.caret + 1
        if selected and not shift:
            to = max(widget.caret, widget.anchor)
        elif command:
            to = word_edge(desk, me, widget.caret, True)
        move_caret(desk, me, to, shift)
    elif code == numbers.KEY_HOME:
        move_caret(desk, me, 0, shift)
    elif code == numbers.KEY_END:
        move_caret(desk, me, widget.length, shift)
    elif code == numbers.KEY_BACKSPACE:
        if remove_selection(desk, me):
            return True
        if widget.caret > 0:
            start = word_edge(desk, me, widget.caret, False) if command else widget.caret - 1
            remove_codes(desk, me, start, widget.caret)
            return True
    elif code == numbers.KEY_DELETE:
        if remove_selection(desk, me):
            return True
        if widget.caret < widget.length:
            end = word_edge(desk, me, widget.caret, True) if command else widget.caret + 1
            remove_codes(desk, me, widget.caret, end)
            return True
    elif command:
        letter = code | 32  # the same key with Shift or without
        if letter == LETTER_A:
            widget.anchor = 0
            widget.caret = widget.length
        elif letter == LETTER_C:
            copy_selection(desk, me)
        elif letter == LETTER_X and widget.flags & numbers.SECRET == 0:  # whose text would be lost
            copy_selection(desk, me)
            return remove_selection(desk, me)
        elif letter == LETTER_V:
            return paste(desk, me)
    return False


LETTER_A, LETTER_C, LETTER_V, LETTER_X = map(ord, "acvx")


@device(inline=False)
def point_caret(desk: Ptr[Desk], me: u32, x: f32, selecting: bool):
    """Put the caret where the pointer is."""
    widget = desk.widgets + me
    inside = x - f32(widget.x) - FIELD_PADDING + widget.scroll_x
    secret = widget.flags & numbers.SECRET != 0
    codes = desk.texts + widget.text
    move_caret(desk, me, caret_at(desk.typeface, codes, widget.length, widget.font_size, secret, inside), selecting)


@device(inline=False)
def show_caret(desk: Ptr[Desk], me: u32):
    """Scroll a field so that its caret is seen."""
    widget = desk.widgets + me
    room = f32(widget.w) - 2.0 * FIELD_PADDING
    secret = widget.flags & numbers.SECRET != 0
    codes = desk.texts + widget.text
    caret = width_of(desk.typeface, codes, 0, widget.caret, widget.font_size, secret)
    whole = width_of(desk.typeface, codes, 0, widget.length, widget.font_size, secret)
    scroll = min(widget.scroll_x, max(whole - room, 0.0))
    scroll = max(scroll, caret - room)
    widget.scroll_x = max(min(scroll, caret), 0.0)
    widget.seen_version = widget.text_version


@device
def follow_text(desk: Ptr[Desk], me: u32, focused: bool):
    """A field whose text is another one, whoever wrote it, shows its caret, or its beginning while others are typed in.

    Then the caret is brought into view when the focus comes, since it was not.
    """
    widget = desk.widgets + me
    if widget.seen_version != widget.text_version:
        if focused:
            show_caret(desk, me)
        else:
            widget.scroll_x = 0.0
