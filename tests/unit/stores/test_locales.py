"""Paths and members with letters beyond ASCII, where the locale is not one of UTF-8."""

import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

import blizzarr
from blizzarr.stores import LocalStore

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("localedef") is None, reason="locales are made by localedef of Linux"
)

_PROGRAM = """
import os, pickle, sys
import numpy as np
import blizzarr
from blizzarr.cli.app import main
from blizzarr.copying.array import source_state
from blizzarr.stores import LocalStore

assert sys.getfilesystemencoding() != "utf-8"
directory = os.environ["PLACE"]  # as Python decodes it
(name,) = os.listdir(directory)
found = os.path.join(directory, name)

# What others wrote is found, under the names that were given.
group = blizzarr.open(found, mode="a")
assert sorted(group) == ["h\\xf6he", "\\u6df1\\u3055"], sorted(group)
assert sorted(LocalStore(directory, links="within-root").list("")) == sorted(LocalStore(directory).list(""))
array = group["h\\xf6he"]
assert array[:].tolist() == [0, 1, 2, 3]
before = source_state(array, None)
array[0] = 9
assert source_state(array, None) != before  # or an interrupted copy would keep what has changed since
array.append(np.arange(2))
array.resize((5,))
assert blizzarr.open(found, path="h\\xf6he").shape == (5,)
assert blizzarr.open(os.path.join(found, os.fsdecode("h\\xf6he".encode()))).shape == (5,)
assert blizzarr.check(found).ok, blizzarr.check(found)
confined = blizzarr.open(LocalStore(found, links="within-root"), mode="r+")
confined["h\\xf6he"].append(np.arange(3))
assert blizzarr.check(LocalStore(found, links="within-root")).ok
assert confined["h\\xf6he"].nbytes_stored() == array.nbytes_stored() > 0
group.create_array("n\\xe4he/\\u5c71", data=np.arange(3))
for command in (["tree", found], ["info", found + os.fsdecode("/h\\xf6he".encode())], ["copy", found, found + ".zip"]):
    try:
        main(command)
    except SystemExit as ended:
        assert not ended.code, command
del group["\\u6df1\\u3055"]
sys.stdout.flush()
sys.stdout.buffer.write(b"\\n-----" + pickle.dumps(array.store))
"""


@pytest.mark.parametrize("locale", ["C", "latin"])
def test_a_locale_that_is_not_utf8(tmp_path, locale):
    place = tmp_path / "Müller"
    group = blizzarr.create_group(place / "données.zarr")
    group.create_array("höhe", data=np.arange(4), chunks=(2,))
    group.create_array("深さ", data=np.arange(4), chunks=(2,))
    made = tmp_path / "locales" / locale
    made.parent.mkdir()
    if locale != "C" and subprocess.run(["localedef", "-i", "en_US", "-f", "ISO-8859-1", made]).returncode:
        pytest.skip(f"the locale {locale} cannot be made here")
    names = {"LC_ALL": locale, "LOCPATH": str(made.parent), "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment = os.environ | names | {"PLACE": str(place)}
    child = subprocess.run([sys.executable, "-c", _PROGRAM], env=environment, capture_output=True)
    assert child.returncode == 0, child.stderr.decode()
    assert pickle.loads(child.stdout.partition(b"\n-----")[2]) == LocalStore(place / "données.zarr")
    assert sorted(blizzarr.open(place / "données.zarr")) == ["höhe", "nähe"]
    assert blizzarr.open(place / "données.zarr", path="höhe").shape == (8,)
    assert sorted(os.listdir(place)) == ["données.zarr", "données.zarr.zip"]
