"""Arrays: from and to NumPy, sizes, freeing, and other libraries' arrays in place."""

import kernels
import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import f32, u32


def test_an_array_comes_back_as_it_went(device):
    for dtype in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"):
        values = np.arange(37).reshape(37, 1).astype(dtype)
        got = device.array(values).get()
        assert got.dtype == values.dtype
        np.testing.assert_array_equal(got, values)


@pytest.mark.parametrize("nbytes", [65535, 65536, 2_000_001, 8 * 2**20, 8 * 2**20 + 1])
def test_arrays_of_every_size_come_back_as_they_went(nbytes, device):
    values = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    kept = device.array(values)
    other = device.array(values[::-1])
    assert np.array_equal(kept.get(), values)
    assert np.array_equal(other.get(), values[::-1])


def test_a_strided_array_is_copied_element_by_element(device):
    values = np.arange(100, dtype=np.int32).reshape(10, 10).T[::2]
    np.testing.assert_array_equal(device.array(values).get(), values)


def test_zeros_are_zero_and_empty_has_the_shape(device):
    assert not device.zeros((3, 5), f32).get().any()
    assert device.empty((3, 5), f32).shape == (3, 5)
    assert device.zeros(0, f32).get().shape == (0,)


def test_a_struct_is_one_element_or_many(device):
    one, many = device.zeros(kernels.Pair), device.zeros(kernels.Pair, 7)
    assert one.get().shape == ()
    kernels.fill_pairs[7](many)
    got = many.get()
    np.testing.assert_array_equal(got["small"], np.arange(7))
    np.testing.assert_array_equal(got["large"], np.arange(7) / 2)


def test_set_replaces_all_elements_and_checks_the_shape(device):
    array = device.zeros(4, u32)
    array.set([1, 2, 3, 4])
    np.testing.assert_array_equal(array.get(), [1, 2, 3, 4])
    with pytest.raises(lw.ArgumentError, match=r"shape \(3,\), the array has \(4,\)"):
        array.set([1, 2, 3])


def test_a_freed_array_says_so(device):
    array = device.zeros(4, u32)
    array.free()
    with pytest.raises(lw.ArgumentError, match="this array was freed"):
        array.get()
    with pytest.raises(lw.ArgumentError, match="argument out of kernel store_ids was freed"):
        kernels.store_ids[4](array)


def test_numpy_reads_a_device_array(device):
    array = device.array(np.arange(5, dtype=np.float32))
    np.testing.assert_array_equal(np.asarray(array), np.arange(5))
    assert len(array) == 5
    assert repr(array) == f"<DeviceArray (5,) float32 on {device.name}>"


def test_more_memory_than_there_is_is_refused(device):
    with pytest.raises(lw.OutOfMemoryError, match="bytes free; free arrays or work in parts"):
        device.empty(2**60, f32)


def test_a_shape_that_makes_no_sense_is_refused(device):
    for shape in (-1, 2.5, "many"):
        with pytest.raises(lw.ArgumentError):
            device.empty(shape, f32)
    with pytest.raises(lw.ArgumentError, match="say what the array holds"):
        device.empty(5)


def test_numpy_arrays_are_used_in_place_on_the_cpu():
    cpu = lw.device("cpu")
    host = np.zeros(10, np.uint32)
    kernels.store_ids[10](host).wait()
    np.testing.assert_array_equal(host, np.arange(10))
    wrapped = cpu.wrap(host)
    wrapped.set(np.full(10, 7))
    assert (host == 7).all()


def test_dlpack_arrays_are_used_in_place_on_the_cpu():
    class OnlyDlpack:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    host = np.zeros(10, np.uint32)
    kernels.store_ids[10](lw.device("cpu").wrap(OnlyDlpack(host))).wait()
    np.testing.assert_array_equal(host, np.arange(10))


def test_what_cannot_be_used_in_place_says_why():
    cpu = lw.device("cpu")
    readonly = np.zeros(4, np.uint32)
    readonly.flags.writeable = False
    for value, reason in (
        (np.zeros((4, 4), np.uint32)[:, ::2], "is not contiguous"),
        (readonly, "is read-only"),
        ([1, 2, 3], "list cannot be used in place"),
    ):
        with pytest.raises(lw.ArgumentError, match=reason):
            cpu.wrap(value)
