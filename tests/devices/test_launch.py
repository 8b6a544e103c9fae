"""Launches: any number of threads, in order, asynchronous, with errors that name the thread and the line."""

import inspect
import threading
import traceback

import kernels
import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import f32, f64, i32, u32


def line_of(function, text):
    lines, first = inspect.getsourcelines(function.function)
    return first + next(number for number, line in enumerate(lines) if text in line)


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 255, 257, 1000, 100_003, 1_000_003])
@pytest.mark.parametrize("group_size", [1, 7, 32, 256, 1024])
def test_exactly_the_threads_asked_for_run(device, threads, group_size):
    if threads // group_size > 20_000:
        threads = 20_000
    out = device.array(np.full(threads + 100, 0xFFFFFFFF, np.uint32))
    kernels.store_ids[threads, group_size](out)
    expected = np.full(threads + 100, 0xFFFFFFFF, np.uint32)
    expected[:threads] = np.arange(threads)
    np.testing.assert_array_equal(out.get(), expected)


def test_no_threads_do_nothing(device):
    out = device.array([5], u32)
    kernels.store_ids[0](out).wait()
    assert out.get()[0] == 5


def test_launches_run_in_order(device):
    n = 10_007
    a, b = device.array(np.ones(n, np.float32)), device.zeros(n, f32)
    for _ in range(10):
        kernels.scale[2048](a, b, n, 2.0)
        kernels.scale[512](b, a, n, 1.0)
    np.testing.assert_array_equal(a.get(), np.full(n, 1024, np.float32))


@pytest.mark.filterwarnings("ignore::lanewise.LangWarning")
def test_arguments_that_overlap_are_not_reordered(device):
    values = np.arange(1, 1001, dtype=np.int32)
    x = device.array(values)
    kernels.shift_left[32](x, x, 1000)
    expected = values.copy()
    expected[:-1] += values[1:]
    np.testing.assert_array_equal(x.get(), expected)


def test_scalars_of_every_kind_arrive(device):
    out = device.zeros(6, f64)
    kernels.all_scalars[1](True, 200, -7, 2**63, 0.1, 0.1, out)
    expected = [1, 200, -7, 2.0**63, np.float64(np.float32(0.1)), 0.1]
    np.testing.assert_array_equal(out.get(), expected)
    kernels.all_scalars[1](np.bool_(False), np.uint8(1), np.int64(3), np.uint64(4), np.float64(5), 6, out)
    np.testing.assert_array_equal(out.get(), [0, 1, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0, 0, 0, 0.0, 0.0), "argument a of kernel all_scalars is a bool, 1 was passed"),
        ((True, 256, 0, 0, 0.0, 0.0), "argument b of kernel all_scalars is u8 and holds 0 to 255, 256 was passed"),
        ((True, -1, 0, 0, 0.0, 0.0), "argument b of kernel all_scalars is u8 and holds 0 to 255, -1 was passed"),
        ((True, 0, 1.5, 0, 0.0, 0.0), "argument c of kernel all_scalars is i32, 1.5 was passed"),
        ((True, 0, 0, 2**64, 0.0, 0.0), "argument d of kernel all_scalars is u64"),
        ((True, 0, 0, 0, 1e300, 0.0), "argument e of kernel all_scalars is f32, 1e\\+300 is too large for it"),
        ((True, 0, 0, 0, "x", 0.0), "argument e of kernel all_scalars is f32, 'x' was passed"),
    ],
)
def test_a_scalar_that_does_not_fit_is_named(device, arguments, message):
    with pytest.raises(lw.ArgumentError, match=message):
        kernels.all_scalars[1](*arguments, device.zeros(6, f64))


def test_named_arguments_are_refused_with_the_signature(device):
    with pytest.raises(lw.ArgumentError, match=r"by position: store_ids\(out: Ptr\[u32\]\)"):
        kernels.store_ids[1](out=device.zeros(1, u32))


def test_a_wrong_number_of_arguments_shows_the_signature(device):
    with pytest.raises(lw.ArgumentError, match=r"takes 1 arguments, 2 were passed: it is store_ids\(out: Ptr\[u32\]\)"):
        kernels.store_ids[1](device.zeros(1, u32), 3)


def test_a_mistake_is_not_buried_under_the_compilers_own_frames(device):
    with pytest.raises(lw.LangError) as caught:
        kernels.has_a_mistake[1](device.zeros(1, u32))
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames == ["test_a_mistake_is_not_buried_under_the_compilers_own_frames", "launch"]


def test_an_array_of_another_type_is_named(device):
    with pytest.raises(lw.ArgumentError, match=r"argument out of kernel store_ids is Ptr\[u32\], the array holds f32"):
        kernels.store_ids[1](device.zeros(1, f32))
    with pytest.raises(lw.ArgumentError, match="must be an array for Ptr"):
        kernels.scale[1](device.zeros(1, f32), 17, 1, 1.0)


def test_an_array_of_another_device_is_named(device):
    other = lw.device("null").zeros(1, f32)
    with pytest.raises(
        lw.ArgumentError, match=f"argument y of kernel scale lives on null, the launch is on {device.name}"
    ):
        kernels.scale[1](device.zeros(1, f32), other, 1, 1.0)


@pytest.mark.parametrize("shape", [-1, 2**32, (10, 0), (10, 1025), (10, -1)])
def test_a_launch_of_an_impossible_shape_is_refused(device, shape):
    with pytest.raises(lw.ArgumentError, match=r"threads; a launch has 0 to|a group has 1 to 1024"):
        kernels.store_ids[shape](device.zeros(10, u32))


@pytest.mark.parametrize("shape", [1.5, "many", (1, 2, 3), None, True])
def test_a_shape_that_is_no_number_is_refused(shape):
    with pytest.raises(lw.ArgumentError, match=r"write store_ids\[threads\]"):
        kernels.store_ids[shape]


def test_a_kernel_called_without_threads_says_how(device):
    with pytest.raises(lw.LanewiseError, match=r"store_ids\[threads\]\(...\)"):
        kernels.store_ids(device.zeros(1, u32))


def test_division_by_zero_stops_that_thread_alone_and_names_the_line(device):
    x = device.array(np.arange(-500, 500, dtype=np.int32))
    with pytest.raises(lw.TrapError) as caught:
        kernels.divide[1000](x).wait()
    assert (caught.value.kernel, caught.value.thread, caught.value.threads) == ("divide", 500, 1)
    assert caught.value.line == line_of(kernels.divide, "100 //")
    assert "kernels.py" in caught.value.filename
    values = np.arange(-500, 500)
    values[500] = 1
    expected = 100 // values
    expected[500] = 0
    np.testing.assert_array_equal(x.get(), expected)


def test_an_assertion_names_the_lowest_thread_and_counts_all(device):
    x = device.array(np.arange(3, 1003, dtype=np.int32))
    with pytest.raises(
        lw.TrapError, match="assertion failed: an odd number, in thread 0 of kernel need_even"
    ) as caught:
        kernels.need_even[1000](x).wait()
    assert caught.value.threads == 500
    assert caught.value.line == line_of(kernels.need_even, "assert")


def test_a_quiet_wait_is_over_when_all_threads_are_and_raises_what_they_trapped_on(device):
    x = device.array([2, 4], i32)
    launch = kernels.need_even[2](x)
    launch.wait_quietly()
    assert launch.done
    x.set([1, 4])
    with pytest.raises(lw.TrapError):
        kernels.need_even[2](x).wait_quietly()


def test_an_error_nobody_waited_for_is_raised_by_the_next_get_once(device):
    x = device.array([1, 3], i32)
    kernels.need_even[2](x)
    with pytest.raises(lw.TrapError):
        x.get()
    np.testing.assert_array_equal(x.get(), [1, 3])


@pytest.mark.parametrize("kernel", [kernels.recurse, kernels.recurse_with_barrier])
def test_recursion_too_deep_is_a_trap_and_less_is_not(device, kernel):
    out = device.zeros(300, u32)
    kernel[300](out, 50).wait()
    assert (out.get() == 50).all()
    with pytest.raises(lw.TrapError, match="recursion too deep for the stack of this thread"):
        kernel[300](out, 2**31).wait()
    kernel[300](out, 5).wait()
    assert (out.get() == 5).all()


def test_a_launch_tells_when_it_is_done(device):
    flag = device.zeros(1, u32)
    launch = kernels.store_ids[1](flag)
    assert launch.wait(timeout=60)
    assert launch.done


def test_several_threads_may_launch(device):
    results = []

    def work(factor):
        x, y = device.array(np.arange(5000, dtype=np.float32)), device.zeros(5000, f32)
        for _ in range(20):
            kernels.scale[700](x, y, 5000, float(factor))
        results.append((factor, y.get()))

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for factor, got in results:
        np.testing.assert_array_equal(got, np.arange(5000, dtype=np.float32) * factor)
