"""Arrays of other libraries: used as they are where their memory can be used, else refused."""

from typing import Any

import numpy as np
import pytest

import eagle
from eagle.interop.base import foreign
from eagle.interop.dlpack import as_numpy
from tests.unit.eagle.exporters import (
    Column,
    CudaArray,
    Exporter,
    GpuExporter,
    OldExporter,
    VersionedExporter,
    needs_versions,
)
from tests.unit.eagle.kernels import double, grow, oscillator, pair, swinging


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


# -- arrays by DLPack ------------------------------------------------------------------------------


@needs_versions
@pytest.mark.parametrize("exporter", [Exporter, VersionedExporter])
def test_an_exporter_that_says_so_is_writable(exporter: Any) -> None:
    x = np.arange(4.0)

    view = as_numpy(exporter(x))

    assert np.shares_memory(x, view)
    assert view.flags.writeable


@needs_versions
@pytest.mark.parametrize(
    "exported", [Exporter(read_only(np.zeros(4))), OldExporter(np.zeros(4))], ids=["says", "old"]
)
def test_one_that_does_not_is_read_only(exported: Any) -> None:
    assert not as_numpy(exported).flags.writeable


@pytest.mark.parametrize("value", [None, 1.0, [0.0], np.zeros(1), np.float64(1), object(), "x"])
def test_what_is_no_array_of_a_library_is_none(value: Any) -> None:
    assert foreign(value) is None


def test_its_kind_is_looked_up_once_for_each_type() -> None:
    assert foreign(GpuExporter(np.zeros(4))).view is None
    assert foreign(CudaArray()).view is None


@needs_versions
@pytest.mark.parametrize("exporter", [Exporter, VersionedExporter])
def test_state_is_changed_in_place_and_comes_back_as_it_was_given(exporter: Any) -> None:
    planes = swinging(3)
    arrays = {name: planes[name] for name in ("x", "v", "t")}
    given = {name: exporter(array) for name, array in arrays.items()}

    result = eagle.simulate(oscillator, max_steps=10, **(planes | given))

    assert all(given[name] is result[name] for name in given)
    assert result.x is given["x"]
    assert [0.01] * 3 == pytest.approx(arrays["t"].tolist())


@needs_versions
def test_a_mask_of_a_library_is_read_and_written() -> None:
    mask = np.array([True, False])
    given = Exporter(mask)

    bound = eagle.deploy(oscillator).bind(**swinging(2) | {"t_end": 1e-9}, terminated=given)
    bound.launch()

    assert given is bound.finished
    assert [True, True] == mask.tolist()


@needs_versions
def test_outputs_are_returned_in_arrays_of_a_library() -> None:
    arrays = np.zeros(3), np.zeros(3)
    out = tuple(map(Exporter, arrays))

    first, second = pair(Exporter(np.arange(3.0)), out=out)

    assert (first, second) == out
    assert [0.0, 2.0, 4.0] == arrays[0].tolist()


@needs_versions
@pytest.mark.parametrize("exporter", [Exporter, OldExporter])
def test_a_read_only_array_is_an_input(exporter: Any) -> None:
    x = np.arange(3.0) if exporter is OldExporter else read_only(np.arange(3.0))

    bound = eagle.deploy(double).bind(x=exporter(x))
    bound.launch()

    assert [0.0, 2.0, 4.0] == bound.planes["out"].tolist() == double(exporter(x)).tolist()


def test_an_array_is_kept_alive() -> None:
    bound = eagle.deploy(double).bind(x=Exporter(np.full(1000, 21.0)))
    np.zeros(1000)

    bound.launch()

    assert {42.0} == set(bound.planes["out"].tolist())


@needs_versions
def test_an_output_may_be_exactly_an_input() -> None:
    x = np.arange(3.0)
    given = Exporter(x)

    assert given is double(given, out=given)
    assert [0.0, 2.0, 4.0] == x.tolist()


@needs_versions
def test_strided_arrays_are_copied_in_and_out_in_a_call() -> None:
    memory = np.ones(6)
    x = Exporter(memory[::2])

    with pytest.warns(eagle.PerformanceWarning, match="'x'"):
        after, _ = grow(x, 2.0)

    assert x is after
    assert [2.0, 1.0, 2.0, 1.0, 2.0, 1.0] == memory.tolist()


def test_integers_are_converted_in_a_call() -> None:
    assert [2.0, 4.0] == double(Exporter(np.array([1, 2]))).tolist()


def test_one_number_is_a_number() -> None:
    half = Exporter(np.array(0.5))

    assert [1.5] == grow([3.0], half)[0].tolist()
    assert [0.5, 1.0] == pair([1.0, 2.0], half)[0].tolist()
    x = np.ones(2)
    eagle.deploy(grow).bind(x=x, rate=half).launch()
    assert [0.5, 0.5] == x.tolist()


@needs_versions
def test_lone_samples_are_a_batch_of_one() -> None:
    x = np.array(3.0)
    given = Exporter(x)

    bound = eagle.deploy(grow).bind(x=given, rate=2.0)
    bound.launch()

    assert given is bound.planes["x"]
    assert 6.0 == x


@needs_versions
def test_one_memory_is_found_by_whatever_library_it_comes() -> None:
    x = np.zeros(3)

    with pytest.raises(eagle.BindError, match=r"'age': shares memory with 'x', and both are wr"):
        eagle.deploy(grow).bind(x=x, rate=1.0, age=Exporter(x))


def test_a_column_of_a_table_is_converted_in_a_call() -> None:
    x = np.arange(3.0)

    assert [0.0, 2.0, 4.0] == double(Column(x)).tolist()


# -- NumPy's own -----------------------------------------------------------------------------------


def test_a_memory_map_is_written_through(tmp_path: Any) -> None:
    file = tmp_path / "x.bin"
    np.zeros(4).tofile(file)
    x = np.memmap(file, np.float64, mode="r+")
    x[:] = 3.0

    after, _ = grow(x, 2.0)

    assert x is after
    assert [6.0] * 4 == np.fromfile(file).tolist()


def test_a_read_only_memory_map_is_an_input(tmp_path: Any) -> None:
    file = tmp_path / "x.bin"
    np.arange(4.0).tofile(file)

    assert [0.0, 2.0, 4.0, 6.0] == double(np.memmap(file, np.float64, mode="r")).tolist()


def test_an_array_of_a_subclass_comes_back_as_it_was_given() -> None:
    x = np.ones(2).view(np.recarray)

    after, _ = grow(x, 2.0)

    assert x is after
    assert [2.0, 2.0] == x.tolist()


# -- libraries that may be installed ---------------------------------------------------------------


def test_tensors_of_torch_on_the_cpu_are_used_as_they_are() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    planes = {
        name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in swinging(3).items()
    }
    mask = torch.zeros(3, dtype=torch.bool)

    result = eagle.simulate(oscillator, max_steps=10, **planes, terminated=mask)

    assert all(planes[name] is result[name] for name in ("x", "v", "t"))
    assert [0.01] * 3 == pytest.approx(result.t.tolist())


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_tensors_of_torch_tell_the_float_width(kind: str) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    x, out = torch.ones(3, dtype=getattr(torch, kind)), torch.zeros(3, dtype=getattr(torch, kind))

    assert out is double(x, out=out)
    assert [2.0] * 3 == out.tolist()


def test_a_tensor_that_requires_grad_is_used_where_none_is_recorded() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)

    with torch.no_grad():
        after, _ = grow(x, torch.tensor(2.0))

    assert x is after
    assert [2.0] * 3 == x.tolist()


def test_tensors_of_a_subclass_and_parameters_are_tensors() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")

    class Named(torch.Tensor):
        pass

    x = torch.ones(2, dtype=torch.float64).as_subclass(Named)
    weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float64), requires_grad=False)

    assert x is grow(x, 2.0)[0]
    assert weight is grow(weight, 3.0)[0]
    assert ([2.0, 2.0], [3.0, 3.0]) == (x.tolist(), weight.tolist())


def test_strided_tensors_are_copied_in_and_out_in_a_call() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    memory = torch.ones(6, dtype=torch.float64)

    with pytest.warns(eagle.PerformanceWarning, match="'x'"):
        grow(memory[::2], 2.0)

    assert [2.0, 1.0, 2.0, 1.0, 2.0, 1.0] == memory.tolist()


def test_a_tensor_knows_that_another_array_has_its_memory() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    x = np.zeros(3)

    with pytest.raises(eagle.BindError, match=r"write age.clone\(\)"):
        eagle.deploy(grow).bind(x=x, rate=1.0, age=torch.from_numpy(x))


def test_arrays_of_jax_are_inputs_without_a_copy() -> None:
    jax = pytest.importorskip("jax", reason="needs jax")
    x = jax.numpy.arange(3.0, dtype="float32")

    assert [0.0, 2.0, 4.0] == double(x).tolist()
    view = foreign(x).view
    assert x.unsafe_buffer_pointer() == view.ctypes.data
    assert not view.flags.writeable


def test_columns_of_pandas_are_converted_in_a_call() -> None:
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    table = pandas.DataFrame({"x": [1.0, 2.0]})

    assert [2.0, 4.0] == double(table["x"]).tolist()
    with pytest.raises(eagle.BindError, match=r"got a pandas.Series; write np.array\(x, dtype="):
        grow(table["x"], 2.0)
