"""What is written once and done by both libraries gives the same: values, or errors of the same class and text.

Texts of errors about arguments that do not fit (TypeError) are each library's own.
"""

from __future__ import annotations

import re
from types import ModuleType

import numpy as np
import pytest

from blizzarr import views

tensorstore = pytest.importorskip("tensorstore")

PAYLOAD = re.compile(r" \[(transform|domain|left_transform)=.*", re.DOTALL)

DIMS = """
ts.Dim()
ts.Dim(5)
ts.Dim(None)
ts.Dim(None, None)
ts.Dim("x")
ts.Dim(5, "x")
ts.Dim(5, None)
ts.Dim(5, 6)
ts.Dim(None, 6)
ts.Dim(5, None, label="x")
ts.Dim(3.5)
ts.Dim(5, 6, "x")
ts.Dim("x", 3)
ts.Dim(5, size=3)
ts.Dim(5, exclusive_max=9)
ts.Dim(5, inclusive_max=9)
ts.Dim(size=5, exclusive_max=9)
ts.Dim(size=5)
ts.Dim(size=None)
ts.Dim(size=2 * inf + 1)
ts.Dim(size=-1)
ts.Dim(size=2**63)
ts.Dim(size=3, inclusive_min=4, label="x")
ts.Dim(inclusive_min=4)
ts.Dim(exclusive_max=4)
ts.Dim(inclusive_max=4)
ts.Dim(inclusive_min=3, inclusive_max=4)
ts.Dim(inclusive_min=3, inclusive_max=2)
ts.Dim(inclusive_min=3, inclusive_max=1)
ts.Dim(exclusive_max=5, inclusive_max=6)
ts.Dim(3, -1)
ts.Dim(inf, inf + 1)
ts.Dim(0, inf + 2)
ts.Dim(label=5)
ts.Dim(label=None)
ts.Dim(5, implicit_lower=True, implicit_upper=True)
ts.Dim(5, implicit_lower=None)
ts.Dim(implicit_lower=False)
ts.Dim("x", implicit_upper=False)
str(ts.Dim("x", implicit_upper=False))
str(ts.Dim(5, implicit_lower=True))
str(ts.Dim(label='a "b" é'))
5 in ts.Dim(5, 10)
10 in ts.Dim(5, 10)
ts.Dim(6, 7) in ts.Dim(5, 10)
ts.Dim(6, 17) in ts.Dim(5, 10)
ts.Dim(66, 66) in ts.Dim(5, 10)
"a" in ts.Dim(5)
len(ts.Dim())
len(ts.Dim(5))
list(ts.Dim())
list(ts.Dim(3, 6))
hash(ts.Dim(3))
ts.Dim(3) == ts.Dim(0, 3)
ts.Dim(3) == ts.Dim(3, "x")
ts.Dim(3) != ts.Dim(4)
ts.Dim(4, 9).exclusive_min
ts.Dim(4, 9).inclusive_max
ts.Dim(4, 4).empty, ts.Dim().empty, ts.Dim(3).finite, ts.Dim(exclusive_max=3).finite
ts.Dim(1, 5, label="x").hull(ts.Dim(3))
ts.Dim(1, 5, label="x").hull(ts.Dim(3, "y"))
ts.Dim(1, 5).hull(ts.Dim(9, 9))
ts.Dim(1, 5, implicit_lower=True).hull(ts.Dim(1, 7))
ts.Dim(1, 5, implicit_upper=True).hull(ts.Dim(1, 5, implicit_upper=True))
ts.Dim(1, 5, label="x").intersect(ts.Dim(3))
ts.Dim(1, 5, label="x").intersect(ts.Dim(3, "y"))
ts.Dim(1, 5).intersect(ts.Dim(7, 9))
ts.Dim(1, 5, implicit_upper=True).intersect(ts.Dim(3, 9))
"""

DOMAINS = """
ID(-1)
ID(33)
ID(2)
ID()
ID([])
ID(shape=[])
ID(shape=[1] * 33)
ID(rank=2, shape=[1])
ID(inclusive_min=[1], shape=[1, 2])
ID(labels=["x", "x"])
ID(labels=["y", "x", "y", "x"])
ID(labels=["x", None])
ID(labels="xy")
ID(labels=[5])
ID(shape=[1.5])
ID(shape=[-1])
ID(shape=5)
ID(shape=np.array([1, 2]))
ID(shape=(i for i in range(3)))
ID(shape=[2], exclusive_max=[2])
ID(inclusive_max=[2], shape=[2])
ID(inclusive_min=[5], exclusive_max=[3])
ID(inclusive_min=[5], inclusive_max=[3])
ID(inclusive_min=[-inf - 1])
ID(inclusive_min=[5], shape=[2 * inf + 1])
ID(shape=[3, 4], implicit_lower_bounds=[True, False])
ID(inclusive_min=[3, 4], implicit_lower_bounds=[True, False])
ID(implicit_lower_bounds=[True, False])
ID(exclusive_max=[3, 4], implicit_upper_bounds=[True, False])
ID(dimensions=[ts.Dim(3), ts.Dim("x")])
ID([ts.Dim(3), 5])
ID([ts.Dim("x"), ts.Dim("x")])
ID([ts.Dim(3)], shape=[3])
ID(shape=[3, 4], labels=["x", "y"])["x"]
ID(shape=[3, 4], labels=["x", "y"])[-1]
ID(shape=[3, 4], labels=["x", "y"])["y", 0]
ID(shape=[3, 4], labels=["x", "y"])[::-1]
ID(shape=[3, 4], labels=["x", "y"])[ts.d[1]]
ID(shape=[3, 4], labels=["x", "y"])[[1]]
ID(shape=[3, 4], labels=["x", "y"])[()]
ID(rank=2)[2]
ID(rank=2)["z"]
ID(rank=2)[""]
ID(rank=2)[1:3]
ID(rank=2)[1:0]
ID(rank=2)[0, 0]
ID(rank=2)[0, 0, 1]
ID(rank=2)["z", 0]
ID(rank=2)[3.5]
ID(rank=2)[None]
ID(rank=2)[...]
list(ID(rank=1))
len(ID(rank=3))
ts.Dim(3) in ID(shape=[3])
hash(ID(3))
ID(shape=[3]) == ID(exclusive_max=[3], inclusive_min=[0])
ID(shape=[3]) == ID(shape=[4])
ID(2).size
ID(shape=[2**40, 2**40]).size
ID(shape=[0, 2**40]).size
ID(inclusive_min=[1, 2], exclusive_max=[5, 10]).index_exp
ID(rank=2).index_exp
ID(inclusive_min=[-1]).index_exp
ID(shape=[2, 3], labels=["x", ""]).T
ID(shape=[2, 3]).transpose([0])
ID(shape=[2, 3]).transpose([0, 0])
ID(shape=[2, 3]).transpose([0, 5])
ID(shape=[2, 3]).transpose(["x", 1])
ID(shape=[2, 3]).transpose("x")
ID(shape=[2, 3]).transpose(ts.d[1, 0])
ID(shape=[2, 3]).transpose(1.5)
ID(rank=2).translate_to[3]
ID(shape=[2, 3]).translate_to[3]
ID(shape=[2, 3]).translate_to[3, None]
ID(shape=[2, 3]).translate_to[3, 3, 3]
ID(shape=[2, 3]).translate_to[2**62]
ID(shape=[2, 3]).translate_to[inf - 1]
ID(shape=[2, 3]).translate_to["a"]
ID(shape=[2, 3]).translate_to[3.5]
ID(shape=[2, 3]).translate_to[()]
ID(shape=[2, 3]).translate_to[np.array([4, 5])]
ID(shape=[2, 3]).translate_by[4, -5]
ID(shape=[2, 3]).translate_by[inf]
ID(rank=2).translate_by[4, -5]
ID(shape=[2, 3]).translate_backward_by[4, -5]
ID(shape=[2, 3]).label["x", "y"]
ID(shape=[2, 3]).label["x", "x"]
ID(shape=[2, 3]).label["x"]
ID(shape=[2, 3]).label["x", None]
ID(shape=[2, 3]).label[["x", ""]]
ID(shape=[2, 3]).mark_bounds_implicit[True]
ID(shape=[2, 3]).mark_bounds_implicit[True:False]
ID(shape=[2, 3]).mark_bounds_implicit[:True]
ID(shape=[2, 3]).mark_bounds_implicit[None]
ID(shape=[2, 3]).mark_bounds_implicit[True:False:1]
ID(shape=[2, 3]).intersect(ID(3))
ID(shape=[2, 3], labels=["x", "y"]).intersect(ID(labels=["y", "x"]))
ID(shape=[2, 3], labels=["x", "y"]).intersect(ID(labels=["", "y"]))
ID(shape=[2, 3]).hull(ID(inclusive_min=[5, 6], shape=[1, 1], labels=["x", ""]))
ID(shape=[2, 3]).hull(ID(1))
ID(shape=[10, 11], labels=["x", "y"])[ID(inclusive_min=[1, 2], shape=[3, 3], labels=["y", "x"])]
ID(shape=[10, 11], labels=["x", "y"])[ID(inclusive_min=[1], shape=[3], labels=["y"])]
ID(shape=[10, 11], labels=["x", "y"])[ID(inclusive_min=[1], shape=[3])]
ID(shape=[10, 11], labels=["x", "y"])[ID(inclusive_min=[1], shape=[3], labels=["z"])]
ID(shape=[10, 11], labels=["x", ""])[ID(shape=[3, 4], labels=["", "x"])]
ID(shape=[10, 11, 12], labels=["x", "", ""])[ID(shape=[3, 4], labels=["", "x"])]
ID(shape=[10, 11], labels=["x", ""])[ID(shape=[3, 4, 5], labels=["", "x", ""])]
ID(shape=[10, 11])[ID(shape=[3, 4], labels=["p", "q"])]
ID(shape=[10, 11])[ID(shape=[3, 14])]
ID(shape=[10, 11], implicit_upper_bounds=[True, True])[ID(shape=[30, 14])]
ID(shape=[10, 11])[ts.d[0][5:7].label["x"]]
ID(shape=[10, 11])[ts.d[0, 1]]
ID(shape=[10, 11])[IT(input_rank=1, output=[OM(3), OM(input_dimension=0, offset=5)])]
"""

TRANSFORMS = """
IT(2)
IT(33)
IT(0)
IT()
IT(input_rank=2, input_shape=[1])
IT(input_inclusive_min=[1, 2], input_exclusive_max=[3, 4], input_labels=["x", "y"])
IT(input_shape=[3], input_exclusive_max=[3])
IT(ID(shape=[3, 4]))
IT([ts.Dim(3), ts.Dim("x")])
IT(domain=ID(shape=[3, 4]), output=[OM(3)])
IT(ID(shape=[3, 4]), [OM(3)])
IT(ID(shape=[3, 4]), input_rank=2)
IT(2, output=_.output)
IT(2, output=[])
IT(2, output=[5])
IT(2, output=[OM(input_dimension=5)])
IT(2, output=[OM(input_dimension=-1)])
IT(2, output=[OM(input_dimension=1, stride=0, offset=4)])
IT(2, output=[OM([[1, 2]])])
IT(2, output=[OM([[1]])])
IT(0, output=[OM(3)] * 33)
IT(input_shape=[2, 2], output=[OM([[1, 2, 3]])])
IT(input_shape=[2, 2], output=[OM([1, 2, 3])])
IT(input_shape=[2, 2], output=[OM([[1, 2]], offset=3, stride=-2, index_range=ts.Dim(8))])
IT(input_shape=[2, 0], output=[OM(np.zeros((2, 0), int), offset=3)])
IT(input_shape=[2, 2], implicit_upper_bounds=[True, False], output=[OM([[1], [2]])])
IT(input_shape=[2, 2], implicit_upper_bounds=[True, False], output=[OM([[1, 2]])])
IT(input_shape=[2, 2], output=[OM(np.broadcast_to([1, 2], (2, 2)))])
IT(input_shape=[2, 2], output=[OM([[1, 2]], index_range=ts.Dim(2))])([0, 1])
_([0, 1])
_([0])
_([0, 7])
_([0.5, 1])
IT(3)([1, 2, 3])
IT(input_shape=[3], implicit_upper_bounds=[True])([9])
IT(input_shape=[3], input_labels=["x"]).to_json()
IT(0).to_json()
IT(2).to_json()
IT(input_labels=["x", "y"]).to_json()
_[[1, 2]].to_json()
_[[1, 2, 7]].to_json()
_.T.to_json()
IT(input_shape=[3, 4], implicit_lower_bounds=[1, 0]).to_json()
_.T
_.transpose()
_.transpose([0])
_.shape, _.size, _.origin, _.ndim, _.input_rank, _.output_rank, _.input_shape, _.input_origin
_.input_inclusive_min, _.input_inclusive_max, _.input_exclusive_max, _.input_labels
_.implicit_lower_bounds, _.implicit_upper_bounds
iter(_)
hash(_)
_ == IT(ID(shape=[3, 4]))
_ == _.T
_.output
_.output[-1]
_.output[2]
_.output[0:1]
_.output[0:3]
_.output["x"]
len(_.output), _.output.rank
list(_.output)
_.output == [OM(input_dimension=0), OM(input_dimension=1)]
_.output == [OM(input_dimension=0)]
OM()
OM(3)
OM(3, 4)
OM(3, 4, 5)
OM(3, 4, 5, 6)
OM(3, offset=4)
OM(offset=4)
OM(stride=4)
OM(input_dimension=3)
OM(input_dimension=3, stride=2)
OM(1, input_dimension=3)
OM([1, 2], 3, 4, ts.Dim(5))
OM([[1, 2]], offset=2)
OM(index_array=[1], input_dimension=3)
OM(np.array([1.5]))
OM([1, "x"])
OM([[1, 2]]).index_array.tolist()
OM([[1, 2]]).index_range
OM([[1, 2]], index_range=ts.Dim(3)).index_range
OM(3).index_range, OM(3).index_array, OM(3).stride, OM(3).input_dimension, OM(3).method.name
OM(input_dimension=2).stride, OM(input_dimension=2).input_dimension, OM(input_dimension=2).method.name
OM([1]) == OM([1])
OM([1]) == OM([2])
OM([1]) == OM(1)
OM(np.arange(2000))
OM(np.zeros((5, 300), int))
hash(OM(3))
ts.OutputIndexMethod.array
int(ts.OutputIndexMethod.single_input_dimension)
ts.OutputIndexMethod(0)
list(ts.OutputIndexMethod.__members__)
"""

INDEXING = """
_[5]
_[2]
_[-1]
_[np.int8(2)]
_[np.array(2)]
_[2, 3]
_[2, 3, 4]
_[()]
_[...]
_[..., 1]
_[..., ...]
_[None]
_[1, None, 2]
_[True]
_[False]
_[np.bool_(True)]
_[True, 1]
_[1:3]
_[2:9]
_[2:1]
_[1:1]
_[::0]
_[::2]
_[::-1]
_[2::-2]
_[:0:-1]
_[1:3, ::3]
_[[1, 2]:[2, 4]]
_[[1, 2]:[2]]
_[[1, 2]:]
_[[1, 2]::[1, 2]]
_["x":]
_[1.5:]
_[1.5]
_["x"]
_[2**64]
_[2**64:]
_[[]]
_[[5]]
_[[5, 6]]
_[[2]]
_[[1, 2], [1, 2]]
_[[1, 2], [1, 2, 3]]
_[[[1], [2]], [1, 2, 3]]
_[np.array([1.5])]
_[[1.5]]
_[np.array([1], np.uint64)]
_[np.array([1], np.uint8)]
_[np.array([], np.int32)]
_[np.array([], np.float64)]
_[[True, False, True]]
_[[[True, False, True, False]] * 3]
_[[[[True]]]]
_[[True, False], [True, False, True]]
_[[1, 2]]([0, 0])
_[[5, 6]]([0, 0])
_[[0, 1, 2]][0:1]
_[[0, 1, 2]][[2, 0]]
_[[0, 1, 2]][[2, 7]]
_[[0, 5]][[0, 1]]
_[[0, 5]][[0, 0, 1]][1]
_[[0, 1]].mark_bounds_implicit[True]
_[[0]].mark_bounds_implicit[True]
_[[0, 1]][:1].mark_bounds_implicit[True]
_.oindex[[1, 2], [1, 2, 3]]
_.oindex[[[1, 2]], 2]
_.oindex[[True, False, True]]
_.oindex[True]
_.vindex[[1, 2], [1, 2]]
_.vindex[:, [1, 2]]
_.vindex[[1, 2], [1, 2, 3]]
IT(3)[[1, 2], :, [3, 4]]
IT(3)[[1, 2], 5, [3, 4]]
IT(3)[:, [1, 2], [3, 4]]
IT(3)[:, [1, 2], None, [3, 4]]
IT(3)[:, [[True, False], [False, True]]]
IT(3)[5, 6, 7, 8]
IT(2)[5:8, 3]
IT(2)[::-1]
IT(2)[::2]
IT(2)[5::2]
IT(2)[:5:-2]
IT(2)[2**62]
IT(2)[:2**62]
IT(32)[None]
IT(input_shape=[9], implicit_upper_bounds=[True])[5:20]
IT(input_shape=[9], implicit_upper_bounds=[True])[::2]
IT(input_shape=[9], implicit_upper_bounds=[True])[::-2]
IT(input_shape=[9], implicit_upper_bounds=[True])[-1]
IT(input_inclusive_min=[-5], input_shape=[9])[-3]
IT(input_inclusive_min=[-5], input_shape=[9])[::2]
IT(input_inclusive_min=[-5], input_shape=[9])[::-3]
IT(1, output=[OM(input_dimension=0, stride=2**62)])[4]
_[IT(3)]
_[IT(1, output=[OM(2), OM(input_dimension=0)])]
_[IT(1, output=[OM(3), OM(input_dimension=0)])]
_[IT(input_shape=[9], output=[OM(2), OM(input_dimension=0)])]
_[IT(input_shape=[2], output=[OM([5, 1]), OM([0, 1])])]
_[ID(shape=[9, 9])]
_[ID(inclusive_min=[1, 1], shape=[2, 2], labels=["a", "b"])]
_[[0, 1, 2]][ID(inclusive_min=[1, 0], shape=[2, 4])]
_[[0, 1, 2]][ID(inclusive_min=[1, 0], shape=[0, 4])]
"""

EXPRESSIONS = """
ts.d[0]
ts.d["x", 3, 1:2, ::2]
ts.d[[0, 1], [2]]
ts.d[[0, 1], ts.d[2, 3]]
ts.d[()]
ts.d[3.5]
ts.d[...]
ts.d["it's"]
ts.d[0:1].label["a", "b"].translate_to[3][4:5]
ts.d[0].transpose["x"]
ts.d[0, 1].transpose[:]
ts.d[0].diagonal.label["x"]
ts.d[0].mark_bounds_implicit[:True]
ts.d[0].mark_bounds_implicit[None]
ts.d[0].mark_bounds_implicit[False]
ts.d[0].translate_by[[1, 2]]
ts.d[0].translate_by[1,]
ts.d[0].translate_by[()]
ts.d[0].translate_to["x"]
ts.d[0].stride[2, None]
ts.d[0][1]
ts.d[0][1,]
ts.d[0][None, ...]
ts.d[0][1:5:2, :, -3:]
ts.d[0][[1, 2]:[3, 4]]
ts.d[0, 1].oindex[[1, 2], [3, 4]]
ts.d[0, 1].vindex[[1, 2], [True, False]]
ts.d[0].label["x"][None]
ts.d[0].oindex[True]
ts.d[0] == ts.d[0]
ts.d[0] == ts.d["x"]
ts.d[0][1] == ts.d[0][1,]
ts.d[0].label["x"] == ts.d[0].label["y"]
ts.d[0][[1, 2]] == ts.d[0][[1, 2]]
ts.d[0][[1, 2]] == ts.d[0].vindex[[1, 2]]
hash(ts.d[0])
iter(ts.d)
iter(ts.d[0])
_[ts.d[0]]
_[ts.d[0][5]]
_[ts.d[0][1]]
_[ts.d[0, 1][1]]
_[ts.d[0, 1][1:3]]
_[ts.d[1, 0][1, 2]]
_[ts.d[1, 0][1, 2, 3]]
_[ts.d[1, 0][1]]
_[ts.d[1, 0][1,]]
_[ts.d[1][..., 1]]
_[ts.d[0][1:"a"]]
_[ts.d[0, 0][1]]
_[ts.d[5][1]]
_[ts.d["x"][1]]
_[ts.d[0, -2:][None]]
_[ts.d[1][None]]
_[ts.d[1, 0][None, 2]]
_[ts.d[0:][None]]
_[ts.d[:1][None]]
_[ts.d[:][None]]
_[ts.d["x"][None]]
_[ts.d["x", 0][None, 1]]
_.label["x", "y"][ts.d["x", 0][1, None]]
_.label["x", "y"][ts.d["x", 0][None, 1]]
_.label["x", "y"][ts.d["x", 0][1, 1]]
_[ts.d[0:40][None]]
_[ts.d[1, 0][[1, 2], [3, 0]]]
_[ts.d[1, 0].oindex[[1, 2], [3, 0]]]
_[ts.d[1, 0][[[True, False, True], [False, True, True]]]]
_[ts.d[0][[1, 2]].label["x"]]
_[ts.d[0, 1][1, :].label["x"]]
_[ts.d[0, 1].translate_to[5, 6][5, 6]]
_[ts.d[0, 1].diagonal]
_[ts.d[0, 1].diagonal.label["x"][1:2]]
_[[0, 1, 2]][ts.d[0, 1].diagonal]
_[[0, 1, 2]][1:2][ts.d[0, 1].diagonal]
_[ts.d[0].stride[2]]
_[ts.d[0, 1].stride[2, -1]]
_[ts.d[0].stride[0]]
_[ts.d[0].stride[1, 2]]
_[[0, 1, 2]][ts.d[0].stride[2]]
_[[0, 1, 2]][ts.d[0].stride[3]]
_[ts.d[0].translate_to[1, 2]]
_[ts.d[0].translate_by[2**62]]
IT(1)[ts.d[0].translate_to[1]]
_[ts.d[0].label["x", "y"]]
_.label["x", "y"][ts.d[0].label["y"]]
_[ts.d[1].transpose[0]]
_[ts.d[1].transpose[-1]]
_[ts.d[1].transpose[2]]
_[ts.d[1, 0].transpose[:]]
_[ts.d[1, 0].transpose[1, 1]]
_[ts.d[1, 0].transpose[0, 1]]
_[ts.d[1, 0].transpose[0, 5]]
_[ts.d[1].transpose[0, 1]]
_[ts.d[1, 0].transpose[::-1]]
_[ts.d[1, 0].transpose["x", "y"]]
_[ts.d[:].mark_bounds_implicit[True]]
_[ts.d[1].mark_bounds_implicit[True:False]]
_[[0, 1, 2]][ts.d[0].mark_bounds_implicit[True]]
_[[0, 1, 2]][ts.d[1].mark_bounds_implicit[True]]
"""

DOCUMENTS = """
{}
5
[]
{"rank": 2}
{"rank": 33}
{"rank": -1}
{"rank": "x"}
{"rank": 2.0}
{"rank": 2.5}
{"rank": True}
{"rank": 2, "foo": 1, "bar": 2}
{"shape": [2, -2]}
{"shape": [2, "x"]}
{"shape": [2, "+inf"]}
{"shape": [2, "-inf"]}
{"shape": [2, [3]]}
{"shape": [2, [3, 4]]}
{"shape": [2, []]}
{"shape": 2}
{"shape": [2], "labels": ["x", "y"]}
{"shape": [2, 3], "labels": ["x", "x"]}
{"shape": [2, 3], "labels": ["x", 1]}
{"shape": [2, 3], "labels": "xy"}
{"shape": [2, 3], "exclusive_max": [2, 3]}
{"rank": 2, "shape": [1]}
{"rank": 2, "inclusive_min": [1]}
{"inclusive_min": [5], "shape": ["+inf"]}
{"inclusive_min": [5], "exclusive_max": [3]}
{"inclusive_min": [5, ["-inf"]], "inclusive_max": [7, ["+inf"]]}
{"inclusive_min": ["-inf", 7, ["-inf"], [8]], "exclusive_max": ["+inf", 10, ["+inf"], [17]]}
{"labels": ["x", ""]}
{"shape": [1] * 33}
"""

OUTPUTS = """
{}
[{}]
[{"offset": 3}, {"offset": -2, "input_dimension": 1, "stride": 2}]
[{"offset": "x"}]
[{"offset": 2.0}]
[{"stride": 2}]
[{"input_dimension": 2}]
[{"input_dimension": -1}]
[{"input_dimension": "x"}]
[{"input_dimension": 0, "index_array": [[1]]}]
[{"input_dimension": 1, "stride": 0}]
[{"index_array": [[1, 2]]}]
[{"index_array": [[1], [2]], "stride": 3, "offset": 1}]
[{"index_array": [[1, 2]], "index_array_bounds": [0, 1]}]
[{"index_array": [[1, 2]], "index_array_bounds": ["-inf", 1]}]
[{"index_array": [[1, 2]], "index_array_bounds": [0, "+inf"]}]
[{"index_array": [[1, 2]], "index_array_bounds": [0, 1, 2]}]
[{"index_array": [[1, 2]], "index_array_bounds": [5, 2]}]
[{"index_array": [[1, 2]], "index_array_bounds": 5}]
[{"index_array_bounds": [1, 2]}]
[{"index_array": [1]}]
[{"index_array": [[1, 2, 3]]}]
[{"index_array": 5}]
[{"foo": 1}]
[5]
"""


def outcome(text: str, library: ModuleType) -> tuple[str, str]:
    """What a text gives, or the class and text of the error. `_` is a transform of 3 x 4 elements."""
    short = {"ID": library.IndexDomain, "IT": library.IndexTransform, "OM": library.OutputIndexMap, "inf": 2**62 - 1}
    view = library.IndexTransform(input_shape=[3, 4])
    try:
        return "gives", repr(eval(text, {"ts": library, "np": np, "_": view, **short}))
    except (TypeError, IndexError, ValueError) as error:
        kind = next(kind.__name__ for kind in (TypeError, IndexError, ValueError) if isinstance(error, kind))
        return kind, "" if kind == "TypeError" else PAYLOAD.sub("", str(error))


def lines(texts: str) -> list[str]:
    return [line for line in texts.splitlines() if line]


@pytest.mark.parametrize("text", lines(DIMS + DOMAINS + TRANSFORMS + INDEXING + EXPRESSIONS))
def test_the_same_text_gives_the_same(text: str) -> None:
    """Constructors, properties, operations and errors of all classes."""
    assert outcome(text, views) == outcome(text, tensorstore)


@pytest.mark.parametrize("document", lines(DOCUMENTS))
def test_domains_as_json(document: str) -> None:
    """Documents of domains, also with the names that transforms have for the same."""
    text = f"ID(json={document})"
    assert outcome(text, views) == outcome(text, tensorstore)
    text = re.sub(
        r'"(rank|inclusive_min|inclusive_max|exclusive_max|shape|labels)"', r'"input_\1"', f"IT(json={document})"
    )
    assert outcome(text, views) == outcome(text, tensorstore)


@pytest.mark.parametrize("output", lines(OUTPUTS))
def test_output_maps_as_json(output: str) -> None:
    """Documents of transforms of a domain with 2 x 2 elements."""
    text = f'IT(json={{"input_shape": [2, 2], "output": {output}}})'
    assert outcome(text, views) == outcome(text, tensorstore)


@pytest.mark.parametrize(
    "name",
    ["Dim", "IndexDomain", "IndexTransform", "OutputIndexMap", "OutputIndexMaps", "DimExpression", "DimSelection"],
)
def test_classes_have_all_public_names(name: str) -> None:
    """What TensorStore's class offers, ours does."""
    offered = {member for member in dir(getattr(tensorstore, name)) if not member.startswith("_")}
    assert offered <= set(dir(getattr(views, name)))
