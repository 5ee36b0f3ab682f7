"""Letters for pictures: the 9x15 bitmap font of the X Window System.

The font (font-misc-misc) says of itself: "Public domain font. Share and enjoy." Printable ASCII and a few signs, one
bit per pixel, 9 pixels wide and 15 high, one glyph after the other, compressed.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from base64 import b85decode
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

WIDTH: Final = 9
HEIGHT: Final = 15

_FONTS: Final = (
    "DejaVuSans.ttf",
    "NotoSans-Regular.ttf",
    "NotoSansCJK-Regular.ttc",
    "wqy-microhei.ttc",
    "Arial Unicode.ttf",
    "PingFang.ttc",
    "Hiragino Sans GB.ttc",
    "segoeui.ttf",
    "msyh.ttc",
    "NotoSansDevanagari-Regular.ttf",
)
"""Fonts of Linux, macOS and Windows that have many scripts; Pillow looks for them where the system has its fonts."""
_POINTS: Final = 12
_CHARACTERS: Final = "".join(map(chr, range(32, 127))) + "°µ\xd7"
_PLAIN: Final = str.maketrans("\u2212\u2013\u2014\u2019\xb7μøØłŁ", "---'.µoOlL") | {ord("ß"): "ss"}
_PACKED: Final = (
    "c-n1L%}x|S5bmC7*dE-lJrfUWLfGDA648tM1k21a3A-9&ICwSi2A&L>4K~9ZCdPyfCyq#nPvK#sNKCx>1S|0YR>J`kLahFo-T|yzS65ek_0?"
    "C6&`qPn!AL|LA>wFH;1O{>CJY)`x;h#5%$X1R;hZZD`{97fGxmDNA#t4U`U7=Ft`qZNyS|@iA9Cf8CCV8c2dk=#LUnn=pt?E}$fJRU?{?Fp9"
    "xuHDsFeu>-Rz-VFCKw4M(DPUHVksk7^4)b=yQc6&~6&@d{_5OW@m`TVe)kNFw(Z7Bd##m2m;cMVX!*q(R^(JF5UcJBwn;3NkA`j^FOil411w"
    "JQI6VJf{>kJ3&UqGlPQb_>xDu699XK^9<Y#zs<YPNVi{boN-hD0Gy-fgGVL2MS0)ALNN}KAnyGpc00<)IuB+DaFnFDOe9BoxH&131KUXkKJ-"
    "$Jc_0~T7B<-5!2eIS|`Y>$ZNe00H-ZRZhHlmJ-xzttv02>4K%EAE88oXK>D~IgeyG&&sJ^hAb#6oHY=#Dve7j=%b+Y07qoS0>?)tdo!rJMK2"
    ">GOyCeaNioA%T}2^;^SlVL%HQN(mN51K98`R30=P3dF33dqT9qu?@lZ&ty?93O0rnwBZ%nz?ZDpFIK=vH9v+PfI*U$KjZ8~k&!)k0O$VWBW~"
    "De@k7q;`pmGwhe;eoB?8|fq0LBii%+Z8G#e3Diw5haW-=;8Y^faLFi+9{ts;@aLvicI9aFL$H}^Dh$aUvb^0WEKMu4KG+K~IZC<*tfZ)^nY*"
    "Rx*^(rln{o^aMt&}_tc)@|0Pd*+b=umQM#XC-Y^0me0Lz<yxeUz6plpksO4`?`xa-p8hhZGK>jyb2}f{psp_+SFsRj*GH3<R}%4gC{4&61zX"
    "{!Ek|%LNMMJpNjH#1#IAn{WlP2D+))lU?aMKIcc$T>qujtriC`-C`nq<hJ-=$WjaT5>mV(kX5FQEku=BVx8c&XHWr|F3?B!4gwz#!YE}voc1"
    "3#FtgF6bmB0=9^=o6tJMg*Rkb)NW!S`dMNh(FV+|qmT52UT!?E"
)


@cache
def _glyphs() -> NDArray[np.bool_]:
    packed = np.frombuffer(zlib.decompress(b85decode(_PACKED)), np.uint8)
    pixels = np.unpackbits(packed)[: len(_CHARACTERS) * HEIGHT * WIDTH]
    return pixels.reshape(len(_CHARACTERS), HEIGHT, WIDTH).astype(np.bool_)


def draw(text: str) -> NDArray[np.bool_]:
    """Return the text as one line of pixels; Pillow draws letters that the font lacks, or they become plainer ones."""
    if not text:
        return np.zeros((HEIGHT, 0), np.bool_)
    # No font has control characters and halves of surrogate pairs, and Pillow fails at them.
    text = "".join(character if character.isprintable() else "?" for character in text)
    if not set(text) <= set(_CHARACTERS):
        if (drawn := _draw_in_any_script(text)) is not None:
            return drawn
        text = "".join(map(_plainer, re.sub("[⁺⁻⁰¹²³⁴-⁹]+", r"^\g<0>", text)))
    glyphs = _glyphs()[[_CHARACTERS.index(character) for character in text]]
    return np.ascontiguousarray(glyphs.transpose(1, 0, 2)).reshape(HEIGHT, -1)


def _plainer(character: str) -> str:
    """Return the character, or what the font has of it: a letter without marks, a digit on the line, else ``?``.

    >>> "".join(map(_plainer, "Höhe in m², 東"))
    'Hohe in m2, ?'
    """
    if character in _CHARACTERS:
        return character
    parts = unicodedata.normalize("NFKD", character).translate(_PLAIN)
    return "".join(part if part in _CHARACTERS else "?" for part in parts if not unicodedata.combining(part))


def _draw_in_any_script(text: str) -> NDArray[np.bool_] | None:
    """Return the text in the installed font that has most of its letters; None without Pillow or such a font."""
    fonts = _fonts()
    if not fonts:
        return None

    def missing(font: Any) -> int:
        nothing = bytes(font.getmask("\U0010ffff"))
        return sum(bytes(font.getmask(character)) == nothing for character in set(text))

    font = min(fonts, key=missing)
    left, _, right, bottom = font.getbbox(text, "1")
    from PIL import Image, ImageDraw

    image = Image.new("1", (max(1, right - min(0, left)), HEIGHT))
    # The line gets the height of the bitmap font, whatever room the script takes.
    ImageDraw.Draw(image).text((-min(0, left), min(1, HEIGHT - bottom)), text, 255, font)
    return np.asarray(image)


@cache
def _fonts() -> tuple[Any, ...]:
    try:
        from PIL import ImageFont
    except ImportError:
        return ()
    fonts = []
    for name in _FONTS:
        try:
            fonts.append(ImageFont.truetype(name, _POINTS))
        except OSError:
            continue
    return tuple(fonts)
